/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_meet.cu: the kernels by which a GPU's part meets the others: tree, meet, send, halo.
 *
 * Tree and meet are one block. What comes from the host is read in two steps, each as long as one
 * read over the link: the flags of all parts, then all that they published. The first look goes out
 * with the reads of the nodes; if all others are there by then, what they published is read while
 * our own is on its way. */
#include "solvers/cg/gpu_meet.cuh"

/* -------------------------------------------------------------------- tree */

template <int DOTS>
static __global__ void __launch_bounds__(THREADS, 1)
    tree_kernel(const __grid_constant__ yk_left left, const yk_gpu_loop *loop, yk_tree *tree)
{
    __shared__ own_tree own;
    wait_for_previous_pass();
    let_next_pass_begin();
    if (loop && loop->halt) return;
    make_tree<DOTS>(left, &own);
    write_tree<DOTS>(own, left.chunks, tree);
}

/* ------------------------------------------------------------------- total */

/* By the whole block, the first trees having been read: total[] in every lane of the first warp. */
template <int DOTS>
static __device__ void total_of_parts(const yk_gpu_link &link, unsigned meeting, int64_t chunks,
                                      other_trees *other, own_tree *all, double *total)
{
    int64_t end = chunks;
    for (int first = 1; first < link.parts; first += ROUND) {
        if (first > 1) read_trees<DOTS>(link, meeting, first, other);
        __syncthreads();
        for (int k = 0; k < ROUND && first + k < link.parts; k++)
            if (threadIdx.x < DOTS) append(*other, k, (int)threadIdx.x, &end, all);
        __syncthreads();
    }
    double mine = threadIdx.x < DOTS ? total_of(*all, (int)threadIdx.x, end) : 0.0;
    if (threadIdx.x < WARP)
#pragma unroll
        for (int d = 0; d < YK_DOTS; d++) total[d] = __shfl_sync(ALL, mine, d);
}

/* -------------------------------------------------------------------- meet */

/* By a whole warp, a part a lane: whether all are there at the first look. */
static __device__ bool all_have_met(const yk_gpu_link &link, unsigned meeting)
{
    bool there = true;
    for (int part = (int)threadIdx.x % WARP; part < link.parts; part += WARP)
        there = there && (part == link.me || has_met(link, part, meeting));
    return __all_sync(ALL, there);
}

/* By the whole block, with the part's tree made: it is published, and the first trees of the others
 * are read, unless they do not come. early: they were there before. Release is cumulative: what
 * threads wrote before the barrier, and kernels before this one, is there for whoever sees the
 * flag; it takes its time, in which others than the publishing thread go on. */
template <int DOTS>
static __device__ bool publish_and_read(const own_tree &own, int64_t chunks, bool early,
                                        const yk_gpu_link &link, unsigned meeting,
                                        other_trees *other)
{
    __shared__ int met;
    yk_slot *slot = &link.port[link.me].slot[meeting & 1];
    const bool last_warp = threadIdx.x / WARP == WARPS - 1;
    write_tree<DOTS>(own, chunks, &slot->sums);
    __syncthreads();
    if (threadIdx.x == 0) yk_flag_set(&slot->flag.value, meeting);
    if (early) {
        read_trees<DOTS>(link, meeting, 1, other);
        return true;
    }
    if (last_warp) {
        bool all = wait_for_parts(link, meeting);
        if (threadIdx.x % WARP == 0) met = all;
    }
    __syncthreads();
    if (met) read_trees<DOTS>(link, meeting, 1, other);
    return met;
}

template <int DOTS>
static __global__ void __launch_bounds__(THREADS, 1)
    meet_kernel(const __grid_constant__ yk_left left, const __grid_constant__ yk_gpu_link link,
                int task, yk_gpu_loop *loop)
{
    __shared__ own_tree own;
    __shared__ other_trees other;
    __shared__ int early;
    double total[YK_DOTS];
    wait_for_previous_pass();
    let_next_pass_begin();
    if (loop->halt) return;
    const unsigned meeting = loop->meetings + 1;
    if (threadIdx.x / WARP == WARPS - 1) {
        bool all = all_have_met(link, meeting);
        if (threadIdx.x % WARP == 0) early = all;
    }
    make_tree<DOTS>(left, &own);
    bool met = publish_and_read<DOTS>(own, left.chunks, early, link, meeting, &other);
    if (met) total_of_parts<DOTS>(link, meeting, left.chunks, &other, &own, total);
    if (threadIdx.x > 0) return;
    if (met) {
        loop->meetings = meeting;
        take_step(task, loop, total);
    } else {
        loop->s.stop = YK_CG_ABORTED;
        loop->halt = 1;
    }
}

/* -------------------------------------------------------------- what travels */

enum { BLOCK = 256 };

static __global__ void __launch_bounds__(BLOCK)
    send_kernel(const double *from, const int32_t *row, int64_t count, double *to,
                const yk_gpu_loop *loop)
{
    const int64_t k = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    const int32_t i = k < count ? row[k] : 0; /* nobody writes those */
    wait_for_previous_pass();
    let_next_pass_begin();
    if (k >= count || (loop && loop->halt)) return;
    to[k] = from[i];
}

/* Runs beside the pass before it, the direction of the part's own rows, with which it shares
 * nothing, and which lets it begin only after the meeting has ended; but it is not over before that
 * pass is, as who comes next waits for this one alone. */
static __global__ void __launch_bounds__(BLOCK)
    halo_kernel(double *p, int64_t halo, const double *z, const yk_gpu_loop *loop)
{
    const int64_t k = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    let_next_pass_begin();
    if (k < halo && !loop->halt) p[k] = fma(loop->s.beta, p[k], read_double(&z[k]) - loop->s.shift);
    wait_for_previous_pass();
}

/* The same where p of the halo has its places among the rows and behind them; none is a row of the
 * pass before it. */
static __global__ void __launch_bounds__(BLOCK)
    halo_at_kernel(double *p, const int32_t *at, int64_t halo, const double *z,
                   const yk_gpu_loop *loop)
{
    const int64_t k = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    const int32_t i = k < halo ? at[k] : 0; /* nobody writes those */
    let_next_pass_begin();
    if (k < halo && !loop->halt) p[i] = fma(loop->s.beta, p[i], read_double(&z[k]) - loop->s.shift);
    wait_for_previous_pass();
}

/* Reads what the host may have written just before. */
static __global__ void __launch_bounds__(BLOCK)
    place_kernel(const double *from, const int32_t *at, int64_t count, double *to)
{
    const int64_t k = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (k < count) to[at[k]] = read_double(&from[k]);
}

/* ------------------------------------------------------------------ launch */

template <int DOTS>
static int launch_tree(const yk_gpu_view *view, int task, const yk_gpu_loop *loop, yk_tree *tree,
                       void *stream)
{
    return launch(tree_kernel<DOTS>, 1, THREADS, view, loop, stream, left_of(view, task), loop,
                  tree);
}

extern "C" int yk_gpu_launch_tree(const yk_gpu_view *view, int task, const yk_gpu_loop *loop,
                                  yk_tree *tree, void *stream)
{
    if (view->sums.first_chunk > 0 || view->sums.apart > 1)
        return yk_gpu_launch_tree_at(view, task, loop, tree, stream);
    switch (yk_task_dots(task)) {
    case 1: return launch_tree<1>(view, task, loop, tree, stream);
    case 2: return launch_tree<2>(view, task, loop, tree, stream);
    case 3: return launch_tree<3>(view, task, loop, tree, stream);
    case 4: return launch_tree<4>(view, task, loop, tree, stream);
    }
    return cudaErrorInvalidValue;
}

template <int DOTS>
static int launch_meet(const yk_gpu_view *view, int task, yk_gpu_loop *loop,
                       const yk_gpu_link *link, void *stream)
{
    return launch(meet_kernel<DOTS>, 1, THREADS, view, loop, stream, left_of(view, task), *link,
                  task, loop);
}

extern "C" int yk_gpu_launch_meet(const yk_gpu_view *view, int task, yk_gpu_loop *loop,
                                  const yk_gpu_link *link, void *stream)
{
    if (link->me != 0 || link->nodes > MOST_NODES) return cudaErrorInvalidValue;
    if (view->sums.first_chunk > 0 || view->sums.apart > 1) return cudaErrorInvalidValue;
    switch (yk_task_dots(task)) {
    case 1: return launch_meet<1>(view, task, loop, link, stream);
    case 2: return launch_meet<2>(view, task, loop, link, stream);
    case 3: return launch_meet<3>(view, task, loop, link, stream);
    case 4: return launch_meet<4>(view, task, loop, link, stream);
    }
    return cudaErrorInvalidValue;
}

extern "C" int yk_gpu_launch_send(const yk_gpu_view *view, const double *from, const int32_t *row,
                                  int64_t count, double *to, const yk_gpu_loop *loop, void *stream)
{
    if (count == 0) return cudaSuccess;
    return launch(send_kernel, (count + BLOCK - 1) / BLOCK, BLOCK, view, loop, stream, from, row,
                  count, to, loop);
}

extern "C" int yk_gpu_launch_halo(const yk_gpu_view *view, int64_t halo, const double *z,
                                  const yk_gpu_loop *loop, void *stream)
{
    if (halo == 0) return cudaSuccess;
    return launch(halo_kernel, (halo + BLOCK - 1) / BLOCK, BLOCK, view, loop, stream,
                  view->rows.p + view->rows.csr.rows, halo, z, loop);
}

extern "C" int yk_gpu_launch_halo_at(const yk_gpu_view *view, const int32_t *at, int64_t halo,
                                     const double *z, const yk_gpu_loop *loop, void *stream)
{
    if (halo == 0) return cudaSuccess;
    return launch(halo_at_kernel, (halo + BLOCK - 1) / BLOCK, BLOCK, view, loop, stream,
                  view->rows.p, at, halo, z, loop);
}

extern "C" int yk_gpu_launch_place(const yk_gpu_view *view, const double *from, const int32_t *at,
                                   int64_t count, double *to, void *stream)
{
    if (count == 0) return cudaSuccess;
    return launch(place_kernel, (count + BLOCK - 1) / BLOCK, BLOCK, view, NULL, stream, from, at,
                  count, to);
}

extern "C" int yk_gpu_load_meeting(void)
{
    int error = yk_gpu_load_tree_at();
    if (error == cudaSuccess) error = load(send_kernel);
    if (error == cudaSuccess) error = load(halo_kernel);
    if (error == cudaSuccess) error = load(halo_at_kernel);
    if (error == cudaSuccess) error = load(place_kernel);
    if (error == cudaSuccess) error = load(tree_kernel<1>);
    if (error == cudaSuccess) error = load(tree_kernel<2>);
    if (error == cudaSuccess) error = load(tree_kernel<3>);
    if (error == cudaSuccess) error = load(tree_kernel<4>);
    if (error == cudaSuccess) error = load(meet_kernel<1>);
    if (error == cudaSuccess) error = load(meet_kernel<2>);
    if (error == cudaSuccess) error = load(meet_kernel<3>);
    if (error == cudaSuccess) error = load(meet_kernel<4>);
    return error;
}
