/* SPDX-License-Identifier: BSD-3-Clause */
/* source_ranks.c: a vector of which each rank has its rows, with what others have. */
#include <stdlib.h>
#include <string.h>

#include "bench/ranks.h"
#include "bench/source.h"
#include "bench/take.h"

double *source_collect(const source *s, const double *x)
{
    double *all = take("the solution of all ranks", s->all_rows, sizeof *all);
    ranks_collect(s->share.row, x, s->rows, all, s->all_rows);
    return all;
}

double *source_extend(const source *s, const double *x)
{
    int64_t columns = s->rows + s->share.halo;
    double *extended = take("the solution with its halo", columns, sizeof *extended);
    memcpy(extended, x, (size_t)s->rows * sizeof *x);
    if (!s->share.row) return extended;
    double *all = source_collect(s, x);
    for (int64_t i = s->rows; i < columns; i++) extended[i] = all[s->share.row[i]];
    free(all);
    return extended;
}
