/* SPDX-License-Identifier: BSD-3-Clause */
/* gpus_meet.cu: the kernel by which several GPUs meet: one block, which makes the part's tree, puts
 * it into every inbox, waits for the others and adds all up; or does some of that. */
#include "solvers/cg/gpu_meet.cuh"
#include "solvers/cg/gpus.h"

/* -------------------------------------------------------------------- tree */

/* Of what a pass left, the chunks [first, first + chunks), first of a whole block. */
static __device__ yk_left some_of(const yk_left &left, int64_t first, int64_t chunks, int dots)
{
    yk_left some = left;
    some.node = left.node + (first >> left.level) * dots;
    some.chunks = chunks;
    some.nodes = chunks >> left.level;
    some.ragged = (int)(chunks & ((1 << left.level) - 1));
    some.run_level = 0;
    while ((int64_t)THREADS << some.run_level < some.nodes) some.run_level++;
    return some;
}

/* Chunks from `at` on that are one node of the system's tree; or all up to the end, if they are
 * fewer and so are nodes one narrower than the other. */
static __device__ int64_t next_range(int64_t at, int64_t end)
{
    const int64_t widest = at == 0 ? end : at & -at;
    return widest < end - at ? widest : end - at;
}

/* By the whole block: the nodes of own, which is over so many chunks, behind those of the tree. */
template <int DOTS>
static __device__ void add_nodes(const own_tree &own, int64_t chunks, int64_t end, yk_tree *tree)
{
    const int level = (int)threadIdx.x / YK_DOTS, dot = (int)threadIdx.x % YK_DOTS;
    const int before = tree->count;
    __syncthreads(); /* the count has been read by all */
    if (level < TREE_LEVELS && chunks >> level & 1) {
        const int place = before + __popcll(chunks >> level) - 1; /* wider nodes come first */
        tree->sum[place][dot] = dot < DOTS ? own.sum[level][dot] : 0.0;
        if (dot == 0) tree->level[place] = (int8_t)level;
    }
    if (threadIdx.x == 0) {
        tree->count = before + __popcll(chunks);
        tree->end = end;
        tree->dots = DOTS;
    }
    __syncthreads();
}

/* By the whole block: the part's tree over its chunks' numbers in the system. The cuts are where
 * few nodes lie before the widest: each takes its turn. */
template <int DOTS>
static __device__ void make_range(const yk_left &left, int64_t first, own_tree *own, yk_tree *tree)
{
    const int64_t end = first + left.chunks;
    if (threadIdx.x == 0) tree->count = 0, tree->end = first, tree->dots = DOTS;
    __syncthreads();
    for (int64_t at = first; at < end;) {
        const int64_t chunks = next_range(at, end);
        make_tree<DOTS>(some_of(left, at - first, chunks, DOTS), own);
        at += chunks;
        add_nodes<DOTS>(*own, chunks, at, tree);
    }
}

/* ------------------------------------------------------------------- phases */

enum { WORD = sizeof(unsigned long long), HEAD_WORDS = offsetof(yk_tree, sum) / WORD };
enum { TREE_THREADS = 256 /* a word each */, TREES = THREADS / TREE_THREADS };
static_assert(HEAD_WORDS + 48 * YK_DOTS <= TREE_THREADS, "a tree has up to 48 nodes: see sum.h");

/* By the whole block: into every inbox, some at a time. */
static __device__ void put_tree(const yk_tree &tree, const yk_gpus_link &link, unsigned meeting,
                                int first, int count)
{
    const int word = (int)threadIdx.x % TREE_THREADS, of = (int)threadIdx.x / TREE_THREADS;
    if (word >= HEAD_WORDS + YK_DOTS * tree.count) return;
    const unsigned long long value = ((const unsigned long long *)&tree)[word];
    for (int i = first + of; i < first + count; i += TREES)
        ((unsigned long long *)&link.inbox[i][link.own.me].slot[meeting & 1].sums)[word] = value;
}

/* Release is cumulative: what the block wrote before the barrier, and kernels before this one, is
 * there for whoever sees the flag. */
static __device__ void raise_flags(const yk_gpus_link &link, unsigned meeting)
{
    __syncthreads();
    if ((int)threadIdx.x >= link.own.parts) return;
    yk_port *port = &link.inbox[threadIdx.x][link.own.me];
    yk_flag_set(&port->slot[meeting & 1].flag.value, meeting);
}

/* By the whole block. */
static __device__ bool wait_for_others(const yk_gpu_link &own, unsigned meeting)
{
    __shared__ int met;
    if (threadIdx.x / WARP == WARPS - 1) {
        bool all = wait_for_parts(own, meeting);
        if (threadIdx.x % WARP == 0) met = all;
    }
    __syncthreads();
    return met;
}

/* By the whole block: total[] in every lane of the first warp, from the own inbox. */
template <int DOTS>
static __device__ void total_of_inbox(const yk_gpu_link &own, unsigned meeting, own_tree *all,
                                      double *total)
{
    __shared__ other_trees tree;
    int64_t end = 0;
    for (int first = 0; first < own.parts; first += ROUND) {
        read_trees<DOTS>(own, meeting, first, &tree);
        __syncthreads();
        for (int k = 0; k < ROUND && first + k < own.parts; k++)
            if (threadIdx.x < DOTS) append(tree, k, (int)threadIdx.x, &end, all);
        __syncthreads();
    }
    double mine = threadIdx.x < DOTS ? total_of(*all, (int)threadIdx.x, end) : 0.0;
    if (threadIdx.x < WARP)
#pragma unroll
        for (int d = 0; d < YK_DOTS; d++) total[d] = __shfl_sync(ALL, mine, d);
}

static __device__ void give_up(yk_gpu_loop *loop)
{
    loop->s.stop = YK_CG_ABORTED;
    loop->halt = 1;
}

template <int DOTS>
static __global__ void __launch_bounds__(THREADS, 1)
    meet_kernel(const __grid_constant__ yk_left left, const __grid_constant__ yk_gpus_link link,
                int phases, int task, yk_gpu_loop *loop)
{
    __shared__ own_tree own;
    __shared__ yk_tree tree;
    wait_for_previous_pass();
    let_next_pass_begin();
    if (loop && loop->halt) return;
    const unsigned meeting = loop ? loop->meetings + 1 : 0;
    if (phases & YK_GPUS_PUBLISH) {
        make_range<DOTS>(left, link.first_chunk, &own, &tree);
        put_tree(tree, link, meeting, loop ? 0 : link.own.me, loop ? link.own.parts : 1);
    }
    if (!loop) return;
    if (phases & YK_GPUS_WAIT) {
        raise_flags(link, meeting);
        if (!wait_for_others(link.own, meeting)) {
            if (threadIdx.x == 0) give_up(loop);
            return;
        }
    }
    if (!(phases & YK_GPUS_CONCLUDE)) return;
    double total[YK_DOTS];
    __syncthreads(); /* all have read the number of the meeting */
    total_of_inbox<DOTS>(link.own, meeting, &own, total);
    if (threadIdx.x > 0) return;
    loop->meetings = meeting;
    take_step(task, loop, total);
}

/* ------------------------------------------------------------------- launch */

template <int DOTS>
static int launch_meet(const yk_gpu_view *view, int task, yk_gpu_loop *loop,
                       const yk_gpus_link *link, int phases, void *stream)
{
    return launch(meet_kernel<DOTS>, 1, THREADS, view, loop, stream, left_of(view, task), *link,
                  phases, task, loop);
}

extern "C" int yk_gpus_launch_meet(const yk_gpu_view *view, int task, yk_gpu_loop *loop,
                                   const yk_gpus_link *link, int phases, void *stream)
{
    if (link->own.nodes > MOST_NODES || link->own.parts > YK_MOST_GPUS ||
        link->first_chunk % yk_gpu_block_chunks(view, task) != 0)
        return cudaErrorInvalidValue;
    switch (yk_task_dots(task)) {
    case 1: return launch_meet<1>(view, task, loop, link, phases, stream);
    case 2: return launch_meet<2>(view, task, loop, link, phases, stream);
    case 3: return launch_meet<3>(view, task, loop, link, phases, stream);
    case 4: return launch_meet<4>(view, task, loop, link, phases, stream);
    }
    return cudaErrorInvalidValue;
}

extern "C" int yk_gpus_load_meeting(void)
{
    int error = load(meet_kernel<1>);
    if (error == cudaSuccess) error = load(meet_kernel<2>);
    if (error == cudaSuccess) error = load(meet_kernel<3>);
    if (error == cudaSuccess) error = load(meet_kernel<4>);
    return error;
}
