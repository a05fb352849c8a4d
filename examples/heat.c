/* SPDX-License-Identifier: BSD-3-Clause */
/* heat.c: u_t = laplace(u) on the unit square, u = 0 on the border, by backward Euler and the
 * 5-point formula: (h^2/dt + T) u_new = (h^2/dt) u_old with T the stencil (4, -1, -1, -1, -1). One
 * plan serves all steps, and each solve starts from the last solution.
 * The lowest mode is an eigenvector of T with eigenvalue 8 sin^2(pi h / 2), so each step must damp
 * it by exactly 1 / (1 + (dt/h^2) 8 sin^2(pi h / 2)); the program fails if it does not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <yoke.h>

enum { N = 100, STEPS = 50 }; /* points a side, time steps */

static void check(yoke_status status, const char *what)
{
    if (status == YOKE_OK) return;
    fprintf(stderr, "heat: %s: %s: %s\n", what, yoke_status_text(status), yoke_error_text());
    exit(EXIT_FAILURE);
}

/* The lower triangle is enough; returns its number of entries. */
static int assemble(double shift, int *start, int *column, double *value)
{
    int k = 0;
    for (int row = 0; row < N * N; row++) {
        start[row] = k;
        if (row >= N) column[k] = row - N, value[k++] = -1.0;
        if (row % N > 0) column[k] = row - 1, value[k++] = -1.0;
        column[k] = row, value[k++] = 4.0 + shift;
    }
    return start[N * N] = k;
}

int main(void)
{
    const double pi = acos(-1.0), h = 1.0 / (N + 1), dt = 1e-3, shift = h * h / dt;
    static int start[N * N + 1], column[3 * N * N];
    static double value[3 * N * N], u[N * N], b[N * N];
    assemble(shift, start, column, value);

    yoke_context *context = NULL;
    yoke_matrix *matrix = NULL;
    yoke_plan *plan = NULL;
    check(yoke_context_create(NULL, &context), "context");
    yoke_csr csr = yoke_csr_defaults();
    csr.rows = N * N;
    csr.row_start = start;
    csr.column = column;
    csr.value = value;
    csr.triangle = YOKE_LOWER;
    check(yoke_matrix_create(context, &csr, &matrix), "matrix");
    yoke_plan_options how = yoke_plan_defaults();
    how.preconditioner = "jacobi";
    check(yoke_plan_create(matrix, &how, &plan), "plan");

    for (int i = 0; i < N * N; i++)
        u[i] = sin(pi * h * (i / N + 1)) * sin(pi * h * (i % N + 1));
    const int centre = N / 2 * N + N / 2;
    const double before = u[centre];
    yoke_solve_options options = yoke_solve_defaults();
    options.rtol = 1e-10;
    options.initial_guess = 1;
    long long iterations = 0;
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < N * N; i++) b[i] = shift * u[i];
        check(yoke_solve(plan, b, u, &options), "solve");
        const yoke_report *report = yoke_plan_report(plan);
        iterations += report->iterations;
        if (report->outcome != YOKE_CONVERGED) {
            fprintf(stderr, "heat: step %d: %s: %s\n", step, yoke_outcome_text(report->outcome),
                    report->detail);
            return EXIT_FAILURE;
        }
    }
    yoke_plan_destroy(plan);
    yoke_matrix_destroy(matrix);
    yoke_context_destroy(context);

    const double s = sin(pi * h / 2), damping = pow(1.0 / (1.0 + 8.0 * s * s / shift), STEPS);
    const double error = fabs(u[centre] / before / damping - 1.0);
    printf("%d steps, %lld iterations: the lowest mode fell to %.12f of its height, exactly %.12f\n",
           STEPS, iterations, u[centre] / before, damping);
    /* each step adds an error of about rtol times the condition number of h^2/dt + T, below 100 */
    return error < STEPS * options.rtol * 100 ? EXIT_SUCCESS : EXIT_FAILURE;
}
