/* SPDX-License-Identifier: BSD-3-Clause */
/* reorder.c: the plan multiplies P A P^T; b, x0 and x are permuted on their way in and out. */
#include "solvers/reorder.h"

#include <stdlib.h>
#include <string.h>

#include "lib/context.h"
#include "lib/cuthill_mckee.h"
#include "lib/permuted.h"
#include "lib/status.h"
#include "lib/threads.h"

/* Auto looks for an order where the halos are this share of the rows: DECISIONS.md says why. */
#define WORTH_TRYING 0.125

/* Rows that are worth another thread. */
enum { GRAIN = 16384 };

int64_t yk_reorder_halo(const yoke_plan *plan)
{
    int64_t columns = 0;
    for (int i = 0; i < plan->cg.parts; i++) columns += plan->cg.part[i].halo;
    return columns;
}

bool yk_reorder_is_wanted(const yoke_plan *plan)
{
    if (plan->reordering || plan->choice.reorder == YK_REORDER_NEVER) return false;
    if (plan->choice.reorder == YK_REORDER_ASKED) return true;
    return (double)yk_reorder_halo(plan) > WORTH_TRYING * (double)plan->cg.rows;
}

/* ------------------------------------------------------------------ making */

static void destroy(yoke_context *context, yk_reordering *o)
{
    if (!o) return;
    yk_free(context, o->order, o->rows, sizeof *o->order);
    yk_free(context, o->position, o->rows, sizeof *o->position);
    yk_free(context, o->b, o->rows, sizeof *o->b);
    yk_free(context, o->x, o->rows, sizeof *o->x);
    yk_free(context, o->transfer, o->rows, sizeof *o->transfer);
    yoke_matrix_destroy(o->matrix);
    free(o);
}

static yoke_status fill(yoke_context *context, yk_reordering *o)
{
    const yk_csr *csr = &o->given->csr;
    yk_csr permuted;
    YK_TRY(yk_alloc(context, "order of the rows", o->rows, sizeof *o->order, &o->order));
    YK_TRY(yk_alloc(context, "places of the rows", o->rows, sizeof *o->position, &o->position));
    YK_TRY(yk_cuthill_mckee(context, csr, o->order));
    yk_permutation_invert(o->order, o->rows, o->threads, o->position);
    YK_TRY(yk_permuted_create(context, csr, o->order, o->position, o->threads, &permuted));
    YK_TRY(yk_matrix_adopt(context, &permuted, &o->matrix));
    atomic_store(&o->matrix->version, atomic_load(&o->given->version));
    YK_TRY(yk_alloc(context, "b in the plan's order", o->rows, sizeof *o->b, &o->b));
    YK_TRY(yk_alloc(context, "x in the plan's order", o->rows, sizeof *o->x, &o->x));
    if (yk_place_knows_devices())
        YK_TRY(yk_alloc(context, "vector of a device", o->rows, sizeof *o->transfer, &o->transfer));
    return YOKE_OK;
}

yoke_status yk_reorder_begin(yoke_plan *plan)
{
    yoke_context *context = plan->cg.context;
    yk_reordering *o = calloc(1, sizeof *o);
    if (!o) return yk_fail(YOKE_NO_MEMORY, "no memory for a reordering");
    o->given = plan->matrix;
    o->rows = plan->matrix->csr.rows;
    o->threads = plan->choice.threads;
    yoke_status status = fill(context, o);
    if (status != YOKE_OK) {
        destroy(context, o);
        return status;
    }
    plan->reordering = o;
    plan->matrix = o->matrix;
    return YOKE_OK;
}

void yk_reorder_undo(yoke_plan *plan)
{
    yoke_matrix *given = yk_plan_given(plan);
    destroy(plan->cg.context, plan->reordering);
    plan->reordering = NULL;
    plan->matrix = given;
}

size_t yk_reorder_bytes(const yoke_plan *plan)
{
    const yk_reordering *o = plan->reordering;
    if (!o) return 0;
    const yk_csr *csr = &o->matrix->csr;
    size_t rows = (size_t)o->rows, start = csr->start32 ? sizeof(int32_t) : sizeof(int64_t);
    return sizeof *o + (rows + 1) * start + 12 * (size_t)csr->nonzeros +
           rows * (sizeof *o->order + sizeof *o->position) +
           rows * sizeof(double) * (o->transfer ? 3 : 2);
}

void yk_reorder_refresh(yoke_plan *plan)
{
    yk_reordering *o = plan->reordering;
    if (!o) return;
    yk_permuted_values(&o->given->csr, o->order, o->position, o->threads, &o->matrix->csr);
    atomic_store(&o->matrix->version, atomic_load(&o->given->version));
}

/* -------------------------------------------------------------- in and out */

typedef struct move {
    const int32_t *order;
    const double *from;
    double *to;
} move;

static void gather(void *user, int64_t first, int64_t last)
{
    const move *m = user;
    for (int64_t k = first; k < last; k++) m->to[k] = m->from[m->order[k]];
}

static void scatter(void *user, int64_t first, int64_t last)
{
    const move *m = user;
    for (int64_t k = first; k < last; k++) m->to[m->order[k]] = m->from[k];
}

static yoke_status bring_in(const yk_reordering *o, const yk_place *at, const double *from,
                            double *to)
{
    move m = {o->order, from, to};
    if (at->foreign) {
        YK_TRY(yk_place_copy(at, o->transfer, from, (size_t)o->rows * sizeof *from));
        m.from = o->transfer;
    }
    yk_parallel_for(o->threads, o->rows, GRAIN, gather, &m);
    return YOKE_OK;
}

static yoke_status bring_out(const yk_reordering *o, const yk_place *at, double *to)
{
    move m = {o->order, o->x, at->foreign ? o->transfer : to};
    yk_parallel_for(o->threads, o->rows, GRAIN, scatter, &m);
    return at->foreign ? yk_place_copy(at, to, o->transfer, (size_t)o->rows * sizeof *to) : YOKE_OK;
}

/* Between the two moves the vectors are the host's. */
static yoke_status solve(yoke_plan *plan, const yk_place *at, const double *b, double *x,
                         const yoke_solve_options *options, yoke_report *report)
{
    const yk_reordering *o = plan->reordering;
    double began = yoke_seconds();
    YK_TRY(plan->cg.status = bring_in(o, &at[0], b, o->b));
    if (options->initial_guess) YK_TRY(plan->cg.status = bring_in(o, &at[1], x, o->x));
    report->transfer_seconds += yoke_seconds() - began;
    YK_TRY(yk_cg_solve(&plan->cg, o->b, o->x, options, report));
    began = yoke_seconds();
    YK_TRY(plan->cg.status = bring_out(o, &at[1], x));
    report->transfer_seconds += yoke_seconds() - began;
    return YOKE_OK;
}

yoke_status yk_reorder_solve(yoke_plan *plan, const double *b, double *x,
                             const yoke_solve_options *options, yoke_report *report)
{
    yk_cg *cg = &plan->cg;
    const yk_place at[2] = {cg->b_at, cg->x_at};
    if (!plan->reordering) return yk_cg_solve(cg, b, x, options, report);
    cg->b_at = cg->x_at = (yk_place){.foreign = false};
    yoke_status status = solve(plan, at, b, x, options, report);
    cg->b_at = at[0];
    cg->x_at = at[1];
    return status;
}
