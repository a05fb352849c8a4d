/* SPDX-License-Identifier: BSD-3-Clause */
/* cg.c: conjugate gradients on top of a driver: start, advance, check the true residual, conclude.
 * The driver iterates; everything here happens between two of its advances. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/context.h"
#include "lib/ranks.h"
#include "lib/status.h"
#include "lib/threads.h"
#include "solvers/cg/cg.h"
#include "solvers/cg/cuts.h"
#include "solvers/cg/ranks.h"
#include "solvers/cg/setup.h"

typedef struct run {
    yk_cg *cg;
    const yoke_solve_options *options;
    yoke_report *report;
    double began;
    double true_norm;    /* at the last check or replacement; scaled, as all norms here */
    double checked_norm; /* at the last check */
    double best_norm;    /* of the snapshot; infinite: none */
    int not_halved;      /* checks in a row that did not halve the true residual */
    double renewed_norm; /* the last that was half of the one before, at a renewal */
    int fruitless;       /* renewals since */
    int64_t steps;       /* of the next advance */
    double elapsed;      /* since it began, where seconds are limited */
    bool ended;
} run;

static double unscaled(const run *r, double norm)
{
    return ldexp(norm, r->cg->exponent);
}

static void end(run *r, yoke_outcome outcome)
{
    r->report->outcome = outcome;
    r->ended = true;
}

/* ----------------------------------------------------------- true residual */

/* x += alpha p, the step that x lacks. */
static void flush(run *r)
{
    if (r->cg->recurrence != YK_CLASSICAL) return; /* x does not lag */
    yk_cg_run(r->cg, YK_TASK_FLUSH, 0.0, NULL);
    r->cg->s.alpha = 0.0;
}

/* r = b - A x, z, their sums; x is complete. */
static bool evaluate(run *r, double *dot)
{
    double before = yoke_seconds();
    bool evaluated = yk_cg_residual(r->cg, dot);
    r->report->check_seconds += yoke_seconds() - before;
    return evaluated;
}

static void keep_snapshot(run *r)
{
    if (!(r->true_norm < r->best_norm)) return;
    yk_cg_run(r->cg, YK_TASK_SAVE_X, 0.0, NULL);
    r->best_norm = r->true_norm;
}

/* Replaces r by the true residual and keeps the direction p (van der Vorst and Ye, SIAM J. Sci.
 * Comput. 22, 2000), unless the two residuals have parted so far that p is of another system. */
static bool replace(run *r)
{
    yk_cg_scalars *s = &r->cg->s;
    double dot[YK_DOTS], recursive = s->rr, rz = s->rz;
    flush(r);
    if (!evaluate(r, dot)) return false;
    r->true_norm = sqrt(dot[YK_DOT_RR]);
    s->beta =
        dot[YK_DOT_RR] <= 4.0 * recursive && rz != 0.0 ? s->beta * (dot[YK_DOT_RZ] / rz) : 0.0;
    s->rr = dot[YK_DOT_RR];
    s->rz = dot[YK_DOT_RZ];
    s->shift = dot[YK_DOT_Z] * r->cg->limits.rows_inverse;
    s->stop = YK_CG_GO_ON;
    r->report->replacements++;
    return true;
}

/* So many true residuals in a row that are no half of the one before, where the recursive one fell.
 * At the floor of round-off they scatter; the best is returned, and a recurrence whose steps are
 * coarser there looks twice as often for one as good as classical CG's. */
static bool stagnates(run *r)
{
    int most = r->cg->planned == YK_CLASSICAL ? 2 : 4;
    r->not_halved = r->true_norm <= 0.5 * r->checked_norm ? 0 : r->not_halved + 1;
    r->checked_norm = r->true_norm;
    return r->not_halved >= most;
}

/* Whether so many renewals have not halved the true residual: round-off takes more than the saved
 * meetings are worth. */
static bool is_fruitless(run *r)
{
    enum { MANY = 10 };
    bool halved = r->true_norm <= 0.5 * r->renewed_norm;
    if (halved) r->renewed_norm = r->true_norm;
    r->fruitless = halved ? 0 : r->fruitless + 1;
    return r->fruitless >= MANY;
}

/* Goes on by classical CG, which keeps nothing but r, from where it is. */
static void become_classical(run *r)
{
    yk_cg *cg = r->cg;
    yk_log(cg->context, YOKE_LOG_NOTICE,
           "iteration %lld: round-off overwhelms the recurrence; classical CG goes on",
           (long long)cg->s.iteration);
    cg->recurrence = YK_CLASSICAL;
    cg->s.alpha = cg->s.beta = 0.0;
}

/* A recurrence with one sum: all that it keeps is made anew from x and p. Where the residuals had
 * parted by then as far as at a candidate that fails, it counts as one. */
static void renew(run *r)
{
    double began = yoke_seconds(), checked = r->report->check_seconds;
    double recursive = sqrt(r->cg->s.rr);
    if (!replace(r)) return;
    if (r->true_norm > 2.0 * recursive && stagnates(r) && r->cg->limits.bound > 0.0) {
        end(r, YOKE_STAGNATED);
        return;
    }
    if (r->cg->limits.bound > 0.0) keep_snapshot(r);
    if (is_fruitless(r)) become_classical(r);
    yk_cg_renew(r->cg);
    r->report->check_seconds = checked;
    r->report->solve_seconds += yoke_seconds() - began;
}

/* The recursive residual passed: only the true one decides. */
static void check_candidate(run *r)
{
    yk_cg_limits *limits = &r->cg->limits;
    r->report->residual_recursive = unscaled(r, sqrt(r->cg->s.rr));
    if (!replace(r)) {
        end(r, YOKE_CALLBACK_FAILED);
        return;
    }
    bool stuck = stagnates(r);
    if (r->true_norm <= limits->bound) {
        end(r, YOKE_CONVERGED);
    } else if (limits->bound == 0.0) {
        limits->bound = -1.0; /* zero tolerances: no further check before the limit */
    } else if (stuck) {
        end(r, YOKE_STAGNATED);
    }
    if (r->ended) return;
    keep_snapshot(r);
    yk_cg_renew(r->cg);
}

/* ------------------------------------------------------------------- start */

static void set_limits(run *r, double b_norm, double r_norm)
{
    const yoke_solve_options *options = r->options;
    yk_cg *cg = r->cg;
    double factor = options->diverged_factor > 0.0 ? options->diverged_factor : 1e8;
    double base = options->base == YOKE_BASE_R0 ? r_norm : b_norm;
    double atol = ldexp(options->atol, -cg->exponent);
    double bound = options->rtol * base > atol ? options->rtol * base : atol;
    cg->limits = (yk_cg_limits){
        .bound = options->fixed_iterations ? -1.0 : bound,
        .diverged = options->fixed_iterations ? INFINITY : factor * fmax(r_norm, b_norm),
        .check_every = options->check_every > 0 ? options->check_every : 1,
        .rows_inverse = cg->nullspace ? 1.0 / (double)cg->all_rows : 0.0,
        .flexible = cg->preconditioner && !(cg->preconditioner->flags & YOKE_APPLY_FIXED_SPD),
    };
    r->report->base_norm = unscaled(r, base);
    r->report->bound = unscaled(r, bound);
    r->report->residual_initial = unscaled(r, r_norm);
}

static bool keep_going(run *r)
{
    const yoke_solve_options *options = r->options;
    const yk_cg_scalars *s = &r->cg->s;
    if (!options->monitor) return true;
    bool stop = options->monitor(options->monitor_user, s->iteration, unscaled(r, sqrt(s->rr)));
    return yk_ranks_most(r->cg->context, stop) == 0.0;
}

static void start(run *r)
{
    yk_cg *cg = r->cg;
    double dot[YK_DOTS];
    cg->s = (yk_cg_scalars){0};
    if (cg->failed_callback || !evaluate(r, dot)) {
        end(r, YOKE_CALLBACK_FAILED);
        return;
    }
    cg->s.rr = dot[YK_DOT_RR];
    cg->s.rz = dot[YK_DOT_RZ];
    double r_norm = sqrt(dot[YK_DOT_RR]);
    r->true_norm = r->checked_norm = r->renewed_norm = r_norm;
    set_limits(r, sqrt(dot[YK_DOT_BB]), r_norm);
    cg->s.shift = dot[YK_DOT_Z] * cg->limits.rows_inverse;
    if (cg->history_capacity > 0) cg->history[0] = r->report->residual_initial;
    r->report->residual_recursive = r->report->residual_initial;
    if (!isfinite(dot[YK_DOT_RR]) || !isfinite(dot[YK_DOT_RZ]))
        end(r, YOKE_NOT_FINITE);
    else if (!keep_going(r))
        end(r, YOKE_STOPPED);
    else if (r_norm <= cg->limits.bound)
        end(r, YOKE_CONVERGED);
    else if (dot[YK_DOT_RZ] <= 0.0 && dot[YK_DOT_RR] > YK_CG_NOTHING_LEFT)
        end(r, YOKE_PRECONDITIONER_INDEFINITE);
    if (r->ended) return;
    yk_cg_begin_recurrence(cg);
    yk_cg_renew(cg);
}

/* ----------------------------------------------------------------- iterate */

/* How far to go before the host looks again: a monitor looks after each iteration, a clock about
 * fifty times a second. */
static int64_t next_steps(run *r, double took, int64_t done)
{
    int64_t left = r->report->maxit - r->cg->s.iteration;
    if (r->options->monitor) return 1;
    if (r->options->max_seconds <= 0.0) return left;
    int64_t steps = done > 0 && took > 0.0 ? (int64_t)fmin(0.02 * (double)done / took, 1e9) : 1;
    if (steps > 2 * done + 1) steps = 2 * done + 1;
    return steps < 1 ? 1 : steps < left ? steps : left;
}

static void look(run *r)
{
    if (!keep_going(r))
        end(r, YOKE_STOPPED);
    else if (r->cg->s.stop == YK_CG_CANDIDATE)
        check_candidate(r);
    else if (r->cg->s.stop == YK_CG_RENEW)
        renew(r);
    else if (r->options->max_seconds > 0.0 && r->elapsed > r->options->max_seconds)
        end(r, YOKE_TIME_LIMIT);
    if (!r->ended && r->cg->s.iteration >= r->report->maxit) end(r, YOKE_ITERATION_LIMIT);
}

/* Whether it was found in the product of an iteration that is not counted yet. */
static bool in_multiplication(const yk_cg_scalars *s)
{
    return s->stop == YK_CG_NEGATIVE || s->stop == YK_CG_ZERO ||
           (s->stop == YK_CG_NOT_FINITE && !isfinite(s->pq));
}

/* Ends on what the recurrence found; the failing iteration is counted, its step is not taken. */
static void end_on_stop(run *r)
{
    static const yoke_outcome outcome[] = {
        [YK_CG_DIVERGED] = YOKE_DIVERGED,
        [YK_CG_NEGATIVE] = YOKE_INDEFINITE,
        [YK_CG_ZERO] = YOKE_BREAKDOWN,
        [YK_CG_NOT_FINITE] = YOKE_NOT_FINITE,
        [YK_CG_PRECONDITIONER] = YOKE_PRECONDITIONER_INDEFINITE,
        [YK_CG_CALLBACK] = YOKE_CALLBACK_FAILED,
    };
    yk_cg_scalars *s = &r->cg->s;
    if (s->stop == YK_CG_NEGATIVE || s->stop == YK_CG_ZERO) r->report->curvature = s->pq;
    if (s->stop == YK_CG_NOT_FINITE) s->alpha = 0.0;
    end(r, outcome[s->stop]);
    r->report->iterations = s->iteration + (in_multiplication(s) ? 1 : 0);
}

/* What a recurrence with one sum finds of the next iteration together with the end of the last. */
static void look_ahead(run *r)
{
    if (!keep_going(r))
        end(r, YOKE_STOPPED);
    else if (r->cg->s.iteration >= r->report->maxit)
        end(r, YOKE_ITERATION_LIMIT);
    else
        end_on_stop(r);
}

static bool goes_on(int stop)
{
    return stop == YK_CG_GO_ON || stop == YK_CG_CANDIDATE || stop == YK_CG_RENEW;
}

/* Over ranks the others are told in the next advance. */
static yoke_status own_status(const yk_cg *cg)
{
    return cg->ranks ? YOKE_OK : cg->status;
}

static yoke_status advance(run *r)
{
    yk_cg *cg = r->cg;
    int64_t before = cg->s.iteration;
    double since = yoke_seconds();
    cg->driver->advance(cg, r->steps);
    YK_TRY(yk_cg_ranks_agree(cg));
    double took = yoke_seconds() - since;
    r->report->solve_seconds += took;
    r->report->iterations = cg->s.iteration;
    if (r->options->max_seconds > 0.0) {
        took = yk_ranks_most(cg->context, took);
        r->elapsed = yk_ranks_most(cg->context, yoke_seconds() - r->began);
    }
    if (isfinite(cg->s.rr)) r->report->residual_recursive = unscaled(r, sqrt(cg->s.rr));
    if (goes_on(cg->s.stop))
        look(r);
    else if (cg->recurrence != YK_CLASSICAL && in_multiplication(&cg->s) &&
             cg->s.iteration > before)
        look_ahead(r);
    else
        end_on_stop(r);
    if (r->ended) return YOKE_OK;
    r->steps = next_steps(r, took, cg->s.iteration - before);
    if (cg->cuts) r->steps = yk_cuts_adapt(cg, r->steps);
    return own_status(cg);
}

/* ---------------------------------------------------------------- conclude */

/* Whatever the outcome, the residual that is reported is that of the x returned. */
static void conclude(run *r)
{
    yk_cg *cg = r->cg;
    yoke_report *report = r->report;
    double dot[YK_DOTS];
    bool known = report->outcome == YOKE_CONVERGED; /* its check was the last thing done */
    if (!known) {
        flush(r);
        known = yk_cg_operator_works(cg) && evaluate(r, dot);
        r->true_norm = known ? sqrt(dot[YK_DOT_RR]) : NAN;
    }
    bool met = r->true_norm <= cg->limits.bound;
    if (met && (report->outcome == YOKE_ITERATION_LIMIT || report->outcome == YOKE_TIME_LIMIT))
        report->outcome = YOKE_CONVERGED;
    if (r->best_norm < INFINITY && !(r->true_norm <= r->best_norm)) {
        yk_cg_run(cg, YK_TASK_RESTORE_X, 0.0, NULL);
        r->true_norm = r->best_norm;
        report->returned_snapshot = 1;
    }
    report->residual_true = unscaled(r, r->true_norm);
    int64_t recorded = cg->s.iteration + 1;
    report->history_length = recorded < cg->history_capacity ? recorded : cg->history_capacity;
}

static yoke_status solve_nonzero(run *r)
{
    start(r);
    r->steps = next_steps(r, 0.0, 0);
    if (r->cg->cuts && !r->ended) r->steps = yk_cuts_adapt(r->cg, r->steps);
    if (!r->ended && r->report->maxit <= 0) end(r, YOKE_ITERATION_LIMIT);
    while (!r->ended) {
        YK_TRY(own_status(r->cg));
        YK_TRY(advance(r));
    }
    conclude(r);
    return YOKE_OK;
}

/* b = 0: x = 0, whatever x0. */
static void solve_zero(run *r)
{
    yk_cg *cg = r->cg;
    yk_cg_run(cg, YK_TASK_CLEAR_X, 0.0, NULL);
    if (cg->history_capacity > 0) cg->history[0] = 0.0;
    r->report->history_length = cg->history_capacity > 0 ? 1 : 0;
    r->report->residual_true = r->report->residual_recursive = 0.0;
    r->report->base_norm = r->report->residual_initial = 0.0;
    r->report->bound = r->options->atol;
    end(r, YOKE_CONVERGED);
    keep_going(r);
}

yoke_status yk_cg_solve(yk_cg *cg, const double *b, double *x, const yoke_solve_options *options,
                        yoke_report *report)
{
    run r = {.cg = cg,
             .options = options,
             .report = report,
             .began = yoke_seconds(),
             .true_norm = INFINITY,
             .checked_norm = INFINITY,
             .best_norm = INFINITY,
             .steps = 1};
    bool b_is_zero = false;
    if (cg->cuts) cg->cuts->moved = 0;
    cg->came = yk_team_size(cg->threads);
    cg->history = options->history;
    cg->history_capacity = options->history ? options->history_capacity : 0;
    yk_cg_import(cg, b, options->initial_guess ? x : NULL, &b_is_zero, report);
    YK_TRY(yk_agree(cg->context, cg->status, 0.0));
    if (b_is_zero && !options->fixed_iterations)
        solve_zero(&r);
    else
        YK_TRY(solve_nonzero(&r));
    yk_cg_export(cg, x, report);
    report->threads = cg->came;
    return cg->status;
}
