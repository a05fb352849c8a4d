/* SPDX-License-Identifier: BSD-3-Clause */
/* resident.c: the entry points of gpu_resident.h without a GPU. The analysis is plain loops. The
 * advance runs from the image alone, block by block, each with its own p and halo, by the CPU's
 * passes: an image, a halo or a count that is wrong ends the process or gives other bits. */
#include <string.h>

#include "solvers/cg/cpu_passes.h"
#include "solvers/cg/gpu_resident_layout.h"
#include "tests/fake/inside.h"
#include "tests/fake/kernels.h"

enum { MOST_THREADS = 512 };

typedef struct analysis_arguments {
    yk_csr csr;
    yk_resident a;
} analysis_arguments;

typedef struct run_arguments {
    yk_gpu_view view;
    yk_resident a;
    int update;
    yk_gpu_loop *loop;
    unsigned long long epoch;
} run_arguments;

static void *host_memory(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (!memory) fake_die("no memory");
    return memory;
}

/* ------------------------------------------------------------------- shape */

static const struct {
    int cluster, sharers, passes;
} variants[] = {{0, 1, 1}, {0, 1, 2}, {0, 1, 4}, {0, 1, 8},
                {0, 4, 2}, {0, 4, 4}, {1, 1, 1}, {1, 4, 2}};

static bool is_compiled(const yk_resident_shape *shape)
{
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        if (variants[i].cluster == shape->cluster && variants[i].sharers == shape->sharers &&
            variants[i].passes == shape->passes)
            return true;
    return false;
}

static int room_of(const yk_resident *a)
{
    return a->shape.chunks * YK_CHUNK;
}

/* What the kernels take for granted. */
static void check_shape(const yk_resident *a, int64_t rows)
{
    const yk_resident_shape *s = &a->shape;
    int64_t chunks = (rows + YK_CHUNK - 1) / YK_CHUNK;
    if (!is_compiled(s)) fake_die("%d sharers, %d passes: no such kernel", s->sharers, s->passes);
    if (s->chunks < 1 || room_of(a) > YK_RESIDENT_BLOCK_ROWS) fake_die("%d chunks", s->chunks);
    if (s->threads * s->passes != room_of(a) * s->sharers) fake_die("%d threads", s->threads);
    if (s->threads > MOST_THREADS || s->threads % YK_RESIDENT_WARP != 0 ||
        s->threads < s->chunks * YK_RESIDENT_WARP)
        fake_die("%d threads for %d chunks", s->threads, s->chunks);
    if (s->node_chunks < 1 || (s->node_chunks & (s->node_chunks - 1)) != 0 ||
        s->chunks % s->node_chunks != 0)
        fake_die("%d chunks a node", s->node_chunks);
    if (s->nodes != (chunks + s->node_chunks - 1) / s->node_chunks || s->nodes > 256 ||
        (s->cluster && s->nodes > YK_RESIDENT_WARP))
        fake_die("%d nodes", s->nodes);
    const int group = s->stride * (s->chunks / s->node_chunks);
    if (s->stride < 1 || (s->cluster && s->stride > 1)) fake_die("a stride of %d", s->stride);
    if (s->blocks != (s->nodes + group - 1) / group * s->stride) fake_die("%d blocks", s->blocks);
    if (s->cluster && s->blocks > fake.chip.cluster) fake_die("a cluster of %d", s->blocks);
    if (a->slices * YK_RESIDENT_WARP != room_of(a) * s->sharers) fake_die("%d slices", a->slices);
}

/* ---------------------------------------------------------------- analysis */

/* The row at a place of a block, or -1; and the place of a row in a block, or -1. */
static int64_t row_at(const yk_resident *a, int64_t rows, int block, int place)
{
    int64_t row = yk_resident_row(&a->shape, block * room_of(a) + place);
    if (row < 0) fake_die("row %lld", (long long)row);
    if (row < rows && yk_resident_place(&a->shape, (int)row) != block * room_of(a) + place)
        fake_die("row %lld has two places", (long long)row);
    return row < rows ? row : -1;
}

static int place_in(const yk_resident *a, int block, int64_t row)
{
    int place = yk_resident_place(&a->shape, (int)row);
    if (place < 0 || place >= a->shape.blocks * room_of(a)) fake_die("place %d", place);
    return place / room_of(a) == block ? place % room_of(a) : -1;
}

static int length_of(const yk_csr *csr, int64_t row)
{
    return (int)(yk_row_start(csr, row + 1) - yk_row_start(csr, row));
}

static void reach_analysis(const yk_csr *csr, const yk_resident *a)
{
    size_t blocks = (size_t)a->shape.blocks;
    check_shape(a, csr->rows);
    fake_reach_starts(csr);
    fake_reach(csr->column, (size_t)yk_row_start(csr, csr->rows) * sizeof(int32_t), "columns");
    fake_reach(a->first, (blocks + 1) * sizeof *a->first, "blocks' entries");
    fake_reach(a->halo_first, (blocks + 1) * sizeof *a->halo_first, "blocks' halos");
    fake_reach(a->slice, blocks * ((size_t)a->slices + 1) * sizeof *a->slice, "blocks' slices");
    fake_reach(a->place, blocks * (size_t)room_of(a) * sizeof *a->place, "blocks' rows");
}

/* halo[column]: 1 + the rank among the columns outside the range, or 0; returns how many. */
static int mark_halo(const yk_csr *csr, const yk_resident *a, int block, int32_t *halo)
{
    int count = 0;
    memset(halo, 0, (size_t)csr->rows * sizeof *halo);
    for (int place = 0; place < room_of(a); place++) {
        int64_t row = row_at(a, csr->rows, block, place);
        if (row < 0) continue;
        for (int64_t k = yk_row_start(csr, row); k < yk_row_start(csr, row + 1); k++) {
            int32_t column = csr->column[k];
            if (column < 0 || column >= csr->rows) fake_die("column %d", column);
            if (place_in(a, block, column) < 0) halo[column] = 1;
        }
    }
    for (int64_t i = 0; i < csr->rows; i++)
        if (halo[i]) halo[i] = ++count;
    return count;
}

/* Longest first, equals in their order: by counting. */
static void rank_rows(const yk_csr *csr, const yk_resident *a, int block, int32_t *place)
{
    int rank = 0;
    for (int length = YK_ROW_SEGMENT; length >= 0; length--)
        for (int i = 0; i < room_of(a); i++) {
            int64_t row = row_at(a, csr->rows, block, i);
            int own = row >= 0 ? length_of(csr, row) : 0;
            if (own > YK_ROW_SEGMENT) fake_die("a row of %d entries", own);
            if (own == length) place[rank++] = i << 16 | length;
        }
}

static void count_block(const yk_csr *csr, const yk_resident *a, int block, int32_t *halo)
{
    const int of_slice = YK_RESIDENT_WARP / a->shape.sharers, sharers = a->shape.sharers;
    int32_t *place = a->place + (int64_t)block * room_of(a);
    int32_t *slice = a->slice + (int64_t)block * (a->slices + 1);
    a->halo_first[block + 1] = mark_halo(csr, a, block, halo);
    rank_rows(csr, a, block, place);
    slice[0] = 0;
    for (int s = 0; s < a->slices; s++) {
        int width = place[s * of_slice] & 0xffff;
        slice[s + 1] = slice[s] + (width + sharers - 1) / sharers * YK_RESIDENT_WARP;
    }
    a->first[block + 1] = slice[a->slices];
}

static void run_count(const void *arguments)
{
    const analysis_arguments *at = arguments;
    reach_analysis(&at->csr, &at->a);
    int32_t *halo = host_memory((size_t)at->csr.rows, sizeof *halo);
    for (int b = 0; b < at->a.shape.blocks; b++) count_block(&at->csr, &at->a, b, halo);
    free(halo);
}

/* Entry k of the row at a rank, from the image's start. */
static int64_t entry_at(const yk_resident *a, int block, int rank, int k)
{
    const int sharers = a->shape.sharers, at = rank * sharers;
    const int32_t *slice = a->slice + (int64_t)block * (a->slices + 1) + at / YK_RESIDENT_WARP;
    int64_t within = (int64_t)(k / sharers) * YK_RESIDENT_WARP + at % YK_RESIDENT_WARP;
    within += slice[0] + k % sharers;
    if (within >= slice[1]) fake_die("entry %d of a row is beyond its slice", k);
    return a->first[block] + within;
}

static void fill_block(const yk_csr *csr, const yk_resident *a, int block, int32_t *halo)
{
    const int32_t *place = a->place + (int64_t)block * room_of(a);
    int count = mark_halo(csr, a, block, halo);
    if (count != a->halo_first[block + 1] - a->halo_first[block]) fake_die("another halo");
    for (int64_t i = 0; i < csr->rows; i++)
        if (halo[i]) {
            a->halo_place[a->halo_first[block] + halo[i] - 1] =
                yk_resident_place(&a->shape, (int)i);
            a->sent[i] = 1;
        }
    for (int rank = 0; rank < room_of(a); rank++) {
        int length = place[rank] & 0xffff;
        if (length == 0) continue;
        int64_t from = yk_row_start(csr, row_at(a, csr->rows, block, place[rank] >> 16));
        for (int k = 0; k < length; k++) {
            int32_t column = csr->column[from + k];
            int64_t to = entry_at(a, block, rank, k);
            a->column[to] = (uint16_t)(halo[column] ? room_of(a) + halo[column] - 1
                                                    : place_in(a, block, column));
            a->value[to] = csr->value[from + k];
        }
    }
}

static void reach_image(const yk_resident *a, int64_t rows)
{
    size_t entries = (size_t)a->first[a->shape.blocks];
    fake_reach(a->column, entries * sizeof *a->column, "blocks' columns");
    fake_reach(a->value, entries * sizeof *a->value, "blocks' values");
    fake_reach(a->halo_place, (size_t)a->halo_first[a->shape.blocks] * sizeof *a->halo_place,
               "halo rows");
    fake_reach(a->sent, (size_t)rows, "rows to send");
}

static void run_fill(const void *arguments)
{
    const analysis_arguments *at = arguments;
    const yk_csr *csr = &at->csr;
    reach_analysis(csr, &at->a);
    reach_image(&at->a, csr->rows);
    fake_reach_entries(csr->column, csr->value, yk_row_start(csr, csr->rows));
    int32_t *halo = host_memory((size_t)csr->rows, sizeof *halo);
    for (int b = 0; b < at->a.shape.blocks; b++) fill_block(csr, &at->a, b, halo);
    free(halo);
}

/* The kernel's shared memory is asked for, and then the kernel. */
static int analyse(fake_kernel run, const yk_csr *csr, const yk_resident *a, void *stream)
{
    analysis_arguments arguments = {*csr, *a};
    cudaError_t error = fake_enter(FAKE_cudaFuncSetAttribute);
    if (error == cudaSuccess && yk_resident_analysis_bytes(csr->rows) > fake.chip.shared_bytes)
        error = cudaErrorInvalidValue;
    if (fake_leave(error) != cudaSuccess) return error;
    return fake_launch(stream, run, &arguments, sizeof arguments);
}

int yk_gpu_resident_count(const yk_csr *csr, const yk_resident *a, void *stream)
{
    return analyse(run_count, csr, a, stream);
}

int yk_gpu_resident_fill(const yk_csr *csr, const yk_resident *a, void *stream)
{
    return analyse(run_fill, csr, a, stream);
}

/* -------------------------------------------------------------------- what fits */

size_t yk_gpu_resident_bytes(const yk_resident *a, int64_t entries)
{
    return yk_resident_lay_out(a, entries).bytes;
}

/* A block takes a multiprocessor, but a cluster's may share them: what it has of them is not this
 * machine's. */
int yk_gpu_resident_fits(const yk_resident *a, size_t most, int multiprocessors, int *fits)
{
    cudaError_t error = fake_leave(fake_enter(FAKE_cudaFuncSetAttribute));
    if (error != cudaSuccess) return error;
    error = fake_enter(a->shape.cluster ? FAKE_cudaOccupancyMaxActiveClusters
                                        : FAKE_cudaOccupancyMaxActiveBlocksPerMultiprocessor);
    bool one = yk_gpu_resident_bytes(a, a->resident) <= fake.chip.shared_bytes &&
               yk_gpu_resident_bytes(a, a->resident) <= most;
    *fits = one && (a->shape.cluster || multiprocessors >= a->shape.blocks);
    return fake_leave(error);
}

int yk_gpu_resident_limits(int device, size_t *most, int *cluster)
{
    int bytes = 0;
    cudaError_t error =
        cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error == cudaSuccess) error = fake_leave(fake_enter(FAKE_cudaFuncGetAttributes));
    *most = (size_t)bytes;
    *cluster = fake.chip.cluster;
    return error;
}

/* --------------------------------------------------------------- a block's */

/* What a block has on the chip: everything by places. */
typedef struct block {
    yk_cg_rows c; /* its matrix with local columns; p with the halo behind its rows */
    int number, room, halo;
    const int32_t *halo_place;
    double *halo_z;
} block;

/* Rows come longest first, each once, equals in their order; rank_of_row[row]. */
static void read_places(const yk_resident *a, int number, int *rank_of_row)
{
    const int32_t *place = a->place + (int64_t)number * room_of(a);
    for (int i = 0; i < room_of(a); i++) rank_of_row[i] = -1;
    for (int rank = 0; rank < room_of(a); rank++) {
        int row = place[rank] >> 16;
        if (row < 0 || row >= room_of(a) || rank_of_row[row] >= 0) fake_die("place %d", row);
        if (rank > 0 && (place[rank] & 0xffff) > (place[rank - 1] & 0xffff))
            fake_die("a longer row comes later");
        rank_of_row[row] = rank;
    }
}

static void read_row(const yk_resident *a, const block *b, int rank, int64_t from, int64_t to)
{
    for (int64_t k = from; k < to; k++) {
        int64_t at = entry_at(a, b->number, rank, (int)(k - from));
        int column = a->column[at];
        if (column >= b->room + b->halo) fake_die("local column %d", column);
        ((int32_t *)b->c.csr.column)[k] = column;
        ((double *)b->c.csr.value)[k] = a->value[at];
    }
}

/* The image of a block as a CSR of our own. */
static void read_image(const yk_resident *a, int64_t rows, block *b)
{
    const int32_t *place = a->place + (int64_t)b->number * b->room;
    int *rank = host_memory((size_t)b->room, sizeof *rank);
    int64_t *start = host_memory((size_t)b->room + 1, sizeof *start);
    read_places(a, b->number, rank);
    for (int i = 0; i < b->room; i++) {
        int length = place[rank[i]] & 0xffff;
        if (length != 0 && row_at(a, rows, b->number, i) < 0)
            fake_die("a row that does not exist has entries");
        start[i + 1] = start[i] + length;
    }
    size_t entries = (size_t)start[b->room];
    b->c.csr = (yk_csr){b->room,
                        start[b->room],
                        NULL,
                        start,
                        host_memory(entries, sizeof(int32_t)),
                        host_memory(entries, sizeof(double))};
    for (int i = 0; i < b->room; i++) read_row(a, b, rank[i], start[i], start[i + 1]);
    free(rank);
}

static int64_t halo_row(const yk_resident *a, const block *b, int h)
{
    return yk_resident_row(&a->shape, b->halo_place[h]);
}

static void check_halo(const yk_resident *a, const block *b, int64_t rows)
{
    for (int h = 0; h < b->halo; h++) {
        int64_t row = halo_row(a, b, h);
        if (row < 0 || row >= rows || place_in(a, b->number, row) >= 0 ||
            (h > 0 && row <= halo_row(a, b, h - 1)))
            fake_die("halo row %lld", (long long)row);
    }
}

/* A block's share of a vector, by places. */
static double *gather(const yk_resident *a, const block *b, const double *vector, int64_t rows)
{
    double *own = host_memory((size_t)(b->room + b->halo), sizeof *own);
    for (int i = 0; i < b->room; i++) {
        int64_t row = row_at(a, rows, b->number, i);
        if (row >= 0) own[i] = vector[row];
    }
    return own;
}

static void scatter(const yk_resident *a, const block *b, double *own, double *vector, int64_t rows)
{
    for (int i = 0; i < b->room; i++) {
        int64_t row = row_at(a, rows, b->number, i);
        if (row >= 0) vector[row] = own[i];
    }
    free(own);
}

static block load_block(const run_arguments *at, int number)
{
    const yk_resident *a = &at->a;
    const yk_cg_rows *g = &at->view.rows;
    const int64_t rows = g->csr.rows;
    block b = {.number = number, .room = room_of(a)};
    b.halo_place = a->halo_place + a->halo_first[number];
    b.halo = a->halo_first[number + 1] - a->halo_first[number];
    if (b.halo < 0 || b.halo > a->halo_max) fake_die("a halo of %d rows", b.halo);
    check_halo(a, &b, rows);
    read_image(a, rows, &b);
    b.c.x = gather(a, &b, g->x, rows);
    b.c.r = gather(a, &b, g->r, rows);
    b.c.z = a->jacobi ? gather(a, &b, g->z, rows) : b.c.r;
    b.c.q = host_memory((size_t)b.room, sizeof(double));
    b.c.p = gather(a, &b, g->p, rows);
    b.halo_z = host_memory((size_t)b.halo, sizeof(double));
    if (a->jacobi) b.c.inverse_diagonal = gather(a, &b, g->inverse_diagonal, rows);
    for (int h = 0; h < b.halo; h++) b.c.p[b.room + h] = g->p[halo_row(a, &b, h)];
    return b;
}

static void unload_block(const yk_resident *a, block *b, const yk_cg_rows *g)
{
    const int64_t rows = g->csr.rows;
    if (a->jacobi) scatter(a, b, b->c.z, g->z, rows);
    scatter(a, b, b->c.x, g->x, rows);
    scatter(a, b, b->c.r, g->r, rows);
    scatter(a, b, b->c.p, g->p, rows);
    free((void *)b->c.inverse_diagonal);
    free((void *)b->c.csr.start64);
    free((void *)b->c.csr.column);
    free((void *)b->c.csr.value);
    free(b->c.q);
    free(b->halo_z);
}

/* ---------------------------------------------------------------- messages */

/* No message of an earlier launch may count in this one. */
static void check_messages(const yk_message *message, size_t count, unsigned long long epoch,
                           const char *what)
{
    fake_reach(message, count * sizeof *message, what);
    if ((uintptr_t)message % sizeof *message != 0) fake_die("%s: not aligned", what);
    for (size_t i = 0; i < count; i++)
        if (message[i].tag > epoch) fake_die("%s: a message from what is to come", what);
}

static void send(const yk_resident *a, const block *b, int64_t rows, unsigned long long tag)
{
    for (int i = 0; i < b->room; i++) {
        int64_t row = row_at(a, rows, b->number, i);
        if (row >= 0 && a->sent[row])
            a->boundary[b->number * b->room + i] = (yk_message){b->c.z[i], tag};
    }
}

static void receive(const yk_resident *a, block *b, unsigned long long tag)
{
    for (int h = 0; h < b->halo; h++) {
        const yk_message *message = &a->boundary[b->halo_place[h]];
        if (message->tag != tag) fake_die("place %d was not sent", b->halo_place[h]);
        b->halo_z[h] = message->value;
    }
}

/* --------------------------------------------------------------------- run */

static void direction(block *b)
{
    yk_tree none;
    yk_tree_begin(&none, 0, 0);
    yk_cpu_passes_here()->pass[YK_TASK_DIRECTION](&b->c, 0, b->room, &none);
    for (int h = 0; h < b->halo; h++) {
        double *p = &b->c.p[b->room + h];
        *p = yk_fma(b->c.beta, *p, b->halo_z[h] - b->c.shift);
    }
}

/* The pass over all nodes in the order of their rows, whoever has them. */
static void pass_over_nodes(const run_arguments *at, block *all, int task, yk_tree *tree)
{
    const yk_resident *a = &at->a;
    const int64_t of_node = (int64_t)a->shape.node_chunks * YK_CHUNK, rows = at->view.rows.csr.rows;
    for (int64_t node = 0; node < a->shape.nodes; node++) {
        int64_t last = (node + 1) * of_node < rows ? (node + 1) * of_node : rows;
        int place = yk_resident_place(&a->shape, (int)(node * of_node));
        block *b = &all[place / room_of(a)];
        int64_t first = place % room_of(a);
        yk_cpu_passes_here()->pass[task](&b->c, first, first + last - node * of_node, tree);
    }
}

static void meet(const run_arguments *at, block *all, int task, unsigned long long tag)
{
    const yk_resident *a = &at->a;
    double dot[YK_DOTS] = {0.0, 0.0, 0.0, 0.0};
    int kind = task != YK_TASK_MULTIPLY, dots = yk_task_dots(task);
    yk_tree tree;
    yk_tree_begin(&tree, 0, dots);
    pass_over_nodes(at, all, task, &tree);
    yk_tree_total(&tree, dot);
    for (int i = 0; i < dots * a->shape.nodes; i++)
        a->word[kind * YK_RESIDENT_DOTS * a->shape.nodes + i].tag = tag;
    fake_step(task, at->loop, dot);
}

static void share_scalars(const yk_gpu_loop *loop, block *all, int count)
{
    for (int n = 0; n < count; n++) {
        all[n].c.alpha = loop->s.alpha;
        all[n].c.beta = loop->s.beta;
        all[n].c.shift = loop->s.shift;
    }
}

static void iterate(const run_arguments *at, block *all)
{
    const yk_resident *a = &at->a;
    const int count = a->shape.blocks;
    const int64_t rows = at->view.rows.csr.rows;
    unsigned long long tag = at->epoch;
    for (int n = 0; n < count; n++) send(a, &all[n], rows, tag);
    while (!at->loop->halt) {
        share_scalars(at->loop, all, count);
        for (int n = 0; n < count; n++) {
            receive(a, &all[n], tag);
            direction(&all[n]);
        }
        meet(at, all, YK_TASK_MULTIPLY, ++tag);
        if (at->loop->halt) return;
        share_scalars(at->loop, all, count);
        meet(at, all, at->update, ++tag);
        for (int n = 0; n < count; n++) send(a, &all[n], rows, tag);
    }
}

static void reach_run(const run_arguments *at)
{
    const yk_resident *a = &at->a;
    const yk_cg_rows *c = &at->view.rows;
    const double *const vector[] = {c->x, c->r, c->z, c->p, a->jacobi ? c->inverse_diagonal : c->x};
    size_t rows = (size_t)c->csr.rows, words = YK_RESIDENT_KINDS * YK_RESIDENT_DOTS;
    check_shape(a, c->csr.rows);
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++)
        fake_reach(vector[i], rows * sizeof(double), "a vector");
    reach_image(a, c->csr.rows);
    fake_reach(at->loop, sizeof *at->loop, "the loop's state");
    fake_reach(a->abandoned, sizeof *a->abandoned, "a flag");
    if (*a->abandoned) fake_die("the blocks abandoned an earlier launch");
    check_messages(a->boundary, (size_t)(a->shape.blocks * room_of(a)), at->epoch, "boundary");
    check_messages(a->word, words * (size_t)a->shape.nodes, at->epoch, "sums");
    if (a->dots != yk_task_dots(at->update)) fake_die("%d sums", a->dots);
    if (!a->jacobi && c->z != c->r) fake_die("z is not r");
}

static void run_resident(const void *arguments)
{
    const run_arguments *at = arguments;
    const int count = at->a.shape.blocks;
    reach_run(at);
    block *all = host_memory((size_t)count, sizeof *all);
    for (int n = 0; n < count; n++) all[n] = load_block(at, n);
    iterate(at, all);
    for (int n = 0; n < count; n++) unload_block(&at->a, &all[n], &at->view.rows);
    free(all);
    at->loop->halt = 1;
}

int yk_gpu_resident_run(const yk_gpu_view *view, const yk_resident *a, int update,
                        yk_gpu_loop *loop, unsigned long long epoch, void *stream)
{
    run_arguments arguments = {*view, *a, update, loop, epoch};
    if (yk_gpu_resident_bytes(a, a->resident) > fake.chip.shared_bytes)
        return cudaErrorInvalidValue;
    return fake_launch(stream, run_resident, &arguments, sizeof arguments);
}
