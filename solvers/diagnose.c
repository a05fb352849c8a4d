/* SPDX-License-Identifier: BSD-3-Clause */
/* diagnose.c: after a NaN or an infinity ended a solve: where it came from. */
#include <math.h>
#include <stdio.h>

#include "solvers/plan.h"

/* First index of a value that is not finite; -1: none. */
static int64_t first_not_finite(const double *vector, int64_t count)
{
    for (int64_t i = 0; vector && i < count; i++)
        if (!isfinite(vector[i])) return i;
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

static bool blame(const char *what, const double *vector, int64_t count, int64_t *row, char *text,
                  size_t size)
{
    *row = first_not_finite(vector, count);
    if (*row < 0) return false;
    snprintf(text, size, "%s is %g in row %lld (counted from 1)", what, vector[*row],
             (long long)*row + 1);
    return true;
}

void yk_diagnose_not_finite(const yoke_plan *plan, const double *b, const double *x0,
                            int64_t iteration, int64_t *row, char *text, size_t size)
{
    const yk_csr *csr = &plan->matrix->csr;
    if (plan->cg.overflowed) {
        snprintf(text, size, "the solution exceeds the range of double precision");
        return;
    }
    if (blame("b", b, csr->rows, row, text, size)) return;
    if (blame("the initial guess", x0, csr->rows, row, text, size)) return;
    int64_t entry = csr->value ? first_not_finite(csr->value, csr->nonzeros) : -1;
    if (entry >= 0) {
        *row = row_of_entry(csr, entry);
        snprintf(text, size, "the matrix is %g in row %lld, column %lld (counted from 1)",
                 csr->value[entry], (long long)*row + 1, (long long)csr->column[entry] + 1);
        return;
    }
    if (plan->cg.not_finite_from)
        snprintf(text, size, "the caller's %s returned a value that is not finite",
                 plan->cg.not_finite_from);
    else
        snprintf(text, size, "iteration %lld: a sum left the range of double precision",
                 (long long)iteration);
}
