/* SPDX-License-Identifier: BSD-3-Clause */
/* setup.c: what happens to the vectors outside the loop: in, scaled, checked, out. */
#include "solvers/cg/setup.h"

#include <math.h>

void yk_cg_run(yk_cg *cg, yk_task task, double argument, double *total)
{
    cg->driver->engine->run(cg, task, argument, total);
}

/* Subtracts the mean from b or x. */
static void centre(yk_cg *cg, yk_task sum, yk_task subtract)
{
    double total[YK_DOTS];
    yk_cg_run(cg, sum, 0.0, total);
    yk_cg_run(cg, subtract, total[0] / (double)cg->all_rows, NULL);
}

/* ----------------------------------------------------------- true residual */

static void send_all(yk_cg *cg, yk_boundary which)
{
    if (cg->parts > 1 || cg->ranks) cg->driver->engine->exchange(cg, which);
}

yk_task yk_cg_residual_task(const yk_cg *cg)
{
    if (cg->op) return cg->jacobi ? YK_TASK_RESIDUAL_OF_Q_JACOBI : YK_TASK_RESIDUAL_OF_Q_NONE;
    return cg->jacobi ? YK_TASK_RESIDUAL_JACOBI : YK_TASK_RESIDUAL_NONE;
}

static bool precondition(yk_cg *cg, double *dot)
{
    double of_z[YK_DOTS];
    if (!yk_cg_callback(cg, cg->preconditioner, YK_VECTOR_R, YK_VECTOR_Z)) return false;
    yk_cg_run(cg, YK_TASK_DOTS_Z, 0.0, of_z);
    dot[YK_DOT_RZ] = of_z[YK_DOT_RZ];
    dot[YK_DOT_Z] = of_z[YK_DOT_Z];
    if (isfinite(dot[YK_DOT_RR]) && !isfinite(dot[YK_DOT_RZ]))
        cg->not_finite_from = "preconditioner";
    return true;
}

bool yk_cg_residual(yk_cg *cg, double *dot)
{
    send_all(cg, YK_BOUNDARY_X);
    if (cg->op && !yk_cg_callback(cg, cg->op, YK_VECTOR_X, YK_VECTOR_Q)) return false;
    yk_cg_run(cg, yk_cg_residual_task(cg), 0.0, dot);
    if (cg->op && !isfinite(dot[YK_DOT_RR])) cg->not_finite_from = "operator";
    if (cg->preconditioner && !precondition(cg, dot)) return false;
    send_all(cg, YK_BOUNDARY_Z);
    return true;
}

bool yk_cg_operator_works(const yk_cg *cg)
{
    return !cg->failed_callback;
}

/* --------------------------------------------------------------- in and out */

static int exponent_of(double magnitude)
{
    if (!(magnitude > 0.0) || !isfinite(magnitude)) return 0;
    int exponent = ilogb(magnitude);
    return exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent;
}

void yk_cg_import(yk_cg *cg, const double *b, const double *x0, bool *b_is_zero,
                  yoke_report *report)
{
    double began = yoke_seconds(), most = 0.0, dot[YK_DOTS];
    cg->exponent = 0;
    cg->newest_p = 0;
    cg->overflowed = false;
    cg->failed_callback = cg->not_finite_from = NULL;
    cg->status = YOKE_OK;
    cg->driver->engine->import(cg, b, x0);
    if (cg->nullspace && cg->all_rows > 0) centre(cg, YK_TASK_SUM_B, YK_TASK_CENTRE_B);
    yk_cg_run(cg, YK_TASK_LARGEST_B, 0.0, &most);
    *b_is_zero = most == 0.0;
    report->transfer_seconds += yoke_seconds() - began;
    if (x0 && yk_cg_residual(cg, dot)) {
        double most_r = 0.0;
        yk_cg_run(cg, YK_TASK_LARGEST_R, 0.0, &most_r);
        most = fmax(most, most_r);
    }
    cg->exponent = exponent_of(most);
    if (cg->exponent != 0) yk_cg_run(cg, YK_TASK_SCALE, ldexp(1.0, -cg->exponent), NULL);
}

/* A solution that the scaled system holds may still be beyond double precision. */
static void check_range(yk_cg *cg, yoke_report *report)
{
    double most = 0.0;
    if (report->outcome != YOKE_CONVERGED || cg->exponent <= 0) return;
    yk_cg_run(cg, YK_TASK_LARGEST_X, 0.0, &most);
    if (isfinite(ldexp(most, cg->exponent))) return;
    report->outcome = YOKE_NOT_FINITE;
    report->residual_true = NAN;
    cg->overflowed = true;
}

void yk_cg_export(yk_cg *cg, double *x, yoke_report *report)
{
    double began = yoke_seconds();
    if (cg->nullspace && cg->all_rows > 0) centre(cg, YK_TASK_SUM_X, YK_TASK_CENTRE_X);
    check_range(cg, report);
    cg->driver->engine->export(cg, x, ldexp(1.0, cg->exponent));
    report->transfer_seconds += yoke_seconds() - began;
}
