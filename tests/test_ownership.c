/* SPDX-License-Identifier: BSD-3-Clause */
/* test_ownership.c: whose arrays a matrix uses, and when they are released. */
#include "tests/matrix_fixture.h"

TestSuite(ownership, .init = make_context, .fini = drop_context);

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

Test(ownership, taken_canonical_arrays_are_used_in_place_and_released_at_the_end)
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

Test(ownership, taken_arrays_that_are_not_used_are_released_at_once)
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

Test(ownership, taken_arrays_are_released_on_every_failure)
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

Test(ownership, without_a_release_taken_arrays_go_to_free)
{
    yoke_csr csr = taken_l3();
    csr.release = NULL;
    yoke_matrix_destroy(created(&csr)); /* the leak checker of the sanitizer job looks on */
}

Test(ownership, adopted_arrays_go_back_where_they_came_from)
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

Test(ownership, outlives_its_context_and_lives_for_its_plans)
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

static int fails_cleanly(yoke_csr (*make)(void))
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
    return failures;
}

static yoke_csr repeated_pair(void)
{
    static const int32_t start[] = {0, 3}, column[] = {0, 0, 0};
    return csr32(1, start, column, l3_value);
}

static yoke_csr taken_disorder(void)
{
    yoke_csr csr = taken_l3();
    ((int32_t *)csr.column)[0] = 1;
    ((int32_t *)csr.column)[1] = 0;
    csr.unsymmetric = YOKE_TRUST;
    return csr;
}

Test(ownership, a_failed_allocation_leaves_nothing_behind)
{
    int attempts = fails_cleanly(taken_disorder);
    cr_assert_eq(releases, 3 * attempts);
    fails_cleanly(l3);
    fails_cleanly(repeated_pair);
}

Test(ownership, an_update_of_a_taken_matrix_writes_the_taken_array)
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
