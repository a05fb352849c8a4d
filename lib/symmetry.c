/* SPDX-License-Identifier: BSD-3-Clause */
/* symmetry.c: is a_ij = a_ji? Each entry above the diagonal looks its mirror image up. Only if some
 * entry below was looked up by none, or one is wrong, a second pass asks those below: so a
 * symmetric pattern costs one search a pair. */
#include <math.h>

#include "lib/csr_input.h"
#include "lib/matrix.h"
#include "lib/status.h"
#include "lib/threads.h"

/* Given in yoke.h: what round-off in an assembly may leave. */
static const double round_off = 1e-12;

typedef struct check {
    const yk_csr *csr;
    double *value;        /* to write means to, or NULL */
    int64_t below, found; /* entries below the diagonal; those that one above met */
    int64_t wrong;        /* first entry without its equal; INT64_MAX: none */
    int mean;             /* some pair differs by round-off */
} check;

/* Where (row, column) is stored, -1 if it is not. */
static int64_t place_of(const yk_csr *csr, int64_t row, int64_t column)
{
    int64_t low = yk_row_start(csr, row), end = yk_row_start(csr, row + 1), high = end;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (csr->column[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && csr->column[low] == column ? low : -1;
}

/* A NaN or an infinity is not judged here: it ends a solve as not_finite, which names it. */
static bool equal(double a, double b)
{
    return a == b || !isfinite(a) || !isfinite(b);
}

static bool equal_to_round_off(double a, double b)
{
    return fabs(a - b) <= round_off * fmax(fabs(a), fabs(b));
}

/* mirror: -1 if it is not stored, which is as good as a stored 0. */
static void check_pair(check *c, int64_t k, int64_t mirror)
{
    double a = c->csr->value[k], b = mirror < 0 ? 0.0 : c->csr->value[mirror];
    if (equal(a, b)) return;
    if (!equal_to_round_off(a, b)) {
        yk_note_first(&c->wrong, k);
        return;
    }
    __atomic_store_n(&c->mean, 1, __ATOMIC_RELAXED);
    if (c->value) c->value[k] = c->value[mirror] = a + 0.5 * (b - a);
}

static void check_above(void *user, int64_t first, int64_t last)
{
    check *c = user;
    const yk_csr *csr = c->csr;
    int64_t below = 0, found = 0;
    for (int64_t row = first; row < last; row++) {
        int64_t end = yk_row_start(csr, row + 1);
        for (int64_t k = yk_row_start(csr, row); k < end; k++) {
            if (csr->column[k] < row) below++;
            if (csr->column[k] <= row) continue;
            int64_t mirror = place_of(csr, csr->column[k], row);
            if (mirror >= 0) found++;
            check_pair(c, k, mirror);
        }
    }
    __atomic_fetch_add(&c->below, below, __ATOMIC_RELAXED);
    __atomic_fetch_add(&c->found, found, __ATOMIC_RELAXED);
}

static void check_below(void *user, int64_t first, int64_t last)
{
    check *c = user;
    const yk_csr *csr = c->csr;
    for (int64_t row = first; row < last; row++) {
        int64_t end = yk_row_start(csr, row + 1);
        for (int64_t k = yk_row_start(csr, row); k < end && csr->column[k] < row; k++)
            if (place_of(csr, csr->column[k], row) < 0) check_pair(c, k, -1);
    }
}

static yoke_status refuse_pair(const yk_csr *csr, int64_t k, bool one_based)
{
    int64_t row = 0, high = csr->rows, column = csr->column[k];
    while (high - row > 1) {
        int64_t middle = row + (high - row) / 2;
        if (yk_row_start(csr, middle) <= k)
            row = middle;
        else
            high = middle;
    }
    int64_t mirror = place_of(csr, column, row);
    long long i = (long long)row + one_based, j = (long long)column + one_based;
    if (mirror < 0)
        return yk_fail(
            YOKE_UNSUITABLE,
            "not symmetric: entry (%lld, %lld) is %.17g, but (%lld, %lld) is not there%s", i, j,
            csr->value[k], j, i, one_based ? "" : " (counted from 0)");
    return yk_fail(YOKE_UNSUITABLE,
                   "not symmetric: entry (%lld, %lld) is %.17g, but (%lld, %lld) is %.17g%s", i, j,
                   csr->value[k], j, i, csr->value[mirror], one_based ? "" : " (counted from 0)");
}

yoke_status yk_matrix_symmetrise(yk_csr *csr, double *value, int threads, bool one_based,
                                 bool *needs_mean)
{
    check c = {.csr = csr, .value = value, .wrong = INT64_MAX};
    yk_parallel_for(threads, csr->rows, YK_ROW_GRAIN, check_above, &c);
    if (c.wrong != INT64_MAX || c.found != c.below)
        yk_parallel_for(threads, csr->rows, YK_ROW_GRAIN, check_below, &c);
    if (c.wrong != INT64_MAX) return refuse_pair(csr, c.wrong, one_based);
    if (needs_mean) *needs_mean = c.mean;
    return YOKE_OK;
}
