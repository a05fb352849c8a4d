/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.c: plans over ranks, beside what any plan is. */
#include "solvers/ranks.h"

#include <stdio.h>
#include <string.h>

#include "lib/status.h"
#include "solvers/planner.h"

/* ------------------------------------------------------------------ choice */

static yoke_status refuse(const char *what, const char *name, const char *instead)
{
    return yk_fail(YOKE_UNSUITABLE, "%s %s does not go over ranks in this version; use %s", what,
                   name, instead);
}

yoke_status yk_ranks_choose(const yoke_matrix *matrix, yoke_plan_options *options)
{
    if (!matrix->spread) return YOKE_OK;
    if (yk_is_auto(options->partition)) options->partition = "cpu";
    if (strcmp(options->partition, "cpu") != 0)
        return refuse("partition", options->partition, "cpu");
    if (options->parts > 1)
        return yk_fail(YOKE_UNSUITABLE,
                       "a rank is one part in this version, %d were asked for: start a rank for "
                       "each NUMA node",
                       options->parts);
    if (options->apply_preconditioner)
        return refuse("preconditioner", "of the caller's", "none or jacobi");
    if (!yk_is_auto(options->reorder) && strcmp(options->reorder, "none") != 0)
        return refuse("reorder", options->reorder, "none");
    options->parts = 1;
    return YOKE_OK;
}

double yk_ranks_mark_plan(const yk_choice *choice)
{
    const char *const name[] = {choice->solver, choice->preconditioner, choice->effort,
                                choice->driver ? choice->driver->name : ""};
    const bool flag[] = {choice->folded, choice->measure_shape, choice->nullspace};
    double mark = yk_ranks_mark(flag, sizeof flag, 0.0);
    for (int i = 0; i < 4; i++)
        if (name[i]) mark = yk_ranks_mark(name[i], strlen(name[i]) + 1, mark);
    return mark;
}

double yk_ranks_mark_solve(const yoke_solve_options *o, int n)
{
    const double number[] = {o->rtol,
                             o->atol,
                             o->base,
                             o->initial_guess != 0,
                             (double)o->maxit,
                             o->fixed_iterations != 0,
                             o->max_seconds,
                             (double)o->check_every,
                             o->diverged_factor,
                             o->monitor != NULL,
                             n};
    return yk_ranks_mark(number, sizeof number, 0.0);
}

/* ---------------------------------------------------------------- analysis */

static yoke_status copy_lane(yk_cg *cg, const yk_lane *lane, int number, yk_send *send)
{
    int32_t *row;
    YK_TRY(yk_alloc(cg->context, "rows to send", lane->count, sizeof *row, &row));
    memcpy(row, lane->row, (size_t)lane->count * sizeof *row);
    *send = (yk_send){.to = number, .count = lane->count, .at = lane->at, .row = row};
    return YOKE_OK;
}

yoke_status yk_ranks_analyse(yoke_plan *plan)
{
    yk_cg *cg = &plan->cg;
    const yk_spread *spread = plan->matrix->spread;
    yk_part *part = &cg->part[0];
    part->halo = spread->halo;
    YK_TRY(yk_alloc(cg->context, "send lists",
                    cg->parts > spread->sends ? cg->parts : spread->sends, sizeof(yk_send),
                    &part->send));
    for (int l = 0; l < spread->sends; l++) {
        YK_TRY(copy_lane(cg, &spread->send[l], l, &part->send[l]));
        part->sends++;
    }
    return YOKE_OK;
}

/* ----------------------------------------------------------------- sharing */

typedef struct known {
    int64_t bad_row;
    double bad_diagonal, bytes, due;
    int64_t sent;
} known;

static double due_of(const known *one, int ranks)
{
    return one->due > 0.0 ? one->due : 1.0 / ranks;
}

/* "; contiguous shares would send 5678", of rows that METIS dealt out. */
static void tell_contiguous(const yk_spread *spread, char *text, size_t size)
{
    *text = '\0';
    if (spread->contiguous_sent > 0)
        snprintf(text, size, " (contiguous shares would send %lld)",
                 (long long)spread->contiguous_sent);
}

/* "; by the profiles of their machines ranks are due 10.0 to 30.0 % of the rows" */
static void tell_dues(const known *all, int ranks, char *text, size_t size)
{
    double least = all[0].due, most = all[0].due;
    *text = '\0';
    for (int r = 1; r < ranks; r++) {
        if (all[r].due < least) least = all[r].due;
        if (all[r].due > most) most = all[r].due;
    }
    if (most > 0.0)
        snprintf(text, size, "; by the profiles of their machines ranks are due %.1f to %.1f %%",
                 100.0 * least, 100.0 * most);
}

/* What travels, and whether the shares are alike: once a plan. */
static void note_shares(yoke_plan *plan, const known *all, int ranks)
{
    int64_t sent = 0;
    double most = 0.0;
    char contiguous[80], dues[120];
    if (plan->ranks_told || ranks == 1) return;
    plan->ranks_told = true;
    for (int r = 0; r < ranks; r++) {
        sent += all[r].sent;
        double of_due = all[r].bytes / due_of(&all[r], ranks);
        if (of_due > most) most = of_due;
    }
    tell_contiguous(plan->matrix->spread, contiguous, sizeof contiguous);
    tell_dues(all, ranks, dues, sizeof dues);
    yk_plan_note(plan,
                 "%d ranks send each other %lld numbers an iteration%s; the largest share is %.3f "
                 "times %s%s",
                 ranks, (long long)sent, contiguous,
                 plan->all_bytes > 0.0 ? most / plan->all_bytes : 1.0,
                 *dues ? "its due" : "the mean", dues);
}

int64_t yk_ranks_row(const yoke_matrix *matrix, int64_t row)
{
    return matrix->spread && row >= 0 ? matrix->spread->row_of[row] : row;
}

yoke_status yk_ranks_share(yoke_plan *plan, double bytes)
{
    const yoke_context *context = plan->cg.context;
    int ranks = context->comm->ranks;
    const yk_spread *spread = plan->matrix->spread;
    known mine = {-1, plan->bad_diagonal, bytes, spread->due, spread->sent}, all[(size_t)ranks];
    if (plan->bad_diagonal_row >= 0)
        mine.bad_row = yk_ranks_row(plan->matrix, plan->bad_diagonal_row);
    YK_TRY(yk_ranks_gather(context, &mine, sizeof mine, all));
    plan->all_bytes = 0.0;
    plan->bad_diagonal_row = -1;
    for (int r = ranks - 1; r >= 0; r--) {
        plan->all_bytes += all[r].bytes;
        if (all[r].bad_row < 0) continue;
        plan->bad_diagonal_row = all[r].bad_row;
        plan->bad_diagonal = all[r].bad_diagonal;
    }
    plan->ranks_know = true;
    note_shares(plan, all, ranks);
    return YOKE_OK;
}

void yk_ranks_tell(const yoke_context *context, int level, int64_t *row, char *text, size_t size)
{
    if (!yk_over_ranks(context)) return;
    int ranks = context->comm->ranks, first = 0, levels[(size_t)ranks];
    if (yk_ranks_gather(context, &level, sizeof level, levels) != YOKE_OK) return;
    for (int r = ranks - 1; r >= 0; r--)
        if (levels[r] <= levels[first]) first = r;
    (void)yk_ranks_broadcast(context, first, text, size);
    (void)yk_ranks_broadcast(context, first, row, sizeof *row);
}
