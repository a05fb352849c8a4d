/* SPDX-License-Identifier: BSD-3-Clause */
/* test_split_cg.c: the CG of the rival operations, with a product made on the CPU in the place of
 * cuSPARSE's. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "bench/rivals/split_cg.h"

enum { ROWS = 3000 };

typedef struct system {
    split_cg cg;
    double b[ROWS], inverse[ROWS], x[ROWS], r[ROWS], p[ROWS], minus_q[ROWS];
    int products, fails_at;
} system_of;

/* Tridiagonal, diagonal 3 + i / 100, neighbours -1: well conditioned once scaled. */
static double diagonal(int64_t i)
{
    return 3.0 + (double)i / 100.0;
}

static double row_times(const double *v, int64_t i)
{
    return diagonal(i) * v[i] - (i > 0 ? v[i - 1] : 0.0) - (i + 1 < ROWS ? v[i + 1] : 0.0);
}

static int multiply(void *user)
{
    system_of *s = user;
    if (++s->products == s->fails_at) return 1;
    for (int64_t i = 0; i < ROWS; i++) s->minus_q[i] = -row_times(s->p, i);
    return 0;
}

static system_of *make_system(int threads, int jacobi)
{
    system_of *s = calloc(1, sizeof *s);
    for (int64_t i = 0; i < ROWS; i++) {
        s->b[i] = 1.0 + (double)(i % 7);
        s->inverse[i] = 1.0 / diagonal(i);
        s->x[i] = s->r[i] = s->p[i] = NAN; /* begin must set them */
    }
    s->cg = (split_cg){.rows = ROWS,
                       .threads = threads,
                       .b = s->b,
                       .inverse_diagonal = jacobi ? s->inverse : NULL,
                       .x = s->x,
                       .r = s->r,
                       .p = s->p,
                       .minus_q = s->minus_q,
                       .multiply = multiply,
                       .user = s};
    return s;
}

/* ||b - A x|| / ||b||, and the gap between b - A x and r beside it. */
static double residual(const system_of *s, double *gap)
{
    double sum = 0.0, all = 0.0, apart = 0.0;
    for (int64_t i = 0; i < ROWS; i++) {
        double one = s->b[i] - row_times(s->x, i);
        sum += one * one;
        all += s->b[i] * s->b[i];
        apart += (one - s->r[i]) * (one - s->r[i]);
    }
    *gap = sqrt(apart / all);
    return sqrt(sum / all);
}

static double solved(int threads, int jacobi, int iterations)
{
    double gap = 0.0;
    system_of *s = make_system(threads, jacobi);
    split_cg_begin(&s->cg);
    cr_assert_eq(split_cg_run(&s->cg, iterations), 0);
    cr_assert_eq(s->products, iterations);
    double left = residual(s, &gap);
    cr_assert_lt(gap, 1e-13); /* some hundred roundings of 1e-16 */
    free(s);
    return left;
}

Test(split_cg, solves_the_system_and_its_residual_is_the_true_one)
{
    cr_assert_lt(solved(1, 0, 120), 1e-9);
    cr_assert_lt(solved(2, 0, 120), 1e-9);
}

/* Scaled, all eigenvalues lie within 1 - 2/3 and 1 + 2/3: each iteration divides the error by
 * (sqrt(5) + 1) / (sqrt(5) - 1) = 2.6 at least. */
Test(split_cg, jacobi_is_applied)
{
    cr_assert_lt(solved(2, 1, 30), 1e-10);
    cr_assert_gt(solved(2, 0, 30), 1e-6);
}

Test(split_cg, begins_anew_and_outlasts_a_zero_residual)
{
    double gap = 0.0;
    system_of *s = make_system(2, 1);
    for (int k = 0; k < 2; k++) {
        split_cg_begin(&s->cg);
        cr_assert_eq(split_cg_run(&s->cg, 1000), 0);
        cr_assert_lt(residual(s, &gap), 1e-14);
    }
    for (int64_t i = 0; i < ROWS; i++) s->b[i] = 0.0;
    split_cg_begin(&s->cg);
    cr_assert_eq(split_cg_run(&s->cg, 3), 0);
    for (int64_t i = 0; i < ROWS; i++) cr_assert_eq(s->x[i], 0.0);
    free(s);
}

Test(split_cg, a_failed_product_ends_it)
{
    system_of *s = make_system(1, 0);
    s->fails_at = 3;
    split_cg_begin(&s->cg);
    cr_assert_eq(split_cg_run(&s->cg, 10), 1);
    cr_assert_eq(s->products, 3);
    free(s);
}
