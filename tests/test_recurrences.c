/* SPDX-License-Identifier: BSD-3-Clause */
/* test_recurrences.c: cg-single and cg-pipelined beside classical CG: how often their sums meet,
 * how good they get, and what they find one iteration early. That they give the same bits every way
 * is proved in test_battery.c; cases of all kinds in test_solve.c, compiled for each. */
#include <stdio.h>
#include <yoke_tools.h>

#include "solvers/plan.h"
#include "tests/systems.h"

static const char *const one_sum[] = {"cg-single", "cg-pipelined"};

static yoke_plan_options by(const char *solver, const char *preconditioner)
{
    yoke_plan_options planning = yoke_plan_defaults();
    planning.solver = solver;
    planning.preconditioner = preconditioner;
    planning.partition = "cpu";
    return planning;
}

/* ---------------------------------------------------------------- meetings */

static unsigned meetings_of(const char *solver, int parts)
{
    yoke_plan *plan = NULL;
    yoke_plan_options planning = by(solver, "jacobi");
    yoke_solve_options options = yoke_solve_defaults();
    planning.parts = planning.threads = parts;
    planning.shape = "unfolded";
    options.fixed_iterations = 1;
    options.maxit = 40;
    MUST(yoke_plan_create(generated(new_context(), "poisson2d5:40"), &planning, &plan));
    MUST(yoke_solve(plan, filled(1600, 1.0), filled(1600, 0.0), &options));
    unsigned meetings = plan->cg.meetings;
    cr_assert_str_eq(yoke_plan_report(plan)->solver, solver);
    cr_assert_eq(yoke_plan_report(plan)->iterations, 40);
    yoke_plan_destroy(plan);
    return meetings;
}

Test(recurrences, meet_once_an_iteration_where_classical_cg_meets_twice)
{
    for (int parts = 1; parts <= 3; parts++) {
        cr_assert_eq(meetings_of("cg", parts), 80);
        cr_assert_eq(meetings_of("cg-single", parts), 40);
        cr_assert_eq(meetings_of("cg-pipelined", parts), 40);
    }
}

/* ---------------------------------------------------------------- accuracy */

/* The least ||b - A x|| that a tolerance out of reach ends with. */
static double reached(yoke_matrix *matrix, const char *solver, const char *preconditioner)
{
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(rows, 1.0), *x = filled(rows, 0.0);
    yoke_plan_options planning = by(solver, preconditioner);
    yoke_solve_options options = yoke_solve_defaults();
    options.rtol = 1e-18;
    options.maxit = 100000;
    solve_with(matrix, &planning, b, x, &options);
    return true_residual(matrix, b, x);
}

static void are_as_good_as_classical(yoke_matrix *matrix, const char *name)
{
    static const char *const preconditioners[] = {"none", "jacobi"};
    for (int i = 0; i < 2; i++) {
        double classical = reached(matrix, "cg", preconditioners[i]);
        for (int k = 0; k < 2; k++) {
            double residual = reached(matrix, one_sum[k], preconditioners[i]);
            cr_assert_leq(residual, 2.0 * classical, "%s, %s, %s: %g, classical CG %g", name,
                          one_sum[k], preconditioners[i], residual, classical);
        }
    }
}

Test(recurrences, reach_the_true_residual_of_classical_cg_within_a_factor_of_two)
{
    static const char *const files[] = {"494_bus.mtx",       "LFAT5.mtx", "ReSolve_A_spd01.mtx",
                                        "Trefethen_500.mtx", "nos6.mtx",  "pyamg_airfoil.mtx",
                                        "pyamg_knot.mtx"};
    yoke_context *context = new_context();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[512];
        yoke_matrix *matrix = NULL;
        snprintf(path, sizeof path, "%s/matrices/real/%s", SOURCE_DIR, files[i]);
        MUST(yoke_matrix_read(context, path, NULL, &matrix));
        are_as_good_as_classical(keep(matrix), files[i]);
    }
}

Test(recurrences, are_as_accurate_on_generated_systems)
{
    static const char *const specs[] = {
        "poisson2d5:50",     "poisson3d7:12",  "poisson3d27:8",  "anisotropic3d7:12:1e-3",
        "jumps3d7:10:1e3:1", "elasticity3d:6", "graph:2000:8:3", "random_spd:1500:40:9"};
    yoke_context *context = new_context();
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        are_as_good_as_classical(generated(context, specs[i]), specs[i]);
}

/* Without renewals those of cg-pipelined part by 2e-6 ||b|| in these iterations. */
Test(recurrences, fixed_iterations_keep_the_two_residuals_together)
{
    yoke_matrix *matrix = generated(new_context(), "jumps3d7:10:1e5:1");
    double *b = filled(1000, 1.0), *x = filled(1000, 0.0);
    yoke_solve_options options = yoke_solve_defaults();
    options.fixed_iterations = 1;
    options.maxit = 200;
    for (int k = 0; k < 2; k++) {
        yoke_plan_options planning = by(one_sum[k], "none");
        yoke_report report = solve_with(matrix, &planning, b, x, &options);
        cr_assert_eq(report.iterations, 200);
        cr_assert_float_eq(report.residual_true, report.residual_recursive,
                           1e-10 * report.base_norm, "%s: %g true, %g recursive", one_sum[k],
                           report.residual_true, report.residual_recursive);
    }
}

/* ----------------------------------------------------------- one step early */

static int counting(void *user, int64_t iteration, double norm)
{
    (void)norm;
    cr_assert_eq(iteration, (*(int64_t *)user)++);
    return 0;
}

/* The curvature of iteration 2 is known at the end of iteration 1. */
Test(recurrences, tell_of_negative_curvature_in_the_iteration_that_it_is_of)
{
    const double entry[4] = {1, 0, 0, -1}, b[2] = {2, 1};
    yoke_matrix *matrix = dense(new_context(), 2, entry);
    for (int k = 0; k < 2; k++) {
        double x[2] = {0, 0};
        int64_t seen = 0;
        yoke_plan_options planning = by(one_sum[k], "none");
        yoke_solve_options options = yoke_solve_defaults();
        options.monitor = counting;
        options.monitor_user = &seen;
        yoke_report report = solve_with(matrix, &planning, b, x, &options);
        cr_assert_eq(report.outcome, YOKE_INDEFINITE, "%s", yoke_outcome_word(report.outcome));
        cr_assert_eq(report.iterations, 2);
        cr_assert_eq(seen, 2, "before the first and after the first");
        options.maxit = 1;
        seen = 0;
        report = solve_with(matrix, &planning, b, x, &options);
        cr_assert_eq(report.outcome, YOKE_ITERATION_LIMIT);
        cr_assert_eq(report.iterations, 1);
    }
}

/* --------------------------------------------------------------- nullspace */

static void gives_the_same_bits_on(const char *solver, const char *preconditioner, int parts,
                                   int threads, double *expected)
{
    enum { n = 2000 };
    double *b = filled(n, 0.0), *x = filled(n, 0.0), mean = 0.0;
    yoke_plan_options planning = by(solver, preconditioner);
    planning.nullspace = YOKE_NULLSPACE_CONSTANT;
    planning.parts = parts;
    planning.threads = threads;
    scramble(b, n, 5);
    yoke_report report = solve_with(tridiagonal(new_context(), n, 1), &planning, b, x, NULL);
    cr_assert_eq(report.outcome, YOKE_CONVERGED, "%s", yoke_outcome_word(report.outcome));
    for (int i = 0; i < n; i++) mean += x[i] / n;
    cr_assert_float_eq(mean, 0.0, 1e-9);
    if (parts == 1 && threads == 1) memcpy(expected, x, n * sizeof *x);
    cr_assert_eq(memcmp(x, expected, n * sizeof *x), 0, "%s, %s, %d parts, %d threads", solver,
                 preconditioner, parts, threads);
}

Test(recurrences, project_a_nullspace_out_alike_on_every_split)
{
    double *expected = filled(2000, NAN);
    for (int k = 0; k < 4; k++)
        for (int parts = 1; parts <= 3; parts++)
            for (int threads = 1; threads <= 3; threads++)
                gives_the_same_bits_on(one_sum[k / 2], k % 2 ? "jacobi" : "none", parts, threads,
                                       expected);
}

/* ------------------------------------------------------------------ refusals */

static void refuses(yoke_plan_options planning, const char *what)
{
    yoke_plan *plan = NULL;
    for (int k = 0; k < 2; k++) {
        planning.solver = one_sum[k];
        cr_assert_eq(yoke_plan_create(generated(new_context(), "poisson2d5:40"), &planning, &plan),
                     YOKE_UNSUITABLE, "%s", yoke_error_text());
        cr_assert(strstr(yoke_error_text(), what), "%s", yoke_error_text());
        cr_assert(strstr(yoke_error_text(), one_sum[k]), "%s", yoke_error_text());
    }
}

static int copying(void *user, int nrhs, const double *in, double *out, yoke_space space,
                   void *stream)
{
    (void)user, (void)nrhs, (void)space, (void)stream;
    memcpy(out, in, 1600 * sizeof *out);
    return 0;
}

Test(recurrences, say_what_they_do_not_take)
{
    yoke_plan_options planning = by(NULL, NULL);
    yoke_operator op = yoke_operator_defaults();
    op.rows = 1600;
    op.apply = copying;
    planning.shape = "folded";
    refuses(planning, "shape folded");
    planning = by(NULL, NULL);
    planning.apply_preconditioner = &op;
    refuses(planning, "a user's operator or preconditioner");
    if (!FAKE_GPU) return;
    planning = by(NULL, NULL);
    planning.partition = "ratio:0.5";
    refuses(planning, "a partition with rows on a GPU and on the CPU");
    planning.partition = "gpu";
    planning.driver = "persistent";
    refuses(planning, "driver persistent");
}

Test(recurrences, auto_stays_classical)
{
    double *b = filled(1600, 1.0), *x = filled(1600, 0.0);
    yoke_report report = solve_with(generated(new_context(), "poisson2d5:40"), NULL, b, x, NULL);
    cr_assert_str_eq(report.solver, "cg");
}
