/* SPDX-License-Identifier: BSD-3-Clause */
/* statistics.c: of a few repeats. */
#include "bench/statistics.h"

#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median_of(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, by_size);
    return 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}
