/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_kernels.cu: the tasks of passes.h as kernels, by three ways to go over the rows:
 *   run_blocks   a chunk a block, a row a thread: small systems, rows of CSR, sm_80
 *   run_rows     a chunk a warp, 8 rows a lane, for what does not multiply
 *   run_columns  the same for what multiplies SELL, whose columns stream through a ring
 * Sums are in the order of sum.h, completed by whoever arrives last, who also takes the scalars'
 * next step. So a pass needs no second kernel and the host is not asked. */
#include <math.h>

#include "solvers/cg/gpu_meet.h"
#include "solvers/cg/gpu_product.cuh"

template <int TASK> static constexpr int dots_of = yk_task_dots(TASK);
template <int TASK> static constexpr int sums_of = dots_of<TASK> > 0 ? dots_of<TASK> : 1;

/* ------------------------------------------------------------------- loop */

/* By the first warp: the block's node, or where it has fewer chunks than a full one, or chunks are
 * asked for, their sums, to stay where it is. */
template <int DOTS>
static __device__ __forceinline__ void leave(const yk_gpu_view &view, unsigned index,
                                             const double *sum, double (*chunk)[YK_BLOCK_CHUNKS],
                                             int full)
{
    const unsigned left = (unsigned)yk_gpu_chunks(view.rows.csr.rows) - index * full;
    const bool chunks = view.sums.apart > 1, whole = !chunks && left >= (unsigned)full;
    double *node = view.sums.node[0] + (size_t)index * (chunks ? full : 1) * DOTS;
    const unsigned count = whole ? 1 : left < (unsigned)full ? left : (unsigned)full;
#pragma unroll
    for (int d = 0; d < DOTS; d++)
#pragma unroll 1
        for (unsigned i = threadIdx.x; i < count; i += WARP)
            node[i * DOTS + d] = whole ? sum[d] : chunk[d][i];
}

/* The block's node from its chunks' sums, which all threads have stored, on its way; whoever
 * completes the total takes the next step. */
template <int TASK, int THREADS>
static __device__ void deliver(const yk_gpu_view &view, yk_gpu_loop *loop, unsigned index,
                               double (*chunk)[YK_BLOCK_CHUNKS], int chunks, int full)
{
    constexpr int dots = dots_of<TASK>;
    double sum[YK_DOTS] = {0.0, 0.0, 0.0, 0.0};
    __syncthreads();
    if (threadIdx.x < WARP)
#pragma unroll
        for (int d = 0; d < dots; d++) sum[d] = block_node(chunk[d], chunks);
    if (view.sums.apart) {
        if (threadIdx.x < WARP) leave<dots>(view, index, sum, chunk, full);
        return;
    }
    if (!arrive<THREADS, dots>(view.sums, index, sum) || threadIdx.x != 0) return;
    if (loop && yk_task_ends_iteration(TASK))
        take_only_step(loop, sum);
    else if (loop)
        take_step(TASK, loop, sum);
    else
        for (int d = 0; d < YK_DOTS; d++) view.sums.total[d] = sum[d];
}

/* The state after the pass before: false where the loop has ended. Every thread of every pass
 * calls, once and first. */
static __device__ __forceinline__ bool begin_pass(yk_cg_rows *c, const yk_gpu_loop *loop)
{
    wait_for_previous_pass();
    let_next_pass_begin();
    if (!loop) return true;
    if (loop->halt) return false;
    c->alpha = loop->s.alpha;
    c->beta = loop->s.beta;
    c->shift = loop->s.shift;
    return true;
}

static __device__ __forceinline__ unsigned block_of(const yk_gpu_walk &walk)
{
    return walk.first_block + (walk.backwards ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
}

/* -------------------------------------------------------- a chunk a block */

/* The k-th chunk's sums, by the first warp while the others go on: terms alternate between two
 * buffers, and whoever writes one again has passed the barrier that follows its reading. */
template <int DOTS>
static __device__ __forceinline__ void sum_chunk(double (*term)[BLOCK], const double *dot,
                                                 double (*chunk)[YK_BLOCK_CHUNKS], int k)
{
#pragma unroll
    for (int d = 0; d < DOTS; d++) term[d][threadIdx.x] = dot[d];
    __syncthreads();
    if (threadIdx.x >= WARP) return;
#pragma unroll
    for (int d = 0; d < DOTS; d++) {
        double sum = 0.0;
#pragma unroll
        for (int w = 0; w < BLOCK / WARP; w++) sum += term[d][threadIdx.x + WARP * w];
        sum = halves(sum);
        if (threadIdx.x == 0) chunk[d][k] = sum;
    }
}

/* Blocks that a multiprocessor shall hold, so registers a thread: fewer spill, more hide less. */
static constexpr int blocks_of(int format)
{
    return format == YK_GPU_SELL ? 3 : 4;
}

template <int TASK, int FORMAT>
static __global__ void __launch_bounds__(BLOCK, blocks_of(FORMAT))
    run_blocks(const __grid_constant__ yk_gpu_view view, yk_gpu_loop *loop)
{
    yk_cg_rows c = view.rows;
    if (!begin_pass(&c, loop)) return;
    constexpr int dots = dots_of<TASK>;
    __shared__ double term[2][sums_of<TASK>][BLOCK], sum[sums_of<TASK>][YK_BLOCK_CHUNKS];
    const unsigned block = block_of(view.walk);
    double largest = 0.0;
    int k = 0;
    for (; k < view.walk.chunks; k++) {
        const int64_t first = ((int64_t)block * view.walk.chunks + k) * YK_CHUNK;
        const int64_t left = c.csr.rows - first;
        if (left <= 0) break;
        const int rows = left < YK_CHUNK ? (int)left : YK_CHUNK;
        double dot[YK_DOTS] = {0.0, 0.0, 0.0, 0.0}, product = 0.0;
        if (yk_task_multiplies(TASK)) product = chunk_product<TASK, FORMAT>(c, view, first, rows);
        if ((int)threadIdx.x < rows) yk_cg_row(TASK, &c, first + threadIdx.x, product, dot);
        if (yk_task_is_largest(TASK))
            largest = fmax(largest, dot[0]);
        else if (dots > 0)
            sum_chunk<dots>(term[k & 1], dot, sum, k);
    }
    if (yk_task_is_largest(TASK))
        deliver_largest(view.sums, largest);
    else if constexpr (dots > 0)
        deliver<TASK, BLOCK>(view, loop, block, sum, k, view.walk.chunks);
}

/* --------------------------------------------------------- a chunk a warp */

/* The chunks of a block: warp w takes chunks w, w + WARPS, ... of it, so that warps which run
 * together gather from the same lines. */
template <int WARPS> struct warp_chunks {
    unsigned block;
    int warp, each;
    bool backwards;

    __device__ __forceinline__ warp_chunks(const yk_gpu_walk &walk, int chunks_a_warp)
        : block(block_of(walk)), warp(__shfl_sync(ALL, threadIdx.x / WARP, 0)), each(chunks_a_warp),
          backwards(walk.backwards)
    {
    }

    __device__ __forceinline__ int within(int k) const
    {
        return (backwards ? each - 1 - k : k) * WARPS + warp;
    }

    __device__ __forceinline__ int64_t chunk(int k) const
    {
        return (int64_t)block * (WARPS * each) + within(k);
    }
};

/* A chunk's sums from those of its lanes, to their place among the block's. */
template <int DOTS>
static __device__ __forceinline__ void store_chunk(const double *sum,
                                                   double (*of_chunk)[YK_BLOCK_CHUNKS], int place)
{
#pragma unroll
    for (int d = 0; d < DOTS; d++) {
        double total = halves(sum[d]);
        if (threadIdx.x % WARP == 0) of_chunk[d][place] = total;
    }
}

enum { ROWS_A_LANE = YK_CHUNK / WARP };

/* The rows of a whole chunk: everything is read before anything is stored. */
static __device__ __forceinline__ void load_chunk(int reads, const yk_cg_rows &c, int64_t first,
                                                  yk_cg_inputs *in)
{
#pragma unroll
    for (int j = 0; j < ROWS_A_LANE; j++) yk_cg_load_some(reads, &c, first + WARP * j, 1, &in[j]);
}

template <int TASK>
static __device__ __forceinline__ void finish_chunk(const yk_cg_rows &c, int64_t first,
                                                    const yk_cg_inputs *in, double *sum)
{
    constexpr int dots = dots_of<TASK>;
#pragma unroll
    for (int j = 0; j < ROWS_A_LANE; j++) {
        double dot[YK_DOTS];
        yk_cg_finish(TASK, &c, first + WARP * j, &in[j], 0.0, dot, 1);
#pragma unroll
        for (int d = 0; d < dots; d++)
            sum[d] = yk_task_is_largest(TASK) ? fmax(sum[d], dot[d]) : sum[d] + dot[d];
    }
}

template <int TASK>
static __device__ __forceinline__ void last_chunk(const yk_cg_rows &c, int64_t first, double *sum)
{
    constexpr int dots = dots_of<TASK>;
    for (int64_t i = first; i < c.csr.rows && i < first + YK_CHUNK; i += WARP) {
        double dot[YK_DOTS];
        yk_cg_row(TASK, &c, i, 0.0, dot);
#pragma unroll
        for (int d = 0; d < dots; d++)
            sum[d] = yk_task_is_largest(TASK) ? fmax(sum[d], dot[d]) : sum[d] + dot[d];
    }
}

/* The first blocks read what the pass before does not write while that still ends. */
template <int TASK, int WARPS, int EACH, int BLOCKS>
static __global__ void __launch_bounds__(WARPS *WARP, BLOCKS)
    run_rows(const __grid_constant__ yk_gpu_view view, yk_gpu_loop *loop)
{
    constexpr int dots = dots_of<TASK>;
    __shared__ double of_chunk[sums_of<TASK>][YK_BLOCK_CHUNKS];
    const int lane = threadIdx.x % WARP;
    constexpr int early = yk_task_reads_early(TASK);
    const warp_chunks<WARPS> mine(view.walk, EACH);
    yk_cg_rows c = view.rows;
    yk_cg_inputs in[ROWS_A_LANE];
    const bool ahead = early != 0 && loop && blockIdx.x < (unsigned)view.walk.multiprocessors &&
                       (mine.chunk(0) + 1) * YK_CHUNK <= c.csr.rows;
    if (ahead) load_chunk(early, c, mine.chunk(0) * YK_CHUNK + lane, in);
    if (!begin_pass(&c, loop)) return;
    double sum[YK_DOTS] = {0.0, 0.0, 0.0, 0.0};
    for (int k = 0; k < EACH; k++) {
        const int64_t first = mine.chunk(k) * YK_CHUNK;
        if (!yk_task_is_largest(TASK))
            for (int d = 0; d < dots; d++) sum[d] = 0.0;
        if (first + YK_CHUNK <= c.csr.rows) {
            if (!ahead || k > 0) load_chunk(early, c, first + lane, in);
            load_chunk(yk_task_reads(TASK) & ~early, c, first + lane, in);
            finish_chunk<TASK>(c, first + lane, in, sum);
        } else if (first < c.csr.rows)
            last_chunk<TASK>(c, first + lane, sum);
        if constexpr (yk_task_is_largest(TASK)) continue;
        store_chunk<dots>(sum, of_chunk, mine.within(k));
    }
    if constexpr (yk_task_is_largest(TASK))
        deliver_largest(view.sums, sum[0]);
    else if constexpr (dots > 0)
        deliver<TASK, WARPS * WARP>(view, loop, mine.block, of_chunk, WARPS * EACH, WARPS * EACH);
}

/* ------------------------------------------------- a chunk a warp, by SELL */

#if YK_SM90

/* Rows that all lie in a slice, one a lane. */
template <int TASK, int WIDTH, class COLUMNS>
static __device__ __forceinline__ void slice_rows(const yk_cg_rows &c, COLUMNS &columns, uint32_t i,
                                                  int width, double *sum)
{
    constexpr int dots = dots_of<TASK>, fold = TASK == YK_TASK_FOLD;
    const yk_operand v = yk_task_operand(TASK, &c);
    const bool is_row = i < (uint32_t)c.csr.rows;
    yk_cg_inputs in = yk_cg_load(TASK, &c, is_row ? i : 0, 1);
    double product = sell_product<fold, WIDTH>(columns, width, v), dot[YK_DOTS];
    if (!is_row) return;
    yk_cg_finish(TASK, &c, i, &in, product, dot, 1);
#pragma unroll
    for (int d = 0; d < dots; d++) sum[d] += dot[d];
}

/* A chunk's order, eight places a lane: which row lies at the lane's place of its slice s. */
static __device__ __forceinline__ int row_here(unsigned long long order, int s)
{
    const int place = s * YK_SELL_ROWS + (int)threadIdx.x % WARP;
    return (int)((__shfl_sync(ALL, order, place / 8) >> (8 * (place % 8))) & 0xff);
}

/* The chunk's rows in place, i the lane's first, from their products. */
template <int TASK>
static __device__ __forceinline__ void rows_in_place(const yk_cg_rows &c, uint32_t i,
                                                     const double *product, double *sum)
{
    constexpr int dots = dots_of<TASK>;
    const uint32_t rows = (uint32_t)c.csr.rows;
    yk_cg_inputs in[ROWS_A_LANE];
#pragma unroll
    for (int j = 0; j < ROWS_A_LANE; j++)
        in[j] = yk_cg_load(TASK, &c, i + WARP * j < rows ? i + WARP * j : 0, 1);
    __syncwarp(); /* products are there */
#pragma unroll
    for (int j = 0; j < ROWS_A_LANE; j++) {
        double dot[YK_DOTS];
        if (i + WARP * j >= rows) continue;
        yk_cg_finish(TASK, &c, i + WARP * j, &in[j], product[threadIdx.x % WARP + WARP * j], dot,
                     1);
#pragma unroll
        for (int d = 0; d < dots; d++) sum[d] += dot[d];
    }
    __syncwarp(); /* and have been read */
}

/* product: [256] of the warp's own, where rows are sorted. */
template <int TASK, int WIDTH, bool SORTED, class COLUMNS>
static __device__ __forceinline__ void chunk_rows(const yk_cg_rows &c, const yk_sell &sell,
                                                  COLUMNS &columns, uint32_t chunk, double *product,
                                                  double *sum)
{
    constexpr int of_chunk = YK_CHUNK / YK_SELL_ROWS;
    const int lane = threadIdx.x % WARP;
    const uint32_t all = (uint32_t)yk_sell_slices(c.csr.rows), first = chunk * of_chunk;
    if (first >= all) return;
    const int slices = all - first < of_chunk ? (int)(all - first) : of_chunk;
    int64_t before = 0;
    if (WIDTH == 0 && sell.width == 0 && lane <= slices) before = sell.slice[first + lane];
    unsigned long long order = 0;
    if (SORTED) order = ((const unsigned long long *)sell.order)[(size_t)chunk * WARP + lane];
    columns.begin_chunk(chunk);
#pragma unroll 1
    for (int s = 0; s < slices; s++) {
        int width = sell.width;
        if (WIDTH == 0 && width == 0)
            width = (int)(__shfl_sync(ALL, before, s + 1) - __shfl_sync(ALL, before, s));
        if constexpr (SORTED)
            product[row_here(order, s)] = sell_product<TASK == YK_TASK_FOLD, WIDTH>(
                columns, width, yk_task_operand(TASK, &c));
        else
            slice_rows<TASK, WIDTH>(c, columns, (first + s) * YK_SELL_ROWS + lane, width, sum);
    }
    if constexpr (SORTED) rows_in_place<TASK>(c, chunk * YK_CHUNK + lane, product, sum);
}

#endif

/* Copies may be under way before the pass before has ended, but only those of the blocks that can
 * run by then: a pass that finds the loop ended waits for no more. */
template <int TASK, int WIDTH, bool SORTED, int WARPS, int EACH, int STAGES, int BLOCKS>
static __global__ void __launch_bounds__(WARPS *WARP, BLOCKS)
    run_columns(const __grid_constant__ yk_gpu_view view, yk_gpu_loop *loop)
{
#if YK_SM90
    constexpr int dots = dots_of<TASK>;
    __shared__ uint64_t barrier[WARPS][STAGES];
    __shared__ double of_chunk[sums_of<TASK>][YK_BLOCK_CHUNKS];
    __shared__ double product[SORTED ? WARPS : 1][SORTED ? YK_CHUNK : 1];
    const warp_chunks<WARPS> mine(view.walk, EACH);
    ring<WIDTH, STAGES, EACH> columns(view, barrier[mine.warp], mine.warp);
    const int stride = mine.backwards ? -WARPS : WARPS;
    const bool early = blockIdx.x < (unsigned)(BLOCKS * view.walk.multiprocessors);
    int filled = early ? columns.begin(mine.chunk(0), stride) : 0;
    yk_cg_rows c = view.rows;
    if (!begin_pass(&c, loop)) {
        columns.drain(filled);
        return;
    }
    if (!early) columns.begin(mine.chunk(0), stride);
    for (int k = 0; k < EACH; k++) {
        double sum[YK_DOTS] = {0.0, 0.0, 0.0, 0.0};
        chunk_rows<TASK, WIDTH, SORTED>(c, view.sell, columns, (uint32_t)mine.chunk(k),
                                        product[SORTED ? mine.warp : 0], sum);
        store_chunk<dots>(sum, of_chunk, mine.within(k));
    }
    if constexpr (dots > 0)
        deliver<TASK, WARPS * WARP>(view, loop, mine.block, of_chunk, WARPS * EACH, WARPS * EACH);
#else
    (void)view, (void)loop; /* never launched: view.walk.streams says so */
#endif
}

/* ----------------------------------------------------------------- launch */

typedef void (*kernel)(yk_gpu_view, yk_gpu_loop *);

/* A kernel and the shape of its blocks. */
typedef struct launch_shape {
    kernel run;
    int threads, chunks; /* of a block */
    int blocks;          /* of a multiprocessor */
    uint32_t shared;     /* dynamic, of a block */
} launch_shape;

/* Warps a block, chunks a warp, stages a ring, blocks a multiprocessor: of 30 such sets the best on
 * an H200 over 7-point systems of 64^3 to 256^3 rows and 27-point ones of 64^3 to 200^3. */
enum { ROW_WARPS = 16, ROW_CHUNKS = 1, ROW_BLOCKS = 1 };
enum { NARROW_WARPS = 8, NARROW_CHUNKS = 1, NARROW_STAGES = 2, NARROW_BLOCKS = 4 };
enum { WIDE_WARPS = 8, WIDE_CHUNKS = 1, WIDE_STAGES = 3, WIDE_BLOCKS = 2 };
enum { ANY_STAGES = 2, ANY_BLOCKS = 3 };

template <int TASK> static launch_shape by_blocks(const yk_gpu_view *view)
{
    launch_shape shape = {run_blocks<TASK, YK_GPU_CSR>, BLOCK, view->walk.chunks, 0, 0};
    if constexpr (yk_task_multiplies(TASK)) {
        if (view->format == YK_GPU_SELL) shape.run = run_blocks<TASK, YK_GPU_SELL>;
        if (view->format == YK_GPU_SELL8) shape.run = run_blocks<TASK, YK_GPU_SELL8>;
    }
    return shape;
}

template <int TASK, int WIDTH> static launch_shape narrow_columns(int width)
{
    return {
        run_columns<TASK, WIDTH, false, NARROW_WARPS, NARROW_CHUNKS, NARROW_STAGES, NARROW_BLOCKS>,
        NARROW_WARPS * WARP, NARROW_WARPS * NARROW_CHUNKS, NARROW_BLOCKS,
        (uint32_t)(NARROW_WARPS * NARROW_STAGES * width * YK_SELL_BYTES)};
}

/* For slices of any width more warps were faster, for a width of its own longer rings. */
template <int TASK, int WIDTH, bool SORTED = false> static launch_shape wide_columns()
{
    constexpr bool any = WIDTH <= 0 && !yk_task_folds(TASK);
    constexpr int columns = WIDTH == 0 ? YK_ROW_LANES : part_of<WIDTH>;
    constexpr int stages = any ? int(ANY_STAGES) : int(WIDE_STAGES);
    constexpr int blocks = any ? int(ANY_BLOCKS) : int(WIDE_BLOCKS);
    return {run_columns<TASK, WIDTH, SORTED, WIDE_WARPS, WIDE_CHUNKS, stages, blocks>,
            WIDE_WARPS * WARP, WIDE_WARPS * WIDE_CHUNKS, blocks,
            (uint32_t)(WIDE_WARPS * stages * columns * YK_SELL_BYTES)};
}

template <int TASK> static launch_shape by_warps(const yk_gpu_view *view)
{
    if constexpr (yk_task_multiplies(TASK)) {
        switch (view->sell.width) {
        case 5: return narrow_columns<TASK, 5>(5);
        case 7: return narrow_columns<TASK, 7>(7);
        case 9: return wide_columns<TASK, 9>();
        case 27: return wide_columns<TASK, 27>();
        default:
            if (view->sell.order) return wide_columns<TASK, 0, true>();
            if (view->sell.width > 0 && view->sell.width % part_of<NINES> == 0)
                return wide_columns<TASK, NINES>();
            if (view->format == YK_GPU_SELL) return wide_columns<TASK, 0>();
            return narrow_columns<TASK, YK_ROW_CHAIN>(view->sell.width);
        }
    } else {
        return {run_rows<TASK, ROW_WARPS, ROW_CHUNKS, ROW_BLOCKS>, ROW_WARPS * WARP,
                ROW_WARPS * ROW_CHUNKS, ROW_BLOCKS, 0};
    }
}

template <int TASK> static launch_shape shape_in(const yk_gpu_view *view)
{
    bool streams = view->walk.streams && view->format != YK_GPU_CSR;
    if (!view->walk.by_warps || (yk_task_multiplies(TASK) && !streams))
        return by_blocks<TASK>(view);
    return by_warps<TASK>(view);
}

static launch_shape shape_of(int task, const yk_gpu_view *view)
{
    switch (task) {
#define SHAPE_OF(name, dots)                                                                       \
    case YK_TASK_##name: return shape_in<YK_TASK_##name>(view);
        YK_TASK_LIST(SHAPE_OF)
#undef SHAPE_OF
    }
    return {NULL, 0, 0, 0, 0};
}

static int launch(const launch_shape &shape, const yk_gpu_view *view, yk_gpu_loop *loop,
                  void *stream)
{
    const int64_t chunks = yk_gpu_chunks(view->rows.csr.rows);
    cudaLaunchAttribute overlap = {};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)((chunks + shape.chunks - 1) / shape.chunks));
    if (view->walk.blocks > 0) config.gridDim = dim3((unsigned)view->walk.blocks);
    config.blockDim = dim3((unsigned)shape.threads);
    config.dynamicSmemBytes = shape.shared;
    config.stream = (cudaStream_t)stream;
    config.attrs = &overlap;
    config.numAttrs = view->walk.overlaps && loop ? 1 : 0;
    cudaError_t error = cudaLaunchKernelEx(&config, shape.run, *view, loop);
    cudaError_t before = cudaGetLastError();
    return error != cudaSuccess ? error : before;
}

extern "C" int yk_gpu_launch(const yk_gpu_view *view, int task, yk_gpu_loop *loop, void *stream)
{
    if (view->rows.csr.rows == 0) return cudaSuccess;
    return launch(shape_of(task, view), view, loop, stream);
}

extern "C" int yk_gpu_block_chunks(const yk_gpu_view *view, int task)
{
    return shape_of(task, view).chunks;
}

/* All kernels want the L1 cache and the shared memory divided alike: a multiprocessor must be empty
 * to change that, and passes could not overlap. */
static int prepare(const launch_shape &shape)
{
    cudaFuncAttributes attributes;
    cudaError_t error = cudaFuncGetAttributes(&attributes, shape.run);
    if (error == cudaSuccess && shape.shared > 0)
        error = cudaFuncSetAttribute(shape.run, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     (int)shape.shared);
    if (error == cudaSuccess && shape.blocks > 0)
        error = cudaFuncSetAttribute(shape.run, cudaFuncAttributePreferredSharedMemoryCarveout,
                                     SHARED_PERCENT);
    return error;
}

/* One for each kernel that a task's format may choose. */
static const unsigned char sorted[1] = {0};
static const struct matrix_shape {
    yk_gpu_format format;
    int width;
    const unsigned char *order;
} matrix_shapes[] = {
    {YK_GPU_CSR, 0, NULL},
    {YK_GPU_SELL, 0, NULL},
    {YK_GPU_SELL, 0, sorted},
    {YK_GPU_SELL, 5, NULL},
    {YK_GPU_SELL, 7, NULL},
    {YK_GPU_SELL, 9, NULL},
    {YK_GPU_SELL, 27, NULL},
    {YK_GPU_SELL, part_of<NINES> * 2, NULL},
    {YK_GPU_SELL8, YK_ROW_CHAIN, NULL},
};

extern "C" int yk_gpu_load_kernels(const yk_gpu_walk *walk)
{
    const void *before = NULL;
    yk_gpu_view view = {};
    view.walk = *walk;
    for (int task = 0; task < YK_TASKS; task++) {
        if (yk_task_is_of_one_sum(task) && !walk->one_sum) continue;
        for (const matrix_shape &matrix : matrix_shapes) {
            view.format = matrix.format;
            view.sell.width = matrix.width;
            view.sell.order = matrix.order;
            const launch_shape shape = shape_of(task, &view);
            if ((const void *)shape.run == before) continue;
            before = (const void *)shape.run;
            int error = prepare(shape);
            if (error != cudaSuccess) return error;
        }
    }
    return yk_gpu_load_meeting();
}

extern "C" int yk_gpu_has_streams(int *streams)
{
    cudaFuncAttributes attributes = {};
    cudaError_t error =
        cudaFuncGetAttributes(&attributes, run_blocks<YK_TASK_MULTIPLY, YK_GPU_CSR>);
    *streams = attributes.ptxVersion >= 90;
    return error;
}

/* ----------------------------------------------------------- SELL from CSR */

static __device__ int row_length(const yk_csr &csr, int64_t i)
{
    return i < csr.rows ? (int)(yk_row_start(&csr, i + 1) - yk_row_start(&csr, i)) : 0;
}

/* Where the row of this thread, one of a chunk a block, lies among its chunk's by length, longest
 * first, equals in their order. */
static __device__ int rank_of_row(int length)
{
    __shared__ int64_t key[BLOCK]; /* no two are equal */
    const int64_t mine = (int64_t)length * BLOCK - threadIdx.x;
    key[threadIdx.x] = mine;
    __syncthreads();
    int rank = 0;
#pragma unroll 8
    for (int k = 0; k < BLOCK; k++) rank += key[k] > mine;
    return rank;
}

static __global__ void sell_widths(yk_csr csr, int64_t *in_place, int64_t *sorted)
{
    const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    const int length = row_length(csr, i);
    int width = length;
    for (int half = WARP / 2; half > 0; half /= 2) {
        int other = __shfl_xor_sync(ALL, width, half);
        if (other > width) width = other;
    }
    if (threadIdx.x % WARP == 0 && i < csr.rows) in_place[i / WARP] = width;
    const int64_t place = (int64_t)blockIdx.x * BLOCK + rank_of_row(length);
    if (place % YK_SELL_ROWS == 0 && place < csr.rows) sorted[place / YK_SELL_ROWS] = length;
}

static __global__ void sell_order(yk_csr csr, unsigned char *order)
{
    const int64_t first = (int64_t)blockIdx.x * BLOCK;
    order[first + rank_of_row(row_length(csr, first + threadIdx.x))] = (unsigned char)threadIdx.x;
}

/* A group of eight threads a row, so that the reads of CSR are lines; rows that only fill up the
 * last slice have theirs too. */
static __global__ void sell_fill(yk_csr csr, yk_sell sell, int64_t first, int64_t entry)
{
    const int64_t place =
        first * YK_CHUNK + ((int64_t)blockIdx.x * BLOCK + threadIdx.x) / YK_ROW_LANES;
    const int64_t slice = place / YK_SELL_ROWS;
    if (slice >= yk_sell_slices(csr.rows)) return;
    const int64_t before = yk_sell_before(&sell, slice);
    const int width =
        sell.width > 0 ? sell.width : (int)(yk_sell_before(&sell, slice + 1) - before);
    const int64_t i = yk_sell_row(&sell, place);
    const int64_t from = i < csr.rows ? yk_row_start(&csr, i) - entry : 0;
    const int length = row_length(csr, i), lane = (int)(place % YK_SELL_ROWS);
    for (int k = threadIdx.x % YK_ROW_LANES; k < width; k += YK_ROW_LANES) {
        char *column = (char *)yk_sell_at(&sell, place / YK_CHUNK, before + k);
        ((int32_t *)column)[lane] = k < length ? csr.column[from + k] : -1;
        ((double *)(column + YK_SELL_VALUES))[lane] = k < length ? csr.value[from + k] : 0.0;
    }
}

extern "C" int yk_gpu_sell_widths(const yk_csr *csr, int64_t *in_place, int64_t *sorted,
                                  void *stream)
{
    unsigned blocks = (unsigned)((csr->rows + BLOCK - 1) / BLOCK);
    if (blocks > 0) sell_widths<<<blocks, BLOCK, 0, (cudaStream_t)stream>>>(*csr, in_place, sorted);
    return cudaGetLastError();
}

extern "C" int yk_gpu_sell_order(const yk_csr *csr, unsigned char *order, void *stream)
{
    unsigned blocks = (unsigned)((csr->rows + BLOCK - 1) / BLOCK);
    if (blocks > 0) sell_order<<<blocks, BLOCK, 0, (cudaStream_t)stream>>>(*csr, order);
    return cudaGetLastError();
}

extern "C" int yk_gpu_sell_fill(const yk_csr *csr, const yk_sell *sell, int64_t first, int64_t last,
                                int64_t entry, void *stream)
{
    int64_t blocks = (last - first) * (YK_CHUNK / (BLOCK / YK_ROW_LANES));
    if (blocks > 0)
        sell_fill<<<(unsigned)blocks, BLOCK, 0, (cudaStream_t)stream>>>(*csr, *sell, first, entry);
    return cudaGetLastError();
}
