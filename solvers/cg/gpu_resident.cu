/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_resident.cu: one kernel for a whole advance: see gpu_resident.h. An iteration has two
 * meetings: p.q, and r.r together with the z of the rows that neighbours need. */
#include <math.h>

#include "solvers/cg/gpu_meeting.cuh"
#include "solvers/cg/gpu_resident_stream.cuh"

enum {
    MOST_THREADS = 512, /* of a block: more would leave each too few registers */
    MOST_DOTS = YK_RESIDENT_DOTS
};

/* ------------------------------------------------------------ shared memory */

/* As gpu_resident_layout.h says. */
struct arrays {
    turn *now;
    double *node, *term, *p, *inverse;
    int32_t *slice;
    double *value;
    uint16_t *column;
    char *ring;
    yk_message *word, *boundary;
};

static __device__ __forceinline__ arrays arrays_at(char *base, const yk_resident &a)
{
    const yk_resident_layout at = yk_resident_lay_out(&a, a.resident);
    arrays here;
    here.now = (turn *)(base + at.now);
    here.node = (double *)(base + at.node);
    here.term = (double *)(base + at.term);
    here.p = (double *)(base + at.p);
    here.inverse = (double *)(base + at.inverse);
    here.slice = (int32_t *)(base + at.slice);
    here.value = (double *)(base + at.value);
    here.column = (uint16_t *)(base + at.column);
    here.ring = base + at.ring;
    here.word = (yk_message *)(base + at.word);
    here.boundary = (yk_message *)(base + at.boundary);
    return here;
}

/* A row in its thread's registers. */
struct own_row {
    double x, r, q;
    int place; /* in the block, and the length of its matrix row: place << 16 | length */
};

template <bool STREAMS, int PASSES> struct worker {
    /* Halo rows that it takes while the sums travel. Beside a stream fewer fit. */
    static constexpr int MORE = STREAMS ? 6 : 8, EARLY = PASSES < 4 ? 4 : MORE;
    own_row row[PASSES];
    unsigned sent;   /* bit k: another block needs row k */
    int from[EARLY]; /* where its halo rows come from */
    double z[EARLY];
    matrix_stream rest; /* of its warp */
};

/* What all threads of a block know. */
struct block {
    const yk_resident &a;
    arrays at;
    int room, first;      /* places of the block, and the first of them */
    int node;             /* its first */
    const int32_t *slice; /* its part of the image */
    const uint16_t *column;
    const double *value;
    int kept; /* entries that are in shared memory */
    const int32_t *halo_place;
    int halo;
    int update, dots;
    unsigned long long tag; /* of this meeting */
};

/* The rank among the block's rows, longest first, of a thread's row. */
template <int SHARERS> static __device__ __forceinline__ int rank_of(int pass)
{
    return (pass * (int)blockDim.x + (int)threadIdx.x) / SHARERS;
}

template <int SHARERS> static __device__ __forceinline__ bool leads()
{
    return SHARERS == 1 || threadIdx.x % SHARERS == 0;
}

/* Warps for sums, of which the second awaits the nodes that the first has not, if any. */
template <int PASSES> static constexpr int summers = PASSES > 1 ? 2 : 1;

template <int PASSES> static __device__ __forceinline__ bool sums_take_two(const block &b)
{
    return summers<PASSES> > 1 && b.a.shape.nodes > WARP * BATCH;
}

/* Halo rows are for all but those warps. */
template <int PASSES> static __device__ __forceinline__ int halo_of(int j)
{
    constexpr int others = summers<PASSES> * WARP;
    return (int)threadIdx.x - others + j * ((int)blockDim.x - others);
}

template <int PASSES> static __device__ __forceinline__ bool has_halo(const block &b, int j)
{
    return threadIdx.x >= summers<PASSES> * WARP && halo_of<PASSES>(j) < b.halo;
}

/* ----------------------------------------------------------------- product */

/* Up to COUNT entries at a stride, those below `length`: loaded before any is used, so that their
 * latencies overlap. */
template <int COUNT, int SHARERS>
static __device__ __forceinline__ void load_entries(const uint16_t *column, const double *value,
                                                    int first, int length, const double *p,
                                                    double *a, double *v)
{
    int at[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; i++) at[i] = first + SHARERS * i < length ? column[i * WARP] : 0;
#pragma unroll
    for (int i = 0; i < COUNT; i++) a[i] = first + SHARERS * i < length ? value[i * WARP] : 0.0;
#pragma unroll
    for (int i = 0; i < COUNT; i++) v[i] = p[at[i]];
}

/* A short row: each of its sharers walks the whole chain. */
template <int SHARERS>
static __device__ __forceinline__ double chain_of(const uint16_t *column, const double *value,
                                                  int length, const double *p)
{
    double a[YK_ROW_CHAIN], v[YK_ROW_CHAIN], sum = 0.0;
    int at[YK_ROW_CHAIN];
#pragma unroll
    for (int k = 0; k < YK_ROW_CHAIN; k++)
        at[k] = k < length ? column[k / SHARERS * WARP + k % SHARERS] : 0;
#pragma unroll
    for (int k = 0; k < YK_ROW_CHAIN; k++)
        a[k] = k < length ? value[k / SHARERS * WARP + k % SHARERS] : 0.0;
#pragma unroll
    for (int k = 0; k < YK_ROW_CHAIN; k++) v[k] = p[at[k]];
#pragma unroll
    for (int k = 0; k < YK_ROW_CHAIN; k++)
        if (k < length) sum = yk_fma(a[k], v[k], sum);
    return sum;
}

/* A row in the order of rowsum.h by its sharers: sharer s has every sharers-th of the eight lanes,
 * from s on. */
template <int SHARERS> struct row_lanes {
    enum { OWN = YK_ROW_LANES / SHARERS, AT_ONCE = YK_ROW_LANES };
    double sum[OWN];

    __device__ __forceinline__ row_lanes()
    {
#pragma unroll
        for (int i = 0; i < OWN; i++) sum[i] = 0.0;
    }

    /* The next columns of its slice, the thread's first entry being the row's k-th. */
    __device__ __forceinline__ void add(const uint16_t *column, const double *value, int k,
                                        int length, const double *p)
    {
        double a[AT_ONCE], v[AT_ONCE];
        load_entries<AT_ONCE, SHARERS>(column, value, k, length, p, a, v);
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            if (k + SHARERS * i < length) sum[i % OWN] = yk_fma(a[i], v[i], sum[i % OWN]);
    }

    __device__ __forceinline__ double own()
    {
#pragma unroll
        for (int half = OWN / 2; half > 0; half /= 2)
#pragma unroll
            for (int i = 0; i < half; i++) sum[i] += sum[i + half];
        return sum[0];
    }
};

/* All sharers get the sum of what they have; of a chain each has all. Every lane of the warp calls.
 */
template <int SHARERS> static __device__ __forceinline__ double of_sharers(double sum, int length)
{
    if (SHARERS > 1) __syncwarp();
#pragma unroll
    for (int step = SHARERS / 2; step > 0; step /= 2) {
        double other = __shfl_xor_sync(ALL, sum, step);
        if (length > YK_ROW_CHAIN) sum += other;
    }
    return sum;
}

/* The row's product from its slice on the chip. */
template <int SHARERS>
static __device__ __forceinline__ double product_of(const uint16_t *column, const double *value,
                                                    int length, const double *p)
{
    const int lane = threadIdx.x % WARP, mine = lane % SHARERS;
    double sum;
    if (length <= YK_ROW_CHAIN) {
        sum = chain_of<SHARERS>(column + lane - mine, value + lane - mine, length, p);
    } else {
        row_lanes<SHARERS> lanes;
        for (int k = mine; k < length; k += YK_ROW_LANES * SHARERS) {
            const int at = k / SHARERS * WARP + lane;
            lanes.add(column + at, value + at, k, length, p);
        }
        sum = lanes.own();
    }
    return of_sharers<SHARERS>(sum, length);
}

/* The same as the slice comes, of so many entries: a piece is eight columns. */
template <int SHARERS>
static __device__ __forceinline__ double product_of(matrix_stream &rest, int width, int length,
                                                    const double *p)
{
    const int lane = threadIdx.x % WARP, mine = lane % SHARERS;
    double chain = 0.0;
    row_lanes<SHARERS> lanes;
    for (int at = 0; at < width; at += YK_RESIDENT_PIECE) {
        const double *value = rest.wait();
        const uint16_t *column = (const uint16_t *)(value + YK_RESIDENT_PIECE);
        if (length > YK_ROW_CHAIN)
            lanes.add(column + lane, value + lane, at / WARP * SHARERS + mine, length, p);
        else if (at == 0)
            chain = chain_of<SHARERS>(column + lane - mine, value + lane - mine, length, p);
        rest.release();
    }
    return of_sharers<SHARERS>(length > YK_ROW_CHAIN ? lanes.own() : chain, length);
}

/* -------------------------------------------------------------------- sums */

/* A chunk's sum from its rows' terms, for the warp's first lane. */
static __device__ __forceinline__ double chunk_sum(const double *term)
{
    const int lane = threadIdx.x % WARP;
    double sum = 0.0;
#pragma unroll
    for (int w = 0; w < YK_CHUNK / WARP; w++) sum += term[w * WARP + lane];
#pragma unroll
    for (int half = WARP / 2; half > 0; half /= 2) sum += __shfl_down_sync(ALL, sum, half);
    return sum;
}

/* Sums of the block's chunks from their rows' terms into node[dot][chunk], where it has several;
 * all threads call. */
static __device__ __forceinline__ void sum_chunks(const block &b, int dots)
{
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, chunks = b.a.shape.chunks;
    __syncthreads();
    if (chunks == 1) return;
    if (warp < chunks)
#pragma unroll 1
        for (int d = 0; d < dots; d++) {
            double sum = chunk_sum(b.at.term + d * b.room + warp * YK_CHUNK);
            if (lane == 0) b.at.node[d * WARP + warp] = sum;
        }
    __syncthreads();
}

/* The first warp, after that: lane c gets chunk c's sum. */
static __device__ __forceinline__ double chunk_of_lane(const block &b, int d)
{
    const int lane = threadIdx.x, chunks = b.a.shape.chunks;
    if (chunks == 1) {
        double sum = chunk_sum(b.at.term + d * b.room);
        return lane == 0 ? sum : 0.0;
    }
    return lane < chunks ? b.at.node[d * WARP + lane] : 0.0;
}

/* ---------------------------------------------------------------- meetings */

/* The first warp, lane c with chunk c's sum: its nodes go to everyone. */
template <bool CLUSTER>
static __device__ __forceinline__ void publish(const block &b, int slot, double sum)
{
    const yk_resident_shape &shape = b.a.shape;
    const int lane = threadIdx.x, of_block = shape.chunks / shape.node_chunks;
    const int first = b.node;
    if (shape.node_chunks > 1) sum = tree_over(sum, shape.node_chunks);
    if (!CLUSTER) {
        int node = first + lane / shape.node_chunks * shape.stride;
        if (lane % shape.node_chunks == 0 && lane < shape.chunks && node < shape.nodes)
            put(b.a.word + slot + node, sum, b.tag);
        return;
    }
    const unsigned word = shared_address(b.at.word + slot);
    for (int i = 0; i < of_block && first + i < shape.nodes; i++) {
        double node = __shfl_sync(ALL, sum, i * shape.node_chunks);
        if (lane < shape.blocks)
            put_in_cluster(word + (first + i) * (int)sizeof(yk_message), lane, node, b.tag);
    }
}

/* Words of the slot from `from` on, COUNT a lane. */
template <int COUNT>
static __device__ __forceinline__ double await_nodes(const block &b, int slot, int from, bool *good)
{
    return await<COUNT>(b.a.word + slot + from, b.a.shape.nodes - from, b.tag, b.a.abandoned, good);
}

/* The same in a cluster, which has at most one word a lane. */
static __device__ __forceinline__ double await_in_cluster(const block &b, int slot, bool *good)
{
    const int lane = threadIdx.x;
    const unsigned word = shared_address(b.at.word + slot + lane);
    double value = 0.0;
    for (int tries = 1;; tries++) {
        bool here = lane >= b.a.shape.nodes || get_own(word, &value) == b.tag;
        if (__all_sync(ALL, here)) break;
        if (tries % 1024 == 0 && lost_patience(b.a.abandoned, tries)) {
            *good = false;
            break;
        }
    }
    return tree_over(value, WARP);
}

/* Of the first two warps. */
static __device__ __forceinline__ void pair_barrier()
{
    asm volatile("bar.sync 1, 64;" ::: "memory");
}

/* Where the second leaves its total: beyond the chunks' sums. */
static __device__ __forceinline__ double &beside(const block &b, int d)
{
    return b.at.node[d * WARP + WARP - 1];
}

/* The second warp: the nodes that the first has not. */
static __device__ __forceinline__ void meet_beside(const block &b, kind kind, int dots)
{
    bool good = true;
#pragma unroll 1
    for (int d = 0; d < dots; d++) {
        double total =
            await_nodes<BATCH>(b, (kind * MOST_DOTS + d) * b.a.shape.nodes, WARP * BATCH, &good);
        if (threadIdx.x == WARP) beside(b, d) = total;
    }
    if (threadIdx.x == WARP && !good) b.at.now->lost = 1;
    pair_barrier();
}

/* The first warp, after sum_chunks. */
template <bool CLUSTER, int PASSES>
static __device__ __forceinline__ void meet(const block &b, kind kind, yk_gpu_loop *loop, int dots)
{
    const int lane = threadIdx.x, nodes = b.a.shape.nodes;
    double first = 0.0;
    bool good = true;
#pragma unroll 1
    for (int d = 0; d < dots; d++) {
        publish<CLUSTER>(b, (kind * MOST_DOTS + d) * nodes, chunk_of_lane(b, d));
    }
#pragma unroll 1
    for (int d = 0; d < dots; d++) {
        const int slot = (kind * MOST_DOTS + d) * nodes;
        double total;
        if (CLUSTER) {
            total = await_in_cluster(b, slot, &good);
        } else if (nodes <= WARP) {
            total = await_nodes<1>(b, slot, 0, &good);
        } else {
            total = await_nodes<BATCH>(b, slot, 0, &good);
            if (PASSES == 1 && nodes > WARP * BATCH)
                total += await_nodes<BATCH>(b, slot, WARP * BATCH, &good);
        }
        if (d == 0)
            first = total;
        else if (lane == 0)
            b.at.now->dot[d] = total;
    }
    const bool two = sums_take_two<PASSES>(b);
    if (two) pair_barrier();
    if (lane != 0) return;
    if (two) {
        first += beside(b, 0);
        for (int d = 1; d < dots; d++) b.at.now->dot[d] += beside(b, d);
    }
    take_turn(b.at.now, kind, b.update, loop, first);
    if (!good) b.at.now->lost = 1;
}

/* -------------------------------------------------------------------- halo */

/* A message's place in one word; in a cluster the block and the place in it. */
template <bool CLUSTER> static __device__ __forceinline__ int place_of(const block &b, int place)
{
    return CLUSTER ? place / b.room << 16 | place % b.room : place;
}

template <bool CLUSTER>
static __device__ __forceinline__ unsigned long long read_boundary(const block &b, int place,
                                                                   double *z)
{
    if (!CLUSTER) return get(b.a.boundary + place, z);
    return get_in_cluster(shared_address(b.at.boundary + (place & 0xffff)), place >> 16, z);
}

template <bool CLUSTER>
static __device__ __forceinline__ void send_boundary(const block &b, int row, double z)
{
    if (CLUSTER)
        put_in_cluster(shared_address(b.at.boundary + row), blockIdx.x, z, b.tag);
    else
        put(b.a.boundary + b.first + row, z, b.tag);
}

/* The first rows of a thread's halo, while the first warp meets. */
template <bool CLUSTER, bool STREAMS, int PASSES>
static __device__ __forceinline__ void take_halo(const block &b, worker<STREAMS, PASSES> &me)
{
    constexpr int EARLY = worker<STREAMS, PASSES>::EARLY;
    unsigned missing = 0;
#pragma unroll
    for (int j = 0; j < EARLY; j++) missing |= has_halo<PASSES>(b, j) ? 1u << j : 0u;
    for (int tries = 1; __any_sync(ALL, missing != 0); tries++) {
        double z[EARLY];
        unsigned long long tag[EARLY];
#pragma unroll
        for (int j = 0; j < EARLY; j++) {
            tag[j] = 0;
            z[j] = 0.0;
            if (missing >> j & 1) tag[j] = read_boundary<CLUSTER>(b, me.from[j], &z[j]);
        }
#pragma unroll
        for (int j = 0; j < EARLY; j++) {
            const bool here = tag[j] == b.tag;
            me.z[j] = here ? z[j] : me.z[j];
            missing &= here ? ~(1u << j) : ~0u;
        }
        if (tries % 1024 == 0 && lost_patience(b.a.abandoned, tries)) {
            b.at.now->lost = 1;
            break;
        }
    }
}

/* p of the halo, from its z: that which is here, and the rest as it comes. */
template <bool CLUSTER, bool STREAMS, int PASSES>
static __device__ __forceinline__ void
direct_halo(const block &b, const worker<STREAMS, PASSES> &me, const double *first_z)
{
    constexpr int EARLY = worker<STREAMS, PASSES>::EARLY;
    const double beta = b.at.now->s.beta, shift = b.at.now->s.shift;
    double *p = b.at.p + b.room;
#pragma unroll
    for (int j = 0; j < EARLY; j++)
        if (has_halo<PASSES>(b, j))
            p[halo_of<PASSES>(j)] = yk_fma(beta, p[halo_of<PASSES>(j)], me.z[j] - shift);
#pragma unroll 1
    for (int j = EARLY; has_halo<PASSES>(b, j); j++) {
        const int there = b.halo_place[halo_of<PASSES>(j)], place = place_of<CLUSTER>(b, there);
        double z = first_z ? first_z[yk_resident_row(&b.a.shape, there)] : 0.0;
        for (int tries = 1; !first_z && read_boundary<CLUSTER>(b, place, &z) != b.tag; tries++)
            if (tries % 1024 == 0 && lost_patience(b.a.abandoned, tries)) {
                b.at.now->lost = 1;
                break;
            }
        p[halo_of<PASSES>(j)] = yk_fma(beta, p[halo_of<PASSES>(j)], z - shift);
    }
}

/* ------------------------------------------------------------------ passes */

/* z of a row, which is r without a preconditioner: r times the inverse of the diagonal, or 1. */
static __device__ __forceinline__ double inverse_of(const block &b, int row)
{
    return b.a.jacobi ? b.at.inverse[row] : 1.0;
}

/* x += alpha p; p = (z - shift) + beta p. */
template <int SHARERS, bool STREAMS, int PASSES>
static __device__ __forceinline__ void direction(const block &b, worker<STREAMS, PASSES> &me)
{
    const yk_cg_scalars &s = b.at.now->s;
#pragma unroll
    for (int k = 0; k < PASSES; k++) {
        const int row = me.row[k].place >> 16;
        double p = b.at.p[row], x = 0.0;
        yk_cg_inputs in = {};
        in.p = p;
        in.x = me.row[k].x;
        in.z = me.row[k].r * inverse_of(b, row);
        yk_cg_rows c = {};
        c.p = &p;
        c.x = &x;
        c.alpha = s.alpha;
        c.beta = s.beta;
        c.shift = s.shift;
        yk_cg_direction_row(&c, 0, &in, 0);
        me.row[k].x = x;
        if (SHARERS > 1) __syncwarp(); /* all sharers have read p */
        if (leads<SHARERS>()) b.at.p[row] = p;
    }
}

/* q = A p, and the terms of p.q. */
template <int SHARERS, bool STREAMS, int PASSES>
static __device__ __forceinline__ void multiply(const block &b, worker<STREAMS, PASSES> &me)
{
#pragma unroll
    for (int k = 0; k < PASSES; k++) {
        const int row = me.row[k].place >> 16, length = me.row[k].place & 0xffff;
        const int slice = rank_of<SHARERS>(k) * SHARERS / WARP, start = b.at.slice[slice];
        double product, dot[YK_DOTS] = {0.0, 0.0, 0.0, 0.0}, q = 0.0;
        if (!STREAMS || !me.rest.has(slice))
            product = product_of<SHARERS>(b.at.column + start, b.at.value + start, length, b.at.p);
        else
            product = product_of<SHARERS>(me.rest, me.rest.width(slice), length, b.at.p);
        yk_cg_inputs in = {};
        in.p = b.at.p[row];
        yk_cg_rows c = {};
        c.q = &q;
        yk_cg_multiply_row(&c, 0, &in, product, dot);
        me.row[k].q = q;
        if (leads<SHARERS>()) b.at.term[row] = dot[YK_DOT_PQ];
    }
}

/* r -= alpha q, z, and the terms of their sums; z to the neighbours. */
template <bool CLUSTER, int SHARERS, bool STREAMS, int PASSES>
static __device__ __forceinline__ void update(const block &b, worker<STREAMS, PASSES> &me)
{
#pragma unroll
    for (int k = 0; k < PASSES; k++) {
        const int row = me.row[k].place >> 16;
        double r = 0.0, z = 0.0, dot[YK_DOTS];
        yk_cg_inputs in = {};
        in.r = me.row[k].r;
        in.q = me.row[k].q;
        in.inverse_diagonal = inverse_of(b, row);
        yk_cg_rows c = {};
        c.r = &r;
        c.z = &z;
        c.alpha = b.at.now->s.alpha;
        yk_cg_update_row(&c, 0, &in, 1, dot);
        me.row[k].r = r;
        if (!leads<SHARERS>()) continue;
        if (me.sent >> k & 1) send_boundary<CLUSTER>(b, row, z);
        b.at.term[row] = dot[0];
        if (b.dots > 1) b.at.term[b.room + row] = dot[1];
        if (b.dots > 2) b.at.term[2 * b.room + row] = dot[2];
    }
}

/* ------------------------------------------------------------- in and out */

template <int SHARERS, bool STREAMS, int PASSES>
static __device__ __forceinline__ void load_rows(const block &b, const yk_cg_rows &g,
                                                 worker<STREAMS, PASSES> &me)
{
    const int32_t *place = b.a.place + b.first;
    me.sent = 0;
#pragma unroll
    for (int k = 0; k < PASSES; k++) {
        const int at = place[rank_of<SHARERS>(k)], row = at >> 16;
        const int64_t i = yk_resident_row(&b.a.shape, b.first + row);
        own_row own = {0.0, 0.0, 0.0, at};
        double p = 0.0, inverse = 0.0;
        if (i < g.csr.rows) {
            own.x = g.x[i];
            own.r = g.r[i];
            p = g.p[i];
            if (b.a.jacobi) inverse = g.inverse_diagonal[i];
            if (b.a.sent[i]) me.sent |= 1u << k;
        }
        me.row[k] = own;
        if (!leads<SHARERS>()) continue;
        b.at.p[row] = p;
        if (b.a.jacobi) b.at.inverse[row] = inverse;
    }
}

/* The matrix as far as it is kept, and the halo's first p. */
template <bool CLUSTER, bool STREAMS, int PASSES>
static __device__ __forceinline__ void load_rest(const block &b, const yk_cg_rows &g,
                                                 worker<STREAMS, PASSES> &me)
{
    constexpr int EARLY = worker<STREAMS, PASSES>::EARLY;
    for (int i = threadIdx.x; i <= b.a.slices; i += blockDim.x) b.at.slice[i] = b.slice[i];
    for (int i = threadIdx.x; i < b.kept; i += blockDim.x) {
        b.at.value[i] = b.value[i];
        b.at.column[i] = b.column[i];
    }
    for (int h = threadIdx.x; h < b.halo; h += blockDim.x)
        b.at.p[b.room + h] = g.p[yk_resident_row(&b.a.shape, b.halo_place[h])];
#pragma unroll
    for (int j = 0; j < EARLY; j++) {
        me.from[j] = 0;
        me.z[j] = 0.0;
        if (!has_halo<PASSES>(b, j)) continue;
        me.from[j] = place_of<CLUSTER>(b, b.halo_place[halo_of<PASSES>(j)]);
        me.z[j] = g.z[yk_resident_row(&b.a.shape, b.halo_place[halo_of<PASSES>(j)])];
    }
}

/* What is not kept begins to come. */
template <bool STREAMS, int PASSES>
static __device__ __forceinline__ void begin_rest(const block &b, worker<STREAMS, PASSES> &me)
{
    const int warp = threadIdx.x / WARP;
    me.rest.slice = b.at.slice;
    me.rest.column = b.column;
    me.rest.value = b.value;
    me.rest.ring = b.at.ring + warp * yk_resident_ring_bytes(b.a.stages);
    me.rest.stages = b.a.stages;
    me.rest.begin(warp, blockDim.x / WARP, b.a.slices, b.kept, b.a.keep);
}

/* No message of an earlier launch may count. */
static __device__ __forceinline__ void clear_messages(const block &b)
{
    if (!b.a.shape.cluster) return;
    const int words = YK_RESIDENT_KINDS * MOST_DOTS * b.a.shape.nodes;
    for (int i = threadIdx.x; i < words; i += blockDim.x) b.at.word[i] = {0.0, 0};
    for (int i = threadIdx.x; i < b.room; i += blockDim.x) b.at.boundary[i] = {0.0, 0};
    cluster_barrier();
}

template <int SHARERS, bool STREAMS, int PASSES>
static __device__ __forceinline__ void store(const block &b, const yk_cg_rows &g,
                                             const worker<STREAMS, PASSES> &me, yk_gpu_loop *loop)
{
    const turn *now = b.at.now;
#pragma unroll
    for (int k = 0; k < PASSES; k++) {
        const int row = me.row[k].place >> 16;
        const int64_t i = yk_resident_row(&b.a.shape, b.first + row);
        if (i >= g.csr.rows || !leads<SHARERS>()) continue;
        g.x[i] = me.row[k].x;
        g.r[i] = me.row[k].r;
        g.p[i] = b.at.p[row];
        if (b.a.jacobi) g.z[i] = me.row[k].r * b.at.inverse[row];
    }
    if (blockIdx.x != 0 || threadIdx.x != 0) return;
    loop->s = now->s;
    if (now->lost) loop->s.stop = YK_CG_ABORTED;
    loop->left = now->left;
    loop->halt = 1;
    loop->recorded = now->recorded < YK_GPU_HISTORY ? now->recorded : YK_GPU_HISTORY;
}

/* ------------------------------------------------------------------ kernel */

static __device__ __forceinline__ block block_here(const yk_gpu_view &view, const yk_resident &a,
                                                   int update, unsigned long long epoch,
                                                   char *memory)
{
    const int me = blockIdx.x, room = a.shape.chunks * YK_CHUNK;
    block b = {a, arrays_at(memory, a), room, me * room, yk_resident_node(&a.shape, me, 0)};
    b.slice = a.slice + (int64_t)me * (a.slices + 1);
    b.column = a.column + a.first[me];
    b.value = a.value + a.first[me];
    b.kept = b.slice[a.slices] < a.resident ? b.slice[a.slices] : a.resident;
    b.halo_place = a.halo_place + a.halo_first[me];
    b.halo = a.halo_first[me + 1] - a.halo_first[me];
    b.update = update;
    b.dots = yk_task_dots(update);
    b.tag = epoch;
    return b;
}

template <bool CLUSTER, bool STREAMS, int SHARERS, int PASSES>
static __global__ void __launch_bounds__(MOST_THREADS, 1)
    run_resident(const __grid_constant__ yk_gpu_view view, const __grid_constant__ yk_resident a,
                 int update_task, yk_gpu_loop *loop, unsigned long long epoch)
{
    extern __shared__ __align__(16) char memory[];
    block b = block_here(view, a, update_task, epoch, memory);
    worker<STREAMS, PASSES> me;
    turn *now = b.at.now;
    const double *first_z = view.rows.z;
    load_rows<SHARERS>(b, view.rows, me);
    load_rest<CLUSTER>(b, view.rows, me);
    if (threadIdx.x == 0) *now = {loop->s, loop->limits, {}, loop->left, 0, loop->halt, 0};
    clear_messages(b);
    __syncthreads();
    if (STREAMS) begin_rest(b, me);
    while (!now->halt) {
        direction<SHARERS>(b, me);
        direct_halo<CLUSTER>(b, me, first_z);
        first_z = NULL;
        __syncthreads();
        b.tag++;
        multiply<SHARERS>(b, me);
        sum_chunks(b, 1);
        if (threadIdx.x < WARP)
            meet<CLUSTER, PASSES>(b, AFTER_MULTIPLY, loop, 1);
        else if (sums_take_two<PASSES>(b) && threadIdx.x < 2 * WARP)
            meet_beside(b, AFTER_MULTIPLY, 1);
        __syncthreads();
        if (now->halt || now->lost) break;
        b.tag++;
        update<CLUSTER, SHARERS>(b, me);
        sum_chunks(b, b.dots);
        if (threadIdx.x < WARP)
            meet<CLUSTER, PASSES>(b, AFTER_UPDATE, loop, b.dots);
        else if (sums_take_two<PASSES>(b) && threadIdx.x < 2 * WARP)
            meet_beside(b, AFTER_UPDATE, b.dots);
        else
            take_halo<CLUSTER>(b, me);
        __syncthreads();
        if (now->lost) break;
    }
    if (STREAMS) me.rest.end();
    if (CLUSTER) cluster_barrier(); /* nobody reads from one who left */
    store<SHARERS>(b, view.rows, me, loop);
}

typedef void (*kernel)(yk_gpu_view, yk_resident, int, yk_gpu_loop *, unsigned long long);

struct variant {
    int cluster, streams, sharers, passes;
    kernel run;
};

#define VARIANT(cluster, streams, sharers, passes)                                                 \
    {                                                                                              \
        cluster, streams, sharers, passes, run_resident<cluster, streams, sharers, passes>         \
    }
static const variant variants[] = {
    VARIANT(0, 0, 1, 1), VARIANT(0, 0, 1, 2), VARIANT(0, 0, 1, 4), VARIANT(0, 0, 1, 8),
    VARIANT(0, 0, 4, 2), VARIANT(0, 0, 4, 4), VARIANT(0, 1, 1, 1), VARIANT(0, 1, 1, 2),
    VARIANT(0, 1, 1, 4), VARIANT(0, 1, 1, 8), VARIANT(0, 1, 4, 2), VARIANT(0, 1, 4, 4),
    VARIANT(1, 0, 1, 1), VARIANT(1, 0, 4, 2), VARIANT(1, 1, 1, 1), VARIANT(1, 1, 4, 2),
};

static kernel kernel_of(const yk_resident *a)
{
    const yk_resident_shape &shape = a->shape;
    for (const variant &v : variants)
        if (v.cluster == shape.cluster && v.streams == (a->stages > 0) &&
            v.sharers == shape.sharers && v.passes == shape.passes)
            return v.run;
    return NULL;
}

extern "C" size_t yk_gpu_resident_bytes(const yk_resident *a, int64_t entries)
{
    return yk_resident_lay_out(a, entries).bytes;
}

static cudaLaunchConfig_t configuration(const yk_resident *a, cudaLaunchAttribute *attribute)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)a->shape.blocks);
    config.blockDim = dim3((unsigned)a->shape.threads);
    config.dynamicSmemBytes = yk_gpu_resident_bytes(a, a->resident);
    config.attrs = attribute;
    config.numAttrs = 1;
    if (a->shape.cluster) {
        attribute->id = cudaLaunchAttributeClusterDimension;
        attribute->val.clusterDim.x = (unsigned)a->shape.blocks;
        attribute->val.clusterDim.y = attribute->val.clusterDim.z = 1;
    } else {
        attribute->id = cudaLaunchAttributeCooperative;
        attribute->val.cooperative = 1;
    }
    return config;
}

/* More than is usual of both, for the kernel that this shape takes. */
static cudaError_t allow(const yk_resident *a, size_t shared)
{
    const auto run = kernel_of(a);
    cudaError_t error =
        cudaFuncSetAttribute(run, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    if (error == cudaSuccess && a->shape.cluster)
        error = cudaFuncSetAttribute(run, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    return error;
}

extern "C" int yk_gpu_resident_fits(const yk_resident *a, size_t most, int multiprocessors,
                                    int *fits)
{
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = configuration(a, &attribute);
    int count = 0;
    cudaError_t error = allow(a, most);
    if (error != cudaSuccess) return error;
    error = a->shape.cluster ? cudaOccupancyMaxActiveClusters(&count, kernel_of(a), &config)
                             : cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                                   &count, kernel_of(a), a->shape.threads, config.dynamicSmemBytes);
    *fits = a->shape.cluster ? count > 0 : count * multiprocessors >= a->shape.blocks;
    return error;
}

extern "C" int yk_gpu_resident_run(const yk_gpu_view *view, const yk_resident *a, int update,
                                   yk_gpu_loop *loop, unsigned long long epoch, void *stream)
{
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = configuration(a, &attribute);
    config.stream = (cudaStream_t)stream;
    cudaLaunchKernelEx(&config, kernel_of(a), *view, *a, update, loop, epoch);
    return cudaGetLastError();
}

extern "C" int yk_gpu_resident_limits(int device, size_t *most, int *cluster)
{
    int bytes = 0, major = 0;
    cudaFuncAttributes attributes = {};
    cudaError_t error =
        cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, variants[0].run);
    /* What was compiled for an older device knows no clusters, on a newer one too. */
    const bool clusters = major >= 9 && attributes.ptxVersion >= 90;
    *most = (size_t)bytes;
    *cluster = clusters ? 16 : 0;
    return error;
}
