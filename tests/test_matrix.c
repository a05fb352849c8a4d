/* SPDX-License-Identifier: BSD-3-Clause */
/* test_matrix.c: what becomes of a caller's CSR: canonical form, ownership, refusals, updates. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/context.h"
#include "lib/matrix.h"
#include "lib/prefix.h"
#include "lib/sort_entries.h"
#include "lib/status.h"

static yoke_context *context;
static int notices;

static void count_notice(void *user, yoke_log_level level, const char *text)
{
    (void)user, (void)text;
    notices += level == YOKE_LOG_NOTICE;
}

static void make_context(void)
{
    yoke_context_options options = yoke_context_defaults();
    options.log = count_notice;
    options.threads = 3;
    cr_assert_eq(yoke_context_create(&options, &context), YOKE_OK);
}

static void drop_context(void)
{
    cr_assert_eq(atomic_load(&context->live_bytes), 0, "not everything was released");
    cr_assert_eq(atomic_load(&context->references), 1, "a matrix is still there");
    yoke_context_destroy(context);
}

TestSuite(matrix, .init = make_context, .fini = drop_context);

/* L(3): tridiag(-1, 2, -1). */
static const int32_t l3_start[] = {0, 2, 5, 7};
static const int32_t l3_column[] = {0, 1, 0, 1, 2, 1, 2};
static const double l3_value[] = {2, -1, -1, 2, -1, -1, 2};

static yoke_csr csr32(int64_t rows, const int32_t *start, const int32_t *column,
                      const double *value)
{
    yoke_csr csr = yoke_csr_defaults();
    csr.rows = rows;
    csr.row_start = start;
    csr.column = column;
    csr.value = value;
    return csr;
}

static yoke_csr l3(void)
{
    return csr32(3, l3_start, l3_column, l3_value);
}

static yoke_matrix *created(const yoke_csr *csr)
{
    yoke_matrix *matrix = NULL;
    yoke_status status = yoke_matrix_create(context, csr, &matrix);
    cr_assert_eq(status, YOKE_OK, "%s", yoke_error_text());
    return matrix;
}

static void refused(const yoke_csr *csr, yoke_status expected, const char *sentence)
{
    yoke_matrix *matrix = NULL;
    yoke_status status = yoke_matrix_create(context, csr, &matrix);
    cr_assert_eq(status, expected, "%s: %s", yoke_status_text(status), yoke_error_text());
    cr_assert_null(matrix);
    cr_assert(strstr(yoke_error_text(), sentence), "\"%s\" lacks \"%s\"", yoke_error_text(),
              sentence);
}

static void holds(const yoke_matrix *matrix, int64_t rows, const int32_t *start,
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

/* ------------------------------------------------------------- canonical form */

Test(matrix, every_width_base_and_ownership_gives_the_same_matrix)
{
    for (int choice = 0; choice < 16; choice++) {
        int base = choice & 1;
        yoke_csr csr = l3();
        int32_t start32[4], column32[7];
        int64_t start64[4], column64[7];
        for (int i = 0; i < 4; i++) start64[i] = start32[i] = l3_start[i] + base;
        for (int k = 0; k < 7; k++) column64[k] = column32[k] = l3_column[k] + base;
        csr.base = base;
        csr.row_start_type = choice & 2 ? YOKE_INT64 : YOKE_INT32;
        csr.row_start = choice & 2 ? (const void *)start64 : (const void *)start32;
        csr.column_type = choice & 4 ? YOKE_INT64 : YOKE_INT32;
        csr.column = choice & 4 ? (const void *)column64 : (const void *)column32;
        csr.ownership = choice & 8 ? YOKE_BORROW : YOKE_COPY;
        yoke_matrix *matrix = created(&csr);
        if (csr.ownership == YOKE_COPY) {
            memset(start32, 0x7f, sizeof start32);
            memset(start64, 0x7f, sizeof start64);
            memset(column32, 0x7f, sizeof column32);
            memset(column64, 0x7f, sizeof column64);
        }
        holds(matrix, 3, l3_start, l3_column, l3_value);
        yoke_matrix_destroy(matrix);
    }
}

Test(matrix, a_borrowed_canonical_matrix_is_not_copied)
{
    yoke_csr csr = l3();
    const int64_t start64[] = {0, 2, 5, 7};
    csr.ownership = YOKE_BORROW;
    for (int wide = 0; wide < 2; wide++) {
        csr.row_start = wide ? (const void *)start64 : (const void *)l3_start;
        csr.row_start_type = wide ? YOKE_INT64 : YOKE_INT32;
        yoke_matrix *matrix = created(&csr);
        cr_assert_eq(atomic_load(&context->allocations), 0);
        cr_assert_eq(matrix->csr.start32, wide ? NULL : l3_start);
        cr_assert_eq(matrix->csr.start64, wide ? start64 : NULL);
        cr_assert_eq(matrix->csr.column, l3_column);
        cr_assert_eq(matrix->csr.value, l3_value);
        yoke_matrix_destroy(matrix);
    }
}

/* Case 20: the diagonal is not doubled. */
Test(matrix, a_triangle_is_mirrored_without_its_diagonal)
{
    const int32_t start[] = {0, 1, 3}, column[] = {0, 0, 1};
    const double value[] = {2, -1, 2};
    const int32_t full_start[] = {0, 2, 4}, full_column[] = {0, 1, 0, 1};
    const double full_value[] = {2, -1, -1, 2};
    yoke_csr csr = csr32(2, start, column, value);
    csr.triangle = YOKE_LOWER;
    yoke_matrix *matrix = created(&csr);
    cr_assert_eq(yoke_matrix_nonzeros(matrix), 4);
    holds(matrix, 2, full_start, full_column, full_value);
    yoke_matrix_destroy(matrix);
}

/* Case 26. */
Test(matrix, an_upper_triangle_alone_is_accepted)
{
    const int32_t start[] = {1, 3, 5, 6}, column[] = {2, 1, 3, 2, 3};
    const double value[] = {-1, 2, -1, 2, 2};
    yoke_csr csr = csr32(3, start, column, value);
    csr.base = 1;
    csr.triangle = YOKE_UPPER;
    yoke_matrix *matrix = created(&csr);
    holds(matrix, 3, l3_start, l3_column, l3_value);
    yoke_matrix_destroy(matrix);
}

Test(matrix, an_entry_of_the_other_triangle_is_named)
{
    yoke_csr csr = l3();
    csr.triangle = YOKE_LOWER;
    refused(&csr, YOKE_INVALID, "column[1], in row 0, is 1: above the diagonal");
    csr.triangle = YOKE_UPPER;
    refused(&csr, YOKE_INVALID, "column[2], in row 1, is 0: below the diagonal");
}

/* Case 25. The sum in the order given: (1e16 + 1) - 1e16 is 0, another order gives 1. */
Test(matrix, columns_are_sorted_and_repeats_summed_in_the_order_given)
{
    const int32_t start[] = {0, 4, 6}, column[] = {1, 0, 0, 0, 1, 0};
    const double value[] = {-1, 1e16, 1, -1e16, 2, -1};
    const int32_t sorted_start[] = {0, 2, 4}, sorted_column[] = {0, 1, 0, 1};
    const double sorted_value[] = {0, -1, -1, 2};
    for (int ownership = YOKE_COPY; ownership <= YOKE_BORROW; ownership++) {
        yoke_csr csr = csr32(2, start, column, value);
        csr.ownership = (yoke_ownership)ownership;
        yoke_matrix *matrix = created(&csr);
        holds(matrix, 2, sorted_start, sorted_column, sorted_value);
        yoke_matrix_destroy(matrix);
    }
}

Test(matrix, unsorted_and_repeated_are_refused_by_name_when_asked)
{
    const int32_t start[] = {0, 2, 5}, column[] = {1, 0, 1, 0, 1};
    const double value[] = {-1, 2, 1, -1, 1};
    yoke_csr csr = csr32(2, start, column, value);
    csr.unsorted = YOKE_REFUSE;
    refused(&csr, YOKE_UNSUITABLE, "column[1], in row 0, is 0 after 1");
    csr.unsorted = YOKE_FIX;
    csr.repeated = YOKE_REFUSE;
    refused(&csr, YOKE_UNSUITABLE, "column[4], in row 1, is 1 again");
}

Test(matrix, sorted_repeats_are_refused_when_asked)
{
    const int32_t start[] = {0, 2}, column[] = {0, 0};
    const double value[] = {1, 1};
    yoke_csr csr = csr32(1, start, column, value);
    csr.repeated = YOKE_REFUSE;
    refused(&csr, YOKE_UNSUITABLE, "column[1], in row 0, is 0 again");
    csr.repeated = YOKE_FIX;
    yoke_matrix *matrix = created(&csr);
    cr_assert_eq(yoke_matrix_nonzeros(matrix), 1);
    cr_assert_eq(matrix->csr.value[0], 2.0);
    yoke_matrix_destroy(matrix);
}

/* -------------------------------------------------------------- many threads */

static uint64_t state = 1;

/* Marsaglia's xorshift64 (J. Stat. Software 8, 14, 2003). */
static int64_t random_below(int64_t bound)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (int64_t)(state % (uint64_t)bound);
}

enum { WIDE = 6000, PER_ROW = 7 };

/* A lower triangle with columns in any order and repeats; row WIDE - 1 is long. Values are small
 * integers, so that sums are exact in every order. */
static yoke_csr random_triangle(void)
{
    int64_t count = 0, most = (int64_t)WIDE * PER_ROW + WIDE;
    int64_t *start = malloc((WIDE + 1) * sizeof *start);
    int32_t *column = malloc((size_t)most * sizeof *column);
    double *value = malloc((size_t)most * sizeof *value);
    for (int64_t row = 0; row < WIDE; row++) {
        start[row] = count;
        for (int k = 0; k < (row == WIDE - 1 ? WIDE : PER_ROW); k++) {
            column[count] = (int32_t)random_below(row + 1);
            value[count++] = (double)(1 + random_below(9));
        }
    }
    start[WIDE] = count;
    yoke_csr csr = yoke_csr_defaults();
    csr.rows = WIDE;
    csr.row_start = start;
    csr.row_start_type = YOKE_INT64;
    csr.column = column;
    csr.value = value;
    csr.ownership = YOKE_TAKE;
    csr.triangle = YOKE_LOWER;
    return csr;
}

/* out = A v straight from the given entries; integers stay exact. */
static void multiply_given(const yoke_csr *csr, const double *v, double *out)
{
    const int64_t *start = csr->row_start;
    const int32_t *column = csr->column;
    memset(out, 0, WIDE * sizeof *out);
    for (int64_t i = 0; i < WIDE; i++)
        for (int64_t k = start[i]; k < start[i + 1]; k++) {
            out[i] += csr->value[k] * v[column[k]];
            if (column[k] != i) out[column[k]] += csr->value[k] * v[i];
        }
}

static void multiply_canonical(const yk_csr *csr, const double *v, double *out)
{
    for (int64_t i = 0; i < csr->rows; i++) {
        out[i] = 0;
        for (int64_t k = yk_row_start(csr, i); k < yk_row_start(csr, i + 1); k++) {
            if (k > yk_row_start(csr, i)) cr_assert_lt(csr->column[k - 1], csr->column[k]);
            out[i] += csr->value[k] * v[csr->column[k]];
        }
    }
}

Test(matrix, a_large_disordered_triangle_is_the_operator_it_was)
{
    static double v[WIDE], expected[WIDE], got[WIDE];
    yoke_csr csr = random_triangle();
    for (int i = 0; i < WIDE; i++) v[i] = (double)random_below(100);
    multiply_given(&csr, v, expected);
    yoke_matrix *matrix = created(&csr);
    multiply_canonical(&matrix->csr, v, got);
    cr_assert_arr_eq(got, expected, sizeof got);
    bool needs_mean = true;
    cr_assert_eq(yk_matrix_symmetrise(&matrix->csr, NULL, 3, false, &needs_mean), YOKE_OK);
    cr_assert_not(needs_mean);
    yoke_matrix_destroy(matrix);
}

Test(matrix, the_same_fault_is_named_by_any_number_of_threads)
{
    yoke_csr csr = random_triangle();
    yoke_matrix *matrix = created(&csr);
    yk_csr *canonical = &matrix->csr;
    double *value = (double *)canonical->value;
    for (int64_t row = 4500; row > 1500; row -= 1000) /* the earliest is planted last */
        value[yk_row_start(canonical, row)] += 100;
    char first[256] = "";
    for (int threads = 1; threads <= 7; threads += 2) {
        yoke_status status = yk_matrix_symmetrise(canonical, NULL, threads, false, NULL);
        cr_assert_eq(status, YOKE_UNSUITABLE);
        if (threads == 1) snprintf(first, sizeof first, "%s", yoke_error_text());
        cr_assert_str_eq(yoke_error_text(), first);
    }
    yoke_matrix_destroy(matrix);
}

Test(matrix, prefix_sums_are_those_of_a_plain_loop)
{
    enum { MOST = 1200000 };
    static int64_t start[MOST + 1];
    const int64_t lengths[] = {0, 1, 4096, 4097, 1048576, MOST};
    for (size_t t = 0; t < sizeof lengths / sizeof *lengths; t++) {
        int64_t rows = lengths[t], sum = 0;
        for (int64_t i = 0; i < rows; i++) start[i] = i % 5;
        yk_prefix_sum(3, rows, start);
        for (int64_t i = 0; i < rows; sum += i % 5, i++)
            if (start[i] != sum) cr_assert_eq(start[i], sum, "row %d", (int)i);
        cr_assert_eq(start[rows], sum);
    }
}

Test(matrix, entries_are_sorted_by_column_then_by_source)
{
    static yk_entry entry[5000];
    for (int count = 1; count <= 5000; count += count < 70 ? 1 : 1643) {
        for (int i = 0; i < count; i++)
            entry[i] = (yk_entry){count - i, (int32_t)random_below(1 + count / 3)};
        yk_sort_entries(entry, count);
        for (int i = 1; i < count; i++)
            cr_assert(
                entry[i - 1].column < entry[i].column ||
                (entry[i - 1].column == entry[i].column && entry[i - 1].source < entry[i].source));
    }
}

/* ---------------------------------------------------------- small and wrong */

/* Case 27. */
Test(matrix, no_rows_no_nonzeros_and_empty_rows_are_matrices)
{
    const int32_t zeros[] = {0, 0, 0, 0}, one[] = {0, 0, 1, 1}, column[] = {1};
    const double value[] = {4};
    for (int ownership = YOKE_COPY; ownership <= YOKE_BORROW; ownership++)
        for (int triangle = YOKE_FULL; triangle <= YOKE_UPPER; triangle++) {
            const yoke_csr shapes[] = {csr32(0, zeros, NULL, NULL), csr32(3, zeros, NULL, NULL),
                                       csr32(3, one, column, value)};
            for (int s = 0; s < 3; s++) {
                yoke_csr csr = shapes[s];
                csr.ownership = (yoke_ownership)ownership;
                csr.triangle = (yoke_triangle)triangle;
                yoke_matrix *matrix = created(&csr);
                holds(matrix, csr.rows, csr.row_start, column, value);
                cr_assert(matrix->csr.column && matrix->csr.value);
                yoke_matrix_destroy(matrix);
            }
        }
}

Test(matrix, columns_out_of_range_are_named_in_the_callers_base)
{
    const int32_t start[] = {1, 2, 3}, low[] = {1, 0}, high[] = {1, 3};
    const int64_t least[] = {1, INT64_MIN}, most[] = {1, INT64_MAX};
    yoke_csr csr = csr32(2, start, low, l3_value);
    csr.base = 1;
    refused(&csr, YOKE_INVALID, "column[1], in row 2, is 0, expected 1 to 2");
    csr.column = high;
    refused(&csr, YOKE_INVALID, "column[1], in row 2, is 3, expected 1 to 2");
    csr.column_type = YOKE_INT64;
    csr.column = least;
    refused(&csr, YOKE_INVALID, "is -9223372036854775808, expected 1 to 2");
    csr.column = most;
    refused(&csr, YOKE_INVALID, "is 9223372036854775807, expected 1 to 2");
}

Test(matrix, a_wrong_row_start_is_named)
{
    const int32_t begins_late[] = {1, 2, 3, 4}, falls[] = {0, 5, 2, 7};
    yoke_csr csr = l3();
    csr.row_start = begins_late;
    refused(&csr, YOKE_INVALID, "row_start[0] is 1, expected the base, 0");
    csr.row_start = falls;
    refused(&csr, YOKE_INVALID, "row_start falls from 5 to 2 at row 1");
    csr.row_start = NULL;
    refused(&csr, YOKE_INVALID, "row_start is NULL");
}

Test(matrix, wrong_fields_are_named)
{
    yoke_csr csr = l3();
    csr.struct_size = 7;
    refused(&csr, YOKE_INVALID, "struct_size is 7");
    csr = l3(), csr.rows = -1;
    refused(&csr, YOKE_INVALID, "rows is -1");
    csr = l3(), csr.base = 2;
    refused(&csr, YOKE_INVALID, "base is 2");
    csr = l3(), csr.column_type = (yoke_index_type)16;
    refused(&csr, YOKE_INVALID, "column_type is 16");
    csr = l3(), csr.value_type = (yoke_value_type)32;
    refused(&csr, YOKE_INVALID, "value_type is 32");
    csr = l3(), csr.ownership = (yoke_ownership)9;
    refused(&csr, YOKE_INVALID, "ownership is 9");
    csr = l3(), csr.triangle = (yoke_triangle)-4;
    refused(&csr, YOKE_INVALID, "triangle is -4");
    csr = l3(), csr.unsymmetric = YOKE_FIX;
    refused(&csr, YOKE_INVALID, "unsymmetric is 0");
    csr = l3(), csr.space = YOKE_DEVICE_MEMORY;
    refused(&csr, YOKE_NOT_BUILT, "needs CUDA");
    csr = l3(), csr.column = NULL;
    refused(&csr, YOKE_INVALID, "column is NULL, but there are 7 nonzeros");
    csr = l3(), csr.value = NULL;
    refused(&csr, YOKE_INVALID, "value is NULL, but there are 7 nonzeros");
    cr_assert_eq(yoke_matrix_create(context, NULL, NULL), YOKE_INVALID);
    cr_assert_eq(yoke_matrix_create(NULL, &csr, NULL), YOKE_INVALID);
}

/* Case 28: a size that no index holds is overflow, before any array is read. */
Test(matrix, sizes_beyond_an_index_are_overflow)
{
    const int64_t huge[] = {0, INT64_MAX / 4};
    yoke_csr csr = l3();
    csr.rows = (int64_t)INT32_MAX + 1;
    refused(&csr, YOKE_OVERFLOW, "2147483648 rows exceed the 2147483647");
    csr.rows = 3000000000;
    refused(&csr, YOKE_OVERFLOW, "3000000000 rows exceed");
    csr = l3();
    csr.rows = 1;
    csr.row_start = huge;
    csr.row_start_type = YOKE_INT64;
    refused(&csr, YOKE_OVERFLOW, "values: 2305843009213693951 items");
}

/* ----------------------------------------------------------------- ownership */

static int releases;

static void count_release(void *user, void *array)
{
    cr_assert_eq(user, &releases);
    releases++;
    free(array);
}

static void *heap_copy(const void *array, size_t bytes)
{
    void *copy = malloc(bytes);
    memcpy(copy, array, bytes);
    return copy;
}

static yoke_csr taken_l3(void)
{
    yoke_csr csr =
        csr32(3, heap_copy(l3_start, sizeof l3_start), heap_copy(l3_column, sizeof l3_column),
              heap_copy(l3_value, sizeof l3_value));
    csr.ownership = YOKE_TAKE;
    csr.release = count_release;
    csr.release_user = &releases;
    return csr;
}

Test(matrix, taken_canonical_arrays_are_used_in_place_and_released_at_the_end)
{
    yoke_csr csr = taken_l3();
    yoke_matrix *matrix = created(&csr);
    cr_assert_eq(matrix->csr.column, csr.column);
    cr_assert_eq(matrix->csr.value, csr.value);
    cr_assert_eq(releases, 0);
    holds(matrix, 3, l3_start, l3_column, l3_value);
    yoke_matrix_destroy(matrix);
    cr_assert_eq(releases, 3);
}

Test(matrix, taken_arrays_that_are_not_used_are_released_at_once)
{
    yoke_csr csr = taken_l3();
    ((int32_t *)csr.column)[0] = 1;
    ((int32_t *)csr.column)[1] = 0;
    ((double *)csr.value)[0] = -1;
    ((double *)csr.value)[1] = 2;
    yoke_matrix *matrix = created(&csr);
    cr_assert_eq(releases, 3);
    holds(matrix, 3, l3_start, l3_column, l3_value);
    yoke_matrix_destroy(matrix);
    cr_assert_eq(releases, 3);
}

Test(matrix, taken_arrays_are_released_on_every_failure)
{
    yoke_csr csr = taken_l3();
    csr.base = 7; /* refused by its fields */
    refused(&csr, YOKE_INVALID, "base is 7");
    cr_assert_eq(releases, 3);
    csr = taken_l3();
    ((double *)csr.value)[1] = 5.0; /* refused after the arrays were in use */
    refused(&csr, YOKE_UNSUITABLE, "not symmetric");
    cr_assert_eq(releases, 6);
    csr = taken_l3();
    yoke_matrix *matrix = NULL;
    cr_assert_eq(yoke_matrix_create(NULL, &csr, &matrix), YOKE_INVALID);
    cr_assert_eq(releases, 9);
}

Test(matrix, without_a_release_taken_arrays_go_to_free)
{
    yoke_csr csr = taken_l3();
    csr.release = NULL;
    yoke_matrix_destroy(created(&csr)); /* the leak checker of the sanitizer job looks on */
}

Test(matrix, adopted_arrays_go_back_where_they_came_from)
{
    yk_csr csr = {.rows = 1, .nonzeros = 1};
    int32_t *start, *column;
    double *value;
    cr_assert_eq(yk_alloc(context, "row starts", 2, sizeof *start, &start), YOKE_OK);
    cr_assert_eq(yk_alloc(context, "columns", 1, sizeof *column, &column), YOKE_OK);
    cr_assert_eq(yk_alloc(context, "values", 1, sizeof *value, &value), YOKE_OK);
    start[0] = 0, start[1] = 1, column[0] = 0, value[0] = 3.0;
    csr.start32 = start, csr.column = column, csr.value = value;
    yoke_matrix *matrix = NULL;
    cr_assert_eq(yk_matrix_adopt(context, &csr, &matrix), YOKE_OK);
    double four = 4.0;
    cr_assert_eq(yoke_matrix_update_values(matrix, &four), YOKE_OK);
    cr_assert_eq(matrix->csr.value, value);
    cr_assert_eq(value[0], 4.0);
    yoke_matrix_destroy(matrix);
}

Test(matrix, outlives_its_context_and_lives_for_its_plans)
{
    yoke_context *other = NULL;
    yoke_matrix *matrix = NULL;
    yoke_csr csr = l3();
    cr_assert_eq(yoke_context_create(NULL, &other), YOKE_OK);
    cr_assert_eq(yoke_matrix_create(other, &csr, &matrix), YOKE_OK);
    yk_matrix_retain(matrix);
    yoke_context_destroy(other);
    yoke_matrix_destroy(matrix);
    holds(matrix, 3, l3_start, l3_column, l3_value);
    yk_matrix_release(matrix);
}

/* Allocation number `failing` fails; each failure must leave nothing behind. */
static int failing;

static void *allocate_some(void *user, size_t alignment, size_t bytes)
{
    (void)user;
    return failing-- == 0 ? NULL : aligned_alloc(alignment, bytes);
}

static void release_some(void *user, void *memory, size_t bytes)
{
    (void)user, (void)bytes;
    free(memory);
}

static void fails_cleanly(yoke_csr (*make)(void))
{
    yoke_context_options options = yoke_context_defaults();
    options.allocate = allocate_some;
    options.release = release_some;
    yoke_context *poor = NULL;
    cr_assert_eq(yoke_context_create(&options, &poor), YOKE_OK);
    int failures = 0;
    for (yoke_matrix *matrix = NULL; !matrix; failures++) {
        yoke_csr csr = make();
        failing = failures;
        yoke_status status = yoke_matrix_create(poor, &csr, &matrix);
        cr_assert_eq(status, matrix ? YOKE_OK : YOKE_NO_MEMORY);
        if (matrix) yoke_matrix_destroy(matrix);
        cr_assert_eq(atomic_load(&poor->live_bytes), 0, "failure %d", failures);
    }
    cr_assert_gt(failures, 3);
    yoke_context_destroy(poor);
}

static yoke_csr repeated_pair(void)
{
    static const int32_t start[] = {0, 3}, column[] = {0, 0, 0};
    return csr32(1, start, column, l3_value);
}

Test(matrix, a_failed_allocation_leaves_nothing_behind)
{
    fails_cleanly(l3);
    fails_cleanly(repeated_pair);
}

/* ------------------------------------------------------------------ symmetry */

static yoke_csr pair(double *value, double above, double below)
{
    static const int32_t start[] = {0, 2, 4}, column[] = {0, 1, 0, 1};
    value[0] = value[3] = 4.0;
    value[1] = above;
    value[2] = below;
    return csr32(2, start, column, value);
}

Test(matrix, the_first_unsymmetric_pair_is_named_with_both_values)
{
    double value[4];
    yoke_csr csr = pair(value, 1.5, 2.5);
    refused(&csr, YOKE_UNSUITABLE, "entry (0, 1) is 1.5, but (1, 0) is 2.5");
    csr = pair(value, NAN, 1.0);
    refused(&csr, YOKE_UNSUITABLE, "entry (0, 1) is nan, but (1, 0) is 1");
    csr = pair(value, INFINITY, 1.0);
    refused(&csr, YOKE_UNSUITABLE, "entry (0, 1) is inf, but (1, 0) is 1");
    csr = pair(value, INFINITY, -INFINITY);
    refused(&csr, YOKE_UNSUITABLE, "entry (0, 1) is inf, but (1, 0) is -inf");
    csr = pair(value, 1.0, 1.0 + 3e-12);
    refused(&csr, YOKE_UNSUITABLE, "not symmetric");
    csr = pair(value, 1.5, 2.5);
    csr.unsymmetric = YOKE_TRUST;
    yoke_matrix_destroy(created(&csr));
}

Test(matrix, equal_nans_and_infinities_are_symmetric)
{
    double value[4];
    yoke_csr csr = pair(value, NAN, NAN);
    yoke_matrix_destroy(created(&csr));
    csr = pair(value, INFINITY, INFINITY);
    yoke_matrix_destroy(created(&csr));
    csr = pair(value, 0.0, -0.0);
    yoke_matrix_destroy(created(&csr));
}

Test(matrix, a_missing_mirror_is_fine_for_an_explicit_zero_only)
{
    const int32_t start_above[] = {0, 2, 3}, column_above[] = {0, 1, 1};
    const int32_t start_below[] = {1, 2, 4}, column_below[] = {1, 1, 2};
    const double zero_above[] = {1, 0, 1}, one_above[] = {1, 5, 1};
    yoke_csr csr = csr32(2, start_above, column_above, zero_above);
    yoke_matrix_destroy(created(&csr));
    csr.value = one_above;
    refused(&csr, YOKE_UNSUITABLE, "entry (0, 1) is 5, but (1, 0) is not there");
    csr = csr32(2, start_below, column_below, one_above);
    csr.base = 1;
    refused(&csr, YOKE_UNSUITABLE, "entry (2, 1) is 5, but (1, 2) is not there");
    csr.value = zero_above;
    yoke_matrix_destroy(created(&csr));
}

Test(matrix, a_difference_of_round_off_is_averaged_in_a_copy_and_told)
{
    double value[4], above = 1.0, below = 1.0 + 0x1p-41;
    yoke_csr csr = pair(value, above, below);
    csr.ownership = YOKE_BORROW;
    yoke_matrix *matrix = created(&csr);
    cr_assert_neq(matrix->csr.value, value, "the borrowed array stays unchanged");
    cr_assert_eq(value[1], above);
    cr_assert_eq(matrix->csr.value[1], 1.0 + 0x1p-42);
    cr_assert_eq(matrix->csr.value[2], 1.0 + 0x1p-42);
    cr_assert_eq(matrix->csr.value[3], 4.0);
    cr_assert(strstr(matrix->notice, "round-off"));
    cr_assert_eq(notices, 1);
    pair(value, 3.0, 3.0);
    cr_assert_eq(yoke_matrix_update_values(matrix, value), YOKE_OK);
    cr_assert_eq(matrix->csr.value, value, "now it can be borrowed");
    cr_assert_str_empty(matrix->notice);
    yoke_matrix_destroy(matrix);
}

/* ------------------------------------------------------------------- updates */

Test(matrix, new_values_reach_their_places_whatever_the_input_was)
{
    const int32_t start[] = {0, 1, 4}, column[] = {0, 1, 0, 1};
    const int32_t full_start[] = {0, 2, 4}, full_column[] = {0, 1, 0, 1};
    const double value[] = {7, 1, -1, 2}, next[] = {8, 1e16, -3, 1};
    const double full_value[] = {7, -1, -1, 3}, full_next[] = {8, -3, -3, 1e16};
    yoke_csr csr = csr32(2, start, column, value);
    csr.triangle = YOKE_LOWER;
    yoke_matrix *matrix = created(&csr);
    holds(matrix, 2, full_start, full_column, full_value);
    long long version = atomic_load(&matrix->version);
    long long allocations = atomic_load(&context->allocations);
    cr_assert_eq(yoke_matrix_update_values(matrix, next), YOKE_OK);
    holds(matrix, 2, full_start, full_column, full_next);
    cr_assert_gt(atomic_load(&matrix->version), version);
    cr_assert_eq(atomic_load(&context->allocations), allocations, "a triangle needs no new array");
    yoke_matrix_destroy(matrix);
}

/* Every way in which values enter: in place, copied, gathered through the origin. */
static void keeps_old_values(yoke_csr csr, const double *good, const double *wrong)
{
    yoke_matrix *matrix = created(&csr);
    double before[4], after[4];
    cr_assert_eq(yoke_matrix_update_values(matrix, good), YOKE_OK);
    memcpy(before, matrix->csr.value, sizeof before);
    long long version = atomic_load(&matrix->version);
    cr_assert_eq(yoke_matrix_update_values(matrix, wrong), YOKE_UNSUITABLE);
    cr_assert_eq(yoke_matrix_update_values(matrix, NULL), YOKE_INVALID);
    memcpy(after, matrix->csr.value, sizeof after);
    cr_assert_arr_eq(after, before, sizeof after);
    cr_assert_eq(atomic_load(&matrix->version), version);
    cr_assert_eq(atomic_load(&matrix->solving), 0);
    yoke_matrix_destroy(matrix);
}

Test(matrix, an_update_that_is_refused_keeps_the_old_values)
{
    static const int32_t unsorted[] = {1, 0, 1, 0};
    double value[4], good[] = {5, 3, 3, 5}, wrong[] = {5, 3, 4, 5};
    yoke_csr csr = pair(value, 1, 1);
    keeps_old_values(csr, good, wrong);
    csr.ownership = YOKE_BORROW;
    keeps_old_values(csr, good, wrong);
    double good_unsorted[] = {3, 5, 5, 3}, wrong_unsorted[] = {3, 5, 5, 4};
    csr.ownership = YOKE_COPY;
    csr.column = unsorted;
    value[0] = value[3] = 1, value[1] = value[2] = 4;
    keeps_old_values(csr, good_unsorted, wrong_unsorted);
}

Test(matrix, round_off_in_an_update_is_averaged_too)
{
    double value[4], next[] = {4, 1, 1 + 0x1p-41, 4};
    yoke_csr csr = pair(value, 2, 2);
    yoke_matrix *matrix = created(&csr);
    cr_assert_eq(yoke_matrix_update_values(matrix, next), YOKE_OK);
    cr_assert_eq(matrix->csr.value[1], 1 + 0x1p-42);
    cr_assert_eq(matrix->csr.value[2], 1 + 0x1p-42);
    cr_assert_eq(notices, 1);
    yoke_matrix_destroy(matrix);
}

Test(matrix, values_are_not_updated_under_a_solve)
{
    yoke_csr csr = l3();
    yoke_matrix *matrix = created(&csr);
    atomic_store(&matrix->solving, 2);
    cr_assert_eq(yoke_matrix_update_values(matrix, l3_value), YOKE_BUSY);
    cr_assert(strstr(yoke_error_text(), "2 solves"));
    cr_assert_eq(atomic_load(&matrix->solving), 2);
    atomic_store(&matrix->solving, 0);
    cr_assert_eq(yoke_matrix_update_values(matrix, l3_value), YOKE_OK);
    yoke_matrix_destroy(matrix);
}

Test(matrix, an_update_of_a_taken_matrix_writes_the_taken_array)
{
    yoke_csr csr = taken_l3();
    yoke_matrix *matrix = created(&csr);
    double next[] = {3, -1, -1, 3, -1, -1, 3};
    cr_assert_eq(yoke_matrix_update_values(matrix, next), YOKE_OK);
    cr_assert_eq(matrix->csr.value, csr.value);
    holds(matrix, 3, l3_start, l3_column, next);
    yoke_matrix_destroy(matrix);
    cr_assert_eq(releases, 3);
}

/* ----------------------------------------------------------------- operators */

static int twice(void *user, int nrhs, const double *in, double *out, yoke_space space,
                 void *stream)
{
    (void)user, (void)nrhs, (void)in, (void)out, (void)space, (void)stream;
    return 0;
}

Test(matrix, an_operator_has_rows_and_no_entries)
{
    double diagonal[] = {1, 2};
    yoke_operator op = yoke_operator_defaults();
    yoke_matrix *matrix = NULL;
    yoke_csr view;
    op.rows = 2;
    cr_assert_eq(yoke_matrix_create_operator(context, &op, &matrix), YOKE_INVALID);
    op.apply = twice;
    op.diagonal = diagonal;
    cr_assert_eq(yoke_matrix_create_operator(context, &op, &matrix), YOKE_OK);
    diagonal[1] = 9;
    cr_assert_eq(matrix->op.diagonal[1], 2.0);
    cr_assert_eq(yoke_matrix_rows(matrix), 2);
    cr_assert_eq(yoke_matrix_nonzeros(matrix), -1);
    cr_assert_eq(yoke_matrix_view(matrix, &view), YOKE_UNSUITABLE);
    cr_assert_eq(yoke_matrix_update_values(matrix, diagonal), YOKE_UNSUITABLE);
    cr_assert(yoke_matrix_usable(matrix));
    yoke_matrix_destroy(matrix);
    op.flags = 64;
    cr_assert_eq(yoke_matrix_create_operator(context, &op, &matrix), YOKE_INVALID);
    yoke_matrix_destroy(NULL);
    cr_assert_not(yoke_matrix_usable(NULL));
}
