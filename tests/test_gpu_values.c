/* SPDX-License-Identifier: BSD-3-Clause */
/* test_gpu_values.c: matrices and new values from device and managed memory. Without a GPU every
 * test is skipped, or with YOKE_REQUIRE_GPU=1 fails. */
#include <stdatomic.h>

#include "lib/context.h"
#include "lib/cuda/device.h"
#include "lib/matrix.h"
#include "tests/cuda_calls.h"
#include "tests/need_gpu.h"
#include "tests/systems.h"

/* The library has used a device, as it has in most processes that hand in device memory. */
static void open_gpu(void)
{
    yk_device device;
    need_gpu();
    MUST(yk_device_open(0, &device));
    yk_device_close(&device);
}

TestSuite(gpu_values, .init = open_gpu, .timeout = 120.0);

enum { ROWS = 1600 };

/* tridiag(-1, 2, -1), of which a triangle may be given, with indices of any width and base. */
typedef struct arrays {
    yoke_csr csr;
    size_t start_bytes, column_bytes, value_bytes;
    double *value;
} arrays;

static void put(void *array, yoke_index_type type, int64_t k, int64_t index)
{
    if (type == YOKE_INT32)
        ((int32_t *)array)[k] = (int32_t)index;
    else
        ((int64_t *)array)[k] = index;
}

static arrays tridiagonal_arrays(yoke_index_type type, int base, yoke_triangle triangle)
{
    size_t size = type == YOKE_INT32 ? 4 : 8;
    arrays a = {.csr = yoke_csr_defaults()};
    void *start = keep(calloc(ROWS + 1, size)), *column = keep(calloc(3 * ROWS, size));
    int64_t count = 0;
    a.value = filled(3 * ROWS, 0.0);
    for (int64_t i = 0; i < ROWS; i++) {
        put(start, type, i, count + base);
        for (int64_t j = i > 0 ? i - 1 : 0; j <= i + 1 && j < ROWS; j++) {
            if (triangle == YOKE_LOWER && j > i) continue;
            put(column, type, count, j + base);
            a.value[count++] = i == j ? 2.0 : -1.0;
        }
    }
    put(start, type, ROWS, count + base);
    a.start_bytes = (ROWS + 1) * size;
    a.column_bytes = (size_t)count * size;
    a.value_bytes = (size_t)count * sizeof(double);
    a.csr.rows = ROWS;
    a.csr.row_start = start;
    a.csr.column = column;
    a.csr.value = a.value;
    a.csr.row_start_type = a.csr.column_type = type;
    a.csr.base = base;
    a.csr.triangle = triangle;
    return a;
}

static arrays on_device(const arrays *a, memory_kind kind)
{
    arrays d = *a;
    d.csr.space = YOKE_DEVICE_MEMORY;
    d.csr.row_start = placed(kind, a->csr.row_start, a->start_bytes);
    d.csr.column = placed(kind, a->csr.column, a->column_bytes);
    d.csr.value = d.value = placed(kind, a->csr.value, a->value_bytes);
    return d;
}

static void free_arrays(const arrays *d, memory_kind kind)
{
    unplace(kind, (void *)d->csr.row_start);
    unplace(kind, (void *)d->csr.column);
    unplace(kind, d->value);
}

static yoke_matrix *created(yoke_context *context, const yoke_csr *csr)
{
    yoke_matrix *matrix = NULL;
    MUST(yoke_matrix_create(context, csr, &matrix));
    return matrix;
}

static void expect_same(const yoke_matrix *matrix, const yoke_matrix *expected, const char *what)
{
    const yk_csr *csr = &matrix->csr, *other = &expected->csr;
    size_t n = (size_t)other->nonzeros;
    cr_assert_eq(csr->nonzeros, other->nonzeros, "%s", what);
    cr_assert_eq(memcmp(csr->start32, other->start32, (ROWS + 1) * sizeof(int32_t)), 0, "%s", what);
    cr_assert_eq(memcmp(csr->column, other->column, n * sizeof(int32_t)), 0, "%s", what);
    cr_assert_eq(memcmp(csr->value, other->value, n * sizeof(double)), 0, "%s", what);
}

static const struct {
    yoke_index_type type;
    int base;
    yoke_triangle triangle;
    yoke_ownership ownership;
    memory_kind kind;
    const char *name;
} forms[] = {
    {YOKE_INT32, 0, YOKE_FULL, YOKE_COPY, DEVICE, "full, copied"},
    {YOKE_INT32, 0, YOKE_FULL, YOKE_BORROW, DEVICE, "full, borrowed"},
    {YOKE_INT64, 1, YOKE_LOWER, YOKE_COPY, DEVICE, "lower triangle, 64 bits, from 1"},
    {YOKE_INT32, 1, YOKE_FULL, YOKE_BORROW, MANAGED, "managed, from 1, borrowed"},
};

Test(gpu_values, a_matrix_from_device_arrays_is_that_of_host_arrays)
{
    yoke_context *context = new_context();
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        arrays host = tridiagonal_arrays(forms[k].type, forms[k].base, forms[k].triangle);
        arrays device = on_device(&host, forms[k].kind);
        device.csr.ownership = forms[k].ownership;
        yoke_matrix *expected = created(context, &host.csr), *matrix = NULL;
        matrix = created(context, &device.csr);
        free_arrays(&device, forms[k].kind); /* nothing of a device's is used in place */
        expect_same(matrix, expected, forms[k].name);
        yoke_matrix_destroy(matrix);
        yoke_matrix_destroy(expected);
    }
}

static int releases;

static void release_device(void *user, void *array)
{
    (void)user;
    releases++;
    unplace(DEVICE, array);
}

Test(gpu_values, device_arrays_that_are_taken_need_a_release_and_get_it)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = NULL;
    arrays host = tridiagonal_arrays(YOKE_INT32, 0, YOKE_FULL);
    arrays device = on_device(&host, DEVICE);
    device.csr.ownership = YOKE_TAKE;
    cr_assert_eq(yoke_matrix_create(context, &device.csr, &matrix), YOKE_INVALID);
    cr_assert(strstr(yoke_error_text(), "needs yoke_csr.release"), "%s", yoke_error_text());
    device.csr.release = release_device;
    matrix = created(context, &device.csr);
    cr_assert_eq(releases, 3);
    yoke_matrix_destroy(matrix);
    host.value[0] = -5.0, host.value[1] = 7.0; /* not symmetric: released on failure too */
    device = on_device(&host, DEVICE);
    device.csr.ownership = YOKE_TAKE;
    device.csr.release = release_device;
    cr_assert_eq(yoke_matrix_create(context, &device.csr, &matrix), YOKE_UNSUITABLE);
    cr_assert_eq(releases, 6);
}

Test(gpu_values, arrays_that_are_not_where_space_says_are_refused_by_name)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = NULL;
    arrays host = tridiagonal_arrays(YOKE_INT32, 0, YOKE_FULL);
    arrays device = on_device(&host, DEVICE);
    yoke_csr csr = host.csr;
    csr.column = device.csr.column;
    cr_assert_eq(yoke_matrix_create(context, &csr, &matrix), YOKE_INVALID);
    cr_assert(strstr(yoke_error_text(), "column is memory of device"), "%s", yoke_error_text());
    csr = device.csr;
    csr.value = host.value;
    cr_assert_eq(yoke_matrix_create(context, &csr, &matrix), YOKE_INVALID);
    cr_assert(strstr(yoke_error_text(), "value is host memory"), "%s", yoke_error_text());
    free_arrays(&device, DEVICE);
}

static void update_from(const arrays *given, const char *name, memory_kind kind,
                        const char *partition)
{
    yoke_context *context = new_context();
    size_t count = given->value_bytes / sizeof(double);
    double *fresh = filled((int64_t)count, 0.0), *b = filled(ROWS, 1.0), x[ROWS], expected[ROWS];
    for (size_t k = 0; k < count; k++) fresh[k] = given->value[k] < 0.0 ? -3.0 : 7.5;
    yoke_matrix *matrix = created(context, &given->csr), *twin = created(context, &given->csr);
    yoke_plan_options planning = yoke_plan_defaults();
    yoke_plan *plan = NULL;
    planning.partition = partition;
    planning.format = "csr";
    MUST(yoke_plan_create(matrix, &planning, &plan));
    MUST(yoke_solve(plan, b, x, NULL));
    double *value = placed(kind, fresh, given->value_bytes);
    MUST(yoke_matrix_update_values(matrix, value));
    unplace(kind, value); /* copied, whatever the ownership */
    MUST(yoke_matrix_update_values(twin, fresh));
    expect_same(matrix, twin, name);
    solve_with(twin, &planning, b, expected, NULL);
    int64_t taken = yk_device_allocations();
    MUST(yoke_solve(plan, b, x, NULL));
    cr_assert_eq(memcmp(x, expected, sizeof x), 0, "%s, %s: other bits", name, partition);
    cr_assert_eq(yk_device_allocations(), taken, "%s, %s", name, partition);
    cr_assert_gt(yoke_plan_report(plan)->setup_seconds, 0.0);
    MUST(yoke_solve(plan, b, x, NULL));
    cr_assert_eq(yoke_plan_report(plan)->setup_seconds, 0.0);
    MUST(yoke_matrix_update_values(matrix, given->value)); /* from the host again */
    cr_assert_eq(matrix->csr.value == given->value,
                 given->csr.ownership == YOKE_BORROW && given->csr.base == 0);
    yoke_plan_destroy(plan);
    yoke_matrix_destroy(matrix);
    yoke_matrix_destroy(twin);
    cr_assert_eq(atomic_load(&context->live_bytes), 0);
}

/* Case 43: and no setup is repeated. */
Test(gpu_values, values_are_updated_from_the_device)
{
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        arrays host = tridiagonal_arrays(forms[k].type, forms[k].base, forms[k].triangle);
        host.csr.ownership = forms[k].ownership;
        update_from(&host, forms[k].name, DEVICE, "gpu");
        update_from(&host, forms[k].name, MANAGED, "gpu");
        update_from(&host, forms[k].name, DEVICE, "cpu");
    }
}

Test(gpu_values, values_that_are_refused_leave_the_old_ones)
{
    yoke_context *context = new_context();
    for (int borrow = 0; borrow < 2; borrow++) {
        arrays host = tridiagonal_arrays(YOKE_INT32, 0, YOKE_FULL);
        host.csr.ownership = borrow ? YOKE_BORROW : YOKE_COPY;
        yoke_matrix *matrix = created(context, &host.csr), *twin = created(context, &host.csr);
        double *wrong = filled(3 * ROWS, 2.0);
        wrong[1] = 5.0;
        double *value = placed(DEVICE, wrong, host.value_bytes);
        long long before = atomic_load(&context->live_bytes);
        cr_assert_eq(yoke_matrix_update_values(matrix, value), YOKE_UNSUITABLE);
        cr_assert_eq(atomic_load(&context->live_bytes), before);
        expect_same(matrix, twin, borrow ? "borrowed" : "copied");
        unplace(DEVICE, value);
        yoke_matrix_destroy(matrix);
        yoke_matrix_destroy(twin);
    }
}
