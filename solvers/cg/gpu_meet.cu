/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_meet.cu: the kernels by which a GPU's part meets the others: tree, meet, send, halo.
 *
 * Tree and meet are one block. A thread adds a run of neighbouring nodes, a warp 32 runs, the first
 * warps the 32 sums of all warps; what is left over at each step are the nodes of the tree, whose
 * levels are the bits of the number of chunks. What comes from the host is read in two steps, each
 * as long as one read over the link: the flags of all parts, then all that they published. The
 * first look goes out with the reads of the nodes; if all others are there by then, what they
 * published is read while our own is on its way. */
#include <cuda_runtime.h>

#include "lib/cuda/flag.cuh"
#include "solvers/cg/gpu_meet.h"
#include "solvers/cg/gpu_ring.cuh"

enum { THREADS = 1024, WARPS = THREADS / WARP };
enum { BATCH = 8, RUN_LEVELS = 10 /* 2^10 batches a thread: 2^23 nodes */ };
enum { TREE_LEVELS = 24 /* 2^23 chunks */, MOST_RAGGED = YK_BLOCK_CHUNKS };

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

/* ------------------------------------------------------------ nodes to tree */

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

/* -------------------------------------------------------------------- wait */

/* Looks at a flag between two at the abort word and the clock: each is another read over the link.
 */
enum { LOOKS = 64 };

/* By a whole warp: true once somebody has given up, or the time is over, and then we have. */
static __device__ bool given_up(const yk_gpu_link &link, unsigned long long until)
{
    bool up = false;
    if (threadIdx.x % WARP == 0) {
        up = yk_flag_get(&link.abort->value) != 0;
        if (!up && yk_nanoseconds() > until) {
            yk_flag_set(&link.abort->value, 1);
            up = true;
        }
    }
    return __any_sync(ALL, up);
}

/* Numbers wrap around. */
static __device__ __forceinline__ bool has_met(const yk_gpu_link &link, int part, unsigned meeting)
{
    return (int)(yk_flag_get(&link.port[part].slot[meeting & 1].flag.value) - meeting) >= 0;
}

/* By a whole warp, a part a lane: whether all are there at the first look. */
static __device__ bool all_have_met(const yk_gpu_link &link, unsigned meeting)
{
    bool there = true;
    for (int part = (int)threadIdx.x % WARP; part < link.parts; part += WARP)
        there = there && (part == link.me || has_met(link, part, meeting));
    return __all_sync(ALL, there);
}

/* The same, until they are; false if it was in vain. */
static __device__ bool wait_for_parts(const yk_gpu_link &link, unsigned meeting)
{
    const double most = 1e9; /* seconds: 30 years, in nanoseconds within 64 bits */
    const double seconds = link.deadline < most ? link.deadline : most;
    const unsigned long long until = yk_nanoseconds() + (unsigned long long)(1e9 * seconds);
    unsigned looks = 0;
    for (int first = 0; first < link.parts; first += WARP) {
        const int part = first + (int)threadIdx.x % WARP;
        bool there = part >= link.parts || part == link.me;
        while (true) {
            there = there || has_met(link, part, meeting);
            if (__all_sync(ALL, there)) break;
            if (++looks % LOOKS == 0 && given_up(link, until)) return false;
        }
    }
    return true;
}

/* ------------------------------------------------------------------- total */

/* Parts read at a time, by all but the first warp: its first thread is publishing. */
enum { ROUND = 4, OF_PART = (THREADS - WARP) / ROUND, MOST_NODES = OF_PART / YK_DOTS };
static_assert(MOST_NODES >= 48, "a thread a node and dot: see sum.h for how many nodes there are");

struct other_trees {
    double sum[ROUND][MOST_NODES][YK_DOTS];
    int8_t level[ROUND][YK_TREE_NODES];
    int count[ROUND];
};

/* What others have written, past any cache. */
static __device__ __forceinline__ double read_double(const double *at)
{
    double value;
    asm volatile("ld.relaxed.sys.global.f64 %0, [%1];"
                 : "=d"(value)
                 : "l"(__cvta_generic_to_global(at)));
    return value;
}

static __device__ __forceinline__ unsigned long long read_word(const void *at)
{
    unsigned long long value;
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];"
                 : "=l"(value)
                 : "l"(__cvta_generic_to_global(at)));
    return value;
}

/* By the whole block: the trees of parts [first, first + ROUND), read all at once. */
template <int DOTS>
static __device__ void read_trees(const yk_gpu_link &link, unsigned meeting, int first,
                                  other_trees *other)
{
    const int thread = (int)threadIdx.x - WARP;
    const int k = thread / OF_PART, i = thread % OF_PART, node = i / YK_DOTS, dot = i % YK_DOTS;
    if (thread < 0 || first + k >= link.parts) return;
    const yk_tree *tree = &link.port[first + k].slot[meeting & 1].sums;
    unsigned long long word = 0;
    double sum = 0.0;
    if (node < link.nodes && dot < DOTS) sum = read_double(&tree->sum[node][dot]);
    if (i < YK_TREE_NODES / 8) word = read_word(&tree->level[8 * i]);
    if (i == YK_TREE_NODES / 8) word = read_word(&tree->count); /* and dots, above it */
    other->sum[k][node][dot] = sum;
    if (i < YK_TREE_NODES / 8) memcpy(&other->level[k][8 * i], &word, sizeof word);
    if (i == YK_TREE_NODES / 8) other->count[k] = (int)(unsigned)word;
}

/* By one thread a dot: appends a part's tree to the one over [0, end), as yk_tree_append does: a
 * node carries where there is one of its level already. */
static __device__ void append(const other_trees &other, int k, int dot, int64_t *end, own_tree *all)
{
    for (int i = 0; i < other.count[k]; i++) {
        const int added = other.level[k][i];
        double sum = other.sum[k][i][dot];
        int level = added;
        for (; *end >> level & 1; level++) sum = all->sum[level][dot] + sum;
        all->sum[level][dot] = sum;
        *end += (int64_t)1 << added;
    }
}

/* By one thread a dot, as yk_tree_total. */
static __device__ double total_of(const own_tree &all, int dot, int64_t end)
{
    double sum = 0.0;
    bool begun = false;
    for (; end > 0; end &= end - 1) {
        const int level = __ffsll(end) - 1;
        sum = begun ? all.sum[level][dot] + sum : all.sum[level][dot];
        begun = true;
    }
    return sum;
}

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

static __global__ void __launch_bounds__(BLOCK)
    halo_kernel(double *p, int64_t halo, const double *z, const yk_gpu_loop *loop)
{
    const int64_t k = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    wait_for_previous_pass();
    let_next_pass_begin();
    if (k >= halo || loop->halt) return;
    p[k] = fma(loop->s.beta, p[k], read_double(&z[k]) - loop->s.shift);
}

/* ------------------------------------------------------------------ launch */

static yk_left left_of(const yk_gpu_view *view, int task)
{
    const int full = yk_gpu_block_chunks(view, task);
    yk_left left = {};
    left.node = view->sums.node[0];
    left.chunks = yk_gpu_chunks(view->rows.csr.rows);
    left.nodes = left.chunks / full;
    left.ragged = (int)(left.chunks % full);
    while (1 << left.level < full) left.level++;
    while ((int64_t)THREADS << left.run_level < left.nodes) left.run_level++;
    return left;
}

/* Passes let their followers begin early where the view says so, and ours do as well. */
template <typename... Kernel, typename... Arguments>
static int launch(void (*kernel)(Kernel...), int64_t blocks, int threads, const yk_gpu_view *view,
                  const yk_gpu_loop *loop, void *stream, Arguments... arguments)
{
    cudaLaunchAttribute overlap = {};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)blocks);
    config.blockDim = dim3((unsigned)threads);
    config.stream = (cudaStream_t)stream;
    config.attrs = &overlap;
    config.numAttrs = view->walk.overlaps && loop ? 1 : 0;
    cudaError_t error = cudaLaunchKernelEx(&config, kernel, arguments...);
    cudaError_t before = cudaGetLastError();
    return error != cudaSuccess ? error : before;
}

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

template <typename Kernel> static int load(Kernel kernel)
{
    cudaFuncAttributes attributes;
    cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
    if (error != cudaSuccess) return error;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                SHARED_PERCENT);
}

extern "C" int yk_gpu_load_meeting(void)
{
    int error = load(send_kernel);
    if (error == cudaSuccess) error = load(halo_kernel);
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
