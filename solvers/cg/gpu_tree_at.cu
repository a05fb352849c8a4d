/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_tree_at.cu: the tree of a GPU's part that begins with any chunk of the system, as over ranks,
 * by one block. Nodes of a level are made three levels higher, eight by eight, in place; what is
 * left over before and behind the eights are nodes of the tree, which one thread adds in order. */
#include <cuda_runtime.h>

#include "solvers/cg/gpu_meet.h"
#include "solvers/cg/gpu_ring.cuh"
#include "solvers/cg/gpu_sums.cuh"

enum { THREADS = 1024, EIGHT = 8, STAGES = 8 /* 8^8 chunks */ };

/* What a pass left: nodes from place 0 on, then single chunks. */
typedef struct yk_left_at {
    double *node;  /* [nodes + ragged][dots]; destroyed */
    int64_t first; /* chunk of the system */
    int64_t nodes;
    int ragged, level; /* of a node */
} yk_left_at;

/* Of the part's tree, with what is left over behind the eights of each stage, to be added last. */
struct tree_at {
    yk_tree tree;
    double behind[STAGES][EIGHT][YK_DOTS];
    int count[STAGES];
};

template <int DOTS> static __device__ void add(yk_tree *tree, int level, const double *node)
{
    double sum[YK_DOTS];
    for (int d = 0; d < DOTS; d++) sum[d] = __ldcg(node + d);
    yk_tree_add(tree, level, sum);
}

/* Eight neighbours, as pairs, fours and eights. */
template <int DOTS> static __device__ void sum_eight(const double *node, double *sum)
{
#pragma unroll
    for (int d = 0; d < DOTS; d++) {
        double value[EIGHT];
#pragma unroll
        for (int i = 0; i < EIGHT; i++) value[i] = __ldcg(node + i * DOTS + d);
        sum[d] = tree_of<EIGHT>(value);
    }
}

/* By the whole block: node [eights] are the eights that begin at `from`. What a round writes, it
 * and those before have read. */
template <int DOTS>
static __device__ void make_eights(double *node, const double *from, int64_t eights)
{
    for (int64_t round = 0; round < eights; round += THREADS) {
        const int64_t i = round + threadIdx.x;
        double sum[DOTS];
        if (i < eights) sum_eight<DOTS>(from + i * EIGHT * DOTS, sum);
        __syncthreads();
        for (int d = 0; i < eights && d < DOTS; d++) __stcg(node + i * DOTS + d, sum[d]);
    }
    __syncthreads();
}

/* Numbers of this level's nodes, [first, end), become those of three levels higher. */
template <int DOTS>
static __device__ void climb(double *node, int64_t *first, int64_t *end, int level, int stage,
                             tree_at *t)
{
    const int64_t begin = (*first + EIGHT - 1) / EIGHT, past = *end / EIGHT;
    const int before = (int)(begin * EIGHT - *first), behind = (int)(*end - past * EIGHT);
    if (threadIdx.x == 0) {
        const double *last = node + (past * EIGHT - *first) * DOTS;
        for (int i = 0; i < before; i++) add<DOTS>(&t->tree, level, node + i * DOTS);
        for (int i = 0; i < behind * DOTS; i++)
            t->behind[stage][i / DOTS][i % DOTS] = __ldcg(last + i);
        t->count[stage] = behind;
    }
    __syncthreads();
    make_eights<DOTS>(node, node + before * DOTS, past - begin);
    *first = begin;
    *end = past;
}

/* By one thread: the few nodes that are left of the highest level, then all that lie behind. */
template <int DOTS>
static __device__ void finish(const yk_left_at &left, int64_t nodes, int level, int stage,
                              tree_at *t)
{
    for (int64_t i = 0; i < nodes; i++) add<DOTS>(&t->tree, level, left.node + i * DOTS);
    while (stage-- > 0) {
        level -= 3;
        for (int i = 0; i < t->count[stage]; i++) yk_tree_add(&t->tree, level, t->behind[stage][i]);
    }
    for (int i = 0; i < left.ragged; i++)
        add<DOTS>(&t->tree, 0, left.node + (left.nodes + i) * DOTS);
}

template <int DOTS>
static __global__ void __launch_bounds__(THREADS, 1)
    tree_at_kernel(const __grid_constant__ yk_left_at left, const yk_gpu_loop *loop, yk_tree *tree)
{
    __shared__ tree_at t;
    int64_t first = left.first >> left.level, end = first + left.nodes;
    int level = left.level, stage = 0;
    wait_for_previous_pass();
    let_next_pass_begin();
    if (loop && loop->halt) return;
    if (threadIdx.x == 0) yk_tree_begin(&t.tree, left.first, DOTS);
    for (; end - first >= 2 * EIGHT && stage < STAGES; stage++, level += 3)
        climb<DOTS>(left.node, &first, &end, level, stage, &t);
    if (threadIdx.x == 0) finish<DOTS>(left, end - first, level, stage, &t);
    __syncthreads();
    const int word = (int)threadIdx.x;
    if (word < (int)(sizeof t.tree / sizeof(double)))
        ((double *)tree)[word] = ((const double *)&t.tree)[word];
}

template <int DOTS>
static int launch(const yk_left_at &left, const yk_gpu_loop *loop, yk_tree *tree, void *stream)
{
    tree_at_kernel<DOTS><<<1, THREADS, 0, (cudaStream_t)stream>>>(left, loop, tree);
    return cudaGetLastError();
}

extern "C" int yk_gpu_launch_tree_at(const yk_gpu_view *view, int task, const yk_gpu_loop *loop,
                                     yk_tree *tree, void *stream)
{
    const int full = view->sums.apart > 1 ? 1 : yk_gpu_block_chunks(view, task);
    const int64_t chunks = yk_gpu_chunks(view->rows.csr.rows);
    yk_left_at left = {view->sums.node[0], view->sums.first_chunk, chunks / full,
                       (int)(chunks % full), 0};
    while (1 << left.level < full) left.level++;
    if (left.first % full != 0) return cudaErrorInvalidValue;
    switch (yk_task_dots(task)) {
    case 1: return launch<1>(left, loop, tree, stream);
    case 2: return launch<2>(left, loop, tree, stream);
    case 3: return launch<3>(left, loop, tree, stream);
    case 4: return launch<4>(left, loop, tree, stream);
    }
    return cudaErrorInvalidValue;
}

template <typename Kernel> static int load(Kernel kernel)
{
    cudaFuncAttributes attributes;
    cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
    if (error != cudaSuccess) return error;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                SHARED_PERCENT);
}

extern "C" int yk_gpu_load_tree_at(void)
{
    int error = load(tree_at_kernel<1>);
    if (error == cudaSuccess) error = load(tree_at_kernel<2>);
    if (error == cudaSuccess) error = load(tree_at_kernel<3>);
    if (error == cudaSuccess) error = load(tree_at_kernel<4>);
    return error;
}
