/* SPDX-License-Identifier: BSD-3-Clause */
/* test_gpu_together.c: plans whose rows lie on a GPU and on the CPU: whatever a solve may be told,
 * it does what the CPU alone does, to the bit; what such plans do not take is refused by name. That
 * every cut, mode, driver and format gives the same bits is test_battery.c's to show. */
#include <stdio.h>

#include "lib/context.h"
#include "tests/need_gpu.h"
#include "tests/systems.h"

/* What a wait that nobody ends is ended by. */
TestSuite(gpu_together, .init = need_gpu, .timeout = 300.0);

static const char *const drivers[] = {"stream", "graph"}, *const formats[] = {"csr", "sell"};
static const char *const preconditioners[] = {"none", "jacobi"};

static yoke_plan_options shared(const char *partition, const char *memory, const char *driver)
{
    yoke_plan_options planning = yoke_plan_defaults();
    planning.partition = partition;
    planning.memory = memory;
    planning.driver = driver;
    planning.threads = 2;
    planning.parts = 2;
    return planning;
}

static yoke_plan_options on_cpu(const yoke_plan_options *like)
{
    yoke_plan_options planning = *like;
    planning.partition = "cpu";
    planning.memory = planning.driver = planning.format = planning.home = NULL;
    return planning;
}

/* ------------------------------------------------------------- what is told */

enum { LENGTH = 3000 };

/* A solve's answer, all of it. */
typedef struct answer {
    yoke_report report;
    double *x, *history;
    int64_t calls;
} answer;

/* What a solve is told: one of these a case. */
typedef enum wish {
    HISTORY,
    SHORT_HISTORY,
    MONITOR,
    STOPPED_BY_MONITOR,
    CHECKED_EVERY_7,
    LIMITED,
    EXACTLY_20,
    FROM_A_GUESS,
    TO_THE_LAST_DIGIT,
    ZERO_RIGHT_HAND_SIDE,
    HUGE,
    WISHES
} wish;

static int watch(void *user, int64_t iteration, double norm)
{
    answer *a = user;
    (void)norm;
    a->calls++;
    return 0 * iteration;
}

static int stop_at_9(void *user, int64_t iteration, double norm)
{
    watch(user, iteration, norm);
    return iteration == 9;
}

static yoke_solve_options options_of(wish w, answer *a)
{
    yoke_solve_options options = yoke_solve_defaults();
    options.history = a->history;
    options.history_capacity = w == SHORT_HISTORY ? 5 : LENGTH;
    options.monitor_user = a;
    if (w == MONITOR) options.monitor = watch;
    if (w == STOPPED_BY_MONITOR) options.monitor = stop_at_9;
    if (w == CHECKED_EVERY_7) options.check_every = 7;
    if (w == LIMITED) options.maxit = 13;
    if (w == EXACTLY_20) options.maxit = 20, options.fixed_iterations = 1;
    if (w == FROM_A_GUESS) options.initial_guess = 1, options.base = YOKE_BASE_R0;
    if (w == TO_THE_LAST_DIGIT) options.rtol = 1e-16;
    return options;
}

static answer solve_wish(yoke_matrix *matrix, const yoke_plan_options *planning, wish w)
{
    int64_t rows = yoke_matrix_rows(matrix);
    answer a = {.x = filled(rows, 0.0), .history = filled(LENGTH, 0.0)};
    double *b = filled(rows, 0.0);
    yoke_solve_options options = options_of(w, &a);
    if (w != ZERO_RIGHT_HAND_SIDE) scramble(b, rows, 1);
    for (int64_t i = 0; w == HUGE && i < rows; i++) b[i] *= 1e160;
    scramble(a.x, rows, 2);
    a.report = solve_with(matrix, planning, b, a.x, &options);
    return a;
}

static void same_number(double a, double b, const char *what, const char *name)
{
    cr_assert(a == b || (isnan(a) && isnan(b)), "%s: %s is %.17g, on the CPU %.17g", name, what, a,
              b);
}

static void same_answer(const answer *a, const answer *cpu, int64_t rows, const char *name)
{
    const yoke_report *r = &a->report, *s = &cpu->report;
    cr_assert_eq(r->outcome, s->outcome, "%s: %s", name, yoke_outcome_word(r->outcome));
    cr_assert_eq(r->iterations, s->iterations, "%s: %lld iterations", name,
                 (long long)r->iterations);
    cr_assert_eq(r->history_length, s->history_length, "%s", name);
    cr_assert_eq(r->replacements, s->replacements, "%s", name);
    cr_assert_eq(r->returned_snapshot, s->returned_snapshot, "%s", name);
    cr_assert_eq(a->calls, cpu->calls, "%s: %lld calls", name, (long long)a->calls);
    same_number(r->bound, s->bound, "bound", name);
    same_number(r->residual_initial, s->residual_initial, "residual_initial", name);
    same_number(r->residual_true, s->residual_true, "residual_true", name);
    same_number(r->residual_recursive, s->residual_recursive, "residual_recursive", name);
    same_number(r->curvature, s->curvature, "curvature", name);
    cr_assert_eq(memcmp(a->history, cpu->history, LENGTH * sizeof(double)), 0, "%s: history", name);
    cr_assert_eq(memcmp(a->x, cpu->x, (size_t)rows * sizeof(double)), 0, "%s: other bits", name);
}

static void same_as_cpu(yoke_matrix *matrix, const yoke_plan_options *planning, wish w)
{
    char name[160];
    yoke_plan_options cpu = on_cpu(planning);
    answer expected = solve_wish(matrix, &cpu, w), a = solve_wish(matrix, planning, w);
    snprintf(name, sizeof name, "wish %d, %s, %s, %s", (int)w,
             planning->memory ? planning->memory : "auto",
             planning->driver ? planning->driver : "auto",
             planning->preconditioner ? planning->preconditioner : "none");
    same_answer(&a, &expected, yoke_matrix_rows(matrix), name);
}

/* Every mode that can join here, with every driver. */
static void in_every_mode(void (*test)(const yoke_plan_options *planning))
{
    yoke_list_item mode;
    int modes = 0;
    for (int k = 0; yoke_list(YOKE_LIST_MEMORY, k, &mode); k++) {
        if (!joins_gpu(mode.name)) continue;
        modes++;
        for (int d = 0; d < 2; d++) {
            yoke_plan_options planning = shared("ratio:0.4", mode.name, drivers[d]);
            test(&planning);
        }
    }
    cr_assert_geq(modes, 2, "explicit and mapped join wherever a GPU is");
}

static void every_wish(const yoke_plan_options *like)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:37");
    for (int w = 0; w < WISHES; w++) {
        yoke_plan_options planning = *like;
        planning.format = formats[w & 1];
        planning.preconditioner = preconditioners[w >> 1 & 1];
        same_as_cpu(matrix, &planning, (wish)w);
    }
}

Test(gpu_together, whatever_a_solve_is_told_it_does_what_the_cpu_does)
{
    in_every_mode(every_wish);
}

static void nullspace(const yoke_plan_options *like)
{
    yoke_matrix *matrix = tridiagonal(new_context(), 1500, 1);
    yoke_plan_options planning = *like;
    planning.nullspace = YOKE_NULLSPACE_CONSTANT;
    for (int p = 0; p < 2; p++) {
        planning.preconditioner = preconditioners[p];
        same_as_cpu(matrix, &planning, HISTORY);
    }
}

Test(gpu_together, a_nullspace_is_projected_out)
{
    in_every_mode(nullspace);
}

static void verdict(const yoke_plan_options *planning)
{
    yoke_matrix *matrix = tridiagonal(new_context(), 1500, 1);
    yoke_plan_options cpu = on_cpu(planning);
    double *b = filled(1500, 1.0), *x = filled(1500, 0.0);
    yoke_report expected = solve_with(matrix, &cpu, b, x, NULL);
    yoke_report report = solve_with(matrix, planning, b, x, NULL);
    cr_assert_eq(report.outcome, YOKE_BREAKDOWN, "%s", yoke_outcome_word(report.outcome));
    cr_assert_eq(report.iterations, expected.iterations);
    b[700] = NAN;
    report = solve_with(matrix, planning, b, x, NULL);
    cr_assert_eq(report.outcome, YOKE_NOT_FINITE, "%s", yoke_outcome_word(report.outcome));
    cr_assert_eq(report.row, 700);
}

Test(gpu_together, a_singular_system_and_a_nan_end_as_on_the_cpu)
{
    in_every_mode(verdict);
}

/* The plan goes on after it as if nothing had been. */
static void time_limit(const yoke_plan_options *planning)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:60");
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(rows, 0.0), *x = filled(rows, 0.0), *expected = filled(rows, 0.0);
    yoke_plan_options cpu = on_cpu(planning);
    yoke_solve_options limited = yoke_solve_defaults();
    yoke_plan *plan = NULL;
    scramble(b, rows, 4);
    solve_with(matrix, &cpu, b, expected, NULL);
    limited.max_seconds = 1e-9;
    MUST(yoke_plan_create(matrix, planning, &plan));
    MUST(yoke_solve(plan, b, x, &limited));
    cr_assert_eq(yoke_plan_report(plan)->outcome, YOKE_TIME_LIMIT);
    cr_assert_lt(yoke_plan_report(plan)->iterations, 10);
    cr_assert_float_eq(yoke_plan_report(plan)->residual_true, true_residual(matrix, b, x),
                       1e-10 * yoke_plan_report(plan)->residual_initial);
    limited.max_seconds = 1000.0;
    MUST(yoke_solve(plan, b, x, &limited));
    cr_assert_eq(memcmp(x, expected, (size_t)rows * sizeof *x), 0, "after a time limit");
    yoke_plan_destroy(plan);
}

Test(gpu_together, a_time_limit_ends_it_and_the_plan_goes_on)
{
    in_every_mode(time_limit);
}

/* ------------------------------------------------------------------ values */

static void new_values(const yoke_plan_options *like)
{
    yoke_matrix *matrix = generated(new_context(), "random_spd:1500:30:2");
    int64_t rows = yoke_matrix_rows(matrix), nonzeros = yoke_matrix_nonzeros(matrix);
    double *b = filled(rows, 0.0), *x = filled(rows, 0.0), *expected = filled(rows, 0.0);
    double *value = filled(nonzeros, 0.0);
    yoke_csr csr = yoke_csr_defaults();
    MUST(yoke_matrix_view(matrix, &csr));
    memcpy(value, csr.value, (size_t)nonzeros * sizeof *value);
    scramble(b, rows, 6);
    for (int f = 0; f < 2; f++) {
        yoke_plan_options planning = *like, cpu = on_cpu(like);
        yoke_plan *plan = NULL;
        planning.format = formats[f];
        planning.preconditioner = cpu.preconditioner = "jacobi";
        MUST(yoke_plan_create(matrix, &planning, &plan));
        MUST(yoke_solve(plan, b, x, NULL));
        for (int64_t k = 0; k < nonzeros; k++) value[k] *= 3.0;
        MUST(yoke_matrix_update_values(matrix, value));
        MUST(yoke_solve(plan, b, x, NULL));
        solve_with(matrix, &cpu, b, expected, NULL);
        cr_assert_eq(memcmp(x, expected, (size_t)rows * sizeof *x), 0, "%s: after new values",
                     formats[f]);
        yoke_plan_destroy(plan);
    }
}

/* In CSR nothing but values moves. */
static void refresh(const yoke_plan_options *like)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = generated(context, "poisson2d5:40");
    yoke_plan_options planning = *like;
    yoke_plan *plan = NULL;
    yoke_csr csr = yoke_csr_defaults();
    int64_t nonzeros = yoke_matrix_nonzeros(matrix);
    double *value = filled(nonzeros, 0.0), *b = filled(1600, 1.0), *x = filled(1600, 0.0);
    planning.format = "csr";
    MUST(yoke_matrix_view(matrix, &csr));
    for (int64_t k = 0; k < nonzeros; k++) value[k] = 2.0 * csr.value[k];
    MUST(yoke_plan_create(matrix, &planning, &plan));
    MUST(yoke_matrix_update_values(matrix, value));
    long long taken = atomic_load(&context->allocations);
    MUST(yoke_solve(plan, b, x, NULL));
    cr_assert_gt(yoke_plan_report(plan)->setup_seconds, 0.0);
    cr_assert_eq(atomic_load(&context->allocations), taken, "%s: a refresh allocates",
                 planning.memory);
    yoke_plan_destroy(plan);
}

Test(gpu_together, new_values_in_csr_take_no_memory)
{
    in_every_mode(refresh);
}

Test(gpu_together, new_values_reach_both_owners)
{
    in_every_mode(new_values);
}

/* Borrowed, they are used as they are. */
Test(gpu_together, row_starts_may_be_wide)
{
    yoke_context *context = new_context();
    yoke_csr csr = yoke_csr_defaults();
    yoke_matrix *narrow = generated(context, "elasticity3d:6"), *wide = NULL;
    MUST(yoke_matrix_view(narrow, &csr));
    int64_t *start = malloc((size_t)(csr.rows + 1) * sizeof *start);
    for (int64_t i = 0; i <= csr.rows; i++) start[i] = ((const int32_t *)csr.row_start)[i];
    csr.row_start = start;
    csr.row_start_type = YOKE_INT64;
    csr.ownership = YOKE_BORROW;
    MUST(yoke_matrix_create(context, &csr, &wide));
    for (int f = 0; f < 2; f++) {
        yoke_plan_options planning = shared("ratio:0.4", NULL, "graph");
        planning.format = formats[f];
        same_as_cpu(wide, &planning, HISTORY);
    }
    yoke_matrix_destroy(wide);
    free(start);
}

static void many(const yoke_plan_options *planning)
{
    enum { COUNT = 3 };
    yoke_matrix *matrix = generated(new_context(), "elasticity3d:6");
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(COUNT * rows, 0.0), *x = filled(COUNT * rows, 0.0);
    double *expected = filled(COUNT * rows, 0.0);
    yoke_plan_options cpu = on_cpu(planning);
    const yoke_plan_options *of[] = {&cpu, planning};
    scramble(b, COUNT * rows, 8);
    for (int i = 0; i < 2; i++) {
        yoke_plan *plan = NULL;
        MUST(yoke_plan_create(matrix, of[i], &plan));
        MUST(yoke_solve_many(plan, COUNT, b, rows, i ? x : expected, rows, NULL));
        yoke_plan_destroy(plan);
    }
    cr_assert_eq(memcmp(x, expected, (size_t)(COUNT * rows) * sizeof *x), 0);
}

Test(gpu_together, several_right_hand_sides_one_after_another)
{
    in_every_mode(many);
}

/* ------------------------------------------------------------------- homes */

/* Of the GPU's part: a share of its matrix on the host, or all of it in the mode's memory; by
 * copies all of z travels. */
static void homes(const yoke_plan_options *like)
{
    static const char *const names[] = {"spill:0.5", "shared"};
    yoke_matrix *matrix = generated(new_context(), "poisson3d7:12");
    for (int i = 0; i < 4; i++) {
        yoke_plan_options planning = *like;
        planning.home = names[i / 2];
        planning.format = formats[i & 1];
        planning.preconditioner = preconditioners[i & 1];
        same_as_cpu(matrix, &planning, HISTORY);
    }
}

Test(gpu_together, the_gpus_part_may_lie_in_any_home)
{
    in_every_mode(homes);
}

static void new_values_at_home(const yoke_plan_options *like)
{
    yoke_plan_options planning = *like;
    planning.home = "spill:0.5";
    new_values(&planning);
}

Test(gpu_together, new_values_reach_what_is_spilled)
{
    in_every_mode(new_values_at_home);
}

/* Half of what the GPU's part takes. */
Test(gpu_together, what_a_small_gpu_has_no_room_for_is_spilled_with_a_notice)
{
    yoke_matrix *matrix = generated(new_context(), "poisson3d27:20");
    int64_t rows = yoke_matrix_rows(matrix);
    yoke_plan_options planning = shared("ratio:0.2", NULL, NULL), cpu = on_cpu(&planning);
    yoke_memory memory = yoke_memory_defaults();
    yoke_plan *plan = NULL;
    double *b = filled(rows, 0.0), *x = filled(rows, 0.0), *expected = filled(rows, 0.0);
    planning.format = "csr";
    MUST(yoke_plan_memory(matrix, &planning, &memory));
    scramble(b, rows, 7);
    solve_with(matrix, &cpu, b, expected, NULL);
    planning.gpu_memory = memory.device_bytes / 2;
    MUST(yoke_plan_create(matrix, &planning, &plan));
    MUST(yoke_solve(plan, b, x, NULL));
    const yoke_report *report = yoke_plan_report(plan);
    cr_assert_eq(strncmp(report->home, "spill:0.", 8), 0, "home %s", report->home);
    cr_assert(strstr(report->notices, "home auto takes spill"), "%s", report->notices);
    cr_assert_eq(memcmp(x, expected, (size_t)rows * sizeof *x), 0);
    yoke_plan_destroy(plan);
}

/* ------------------------------------------------------------------ report */

Test(gpu_together, the_report_says_who_had_what)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:40"); /* 1600 rows, 7 chunks */
    double *b = filled(1600, 1.0), *x = filled(1600, 0.0);
    yoke_plan_options planning = shared("ratio:0.25", NULL, NULL);
    planning.format = "csr";
    yoke_report report = solve_with(matrix, &planning, b, x, NULL);
    cr_assert_str_eq(report.partition, "ratio:0.25");
    cr_assert_str_eq(report.memory, "mapped");
    cr_assert_str_eq(report.driver, "graph");
    cr_assert_str_eq(report.shape, "unfolded");
    cr_assert_str_eq(report.format, "csr");
    cr_assert_eq(report.gpus, 1);
    cr_assert_eq(report.parts, 3);
    cr_assert_eq(report.cpu_rows, 1600 - 5 * 256);
    int64_t nonzeros = yoke_matrix_nonzeros(matrix);
    cr_assert_eq(report.bytes_per_iteration,
                 (double)(12 * nonzeros + 4 * 1600 + 80 * 1600)); /* as of one owner */
}

Test(gpu_together, a_share_of_the_nonzeros_is_one_of_the_nonzeros)
{
    /* An arrow: row 0 has a third of all nonzeros. */
    enum { n = 2000 };
    int32_t *start = calloc(n + 1, sizeof *start), *column = calloc(3 * n, sizeof *column);
    double *value = calloc(3 * n, sizeof *value), *b = filled(n, 1.0), *x = filled(n, 0.0);
    int32_t count = 0;
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < (i ? 1 : n); j++) {
            column[count] = j;
            value[count++] = i || j ? -1.0 : 2.0 * n;
        }
        if (i) column[count] = i, value[count++] = 2.0;
        start[i + 1] = count;
    }
    yoke_matrix *matrix = of_arrays(new_context(), n, start, column, value, YOKE_TAKE);
    yoke_plan_options planning = shared("nonzeros:0.5", NULL, NULL);
    /* half of 5 998 behind row 0's 2 000: about 500 rows of 2 on the GPU, in chunks */
    cr_assert_eq(solve_with(matrix, &planning, b, x, NULL).cpu_rows, n - 2 * 256);
    planning.partition = "ratio:0.5";
    cr_assert_eq(solve_with(matrix, &planning, b, x, NULL).cpu_rows, n - 4 * 256);
}

Test(gpu_together, a_small_share_is_a_chunk_and_no_share_leaves_one_owner_with_a_notice)
{
    static const struct {
        const char *partition, *ran;
        int64_t cpu_rows;
    } cases[] = {
        {"ratio:1e-9", "ratio:1e-9", 1600 - 6 * 256}, /* the last chunk */
        {"nonzeros:1e-9", "nonzeros:1e-9", 1600 - 6 * 256},
        {"ratio:0.9999", "ratio:0.9999", 1600 - 256},
        {"nonzeros:0.9999", "nonzeros:0.9999", 1600 - 256},
        {"ratio:0", "gpu", 0},
        {"nonzeros:0", "gpu", 0},
        {"ratio:1", "cpu", 1600},
        {"nonzeros:1.0", "cpu", 1600},
    };
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:40");
    double *b = filled(1600, 1.0), *x = filled(1600, 0.0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        yoke_plan_options planning = shared(cases[i].partition, "mapped", "graph");
        yoke_plan *plan = NULL;
        bool one = strchr(cases[i].ran, ':') == NULL;
        planning.format = "sell"; /* which the CPU alone does not take, nor the driver */
        MUST(yoke_plan_create(matrix, &planning, &plan));
        MUST(yoke_solve(plan, b, x, NULL));
        const yoke_report *report = yoke_plan_report(plan);
        cr_assert_str_eq(report->partition, cases[i].ran, "%s", cases[i].partition);
        cr_assert_eq(report->cpu_rows, cases[i].cpu_rows, "%s: %lld rows", cases[i].partition,
                     (long long)report->cpu_rows);
        cr_assert_eq(report->gpus, report->cpu_rows < 1600);
        cr_assert_eq(strstr(report->notices, cases[i].partition) != NULL, one, "%s: %s",
                     cases[i].partition, report->notices);
        yoke_plan_destroy(plan);
    }
}

Test(gpu_together, a_system_of_one_chunk_has_one_owner)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:9");
    double *b = filled(81, 1.0), *x = filled(81, 0.0);
    yoke_plan_options planning = shared("ratio:0.3", NULL, NULL);
    cr_assert_str_eq(solve_with(matrix, &planning, b, x, NULL).partition, "gpu");
    planning.partition = "ratio:0.7";
    cr_assert_str_eq(solve_with(matrix, &planning, b, x, NULL).partition, "cpu");
}

/* ---------------------------------------------------------------- refusals */

static void is_refused(yoke_matrix *matrix, yoke_plan_options planning, yoke_status status,
                       const char *why)
{
    yoke_plan *plan = NULL;
    cr_assert_eq(yoke_plan_create(matrix, &planning, &plan), status, "%s: %s", why,
                 yoke_error_text());
    cr_assert(strstr(yoke_error_text(), why), "'%s', not '%s'", yoke_error_text(), why);
}

Test(gpu_together, what_is_no_share_is_refused)
{
    static const char *const wrong[] = {"ratio",          "ratio:",         "ratio:x",
                                        "ratio:0.5x",     "ratio:nan",      "ratio:-0.1",
                                        "ratio:1.000001", "ratio:inf",      "nonzeros:2",
                                        "nonzeros:0,5",   "nonzeros:0.5:1", "ratio:1e999"};
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:40");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        is_refused(matrix, shared(wrong[i], NULL, NULL), YOKE_INVALID, wrong[i]);
}

static int copy(void *user, int nrhs, const double *in, double *out, yoke_space space, void *stream)
{
    (void)user, (void)nrhs, (void)in, (void)out, (void)space, (void)stream;
    return 0;
}

Test(gpu_together, what_such_plans_do_not_take_is_refused_by_name)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = generated(context, "poisson2d5:40"), *by_action = NULL;
    yoke_plan_options planning = shared("ratio:0.5", NULL, "persistent");
    is_refused(matrix, planning, YOKE_UNSUITABLE, "driver persistent");
    planning.driver = "team";
    is_refused(matrix, planning, YOKE_UNSUITABLE, "driver team");
    planning.driver = NULL;
    planning.shape = "folded";
    is_refused(matrix, planning, YOKE_UNSUITABLE, "shape folded");
    planning.shape = NULL;
    planning.memory = "host";
    is_refused(matrix, planning, YOKE_UNSUITABLE, "memory host");
    if (usable(YOKE_LIST_FORMATS, "cusparse")) {
        planning.format = "cusparse";
        is_refused(matrix, planning, YOKE_UNSUITABLE, "format cusparse");
        planning.format = NULL;
    }
    yoke_operator op = yoke_operator_defaults();
    op.rows = 1600;
    op.apply = copy;
    planning.apply_preconditioner = &op;
    is_refused(matrix, planning, YOKE_UNSUITABLE, "operator or preconditioner");
    planning.apply_preconditioner = NULL;
    MUST(yoke_matrix_create_operator(context, &op, &by_action));
    is_refused(by_action, planning, YOKE_UNSUITABLE, "operator or preconditioner");
    yoke_matrix_destroy(by_action);
    planning = yoke_plan_defaults();
    planning.partition = "cpu";
    planning.memory = "mapped";
    is_refused(matrix, planning, YOKE_UNSUITABLE, "memory mapped");
}

/* As sanitizers and profilers may set it. */
Test(gpu_together, where_launches_block_no_kernel_waits)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:40");
    double *b = filled(1600, 1.0), *x = filled(1600, 0.0);
    yoke_plan *plan = NULL;
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
    is_refused(matrix, shared("ratio:0.5", "mapped", NULL), YOKE_UNUSABLE, "CUDA_LAUNCH_BLOCKING");
    yoke_plan_options planning = shared("ratio:0.5", NULL, NULL);
    MUST(yoke_plan_create(matrix, &planning, &plan));
    MUST(yoke_solve(plan, b, x, NULL));
    cr_assert_str_eq(yoke_plan_report(plan)->memory, "explicit");
    cr_assert(strstr(yoke_plan_report(plan)->notices, "memory auto takes explicit"), "%s",
              yoke_plan_report(plan)->notices);
    yoke_plan_destroy(plan);
    setenv("CUDA_LAUNCH_BLOCKING", "0", 1);
    MUST(yoke_plan_create(matrix, &planning, &plan));
    MUST(yoke_solve(plan, b, x, NULL));
    cr_assert_str_eq(yoke_plan_report(plan)->memory, "mapped");
    yoke_plan_destroy(plan);
}

/* ---------------------------------------------------------------- planning */

static void measured(const yoke_plan_options *like)
{
    yoke_matrix *matrix = generated(new_context(), "poisson3d7:12");
    yoke_plan_options planning = *like;
    planning.driver = planning.format = NULL;
    planning.effort = "measure";
    for (int p = 0; p < 2; p++) {
        planning.preconditioner = preconditioners[p];
        same_as_cpu(matrix, &planning, HISTORY);
    }
}

/* Its loop stops at once, and so does its timing. */
static void measured_nan(const yoke_plan_options *like)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:40");
    yoke_plan_options planning = *like, cpu = on_cpu(like);
    yoke_csr csr = yoke_csr_defaults();
    MUST(yoke_matrix_view(matrix, &csr));
    double *value = filled(yoke_matrix_nonzeros(matrix), 1.0);
    double *b = filled(1600, 1.0), *x = filled(1600, 0.0);
    memcpy(value, csr.value, (size_t)yoke_matrix_nonzeros(matrix) * sizeof *value);
    value[0] = NAN;
    MUST(yoke_matrix_update_values(matrix, value));
    planning.effort = "measure";
    yoke_report expected = solve_with(matrix, &cpu, b, x, NULL);
    yoke_report report = solve_with(matrix, &planning, b, x, NULL);
    cr_assert_eq(report.outcome, YOKE_NOT_FINITE, "%s", yoke_outcome_word(report.outcome));
    cr_assert_eq(report.row, expected.row);
}

Test(gpu_together, a_matrix_with_a_nan_is_timed_without_waiting)
{
    in_every_mode(measured_nan);
}

/* What a log said of a measured cut, and how often. */
typedef struct measurement {
    int times;
    double cpu, gpu, meetings, share;
} measurement;

static void keep_measurement(void *user, yoke_log_level level, const char *text)
{
    measurement *m = user;
    double cpu, gpu, meetings, share;
    if (level != YOKE_LOG_DETAIL ||
        sscanf(text, "measured: CPU %lf GB/s, GPU %lf GB/s, meetings %lf us: a share of %lf", &cpu,
               &gpu, &meetings, &share) != 4)
        return;
    *m = (measurement){m->times + 1, cpu, gpu, meetings, share};
}

/* Whatever the cut, and who is left without rows, the bits are the same; and the cut is the one
 * that was measured, to the chunks that are not worth another plan. */
Test(gpu_together, the_model_cuts_by_what_it_has_measured)
{
    static const char *const specs[] = {"poisson3d27:20", "poisson2d5:200", "poisson2d5:17"};
    for (int i = 0; i < 3; i++) {
        measurement m = {0, 0.0, 0.0, 0.0, 0.0};
        yoke_context_options logged = yoke_context_defaults();
        yoke_context *context = NULL;
        logged.log = keep_measurement;
        logged.log_user = &m;
        MUST(yoke_context_create(&logged, &context));
        yoke_matrix *matrix = generated(keep(context), specs[i]);
        yoke_plan_options planning = shared("model", NULL, NULL), cpu = on_cpu(&planning);
        answer expected = solve_wish(matrix, &cpu, HISTORY);
        answer a = solve_wish(matrix, &planning, HISTORY);
        same_answer(&a, &expected, yoke_matrix_rows(matrix), specs[i]);
        cr_assert(m.times >= 1 && m.times <= 3, "measured %d times", m.times);
        cr_assert(m.cpu > 0.0 && m.gpu > 0.0 && m.meetings >= 0.0);
        const char *ran = m.share == 0.0 ? "gpu" : m.share == 1.0 ? "cpu" : "model";
        cr_assert_str_eq(a.report.partition, ran, "a share of %g", m.share);
        if (*ran == 'm') cr_assert_float_eq(m.share, m.cpu / (m.cpu + m.gpu), 0.01);
    }
}

Test(gpu_together, drivers_and_formats_are_timed_where_effort_asks_for_it)
{
    in_every_mode(measured);
}
