/* SPDX-License-Identifier: BSD-3-Clause */
/* test_expand.c: large disordered input, threads, and the tools that put it in order. */
#include <stdio.h>

#include "lib/prefix.h"
#include "lib/sort_entries.h"
#include "tests/matrix_fixture.h"

TestSuite(expand, .init = make_context, .fini = drop_context);

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

Test(expand, a_large_disordered_triangle_is_the_operator_it_was)
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

Test(expand, new_values_take_the_way_of_the_first)
{
    yoke_csr csr = random_triangle();
    int64_t count = ((const int64_t *)csr.row_start)[WIDE];
    double *twice = malloc((size_t)count * sizeof *twice);
    for (int64_t k = 0; k < count; k++) twice[k] = 2 * csr.value[k];
    yoke_matrix *matrix = created(&csr);
    size_t bytes = (size_t)matrix->csr.nonzeros * sizeof *twice;
    double *first = malloc(bytes);
    memcpy(first, matrix->csr.value, bytes);
    cr_assert_eq(yoke_matrix_update_values(matrix, twice), YOKE_OK);
    for (int64_t k = 0; k < matrix->csr.nonzeros; k++)
        if (matrix->csr.value[k] != 2 * first[k]) cr_assert_fail("value %d differs", (int)k);
    yoke_matrix_destroy(matrix);
    free(first);
    free(twice);
}

/* Shares of three threads meet inside the arrays; base 1 and 64-bit columns force the copy. */
Test(expand, a_large_ordered_matrix_is_copied_whole)
{
    yoke_csr csr = random_triangle();
    yoke_matrix *matrix = created(&csr);
    const yk_csr *from = &matrix->csr;
    int64_t *start = malloc((WIDE + 1) * sizeof *start);
    int64_t *column = malloc((size_t)from->nonzeros * sizeof *column);
    for (int64_t i = 0; i <= WIDE; i++) start[i] = yk_row_start(from, i) + 1;
    for (int64_t k = 0; k < from->nonzeros; k++) column[k] = from->column[k] + 1;
    csr = csr32(WIDE, NULL, NULL, from->value);
    csr.row_start = start, csr.row_start_type = YOKE_INT64;
    csr.column = column, csr.column_type = YOKE_INT64;
    csr.base = 1;
    yoke_matrix *copy = created(&csr);
    free(start);
    free(column);
    size_t count = (size_t)from->nonzeros;
    cr_assert_eq(copy->csr.nonzeros, from->nonzeros);
    cr_assert_arr_eq(copy->csr.start32, from->start32, (WIDE + 1) * sizeof *from->start32);
    cr_assert_arr_eq(copy->csr.column, from->column, count * sizeof *from->column);
    cr_assert_arr_eq(copy->csr.value, from->value, count * sizeof *from->value);
    yoke_matrix_destroy(copy);
    yoke_matrix_destroy(matrix);
}

Test(expand, the_same_fault_is_named_by_any_number_of_threads)
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

Test(expand, prefix_sums_are_those_of_a_plain_loop)
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

Test(expand, entries_are_sorted_by_column_then_by_source)
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
