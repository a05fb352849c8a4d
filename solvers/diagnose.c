/* SPDX-License-Identifier: BSD-3-Clause */
/* diagnose.c: after a NaN or an infinity ended a solve: where it came from. */
#include <math.h>
#include <stdio.h>

#include "solvers/reorder.h"

/* First index of a value that is not finite, and that value; -1: none. By copied chunks, because
 * the vector may be a device's; what cannot be copied any more is not blamed. */
static int64_t first_not_finite(const yk_place *at, const double *vector, int64_t count,
                                double *value)
{
    double chunk[YK_PLACE_CHUNK];
    for (int64_t first = 0; vector && first < count; first += YK_PLACE_CHUNK) {
        int64_t n = count - first < YK_PLACE_CHUNK ? count - first : YK_PLACE_CHUNK;
        if (yk_place_copy(at, chunk, vector + first, (size_t)n * sizeof *chunk) != YOKE_OK)
            return -1;
        for (int64_t i = 0; i < n; i++) {
            *value = chunk[i];
            if (!isfinite(*value)) return first + i;
        }
    }
    return -1;
}

static int64_t row_of_entry(const yk_csr *csr, int64_t entry)
{
    int64_t low = 0, high = csr->rows - 1;
    while (low < high) { /* the last row that starts at or before the entry */
        int64_t middle = low + (high - low + 1) / 2;
        if (yk_row_start(csr, middle) <= entry)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static bool blame(const char *what, const yk_place *at, const double *vector, int64_t count,
                  int64_t *row, char *text, size_t size)
{
    double value = 0.0;
    *row = first_not_finite(at, vector, count, &value);
    if (*row < 0) return false;
    snprintf(text, size, "%s is %g in row %lld (counted from 1)", what, value, (long long)*row + 1);
    return true;
}

void yk_diagnose_not_finite(const yoke_plan *plan, const double *b, const double *x0,
                            int64_t iteration, int64_t *row, char *text, size_t size)
{
    const yk_csr *csr = &yk_plan_given(plan)->csr;
    const yk_place host = {.foreign = false};
    double value = 0.0;
    if (plan->cg.overflowed) {
        snprintf(text, size, "the solution exceeds the range of double precision");
        return;
    }
    if (blame("b", &plan->cg.b_at, b, csr->rows, row, text, size)) return;
    if (blame("the initial guess", &plan->cg.x_at, x0, csr->rows, row, text, size)) return;
    int64_t entry = first_not_finite(&host, csr->value, csr->nonzeros, &value);
    if (entry >= 0) {
        *row = row_of_entry(csr, entry);
        snprintf(text, size, "the matrix is %g in row %lld, column %lld (counted from 1)", value,
                 (long long)*row + 1, (long long)csr->column[entry] + 1);
        return;
    }
    if (plan->cg.not_finite_from)
        snprintf(text, size, "the caller's %s returned a value that is not finite",
                 plan->cg.not_finite_from);
    else
        snprintf(text, size, "iteration %lld: a sum left the range of double precision",
                 (long long)iteration);
}
