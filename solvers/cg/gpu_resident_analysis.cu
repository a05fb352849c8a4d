/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_resident_analysis.cu: how a system lies on the chip: each block's halo, its rows by length,
 * and its part of the matrix with columns of its own, by one block a block. */
#include "solvers/cg/gpu_resident_layout.h"

enum { WARP = 32 };

enum { ANALYSTS = YK_RESIDENT_ANALYSTS, MOST_ROWS = YK_RESIDENT_BLOCK_ROWS };

/* The place of a row in this block; negative in another. */
static __device__ int local_place(const yk_resident &a, int row)
{
    const int room = a.shape.chunks * YK_CHUNK, place = yk_resident_place(&a.shape, row);
    return place / room == (int)blockIdx.x ? place % room : -1;
}

/* Bits of the rows of other blocks that this one's rows multiply with. */
static __device__ void mark_halo(const yk_csr &csr, const yk_resident &a, unsigned *bits, int words)
{
    const int64_t node_rows = (int64_t)a.shape.node_chunks * YK_CHUNK;
    for (int w = threadIdx.x; w < words; w += ANALYSTS) bits[w] = 0;
    __syncthreads();
    for (int j = 0; j < a.shape.chunks / a.shape.node_chunks; j++) {
        int64_t first = yk_resident_node(&a.shape, blockIdx.x, j) * node_rows,
                last = first + node_rows;
        if (first >= csr.rows) break;
        if (last > csr.rows) last = csr.rows;
        int64_t from = yk_row_start(&csr, first), to = yk_row_start(&csr, last);
        for (int64_t k = from + threadIdx.x; k < to; k += ANALYSTS) {
            int column = csr.column[k];
            if (local_place(a, column) < 0) atomicOr(&bits[column / WARP], 1u << column % WARP);
        }
    }
    __syncthreads();
}

/* before[w]: bits in the words before w; returns all. */
static __device__ int count_before(const unsigned *bits, int words, int *before)
{
    __shared__ int share[ANALYSTS];
    const int t = threadIdx.x, each = (words + ANALYSTS - 1) / ANALYSTS;
    int begin = t * each < words ? t * each : words;
    int end = begin + each < words ? begin + each : words, sum = 0;
    for (int w = begin; w < end; w++) sum += __popc(bits[w]);
    share[t] = sum;
    __syncthreads();
    for (int step = 1; step < ANALYSTS; step *= 2) {
        int more = t >= step ? share[t - step] : 0;
        __syncthreads();
        share[t] += more;
        __syncthreads();
    }
    int running = share[t] - sum;
    for (int w = begin; w < end; w++) {
        before[w] = running;
        running += __popc(bits[w]);
    }
    __syncthreads();
    return share[ANALYSTS - 1];
}

static __device__ int length_of(const yk_csr &csr, int64_t i)
{
    return i < csr.rows ? (int)(yk_row_start(&csr, i + 1) - yk_row_start(&csr, i)) : 0;
}

/* The row at a place of this block. */
static __device__ int64_t row_at(const yk_resident &a, int place)
{
    return yk_resident_row(&a.shape, (int)blockIdx.x * a.shape.chunks * YK_CHUNK + place);
}

/* The block's rows by length, longest first, equals in their order: then slices have little
 * padding (SELL-C-sigma, with sigma a block). */
static __device__ void rank_rows(const yk_csr &csr, const yk_resident &a)
{
    __shared__ short length[MOST_ROWS];
    const int rows = a.shape.chunks * YK_CHUNK;
    for (int i = threadIdx.x; i < rows; i += ANALYSTS)
        length[i] = (short)length_of(csr, row_at(a, i));
    __syncthreads();
    for (int i = threadIdx.x; i < rows; i += ANALYSTS) {
        int rank = 0;
        for (int k = 0; k < rows; k++)
            rank += length[k] > length[i] || (length[k] == length[i] && k < i);
        a.place[blockIdx.x * (int64_t)rows + rank] = i << 16 | length[i];
    }
    __syncthreads();
}

static __global__ void __launch_bounds__(ANALYSTS, 1) resident_count(yk_csr csr, yk_resident a)
{
    extern __shared__ unsigned bits[];
    const int words = (int)((csr.rows + WARP - 1) / WARP), rows = WARP / a.shape.sharers;
    mark_halo(csr, a, bits, words);
    int halo = count_before(bits, words, (int *)bits + words);
    int32_t *slice = a.slice + (int64_t)blockIdx.x * (a.slices + 1);
    rank_rows(csr, a);
    for (int s = threadIdx.x; s < a.slices; s += ANALYSTS) {
        int width = a.place[(int64_t)blockIdx.x * a.shape.chunks * YK_CHUNK + s * rows] & 0xffff;
        slice[s + 1] = (width + a.shape.sharers - 1) / a.shape.sharers * WARP;
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    slice[0] = 0;
    for (int s = 0; s < a.slices; s++) slice[s + 1] += slice[s];
    a.halo_first[blockIdx.x + 1] = halo;
    a.first[blockIdx.x + 1] = slice[a.slices];
}

static __global__ void __launch_bounds__(ANALYSTS, 1) resident_fill(yk_csr csr, yk_resident a)
{
    extern __shared__ unsigned bits[];
    const int words = (int)((csr.rows + WARP - 1) / WARP), sharers = a.shape.sharers;
    const int block_rows = a.shape.chunks * YK_CHUNK, lane = threadIdx.x % WARP;
    const int32_t *place = a.place + (int64_t)blockIdx.x * block_rows;
    int *before = (int *)bits + words;
    mark_halo(csr, a, bits, words);
    count_before(bits, words, before);
    int32_t *halo_place = a.halo_place + a.halo_first[blockIdx.x];
    for (int w = threadIdx.x; w < words; w += ANALYSTS)
        for (unsigned left = bits[w], h = before[w]; left; left &= left - 1, h++) {
            int row = w * WARP + __ffs(left) - 1;
            halo_place[h] = yk_resident_place(&a.shape, row);
            a.sent[row] = 1;
        }
    const int32_t *slice = a.slice + (int64_t)blockIdx.x * (a.slices + 1);
    /* a warp a row */
    for (int rank = threadIdx.x / WARP; rank < block_rows; rank += ANALYSTS / WARP) {
        const int64_t i = row_at(a, place[rank] >> 16);
        const int length = place[rank] & 0xffff;
        if (length == 0) continue;
        int64_t from = yk_row_start(&csr, i), at = a.first[blockIdx.x];
        at += slice[rank * sharers / WARP] + rank * sharers % WARP;
        for (int k = lane; k < length; k += WARP) {
            int column = csr.column[from + k], local = local_place(a, column);
            if (local < 0)
                local = block_rows + before[column / WARP] +
                        __popc(bits[column / WARP] & ((1u << column % WARP) - 1));
            int64_t to = at + (int64_t)(k / sharers) * WARP + k % sharers;
            a.column[to] = (uint16_t)local;
            a.value[to] = csr.value[from + k];
        }
    }
}

static int analyse(void (*run)(yk_csr, yk_resident), const yk_csr *csr, const yk_resident *a,
                   void *stream)
{
    size_t bytes = yk_resident_analysis_bits(csr->rows);
    cudaError_t error =
        cudaFuncSetAttribute(run, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error != cudaSuccess) return error;
    run<<<a->shape.blocks, ANALYSTS, bytes, (cudaStream_t)stream>>>(*csr, *a);
    return cudaGetLastError();
}

extern "C" int yk_gpu_resident_count(const yk_csr *csr, const yk_resident *a, void *stream)
{
    return analyse(resident_count, csr, a, stream);
}

extern "C" int yk_gpu_resident_fill(const yk_csr *csr, const yk_resident *a, void *stream)
{
    return analyse(resident_fill, csr, a, stream);
}
