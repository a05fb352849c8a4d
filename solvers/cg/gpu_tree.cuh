/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_tree.cuh: the tree of a GPU's part from the nodes that a pass left, by one block. A thread
 * adds a run of neighbouring nodes, a warp 32 runs, the first warps the 32 sums of all warps; what
 * is left over at each step are the nodes of the tree, whose levels are the bits of the number of
 * chunks. */
#ifndef YK_GPU_TREE_CUH
#define YK_GPU_TREE_CUH

#include "solvers/cg/gpu_sums.cuh"

enum { THREADS = 1024, WARPS = THREADS / WARP };
enum { BATCH = 8, RUN_LEVELS = 10 /* 2^10 batches a thread: 2^23 nodes */ };
enum { TREE_LEVELS = 24 /* 2^23 chunks */ };

/* A pass's sums as its blocks left them: nodes of full blocks, then the chunks of one that is not.
 */
typedef struct yk_left {
    const double *node; /* [nodes + ragged][dots] */
    int64_t chunks;     /* of all rows */
    int64_t nodes;
    int ragged;
    int level;     /* of a node */
    int run_level; /* 2^run_level nodes a thread */
} yk_left;

/* The tree over chunks [0, chunks): by level, of which there is one at each bit of the number. */
struct own_tree {
    double sum[TREE_LEVELS][YK_DOTS];
};

static __device__ __forceinline__ int at_most(int64_t count, int most)
{
    return count < 0 ? 0 : count < most ? (int)count : most;
}

/* Of values at places 0, 1, ... of a warp's lanes or a thread's batch, so many there are: where the
 * node of 2^level of them begins that no wider one has; negative: there is none. */
static __device__ __forceinline__ int left_over(int there, int level)
{
    return there >> level & 1 ? there >> (level + 1) << (level + 1) : -1;
}

/* The next batch of a run, of which `here` are there: its sum; nodes that it leaves over, the run
 * being the last, go to the tree. */
template <int DOTS>
static __device__ __forceinline__ double batch_sum(const double *node, int here, int level, int dot,
                                                   own_tree *tree)
{
    double value[BATCH];
#pragma unroll
    for (int i = 0; i < BATCH; i++) value[i] = i < here ? __ldcg(node + i * DOTS) : 0.0;
#pragma unroll
    for (int l = 0; 1 << l < BATCH; l++) {
        const int at = tree ? left_over(here, l) : -1;
#pragma unroll
        for (int i = 0; i < BATCH; i += 1 << l)
            if (i == at) tree->sum[level + l][dot] = value[i];
#pragma unroll
        for (int i = 0; i < BATCH; i += 2 << l) value[i] += value[i + (1 << l)];
    }
    return value[0];
}

/* Batches are added as binary numbers are counted: two of a size make one of the next. Sizes are
 * named by constants alone, so that they stay in registers. */
static __device__ __forceinline__ double count_batch(int number, double sum, double *of_size)
{
    bool carries = true;
#pragma unroll
    for (int l = 0; l <= RUN_LEVELS; l++) {
        const bool full = number >> l & 1;
        if (carries && !full) of_size[l] = sum;
        carries = carries && full;
        if (carries) sum = of_size[l] + sum;
    }
    return sum;
}

/* The sum of the thread's run; of a run that ends early nothing, its nodes go to the tree. */
template <int DOTS>
static __device__ double run_sum(const yk_left &left, int64_t first, int count, int dot,
                                 own_tree *tree)
{
    const bool whole = count == 1 << left.run_level;
    double of_size[RUN_LEVELS + 1], sum = 0.0;
    for (int at = 0; at < count; at += BATCH) {
        const int here = count - at < BATCH ? count - at : BATCH;
        sum = batch_sum<DOTS>(left.node + (first + at) * DOTS + dot, here, left.level, dot,
                              whole ? NULL : tree);
        if (whole || here == BATCH) sum = count_batch(at / BATCH, sum, of_size);
    }
    if (whole) return sum;
#pragma unroll
    for (int l = 0; l <= RUN_LEVELS; l++)
        if (count / BATCH >> l & 1) tree->sum[left.level + 3 + l][dot] = of_size[l];
    return 0.0;
}

/* The sum of all lanes, of which the first `there` have a value; where not all have, what is left
 * over goes to the tree. */
static __device__ double warp_sum(double sum, int there, int level, int dot, own_tree *tree)
{
#pragma unroll
    for (int l = 0; 1 << l < WARP; l++) {
        if ((int)threadIdx.x % WARP == left_over(there, l)) tree->sum[level + l][dot] = sum;
        sum += __shfl_xor_sync(ALL, sum, 1 << l);
    }
    return sum;
}

/* By one warp: chunks of a last block that is not full. */
template <int DOTS>
static __device__ void ragged_chunks(const yk_left &left, int dot, own_tree *tree)
{
    const double *chunk = left.node + left.nodes * DOTS + dot;
    const int i = 2 * ((int)threadIdx.x % WARP), pairs = left.ragged / 2;
    double a = i < left.ragged ? __ldcg(chunk + i * DOTS) : 0.0;
    double b = i + 1 < left.ragged ? __ldcg(chunk + (i + 1) * DOTS) : 0.0;
    if (left.ragged % 2 == 1 && i == left.ragged - 1) tree->sum[0][dot] = a;
    warp_sum(i / 2 < pairs ? a + b : 0.0, pairs, 1, dot, tree);
}

/* The sums of the thread's run. Of small systems, whose meetings are what an iteration costs, runs
 * are one node: all that is read is on its way at once. */
template <int DOTS>
static __device__ __forceinline__ void run_sums(const yk_left &left, double *sum, own_tree *tree)
{
    const int64_t first = (int64_t)threadIdx.x << left.run_level;
    const int count = at_most(left.nodes - first, 1 << left.run_level);
    if (left.run_level == 0) {
#pragma unroll
        for (int d = 0; d < DOTS; d++)
            sum[d] = count > 0 ? __ldcg(left.node + first * DOTS + d) : 0.0;
        return;
    }
#pragma unroll
    for (int d = 0; d < DOTS; d++) sum[d] = run_sum<DOTS>(left, first, count, d, tree);
}

/* By the whole block; every thread has the tree after it. */
template <int DOTS> static __device__ void make_tree(const yk_left &left, own_tree *tree)
{
    __shared__ double of_warp[DOTS][WARPS];
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
    const int64_t runs = left.nodes >> left.run_level; /* whole ones */
    const int level = left.level + left.run_level;
    double run[DOTS];
    run_sums<DOTS>(left, run, tree);
#pragma unroll
    for (int d = 0; d < DOTS; d++) {
        double sum = warp_sum(run[d], at_most(runs - WARP * warp, WARP), level, d, tree);
        if (lane == 0) of_warp[d][warp] = sum;
    }
    __syncthreads();
    const int whole = at_most(runs / WARP, WARPS);
    if (warp < DOTS) {
        double sum =
            warp_sum(lane < whole ? of_warp[warp][lane] : 0.0, whole, level + 5, warp, tree);
        if (whole == WARPS && lane == 0) tree->sum[level + 10][warp] = sum;
    } else if (left.ragged > 0 && warp < 2 * DOTS) {
        ragged_chunks<DOTS>(left, warp - DOTS, tree);
    }
    __syncthreads();
}

/* By the whole block, not yet ordered before anything: the tree as sum.h has it. */
template <int DOTS>
static __device__ void write_tree(const own_tree &own, int64_t chunks, yk_tree *tree)
{
    const int level = (int)threadIdx.x / YK_DOTS, dot = (int)threadIdx.x % YK_DOTS;
    if (threadIdx.x == 0) {
        tree->end = chunks;
        tree->count = __popcll(chunks);
        tree->dots = DOTS;
    }
    if (level >= TREE_LEVELS || !(chunks >> level & 1)) return;
    const int place = __popcll(chunks >> level) - 1; /* wider nodes come first */
    if (dot < DOTS) tree->sum[place][dot] = own.sum[level][dot];
    if (dot == 0) tree->level[place] = (int8_t)level;
}

#endif
