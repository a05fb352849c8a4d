/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix_fixture.h: what the suites on matrices share: a context that must end empty, small
 * matrices, and the two ways in which creation ends. Each suite includes it once. */
#ifndef MATRIX_FIXTURE_H
#define MATRIX_FIXTURE_H

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/context.h"
#include "lib/matrix.h"
#include "lib/status.h"

static yoke_context *context;
static int notices;

static inline void count_notice(void *user, yoke_log_level level, const char *text)
{
    (void)user, (void)text;
    notices += level == YOKE_LOG_NOTICE;
}

static inline void make_context(void)
{
    yoke_context_options options = yoke_context_defaults();
    options.log = count_notice;
    options.threads = 3;
    cr_assert_eq(yoke_context_create(&options, &context), YOKE_OK);
}

static inline void drop_context(void)
{
    cr_assert_eq(atomic_load(&context->live_bytes), 0, "not everything was released");
    cr_assert_eq(atomic_load(&context->references), 1, "a matrix is still there");
    yoke_context_destroy(context);
}

/* L(3): tridiag(-1, 2, -1). */
static const int32_t l3_start[] = {0, 2, 5, 7};
static const int32_t l3_column[] = {0, 1, 0, 1, 2, 1, 2};
static const double l3_value[] = {2, -1, -1, 2, -1, -1, 2};

static inline yoke_csr csr32(int64_t rows, const int32_t *start, const int32_t *column,
                             const double *value)
{
    yoke_csr csr = yoke_csr_defaults();
    csr.rows = rows;
    csr.row_start = start;
    csr.column = column;
    csr.value = value;
    return csr;
}

static inline yoke_csr l3(void)
{
    return csr32(3, l3_start, l3_column, l3_value);
}

static inline yoke_matrix *created(const yoke_csr *csr)
{
    yoke_matrix *matrix = NULL;
    yoke_status status = yoke_matrix_create(context, csr, &matrix);
    cr_assert_eq(status, YOKE_OK, "%s", yoke_error_text());
    return matrix;
}

static inline void refused(const yoke_csr *csr, yoke_status expected, const char *sentence)
{
    yoke_matrix *matrix = NULL;
    yoke_status status = yoke_matrix_create(context, csr, &matrix);
    cr_assert_eq(status, expected, "%s: %s", yoke_status_text(status), yoke_error_text());
    cr_assert_null(matrix);
    cr_assert(strstr(yoke_error_text(), sentence), "\"%s\" lacks \"%s\"", yoke_error_text(),
              sentence);
}

static inline void holds(const yoke_matrix *matrix, int64_t rows, const int32_t *start,
                         const int32_t *column, const double *value)
{
    yoke_csr view;
    cr_assert_eq(yoke_matrix_view(matrix, &view), YOKE_OK);
    cr_assert_eq(view.rows, rows);
    cr_assert_eq(yoke_matrix_rows(matrix), rows);
    cr_assert_eq(yoke_matrix_nonzeros(matrix), start[rows]);
    cr_assert_eq(view.base, 0);
    cr_assert_eq(view.triangle, YOKE_FULL);
    cr_assert_eq(view.column_type, YOKE_INT32);
    for (int64_t i = 0; i <= rows; i++) cr_assert_eq(yk_row_start(&matrix->csr, i), start[i]);
    for (int64_t k = 0; k < start[rows]; k++) {
        cr_assert_eq(((const int32_t *)view.column)[k], column[k], "column %d", (int)k);
        cr_assert(view.value[k] == value[k] || (isnan(view.value[k]) && isnan(value[k])),
                  "value %d is %g, expected %g", (int)k, view.value[k], value[k]);
    }
}

/* [[4, above], [below, 4]]; value [4] is the caller's. */
static inline yoke_csr pair(double *value, double above, double below)
{
    static const int32_t start[] = {0, 2, 4}, column[] = {0, 1, 0, 1};
    value[0] = value[3] = 4.0;
    value[1] = above;
    value[2] = below;
    return csr32(2, start, column, value);
}

#endif
