/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_sums.cuh: sums over a pass in the order of sum.h: a block's node from its chunks, then up
 * the tree by last arrival; and the scalars' step that ends it. */
#ifndef YK_GPU_SUMS_CUH
#define YK_GPU_SUMS_CUH

#include <cuda_runtime.h>

#include "solvers/cg/gpu.h"

enum { WARP = 32, ALL = ~0 };

/* Of the memory in a multiprocessor, for all kernels alike: to change that it must be empty. 196 of
 * 228 KiB; the L1 cache has what is left of 256. */
enum { SHARED_PERCENT = 85 };

/* One tree over the warp's values, neighbours first: node 2^l of level l from lanes that exist.
 * A lane that does not exist adds 0.0, which changes no sum that began at +0.0. */
static __device__ __forceinline__ double warp_tree(double sum)
{
#pragma unroll
    for (int step = 1; step < WARP; step *= 2) sum += __shfl_xor_sync(ALL, sum, step);
    return sum;
}

/* A chunk's sum from those of its 32 lanes, in halves: in all lanes. */
static __device__ __forceinline__ double halves(double sum)
{
#pragma unroll
    for (int half = WARP / 2; half > 0; half /= 2) sum += __shfl_xor_sync(ALL, sum, half);
    return sum;
}

/* COUNT neighbours, a power of two. */
template <int COUNT> static __device__ __forceinline__ double tree_of(double *value)
{
#pragma unroll
    for (int step = 1; step < COUNT; step *= 2)
#pragma unroll
        for (int i = 0; i + step < COUNT; i += 2 * step) value[i] += value[i + step];
    return value[0];
}

/* A block's node from its chunks' sums, by one warp: in all its lanes. */
static __device__ __forceinline__ double block_node(const double *chunk, int chunks)
{
    const int lane = threadIdx.x % WARP;
    double left = 2 * lane < chunks ? chunk[2 * lane] : 0.0;
    double right = 2 * lane + 1 < chunks ? chunk[2 * lane + 1] : 0.0;
    return warp_tree(left + right);
}

/* A group's node from its members, a run of them a thread: in thread 0. */
template <int THREADS, int DOTS>
static __device__ void group_node(const double *node, unsigned first, unsigned end, double *sum)
{
    constexpr int run = YK_SUM_GROUP / THREADS, warps = THREADS / WARP;
    __shared__ double of_warp[DOTS][warps];
    const unsigned from = first + run * threadIdx.x;
#pragma unroll
    for (int d = 0; d < DOTS; d++) {
        double value[run];
#pragma unroll
        for (int i = 0; i < run; i++)
            value[i] = from + i < end ? __ldcg(&node[(size_t)(from + i) * DOTS + d]) : 0.0;
        double of_lanes = warp_tree(tree_of<run>(value));
        if (threadIdx.x % WARP == 0) of_warp[d][threadIdx.x / WARP] = of_lanes;
    }
    __syncthreads();
    if (threadIdx.x > 0) return;
#pragma unroll
    for (int d = 0; d < DOTS; d++) sum[d] = tree_of<warps>(of_warp[d]);
}

/* Thread 0 brings the block's node in sum; every thread calls. True in the block that completed
 * the total, which is then in thread 0's sum. */
template <int THREADS, int DOTS>
static __device__ bool arrive(const yk_gpu_sums &sums, unsigned index, double *sum)
{
    __shared__ int last;
    unsigned count = gridDim.x;
    for (int level = 0; count > 1; level++) {
        const unsigned group = index / YK_SUM_GROUP, first = group * YK_SUM_GROUP;
        const unsigned end = first + YK_SUM_GROUP < count ? first + YK_SUM_GROUP : count;
        if (threadIdx.x == 0) {
            for (int d = 0; d < DOTS; d++)
                __stcg(&sums.node[level][(size_t)index * DOTS + d], sum[d]);
            __threadfence();
            last = atomicInc(&sums.arrived[level][group], end - first - 1) == end - first - 1;
            __threadfence();
        }
        __syncthreads();
        if (!last) return false;
        group_node<THREADS, DOTS>(sums.node[level], first, end, sum);
        index = group;
        count = (count + YK_SUM_GROUP - 1) / YK_SUM_GROUP;
    }
    return true;
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

static __device__ __forceinline__ void end_iteration(yk_gpu_loop *loop)
{
    if (loop->recorded < YK_GPU_HISTORY) loop->rr[loop->recorded++] = loop->s.rr;
    loop->left--;
    loop->halt = loop->s.stop != YK_CG_GO_ON || loop->left <= 0;
}

/* What follows from a task's sums, by the one thread that has them. */
static __device__ __forceinline__ void take_step(int task, yk_gpu_loop *loop, const double *sum)
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
    end_iteration(loop);
}

/* The same of a recurrence with one sum; apart, as classical steps need no register of it. */
static __device__ __forceinline__ void take_only_step(yk_gpu_loop *loop, const double *sum)
{
    yk_cg_after_sums(&loop->s, &loop->drift, &loop->limits, sum);
    end_iteration(loop);
}

#endif
