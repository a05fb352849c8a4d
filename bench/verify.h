/* SPDX-License-Identifier: BSD-3-Clause */
/* verify.h: the answer checked by means that share nothing with the solver. */
#ifndef BENCH_VERIFY_H
#define BENCH_VERIFY_H

#include "bench/source.h"

/* y = A x. */
void csr_multiply(const yoke_csr *csr, const double *x, double *y);

/* ||v||_2 of all ranks without overflow; of v less its mean if project. */
double norm_outside(const double *v, int64_t rows, int project);

/* norm / base, 0 if norm is 0, NaN if only base is. */
double relative_to(double norm, double base);

/* With an exact number of iterations no bound is tested: right then means that the true and the
 * recursive residual agree within this times ||b||. */
extern const double RESIDUALS_AGREE;

/* Is x what the report says? Returns NULL, or a sentence on what is wrong, valid until the next
 * call. fixed: the solve was asked for an exact number of iterations. */
const char *verify(const source *s, const double *x, const yoke_report *report, int project,
                   int fixed);

#endif
