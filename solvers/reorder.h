/* SPDX-License-Identifier: BSD-3-Clause */
/* reorder.h: a plan whose rows are in an order of its own, which its caller never sees. */
#ifndef YK_REORDER_H
#define YK_REORDER_H

#include "solvers/plan.h"

/* Row k of the plan is row order[k] of the caller's; position[order[k]] == k. */
typedef struct yk_reordering {
    yoke_matrix *given;  /* the caller's, whose reference is the plan's */
    yoke_matrix *matrix; /* the same in the plan's order; ours */
    int64_t rows;
    int threads;
    int64_t halo_before; /* columns that would travel in the caller's order */
    int32_t *order, *position;
    double *b, *x;    /* [rows], in the plan's order */
    double *transfer; /* [rows], where a vector may be a device's; else NULL */
} yk_reordering;

/* The caller's matrix, and his number of a row of the plan. */
static inline yoke_matrix *yk_plan_given(const yoke_plan *plan)
{
    return plan->reordering ? plan->reordering->given : plan->matrix;
}

static inline int64_t yk_plan_given_row(const yoke_plan *plan, int64_t row)
{
    return plan->reordering ? plan->reordering->order[row] : row;
}

/* By what was asked and by the halos of the plan's parts as they are. */
bool yk_reorder_is_wanted(const yoke_plan *plan);

/* Columns that travel between the parts. */
int64_t yk_reorder_halo(const yoke_plan *plan);

/* From now on plan->matrix is in an order of the plan's own; what was analysed is of the old one.
 */
yoke_status yk_reorder_begin(yoke_plan *plan);

/* Back to the caller's. */
void yk_reorder_undo(yoke_plan *plan);

/* Bytes that it takes on the host. */
size_t yk_reorder_bytes(const yoke_plan *plan);

/* The caller's new values into plan->matrix; nothing where that is the caller's. */
void yk_reorder_refresh(yoke_plan *plan);

/* As yk_cg_solve, of the caller's vectors, wherever they are. */
yoke_status yk_reorder_solve(yoke_plan *plan, const double *b, double *x,
                             const yoke_solve_options *options, yoke_report *report);

#endif
