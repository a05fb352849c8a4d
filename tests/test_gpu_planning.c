/* SPDX-License-Identifier: BSD-3-Clause */
/* test_gpu_planning.c: effort measure on a GPU: what is timed, what is taken, what is left. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <yoke_tools.h>

#include "lib/matrix.h"
#include "lib/profile.h"
#include "tests/need_gpu.h"
#include "tests/systems.h"

TestSuite(gpu_planning, .init = need_gpu);

typedef struct journal {
    char timed[32][128]; /* "driver, format, shape" */
    char taken[128];
    int count;
} journal;

static void keep_line(void *user, yoke_log_level level, const char *text)
{
    journal *j = user;
    const char *end = strstr(text, ": ");
    cr_assert_eq(level, YOKE_LOG_DETAIL, "%s", text);
    if (strncmp(text, "measured, taken: ", 17) == 0)
        snprintf(j->taken, sizeof j->taken, "%s", text + 17);
    if (strncmp(text, "measured: ", 10) != 0 || !end || !(end = strstr(end + 2, ": "))) return;
    cr_assert_lt(j->count, 32);
    snprintf(j->timed[j->count++], sizeof j->timed[0], "%.*s", (int)(end - text - 10), text + 10);
}

static yoke_context *listened(journal *j)
{
    yoke_context_options options = yoke_context_defaults();
    yoke_context *context = NULL;
    options.log = keep_line;
    options.log_user = j;
    MUST(yoke_context_create(&options, &context));
    return keep(context);
}

/* Patient: in time for all candidates, on a machine that is not ours alone too. */
static yoke_plan_options measured(const char *driver, const char *format, const char *shape)
{
    yoke_plan_options planning = yoke_plan_defaults();
    planning.partition = "gpu";
    planning.effort = "patient";
    planning.driver = driver;
    planning.format = format;
    planning.shape = shape;
    return planning;
}

static bool was_timed(const journal *j, const char *what)
{
    for (int i = 0; i < j->count; i++)
        if (strcmp(j->timed[i], what) == 0) return true;
    return false;
}

static int timed_with(const journal *j, const char *word)
{
    int count = 0;
    for (int i = 0; i < j->count; i++) count += strstr(j->timed[i], word) != NULL;
    return count;
}

/* Solves on the GPU as planned, and on the CPU: the same bits; what was taken is what ran. */
static void same_bits(journal *j, yoke_matrix *matrix, const yoke_plan_options *planning,
                      int64_t iterations)
{
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(rows, 0.0), *x = filled(rows, 0.0), *expected = filled(rows, 0.0);
    char ran[128];
    yoke_plan_options on_cpu = yoke_plan_defaults();
    on_cpu.partition = "cpu";
    on_cpu.preconditioner = planning->preconditioner;
    yoke_solve_options options = yoke_solve_defaults();
    options.fixed_iterations = 1;
    options.maxit = iterations;
    scramble(b, rows, 5);
    solve_with(matrix, &on_cpu, b, expected, &options);
    yoke_report report = solve_with(matrix, planning, b, x, &options);
    cr_assert_eq(memcmp(x, expected, (size_t)rows * sizeof *x), 0, "other bits");
    snprintf(ran, sizeof ran, "%s, %s, %s", report.driver, report.format, report.shape);
    if (j->count > 0) cr_assert_str_eq(ran, j->taken);
}

Test(gpu_planning, a_small_system_is_timed_in_every_way_but_with_drivers_that_lost)
{
    journal j = {0};
    yoke_matrix *matrix = generated(listened(&j), "poisson3d7:6");
    yoke_plan_options planning = measured(NULL, NULL, NULL);
    planning.preconditioner = "jacobi";
    same_bits(&j, matrix, &planning, 20);
    cr_assert(was_timed(&j, "graph, sell, unfolded"));
    cr_assert_geq(timed_with(&j, "stream"), 1);
    cr_assert_geq(timed_with(&j, "csr"), 1);
    cr_assert(was_timed(&j, "graph, csr, unfolded"), "who lost in one format is tried in another");
    for (int i = 0; i < j.count; i++)
        for (int k = 0; k < i; k++) cr_assert_str_neq(j.timed[i], j.timed[k], "timed twice");
    cr_assert(was_timed(&j, j.taken), "%s", j.taken);
}

Test(gpu_planning, a_driver_that_is_named_is_timed_in_both_formats_and_shapes)
{
    journal j = {0};
    yoke_matrix *matrix = generated(listened(&j), "poisson3d7:6");
    yoke_plan_options planning = measured("graph", NULL, NULL);
    same_bits(&j, matrix, &planning, 20);
    cr_assert(was_timed(&j, "graph, sell, unfolded"));
    cr_assert(was_timed(&j, "graph, sell, folded"));
    cr_assert(was_timed(&j, "graph, csr, unfolded"));
    cr_assert(was_timed(&j, j.taken), "%s", j.taken);
}

Test(gpu_planning, of_a_large_system_the_best_few_are_timed)
{
    journal j = {0};
    yoke_matrix *matrix = generated(listened(&j), "poisson3d7:110");
    yoke_plan_options planning = measured(NULL, NULL, NULL);
    planning.effort = "measure";
    same_bits(&j, matrix, &planning, 3);
    cr_assert_geq(timed_with(&j, "graph, sell, "), 1);
    cr_assert_leq(j.count, 6);
    cr_assert(was_timed(&j, j.taken), "%s", j.taken);
}

Test(gpu_planning, what_is_named_is_not_left_to_timing)
{
    journal j = {0};
    yoke_matrix *matrix = generated(listened(&j), "poisson3d7:6");
    yoke_plan_options planning = measured("stream", "csr", NULL);
    same_bits(&j, matrix, &planning, 20);
    cr_assert_eq(j.count, 2);
    cr_assert_eq(timed_with(&j, "stream, csr, "), 2);
    j.count = 0;
    planning = measured("stream", NULL, "folded");
    same_bits(&j, matrix, &planning, 20);
    cr_assert_eq(j.count, 2);
    cr_assert_eq(timed_with(&j, ", folded"), 2);
    j.count = 0;
    planning = measured("graph", "sell", "folded");
    same_bits(&j, matrix, &planning, 20);
    cr_assert_eq(j.count, 0);
}

/* One row of 300 entries: too long for SELL. */
Test(gpu_planning, formats_that_cannot_hold_the_matrix_are_not_timed)
{
    enum { n = 600 };
    static double entry[n * n];
    journal j = {0};
    for (int i = 0; i < n; i++) {
        entry[i * n + i] = 2.0 * n;
        if (i > 0 && i < 300) entry[i] = entry[i * n] = -1.0;
    }
    yoke_matrix *matrix = dense(listened(&j), n, entry);
    yoke_plan_options planning = measured(NULL, NULL, NULL);
    same_bits(&j, matrix, &planning, 20);
    cr_assert_gt(j.count, 1);
    cr_assert_eq(timed_with(&j, "sell"), 0);
    cr_assert_str_eq(strstr(j.taken, "csr") ? "csr" : j.taken, "csr");
}

Test(gpu_planning, new_values_reach_the_format_that_was_taken)
{
    journal j = {0};
    yoke_matrix *matrix = generated(listened(&j), "poisson2d5:40");
    yoke_csr csr = yoke_csr_defaults();
    MUST(yoke_matrix_view(matrix, &csr));
    int64_t nonzeros = yoke_matrix_nonzeros(matrix);
    double *twice = filled(nonzeros, 0.0), *b = filled(1600, 1.0);
    double *x = filled(1600, 0.0), *half = filled(1600, 0.0);
    for (int64_t k = 0; k < nonzeros; k++) twice[k] = 2.0 * csr.value[k];
    yoke_plan_options planning = measured(NULL, NULL, NULL);
    yoke_plan *plan = NULL;
    MUST(yoke_plan_create(matrix, &planning, &plan));
    MUST(yoke_solve(plan, b, x, NULL));
    MUST(yoke_matrix_update_values(matrix, twice));
    MUST(yoke_solve(plan, b, half, NULL));
    for (int i = 0; i < 1600; i++) cr_assert_eq(2.0 * half[i], x[i]);
    yoke_plan_destroy(plan);
}

Test(gpu_planning, auto_leaves_a_small_system_to_the_cpu)
{
    static const struct {
        const char *spec, *partition;
    } systems[] = {{"poisson2d5:20", "cpu"}, {"poisson3d7:10", "cpu"}, {"poisson3d7:64", "gpu"}};
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
        yoke_matrix *matrix = generated(new_context(), systems[i].spec);
        int64_t rows = yoke_matrix_rows(matrix);
        double *b = filled(rows, 1.0), *x = filled(rows, 0.0);
        yoke_solve_options options = yoke_solve_defaults();
        options.maxit = 3;
        yoke_report report = solve_with(matrix, NULL, b, x, &options);
        cr_assert_str_eq(report.partition, systems[i].partition, "%s", systems[i].spec);
    }
}

/* By the model, and the list says so: what is predicted to be the fastest runs, but for folding
 * that saves little. */
Test(gpu_planning, the_estimate_takes_the_first_of_its_list)
{
    yoke_plan_options planning = yoke_plan_defaults();
    yoke_plan *plan = NULL;
    yoke_candidate first, c;
    planning.partition = "gpu";
    planning.driver = "graph";
    MUST(yoke_plan_create(generated(new_context(), "poisson3d7:60"), &planning, &plan));
    cr_assert(yoke_plan_candidate(plan, 0, &first));
    cr_assert(first.taken);
    cr_assert_str_eq(first.shape, "folded", "a tenth of the bytes of so short rows");
    int k = 1;
    for (; yoke_plan_candidate(plan, k, &c); k++) {
        cr_assert_leq(first.predicted, c.predicted);
        cr_assert(isnan(c.measured));
        cr_assert_not(c.taken);
    }
    cr_assert_eq(k, 2, "one driver, one format, two shapes");
    yoke_plan_destroy(plan);
}

/* Nothing can be timed on a matrix of no numbers; the solve then says what it is. */
Test(gpu_planning, a_matrix_with_a_nan_is_planned_and_the_solve_names_it)
{
    journal j = {0};
    double entry[4] = {2.0, NAN, NAN, 2.0}, b[2] = {1.0, 1.0}, x[2];
    yoke_matrix *matrix = dense(listened(&j), 2, entry);
    yoke_plan_options planning = measured(NULL, NULL, NULL);
    cr_assert_eq(solve_with(matrix, &planning, b, x, NULL).outcome, YOKE_NOT_FINITE);
}

/* ------------------------------------------------- by this machine's profile */

/* Keeps one for this machine in a folder of the test's, as a H200's but for the CPU's speed. */
static void keep_profile(double cpu_speed)
{
    char folder[] = "/tmp/yoke_planning_XXXXXX";
    char path[512];
    yk_profile p;
    cr_assert(mkdtemp(folder));
    setenv("XDG_CACHE_HOME", folder, 1);
    MUST(yk_profile_shipped("h200-16cores", &p));
    yk_profile_key_here(0, &p.key);
    p.cpu_read.points = 0;
    yk_curve_add(&p.cpu_read, 1.0, cpu_speed, YK_MEASURED, "test");
    MUST(yk_profile_kept_path(&p.key, true, path, sizeof path));
    MUST(yk_profile_write(path, &p));
}

static void remove_profile(void)
{
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'", getenv("XDG_CACHE_HOME"));
    cr_assert_eq(system(command), 0);
}

static yoke_report solved_by_auto(const char *spec)
{
    yoke_matrix *matrix = generated(new_context(), spec);
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(rows, 1.0), *x = filled(rows, 0.0);
    yoke_solve_options options = yoke_solve_defaults();
    options.maxit = 2;
    return solve_with(matrix, NULL, b, x, &options);
}

Test(gpu_planning, auto_takes_whom_the_profile_says_is_faster)
{
    keep_profile(1e13); /* the rows' own work is left, which no memory takes away */
    cr_assert_str_eq(solved_by_auto("poisson2d5:60").partition, "cpu");
    remove_profile();
    keep_profile(1e8);
    cr_assert_str_eq(solved_by_auto("poisson2d5:60").partition, "gpu");
    cr_assert_str_eq(solved_by_auto("poisson2d5:8").partition, "cpu", "too small to ask");
    remove_profile();
}

/* One multiprocessor of an H200 has a fiftieth of its memory's speed, about that of two threads. */
Test(gpu_planning, auto_shares_the_rows_where_both_are_clearly_faster)
{
    yoke_matrix *matrix = generated(new_context(), "poisson3d7:64");
    double *b = filled(262144, 1.0), *x = filled(262144, 0.0), *expected = filled(262144, 0.0);
    yoke_solve_options options = yoke_solve_defaults();
    yoke_plan_options planning = yoke_plan_defaults(), on_cpu = planning;
    options.maxit = 3;
    on_cpu.partition = "cpu";
    planning.gpu_sms = 1;
    planning.threads = 2;
    keep_profile(1e13);
    yoke_plan *plan = NULL;
    solve_with(matrix, &on_cpu, b, expected, &options);
    MUST(yoke_plan_create(matrix, &planning, &plan));
    remove_profile();
    MUST(yoke_solve(plan, b, x, &options));
    const yoke_report *report = yoke_plan_report(plan);
    cr_assert_eq(strncmp(report->partition, "ratio:0.", 8), 0, "%s", report->partition);
    cr_assert(report->cpu_rows > 26214 && report->cpu_rows < 235930, "%lld",
              (long long)report->cpu_rows);
    cr_assert_eq(memcmp(x, expected, 262144 * sizeof *x), 0, "other bits");
    yoke_plan_destroy(plan);
}

/* Broken ones are told of in the report and not used. */
Test(gpu_planning, a_profile_that_cannot_be_used_is_told)
{
    char path[512];
    yk_profile_key key;
    keep_profile(1e8);
    yk_profile_key_here(0, &key);
    MUST(yk_profile_kept_path(&key, false, path, sizeof path));
    cr_assert_eq(truncate(path, 200), 0);
    yoke_matrix *matrix = generated(new_context(), "poisson3d7:64");
    yoke_plan *plan = NULL;
    double *b = filled(262144, 1.0), *x = filled(262144, 0.0);
    yoke_solve_options options = yoke_solve_defaults();
    options.maxit = 2;
    MUST(yoke_plan_create(matrix, NULL, &plan));
    MUST(yoke_solve(plan, b, x, &options));
    cr_assert(strstr(yoke_plan_report(plan)->notices, "profile not used"), "%s",
              yoke_plan_report(plan)->notices);
    yoke_plan_destroy(plan);
    remove_profile();
}

/* ------------------------------------------------------------------ wisdom */

typedef struct told {
    int timed, wise; /* lines that tell of a measurement, and of wisdom */
    char last[256];  /* of wisdom */
} told;

static void keep_told(void *user, yoke_log_level level, const char *text)
{
    told *t = user;
    if (level == YOKE_LOG_DETAIL) t->timed += strncmp(text, "measured", 8) == 0;
    if (strncmp(text, "wisdom", 6) != 0) return;
    t->wise++;
    snprintf(t->last, sizeof t->last, "%s", text);
}

static yoke_matrix *told_of(told *t, const char *spec)
{
    yoke_context_options options = yoke_context_defaults();
    yoke_context *context = NULL;
    options.log = keep_told;
    options.log_user = t;
    MUST(yoke_context_create(&options, &context));
    return generated(keep(context), spec);
}

/* Planned twice: measured, then known, with the same plan and the same bits. */
static void planned_by_wisdom(const yoke_plan_options *planning, const char *spec)
{
    told t = {0};
    yoke_matrix *matrix = told_of(&t, spec);
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(rows, 1.0), *x = filled(rows, 0.0), *again = filled(rows, 0.0);
    yoke_solve_options options = yoke_solve_defaults();
    options.fixed_iterations = 1;
    options.maxit = 10;
    yoke_report first = solve_with(matrix, planning, b, x, &options);
    cr_assert_gt(t.timed, 0);
    cr_assert_eq(t.wise, 0, "%s", t.last);
    t.timed = 0;
    yoke_report second = solve_with(matrix, planning, b, again, &options);
    cr_assert_eq(t.timed, 0, "measured again");
    cr_assert_geq(t.wise, 1);
    cr_assert_str_eq(second.driver, first.driver);
    cr_assert_str_eq(second.format, first.format);
    cr_assert_str_eq(second.shape, first.shape);
    cr_assert_eq(memcmp(x, again, (size_t)rows * sizeof *x), 0, "other bits");
}

Test(gpu_planning, what_is_known_is_not_timed_again)
{
    yoke_plan_options planning = measured(NULL, NULL, NULL);
    planned_by_wisdom(&planning, "poisson3d7:8");
    planning = measured("graph", NULL, NULL);
    planned_by_wisdom(&planning, "poisson3d27:12");
    planning = measured(NULL, NULL, NULL);
    planning.partition = "model";
    planned_by_wisdom(&planning, "poisson3d27:16");
}

/* A file may name what this choice cannot have: it is measured, and the notice says so. */
Test(gpu_planning, wisdom_that_cannot_be_had_is_measured_anew)
{
    told t = {0};
    char path[] = "/tmp/yoke_wisdom_XXXXXX", command[256];
    yoke_matrix *matrix = told_of(&t, "poisson3d7:8");
    yoke_plan_options planning = measured(NULL, NULL, NULL);
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(rows, 1.0), *x = filled(rows, 0.0);
    solve_with(matrix, &planning, b, x, NULL);
    int handle = mkstemp(path);
    cr_assert_geq(handle, 0);
    close(handle);
    yoke_context *context = matrix->context;
    MUST(yoke_wisdom_export(context, path));
    snprintf(command, sizeof command, "sed -i 's/ patient [a-z]* / patient warp-drive /' %s", path);
    cr_assert_eq(system(command), 0);
    MUST(yoke_wisdom_forget(context));
    MUST(yoke_wisdom_import(context, path));
    remove(path);
    t = (told){0};
    solve_with(matrix, &planning, b, x, NULL);
    cr_assert(strstr(t.last, "wisdom not used: driver warp-drive"), "%s", t.last);
    cr_assert_gt(t.timed, 0);
}
