/* SPDX-License-Identifier: BSD-3-Clause */
/* test_matrix.c: what a caller's CSR or operator becomes, and what is refused. */
#include "tests/matrix_fixture.h"

TestSuite(matrix, .init = make_context, .fini = drop_context);

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
    refused(&csr, yoke_has("cuda") ? YOKE_INVALID : YOKE_NOT_BUILT,
            yoke_has("cuda") ? "row_start is host memory" : "needs CUDA");
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
