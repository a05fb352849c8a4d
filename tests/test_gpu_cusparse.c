/* SPDX-License-Identifier: BSD-3-Clause */
/* test_gpu_cusparse.c: format cusparse against our own format csr. Its bits are not ours: it sums a
 * row in an order of its own. Without a GPU and the library every test is skipped, or with
 * YOKE_REQUIRE_GPU=1 fails. */
#include "tests/systems.h"

#include <criterion/parameterized.h>
#include <yoke_tools.h>

static const char *const specs[] = {
    "poisson2d5:3",   "poisson2d5:40",   "poisson3d7:48",        "poisson3d27:32",
    "elasticity3d:6", "graph:20000:8:3", "random_spd:9000:40:9", "jumps3d7:20:1e3:1",
};
static const char *const drivers[] = {"stream", "graph"}, *const preconds[] = {"none", "jacobi"};

static void need_cusparse(void)
{
    const char *required = getenv("YOKE_REQUIRE_GPU");
    yoke_list_item item;
    for (int k = 0; yoke_list(YOKE_LIST_FORMATS, k, &item); k++)
        if (strcmp(item.name, "cusparse") == 0) break;
    if (item.usable) return;
    cr_assert(!required || strcmp(required, "1") != 0, "YOKE_REQUIRE_GPU=1, but: %s", item.reason);
    cr_skip_test("%s", item.reason);
}

TestSuite(gpu_cusparse, .init = need_cusparse);

static yoke_plan_options planning(const char *format, const char *driver, const char *precond)
{
    yoke_plan_options options = yoke_plan_defaults();
    options.partition = "gpu";
    options.format = format;
    options.driver = driver;
    options.shape = "unfolded";
    options.preconditioner = precond;
    return options;
}

/* Ten steps do not amplify the rounding of a row's sum, about 1e-16 of |A||p|, by more than this.
 */
#define AFTER_TEN_STEPS 1e-11

static double largest_difference(const double *x, const double *y, int64_t rows)
{
    double difference = 0.0, largest = 0.0;
    for (int64_t i = 0; i < rows; i++) {
        difference = fmax(difference, fabs(x[i] - y[i]));
        largest = fmax(largest, fabs(y[i]));
    }
    return difference / largest;
}

static void agree(yoke_matrix *matrix, const char *name, const char *driver, const char *precond)
{
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(rows, 0.0), *x = filled(rows, NAN), *y = filled(rows, NAN);
    yoke_plan_options theirs = planning("cusparse", driver, precond);
    yoke_plan_options ours = planning("csr", driver, precond);
    yoke_solve_options options = yoke_solve_defaults();
    scramble(b, rows, 1);
    yoke_report report = solve_with(matrix, &theirs, b, x, &options);
    cr_assert_eq(report.outcome, YOKE_CONVERGED, "%s, %s, %s", name, driver, precond);
    cr_assert_str_eq(report.format, "cusparse");
    cr_assert_str_eq(report.driver, driver);
    cr_assert_eq(report.gpus, 1);
    /* By other means; the rounding of b - A x is up to 1e-10 of b where coefficients jump. */
    cr_assert_leq(true_residual(matrix, b, x), 1.01 * report.bound, "%s", name);
    options.maxit = rows < 10 ? 2 : 10;
    options.fixed_iterations = 1;
    yoke_report ten = solve_with(matrix, &theirs, b, x, &options);
    yoke_report same = solve_with(matrix, &ours, b, y, &options);
    cr_assert_eq(ten.iterations, same.iterations);
    cr_assert_leq(largest_difference(x, y, rows), AFTER_TEN_STEPS, "%s, %s, %s", name, driver,
                  precond);
    cr_assert_float_eq(ten.residual_true / same.residual_true, 1.0, 1e-6, "%s, %s, %s", name,
                       driver, precond);
}

ParameterizedTestParameters(gpu_cusparse, agrees_with_csr)
{
    static int index[sizeof specs / sizeof *specs];
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) index[i] = (int)i;
    return cr_make_param_array(int, index, sizeof specs / sizeof *specs);
}

ParameterizedTest(int *index, gpu_cusparse, agrees_with_csr)
{
    yoke_matrix *matrix = generated(new_context(), specs[*index]);
    for (int d = 0; d < 2; d++)
        for (int p = 0; p < 2; p++) agree(matrix, specs[*index], drivers[d], preconds[p]);
}

/* CSR_ALG2 promises the same bits from run to run, and both drivers enqueue the same calls. */
Test(gpu_cusparse, runs_and_drivers_give_the_same_bits)
{
    yoke_matrix *matrix = generated(new_context(), "random_spd:9000:40:9");
    double *b = filled(9000, 1.0), *first = filled(9000, 0.0), *x = filled(9000, 0.0);
    yoke_plan_options options = planning("cusparse", "stream", "jacobi");
    solve_with(matrix, &options, b, first, NULL);
    for (int run = 0; run < 10; run++) {
        options.driver = drivers[run % 2];
        solve_with(matrix, &options, b, x, NULL);
        cr_assert_eq(memcmp(x, first, 9000 * sizeof *x), 0, "run %d, %s", run, options.driver);
    }
}

/* Twice the matrix is half of x, to the bit: a power of two changes no rounding. */
Test(gpu_cusparse, new_values_reach_the_device)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:40");
    yoke_csr csr = yoke_csr_defaults();
    MUST(yoke_matrix_view(matrix, &csr));
    int64_t nonzeros = yoke_matrix_nonzeros(matrix);
    double *twice = filled(nonzeros, 0.0), *b = filled(1600, 1.0);
    double *x = filled(1600, 0.0), *half = filled(1600, 0.0);
    for (int64_t k = 0; k < nonzeros; k++) twice[k] = 2.0 * csr.value[k];
    for (int p = 0; p < 2; p++)
        for (int d = 0; d < 2; d++) {
            yoke_plan_options options = planning("cusparse", drivers[d], preconds[p]);
            double *once = filled(nonzeros, 0.0);
            yoke_plan *plan = NULL;
            for (int64_t k = 0; k < nonzeros; k++) once[k] = 0.5 * twice[k];
            MUST(yoke_matrix_update_values(matrix, once));
            MUST(yoke_plan_create(matrix, &options, &plan));
            MUST(yoke_solve(plan, b, x, NULL));
            MUST(yoke_matrix_update_values(matrix, twice));
            MUST(yoke_solve(plan, b, half, NULL));
            for (int i = 0; i < 1600; i++) cr_assert_eq(2.0 * half[i], x[i]);
            yoke_plan_destroy(plan);
        }
}

/* beta = 0 in q = A p + beta q must not keep what was in q: here infinities, whose product with 0
 * is no number. */
Test(gpu_cusparse, an_infinity_in_one_solve_is_not_in_the_next)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:40");
    int64_t nonzeros = yoke_matrix_nonzeros(matrix);
    double *b = filled(1600, 1.0), *x = filled(1600, 0.0), *y = filled(1600, 0.0);
    double *huge = filled(nonzeros, 1e308), *good = filled(nonzeros, 0.0);
    yoke_plan_options options = planning("cusparse", "graph", "none");
    yoke_csr csr = yoke_csr_defaults();
    yoke_plan *plan = NULL;
    MUST(yoke_matrix_view(matrix, &csr));
    memcpy(good, csr.value, (size_t)nonzeros * sizeof *good);
    MUST(yoke_plan_create(matrix, &options, &plan));
    MUST(yoke_solve(plan, b, x, NULL));
    MUST(yoke_matrix_update_values(matrix, huge));
    MUST(yoke_solve(plan, b, y, NULL));
    cr_assert_eq(yoke_plan_report(plan)->outcome, YOKE_NOT_FINITE);
    MUST(yoke_matrix_update_values(matrix, good));
    MUST(yoke_solve(plan, b, y, NULL));
    cr_assert_eq(memcmp(x, y, 1600 * sizeof *x), 0);
    yoke_plan_destroy(plan);
}

Test(gpu_cusparse, outcomes_are_those_of_the_cpu)
{
    yoke_context *context = new_context();
    double swap[4] = {0, 1, 1, 0}, opposite[2] = {1, -1}, nothing[4] = {0, 0, 0, 0}, x[5];
    double *ones = filled(5, 1.0), *zeros = filled(5, 0.0);
    yoke_plan_options options = planning("cusparse", "stream", "none");
    yoke_report report = solve_with(dense(context, 2, swap), &options, opposite, x, NULL);
    cr_assert_eq(report.outcome, YOKE_INDEFINITE);
    cr_assert_eq(report.iterations, 1);
    cr_assert_eq(report.curvature, -2.0);
    report = solve_with(dense(context, 2, nothing), &options, ones, x, NULL);
    cr_assert_eq(report.outcome, YOKE_BREAKDOWN);
    report = solve_with(tridiagonal(context, 5, 0), &options, zeros, x, NULL);
    cr_assert_eq(report.outcome, YOKE_CONVERGED);
    cr_assert_eq(report.iterations, 0);
}

/* Borrowed row starts of 64 bits: it gets a copy of 32. */
Test(gpu_cusparse, takes_wide_row_starts)
{
    static const int64_t start[] = {0, 2, 5, 7};
    static const int32_t column[] = {0, 1, 0, 1, 2, 1, 2};
    static const double value[] = {2, -1, -1, 2, -1, -1, 2};
    yoke_csr csr = yoke_csr_defaults();
    csr.rows = 3;
    csr.row_start = start;
    csr.row_start_type = YOKE_INT64;
    csr.column = column;
    csr.value = value;
    csr.ownership = YOKE_BORROW;
    yoke_matrix *matrix = NULL;
    MUST(yoke_matrix_create(new_context(), &csr, &matrix));
    double b[3] = {1, 1, 1}, x[3] = {0, 0, 0};
    yoke_plan_options options = planning("cusparse", "graph", "jacobi");
    cr_assert_eq(solve_with(matrix, &options, b, x, NULL).outcome, YOKE_CONVERGED);
    const double expected[3] = {1.5, 2.0, 1.5};
    for (int i = 0; i < 3; i++) cr_assert_float_eq(x[i], expected[i], 1e-14);
}

Test(gpu_cusparse, refuses_what_it_cannot_by_name)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:10");
    yoke_plan_options options = planning("cusparse", NULL, NULL);
    yoke_plan *plan = NULL;
    options.shape = "folded";
    cr_assert_eq(yoke_plan_create(matrix, &options, &plan), YOKE_UNSUITABLE);
    cr_assert(strstr(yoke_error_text(), "format cusparse does not take shape folded; use unfolded"),
              "%s", yoke_error_text());
    options.shape = NULL;
    options.partition = "cpu";
    cr_assert_eq(yoke_plan_create(matrix, &options, &plan), YOKE_UNSUITABLE);
    cr_assert(strstr(yoke_error_text(), "format cusparse is not for the CPU"), "%s",
              yoke_error_text());
}
