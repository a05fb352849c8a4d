/* SPDX-License-Identifier: BSD-3-Clause */
/* permuted.c: P A P^T, a row at a time. */
#include "lib/permuted.h"

#include "lib/canonical.h"
#include "lib/context.h"
#include "lib/threads.h"

/* Rows that are worth another thread. */
enum { GRAIN = 4096 };

typedef struct job {
    const yk_csr *csr;
    const int32_t *order, *position;
    int32_t *inverse; /* that is made */
    int32_t *start32, *column;
    int64_t *start64;
    double *value;
    yk_csr *permuted;
} job;

static void invert_range(void *user, int64_t first, int64_t last)
{
    const job *j = user;
    for (int64_t k = first; k < last; k++) j->inverse[j->order[k]] = (int32_t)k;
}

void yk_permutation_invert(const int32_t *order, int64_t rows, int threads, int32_t *position)
{
    job j = {.order = order, .inverse = position};
    yk_parallel_for(threads, rows, GRAIN, invert_range, &j);
}

/* Of Shell's sort (CACM 2, 1959): no row, however long, takes quadratic time, or memory. */
static int64_t smaller_gap(int64_t gap)
{
    return gap * 4 / 9 > 1 ? gap * 4 / 9 : gap > 1;
}

static void sort_row(int32_t *column, double *value, int64_t count)
{
    for (int64_t gap = smaller_gap(count); gap > 0; gap = smaller_gap(gap))
        for (int64_t i = gap; i < count; i++) {
            int32_t moved = column[i];
            double with = value[i];
            int64_t to = i;
            for (; to >= gap && column[to - gap] > moved; to -= gap) {
                column[to] = column[to - gap];
                value[to] = value[to - gap];
            }
            column[to] = moved;
            value[to] = with;
        }
}

static void permute_rows(void *user, int64_t first, int64_t last)
{
    const job *j = user;
    for (int64_t k = first; k < last; k++) {
        int64_t from = yk_row_start(j->csr, j->order[k]), to = yk_row_start(j->permuted, k);
        int64_t count = yk_row_start(j->permuted, k + 1) - to;
        for (int64_t i = 0; i < count; i++) {
            j->column[to + i] = j->position[j->csr->column[from + i]];
            j->value[to + i] = j->csr->value[from + i];
        }
        sort_row(j->column + to, j->value + to, count);
    }
}

/* Where a column of a row is: it is there. */
static int64_t find_column(const yk_csr *csr, int64_t row, int32_t column)
{
    int64_t low = yk_row_start(csr, row), high = yk_row_start(csr, row + 1) - 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (csr->column[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void permute_values(void *user, int64_t first, int64_t last)
{
    const job *j = user;
    for (int64_t k = first; k < last; k++) {
        int64_t end = yk_row_start(j->csr, (int64_t)j->order[k] + 1);
        for (int64_t i = yk_row_start(j->csr, j->order[k]); i < end; i++)
            j->value[find_column(j->permuted, k, j->position[j->csr->column[i]])] =
                j->csr->value[i];
    }
}

static void fill_starts(const job *j)
{
    int64_t sum = 0;
    for (int64_t k = 0; k <= j->csr->rows; k++) {
        if (j->start32)
            j->start32[k] = (int32_t)sum;
        else
            j->start64[k] = sum;
        if (k == j->csr->rows) return;
        sum += yk_row_start(j->csr, (int64_t)j->order[k] + 1) - yk_row_start(j->csr, j->order[k]);
    }
}

static yoke_status allocate(yoke_context *context, job *j)
{
    int64_t rows = j->csr->rows, nonzeros = j->csr->nonzeros;
    if (nonzeros <= INT32_MAX)
        YK_TRY(yk_alloc(context, "row starts", rows + 1, sizeof *j->start32, &j->start32));
    else
        YK_TRY(yk_alloc(context, "row starts", rows + 1, sizeof *j->start64, &j->start64));
    j->permuted->start32 = j->start32;
    j->permuted->start64 = j->start64;
    YK_TRY(yk_alloc(context, "columns", nonzeros, sizeof *j->column, &j->column));
    j->permuted->column = j->column;
    YK_TRY(yk_alloc(context, "values", nonzeros, sizeof *j->value, &j->value));
    j->permuted->value = j->value;
    return YOKE_OK;
}

yoke_status yk_permuted_create(yoke_context *context, const yk_csr *csr, const int32_t *order,
                               const int32_t *position, int threads, yk_csr *permuted)
{
    const yoke_csr nothing = yoke_csr_defaults();
    job j = {.csr = csr, .order = order, .position = position, .permuted = permuted};
    *permuted = (yk_csr){.rows = csr->rows, .nonzeros = csr->nonzeros};
    yoke_status status = allocate(context, &j);
    if (status != YOKE_OK) {
        yk_canonical_free(context, &nothing, permuted);
        return status;
    }
    fill_starts(&j);
    yk_parallel_for(threads, csr->rows, GRAIN, permute_rows, &j);
    return YOKE_OK;
}

void yk_permuted_values(const yk_csr *csr, const int32_t *order, const int32_t *position,
                        int threads, yk_csr *permuted)
{
    job j = {.csr = csr,
             .order = order,
             .position = position,
             .value = (double *)permuted->value,
             .permuted = permuted};
    yk_parallel_for(threads, csr->rows, GRAIN, permute_values, &j);
}
