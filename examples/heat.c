/* SPDX-License-Identifier: BSD-3-Clause */
/* heat.c: a hot plate cools: u_t = laplace(u) on the unit square, u = 1 at first, 0 on the border.
 * Backward Euler and the 5-point formula give (h^2/dt + T) u_new = (h^2/dt) u_old with the stencil
 * T = (4, -1, -1, -1, -1). One plan serves all steps; each solve starts from the last solution.
 * The lowest mode, sin(pi x) sin(pi y), is an eigenvector of T with eigenvalue 8 sin^2(pi h / 2),
 * so its share of u must fall by 1 / (1 + 8 sin^2(pi h / 2) dt / h^2) a step: checked at the end.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <yoke.h>

enum { N = 100, STEPS = 50 }; /* points a side, time steps */
static const double RTOL = 1e-10;

static void check(yoke_status status, const char *what)
{
    if (status == YOKE_OK) return;
    fprintf(stderr, "heat: %s: %s: %s\n", what, yoke_status_text(status), yoke_error_text());
    exit(EXIT_FAILURE);
}

/* The lower triangle is enough; shift is h^2/dt. */
static yoke_plan *plan_for(double shift)
{
    static int start[N * N + 1], column[3 * N * N];
    static double value[3 * N * N];
    int k = 0;
    for (int row = 0; row < N * N; row++) {
        start[row] = k;
        if (row >= N) column[k] = row - N, value[k++] = -1.0;
        if (row % N > 0) column[k] = row - 1, value[k++] = -1.0;
        column[k] = row, value[k++] = 4.0 + shift;
    }
    start[N * N] = k;

    yoke_context *context = NULL;
    yoke_matrix *matrix = NULL;
    yoke_plan *plan = NULL;
    yoke_csr csr = yoke_csr_defaults(); /* copied by the library, as a default */
    csr.rows = N * N;
    csr.row_start = start;
    csr.column = column;
    csr.value = value;
    csr.triangle = YOKE_LOWER;
    check(yoke_context_create(NULL, &context), "context");
    check(yoke_matrix_create(context, &csr, &matrix), "matrix");
    check(yoke_plan_create(matrix, NULL, &plan), "plan");
    yoke_matrix_destroy(matrix); /* both live on until the plan is gone */
    yoke_context_destroy(context);
    return plan;
}

/* One time step; u is the initial guess and the result. Returns the iterations it took. */
static int64_t advance(yoke_plan *plan, double shift, double *u)
{
    static double b[N * N];
    yoke_solve_options options = yoke_solve_defaults();
    options.rtol = RTOL;
    options.initial_guess = 1;
    for (int i = 0; i < N * N; i++) b[i] = shift * u[i];
    check(yoke_solve(plan, b, u, &options), "solve");
    const yoke_report *report = yoke_plan_report(plan);
    if (report->outcome != YOKE_CONVERGED) {
        fprintf(stderr, "heat: %s %s\n", yoke_outcome_text(report->outcome), report->detail);
        exit(EXIT_FAILURE);
    }
    return report->iterations;
}

/* The share of the lowest mode in u, times a constant. */
static double lowest_mode(const double *u, double pi_h)
{
    double sum = 0.0;
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) sum += u[y * N + x] * sin(pi_h * (y + 1)) * sin(pi_h * (x + 1));
    return sum;
}

int main(void)
{
    const double pi = acos(-1.0), h = 1.0 / (N + 1), dt = 1e-3, shift = h * h / dt;
    static double u[N * N];
    for (int i = 0; i < N * N; i++) u[i] = 1.0;
    const double before = lowest_mode(u, pi * h);

    yoke_plan *plan = plan_for(shift);
    long long iterations = 0;
    for (int step = 0; step < STEPS; step++) iterations += advance(plan, shift, u);
    yoke_plan_destroy(plan);

    const double s = sin(pi * h / 2), exact = pow(1.0 / (1.0 + 8.0 * s * s / shift), STEPS);
    const double fell = lowest_mode(u, pi * h) / before;
    printf("%d steps, %lld iterations: the lowest mode fell to %.12f, exactly %.12f\n", STEPS,
           iterations, fell, exact);
    /* A step adds at most rtol ||b|| / (h^2/dt + eigenvalue) to the mode's share of u, itself at
     * least 0.8 ||u||: below 1.25 rtol. */
    return fabs(fell / exact - 1.0) <= STEPS * 1.25 * RTOL ? EXIT_SUCCESS : EXIT_FAILURE;
}
