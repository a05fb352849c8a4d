/* SPDX-License-Identifier: BSD-3-Clause */
/* test_gpu.c: one GPU against the CPU: the same bits of x, the same outcomes. Without a GPU every
 * test is skipped, or with YOKE_REQUIRE_GPU=1 fails. */
#include "tests/need_gpu.h"
#include "tests/systems.h"

#include <criterion/parameterized.h>

/* Every kind of row: short, long, a dense row of several segments, few chunks, irregular. */
static const char *const specs[] = {
#if FAKE_GPU /* smaller, as one thread of a CPU runs the kernels */
    "poisson2d5:3",   "poisson2d5:40",  "poisson3d7:18",       "poisson3d27:9",
    "elasticity3d:4", "graph:1500:8:3", "random_spd:900:40:9", "jumps3d7:8:1e3:1",
#else
    "poisson2d5:3",         "poisson2d5:40",     "poisson3d7:12",  "poisson3d7:48",
    "poisson3d27:11",       "poisson3d27:32",    "elasticity3d:6", "graph:20000:8:3",
    "random_spd:9000:40:9", "jumps3d7:20:1e3:1",
#endif
};

TestSuite(gpu, .init = need_gpu);

static void same_as_cpu(yoke_matrix *matrix, const char *name, const yoke_plan_options *on_gpu)
{
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(rows, 0.0), *x0 = filled(rows, 0.0);
    double *expected = filled(rows, 0.0), *x = filled(rows, NAN);
    yoke_plan_options on_cpu = yoke_plan_defaults();
    yoke_solve_options options = yoke_solve_defaults();
    scramble(b, rows, 1);
    scramble(x0, rows, 2);
    options.initial_guess = 1;
    on_cpu.partition = "cpu";
    on_cpu.preconditioner = on_gpu->preconditioner;
    memcpy(expected, x0, (size_t)rows * sizeof *x);
    memcpy(x, x0, (size_t)rows * sizeof *x);
    yoke_report cpu = solve_with(matrix, &on_cpu, b, expected, &options);
    yoke_report gpu = solve_with(matrix, on_gpu, b, x, &options);
    cr_assert_eq(gpu.outcome, YOKE_CONVERGED, "%s: %s", name, yoke_outcome_word(gpu.outcome));
    cr_assert_eq(gpu.gpus, 1);
    cr_assert_eq(gpu.iterations, cpu.iterations, "%s, %s, %s, %s, %s: %lld iterations, not %lld",
                 name, on_gpu->driver, gpu.format, on_gpu->shape, on_gpu->preconditioner,
                 (long long)gpu.iterations, (long long)cpu.iterations);
    cr_assert_eq(memcmp(x, expected, (size_t)rows * sizeof *x), 0, "%s, %s, %s, %s, %s: other bits",
                 name, on_gpu->driver, gpu.format, on_gpu->shape, on_gpu->preconditioner);
    free(b);
    free(x0);
    free(x);
    free(expected);
}

/* The persistent driver keeps p on the chip and takes short rows; of many rows in SELL alone. */
static bool is_refused(yoke_matrix *matrix, const char *name, const yoke_plan_options *planning,
                       bool short_rows)
{
    yoke_plan *plan = NULL;
    bool fits = short_rows && strcmp(planning->shape, "unfolded") == 0;
    if (strcmp(planning->driver, "persistent") != 0) return false;
    if (fits && strcmp(planning->format, "sell") == 0) return false;
    yoke_status status = yoke_plan_create(matrix, planning, &plan);
    yoke_plan_destroy(plan);
    if (fits && status == YOKE_OK) return false;
    cr_assert_eq(status, YOKE_UNSUITABLE, "%s, %s", name, planning->shape);
    if (fits) cr_assert(strstr(yoke_error_text(), "the matrix comes in format sell"), "%s", name);
    return true;
}

static void every_way(yoke_matrix *matrix, const char *name, bool sell)
{
    static const char *const shapes[] = {"folded", "unfolded"}, *const formats[] = {"csr", "sell"};
    static const char *const preconditioners[] = {"none", "jacobi"};
    yoke_list_item driver;
    for (int d = 0; yoke_list(YOKE_LIST_DRIVERS, d, &driver); d++)
        for (int s = 0; s < 2; s++)
            for (int f = 0; f < (sell ? 2 : 1); f++)
                for (int p = 0; p < 2; p++) {
                    if (!driver.usable || strcmp(driver.name, "team") == 0) continue;
                    yoke_plan_options planning = yoke_plan_defaults();
                    planning.partition = "gpu";
                    planning.driver = driver.name;
                    planning.shape = shapes[s];
                    planning.format = formats[f];
                    planning.preconditioner = preconditioners[p];
                    if (is_refused(matrix, name, &planning, sell)) continue;
                    same_as_cpu(matrix, name, &planning);
                }
}

ParameterizedTestParameters(gpu, the_bits_of_the_cpu_in_every_way)
{
    static int index[sizeof specs / sizeof *specs];
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) index[i] = (int)i;
    return cr_make_param_array(int, index, sizeof specs / sizeof *specs);
}

ParameterizedTest(int *index, gpu, the_bits_of_the_cpu_in_every_way)
{
    every_way(generated(new_context(), specs[*index]), specs[*index], true);
}

/* Enough rows that warps take whole chunks, and a last chunk and slice that are not full: slices of
 * one width, narrow and wide, and slices that differ, with rows of up to 8 entries among longer. */
static const char *const large[] = {
#if FAKE_GPU
    "poisson3d7:13", "poisson2d5:35", "poisson3d27:10", "graph:1800:6:5"
#else
    "poisson3d7:58", "poisson2d5:530", "poisson3d27:58", "graph:200010:6:5"
#endif
};

ParameterizedTestParameters(gpu, the_bits_of_the_cpu_where_warps_take_chunks)
{
    static int index[sizeof large / sizeof *large];
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) index[i] = (int)i;
    return cr_make_param_array(int, index, sizeof large / sizeof *large);
}

ParameterizedTest(int *index, gpu, the_bits_of_the_cpu_where_warps_take_chunks)
{
    every_way(generated(new_context(), large[*index]), large[*index], true);
}

/* 2 half + 1 on the diagonal, -1 in `half` columns to either side. */
static yoke_matrix *banded(yoke_context *context, int n, int half)
{
    size_t entries = (size_t)n * (size_t)(2 * half + 1);
    int32_t *start = calloc((size_t)n + 1, sizeof *start);
    int32_t *column = calloc(entries, sizeof *column), count = 0;
    double *value = calloc(entries, sizeof *value);
    for (int i = 0; i < n; i++) {
        for (int j = i > half ? i - half : 0; j <= i + half && j < n; j++) {
            column[count] = j;
            value[count++] = i == j ? 2 * half + 1 : -1.0;
        }
        start[i + 1] = count;
    }
    return of_arrays(context, n, start, column, value, YOKE_TAKE);
}

/* Widths 3, 9, 13, 41: what is left of a row after eights is nothing, one, five; and 45, five
 * nines. */
Test(gpu, the_bits_of_the_cpu_in_bands_of_every_kind)
{
    static const int half[] = {1, 4, 6, 20, 22};
    for (size_t i = 0; i < sizeof half / sizeof *half; i++)
        every_way(banded(new_context(), FAKE_GPU ? 1007 : 201007, half[i]), "band", true);
}

/* How many rows behind row i it is coupled to: mostly few, now and then many. */
static int reach_of(int i)
{
    if (i % 97 == 5) return 190;
    return i % 11 == 0 ? 20 : i % 3;
}

/* Rows of a few entries beside some of 200. */
static yoke_matrix *uneven(yoke_context *context, int n)
{
    const size_t most = 14 * (size_t)n + 500;
    int32_t *start = calloc((size_t)n + 1, sizeof *start), count = 0;
    int32_t *column = calloc(most, sizeof *column);
    double *value = calloc(most, sizeof *value);
    for (int i = 0; i < n; i++) {
        for (int j = i > 190 ? i - 190 : 0; j <= i + 190 && j < n; j++) {
            if (abs(i - j) > reach_of(i < j ? i : j)) continue;
            column[count] = j;
            value[count++] = i == j ? 256.0 + i % 3 : -1.0;
        }
        start[i + 1] = count;
    }
    return of_arrays(context, n, start, column, value, YOKE_TAKE);
}

/* By blocks, and on a GPU by warps; the last chunk full, and not. */
Test(gpu, the_bits_of_the_cpu_where_rows_are_sorted)
{
    static const int rows[] = {70, 255, 256, 300, FAKE_GPU ? 1300 : 140003};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        every_way(uneven(new_context(), rows[i]), "uneven", true);
}

/* 96 rows of one entry each, but for two of 10 with 9 of two beside each, in slices 0 and 1.
 * Sorted, 10 + 1 + 1 columns: in place, 10 + 10 + 1. */
Test(gpu, reports_count_the_order_of_sorted_rows)
{
    static int32_t start[97], column[96 + 36];
    static double value[96 + 36];
    int32_t count = 0;
    for (int i = 0; i < 96; i++) {
        for (int j = 0; j < 96; j++) {
            bool first = (i == 0 && j < 10) || (j == 0 && i < 10);
            bool second = (i == 63 && j > 53 && j < 64) || (j == 63 && i > 53 && i < 64);
            if (i != j && !first && !second) continue;
            column[count] = j;
            value[count++] = i == j ? 10.0 : -1.0;
        }
        start[i + 1] = count;
    }
    yoke_matrix *matrix = of_arrays(new_context(), 96, start, column, value, YOKE_COPY);
    double *b = filled(96, 1.0), *x = filled(96, 0.0);
    yoke_plan_options planning = yoke_plan_defaults();
    planning.partition = "gpu";
    planning.format = "sell";
    planning.shape = "unfolded";
    double bytes = solve_with(matrix, &planning, b, x, NULL).bytes_per_iteration;
    cr_assert_eq(bytes, 12.0 * 32.0 * 12.0 + (1.0 + 80.0) * 96.0, "%g", bytes);
}

Test(gpu, reports_count_the_padding_that_is_read_and_no_row_starts)
{
    yoke_matrix *matrix = generated(new_context(), "poisson3d7:16");
    double *b = filled(4096, 1.0), *x = filled(4096, 0.0);
    yoke_plan_options planning = yoke_plan_defaults();
    planning.partition = "gpu";
    planning.format = "sell";
    planning.shape = "unfolded";
    double bytes = solve_with(matrix, &planning, b, x, NULL).bytes_per_iteration;
    cr_assert_eq(bytes, (12.0 * 7.0 + 80.0) * 4096.0, "%g", bytes);
}

/* One dense row of many segments, and rows of every length up to it. */
Test(gpu, rows_of_every_length_and_a_dense_one)
{
    enum { n = FAKE_GPU ? 700 : 2000 };
    static double entry[n * n];
    for (int i = 0; i < n; i++) {
        entry[i * n + i] = 3.0 * n;
        for (int j = 0; j < i && j < n / 3; j++)
            if (j == 0 || (i * 7 + j * 3) % (1 + i % 13) == 0)
                entry[i * n + j] = entry[j * n + i] = -1.0 / (1 + (i + j) % 5);
    }
    every_way(dense(new_context(), n, entry), "arrow", false);
}

static yoke_report on_gpu(yoke_matrix *matrix, const double *b, double *x,
                          const yoke_solve_options *options)
{
    yoke_plan_options planning = yoke_plan_defaults();
    planning.partition = "gpu";
    return solve_with(matrix, &planning, b, x, options);
}

Test(gpu, outcomes_are_those_of_the_cpu)
{
    yoke_context *context = new_context();
    double swap[4] = {0, 1, 1, 0}, opposite[2] = {1, -1}, first[2] = {1, 0}, x[5];
    double *ones = filled(5, 1.0), *zeros = filled(5, 0.0), nan[5] = {1, NAN, 1, 1, 1};
    yoke_report report = on_gpu(dense(context, 2, swap), opposite, x, NULL);
    cr_assert_eq(report.outcome, YOKE_INDEFINITE);
    cr_assert_eq(report.iterations, 1);
    cr_assert_eq(report.curvature, -2.0);
    cr_assert_eq(on_gpu(dense(context, 2, swap), first, x, NULL).outcome, YOKE_BREAKDOWN);
    cr_assert_eq(on_gpu(tridiagonal(context, 5, 1), ones, x, NULL).outcome, YOKE_BREAKDOWN);
    cr_assert_eq(on_gpu(tridiagonal(context, 5, 0), nan, x, NULL).outcome, YOKE_NOT_FINITE);
    report = on_gpu(tridiagonal(context, 5, 0), zeros, x, NULL);
    cr_assert_eq(report.outcome, YOKE_CONVERGED);
    cr_assert_eq(report.iterations, 0);
    cr_assert_eq(x[3], 0.0);
}

Test(gpu, limits_fixed_iterations_and_history_end_where_they_say)
{
    enum { side = FAKE_GPU ? 16 : 60, rows = side * side };
    yoke_context *context = new_context();
    yoke_matrix *matrix = generated(context, FAKE_GPU ? "poisson2d5:16" : "poisson2d5:60");
    double *b = filled(rows, 1.0), *x = filled(rows, 0.0), *y = filled(rows, 0.0);
    static double on_device[5001], on_host[5001];
    for (int maxit = 1; maxit <= 5000; maxit = maxit < 40 ? maxit + 1 : maxit * 11) {
        yoke_solve_options options = yoke_solve_defaults();
        options.fixed_iterations = 1;
        options.maxit = maxit;
        options.history = on_device;
        options.history_capacity = 5001;
        yoke_report report = on_gpu(matrix, b, x, &options);
        cr_assert_eq(report.iterations, maxit);
        cr_assert_eq(report.history_length, maxit + 1);
        options.history = on_host;
        solve_with(matrix, NULL, b, y, &options);
        cr_assert_eq(memcmp(on_device, on_host, (size_t)(maxit + 1) * sizeof *on_host), 0);
        cr_assert_eq(memcmp(x, y, rows * sizeof *x), 0, "%d iterations", maxit);
    }
}

Test(gpu, new_values_reach_the_device)
{
    yoke_context *context = new_context();
    static const char *const formats[] = {"csr", "sell", "csr", "sell"};
    static const char *const drivers[] = {"graph", "graph", "persistent", "persistent"};
    for (int f = 0; f < 4; f++) {
        yoke_matrix *matrix = generated(context, "poisson2d5:40");
        yoke_csr csr = yoke_csr_defaults();
        MUST(yoke_matrix_view(matrix, &csr));
        int64_t nonzeros = yoke_matrix_nonzeros(matrix);
        double *twice = filled(nonzeros, 0.0), *b = filled(1600, 1.0);
        double *x = filled(1600, 0.0), *half = filled(1600, 0.0);
        for (int64_t k = 0; k < nonzeros; k++) twice[k] = 2.0 * csr.value[k];
        yoke_plan_options planning = yoke_plan_defaults();
        planning.partition = "gpu";
        planning.format = formats[f];
        planning.driver = drivers[f];
        planning.preconditioner = "jacobi";
        yoke_plan *plan = NULL;
        MUST(yoke_plan_create(matrix, &planning, &plan));
        MUST(yoke_solve(plan, b, x, NULL));
        MUST(yoke_matrix_update_values(matrix, twice));
        MUST(yoke_solve(plan, b, half, NULL));
        for (int i = 0; i < 1600; i++) cr_assert_eq(2.0 * half[i], x[i]);
        yoke_plan_destroy(plan);
    }
}

Test(gpu, a_device_that_is_not_there_is_refused_and_the_cpu_goes_on)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = generated(context, "poisson2d5:40");
    double *b = filled(1600, 1.0), *x = filled(1600, 0.0);
    yoke_plan_options planning = yoke_plan_defaults();
    planning.partition = "gpu";
    planning.parts = 2;
    yoke_plan *plan = NULL;
    cr_assert_eq(yoke_plan_create(matrix, &planning, &plan), YOKE_UNSUITABLE);
    cr_assert_eq(solve_with(matrix, NULL, b, x, NULL).outcome, YOKE_CONVERGED);
}

/* Nothing is launched then, and the iterations that were asked for end all the same. */
Test(gpu, a_system_of_no_rows_ends_after_its_iterations, .timeout = 20.0)
{
    static const char *const drivers[] = {"team", "stream", "graph"};
    const int64_t start[1] = {0};
    yoke_csr csr = yoke_csr_defaults();
    yoke_matrix *matrix = NULL;
    csr.row_start = start;
    csr.row_start_type = YOKE_INT64;
    MUST(yoke_matrix_create(new_context(), &csr, &matrix));
    for (int d = 0; d < 3; d++)
        for (int fixed = 0; fixed < 2; fixed++) {
            yoke_plan_options planning = yoke_plan_defaults();
            yoke_solve_options options = yoke_solve_defaults();
            double history[6] = {NAN, NAN, NAN, NAN, NAN, NAN}, b = 1.0, x = 2.0;
            planning.partition = d ? "gpu" : "cpu";
            planning.driver = drivers[d];
            options.fixed_iterations = fixed;
            options.maxit = 5;
            options.history = history;
            options.history_capacity = 6;
            yoke_report report = solve_with(matrix, &planning, &b, &x, &options);
            cr_assert_eq(report.outcome, fixed ? YOKE_ITERATION_LIMIT : YOKE_CONVERGED);
            cr_assert_eq(report.iterations, fixed ? 5 : 0, "%s", drivers[d]);
            cr_assert_eq(report.history_length, fixed ? 6 : 1, "%s", drivers[d]);
            for (int k = 0; k < report.history_length; k++) cr_assert_eq(history[k], 0.0);
        }
    yoke_matrix_destroy(matrix);
}
