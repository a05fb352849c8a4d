/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_kernels.cu: the tasks of passes.h, a block a chunk; sums in the order of sum.h, completed by
 * whoever arrives last, who also takes the scalars' next step. So a pass needs no second kernel and
 * the host is not asked. */
#include <math.h>

#include "solvers/cg/gpu_product.cuh"

/* yk_task_dots, where the compiler needs a constant. */
#define DOTS_OF(name, dots) TASK == YK_TASK_##name ? dots:
template <int TASK> static constexpr int dots_of = YK_TASK_LIST(DOTS_OF) 0;
#undef DOTS_OF

/* ------------------------------------------------------------------- sums */

/* One tree over the warp's values, neighbours first: node 2^l of level l from lanes that exist.
 * A lane that does not exist adds 0.0, which changes no sum that began at +0.0. */
static __device__ __forceinline__ double warp_tree(double sum)
{
#pragma unroll
    for (int step = 1; step < WARP; step *= 2) sum += __shfl_xor_sync(ALL, sum, step);
    return sum;
}

/* The chunk's sum of a dot from the rows' terms: 32 lanes over 8 warps' rows, then halves. */
static __device__ __forceinline__ double chunk_sum(const double *term)
{
    double sum = 0.0;
#pragma unroll
    for (int w = 0; w < BLOCK / WARP; w++) sum += term[threadIdx.x + WARP * w];
#pragma unroll
    for (int half = WARP / 2; half > 0; half /= 2) sum += __shfl_down_sync(ALL, sum, half);
    return __shfl_sync(ALL, sum, 0);
}

static __device__ __forceinline__ double node_of(const yk_gpu_sums &sums, int level, unsigned i,
                                                 unsigned end, int dot)
{
    return i < end ? __ldcg(&sums.node[level][(size_t)i * YK_DOTS + dot]) : 0.0;
}

/* The first warp brings node `index` of level 0; true, in all its threads, for the one that
 * completed the total, which is then in sum. */
static __device__ bool arrive(const yk_gpu_sums &sums, unsigned index, int dots, double *sum)
{
    const unsigned lane = threadIdx.x;
    for (int level = 0; sums.count[level] > 1; level++) {
        unsigned group = index / YK_SUM_GROUP, first = group * YK_SUM_GROUP;
        unsigned end =
            first + YK_SUM_GROUP < sums.count[level] ? first + YK_SUM_GROUP : sums.count[level];
        int last = 0;
        if (lane == 0) {
            for (int d = 0; d < dots; d++)
                __stcg(&sums.node[level][(size_t)index * YK_DOTS + d], sum[d]);
            __threadfence();
            last = atomicInc(&sums.arrived[level][group], end - first - 1) == end - first - 1;
            __threadfence();
        }
        if (!__shfl_sync(ALL, last, 0)) return false;
        for (int d = 0; d < dots; d++) {
            double left = node_of(sums, level, first + 2 * lane, end, d);
            sum[d] = warp_tree(left + node_of(sums, level, first + 2 * lane + 1, end, d));
        }
        index = group;
    }
    return true;
}

/* ------------------------------------------------------------------- loop */

static __device__ void step(int task, yk_gpu_loop *loop, const double *sum)
{
    double dot[YK_DOTS] = {sum[0], sum[1], sum[2], sum[3]};
    if (yk_task_ends_multiply(task)) {
        yk_cg_after_multiply(&loop->s, dot[YK_DOT_PQ]);
        if (task == YK_TASK_FOLD) loop->folds++;
        loop->halt = loop->s.stop != YK_CG_GO_ON;
        return;
    }
    if (task == YK_TASK_UPDATE_NONE || task == YK_TASK_UPDATE_NONE_SHIFT)
        dot[YK_DOT_RZ] = dot[YK_DOT_RR];
    yk_cg_after_update(&loop->s, &loop->limits, dot);
    if (loop->recorded < YK_GPU_HISTORY) loop->rr[loop->recorded++] = loop->s.rr;
    loop->left--;
    loop->halt = loop->s.stop != YK_CG_GO_ON || loop->left <= 0;
}

/* A block's node from its chunks' sums: pairs, neighbours first. */
static __device__ __forceinline__ double block_tree(double *sum)
{
#pragma unroll
    for (int step = 1; step < YK_BLOCK_CHUNKS; step *= 2)
#pragma unroll
        for (int c = 0; c + step < YK_BLOCK_CHUNKS; c += 2 * step) sum[c] += sum[c + step];
    return sum[0];
}

/* Takes the block's node on its way; whoever completes the total takes the next step. */
template <int TASK>
static __device__ void deliver(const yk_gpu_sums &sums, yk_gpu_loop *loop,
                               double (*node)[YK_BLOCK_CHUNKS])
{
    constexpr int dots = dots_of<TASK>;
    double sum[YK_DOTS] = {0.0, 0.0, 0.0, 0.0};
    if (threadIdx.x >= WARP) return;
    __syncwarp();
    for (int d = 0; d < dots; d++) {
        double of_chunk[YK_BLOCK_CHUNKS];
#pragma unroll
        for (int c = 0; c < YK_BLOCK_CHUNKS; c++) of_chunk[c] = node[d][c];
        sum[d] = block_tree(of_chunk);
    }
    if (!arrive(sums, blockIdx.x, dots, sum) || threadIdx.x != 0) return;
    if (loop)
        step(TASK, loop, sum);
    else
        for (int d = 0; d < YK_DOTS; d++) sums.total[d] = sum[d];
}

static __device__ void deliver_largest(const yk_gpu_sums &sums, double magnitude)
{
    unsigned long long bits = (unsigned long long)__double_as_longlong(magnitude);
    for (int half = WARP / 2; half > 0; half /= 2) {
        unsigned long long other = __shfl_xor_sync(ALL, bits, half);
        if (other > bits) bits = other;
    }
    if (threadIdx.x % WARP == 0) atomicMax(sums.largest, bits);
}

/* ---------------------------------------------------------------- kernels */

/* The k-th chunk's sums into node, by the first warp while the others go on: terms alternate
 * between two buffers, and whoever writes one again has passed the barrier that follows its
 * reading. */
template <int DOTS>
static __device__ __forceinline__ void sum_chunk(double (*term)[BLOCK], const double *dot,
                                                 double (*node)[YK_BLOCK_CHUNKS], int k)
{
#pragma unroll
    for (int d = 0; d < DOTS; d++) term[d][threadIdx.x] = dot[d];
    if (k == 0 && threadIdx.x < YK_BLOCK_CHUNKS)
        for (int d = 0; d < DOTS; d++) node[d][threadIdx.x] = 0.0;
    __syncthreads();
    if (threadIdx.x >= WARP) return;
#pragma unroll
    for (int d = 0; d < DOTS; d++) {
        double sum = chunk_sum(term[d]);
        if (threadIdx.x == 0) node[d][k] = sum;
    }
}

/* Blocks that a multiprocessor shall hold, so registers a thread: fewer spill, more hide less. Of 2
 * to 6 these were the fastest on an H200 (poisson3d7:256, poisson3d27:200, unfolded). */
static constexpr int blocks_of(int format)
{
    return format == YK_GPU_SELL ? 3 : 4;
}

template <int TASK, int FORMAT>
static __global__ void __launch_bounds__(BLOCK, blocks_of(FORMAT))
    run_task(const __grid_constant__ yk_gpu_view view, yk_gpu_loop *loop)
{
    yk_cg_rows c = view.rows;
    if (loop) {
        if (loop->halt) return;
        c.alpha = loop->s.alpha;
        c.beta = loop->s.beta;
        c.shift = loop->s.shift;
    }
    constexpr int dots = dots_of<TASK>;
    __shared__ double term[2][dots > 0 ? dots : 1][BLOCK],
        node[dots > 0 ? dots : 1][YK_BLOCK_CHUNKS];
    double largest = 0.0;
    for (int k = 0; k < view.sums.chunks; k++) {
        const int64_t chunk = (int64_t)blockIdx.x * view.sums.chunks + k, first = chunk * YK_CHUNK;
        const int64_t left = c.csr.rows - first;
        if (left <= 0) break;
        const int rows = left < YK_CHUNK ? (int)left : YK_CHUNK;
        double dot[YK_DOTS] = {0.0, 0.0, 0.0, 0.0}, product = 0.0;
        if (yk_task_multiplies(TASK))
            product = chunk_product<TASK, FORMAT>(c, view.sell, first, rows);
        if ((int)threadIdx.x < rows) yk_cg_row(TASK, &c, first + threadIdx.x, product, dot);
        if (yk_task_is_largest(TASK))
            largest = fmax(largest, dot[0]);
        else if (dots > 0)
            sum_chunk<dots>(term[k & 1], dot, node, k);
    }
    if (yk_task_is_largest(TASK))
        deliver_largest(view.sums, largest);
    else if constexpr (dots > 0)
        deliver<TASK>(view.sums, loop, node);
}

typedef void (*kernel)(yk_gpu_view, yk_gpu_loop *);

template <int TASK> static kernel kernel_in(yk_gpu_format format)
{
    if (!yk_task_multiplies(TASK)) return run_task<TASK, YK_GPU_CSR>;
    if (format == YK_GPU_SELL8) return run_task<TASK, YK_GPU_SELL8>;
    return format == YK_GPU_SELL ? run_task<TASK, YK_GPU_SELL> : run_task<TASK, YK_GPU_CSR>;
}

static kernel kernel_of(int task, yk_gpu_format format)
{
    switch (task) {
#define KERNEL_OF(name, dots)                                                                      \
    case YK_TASK_##name: return kernel_in<YK_TASK_##name>(format);
        YK_TASK_LIST(KERNEL_OF)
#undef KERNEL_OF
    }
    return NULL;
}

extern "C" int yk_gpu_launch(const yk_gpu_view *view, int task, yk_gpu_loop *loop, void *stream)
{
    if (view->rows.csr.rows == 0) return cudaSuccess;
    kernel_of(task, view->format)<<<view->sums.count[0], BLOCK, 0, (cudaStream_t)stream>>>(*view,
                                                                                           loop);
    return cudaGetLastError();
}

extern "C" int yk_gpu_load_kernels(void)
{
    static const yk_gpu_format formats[] = {YK_GPU_CSR, YK_GPU_SELL, YK_GPU_SELL8};
    for (int task = 0; task < YK_TASKS; task++)
        for (yk_gpu_format format : formats) {
            cudaFuncAttributes attributes;
            cudaError_t error = cudaFuncGetAttributes(&attributes, kernel_of(task, format));
            if (error != cudaSuccess) return error;
        }
    return cudaSuccess;
}

/* ------------------------------------------------------------------- SELL */

static __device__ int row_length(const yk_csr &csr, int64_t i)
{
    return i < csr.rows ? (int)(yk_row_start(&csr, i + 1) - yk_row_start(&csr, i)) : 0;
}

static __global__ void sell_widths(yk_csr csr, int64_t *slice)
{
    int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    int width = row_length(csr, i);
    for (int half = WARP / 2; half > 0; half /= 2) {
        int other = __shfl_xor_sync(ALL, width, half);
        if (other > width) width = other;
    }
    if (threadIdx.x % WARP == 0 && i < csr.rows) slice[i / WARP] = width;
}

/* A group of eight threads a row, so that the reads of CSR are lines. */
static __global__ void sell_fill(yk_csr csr, yk_sell sell)
{
    int64_t i = ((int64_t)blockIdx.x * BLOCK + threadIdx.x) / YK_ROW_LANES;
    if (i >= csr.rows) return;
    int64_t from = yk_row_start(&csr, i), entry = i % WARP;
    entry += sell.width > 0 ? i / WARP * WARP * sell.width : sell.slice[i / WARP];
    int length = row_length(csr, i);
    for (int k = threadIdx.x % YK_ROW_LANES; k < length; k += YK_ROW_LANES) {
        ((int32_t *)sell.column)[entry + WARP * (int64_t)k] = csr.column[from + k];
        ((double *)sell.value)[entry + WARP * (int64_t)k] = csr.value[from + k];
    }
}

extern "C" int yk_gpu_sell_widths(const yk_csr *csr, int64_t *slice, void *stream)
{
    unsigned blocks = (unsigned)((csr->rows + BLOCK - 1) / BLOCK);
    if (blocks > 0) sell_widths<<<blocks, BLOCK, 0, (cudaStream_t)stream>>>(*csr, slice);
    return cudaGetLastError();
}

extern "C" int yk_gpu_sell_fill(const yk_csr *csr, const yk_sell *sell, void *stream)
{
    int64_t rows_a_block = BLOCK / YK_ROW_LANES;
    unsigned blocks = (unsigned)((csr->rows + rows_a_block - 1) / rows_a_block);
    if (blocks > 0) sell_fill<<<blocks, BLOCK, 0, (cudaStream_t)stream>>>(*csr, *sell);
    return cudaGetLastError();
}
