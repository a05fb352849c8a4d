/* SPDX-License-Identifier: BSD-3-Clause */
/* kernels.c: the entry points of gpu.h without a GPU: the CPU's passes, which are of the same text,
 * as work of the fake runtime. Before a row is touched, everything that a real kernel would read or
 * write is proved to be there. */
#include <string.h>

#include "solvers/cg/cpu_passes.h"
#include "solvers/cg/gpu.h"
#include "tests/fake/inside.h"
#include "tests/fake/kernels.h"

/* ------------------------------------------------------------------ layout */

static int64_t row_length(const yk_csr *csr, int64_t i)
{
    return yk_row_start(csr, i + 1) - yk_row_start(csr, i);
}

/* Column k of a place's slice: 32 column numbers, then 32 values. */
static char *column_of(const yk_sell *sell, int64_t place, int64_t k)
{
    int64_t at = yk_sell_before(sell, place / YK_SELL_ROWS) + k;
    return (char *)yk_sell_at(sell, place / YK_CHUNK, at);
}

static int32_t *place_of_column(const yk_sell *sell, int64_t place, int64_t k)
{
    return (int32_t *)column_of(sell, place, k) + place % YK_SELL_ROWS;
}

static double *place_of_value(const yk_sell *sell, int64_t place, int64_t k)
{
    return (double *)(column_of(sell, place, k) + YK_SELL_VALUES) + place % YK_SELL_ROWS;
}

/* Columns of a slice. */
static int64_t width_of(const yk_sell *sell, int64_t slice)
{
    return yk_sell_before(sell, slice + 1) - yk_sell_before(sell, slice);
}

static int64_t widest_in_slice(const yk_csr *csr, const yk_sell *order, int64_t slice)
{
    int64_t width = 0, first = slice * YK_SELL_ROWS, end = first + YK_SELL_ROWS;
    for (int64_t place = first; place < end; place++) {
        int64_t i = yk_sell_row(order, place);
        if (i < csr->rows && row_length(csr, i) > width) width = row_length(csr, i);
    }
    return width;
}

/* The order of all chunks: by insertion of each row behind those that are not shorter. */
static void sort_rows(const yk_csr *csr, unsigned char *order)
{
    for (int64_t first = 0; first < csr->rows; first += YK_CHUNK)
        for (int t = 0; t < YK_CHUNK; t++) {
            int at = t;
            bool there = first + t < csr->rows;
            for (; there && at > 0; at--) {
                if (row_length(csr, first + order[first + at - 1]) >= row_length(csr, first + t))
                    break;
                order[first + at] = order[first + at - 1];
            }
            order[first + at] = (unsigned char)t;
        }
}

/* Where each row lies, of which no two may lie at one place. */
static int64_t *places_of_rows(const yk_sell *sell, int64_t rows)
{
    int64_t *place = malloc((size_t)rows * sizeof *place + 1);
    if (!place) fake_die("no memory");
    for (int64_t i = 0; i < rows; i++) place[i] = -1;
    for (int64_t at = 0; at < yk_sell_order_length(rows); at++) {
        int64_t i = yk_sell_row(sell, at);
        if (i < rows && place[i] >= 0) fake_die("row %lld is in SELL twice", (long long)i);
        if (i >= rows && at < rows) fake_die("a row that is not there lies before others");
        if (i < rows) place[i] = at;
    }
    return place;
}

void fake_reach_starts(const yk_csr *csr)
{
    if (csr->start64)
        fake_reach(csr->start64, (size_t)(csr->rows + 1) * sizeof(int64_t), "row starts");
    else
        fake_reach(csr->start32, (size_t)(csr->rows + 1) * sizeof(int32_t), "row starts");
}

void fake_reach_entries(const int32_t *column, const double *value, int64_t count)
{
    fake_reach(column, (size_t)count * sizeof *column, "columns");
    fake_reach(value, (size_t)count * sizeof *value, "values");
}

/* Columns [first, last), of whole chunks. */
static void reach_columns(const yk_sell *sell, int64_t chunk, int64_t first, int64_t last)
{
    if (first >= last) return;
    const char *column = yk_sell_at(sell, chunk, first);
    fake_reach(column, (size_t)(last - first) * YK_SELL_BYTES, "SELL");
    if ((uintptr_t)column % 128 != 0) fake_die("SELL is not aligned");
}

static void reach_sell(const yk_sell *sell, int64_t rows)
{
    int64_t slices = yk_sell_slices(rows), cut = sell->kept * (YK_CHUNK / YK_SELL_ROWS);
    if (sell->jump == 0 || cut > slices) cut = slices;
    if (sell->width == 0)
        fake_reach(sell->slice, (size_t)(slices + 1) * sizeof *sell->slice, "slices");
    if (sell->order) fake_reach(sell->order, (size_t)yk_sell_order_length(rows), "order of rows");
    if (sell->order && sell->width != 0) fake_die("slices of one width are sorted");
    reach_columns(sell, 0, 0, yk_sell_before(sell, cut));
    reach_columns(sell, sell->kept, yk_sell_before(sell, cut), yk_sell_before(sell, slices));
}

/* ----------------------------------------------------------------- product */

/* Beside others a part's columns go on into its halo, as far as its vectors do. */
static void check_columns(const yk_csr *csr, yk_operand v)
{
    int64_t most = -1;
    for (int64_t k = 0; k < csr->nonzeros; k++) {
        if (csr->column[k] < 0) fake_die("column %d", csr->column[k]);
        if (csr->column[k] > most) most = csr->column[k];
    }
    fake_reach(v.z, (size_t)(most + 1) * sizeof(double), "what is multiplied");
    if (v.p) fake_reach(v.p, (size_t)(most + 1) * sizeof(double), "what is multiplied");
}

/* Entries of the row at a place before its padding, behind which there is nothing else. */
static int64_t length_in_sell(const yk_sell *sell, int64_t place)
{
    int64_t length = 0, width = width_of(sell, place / YK_SELL_ROWS);
    while (length < width && *place_of_column(sell, place, length) != -1) length++;
    for (int64_t k = length; k < width; k++)
        if (*place_of_column(sell, place, k) != -1 || *place_of_value(sell, place, k) != 0.0)
            fake_die("the row at %lld of SELL goes on behind its padding", (long long)place);
    return length;
}

/* The rows as they lie in SELL, as a CSR of our own; nothing else says how long they are. */
static yk_csr unpacked(const yk_gpu_view *view)
{
    const yk_sell *sell = &view->sell;
    int64_t rows = view->rows.csr.rows, widest = YK_ROW_SEGMENT;
    if (view->format == YK_GPU_SELL8) widest = YK_ROW_CHAIN;
    reach_sell(sell, rows);
    int64_t *start = malloc((size_t)(rows + 1) * sizeof *start);
    int64_t *place = places_of_rows(sell, rows);
    if (!start) fake_die("no memory");
    start[0] = 0;
    for (int64_t i = 0; i < rows; i++) {
        start[i + 1] = start[i] + length_in_sell(sell, place[i]);
        if (start[i + 1] - start[i] > widest) fake_die("a row of SELL is too long");
    }
    int32_t *column = malloc((size_t)start[rows] * sizeof *column + 1);
    double *value = malloc((size_t)start[rows] * sizeof *value + 1);
    if (!column || !value) fake_die("no memory");
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = start[i]; k < start[i + 1]; k++) {
            column[k] = *place_of_column(sell, place[i], k - start[i]);
            value[k] = *place_of_value(sell, place[i], k - start[i]);
        }
    free(place);
    return (yk_csr){rows, start[rows], NULL, start, column, value};
}

static const void *moved(const void *entries, int64_t jump)
{
    return (const char *)entries + jump;
}

/* Entries from the cut on lie elsewhere: all of them together, as a CSR of our own. */
static yk_csr joined(const yk_csr *csr, const yk_csr_spill *spill)
{
    int64_t kept = spill->kept < csr->rows ? spill->kept : csr->rows; /* the last chunk is short */
    int64_t cut = yk_row_start(csr, kept), rest = csr->nonzeros - cut;
    const int32_t *behind = moved(csr->column + cut, spill->column_jump);
    const double *values = moved(csr->value + cut, spill->value_jump);
    yk_csr all = {.rows = csr->rows, .nonzeros = csr->nonzeros};
    int64_t *start = malloc((size_t)(csr->rows + 1) * sizeof *start);
    int32_t *column = malloc((size_t)csr->nonzeros * sizeof *column + 1);
    double *value = malloc((size_t)csr->nonzeros * sizeof *value + 1);
    if (!start || !column || !value) fake_die("no memory");
    fake_reach_entries(csr->column, csr->value, cut);
    fake_reach_entries(behind, values, rest);
    for (int64_t i = 0; i <= csr->rows; i++) start[i] = yk_row_start(csr, i);
    for (int64_t k = 0; k < csr->nonzeros; k++) {
        column[k] = k < cut ? csr->column[k] : behind[k - cut];
        value[k] = k < cut ? csr->value[k] : values[k - cut];
    }
    all.start64 = start;
    all.column = column;
    all.value = value;
    return all;
}

static void free_unpacked(yk_csr *csr)
{
    free((void *)csr->start64);
    free((void *)csr->column);
    free((void *)csr->value);
}

/* -------------------------------------------------------------------- sums */

/* As a GPU's: blocks of warps take one chunk a warp. */
int yk_gpu_block_chunks(const yk_gpu_view *view, int task)
{
    if (!view->walk.by_warps) return view->walk.chunks;
    return yk_task_multiplies(task) ? 8 : 16;
}

/* The sums of one range of rows stay where its block's are: of a full one, or of one chunk. */
static void leave(const yk_gpu_view *view, const yk_tree *tree, int64_t at)
{
    if (tree->count != 1) fake_die("a block's chunks are not one node");
    for (int d = 0; d < tree->dots; d++) view->sums.node[0][at * tree->dots + d] = tree->sum[0][d];
}

/* Chunks of the blocks that are taken: [first, last). */
static void blocks_taken(const yk_gpu_view *view, int task, int64_t *first, int64_t *last)
{
    int64_t chunks = yk_gpu_chunks(view->rows.csr.rows), full = yk_gpu_block_chunks(view, task);
    *first = view->walk.first_block * full;
    *last = view->walk.blocks > 0 ? *first + view->walk.blocks * full : chunks;
    if (*last > chunks) *last = chunks;
    if (*first >= *last) fake_die("blocks without rows");
}

/* Apart: block by block, then chunk by chunk, or all of them so. */
static double rows_apart(const yk_gpu_view *view, const yk_cg_rows *c, int task)
{
    int64_t rows = c->csr.rows, begin, chunks, all = yk_gpu_chunks(rows);
    int64_t full = view->sums.apart > 1 ? 1 : yk_gpu_block_chunks(view, task);
    blocks_taken(view, task, &begin, &chunks);
    size_t nodes = (size_t)(all / full + all % full);
    int64_t at = begin / full;
    fake_reach(view->sums.node[0], nodes * (size_t)yk_task_dots(task) * sizeof(double), "nodes");
    for (int64_t first = begin; first < chunks; at++) {
        int64_t end = first + full <= chunks ? first + full : first + 1;
        int64_t last = end * YK_CHUNK < rows ? end * YK_CHUNK : rows;
        yk_tree tree;
        yk_tree_begin(&tree, first, yk_task_dots(task));
        yk_cpu_passes_here()->pass[task](c, first * YK_CHUNK, last, &tree);
        leave(view, &tree, at);
        first = end;
    }
    return 0.0;
}

static double rows_together(const yk_cg_rows *c, int task, double *total)
{
    yk_tree tree;
    yk_tree_begin(&tree, 0, yk_task_dots(task));
    double largest = yk_cpu_passes_here()->pass[task](c, 0, c->csr.rows, &tree);
    yk_tree_total(&tree, total);
    return largest;
}

static bool stays_apart(const yk_gpu_view *view, int task)
{
    return view->sums.apart && yk_task_dots(task) > 0 && !yk_task_is_largest(task);
}

/* All rows by the CPU's own pass, which is of the same text. */
static double all_rows(const yk_gpu_view *view, yk_cg_rows *c, int task, double *total)
{
    bool sell = view->format != YK_GPU_CSR, cut = !sell && view->spill.column_jump != 0;
    bool unpack = yk_task_multiplies(task) && (sell || cut);
    if (view->walk.blocks > 0 && !stays_apart(view, task)) fake_die("some blocks complete no sum");
    if (unpack) c->csr = sell ? unpacked(view) : joined(&c->csr, &view->spill);
    if (yk_task_multiplies(task)) check_columns(&c->csr, yk_task_operand(task, c));
    double largest =
        stays_apart(view, task) ? rows_apart(view, c, task) : rows_together(c, task, total);
    if (unpack) free_unpacked(&c->csr);
    return largest;
}

/* As `step` in gpu_kernels.cu: what whoever completes a sum does in the loop. */
void fake_step(int task, yk_gpu_loop *loop, double *dot)
{
    if (yk_task_ends_multiply(task)) {
        yk_cg_after_multiply(&loop->s, dot[YK_DOT_PQ]);
        if (task == YK_TASK_FOLD) loop->folds++;
        loop->halt = loop->s.stop != YK_CG_GO_ON;
        return;
    }
    if (task == YK_TASK_UPDATE_NONE || task == YK_TASK_UPDATE_NONE_SHIFT)
        dot[YK_DOT_RZ] = dot[YK_DOT_RR];
    if (yk_task_ends_iteration(task))
        yk_cg_after_sums(&loop->s, &loop->drift, &loop->limits, dot);
    else
        yk_cg_after_update(&loop->s, &loop->limits, dot);
    if (loop->recorded < YK_GPU_HISTORY) loop->rr[loop->recorded++] = loop->s.rr;
    loop->left--;
    loop->halt = loop->s.stop != YK_CG_GO_ON || loop->left <= 0;
}

static void deliver(const yk_gpu_view *view, int task, yk_gpu_loop *loop, double *total,
                    double largest)
{
    if (yk_task_is_largest(task)) {
        unsigned long long bits;
        memcpy(&bits, &largest, sizeof bits);
        if (bits > *view->sums.largest) *view->sums.largest = bits;
    } else if (loop && yk_task_dots(task) > 0) {
        fake_step(task, loop, total);
    } else if (yk_task_dots(task) > 0) {
        memcpy(view->sums.total, total, YK_DOTS * sizeof *total);
    }
}

/* ------------------------------------------------------------------- tasks */

typedef struct task_arguments {
    yk_gpu_view view;
    int task;
    yk_gpu_loop *loop;
} task_arguments;

static void reach_vectors(const yk_cg_rows *c)
{
    const double *const vector[] = {
        c->x, c->r, c->z, c->p, c->p_old, c->q, c->b, c->best, c->inverse_diagonal,
        c->w, c->s, c->t, c->m, c->m_next};
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++)
        if (vector[i]) fake_reach(vector[i], (size_t)c->csr.rows * sizeof(double), "a vector");
}

/* Blocks meet by counters that are 0 between passes; there is room for a block a chunk. */
static void reach_sums(const yk_gpu_sums *sums, int64_t rows, int dots)
{
    int level = 0;
    size_t count = (size_t)((rows + YK_CHUNK - 1) / YK_CHUNK);
    for (; count > 1 && level < YK_SUM_LEVELS; level++) {
        size_t groups = (count + YK_SUM_GROUP - 1) / YK_SUM_GROUP;
        fake_reach(sums->node[level], count * (size_t)dots * sizeof(double), "sums");
        fake_reach(sums->arrived[level], groups * sizeof(unsigned), "counters of sums");
        for (size_t g = 0; g < groups; g++)
            if (sums->arrived[level][g] != 0) fake_die("a counter of sums is not 0");
        count = groups;
    }
    if (count > 1) fake_die("sums need more levels");
    fake_reach(sums->total, YK_DOTS * sizeof(double), "total");
    fake_reach(sums->largest, sizeof *sums->largest, "largest");
}

static void run_task(const void *arguments)
{
    const task_arguments *a = arguments;
    const yk_gpu_view *view = &a->view;
    yk_cg_rows c = view->rows;
    double total[YK_DOTS] = {0.0, 0.0, 0.0, 0.0};
    if (a->loop) {
        fake_reach(a->loop, sizeof *a->loop, "the loop's state");
        if (a->loop->halt) return;
        c.alpha = a->loop->s.alpha;
        c.beta = a->loop->s.beta;
        c.shift = a->loop->s.shift;
    }
    reach_vectors(&c);
    if (yk_task_dots(a->task) > 0 && !stays_apart(view, a->task))
        reach_sums(&view->sums, c.csr.rows, yk_task_dots(a->task));
    if (yk_task_multiplies(a->task) && view->format == YK_GPU_CSR) {
        fake_reach_starts(&c.csr);
        c.csr.nonzeros = yk_row_start(&c.csr, c.csr.rows);
        if (view->spill.column_jump == 0)
            fake_reach_entries(c.csr.column, c.csr.value, c.csr.nonzeros);
    }
    double largest = all_rows(view, &c, a->task, total);
    if (!stays_apart(view, a->task)) deliver(view, a->task, a->loop, total, largest);
}

void fake_run_task(const yk_gpu_view *view, int task, yk_gpu_loop *loop)
{
    task_arguments arguments = {*view, task, loop};
    run_task(&arguments);
}

int yk_gpu_launch(const yk_gpu_view *view, int task, yk_gpu_loop *loop, void *stream)
{
    task_arguments arguments = {*view, task, loop};
    if (view->rows.csr.rows == 0) return cudaSuccess;
    return fake_launch(stream, run_task, &arguments, sizeof arguments);
}

int yk_gpu_has_streams(int *streams)
{
    *streams = 1;
    return fake_leave(fake_enter(FAKE_cudaFuncGetAttributes));
}

int yk_gpu_load_kernels(const yk_gpu_walk *walk)
{
    (void)walk;
    return fake_leave(fake_enter(FAKE_cudaFuncGetAttributes));
}

/* -------------------------------------------------------------------- SELL */

typedef struct sell_arguments {
    yk_csr csr;
    yk_sell sell;
    int64_t *slice, *sorted;
    unsigned char *order;
    int64_t first, last, entry;
} sell_arguments;

static void run_widths(const void *arguments)
{
    const sell_arguments *a = arguments;
    int64_t slices = yk_sell_slices(a->csr.rows);
    fake_reach_starts(&a->csr);
    fake_reach(a->slice, (size_t)slices * sizeof *a->slice, "slices");
    fake_reach(a->sorted, (size_t)slices * sizeof *a->sorted, "sorted slices");
    unsigned char *order = malloc((size_t)yk_sell_order_length(a->csr.rows));
    if (!order) fake_die("no memory");
    sort_rows(&a->csr, order);
    const yk_sell in_place = {.order = NULL}, sorted = {.order = order};
    for (int64_t s = 0; s < slices; s++) {
        a->slice[s] = widest_in_slice(&a->csr, &in_place, s);
        a->sorted[s] = widest_in_slice(&a->csr, &sorted, s);
    }
    free(order);
}

static void run_order(const void *arguments)
{
    const sell_arguments *a = arguments;
    fake_reach_starts(&a->csr);
    fake_reach(a->order, (size_t)yk_sell_order_length(a->csr.rows), "order of rows");
    sort_rows(&a->csr, a->order);
}

/* Rows that do not exist are padding too. */
static void run_fill(const void *arguments)
{
    const sell_arguments *a = arguments;
    const yk_csr *csr = &a->csr;
    int64_t end = YK_SELL_ROWS * yk_sell_slices(csr->rows), behind = a->last * YK_CHUNK;
    fake_reach_starts(csr);
    fake_reach_entries(csr->column, csr->value,
                       yk_row_start(csr, behind < csr->rows ? behind : csr->rows) - a->entry);
    reach_sell(&a->sell, csr->rows);
    for (int64_t place = a->first * YK_CHUNK; place < end && place < behind; place++)
        for (int64_t k = 0; k < width_of(&a->sell, place / YK_SELL_ROWS); k++) {
            int64_t i = yk_sell_row(&a->sell, place);
            bool there = i < csr->rows && k < row_length(csr, i);
            int64_t from = there ? yk_row_start(csr, i) + k - a->entry : 0;
            *place_of_column(&a->sell, place, k) = there ? csr->column[from] : -1;
            *place_of_value(&a->sell, place, k) = there ? csr->value[from] : 0.0;
        }
}

int yk_gpu_sell_widths(const yk_csr *csr, int64_t *in_place, int64_t *sorted, void *stream)
{
    sell_arguments arguments = {.csr = *csr, .slice = in_place, .sorted = sorted};
    return csr->rows > 0 ? fake_launch(stream, run_widths, &arguments, sizeof arguments)
                         : cudaSuccess;
}

int yk_gpu_sell_order(const yk_csr *csr, unsigned char *order, void *stream)
{
    sell_arguments arguments = {.csr = *csr, .order = order};
    return csr->rows > 0 ? fake_launch(stream, run_order, &arguments, sizeof arguments)
                         : cudaSuccess;
}

int yk_gpu_sell_fill(const yk_csr *csr, const yk_sell *sell, int64_t first, int64_t last,
                     int64_t entry, void *stream)
{
    sell_arguments arguments = {
        .csr = *csr, .sell = *sell, .first = first, .last = last, .entry = entry};
    return csr->rows > 0 ? fake_launch(stream, run_fill, &arguments, sizeof arguments)
                         : cudaSuccess;
}
