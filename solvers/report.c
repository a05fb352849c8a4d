/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c: what a solve reports of its plan, and the sentence that goes with its outcome. */
#include "solvers/report.h"

#include <math.h>
#include <stdio.h>

#include "lib/context.h"
#include "solvers/cg/bytes.h"
#include "solvers/cg/cuts.h"
#include "solvers/ranks.h"

static int64_t default_maxit(int64_t rows)
{
    int64_t maxit = rows > 100000 ? 1000000 : 10 * rows;
    return maxit < 1000 ? 1000 : maxit;
}

/* Of the matrix, as each owner has it, what it holds without working on it: by entries. */
static double bytes_held_twice(const yoke_plan *plan)
{
    const yk_csr *csr = &plan->matrix->csr;
    const yk_part *gpu = &plan->cg.part[0], *cpu = &plan->cg.part[1];
    double first = (double)yk_row_start(csr, cpu->first),
           last = (double)yk_row_start(csr, gpu->rows);
    double cut = (double)yk_row_start(csr, gpu->moving.rows), all = (double)csr->nonzeros;
    double of_gpu = last > 0.0 ? (last - cut) / last : 0.0;
    double of_cpu = all > first ? (cut - first) / (all - first) : 0.0;
    return floor(of_gpu * plan->cg.matrix_bytes) + floor(of_cpu * yk_csr_bytes(&cpu->csr));
}

double yk_report_bytes(const yoke_plan *plan)
{
    double bytes = plan->cg.matrix_bytes;
    for (int i = 0; i < plan->cg.parts; i++) {
        const yk_part *part = &plan->cg.part[i];
        if (part->owner == YK_OWNER_CPU) bytes += yk_csr_bytes(&part->csr);
        bytes +=
            yk_recurrence_row_bytes(plan->choice.recurrence, plan->cg.folded, plan->cg.jacobi) *
            (double)yk_part_working(part);
        if (plan->choice.foreign_product) bytes += YK_CG_DOT_ROW_BYTES * (double)part->rows;
    }
    if (plan->cg.cuts) bytes -= bytes_held_twice(plan);
    return plan->cg.op ? NAN : bytes;
}

static int64_t cpu_rows(const yoke_plan *plan)
{
    int64_t rows = 0;
    if (plan->choice.over_gpus) return plan->all_cpu_rows;
    if (plan->matrix->spread) return plan->cg.all_rows;
    for (int i = 0; i < plan->cg.parts; i++)
        if (plan->cg.part[i].owner == YK_OWNER_CPU) rows += yk_part_working(&plan->cg.part[i]);
    return rows;
}

static int gpus(const yoke_plan *plan)
{
    if (plan->choice.over_gpus) return plan->all_gpus;
    return plan->choice.gpus;
}

void yk_report_begin(const yoke_plan *plan, const yoke_solve_options *options, yk_result *result)
{
    const yk_choice *choice = &plan->choice;
    result->detail[0] = '\0';
    result->report = (yoke_report){
        .struct_size = sizeof(yoke_report),
        .maxit = options->maxit > 0 ? options->maxit : default_maxit(plan->cg.all_rows),
        .base_norm = NAN,
        .bound = NAN,
        .residual_initial = NAN,
        .residual_true = NAN,
        .residual_recursive = NAN,
        .curvature = NAN,
        .row = -1,
        .detail = result->detail,
        .bytes_per_iteration = plan->ranks_know ? plan->all_bytes : yk_report_bytes(plan),
        .threads = plan->cg.threads,
        .ranks = yoke_context_ranks(plan->cg.context),
        .parts = plan->cg.parts,
        .gpus = gpus(plan),
        .cpu_rows = cpu_rows(plan),
        .memory = choice->memmode ? choice->memmode->name : choice->place_name,
        .home = choice->home,
        .partition = *choice->partition_text ? choice->partition_text : choice->partition->name,
        .solver = choice->solver,
        .driver = choice->driver->name,
        .format = choice->format,
        .preconditioner = choice->preconditioner,
        .shape = plan->cg.folded ? "folded" : "unfolded",
        .effort = choice->effort,
        .reorder = plan->reordering ? "rcm" : "none",
        .plan_seconds = plan->plan_seconds,
        .notices = plan->notices,
        .meeting = plan->cg.met_by,
        .upload_seconds = plan->cg.upload_seconds > 0.0 ? plan->cg.upload_seconds : NAN,
    };
}

/* Where a cut that moves has ended. */
void yk_report_cut(const yoke_plan *plan, yk_result *result)
{
    yoke_report *report = &result->report;
    report->cuts_moved = plan->cg.cuts->moved;
    report->cpu_rows = cpu_rows(plan);
    report->bytes_per_iteration = yk_report_bytes(plan);
    if (report->cuts_moved == 0) return;
    snprintf(result->notices, sizeof result->notices,
             "%s%spartition adaptive: the cut moved %lld times, to %lld rows on the CPU",
             plan->notices, *plan->notices ? "\n" : "", (long long)report->cuts_moved,
             (long long)report->cpu_rows);
    report->notices = result->notices;
}

static void explain_indefinite(yk_result *result)
{
    const yoke_report *report = &result->report;
    snprintf(result->detail, sizeof result->detail,
             "iteration %lld: p.Ap = %.6g < 0, so the matrix is not positive definite; use MINRES, "
             "which needs symmetry alone, or, if it is singular for constant vectors, declare the "
             "constant nullspace",
             (long long)report->iterations, report->curvature);
}

/* The sentence that goes with an outcome. */
void yk_report_explain(const yoke_plan *plan, const double *b, const double *x0, yk_result *result)
{
    yoke_report *report = &result->report;
    char *text = result->detail;
    size_t size = sizeof result->detail;
    switch (report->outcome) {
    case YOKE_ITERATION_LIMIT:
        snprintf(text, size, "limit reached (%lld)", (long long)report->maxit);
        break;
    case YOKE_INDEFINITE: explain_indefinite(result); break;
    case YOKE_BREAKDOWN:
        snprintf(text, size,
                 "iteration %lld: p.Ap = 0 with a residual that is not: the matrix is singular or "
                 "indefinite, and b not in its range",
                 (long long)report->iterations);
        break;
    case YOKE_PRECONDITIONER_INDEFINITE:
        snprintf(text, size,
                 "iteration %lld: r.z <= 0: the preconditioner is not positive definite",
                 (long long)report->iterations);
        break;
    case YOKE_STAGNATED:
        snprintf(text, size,
                 "two replacements of the residual did not halve the true one: the "
                 "tolerance is below what double precision reaches here");
        break;
    case YOKE_CALLBACK_FAILED:
        snprintf(text, size, "the caller's %s returned non-zero", plan->cg.failed_callback);
        break;
    case YOKE_NOT_FINITE:
        yk_diagnose_not_finite(plan, b, x0, report->iterations, &report->row, text, size);
        break;
    default: break;
    }
}
