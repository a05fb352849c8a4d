/* SPDX-License-Identifier: BSD-3-Clause */
/* kernels.c: the entry points of gpu.h without a GPU: the CPU's passes, which are of the same text,
 * as work of the fake runtime. Before a row is touched, everything that a real kernel would read or
 * write is proved to be there. */
#include <string.h>

#include "solvers/cg/cpu_passes.h"
#include "solvers/cg/gpu.h"
#include "tests/fake/inside.h"

/* ------------------------------------------------------------------ layout */

enum { SLICE = 32 };

static int64_t slices_of(const yk_csr *csr)
{
    return (csr->rows + SLICE - 1) / SLICE;
}

static int64_t row_length(const yk_csr *csr, int64_t i)
{
    return yk_row_start(csr, i + 1) - yk_row_start(csr, i);
}

/* Where entry k of row i lies in SELL. */
static int64_t place_in_sell(const yk_sell *sell, int64_t i, int64_t k)
{
    int64_t slice = i / SLICE;
    int64_t first = sell->width > 0 ? slice * SLICE * sell->width : sell->slice[slice];
    return first + SLICE * k + i % SLICE;
}

static int64_t widest_in_slice(const yk_csr *csr, int64_t slice)
{
    int64_t width = 0, end = (slice + 1) * SLICE < csr->rows ? (slice + 1) * SLICE : csr->rows;
    for (int64_t i = slice * SLICE; i < end; i++)
        if (row_length(csr, i) > width) width = row_length(csr, i);
    return width;
}

/* Entries of SELL, padding included. */
static int64_t sell_entries(const yk_csr *csr, const yk_sell *sell)
{
    int64_t slices = slices_of(csr);
    if (slices == 0) return 0;
    if (sell->width > 0) return slices * SLICE * sell->width;
    return sell->slice[slices - 1] + SLICE * widest_in_slice(csr, slices - 1);
}

static void reach_starts(const yk_csr *csr)
{
    if (csr->start64)
        fake_reach(csr->start64, (size_t)(csr->rows + 1) * sizeof(int64_t), "row starts");
    else
        fake_reach(csr->start32, (size_t)(csr->rows + 1) * sizeof(int32_t), "row starts");
}

static void reach_entries(const int32_t *column, const double *value, int64_t count)
{
    fake_reach(column, (size_t)count * sizeof *column, "columns");
    fake_reach(value, (size_t)count * sizeof *value, "values");
}

static void reach_sell(const yk_csr *csr, const yk_sell *sell)
{
    if (sell->width == 0)
        fake_reach(sell->slice, (size_t)slices_of(csr) * sizeof *sell->slice, "slices");
    reach_entries(sell->column, sell->value, sell_entries(csr, sell));
}

/* ----------------------------------------------------------------- product */

static void check_columns(const yk_csr *csr)
{
    for (int64_t k = 0; k < csr->nonzeros; k++)
        if (csr->column[k] < 0 || csr->column[k] >= csr->rows)
            fake_die("column %d of %lld", csr->column[k], (long long)csr->rows);
}

/* The rows as they lie in SELL, as a CSR of our own. */
static yk_csr unpacked(const yk_gpu_view *view)
{
    yk_csr csr = view->rows.csr;
    int64_t widest = view->format == YK_GPU_SELL8 ? YK_ROW_CHAIN : YK_ROW_SEGMENT;
    int32_t *column = malloc((size_t)csr.nonzeros * sizeof *column + 1);
    double *value = malloc((size_t)csr.nonzeros * sizeof *value + 1);
    if (!column || !value) fake_die("no memory");
    reach_sell(&csr, &view->sell);
    for (int64_t i = 0; i < csr.rows; i++) {
        if (row_length(&csr, i) > widest) fake_die("a row of SELL is too long");
        for (int64_t k = yk_row_start(&csr, i), j = 0; k < yk_row_start(&csr, i + 1); k++, j++) {
            int64_t at = place_in_sell(&view->sell, i, j);
            column[k] = view->sell.column[at];
            value[k] = view->sell.value[at];
        }
    }
    csr.column = column;
    csr.value = value;
    return csr;
}

static void free_unpacked(yk_csr *csr)
{
    free((void *)csr->column);
    free((void *)csr->value);
}

/* -------------------------------------------------------------------- sums */

/* All rows by the CPU's own pass, which is of the same text. */
static double all_rows(const yk_gpu_view *view, yk_cg_rows *c, int task, double *total)
{
    bool unpack = yk_task_multiplies(task) && view->format != YK_GPU_CSR;
    yk_tree tree;
    if (unpack) c->csr = unpacked(view);
    if (yk_task_multiplies(task)) check_columns(&c->csr);
    yk_tree_begin(&tree, 0, yk_task_dots(task));
    double largest = yk_cpu_passes_here()->pass[task](c, 0, c->csr.rows, &tree);
    if (unpack) free_unpacked(&c->csr);
    yk_tree_total(&tree, total);
    return largest;
}

/* As `step` in gpu_kernels.cu: what whoever completes a sum does in the loop. */
static void step(int task, yk_gpu_loop *loop, double *dot)
{
    if (yk_task_multiplies(task)) {
        yk_cg_after_multiply(&loop->s, dot[YK_DOT_PQ]);
        if (task == YK_TASK_FOLD) loop->folds++;
        loop->halt = loop->s.stop != YK_CG_GO_ON;
        return;
    }
    if (task == YK_TASK_UPDATE_NONE || task == YK_TASK_UPDATE_NONE_SHIFT)
        dot[YK_DOT_RZ] = dot[YK_DOT_RR];
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
        step(task, loop, total);
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
        c->x, c->r, c->z, c->p, c->p_old, c->q, c->b, c->best, c->inverse_diagonal};
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++)
        if (vector[i]) fake_reach(vector[i], (size_t)c->csr.rows * sizeof(double), "a vector");
}

/* Blocks meet by counters that are 0 between passes, and there are levels enough. */
static void reach_sums(const yk_gpu_sums *sums, int64_t rows)
{
    int level = 0;
    if ((int64_t)sums->count[0] * sums->chunks * YK_CHUNK < rows) fake_die("too few blocks");
    for (; sums->count[level] > 1; level++) {
        unsigned groups = (sums->count[level] + YK_SUM_GROUP - 1) / YK_SUM_GROUP;
        fake_reach(sums->node[level], sums->count[level] * YK_DOTS * sizeof(double), "sums");
        fake_reach(sums->arrived[level], groups * sizeof(unsigned), "counters of sums");
        for (unsigned g = 0; g < groups; g++)
            if (sums->arrived[level][g] != 0) fake_die("a counter of sums is not 0");
    }
    if (level >= YK_SUM_LEVELS) fake_die("sums need more levels");
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
    reach_sums(&view->sums, c.csr.rows);
    if (yk_task_multiplies(a->task)) {
        reach_starts(&c.csr);
        c.csr.nonzeros = yk_row_start(&c.csr, c.csr.rows);
        if (view->format == YK_GPU_CSR) reach_entries(c.csr.column, c.csr.value, c.csr.nonzeros);
    }
    double largest = all_rows(view, &c, a->task, total);
    deliver(view, a->task, a->loop, total, largest);
}

int yk_gpu_launch(const yk_gpu_view *view, int task, yk_gpu_loop *loop, void *stream)
{
    task_arguments arguments = {*view, task, loop};
    if (view->rows.csr.rows == 0) return cudaSuccess;
    return fake_launch(stream, run_task, &arguments, sizeof arguments);
}

int yk_gpu_load_kernels(void)
{
    return fake_leave(fake_enter(FAKE_cudaFuncGetAttributes));
}

/* -------------------------------------------------------------------- SELL */

typedef struct sell_arguments {
    yk_csr csr;
    yk_sell sell;
    int64_t *slice;
} sell_arguments;

static void run_widths(const void *arguments)
{
    const sell_arguments *a = arguments;
    reach_starts(&a->csr);
    fake_reach(a->slice, (size_t)slices_of(&a->csr) * sizeof *a->slice, "slices");
    for (int64_t s = 0; s < slices_of(&a->csr); s++) a->slice[s] = widest_in_slice(&a->csr, s);
}

static void run_fill(const void *arguments)
{
    const sell_arguments *a = arguments;
    const yk_csr *csr = &a->csr;
    reach_starts(csr);
    reach_entries(csr->column, csr->value, yk_row_start(csr, csr->rows));
    reach_sell(csr, &a->sell);
    for (int64_t i = 0; i < csr->rows; i++)
        for (int64_t k = 0; k < row_length(csr, i); k++) {
            int64_t at = place_in_sell(&a->sell, i, k), from = yk_row_start(csr, i) + k;
            ((int32_t *)a->sell.column)[at] = csr->column[from];
            ((double *)a->sell.value)[at] = csr->value[from];
        }
}

int yk_gpu_sell_widths(const yk_csr *csr, int64_t *slice, void *stream)
{
    sell_arguments arguments = {.csr = *csr, .slice = slice};
    return csr->rows > 0 ? fake_launch(stream, run_widths, &arguments, sizeof arguments)
                         : cudaSuccess;
}

int yk_gpu_sell_fill(const yk_csr *csr, const yk_sell *sell, void *stream)
{
    sell_arguments arguments = {.csr = *csr, .sell = *sell};
    return csr->rows > 0 ? fake_launch(stream, run_fill, &arguments, sizeof arguments)
                         : cudaSuccess;
}
