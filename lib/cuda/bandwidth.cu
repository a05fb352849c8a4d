/* SPDX-License-Identifier: BSD-3-Clause */
/* bandwidth.cu: reading, copying, combining and writing device memory as fast as it goes. A block
 * takes a tile, four loads of 16 bytes in flight in each of its threads, then the tile a grid
 * further; passes over a small buffer follow each other without a pause. Level 1 caches are passed
 * by: a buffer that fits into them is still read out of level 2. */
#include "lib/cuda/bandwidth.h"

#include "lib/iface/gpu_tools.h"

enum { WARP = 32, THREADS = WARP * YK_SWEEP_WARPS, LOADS = YK_TILE / (2 * THREADS) };
static_assert(LOADS == 4, "four 16-byte loads of each thread make a tile");

/* volatile: the same place is read again in the next pass. */
static __device__ __forceinline__ double2 load(const double2 *at)
{
    double2 value;
    asm volatile("ld.global.cg.v2.f64 {%0, %1}, [%2];"
                 : "=d"(value.x), "=d"(value.y)
                 : "l"(__cvta_generic_to_global(at)));
    return value;
}

static __device__ __forceinline__ double read_tile(const double2 *at)
{
    double2 v[LOADS];
#pragma unroll
    for (int k = 0; k < LOADS; k++) v[k] = load(at + k * THREADS);
    double sum = 0.0;
#pragma unroll
    for (int k = 0; k < LOADS; k++) sum += v[k].x + v[k].y;
    return sum;
}

static __device__ __forceinline__ void copy_tile(double2 *to, const double2 *from)
{
    double2 v[LOADS];
#pragma unroll
    for (int k = 0; k < LOADS; k++) v[k] = load(from + k * THREADS);
#pragma unroll
    for (int k = 0; k < LOADS; k++) __stcg(to + k * THREADS, v[k]);
}

/* Two loads of each operand at a time: more would not fit in the registers of a full SM. */
static __device__ __forceinline__ void triad_tile(double2 *a, const double2 *b, const double2 *c)
{
#pragma unroll
    for (int k = 0; k < LOADS; k += 2) {
        double2 b0 = load(b + k * THREADS), b1 = load(b + (k + 1) * THREADS);
        double2 c0 = load(c + k * THREADS), c1 = load(c + (k + 1) * THREADS);
        __stcg(a + k * THREADS, make_double2(b0.x + 0.5 * c0.x, b0.y + 0.5 * c0.y));
        __stcg(a + (k + 1) * THREADS, make_double2(b1.x + 0.5 * c1.x, b1.y + 0.5 * c1.y));
    }
}

static __device__ __forceinline__ void write_tile(double2 *at)
{
#pragma unroll
    for (int k = 0; k < LOADS; k++) __stcg(at + k * THREADS, make_double2(1.0, 1.0));
}

/* Into how many equal arrays a sweep divides the buffer. */
static __host__ __device__ constexpr int arrays_of(int what)
{
    return what == YOKE_STREAM_COPY ? 2 : what == YOKE_STREAM_TRIAD ? 3 : 1;
}

static __device__ void keep_sum(double *sums, double sum)
{
#pragma unroll
    for (int half = WARP / 2; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffffu, sum, half);
    if (threadIdx.x % WARP == 0) sums[blockIdx.x * YK_SWEEP_WARPS + threadIdx.x / WARP] = sum;
}

/* tiles: of an array; step: the grid's blocks modulo tiles; todo: tiles times passes. */
template <int WHAT>
static __global__ void __launch_bounds__(THREADS, 8)
    sweep_tiles(double2 *memory, int64_t tiles, int64_t step, int64_t todo, double *sums)
{
    const int64_t array = tiles * (YK_TILE / 2);
    int64_t tile = blockIdx.x % tiles;
    double sum = 0.0;
    for (int64_t t = blockIdx.x; t < todo; t += gridDim.x) {
        double2 *at = memory + tile * (YK_TILE / 2) + threadIdx.x;
        if constexpr (WHAT == YOKE_STREAM_READ) sum += read_tile(at);
        if constexpr (WHAT == YOKE_STREAM_COPY) copy_tile(at + array, at);
        if constexpr (WHAT == YOKE_STREAM_TRIAD) triad_tile(at, at + array, at + 2 * array);
        if constexpr (WHAT == YK_STREAM_WRITE) write_tile(at);
        tile += step;
        if (tile >= tiles) tile -= tiles;
    }
    if constexpr (WHAT == YOKE_STREAM_READ) keep_sum(sums, sum);
}

template <int WHAT> static int launch(const yk_gpu_sweep *s, int64_t passes, cudaStream_t stream)
{
    int64_t tiles = s->tiles / arrays_of(WHAT);
    sweep_tiles<WHAT><<<s->blocks, THREADS, 0, stream>>>(
        (double2 *)s->memory, tiles, s->blocks % tiles, tiles * passes, s->sums);
    return cudaGetLastError();
}

extern "C" int yk_gpu_sweep_launch(const yk_gpu_sweep *s, int what, int64_t passes, void *stream)
{
    cudaStream_t on = (cudaStream_t)stream;
    switch (what) {
    case YOKE_STREAM_READ: return launch<YOKE_STREAM_READ>(s, passes, on);
    case YOKE_STREAM_COPY: return launch<YOKE_STREAM_COPY>(s, passes, on);
    case YOKE_STREAM_TRIAD: return launch<YOKE_STREAM_TRIAD>(s, passes, on);
    case YK_STREAM_WRITE: return launch<YK_STREAM_WRITE>(s, passes, on);
    }
    return cudaErrorInvalidValue;
}
