/* SPDX-License-Identifier: BSD-3-Clause */
/* test_values.c: symmetry of values, at creation and in updates. */
#include "tests/matrix_fixture.h"

TestSuite(values, .init = make_context, .fini = drop_context);

/* ------------------------------------------------------------------ symmetry */

Test(values, the_first_unsymmetric_pair_is_named_with_both_values)
{
    double value[4];
    yoke_csr csr = pair(value, 1.5, 2.5);
    refused(&csr, YOKE_UNSUITABLE, "entry (0, 1) is 1.5, but (1, 0) is 2.5");
    csr = pair(value, 1.0, 1.0 + 3e-12);
    refused(&csr, YOKE_UNSUITABLE, "not symmetric");
    csr = pair(value, 1.5, 2.5);
    csr.unsymmetric = YOKE_TRUST;
    yoke_matrix_destroy(created(&csr));
}

Test(values, what_is_not_finite_is_left_to_the_solve_to_name)
{
    double value[4];
    yoke_csr csr = pair(value, NAN, 1.0);
    yoke_matrix_destroy(created(&csr));
    csr = pair(value, INFINITY, -INFINITY);
    yoke_matrix_destroy(created(&csr));
    csr = pair(value, 0.0, -0.0);
    yoke_matrix_destroy(created(&csr));
}

Test(values, a_missing_mirror_is_fine_for_an_explicit_zero_only)
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

Test(values, a_difference_of_round_off_is_averaged_in_a_copy_and_told)
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

Test(values, new_values_reach_their_places_whatever_the_input_was)
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

Test(values, an_update_that_is_refused_keeps_the_old_values)
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

Test(values, round_off_in_an_update_is_averaged_too)
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

Test(values, values_are_not_updated_under_a_solve)
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
