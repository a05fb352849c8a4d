/* SPDX-License-Identifier: BSD-3-Clause */
/* statistics.h: of a few repeats. */
#ifndef BENCH_STATISTICS_H
#define BENCH_STATISTICS_H

/* Sorts values [count], count >= 1. The median of an even number is the mean of the middle two. */
double median_of(double *values, int count);

#endif
