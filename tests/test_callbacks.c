/* SPDX-License-Identifier: BSD-3-Clause */
/* test_callbacks.c: a user's operator and preconditioner, alone and over several parts. */
#include "tests/systems.h"

enum { ROWS = 3000 };

/* tridiag(-1, 2 + i / 1000, -1): its diagonal is not constant. */
static double diagonal(int64_t i)
{
    return 2.0 + (double)i / 1000.0;
}

static int apply_matrix(void *user, int nrhs, const double *in, double *out, yoke_space space,
                        void *stream)
{
    (void)space, (void)stream;
    cr_assert_eq(nrhs, 1);
    ++*(int *)user;
    for (int64_t i = 0; i < ROWS; i++)
        out[i] = diagonal(i) * in[i] - (i > 0 ? in[i - 1] : 0.0) - (i < ROWS - 1 ? in[i + 1] : 0.0);
    return 0;
}

static int apply_inverse_diagonal(void *user, int nrhs, const double *in, double *out,
                                  yoke_space space, void *stream)
{
    (void)nrhs, (void)space, (void)stream;
    ++*(int *)user;
    for (int64_t i = 0; i < ROWS; i++) out[i] = in[i] * (1.0 / diagonal(i));
    return 0;
}

static int fail_third(void *user, int nrhs, const double *in, double *out, yoke_space space,
                      void *stream)
{
    (void)nrhs, (void)space, (void)stream;
    memcpy(out, in, ROWS * sizeof *out);
    return ++*(int *)user == 3;
}

static int apply_matrix_but_fail_sixth(void *user, int nrhs, const double *in, double *out,
                                       yoke_space space, void *stream)
{
    return apply_matrix(user, nrhs, in, out, space, stream) || *(int *)user == 6;
}

static yoke_operator operator_of(yoke_apply apply, int *calls)
{
    yoke_operator op = yoke_operator_defaults();
    op.rows = ROWS;
    op.apply = apply;
    op.user = calls;
    op.flags = YOKE_APPLY_FIXED_SPD;
    return op;
}

static yoke_matrix *entries(yoke_context *context)
{
    static int32_t start[ROWS + 1], column[3 * ROWS];
    static double value[3 * ROWS];
    int32_t count = 0;
    for (int32_t i = 0; i < ROWS; i++) {
        for (int32_t j = i > 0 ? i - 1 : 0; j <= i + 1 && j < ROWS; j++) {
            column[count] = j;
            value[count++] = i == j ? diagonal(i) : -1.0;
        }
        start[i + 1] = count;
    }
    yoke_csr csr = yoke_csr_defaults();
    csr.rows = ROWS;
    csr.row_start = start;
    csr.column = column;
    csr.value = value;
    csr.ownership = YOKE_BORROW;
    yoke_matrix *matrix = NULL;
    MUST(yoke_matrix_create(context, &csr, &matrix));
    return keep(matrix);
}

static yoke_matrix *operator_matrix(yoke_context *context, const yoke_operator *op)
{
    yoke_matrix *matrix = NULL;
    MUST(yoke_matrix_create_operator(context, op, &matrix));
    return keep(matrix);
}

Test(callbacks, an_operator_solves_as_its_entries_do)
{
    yoke_context *context = new_context();
    int calls = 0;
    yoke_operator op = operator_of(apply_matrix, &calls);
    yoke_matrix *matrix = operator_matrix(context, &op);
    cr_assert_eq(yoke_matrix_nonzeros(matrix), -1);
    for (int parts = 1; parts <= 3; parts += 2) {
        double *b = filled(ROWS, 1.0), *x = filled(ROWS, 0.0);
        yoke_plan_options planning = yoke_plan_defaults();
        planning.parts = parts;
        planning.threads = 2;
        yoke_report report = solve_with(matrix, &planning, b, x, NULL);
        cr_assert_eq(report.outcome, YOKE_CONVERGED);
        cr_assert_leq(true_residual(entries(context), b, x), 1.001 * report.bound);
    }
    cr_assert_gt(calls, 10);
}

Test(callbacks, an_operator_with_a_diagonal_takes_jacobi)
{
    yoke_context *context = new_context();
    int calls = 0;
    double *d = filled(ROWS, 0.0), *b = filled(ROWS, 1.0), *x = filled(ROWS, 0.0);
    for (int64_t i = 0; i < ROWS; i++) d[i] = diagonal(i);
    yoke_operator op = operator_of(apply_matrix, &calls);
    yoke_plan_options planning = yoke_plan_defaults();
    planning.preconditioner = "jacobi";
    yoke_plan *plan = NULL;
    cr_assert_eq(yoke_plan_create(operator_matrix(context, &op), &planning, &plan),
                 YOKE_UNSUITABLE);
    op.diagonal = d;
    yoke_report report = solve_with(operator_matrix(context, &op), &planning, b, x, NULL);
    cr_assert_eq(report.outcome, YOKE_CONVERGED);
}

/* The same z from a callback as from the library's own Jacobi: the same iterates, bit for bit. */
Test(callbacks, a_preconditioner_gives_the_bits_of_the_same_built_in_one)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = entries(context);
    double *b = filled(ROWS, 1.0), *own = filled(ROWS, 0.0), *theirs = filled(ROWS, 0.0);
    yoke_plan_options planning = yoke_plan_defaults();
    planning.preconditioner = "jacobi";
    yoke_report expected = solve_with(matrix, &planning, b, own, NULL);
    for (int parts = 1; parts <= 3; parts++) {
        int calls = 0;
        yoke_operator op = operator_of(apply_inverse_diagonal, &calls);
        yoke_plan_options with_callback = yoke_plan_defaults();
        with_callback.apply_preconditioner = &op;
        with_callback.parts = parts;
        yoke_report report = solve_with(matrix, &with_callback, b, theirs, NULL);
        cr_assert_eq(report.iterations, expected.iterations);
        cr_assert_str_eq(report.preconditioner, "user");
        cr_assert_eq(memcmp(own, theirs, ROWS * sizeof *own), 0, "%d parts", parts);
        cr_assert_geq(calls, report.iterations);
    }
}

Test(callbacks, a_preconditioner_that_changes_converges_by_the_flexible_beta)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = entries(context);
    double *b = filled(ROWS, 1.0), *x = filled(ROWS, 0.0);
    int calls = 0;
    yoke_operator op = operator_of(apply_inverse_diagonal, &calls);
    op.flags = 0;
    yoke_plan_options planning = yoke_plan_defaults();
    planning.apply_preconditioner = &op;
    yoke_report report = solve_with(matrix, &planning, b, x, NULL);
    cr_assert_eq(report.outcome, YOKE_CONVERGED);
    cr_assert_leq(true_residual(matrix, b, x), 1.001 * report.bound);
}

Test(callbacks, a_failing_callback_ends_the_solve_and_not_the_plan)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = entries(context);
    double *b = filled(ROWS, 1.0), *x = filled(ROWS, 0.0);
    int calls = 0;
    yoke_operator op = operator_of(fail_third, &calls);
    yoke_plan_options planning = yoke_plan_defaults();
    planning.apply_preconditioner = &op;
    yoke_plan *plan = NULL;
    MUST(yoke_plan_create(matrix, &planning, &plan));
    MUST(yoke_solve(plan, b, x, NULL));
    cr_assert_eq(yoke_plan_report(plan)->outcome, YOKE_CALLBACK_FAILED);
    cr_assert(strstr(yoke_plan_report(plan)->detail, "preconditioner"));
    for (int i = 0; i < ROWS; i++) cr_assert(isfinite(x[i]));
    MUST(yoke_solve(plan, b, x, NULL)); /* the fourth call and later ones succeed */
    cr_assert_eq(yoke_plan_report(plan)->outcome, YOKE_CONVERGED);
    yoke_plan_destroy(plan);
}

/* The first call is for r0, so the sixth is in the fifth iteration. */
Test(callbacks, a_failing_operator_leaves_the_last_completed_iterate)
{
    yoke_context *context = new_context();
    int calls = 0, failing = 0;
    yoke_operator op = operator_of(apply_matrix, &calls);
    yoke_operator fails = operator_of(apply_matrix_but_fail_sixth, &failing);
    double *b = filled(ROWS, 1.0), *x = filled(ROWS, 0.0), *four = filled(ROWS, 0.0);
    yoke_solve_options options = yoke_solve_defaults();
    options.fixed_iterations = 1;
    options.maxit = 4;
    solve_with(operator_matrix(context, &op), NULL, b, four, &options);
    options.maxit = 9;
    yoke_report report = solve_with(operator_matrix(context, &fails), NULL, b, x, &options);
    cr_assert_eq(report.outcome, YOKE_CALLBACK_FAILED);
    cr_assert_eq(report.iterations, 4);
    cr_assert_eq(memcmp(x, four, ROWS * sizeof *x), 0);
}
