/* SPDX-License-Identifier: BSD-3-Clause */
/* gather.cu: reads at random places, as a product's of a vector whose columns have no pattern: the
 * places do not depend on what was read, and no two threads of a warp share a sector but by chance.
 */
#include "lib/cuda/gather.h"

enum { WARP = 32 };

/* Places by linear congruences (Knuth's MMIX), as on the CPU. */
static __global__ void __launch_bounds__(YK_GATHER_THREADS)
    gather(const double *vector, uint64_t mask, double *sums)
{
    uint64_t state[YK_GATHER_CHAINS];
    double sum[YK_GATHER_CHAINS];
    const uint64_t thread = (uint64_t)blockIdx.x * YK_GATHER_THREADS + threadIdx.x;
#pragma unroll
    for (int i = 0; i < YK_GATHER_CHAINS; i++) {
        state[i] = (thread * YK_GATHER_CHAINS + i + 1) * 0x9e3779b97f4a7c15u;
        sum[i] = 0.0;
    }
    for (int k = 0; k < YK_GATHER_STEPS; k++) {
#pragma unroll
        for (int i = 0; i < YK_GATHER_CHAINS; i++) {
            state[i] = state[i] * 6364136223846793005u + 1442695040888963407u;
            sum[i] += __ldg(vector + ((state[i] >> 24) & mask));
        }
    }
    double all = sum[0] + sum[1] + sum[2] + sum[3];
#pragma unroll
    for (int half = WARP / 2; half > 0; half /= 2) all += __shfl_down_sync(0xffffffffu, all, half);
    if (threadIdx.x % WARP == 0) atomicAdd(&sums[blockIdx.x], all);
}
static_assert(YK_GATHER_CHAINS == 4, "four sums are added");

static __global__ void touch(unsigned *word)
{
    ++*(volatile unsigned *)word;
}

extern "C" int yk_gpu_gather_load(void)
{
    cudaFuncAttributes attributes;
    cudaError_t error = cudaFuncGetAttributes(&attributes, gather);
    if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, touch);
    return error;
}

extern "C" int yk_gpu_gather_launch(const yk_gpu_gathers *g, void *stream)
{
    gather<<<(unsigned)g->blocks, YK_GATHER_THREADS, 0, (cudaStream_t)stream>>>(g->vector, g->mask,
                                                                                g->sums);
    return cudaGetLastError();
}

extern "C" int yk_gpu_touch_launch(unsigned *word, void *stream)
{
    touch<<<1, 1, 0, (cudaStream_t)stream>>>(word);
    return cudaGetLastError();
}
