/* SPDX-License-Identifier: BSD-3-Clause */
/* claims.c: what the programs over ranks share. */
#include "tests/mpi/claims.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yoke_io.h>

int my_rank, all_ranks;
static int failures;

static void must(yoke_status status)
{
    if (status == YOKE_OK) return;
    fprintf(stderr, "rank %d: %s\n", my_rank, yoke_error_text());
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static void *take(int64_t count, size_t size)
{
    void *memory = calloc((size_t)count + 1, size);
    if (!memory) MPI_Abort(MPI_COMM_WORLD, 2);
    return memory;
}

void claims_begin(int *argc, char ***argv)
{
    int level = 0;
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &all_ranks);
}

int claims_end(void)
{
    if (my_rank == 0) printf("%d ranks: %d claims failed\n", all_ranks, failures);
    MPI_Finalize();
    return failures ? 1 : 0;
}

bool on_all(bool holds)
{
    int all = holds;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

void claim(const char *what, bool holds)
{
    bool all = on_all(holds);
    failures += !all;
    if (!holds) printf("rank %d does not hold: %s\n", my_rank, what);
    if (my_rank == 0) printf("%s %s\n", all ? "ok    " : "FAILED", what);
    fflush(stdout);
}

bool is_alike(const void *data, size_t bytes)
{
    void *first = take((int64_t)bytes, 1);
    memcpy(first, data, bytes);
    MPI_Bcast(first, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    bool alike = memcmp(first, data, bytes) == 0;
    free(first);
    return on_all(alike);
}

/* ------------------------------------------------------------------- whole */

static void view(whole *w)
{
    w->csr = yoke_csr_defaults();
    must(yoke_matrix_view(w->matrix, &w->csr));
    w->rows = w->csr.rows;
    w->b = take(w->rows, sizeof *w->b);
    w->x = take(w->rows, sizeof *w->x);
    for (int64_t i = 0; i < w->rows; i++) w->b[i] = 1.0 + 1e-3 * (double)(i * 7919 % 101);
}

whole whole_of(const char *spec)
{
    whole w = {0};
    must(yoke_context_create(NULL, &w.context));
    must(yoke_matrix_generate(w.context, spec, &w.matrix));
    view(&w);
    return w;
}

whole whole_of_arrays(int n, const int32_t *start, const int32_t *column, const double *value)
{
    whole w = {0};
    yoke_csr csr = yoke_csr_defaults();
    csr.rows = n;
    csr.row_start = start;
    csr.column = column;
    csr.value = value;
    csr.unsymmetric = YOKE_TRUST;
    must(yoke_context_create(NULL, &w.context));
    must(yoke_matrix_create(w.context, &csr, &w.matrix));
    view(&w);
    return w;
}

void whole_solve(whole *w, const yoke_plan_options *options, const yoke_solve_options *solve)
{
    yoke_plan *plan = NULL;
    must(yoke_plan_create(w->matrix, options, &plan));
    memset(w->x, 0, (size_t)w->rows * sizeof *w->x);
    must(yoke_solve(plan, w->b, w->x, solve));
    w->report = *yoke_plan_report(plan);
    yoke_plan_destroy(plan);
}

void whole_free(whole *w)
{
    yoke_matrix_destroy(w->matrix);
    yoke_context_destroy(w->context);
    free(w->b);
    free(w->x);
}

/* ------------------------------------------------------------------- piece */

void cut_rows(int64_t rows, int cut, int64_t *first, int64_t *count)
{
    int64_t grain = cut == 0 ? 256 : 1, grains = (rows + grain - 1) / grain;
    int64_t begin = grains * my_rank / all_ranks * grain;
    int64_t end = grains * (my_rank + 1) / all_ranks * grain;
    if (cut == 2) {
        begin = my_rank == all_ranks - 1 ? 0 : 0;
        end = my_rank == all_ranks - 1 ? rows : 0;
    }
    if (end > rows) end = rows;
    if (begin > rows) begin = rows;
    *first = begin;
    *count = end - begin;
}

static int64_t start_at(const yoke_csr *csr, int64_t i)
{
    return csr->row_start_type == YOKE_INT64 ? ((const int64_t *)csr->row_start)[i]
                                             : ((const int32_t *)csr->row_start)[i];
}

static void slice(piece *p, const whole *w)
{
    int64_t base = start_at(&w->csr, p->first), end = start_at(&w->csr, p->first + p->count);
    p->start = take(p->count + 1, sizeof *p->start);
    p->column = take(end - base, sizeof *p->column);
    p->value = take(end - base, sizeof *p->value);
    p->b = take(p->count, sizeof *p->b);
    p->x = take(p->count, sizeof *p->x);
    for (int64_t i = 0; i <= p->count; i++) p->start[i] = start_at(&w->csr, p->first + i) - base;
    for (int64_t k = base; k < end; k++) {
        p->column[k - base] = ((const int32_t *)w->csr.column)[k];
        p->value[k - base] = w->csr.value[k];
    }
    for (int64_t i = 0; i < p->count; i++) p->b[i] = w->b[p->first + i];
}

piece piece_of(const whole *w, int cut, const yoke_context_options *context)
{
    piece p = {0};
    must(yoke_mpi_context_create(MPI_COMM_WORLD, context, NULL, &p.context));
    cut_rows(w->rows, cut, &p.first, &p.count);
    slice(&p, w);
    return p;
}

void piece_make(piece *p, const yoke_plan_options *plan)
{
    yoke_csr csr = yoke_csr_defaults();
    csr.rows = p->count;
    csr.row_start = p->start;
    csr.column = p->column;
    csr.value = p->value;
    csr.row_start_type = csr.column_type = YOKE_INT64;
    p->status = yoke_matrix_create(p->context, &csr, &p->matrix);
    if (p->status == YOKE_OK) p->status = yoke_plan_create(p->matrix, plan, &p->plan);
}

void piece_solve(piece *p, const yoke_solve_options *options)
{
    if (p->status != YOKE_OK) return;
    p->status = yoke_solve(p->plan, p->b, p->x, options);
    if (p->status == YOKE_OK) p->report = *yoke_plan_report(p->plan);
}

void piece_free(piece *p)
{
    yoke_plan_destroy(p->plan);
    yoke_matrix_destroy(p->matrix);
    yoke_context_destroy(p->context);
    free(p->start);
    free(p->column);
    free(p->value);
    free(p->b);
    free(p->x);
}

bool same_bits(const piece *p, const whole *w)
{
    return p->status == YOKE_OK &&
           memcmp(p->x, w->x + p->first, (size_t)p->count * sizeof *p->x) == 0 &&
           p->report.iterations == w->report.iterations && p->report.outcome == w->report.outcome &&
           p->report.residual_true == w->report.residual_true;
}
