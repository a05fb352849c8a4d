/* SPDX-License-Identifier: BSD-3-Clause */
/* setup.h: what happens to the vectors outside the loop: in, scaled, checked, out. */
#ifndef YK_CG_SETUP_H
#define YK_CG_SETUP_H

#include "solvers/cg/cg.h"

/* Brings b and x0 (NULL: 0) into the parts, projected and scaled by a power of two from
 * max(max|b|, max|b - A x0|), so that 1e160 and 1e-160 are normal days; p = 0. */
void yk_cg_import(yk_cg *cg, const double *b, const double *x0, bool *b_is_zero,
                  yoke_report *report);

/* Hands x out, unscaled; of mean 0 with a constant nullspace. A solution that only the scaled
 * system could hold is not converged but not finite. */
void yk_cg_export(yk_cg *cg, double *x, yoke_report *report);

/* r = b - A x, z = M^-1 r and their sums, by YK_DOT_...; false if a callback failed. */
bool yk_cg_residual(yk_cg *cg, double *dot);

/* Of recurrences with one sum, nothing for others. After the first residual of a solve: what it
 * keeps is empty. After any: what it keeps beside r and p is made anew from x, r and p (s = A p,
 * w = A z and so on), and with it the next step. */
void yk_cg_begin_recurrence(yk_cg *cg);
void yk_cg_renew(yk_cg *cg);

/* False once the user's operator has failed: its residual cannot be known. */
bool yk_cg_operator_works(const yk_cg *cg);

/* One task over all rows by the driver's engine; total: as yk_engine.run. */
void yk_cg_run(yk_cg *cg, yk_task task, double argument, double *total);

#endif
