/* SPDX-License-Identifier: BSD-3-Clause */
/* solve.c: the public solve: checks, refreshes values, runs CG, reports. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/context.h"
#include "lib/status.h"
#include "solvers/plan.h"
#include "solvers/ranks.h"
#include "solvers/reorder.h"
#include "solvers/report.h"

/* ------------------------------------------------------------------ checks */

static yoke_status check_numbers(const yoke_solve_options *o)
{
    if (!(o->rtol >= 0.0) || !isfinite(o->rtol))
        return yk_fail(YOKE_INVALID, "rtol is %g, expected a number >= 0", o->rtol);
    if (!(o->atol >= 0.0) || !isfinite(o->atol))
        return yk_fail(YOKE_INVALID, "atol is %g, expected a number >= 0", o->atol);
    if (o->maxit < 0)
        return yk_fail(YOKE_INVALID, "maxit is %lld, expected 0 (default) or more",
                       (long long)o->maxit);
    if (!(o->max_seconds >= 0.0))
        return yk_fail(YOKE_INVALID, "max_seconds is %g, expected >= 0", o->max_seconds);
    if (o->check_every < 0)
        return yk_fail(YOKE_INVALID, "check_every is %lld, expected >= 0",
                       (long long)o->check_every);
    if (!(o->diverged_factor >= 0.0))
        return yk_fail(YOKE_INVALID, "diverged_factor is %g, expected >= 0", o->diverged_factor);
    if (o->history && o->history_capacity < 0)
        return yk_fail(YOKE_INVALID, "history_capacity is %lld, expected >= 0",
                       (long long)o->history_capacity);
    if (o->base != YOKE_BASE_B && o->base != YOKE_BASE_R0)
        return yk_fail(YOKE_INVALID, "base is %d, expected YOKE_BASE_B or YOKE_BASE_R0",
                       (int)o->base);
    if (o->fixed_iterations && o->maxit == 0)
        return yk_fail(YOKE_INVALID, "fixed_iterations needs maxit");
    return YOKE_OK;
}

static bool overlap(const double *a, const double *b, int64_t count)
{
    uintptr_t p = (uintptr_t)a, q = (uintptr_t)b, bytes = (uintptr_t)count * sizeof *a;
    return count > 0 && p < q + bytes && q < p + bytes;
}

/* ----------------------------------------------------- the caller's vectors */

static bool is_cpu(const yoke_plan *plan)
{
    return plan->choice.driver->engine == &yk_engine_cpu;
}

static yoke_status check_device(const yoke_plan *plan, const char *what, const yk_place *at)
{
    for (int i = 0; plan->cg.gpus > 1 && i < plan->cg.gpus; i++)
        if (at->device == plan->cg.gpu_device[i]) return YOKE_OK;
    if (is_cpu(plan) || !at->foreign || at->managed || at->device == plan->cg.device)
        return YOKE_OK;
    return yk_fail(YOKE_INVALID, "%s is memory of device %d, but the plan is on device %d", what,
                   at->device, plan->cg.device);
}

/* Where b and x are; then all that the caller has enqueued before is finished. What is enqueued
 * after the call comes after x, because the call returns when x is complete. */
static yoke_status find_vectors(yoke_plan *plan, const double *b, const double *x,
                                const yoke_solve_options *options)
{
    yk_place *b_at = &plan->cg.b_at, *x_at = &plan->cg.x_at;
    if (options->use_stream) YK_TRY(yk_place_wait(options->stream));
    YK_TRY(yk_place_find("b", b, b_at));
    YK_TRY(yk_place_find("x", x, x_at));
    YK_TRY(check_device(plan, "b", b_at));
    YK_TRY(check_device(plan, "x", x_at));
    if (options->use_stream) return YOKE_OK;
    YK_TRY(yk_place_settle(b_at));
    return b_at->foreign && b_at->device == x_at->device ? YOKE_OK : yk_place_settle(x_at);
}

/* By copied chunks, because the vector may be a device's; *zero is right on success. */
static yoke_status is_zero(const yk_place *at, const double *vector, int64_t count, bool *zero)
{
    double chunk[YK_PLACE_CHUNK];
    *zero = true;
    for (int64_t first = 0; first < count && *zero; first += YK_PLACE_CHUNK) {
        int64_t n = count - first < YK_PLACE_CHUNK ? count - first : YK_PLACE_CHUNK;
        YK_TRY(yk_place_copy(at, chunk, vector + first, (size_t)n * sizeof *chunk));
        for (int64_t i = 0; i < n; i++) *zero = *zero && chunk[i] == 0.0;
    }
    return YOKE_OK;
}

/* ------------------------------------------------------------------- solve */

/* A non-positive diagonal under Jacobi: the matrix is not positive definite, and 1/diagonal is no
 * preconditioner. x is x0. */
static yoke_status refuse_diagonal(const yoke_plan *plan, double *x,
                                   const yoke_solve_options *options, yk_result *result)
{
    yoke_report *report = &result->report;
    if (!options->initial_guess)
        YK_TRY(yk_place_clear(&plan->cg.x_at, x, (size_t)plan->cg.rows * sizeof *x));
    report->outcome = YOKE_INDEFINITE;
    report->row = plan->bad_diagonal_row;
    report->curvature = plan->bad_diagonal;
    snprintf(result->detail, sizeof result->detail,
             "row %lld (counted from 1): its diagonal is %.6g, so the matrix is not positive "
             "definite; use MINRES, "
             "which needs symmetry alone",
             (long long)plan->bad_diagonal_row + 1, plan->bad_diagonal);
    return YOKE_OK;
}

static yoke_status refresh(yoke_plan *plan, yoke_report *report)
{
    if (plan->version == atomic_load(&yk_plan_given(plan)->version)) return YOKE_OK;
    double began = yoke_seconds();
    plan->ranks_know = false;
    yk_reorder_refresh(plan);
    yoke_status status = yk_parts_fill_values(plan);
    report->setup_seconds = yoke_seconds() - began;
    if (status != YOKE_OK) plan->usable = false;
    return status;
}

/* Whether the plan cannot be solved with, by Jacobi's rule on diagonals. */
static yoke_status is_refused(const yoke_plan *plan, const double *b,
                              const yoke_solve_options *options, bool *refused)
{
    bool zero = false;
    *refused = false;
    if (plan->bad_diagonal_row < 0) return YOKE_OK;
    if (!options->fixed_iterations) {
        yoke_status status = is_zero(&plan->cg.b_at, b, plan->cg.rows, &zero);
        YK_TRY(yk_agree(plan->cg.context, status, 0.0));
    }
    *refused = yk_ranks_most(plan->cg.context, !zero) > 0.0;
    return YOKE_OK;
}

/* What one process can tell alone. */
static yoke_status make_ready(yoke_plan *plan, const double *b, const double *x,
                              const yoke_solve_options *options, yk_result *result)
{
    if (plan->cg.rows > 0 && (!b || !x)) return yk_fail(YOKE_INVALID, "b or x is NULL");
    if (overlap(b, x, plan->cg.rows)) return yk_fail(YOKE_INVALID, "b and x overlap");
    YK_TRY(find_vectors(plan, b, x, options));
    yk_report_begin(plan, options, result);
    return refresh(plan, &result->report);
}

/* What only all ranks together can tell. */
static yoke_status meet_ranks(yoke_plan *plan, yoke_status status, yk_result *result)
{
    YK_TRY(yk_agree(plan->cg.context, status, 0.0));
    if (!plan->matrix->spread || plan->ranks_know) return YOKE_OK;
    YK_TRY(yk_ranks_share(plan, yk_report_bytes(plan)));
    result->report.bytes_per_iteration = plan->all_bytes;
    return YOKE_OK;
}

static yoke_status solve_one(yoke_plan *plan, const double *b, double *x,
                             const yoke_solve_options *options, yk_result *result)
{
    yoke_report *report = &result->report;
    bool refused = false;
    YK_TRY(meet_ranks(plan, make_ready(plan, b, x, options, result), result));
    YK_TRY(is_refused(plan, b, options, &refused));
    if (refused) return refuse_diagonal(plan, x, options, result);
    yoke_status own = yk_reorder_solve(plan, b, x, options, report);
    yoke_status status = yk_agree(plan->cg.context, own, 0.0);
    if (status != YOKE_OK) {
        /* A CPU's parts survive it if no more than the caller's device memory could not be copied.
         */
        plan->usable = !plan->matrix->spread && is_cpu(plan) && status == plan->cg.status;
        return status;
    }
    if (plan->cg.cuts) yk_report_cut(plan, result);
    yk_report_explain(plan, b, options->initial_guess ? x : NULL, result);
    return YOKE_OK;
}

/* Takes the plan for this thread, and keeps the matrix's values still. */
yoke_status yk_plan_enter(yoke_plan *plan)
{
    if (!plan) return yk_fail(YOKE_INVALID, "plan is NULL");
    if (!plan->usable) return yk_fail(YOKE_SPOILED, "the plan did not survive an earlier failure");
    atomic_int *users = &yk_plan_given(plan)->solving;
    int idle = 0, solving = atomic_load(users);
    if (!atomic_compare_exchange_strong(&plan->busy, &idle, 1))
        return yk_fail(YOKE_BUSY, "the plan solves for another thread");
    do {
        if (solving < 0) {
            atomic_store(&plan->busy, 0);
            return yk_fail(YOKE_BUSY, "the matrix's values are being updated");
        }
    } while (!atomic_compare_exchange_weak(users, &solving, solving + 1));
    return YOKE_OK;
}

void yk_plan_leave(yoke_plan *plan)
{
    atomic_fetch_sub(&yk_plan_given(plan)->solving, 1);
    atomic_store(&plan->busy, 0);
}

static yoke_status check_options(const yoke_solve_options *options)
{
    YK_TRY(yk_check_struct("yoke_solve_options", options->struct_size, sizeof *options));
    return check_numbers(options);
}

/* Takes the plan if the options are good: on all ranks, or on none. n: right-hand sides. */
static yoke_status enter_all(yoke_plan *plan, const yoke_solve_options *options, int n)
{
    yoke_status status = check_options(options);
    if (!plan) return status == YOKE_OK ? yk_fail(YOKE_INVALID, "plan is NULL") : status;
    if (status == YOKE_OK) status = yk_plan_enter(plan);
    bool entered = status == YOKE_OK;
    double mark = entered && plan->matrix->spread ? yk_ranks_mark_solve(options, n) : 0.0;
    status = yk_agree(plan->cg.context, status, mark);
    if (status != YOKE_OK && entered) yk_plan_leave(plan);
    return status;
}

yoke_status yoke_solve(yoke_plan *plan, const double *b, double *x,
                       const yoke_solve_options *options)
{
    yoke_solve_options defaults = yoke_solve_defaults();
    if (!options) options = &defaults;
    YK_TRY(enter_all(plan, options, 1));
    plan->results = 0;
    yoke_status status = solve_one(plan, b, x, options, &plan->result[0]);
    if (status == YOKE_OK) plan->results = 1;
    yk_plan_leave(plan);
    return status;
}

/* Room for n results; moving them is safe because none of the last call's is valid any more. */
static yoke_status reserve_results(yoke_plan *plan, int n)
{
    if (n <= plan->result_capacity) return YOKE_OK;
    yk_result *grown = calloc((size_t)n, sizeof *grown);
    if (!grown) return yk_fail(YOKE_NO_MEMORY, "no memory for %d reports", n);
    free(plan->result);
    plan->result = grown;
    plan->result_capacity = n;
    return YOKE_OK;
}

static yoke_status solve_each(yoke_plan *plan, int n, const double *b, int64_t ldb, double *x,
                              int64_t ldx, const yoke_solve_options *options)
{
    yoke_solve_options without_history = *options;
    without_history.history = NULL;
    plan->results = 0;
    YK_TRY(yk_agree(plan->cg.context, reserve_results(plan, n), 0.0));
    for (int k = 0; k < n; k++) {
        const yoke_solve_options *of_this = k == n - 1 ? options : &without_history;
        YK_TRY(solve_one(plan, b + k * ldb, x + k * ldx, of_this, &plan->result[k]));
        plan->results = k + 1;
    }
    return YOKE_OK;
}

yoke_status yoke_solve_many(yoke_plan *plan, int n, const double *b, int64_t ldb, double *x,
                            int64_t ldx, const yoke_solve_options *options)
{
    yoke_solve_options defaults = yoke_solve_defaults();
    if (!options) options = &defaults;
    YK_TRY(enter_all(plan, options, n));
    int64_t rows = plan->cg.rows;
    yoke_status status = YOKE_OK;
    if (n < 0 || ldb < rows || ldx < rows)
        status = yk_fail(YOKE_INVALID,
                         "n is %d, ldb %lld, ldx %lld, expected n >= 0 and ldb, ldx >= %lld", n,
                         (long long)ldb, (long long)ldx, (long long)rows);
    status = yk_agree(plan->cg.context, status, 0.0);
    if (status == YOKE_OK) status = solve_each(plan, n, b, ldb, x, ldx, options);
    yk_plan_leave(plan);
    return status;
}

const yoke_report *yoke_plan_report_at(const yoke_plan *plan, int k)
{
    return plan && k >= 0 && k < plan->results ? &plan->result[k].report : NULL;
}

const yoke_report *yoke_plan_report(const yoke_plan *plan)
{
    return plan ? yoke_plan_report_at(plan, plan->results - 1) : NULL;
}
