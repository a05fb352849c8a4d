/* SPDX-License-Identifier: BSD-3-Clause */
/* test_solve.c: what a solve returns: exact small systems, extreme sizes, outcomes, true residuals.
 * Expected figures are exact, or follow from a reference CG in double precision. */
#include <float.h>

#include "tests/systems.h"

static yoke_report solve(yoke_matrix *matrix, const double *b, double *x,
                         const yoke_solve_options *options)
{
    return solve_with(matrix, NULL, b, x, options);
}

/* --------------------------------------------------- zero, tiny, huge, exact */

Test(solve, zero_b_gives_zero_x_at_once_whatever_x0)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = tridiagonal(context, 50, 0);
    double *b = filled(50, 0.0), *x = filled(50, 3.0), history[4] = {-1.0, -1.0, -1.0, -1.0};
    yoke_solve_options options = yoke_solve_defaults();
    options.initial_guess = 1;
    options.atol = 0.0;
    options.history = history;
    options.history_capacity = 4;
    yoke_plan *plan = NULL;
    MUST(yoke_plan_create(matrix, NULL, &plan));
    MUST(yoke_solve(plan, b, x, &options));
    const yoke_report *report = yoke_plan_report(plan);
    cr_assert_eq(report->outcome, YOKE_CONVERGED);
    cr_assert_eq(report->iterations, 0);
    cr_assert_eq(report->history_length, 1);
    cr_assert_eq(history[0], 0.0);
    for (int i = 0; i < 50; i++) cr_assert_eq(x[i], 0.0);
    yoke_plan_destroy(plan);
}

Test(solve, zero_b_gives_zero_x_also_where_jacobi_cannot_work)
{
    yoke_context *context = new_context();
    double entry[4] = {0, 1, 1, -3}, b[2] = {0, 0}, x[2] = {7, 7};
    yoke_plan_options planning = yoke_plan_defaults();
    planning.preconditioner = "jacobi";
    yoke_solve_options options = yoke_solve_defaults();
    for (options.initial_guess = 0; options.initial_guess < 2; options.initial_guess++) {
        yoke_report report = solve_with(dense(context, 2, entry), &planning, b, x, &options);
        cr_assert_eq(report.outcome, YOKE_CONVERGED);
        cr_assert_eq(report.residual_true, 0.0);
        cr_assert(x[0] == 0.0 && x[1] == 0.0);
        x[0] = NAN;
    }
}

Test(solve, identity_takes_one_iteration_and_zero_tolerances_stop_without_nan)
{
    yoke_context *context = new_context();
    double entry[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    yoke_matrix *matrix = dense(context, 4, entry);
    double *b = filled(4, 1.0), *x = filled(4, 9.0);
    yoke_report report = solve(matrix, b, x, NULL);
    cr_assert_eq(report.outcome, YOKE_CONVERGED);
    cr_assert_eq(report.iterations, 1);
    cr_assert_eq(report.residual_true, 0.0);

    yoke_solve_options options = yoke_solve_defaults();
    options.rtol = 0.0;
    options.maxit = 10;
    report = solve(matrix, b, x, &options);
    cr_assert_leq(report.iterations, 10);
    cr_assert_eq(report.residual_true, 0.0);
    for (int i = 0; i < 4; i++) cr_assert_eq(x[i], 1.0);
}

Test(solve, fixed_iterations_do_exactly_that_many_even_at_a_zero_residual)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = tridiagonal(context, 4, 0);
    double *b = filled(4, 1.0), *x = filled(4, 0.0);
    yoke_solve_options options = yoke_solve_defaults();
    options.fixed_iterations = 1;
    options.maxit = 100;
    yoke_report report = solve(matrix, b, x, &options);
    cr_assert_eq(report.outcome, YOKE_ITERATION_LIMIT);
    cr_assert_eq(report.iterations, 100);
    cr_assert_float_eq(x[1], 3.0, 1e-14);
    b[0] = b[1] = b[2] = b[3] = 0.0;
    report = solve(matrix, b, x, &options);
    cr_assert_eq(report.iterations, 100);
    cr_assert_eq(x[1], 0.0);
}

Test(solve, iterations_at_the_round_off_floor_do_no_harm)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = tridiagonal(context, 50, 0);
    double *b = filled(50, 1.0), *x = filled(50, 0.0);
    yoke_solve_options options = yoke_solve_defaults();
    options.rtol = 0.0;
    options.maxit = 1000;
    solve(matrix, b, x, &options);
    for (int i = 0; i < 50; i++) { /* x_i = (i + 1)(50 - i) / 2, up to 325 */
        double exact = 0.5 * (i + 1) * (50 - i);
        cr_assert_float_eq(x[i], exact, 1e-11 * exact, "x[%d] = %.17g", i, x[i]);
    }
}

static void rests_at_the_floor(double scale, int fixed)
{
    yoke_context *context = new_context();
    double entry[50 * 50] = {0}, *b = filled(50, 1.0), *x = filled(50, 0.0);
    for (int i = 0; i < 50; i++) {
        entry[i * 50 + i] = 2.0 * scale;
        if (i) entry[i * 50 + i - 1] = entry[(i - 1) * 50 + i] = -scale;
    }
    yoke_solve_options options = yoke_solve_defaults();
    options.rtol = 0.0;
    options.maxit = 1000;
    options.fixed_iterations = fixed;
    yoke_report report = solve(dense(context, 50, entry), b, x, &options);
    cr_assert_eq(report.outcome, YOKE_ITERATION_LIMIT, "scale %g: %s", scale,
                 yoke_outcome_word(report.outcome));
    cr_assert_eq(report.iterations, 1000, "scale %g", scale);
    for (int i = 0; i < 50; i++) { /* the tolerance of the scale 1 */
        double exact = 0.5 * (i + 1) * (50 - i);
        cr_assert_float_eq(x[i] * scale, exact, 1e-11 * exact, "scale %g: x[%d]", scale, i);
    }
}

Test(solve, the_floor_does_no_harm_where_curvature_underflows)
{
    const double scales[] = {1e-20, 1e-80, 1e-150, 1e150};
    for (int i = 0; i < 8; i++) rests_at_the_floor(scales[i / 2], i % 2);
}

static void solves_scaled_l4(double scale)
{
    static const double exact[4] = {2.0, 3.0, 3.0, 2.0};
    yoke_context *context = new_context();
    yoke_matrix *matrix = tridiagonal(context, 4, 0);
    double *b = filled(4, scale), *x = filled(4, 0.0);
    yoke_report report = solve(matrix, b, x, NULL);
    cr_assert_eq(report.outcome, YOKE_CONVERGED, "scale %g: %s", scale,
                 yoke_outcome_word(report.outcome));
    cr_assert_eq(report.iterations, 2, "scale %g: %lld iterations", scale,
                 (long long)report.iterations);
    for (int i = 0; i < 4; i++)
        cr_assert_float_eq(x[i] / scale, exact[i], 1e-14, "scale %g: x[%d] = %g", scale, i, x[i]);
    cr_assert_float_eq(report.base_norm / scale, 2.0, 1e-15);
}

Test(solve, tiny_and_huge_right_hand_sides_are_normal_days)
{
    const double scales[] = {1.0, 1e-20, 1e20, 1e160, 1e-160, 1e300, 1e-300};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) solves_scaled_l4(scales[i]);
}

/* With Jacobi r.z is of the size of r.r over the diagonal. */
Test(solve, huge_and_tiny_matrices_are_solved_with_jacobi)
{
    const double scales[] = {1e290, 1e-290, 1e150, 1e-150};
    for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
        yoke_context *context = new_context();
        double entry[16], *b = filled(4, 1.0), *x = filled(4, 0.0);
        for (int i = 0; i < 16; i++)
            entry[i] = i % 5 == 0 ? 2.0 * scales[k] : abs(i % 4 - i / 4) == 1 ? -scales[k] : 0.0;
        yoke_plan_options planning = yoke_plan_defaults();
        planning.preconditioner = "jacobi";
        yoke_report report = solve_with(dense(context, 4, entry), &planning, b, x, NULL);
        cr_assert_eq(report.outcome, YOKE_CONVERGED, "%g: %s", scales[k],
                     yoke_outcome_word(report.outcome));
        cr_assert_float_eq(x[1] * scales[k], 3.0, 1e-14);
    }
}

Test(solve, a_solution_beyond_double_precision_is_not_finite)
{
    yoke_context *context = new_context();
    double *b = filled(4, 1.5e308), *x = filled(4, 0.0); /* x = 2 b, 3 b */
    yoke_solve_options options = yoke_solve_defaults();
    for (options.initial_guess = 0; options.initial_guess < 2; options.initial_guess++) {
        yoke_plan *plan = NULL;
        MUST(yoke_plan_create(tridiagonal(context, 4, 0), NULL, &plan));
        x[0] = x[1] = x[2] = x[3] = 0.0;
        MUST(yoke_solve(plan, b, x, &options));
        cr_assert_eq(yoke_plan_report(plan)->outcome, YOKE_NOT_FINITE);
        cr_assert(strstr(yoke_plan_report(plan)->detail, "the solution"), "%s",
                  yoke_plan_report(plan)->detail);
        yoke_plan_destroy(plan);
    }
}

Test(solve, an_exact_guess_converges_in_no_iteration)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = tridiagonal(context, 4, 0);
    double *b = filled(4, 1.0), x[4] = {2.0, 3.0, 3.0, 2.0};
    yoke_solve_options options = yoke_solve_defaults();
    options.initial_guess = 1;
    cr_assert_eq(solve(matrix, b, x, &options).iterations, 0);

    double near[4] = {2.0 * (1 + 1e-9), 3.0 * (1 + 1e-9), 3.0 * (1 + 1e-9), 2.0 * (1 + 1e-9)};
    memcpy(x, near, sizeof x);
    yoke_report report = solve(matrix, b, x, &options);
    cr_assert_eq(report.iterations, 0, "base ||b||");
    cr_assert_eq(report.outcome, YOKE_CONVERGED);
    options.base = YOKE_BASE_R0;
    memcpy(x, near, sizeof x);
    cr_assert_gt(solve(matrix, b, x, &options).iterations, 0, "base ||r0||");
}

/* ------------------------------------------- indefinite, singular, not finite */

Test(solve, negative_curvature_is_indefinite_and_zero_curvature_breakdown)
{
    yoke_context *context = new_context();
    double swap[4] = {0, 1, 1, 0}, x[2];
    yoke_matrix *matrix = dense(context, 2, swap);
    double opposite[2] = {1, -1}, first[2] = {1, 0}, both[2] = {1, 1};
    yoke_report report = solve(matrix, opposite, x, NULL);
    cr_assert_eq(report.outcome, YOKE_INDEFINITE);
    cr_assert_eq(report.iterations, 1);
    cr_assert_eq(report.curvature, -2.0);
    report = solve(matrix, first, x, NULL);
    cr_assert_eq(report.outcome, YOKE_BREAKDOWN);
    cr_assert_eq(report.iterations, 1);
    report = solve(matrix, both, x, NULL);
    cr_assert_eq(report.outcome, YOKE_CONVERGED);
    cr_assert_eq(report.iterations, 1);
}

Test(solve, indefinite_is_found_at_the_iteration_it_shows)
{
    yoke_context *context = new_context();
    double entry[4] = {1, 0, 0, -1}, b[2] = {2, 1}, x[2];
    cr_assert_eq(solve(dense(context, 2, entry), b, x, NULL).iterations, 2);
    cr_assert_eq(solve(dense(context, 2, entry), b, x, NULL).outcome, YOKE_INDEFINITE);
    double minus[4] = {-1, 0, 0, -1};
    yoke_report report = solve(dense(context, 2, minus), b, x, NULL);
    cr_assert_eq(report.outcome, YOKE_INDEFINITE);
    cr_assert_eq(report.iterations, 1);
}

Test(solve, the_text_of_indefinite_says_what_to_use_instead)
{
    yoke_context *context = new_context();
    double entry[4] = {-1, 0, 0, -1}, b[2] = {2, 1}, x[2];
    yoke_plan *plan = NULL;
    MUST(yoke_plan_create(dense(context, 2, entry), NULL, &plan));
    MUST(yoke_solve(plan, b, x, NULL));
    cr_assert(strstr(yoke_plan_report(plan)->detail, "MINRES"));
    yoke_plan_destroy(plan);
}

Test(solve, jacobi_names_the_row_whose_diagonal_is_not_positive)
{
    yoke_context *context = new_context();
    double entry[9] = {4, 1, 0, 1, 0, 1, 0, 1, 4}, b[3] = {1, 1, 1}, x[3] = {7, 7, 7};
    yoke_plan_options planning = yoke_plan_defaults();
    planning.preconditioner = "jacobi";
    yoke_report report = solve_with(dense(context, 3, entry), &planning, b, x, NULL);
    cr_assert_eq(report.outcome, YOKE_INDEFINITE);
    cr_assert_eq(report.row, 1);
    cr_assert_eq(x[0], 0.0, "x0 = 0 is returned");
}

typedef enum place { IN_MATRIX, IN_B, IN_GUESS, IN_PRECONDITIONER } place;

static int nan_preconditioner(void *user, int nrhs, const double *in, double *out, yoke_space space,
                              void *stream)
{
    (void)nrhs, (void)space, (void)stream;
    memcpy(out, in, 50 * sizeof *out);
    if (++*(int *)user == 4) out[7] = NAN;
    return 0;
}

static void ends_not_finite(place where, double value, const char *named)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = tridiagonal(context, 50, 0);
    double *b = filled(50, 1.0), *x = filled(50, 0.5);
    int calls = 0;
    yoke_operator op = yoke_operator_defaults();
    op.rows = 50;
    op.apply = nan_preconditioner;
    op.user = &calls;
    yoke_plan_options planning = yoke_plan_defaults();
    yoke_solve_options options = yoke_solve_defaults();
    options.initial_guess = 1;
    if (where == IN_B) b[33] = value;
    if (where == IN_GUESS) x[33] = value;
    if (where == IN_PRECONDITIONER) planning.apply_preconditioner = &op;
    if (where == IN_MATRIX) {
        yoke_csr csr = yoke_csr_defaults();
        MUST(yoke_matrix_view(matrix, &csr));
        csr.ownership = YOKE_COPY;
        ((double *)csr.value)[100] = value; /* a diagonal entry: row 33 */
        MUST(yoke_matrix_create(context, &csr, &matrix));
        keep(matrix);
    }
    yoke_plan *plan = NULL;
    MUST(yoke_plan_create(matrix, &planning, &plan));
    MUST(yoke_solve(plan, b, x, &options));
    const yoke_report *report = yoke_plan_report(plan);
    cr_assert_eq(report->outcome, YOKE_NOT_FINITE, "%s %g: %s", named, value,
                 yoke_outcome_word(report->outcome));
    cr_assert(strstr(report->detail, named), "'%s' does not name '%s'", report->detail, named);
    cr_assert_leq(report->iterations, 5);
    if (where != IN_PRECONDITIONER)
        cr_assert_eq(report->row, 33, "row %lld", (long long)report->row);
    yoke_plan_destroy(plan);
}

Test(solve, one_nan_or_infinity_ends_not_finite_and_says_where)
{
    const double values[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        ends_not_finite(IN_MATRIX, values[i], "matrix");
        ends_not_finite(IN_B, values[i], "b is");
        ends_not_finite(IN_GUESS, values[i], "guess");
    }
    ends_not_finite(IN_PRECONDITIONER, NAN, "preconditioner");
}

Test(solve, a_singular_system_in_range_is_solved_up_to_a_constant)
{
    yoke_context *context = new_context();
    double b[5] = {1, 0, 0, 0, -1}, x[5];
    yoke_report report = solve(tridiagonal(context, 5, 1), b, x, NULL);
    cr_assert_eq(report.outcome, YOKE_CONVERGED);
    cr_assert_eq(report.iterations, 2);
    for (int i = 0; i < 5; i++) cr_assert_float_eq(x[i] - x[2], 2.0 - i, 1e-14);
}

Test(solve, an_inconsistent_singular_system_breaks_down_at_once)
{
    yoke_context *context = new_context();
    double *b = filled(5, 1.0), x[5];
    yoke_report report = solve(tridiagonal(context, 5, 1), b, x, NULL);
    cr_assert_eq(report.outcome, YOKE_BREAKDOWN);
    cr_assert_eq(report.iterations, 1);
    for (int i = 0; i < 5; i++) cr_assert(isfinite(x[i]));
}

Test(solve, a_declared_nullspace_is_projected_out)
{
    const char *const preconditioners[] = {"none", "jacobi"};
    for (int k = 0; k < 2; k++) {
        yoke_context *context = new_context();
        yoke_matrix *matrix = tridiagonal(context, 64, 1);
        double *b = filled(64, 0.0), *x = filled(64, 0.0), mean = 0.0;
        scramble(b, 64, 5); /* not of mean 0: its mean is projected out */
        yoke_plan_options planning = yoke_plan_defaults();
        planning.nullspace = YOKE_NULLSPACE_CONSTANT;
        planning.preconditioner = preconditioners[k];
        yoke_report report = solve_with(matrix, &planning, b, x, NULL);
        cr_assert_eq(report.outcome, YOKE_CONVERGED, "%s: %s", preconditioners[k],
                     yoke_outcome_word(report.outcome));
        for (int i = 0; i < 64; i++) mean += x[i] / 64;
        cr_assert_float_eq(mean, 0.0, 1e-13);
        double mean_b = 0.0;
        for (int i = 0; i < 64; i++) mean_b += b[i] / 64;
        for (int i = 0; i < 64; i++) b[i] -= mean_b;
        cr_assert_leq(true_residual(matrix, b, x), 1.01 * report.bound);
    }
}

/* D L D with D spread over 1e-5 to 1e2, so entries over 1e-10 to 1e4. */
Test(solve, a_tolerance_out_of_reach_ends_stagnated_with_the_best_iterate)
{
    enum { n = 40 };
    yoke_context *context = new_context();
    static double entry[n * n];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double d = pow(10.0, -5.0 + 7.0 * ((i * 7) % n) / (n - 1.0));
            double e = pow(10.0, -5.0 + 7.0 * ((j * 7) % n) / (n - 1.0));
            entry[i * n + j] = i == j ? 2.0 * d * e : abs(i - j) == 1 ? -d * e : 0.0;
        }
    yoke_matrix *matrix = dense(context, n, entry);
    double *b = filled(n, 1.0), *x = filled(n, 0.0);
    yoke_solve_options options = yoke_solve_defaults();
    options.rtol = 1e-17;
    options.maxit = 100000;
    yoke_report report = solve(matrix, b, x, &options);
    cr_assert_eq(report.outcome, YOKE_STAGNATED, "%s after %lld", yoke_outcome_word(report.outcome),
                 (long long)report.iterations);
    cr_assert_lt(report.iterations, 100000);
    double residual = true_residual(matrix, b, x);
    cr_assert_float_eq(report.residual_true, residual, 0.5 * residual);
}

/* --------------------------------------------------- what the residual means */

Test(solve, success_is_of_the_true_residual)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = tridiagonal(context, 60, 0);
    double *b = filled(60, 1.0), *x = filled(60, 1e8);
    yoke_solve_options options = yoke_solve_defaults();
    options.initial_guess = 1;
    options.rtol = 1e-11;
    yoke_report report = solve(matrix, b, x, &options);
    double residual = true_residual(matrix, b, x);
    cr_assert_eq(report.outcome, YOKE_CONVERGED);
    cr_assert_leq(residual, 1.001 * report.bound, "%g > %g", residual, report.bound);
    cr_assert_float_eq(report.residual_true, residual, 0.01 * residual);
    cr_assert_gt(report.replacements, 1, "the first candidate was not good enough");
}

Test(solve, the_default_limit_is_named)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = tridiagonal(context, 5000, 0);
    double *b = filled(5000, 1.0), *x = filled(5000, 0.0);
    yoke_solve_options options = yoke_solve_defaults();
    options.maxit = 1000;
    yoke_plan *plan = NULL;
    MUST(yoke_plan_create(matrix, NULL, &plan));
    MUST(yoke_solve(plan, b, x, &options));
    const yoke_report *report = yoke_plan_report(plan);
    cr_assert_eq(report->outcome, YOKE_ITERATION_LIMIT);
    cr_assert_eq(report->iterations, 1000);
    cr_assert_str_eq(report->detail, "limit reached (1000)");
    cr_assert_float_eq(report->residual_true, true_residual(matrix, b, x), 1e-6);
    options.maxit = 0; /* the same plan, another tolerance and limit */
    options.rtol = 1e-2;
    MUST(yoke_solve(plan, b, x, &options));
    cr_assert_eq(yoke_plan_report(plan)->maxit, 50000);
    cr_assert_eq(yoke_plan_report(plan)->outcome, YOKE_CONVERGED);
    yoke_plan_destroy(plan);
}

typedef struct watch {
    int64_t calls, stop_at;
    double last;
} watch;

static int watching(void *user, int64_t iteration, double norm)
{
    watch *w = user;
    cr_assert_eq(iteration, w->calls);
    w->calls++;
    w->last = norm;
    return iteration == w->stop_at;
}

Test(solve, a_monitor_sees_every_iteration_and_can_stop)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = tridiagonal(context, 300, 0);
    double *b = filled(300, 1.0), *x = filled(300, 0.0), history[301];
    watch w = {0, 20, 0.0};
    yoke_solve_options options = yoke_solve_defaults();
    options.monitor = watching;
    options.monitor_user = &w;
    options.history = history;
    options.history_capacity = 301;
    yoke_report report = solve(matrix, b, x, &options);
    cr_assert_eq(report.outcome, YOKE_STOPPED);
    cr_assert_eq(report.iterations, 20);
    cr_assert_eq(w.calls, 21);
    cr_assert_eq(report.history_length, 21);
    cr_assert_eq(history[20], w.last);
    cr_assert_float_eq(history[0], sqrt(300.0), 1e-13);
    cr_assert_float_eq(report.residual_true, true_residual(matrix, b, x), 1e-9);
}

Test(solve, a_time_limit_ends_with_the_last_iterate)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = generated(context, "poisson2d5:300");
    double *b = filled(90000, 1.0), *x = filled(90000, 0.0);
    yoke_solve_options options = yoke_solve_defaults();
    options.rtol = 1e-300;
    options.maxit = 100000000;
    options.max_seconds = 0.05;
    yoke_report report = solve(matrix, b, x, &options);
    cr_assert(report.outcome == YOKE_TIME_LIMIT, "%s", yoke_outcome_word(report.outcome));
    cr_assert_gt(report.iterations, 0);
    cr_assert_float_eq(report.residual_true, true_residual(matrix, b, x), 1e-6 * report.base_norm);
}

/* A preconditioner with negative parts, so that iterates run away. */
static int alternating(void *user, int nrhs, const double *in, double *out, yoke_space space,
                       void *stream)
{
    (void)user, (void)nrhs, (void)space, (void)stream;
    for (int i = 0; i < 50; i++) out[i] = i % 2 ? -in[i] : in[i];
    return 0;
}

Test(solve, a_preconditioner_that_is_not_positive_definite_is_named)
{
    yoke_context *context = new_context();
    double *b = filled(50, 1.0), *x = filled(50, 0.0);
    b[1] = 3.0;
    yoke_operator op = yoke_operator_defaults();
    op.rows = 50;
    op.apply = alternating;
    op.flags = YOKE_APPLY_FIXED_SPD;
    yoke_plan_options planning = yoke_plan_defaults();
    planning.apply_preconditioner = &op;
    yoke_report report = solve_with(tridiagonal(context, 50, 0), &planning, b, x, NULL);
    cr_assert_eq(report.outcome, YOKE_PRECONDITIONER_INDEFINITE, "%s",
                 yoke_outcome_word(report.outcome));
}

Test(solve, divergence_is_tested_by_default_and_its_factor_can_be_set)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = tridiagonal(context, 300, 0);
    double *b = filled(300, 0.0), *x = filled(300, 0.0);
    scramble(b, 300, 3);
    yoke_solve_options options = yoke_solve_defaults();
    options.diverged_factor = 0.5; /* the first residual is above half of ||b|| */
    cr_assert_eq(solve(matrix, b, x, &options).outcome, YOKE_DIVERGED);
}

Test(solve, checking_every_k_iterations_never_returns_a_worse_answer)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = tridiagonal(context, 300, 0);
    double *b = filled(300, 0.0), *x = filled(300, 0.0);
    scramble(b, 300, 3);
    yoke_solve_options options = yoke_solve_defaults();
    yoke_report every = solve(matrix, b, x, &options);
    options.check_every = 7;
    yoke_report seldom = solve(matrix, b, x, &options);
    cr_assert_eq(seldom.outcome, YOKE_CONVERGED);
    cr_assert_leq(true_residual(matrix, b, x), 1.0001 * seldom.bound);
    cr_assert_eq(seldom.iterations, (every.iterations + 6) / 7 * 7);
}

/* ------------------------------------------------------------ edges of size */

Test(solve, systems_of_no_row_and_of_one_row)
{
    yoke_context *context = new_context();
    double one = 4.0, b = 2.0, x = 0.0;
    yoke_report report = solve(dense(context, 1, &one), &b, &x, NULL);
    cr_assert_eq(report.outcome, YOKE_CONVERGED);
    cr_assert_eq(x, 0.5);
    report = solve(dense(context, 0, &one), NULL, NULL, NULL);
    cr_assert_eq(report.outcome, YOKE_CONVERGED);
    cr_assert_eq(report.iterations, 0);
}

Test(solve, no_nonzeros_at_all_is_a_breakdown)
{
    yoke_context *context = new_context();
    double entry[9] = {0}, b[3] = {1, 2, 3}, x[3];
    cr_assert_eq(solve(dense(context, 3, entry), b, x, NULL).outcome, YOKE_BREAKDOWN);
}
