/* SPDX-License-Identifier: BSD-3-Clause */
/* systems.h: the small systems of the tests, and solving them in one line. */
#ifndef YK_TESTS_SYSTEMS_H
#define YK_TESTS_SYSTEMS_H

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yoke.h>
#include <yoke_io.h>

/* 1 where the suite is linked with the fake CUDA runtime: see tests/fake/fake.h. */
#ifndef FAKE_GPU
#define FAKE_GPU 0
#endif

/* Stops the test with the library's own sentence. */
#define MUST(call) cr_assert_eq((call), YOKE_OK, "%s", yoke_error_text())

/* A test may leave its objects to the end of its process. What it can still reach is no leak to the
 * sanitizer; what the library drops remains one. */
static inline void *keep(void *object)
{
    static struct kept {
        void *object;
        struct kept *before;
    } * last;
    struct kept *kept = malloc(sizeof *kept);
    cr_assert(kept);
    *kept = (struct kept){object, last};
    last = kept;
    return object;
}

static inline yoke_context *new_context(void)
{
    yoke_context *context = NULL;
    MUST(yoke_context_create(NULL, &context));
    return keep(context);
}

static inline yoke_matrix *of_arrays(yoke_context *context, int n, const int32_t *start,
                                     const int32_t *column, const double *value,
                                     yoke_ownership ownership)
{
    yoke_csr csr = yoke_csr_defaults();
    csr.rows = n;
    csr.row_start = start;
    csr.column = column;
    csr.value = value;
    csr.ownership = ownership;
    yoke_matrix *matrix = NULL;
    MUST(yoke_matrix_create(context, &csr, &matrix));
    return keep(matrix);
}

/* A dense symmetric matrix by rows, zeros left out. */
static inline yoke_matrix *dense(yoke_context *context, int n, const double *entry)
{
    int32_t *start = calloc((size_t)n + 1, sizeof *start);
    int32_t *column = calloc((size_t)(n * n) + 1, sizeof *column);
    double *value = calloc((size_t)(n * n) + 1, sizeof *value);
    int32_t count = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            if (entry[i * n + j] == 0.0) continue;
            column[count] = j;
            value[count++] = entry[i * n + j];
        }
        start[i + 1] = count;
    }
    return of_arrays(context, n, start, column, value, YOKE_TAKE);
}

/* tridiag(-1, 2, -1); with `neumann` 1 in both corners, which makes it singular. */
static inline yoke_matrix *tridiagonal(yoke_context *context, int n, int neumann)
{
    int32_t *start = calloc((size_t)n + 1, sizeof *start);
    int32_t *column = calloc(3 * (size_t)n, sizeof *column);
    double *value = calloc(3 * (size_t)n, sizeof *value);
    int32_t count = 0;
    for (int i = 0; i < n; i++) {
        for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < n; j++) {
            column[count] = j;
            value[count++] = i != j ? -1.0 : neumann && (i == 0 || i == n - 1) ? 1.0 : 2.0;
        }
        start[i + 1] = count;
    }
    return of_arrays(context, n, start, column, value, YOKE_TAKE);
}

static inline yoke_matrix *generated(yoke_context *context, const char *spec)
{
    yoke_matrix *matrix = NULL;
    MUST(yoke_matrix_generate(context, spec, &matrix));
    return keep(matrix);
}

static inline double *filled(int64_t n, double value)
{
    double *vector = malloc((size_t)(n + 1) * sizeof *vector);
    for (int64_t i = 0; i < n; i++) vector[i] = value;
    return keep(vector);
}

/* Values in [-1, 1] that look random and are the same on every machine. */
static inline void scramble(double *vector, int64_t n, uint64_t seed)
{
    for (int64_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        vector[i] = (double)(int64_t)(seed >> 11) / 4503599627370496.0 - 1.0;
    }
}

/* ||b - A x||_2 in long double, by the public view of the matrix. */
static inline double true_residual(const yoke_matrix *matrix, const double *b, const double *x)
{
    yoke_csr csr = yoke_csr_defaults();
    MUST(yoke_matrix_view(matrix, &csr));
    long double sum = 0.0L;
    for (int64_t i = 0; i < csr.rows; i++) {
        int wide = csr.row_start_type == YOKE_INT64;
        int64_t from =
            wide ? ((const int64_t *)csr.row_start)[i] : ((const int32_t *)csr.row_start)[i];
        int64_t to = wide ? ((const int64_t *)csr.row_start)[i + 1]
                          : ((const int32_t *)csr.row_start)[i + 1];
        long double r = b[i];
        for (int64_t k = from; k < to; k++)
            r -= (long double)csr.value[k] * x[((const int32_t *)csr.column)[k]];
        sum += r * r;
    }
    return (double)sqrtl(sum);
}

/* One solve from a fresh plan; the report is copied out. A suite may be compiled to run on one
 * owner, or by one recurrence, whatever can. */
static inline yoke_report solve_with(yoke_matrix *matrix, const yoke_plan_options *planning,
                                     const double *b, double *x, const yoke_solve_options *options)
{
    yoke_plan *plan = NULL;
    yoke_plan_options chosen = planning ? *planning : yoke_plan_defaults();
#ifdef SOLVE_ON
    if (!chosen.partition && chosen.parts < 2) chosen.partition = SOLVE_ON;
#endif
#ifdef SOLVE_BY
    if (!chosen.solver && !chosen.apply_preconditioner) chosen.solver = SOLVE_BY;
#endif
    MUST(yoke_plan_create(matrix, &chosen, &plan));
    MUST(yoke_solve(plan, b, x, options));
    yoke_report report = *yoke_plan_report(plan);
    report.detail = report.notices = NULL;
    report.partition = keep(strdup(report.partition)); /* all other names are static */
    yoke_plan_destroy(plan);
    return report;
}

/* Whether rows on a GPU and on the CPU can be joined in this memory here. */
static inline bool joins_gpu(const char *memory)
{
    yoke_plan *plan = NULL;
    yoke_plan_options planning = yoke_plan_defaults();
    planning.partition = "ratio:0.5";
    planning.memory = memory;
    yoke_status status =
        yoke_plan_create(generated(new_context(), "poisson2d5:23"), &planning, &plan);
    yoke_plan_destroy(plan);
    cr_assert(status == YOKE_OK || status == YOKE_UNUSABLE || status == YOKE_NOT_BUILT ||
                  status == YOKE_UNSUITABLE,
              "%s", yoke_error_text());
    return status == YOKE_OK;
}

#endif
