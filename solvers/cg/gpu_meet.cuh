/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_meet.cuh: what kernels that meet others share: waiting for their flags, reading what they
 * published, adding it up. */
#ifndef YK_GPU_MEET_CUH
#define YK_GPU_MEET_CUH

#include <cuda_runtime.h>

#include "lib/cuda/flag.cuh"
#include "solvers/cg/gpu_meet.h"
#include "solvers/cg/gpu_ring.cuh"
#include "solvers/cg/gpu_tree.cuh"

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

/* By a whole warp, a part a lane, until all are there; false if it was in vain. */
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

template <typename Kernel> static int load(Kernel kernel)
{
    cudaFuncAttributes attributes;
    cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
    if (error != cudaSuccess) return error;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                SHARED_PERCENT);
}

#endif
