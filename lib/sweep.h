/* SPDX-License-Identifier: BSD-3-Clause */
/* sweep.h: loops over memory that are bound by its bandwidth alone. Counts are in lines of eight
 * doubles; pointers are aligned to a line. */
#ifndef YK_SWEEP_H
#define YK_SWEEP_H

#include <stddef.h>

enum { YK_LINE = 8 };

double yk_sweep_read(const double *a, size_t lines);
void yk_sweep_copy(double *restrict c, const double *restrict a, size_t lines);
void yk_sweep_triad(double *restrict a, const double *restrict b, const double *restrict c,
                    double scale, size_t lines);

#endif
