/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h: a solve's report, from its begin to its sentence. */
#ifndef YK_REPORT_H
#define YK_REPORT_H

#include "solvers/plan.h"

/* All that is known before the solve; numbers that are not yet: NaN. */
void yk_report_begin(const yoke_plan *plan, const yoke_solve_options *options, yk_result *result);

/* Bytes that an iteration of this process moves; NaN: an operator's are not known. */
double yk_report_bytes(const yoke_plan *plan);

/* Afterwards: where a cut that moves has ended, and why the solve ended as it did. x0: NULL, or
 * what it started from. */
void yk_report_cut(const yoke_plan *plan, yk_result *result);
void yk_report_explain(const yoke_plan *plan, const double *b, const double *x0, yk_result *result);

#endif
