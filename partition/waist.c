/* SPDX-License-Identifier: BSD-3-Clause */
/* waist.c: counts, from one cut to the next, how many columns more or fewer travel: it reads the
 * entries of the rows between them alone. */
#include "partition/waist.h"

#include <math.h>
#include <stdbool.h>

#include "lib/sum.h"
#include "partition/balance.h"

/* Of the bytes of the smaller side. */
#define MOST_MOVED 0.01

/* What a column costs that travels: z is written where the other reads it, and read, p of it read
 * and written; 8 bytes each, in lines of which little more is used. */
#define COLUMN_BYTES 64.0

static int64_t first_column(const yk_csr *csr, int64_t row)
{
    return csr->column[yk_row_start(csr, row)];
}

static int64_t last_column(const yk_csr *csr, int64_t row)
{
    return csr->column[yk_row_start(csr, row + 1) - 1];
}

/* Columns that travel once `row` is before the cut, less those while it is the first behind it: a
 * row travels if the other side has a column of it. The pattern is symmetric, so rows that have
 * this one as their first or last column are among its columns. */
static int64_t change_by(const yk_csr *csr, int64_t row)
{
    int64_t from = yk_row_start(csr, row), to = yk_row_start(csr, row + 1), change = 0;
    if (from == to) return 0;
    for (int64_t k = from; k < to; k++) {
        int64_t other = csr->column[k];
        if (yk_row_start(csr, other) == yk_row_start(csr, other + 1)) continue;
        change += other > row && first_column(csr, other) == row;
        change -= other < row && last_column(csr, other) == row;
    }
    return change + (last_column(csr, row) > row) - (first_column(csr, row) < row);
}

typedef struct waist {
    const yk_csr *csr;
    double row_bytes, wanted_bytes, most_moved;
    int64_t first, last; /* a cut lies between them */
    int64_t best;
    double least; /* its cost; that of the wanted cut is 0 */
} waist;

static double moved_bytes(const waist *w, int64_t cut)
{
    return fabs(yk_bytes_before(w->csr, w->row_bytes, cut) - w->wanted_bytes);
}

/* Looks at the cuts from one on, upwards or downwards, nearest first. */
static void look(waist *w, int64_t wanted, bool upwards)
{
    int64_t columns = 0, step = upwards ? YK_CHUNK : -YK_CHUNK;
    for (int64_t cut = wanted + step; cut > w->first && cut < w->last; cut += step) {
        double moved = moved_bytes(w, cut);
        if (moved > w->most_moved) return;
        int64_t low = upwards ? cut - YK_CHUNK : cut;
        for (int64_t row = low; row < low + YK_CHUNK; row++)
            columns += upwards ? change_by(w->csr, row) : -change_by(w->csr, row);
        double cost = moved + COLUMN_BYTES * (double)columns;
        if (!(cost < w->least)) continue;
        w->least = cost;
        w->best = cut;
    }
}

int64_t yk_cut_at_waist(const yk_csr *csr, double row_bytes, int64_t first, int64_t last,
                        int64_t wanted)
{
    if (!csr->column || wanted <= first || wanted >= last) return wanted;
    double from = yk_bytes_before(csr, row_bytes, first),
           at = yk_bytes_before(csr, row_bytes, wanted), to = yk_bytes_before(csr, row_bytes, last);
    waist w = {.csr = csr,
               .row_bytes = row_bytes,
               .wanted_bytes = at,
               .most_moved = MOST_MOVED * fmin(at - from, to - at),
               .first = first,
               .last = last,
               .best = wanted};
    look(&w, wanted, true);
    look(&w, wanted, false);
    return w.best;
}

int64_t yk_gpu_rows_at_waist(const yk_csr *csr, double row_bytes, double share)
{
    int64_t row = yk_cut_at_share(csr, row_bytes, 0, csr->rows, 1.0 - share);
    int64_t cut = yk_gpu_rows(csr->rows, yk_chunks(row), share);
    return yk_cut_at_waist(csr, row_bytes, 0, csr->rows, cut);
}
