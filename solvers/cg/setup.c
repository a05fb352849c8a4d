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

/* out = A in; in's boundary is where it is needed. */
static void multiply(yk_cg *cg, yk_vector in, yk_vector out)
{
    cg->factor = in;
    cg->product = out;
    yk_cg_run(cg, YK_TASK_PRODUCT, 0.0, NULL);
    cg->factor = YK_VECTOR_M;
    cg->product = YK_VECTOR_Q;
}

static yk_boundary newest_m(const yk_cg *cg)
{
    return (yk_boundary)(YK_BOUNDARY_M + cg->newest_p);
}

/* s = A p and t = A M^-1 s; p.s, z.s. */
static void renew_direction(yk_cg *cg, double *of_s)
{
    send_all(cg, YK_BOUNDARY_P);
    multiply(cg, YK_VECTOR_P, YK_VECTOR_S);
    yk_cg_run(cg, YK_TASK_DOTS_S, 0.0, of_s);
    if (cg->recurrence != YK_PIPELINED) return;
    yk_cg_run(cg, YK_TASK_M_OF_S, 0.0, NULL);
    send_all(cg, newest_m(cg));
    multiply(cg, YK_VECTOR_M, YK_VECTOR_T);
}

void yk_cg_renew(yk_cg *cg)
{
    double dot[YK_DOTS] = {0.0}, of_s[YK_DOTS] = {0.0};
    if (cg->recurrence == YK_CLASSICAL) return;
    if (cg->s.iteration > 0) renew_direction(cg, of_s);
    yk_cg_run(cg, YK_TASK_SINGLE_MULTIPLY, 0.0, dot); /* w = A z */
    if (cg->recurrence == YK_PIPELINED) {
        yk_cg_run(cg, YK_TASK_M_OF_W, 0.0, NULL);
        send_all(cg, newest_m(cg));
    }
    yk_cg_after_renewal(&cg->s, &cg->drift, dot[YK_DOT_ZW], of_s);
}

void yk_cg_begin_recurrence(yk_cg *cg)
{
    cg->drift = (yk_cg_drift){.pipelined = cg->recurrence == YK_PIPELINED};
    if (cg->recurrence != YK_CLASSICAL) yk_cg_run(cg, YK_TASK_CLEAR_S, 0.0, NULL);
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
    cg->recurrence = cg->planned;
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
