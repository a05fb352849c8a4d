/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_held.cu: one kernel for a whole advance of a system that is too large to lie on the chip with
 * its matrix: see gpu_held.h. A warp owns up to four chunks, eight rows a lane of each, and
 * multiplies as many slices as the others. */
#include "solvers/cg/gpu_held.h"

#include "solvers/cg/gpu_held_stream.cuh"
#include "solvers/cg/gpu_meeting.cuh"
#include "solvers/cg/gpu_product.cuh"

enum { WARPS = YK_HELD_WARPS, ROWS = YK_CHUNK / WARP /* of a lane */, PARTS = YK_HELD_PARTS };

/* ------------------------------------------------------------ shared memory */

/* As gpu_held.h says; q and x are in the device's memory where they are not held. */
struct arrays {
    turn *now;
    ring_head *head;
    uint64_t *barrier;
    double *node, *part, *p, *q, *x;
};

/* What all threads of a block know. */
struct block {
    const yk_held &a;
    const yk_cg_rows &g;
    arrays at;
    int64_t first; /* row */
    int rows;      /* that exist */
    int chunks, slices;
    int mine, end; /* chunks of this warp, for all but products */
    int update;
    unsigned long long tag; /* of this meeting */
};

/* p of the block's own rows is at hand, of others in memory. */
struct operand {
    const double *own, *all;
    uint32_t first, rows;
};

static __device__ __forceinline__ double yk_operand_at(const operand *v, int32_t column, int)
{
    const uint32_t place = (uint32_t)column - v->first;
    return place < v->rows ? v->own[place] : v->all[column];
}

/* A thread's rows of its warp's chunks, which follow each other: its i-th is 32 i behind its first.
 */
template <int EACH> struct own_rows {
    double r[EACH * ROWS];
};

/* The first of them, and how far from it the warp's rows end. Made anew in every pass, so that no
 * pass leaves its addresses in registers for the next. */
struct strip {
    int first, left;

    __device__ __forceinline__ strip(const block &b)
    {
        const int end = b.end * YK_CHUNK < b.rows ? b.end * YK_CHUNK : b.rows;
        asm volatile("mov.u32 %0, %1;"
                     : "=r"(first)
                     : "r"(b.mine * YK_CHUNK + (int)threadIdx.x % WARP));
        left = end - first;
    }

    __device__ __forceinline__ bool has(int i) const
    {
        return i * WARP < left;
    }
};

#define FOR_ROWS(i) _Pragma("unroll") for (int i = 0; i < EACH * ROWS; i++)

/* Of a strip's first row on. */
static __device__ __forceinline__ double inverse_of(const double *inverse, int i)
{
    return inverse ? inverse[i * WARP] : 1.0;
}

static __device__ __forceinline__ const double *inverses(const block &b, const strip &at)
{
    return b.a.jacobi ? b.g.inverse_diagonal + b.first + at.first : NULL;
}

/* ------------------------------------------------------------------ passes */

/* p = (z - shift) + beta p, here and in memory. */
template <int EACH>
static __device__ __forceinline__ void direction(const block &b, const own_rows<EACH> &me)
{
    const double beta = b.at.now->s.beta, shift = b.at.now->s.shift;
    const strip at(b);
    const double *inverse = inverses(b, at);
    double *own = b.at.p + at.first, *all = b.g.p + b.first + at.first;
    FOR_ROWS(i)
    {
        if (!at.has(i)) continue;
        const double z = me.r[i] * inverse_of(inverse, i);
        const double p = yk_fma(beta, own[i * WARP], z - shift);
        own[i * WARP] = p;
        all[i * WARP] = p;
    }
}

/* x += alpha p. */
template <int EACH> static __device__ __forceinline__ void step(const block &b)
{
    const double alpha = b.at.now->s.alpha;
    const int past = !b.a.holds_x;
    const strip at(b);
    const double *p = b.at.p + at.first;
    double *x = b.at.x + at.first;
#pragma unroll
    for (int k = 0; k < EACH * ROWS; k += ROWS) {
        double old[ROWS];
#pragma unroll
        for (int j = 0; j < ROWS; j++)
            if (at.has(k + j)) old[j] = yk_cg_read(&x[(k + j) * WARP], past);
#pragma unroll
        for (int j = 0; j < ROWS; j++)
            if (at.has(k + j))
                yk_cg_write(&x[(k + j) * WARP], yk_fma(alpha, p[(k + j) * WARP], old[j]), past);
    }
}

/* A lane's terms of a chunk's sums, to the chunk's. */
static __device__ __forceinline__ void keep_sum(const block &b, int d, int chunk, double sum)
{
    sum = halves(sum);
    if (threadIdx.x % WARP == 0) b.at.node[d * YK_HELD_CHUNKS + chunk] = sum;
}

/* The slices that a warp multiplies. */
struct share {
    int first, last;
};

static __device__ __forceinline__ share share_of(const block &b, int warp)
{
    return {warp * b.slices / WARPS, (warp + 1) * b.slices / WARPS};
}

/* Whether each warp's share is as many whole chunks, which are then the warp's own. */
static __device__ __forceinline__ bool has_whole_chunks(const block &b)
{
    return b.slices % (WARPS * (YK_CHUNK / YK_SELL_ROWS)) == 0;
}

#if YK_SM90

template <int WIDTH> using columns_of = column_circle<yk_held_span(WIDTH == NINES ? 9 : WIDTH)>;

/* q of the lane's row in a slice, of sorted rows another than its own: which, and its product. */
template <int WIDTH, bool SORTED>
static __device__ __forceinline__ double multiply_slice(const block &b, const yk_sell &sell,
                                                        columns_of<WIDTH> &columns,
                                                        const operand &v, int slice, int *row)
{
    const int64_t of_all = b.first / YK_SELL_ROWS + slice;
    int width = sell.width;
    *row = slice * YK_SELL_ROWS + (int)threadIdx.x % WARP;
    if (WIDTH == 0 && width == 0) width = (int)(sell.slice[of_all + 1] - sell.slice[of_all]);
    if (SORTED) *row = *row / YK_CHUNK * YK_CHUNK + sell.order[b.first + *row];
    const double product = sell_product<0, WIDTH>(columns, width, v);
    if (*row < b.rows) b.at.q[*row] = product;
    return product;
}

/* q = A p, and p.q of the chunks that the warp multiplies alone, as it does where all warps have as
 * many; of others later, as of sorted rows. */
template <int WIDTH, bool SORTED>
static __device__ __forceinline__ void multiply(const block &b, const yk_sell &sell,
                                                columns_of<WIDTH> &columns, share mine)
{
    constexpr int of_chunk = YK_CHUNK / YK_SELL_ROWS;
    const operand v = {b.at.p, b.g.p, (uint32_t)b.first, (uint32_t)b.rows};
    const bool sums = !SORTED && has_whole_chunks(b);
    double sum = 0.0;
#pragma unroll 1
    for (int s = mine.first; s < mine.last; s++) {
        int row;
        const double product = multiply_slice<WIDTH, SORTED>(b, sell, columns, v, s, &row);
        if (!sums) continue;
        if (row < b.rows) sum += b.at.p[row] * product;
        if ((s + 1) % of_chunk != 0 && s + 1 < mine.last) continue;
        keep_sum(b, 0, s / of_chunk, sum);
        sum = 0.0;
    }
}

#endif

/* p.q of chunks, once all of q is there, where the products left that to do. */
template <int EACH> static __device__ __forceinline__ void sum_products(const block &b, bool sorted)
{
    const strip at(b);
    const double *p = b.at.p + at.first, *product = b.at.q + at.first;
    if (!sorted && has_whole_chunks(b)) return;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        double q[ROWS], sum = 0.0;
#pragma unroll
        for (int j = 0; j < ROWS; j++)
            q[j] = at.has(k * ROWS + j) ? product[(k * ROWS + j) * WARP] : 0.0;
#pragma unroll
        for (int j = 0; j < ROWS; j++)
            if (at.has(k * ROWS + j)) sum += p[(k * ROWS + j) * WARP] * q[j];
        if (b.mine + k < b.end) keep_sum(b, 0, b.mine + k, sum);
    }
}

/* L2 shall have the warp's part of x when it is needed. */
static __device__ __forceinline__ void fetch_x(const block &b)
{
#if YK_SM90
    const int first = b.mine * YK_CHUNK;
    const int left = (b.end * YK_CHUNK < b.rows ? b.end * YK_CHUNK : b.rows) - first;
    if (b.a.holds_x || threadIdx.x % WARP != 0 || left < 2) return; /* by 16 bytes */
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(b.at.x + first),
                 "r"(left / 2 * 2 * (int)sizeof(double))
                 : "memory");
#endif
}

/* r -= alpha q, and the sums of r and z. */
template <int EACH>
static __device__ __forceinline__ void update(const block &b, own_rows<EACH> &me)
{
    const int dots = b.a.dots;
    const double alpha = b.at.now->s.alpha;
    const strip at(b);
    const double *inverse = inverses(b, at), *product = b.at.q + at.first;
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        double q[ROWS], sum[YK_RESIDENT_DOTS] = {0.0, 0.0, 0.0};
#pragma unroll
        for (int j = 0; j < ROWS; j++)
            q[j] = at.has(k * ROWS + j) ? product[(k * ROWS + j) * WARP] : 0.0;
#pragma unroll
        for (int j = 0; j < ROWS; j++) {
            const int i = k * ROWS + j;
            if (!at.has(i)) continue;
            double r = 0.0, z = 0.0, dot[YK_DOTS];
            yk_cg_rows c = {};
            yk_cg_inputs in = {};
            c.r = &r;
            c.z = &z;
            c.alpha = alpha;
            in.r = me.r[i];
            in.q = q[j];
            in.inverse_diagonal = inverse_of(inverse, i);
            yk_cg_update_row(&c, 0, &in, 1, dot);
            me.r[i] = r;
#pragma unroll
            for (int d = 0; d < YK_RESIDENT_DOTS; d++) sum[d] += dot[d];
        }
        if (b.mine + k >= b.end) continue;
#pragma unroll
        for (int d = 0; d < YK_RESIDENT_DOTS; d++)
            if (d < dots) keep_sum(b, d, b.mine + k, sum[d]);
    }
}

/* ---------------------------------------------------------------- meetings */

static __device__ __forceinline__ yk_message *words_of(const block &b, int kind, int d)
{
    return b.a.word + (size_t)(kind * YK_RESIDENT_DOTS + d) * b.a.nodes;
}

/* By a warp, from chunks' sums: the block's nodes. A chunk that does not exist adds 0.0. */
static __device__ __forceinline__ void publish(const block &b, kind kind, int d)
{
    const int lane = threadIdx.x % WARP, of_node = b.a.node_chunks;
    const double *chunk = b.at.node + d * YK_HELD_CHUNKS;
    const double left = 2 * lane < b.chunks ? chunk[2 * lane] : 0.0;
    const double right = 2 * lane + 1 < b.chunks ? chunk[2 * lane + 1] : 0.0;
    const double sum = tree_over(left + right, of_node / 2);
    const int node = (int)blockIdx.x * (b.a.chunks / of_node) + 2 * lane / of_node;
    if (2 * lane % of_node == 0 && 2 * lane < b.chunks)
        put(words_of(b, kind, d) + node, sum, b.tag);
}

/* All warps, once chunks' sums are stored. */
static __device__ __forceinline__ void send_sums(const block &b, kind kind, int dots)
{
    const int warp = threadIdx.x / WARP;
    __syncthreads();
    if (warp < dots) publish(b, kind, warp);
}

/* The sum of parts, d-th of the meeting; by one thread. */
static __device__ __forceinline__ double total_of(const block &b, int d)
{
    double part[PARTS];
#pragma unroll
    for (int i = 0; i < PARTS; i++) part[i] = b.at.part[d * PARTS + i];
    return tree_of<PARTS>(part);
}

/* All warps: warp w awaits the w-th part of the nodes; then the scalars' next turn. */
static __device__ __forceinline__ void await_sums(const block &b, kind kind, yk_gpu_loop *loop,
                                                  int dots)
{
    constexpr int of_part = YK_HELD_NODES_A_PART;
    static_assert(of_part == WARP * BATCH, "a warp awaits a part");
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP,
              left = b.a.nodes - warp * of_part;
    bool good = true;
    if (warp < PARTS)
#pragma unroll 1
        for (int d = 0; d < dots; d++) {
            double sum = 0.0;
            if (left > 0)
                sum = await<BATCH>(words_of(b, kind, d) + warp * of_part, left, b.tag,
                                   b.a.abandoned, &good);
            if (lane == 0) b.at.part[d * PARTS + warp] = sum;
        }
    if (lane == 0 && !good) b.at.now->lost = 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int d = 1; d < dots; d++) b.at.now->dot[d] = total_of(b, d);
        take_turn(b.at.now, kind, b.update, loop, total_of(b, 0));
    }
    __syncthreads();
}

/* All of p is in memory: what a block wrote before, the others read after. */
static __device__ __forceinline__ void meet_for_p(const block &b)
{
    yk_message *word = words_of(b, 2, 0);
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        put(word + blockIdx.x, 0.0, b.tag);
    }
    bool good = true;
    if ((int)threadIdx.x < b.a.blocks) {
        double nothing;
        for (int tries = 1; get(word + threadIdx.x, &nothing) != b.tag; tries++)
            if (tries % 1024 == 0 && lost_patience(b.a.abandoned, tries)) {
                good = false;
                break;
            }
        __threadfence();
    }
    if (!good) b.at.now->lost = 1;
    __syncthreads();
}

/* ------------------------------------------------------------- in and out */

static __device__ __forceinline__ arrays arrays_at(char *base, const yk_held &a,
                                                   const yk_cg_rows &g, int64_t first)
{
    const yk_held_layout at = yk_held_lay_out(&a);
    arrays here;
    here.now = (turn *)(base + at.now);
    here.head = (ring_head *)(base + at.head);
    here.barrier = (uint64_t *)(base + at.barrier);
    here.node = (double *)(base + at.node);
    here.part = (double *)(base + at.part);
    here.p = (double *)(base + at.p);
    here.q = a.holds_q ? (double *)(base + at.q) : g.q + first;
    here.x = a.holds_x ? (double *)(base + at.x) : g.x + first;
    return here;
}

static __device__ __forceinline__ block block_here(const yk_gpu_view &view, const yk_held &a,
                                                   int update, unsigned long long epoch, int warp)
{
    const int64_t first = (int64_t)blockIdx.x * a.chunks * YK_CHUNK;
    const int64_t left = view.rows.csr.rows - first;
    block b = {a, view.rows, arrays_at(ring_memory, a, view.rows, first), first};
    b.rows = left < a.chunks * YK_CHUNK ? (int)left : a.chunks * YK_CHUNK;
    b.chunks = (b.rows + YK_CHUNK - 1) / YK_CHUNK;
    b.slices = (b.rows + YK_SELL_ROWS - 1) / YK_SELL_ROWS;
    b.mine = warp * b.chunks / WARPS;
    b.end = (warp + 1) * b.chunks / WARPS;
    b.update = update;
    b.tag = epoch;
    return b;
}

#if YK_SM90

/* The warp's columns begin to come. */
template <int WIDTH>
static __device__ __forceinline__ columns_of<WIDTH>
open_columns(const block &b, const yk_sell &sell, share mine, int warp)
{
    constexpr int span = yk_held_span(WIDTH == NINES ? 9 : WIDTH), stages = YK_HELD_COLUMNS / span;
    static_assert(stages <= YK_HELD_BARRIERS, "a barrier for each stage");
    const int64_t slice = b.first / YK_SELL_ROWS;
    columns_of<WIDTH> columns;
    columns.matrix = sell.column;
    columns.head = &b.at.head[warp];
    columns.data = shared_address(ring_memory) + warp * YK_HELD_COLUMNS * YK_SELL_BYTES;
    columns.barrier = shared_address(b.at.barrier + warp * YK_HELD_BARRIERS);
    columns.stages = stages;
    columns.policy = ring_policy(b.a.keep);
    columns.begin(yk_sell_before(&sell, slice + mine.first),
                  yk_sell_before(&sell, slice + mine.last));
    return columns;
}

#endif

template <int EACH> static __device__ __forceinline__ void load(const block &b, own_rows<EACH> &me)
{
    const strip at(b);
    const int64_t first = b.first + at.first;
    FOR_ROWS(i)
    {
        me.r[i] = at.has(i) ? b.g.r[first + i * WARP] : 0.0;
        if (at.has(i)) b.at.p[at.first + i * WARP] = b.g.p[first + i * WARP];
        if (at.has(i) && b.a.holds_x) b.at.x[at.first + i * WARP] = b.g.x[first + i * WARP];
    }
}

/* x lacks no step. */
template <int EACH>
static __device__ __forceinline__ void store(const block &b, const own_rows<EACH> &me,
                                             yk_gpu_loop *loop)
{
    const turn *now = b.at.now;
    const strip at(b);
    const int64_t first = b.first + at.first;
    const double *inverse = inverses(b, at);
    FOR_ROWS(i)
    {
        if (!at.has(i)) continue;
        b.g.r[first + i * WARP] = me.r[i];
        if (b.a.holds_x) b.g.x[first + i * WARP] = b.at.x[at.first + i * WARP];
        if (b.a.jacobi) b.g.z[first + i * WARP] = me.r[i] * inverse_of(inverse, i);
    }
    if (blockIdx.x != 0 || threadIdx.x != 0) return;
    loop->s = now->s;
    loop->s.alpha = 0.0;
    if (now->lost) loop->s.stop = YK_CG_ABORTED;
    loop->left = now->left;
    loop->halt = 1;
    loop->recorded = now->recorded < YK_GPU_HISTORY ? now->recorded : YK_GPU_HISTORY;
}

/* ------------------------------------------------------------------ kernel */

/* x takes its step while the sums of r travel, so none is lacking when the kernel ends. */
template <int WIDTH, bool SORTED, int EACH>
static __global__ void __launch_bounds__(YK_HELD_THREADS, 1)
    run_held(const __grid_constant__ yk_gpu_view view, const __grid_constant__ yk_held a,
             int update_task, yk_gpu_loop *loop, unsigned long long epoch)
{
#if YK_SM90
    const int warp = __shfl_sync(ALL, threadIdx.x / WARP, 0);
    block b = block_here(view, a, update_task, epoch, warp);
    const share mine = share_of(b, warp);
    columns_of<WIDTH> columns = open_columns<WIDTH>(b, view.sell, mine, warp);
    own_rows<EACH> me;
    turn *now = b.at.now;
    load(b, me);
    if (threadIdx.x == 0) *now = {loop->s, loop->limits, {}, loop->left, 0, loop->halt, 0};
    __syncthreads();
    step<EACH>(b);
    while (!now->halt) {
        direction(b, me);
        b.tag++;
        meet_for_p(b);
        if (now->lost) break;
        multiply<WIDTH, SORTED>(b, view.sell, columns, mine);
        fetch_x(b);
        sum_products<EACH>(b, SORTED);
        b.tag++;
        send_sums(b, AFTER_MULTIPLY, 1);
        await_sums(b, AFTER_MULTIPLY, loop, 1);
        if (now->halt || now->lost) break;
        update(b, me);
        b.tag++;
        send_sums(b, AFTER_UPDATE, a.dots);
        step<EACH>(b);
        await_sums(b, AFTER_UPDATE, loop, a.dots);
        if (now->lost) break;
    }
    columns.end();
    store(b, me, loop);
#else
    (void)view, (void)a, (void)update_task, (void)loop, (void)epoch; /* never launched */
#endif
}

typedef void (*kernel)(yk_gpu_view, yk_held, int, yk_gpu_loop *, unsigned long long);

/* For blocks of up to 32 chunks, and 64. */
struct variant {
    kernel run[2];
};

#define VARIANT(width, sorted)                                                                     \
    {                                                                                              \
        {                                                                                          \
            run_held<width, sorted, 2>, run_held<width, sorted, 4>                                 \
        }                                                                                          \
    }

static variant variant_of(const yk_sell &sell)
{
    static const variant five = VARIANT(5, false), seven = VARIANT(7, false),
                         eight = VARIANT(YK_ROW_CHAIN, false), nine = VARIANT(9, false),
                         box = VARIANT(27, false), nines = VARIANT(NINES, false),
                         any = VARIANT(0, false), ordered = VARIANT(0, true);
    switch (sell.width) {
    case 5: return five;
    case 7: return seven;
    case 9: return nine;
    case 27: return box;
    default:
        if (sell.order) return ordered;
        if (sell.width > 0 && sell.width % part_of<NINES> == 0) return nines;
        if (sell.width > 0 && sell.width <= YK_ROW_CHAIN) return eight;
        return any;
    }
}

static kernel kernel_of(const yk_gpu_view *view, const yk_held *a)
{
    return variant_of(view->sell).run[a->chunks > 2 * WARPS];
}

static cudaLaunchConfig_t configuration(const yk_held *a, cudaLaunchAttribute *attribute)
{
    cudaLaunchConfig_t config = {};
    attribute->id = cudaLaunchAttributeCooperative;
    attribute->val.cooperative = 1;
    config.gridDim = dim3((unsigned)a->blocks);
    config.blockDim = dim3(YK_HELD_THREADS);
    config.dynamicSmemBytes = yk_held_lay_out(a).bytes;
    config.attrs = attribute;
    config.numAttrs = 1;
    return config;
}

extern "C" int yk_gpu_held_fits(const yk_gpu_view *view, const yk_held *a, int multiprocessors,
                                int *fits)
{
    const size_t shared = yk_held_lay_out(a).bytes;
    int count = 0;
    cudaError_t error = cudaFuncSetAttribute(
        kernel_of(view, a), cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, kernel_of(view, a),
                                                              YK_HELD_THREADS, shared);
    *fits = count * multiprocessors >= a->blocks;
    return error;
}

extern "C" int yk_gpu_held_run(const yk_gpu_view *view, const yk_held *a, int update,
                               yk_gpu_loop *loop, unsigned long long epoch, void *stream)
{
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = configuration(a, &attribute);
    config.stream = (cudaStream_t)stream;
    cudaLaunchKernelEx(&config, kernel_of(view, a), *view, *a, update, loop, epoch);
    return cudaGetLastError();
}
