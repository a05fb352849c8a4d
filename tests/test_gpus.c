/* SPDX-License-Identifier: BSD-3-Clause */
/* test_gpus.c: plans whose rows lie on several GPUs, or in several parts on one: the bits are those
 * of the CPU whatever there are of them and however they meet, what does not run is refused by
 * name, and any failure ends all of them. */
#include <pthread.h>
#include <stdio.h>

#include "solvers/plan.h"
#include "tests/need_gpu.h"
#include "tests/systems.h"

#if FAKE_GPU
#include "tests/fake/fake.h"

static void prepare(void)
{
    fake_devices(3);
    need_gpu();
}
#else
static void prepare(void)
{
    need_gpu();
}
#endif

/* What a wait that nobody ends is ended by. */
TestSuite(gpus, .init = prepare, .timeout = 300.0);

static const struct devices {
    int count, number[4];
} lists[] = {{2, {0, 0}}, {2, {0, 1}}, {3, {0, 1, 2}}, {3, {0, 0, 0}}, {4, {1, 0, 1, 2}}};

enum { LISTS = sizeof lists / sizeof *lists };

static bool are_here(const struct devices *list)
{
    for (int i = 0; i < list->count; i++)
        if (list->number[i] >= yoke_gpu_count(NULL)) return false;
    return true;
}

static yoke_plan_options on(const struct devices *list, const char *driver)
{
    yoke_plan_options planning = yoke_plan_defaults();
    planning.partition = "gpu";
    planning.driver = driver;
    planning.devices = list->number;
    planning.device_count = list->count;
    planning.threads = 2;
    return planning;
}

/* --------------------------------------------------------------------- bits */

/* Row 0 and column 0 are full, beside the diagonal. */
static yoke_matrix *arrow(yoke_context *context, int n)
{
    int32_t *start = calloc((size_t)n + 1, sizeof *start), count = 0;
    int32_t *column = calloc(3 * (size_t)n, sizeof *column);
    double *value = calloc(3 * (size_t)n, sizeof *value);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j += i == 0 ? 1 : i) {
            if (j > i && i > 0) break;
            column[count] = j;
            value[count++] = i == j ? i == 0 ? n : 4.0 : -1.0 / (1 + i + j);
        }
        start[i + 1] = count;
    }
    return of_arrays(context, n, start, column, value, YOKE_TAKE);
}

/* Iterations: more than a batch of them, and some that fill none. */
static yoke_solve_options thirty;

static void same_bits(yoke_matrix *matrix, const yoke_plan_options *planning, const double *b,
                      const double *expected, const yoke_report *of_cpu)
{
    int64_t rows = yoke_matrix_rows(matrix);
    double *x = calloc((size_t)rows + 1, sizeof *x);
    yoke_report report = solve_with(matrix, planning, b, x, &thirty);
    cr_assert_eq(report.outcome, of_cpu->outcome);
    cr_assert_eq(report.iterations, of_cpu->iterations, "%lld iterations, not %lld",
                 (long long)report.iterations, (long long)of_cpu->iterations);
    cr_assert_eq(memcmp(x, expected, (size_t)rows * sizeof *x), 0, "other bits: %s, %s, %s",
                 report.driver, report.format, report.meeting);
    cr_assert_eq(report.gpus, planning->device_count);
    cr_assert_eq(report.cpu_rows, 0);
    free(x);
}

static void in_all_ways(yoke_matrix *matrix, const char *format, const char *preconditioner)
{
    thirty = yoke_solve_defaults();
    thirty.maxit = 30;
    static const char *const drivers[] = {"stream", "graph"};
    static const char *const memories[] = {NULL, "explicit", "mapped"};
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(rows, 0.0), *expected = filled(rows, 0.0);
    yoke_plan_options cpu = yoke_plan_defaults();
    cpu.partition = "cpu";
    cpu.preconditioner = preconditioner;
    scramble(b, rows, 3);
    yoke_report of_cpu = solve_with(matrix, &cpu, b, expected, &thirty);
    for (int l = 0; l < LISTS; l++) {
        for (int way = 0; way < 6 && are_here(&lists[l]); way++) {
            yoke_plan_options planning = on(&lists[l], drivers[way % 2]);
            planning.memory = memories[way / 2];
            planning.format = format;
            planning.preconditioner = preconditioner;
            same_bits(matrix, &planning, b, expected, &of_cpu);
        }
    }
}

Test(gpus, have_the_bits_of_the_cpu)
{
    yoke_context *context = new_context();
    in_all_ways(generated(context, "poisson2d5:60"), "sell", "none");
    in_all_ways(generated(context, "graph:3000:5:1"), "csr", "jacobi");
    in_all_ways(generated(context, "random_spd:2500:9:2"), "sell", "jacobi");
}

Test(gpus, have_the_bits_of_the_cpu_beside_a_dense_row)
{
    in_all_ways(arrow(new_context(), 3000), "csr", "none");
}

Test(gpus, may_have_no_rows_or_few)
{
    yoke_context *context = new_context();
    in_all_ways(generated(context, "poisson2d5:9"), "sell", "none");
    in_all_ways(generated(context, "poisson2d5:20"), "csr", "jacobi");
    in_all_ways(tridiagonal(context, 1, 0), "csr", "none");
}

/* So many chunks that passes go by warps, and that cuts are on multiples of 16. */
Test(gpus, have_the_bits_of_the_cpu_where_a_block_takes_several_chunks)
{
    in_all_ways(generated(new_context(), "poisson2d5:200"), "sell", "none");
}

Test(gpus, project_a_constant_nullspace)
{
    yoke_matrix *matrix = tridiagonal(new_context(), 2000, 1);
    double *b = filled(2000, 0.0), *x = filled(2000, 0.0), *expected = filled(2000, 0.0);
    yoke_plan_options planning = on(&lists[0], "graph"), cpu = yoke_plan_defaults();
    cpu.partition = "cpu";
    planning.nullspace = cpu.nullspace = YOKE_NULLSPACE_CONSTANT;
    scramble(b, 2000, 5);
    solve_with(matrix, &cpu, b, expected, NULL);
    solve_with(matrix, &planning, b, x, NULL);
    cr_assert_eq(memcmp(x, expected, 2000 * sizeof *x), 0);
}

/* ------------------------------------------------------------- what is told */

static yoke_report told(const yoke_plan_options *like, bool several,
                        const yoke_solve_options *options, double *x)
{
    yoke_plan_options planning = *like;
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:60");
    double *b = filled(3600, 0.0);
    if (!several) {
        planning.partition = "cpu";
        planning.driver = planning.memory = NULL;
    }
    scramble(b, 3600, 1);
    return solve_with(matrix, &planning, b, x, options);
}

Test(gpus, do_what_a_solve_is_told)
{
    for (int way = 0; way < 6; way++) {
        yoke_plan_options planning = on(&lists[are_here(&lists[1]) ? way % 2 : 0], "graph");
        yoke_solve_options options = yoke_solve_defaults();
        double history[2][40], *x[2] = {filled(3600, 0.5), filled(3600, 0.5)};
        yoke_report report[2];
        options.history_capacity = 40;
        options.initial_guess = way > 1;
        options.rtol = way > 3 ? 1e-16 : 1e-8;
        if (way % 2) options.maxit = 21 + way, options.fixed_iterations = 1;
        for (int several = 0; several < 2; several++) {
            memset(history[several], 0, sizeof history[0]);
            options.history = history[several];
            report[several] = told(&planning, several, &options, x[several]);
        }
        cr_assert_eq(report[0].iterations, report[1].iterations);
        cr_assert_eq(report[0].outcome, report[1].outcome);
        cr_assert_eq(report[0].history_length, report[1].history_length);
        cr_assert_eq(report[0].replacements, report[1].replacements);
        cr_assert_eq(memcmp(history[0], history[1], sizeof history[0]), 0, "way %d", way);
        cr_assert_eq(memcmp(x[0], x[1], 3600 * sizeof **x), 0, "way %d", way);
        cr_assert(report[0].residual_true == report[1].residual_true);
    }
}

Test(gpus, solve_again_with_new_values)
{
    yoke_matrix *matrix = generated(new_context(), "graph:3000:4:1");
    yoke_csr view = yoke_csr_defaults();
    double *b = filled(3000, 1.0), *x = filled(3000, 0.0), *expected = filled(3000, 0.0);
    MUST(yoke_matrix_view(matrix, &view));
    double *value = filled(yoke_matrix_nonzeros(matrix), 0.0);
    for (int64_t k = 0; k < yoke_matrix_nonzeros(matrix); k++)
        value[k] = 3.0 * ((const double *)view.value)[k];
    for (int f = 0; f < 2; f++) {
        yoke_plan *plan = NULL;
        yoke_plan_options planning = on(&lists[0], "stream"), cpu = yoke_plan_defaults();
        planning.format = f ? "csr" : "sell";
        cpu.partition = "cpu";
        MUST(yoke_plan_create(matrix, &planning, &plan));
        MUST(yoke_solve(plan, b, x, NULL));
        MUST(yoke_matrix_update_values(matrix, value));
        MUST(yoke_solve(plan, b, x, NULL));
        yoke_plan_destroy(plan);
        solve_with(matrix, &cpu, b, expected, NULL);
        cr_assert_eq(memcmp(x, expected, 3000 * sizeof *x), 0);
    }
}

Test(gpus, end_as_the_cpu_does_on_an_indefinite_matrix)
{
    double entry[9] = {1.0, 2.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0, 1.0}, b[3] = {1.0, -1.0, 0.0}, x[3];
    yoke_matrix *matrix = dense(new_context(), 3, entry);
    yoke_plan_options planning = on(&lists[0], "graph");
    memset(x, 0, sizeof x);
    yoke_report report = solve_with(matrix, &planning, b, x, NULL);
    cr_assert_eq(report.outcome, YOKE_INDEFINITE, "%s", yoke_outcome_word(report.outcome));
}

Test(gpus, are_tuned_and_reordered)
{
    yoke_matrix *matrix = generated(new_context(), "graph:4000:4:7");
    double *b = filled(4000, 1.0), *x = filled(4000, 0.0);
    yoke_plan_options planning = on(&lists[0], NULL);
    planning.effort = "measure";
    planning.reorder = "rcm";
    yoke_report report = solve_with(matrix, &planning, b, x, NULL);
    cr_assert_eq(report.outcome, YOKE_CONVERGED);
    cr_assert_str_eq(report.reorder, "rcm");
    cr_assert_lt(true_residual(matrix, b, x), 1.1e-8 * sqrt(4000.0));
}

/* The model knows one GPU, and the persistent driver is for one. */
Test(gpus, are_not_predicted_and_stay_off_the_chip)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:60");
    for (int effort = 0; effort < 2; effort++) {
        yoke_plan_options planning = on(&lists[0], NULL);
        planning.effort = effort ? "measure" : "estimate";
        yoke_plan *plan = NULL;
        yoke_candidate c;
        MUST(yoke_plan_create(matrix, &planning, &plan));
        cr_assert_eq(plan->choice.residency, YK_RESIDENT_NEVER);
        cr_assert(yoke_plan_candidate(plan, 0, &c));
        for (int k = 0; yoke_plan_candidate(plan, k, &c); k++) {
            cr_assert(isnan(c.predicted));
            cr_assert_str_neq(c.driver, "persistent");
        }
        yoke_plan_destroy(plan);
    }
}

/* ------------------------------------------------------------------ choices */

static const char *meeting_of(const struct devices *list, const char *memory)
{
    yoke_plan_options planning = on(list, "stream");
    double *b = filled(3600, 1.0), *x = filled(3600, 0.0);
    planning.memory = memory;
    return solve_with(generated(new_context(), "poisson2d5:60"), &planning, b, x, NULL).meeting;
}

Test(gpus, on_one_device_never_wait_in_a_kernel)
{
    cr_assert_str_eq(meeting_of(&lists[0], NULL), "events, through peer memory");
    cr_assert_str_eq(meeting_of(&lists[0], "explicit"), "events, through peer memory");
    cr_assert_str_eq(meeting_of(&lists[0], "mapped"), "events, through pinned host memory");
}

static void refused(yoke_plan_options planning, yoke_status expected, const char *words)
{
    yoke_plan *plan = NULL;
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:30");
    cr_assert_eq(yoke_plan_create(matrix, &planning, &plan), expected, "%s", yoke_error_text());
    cr_assert(strstr(yoke_error_text(), words), "%s, not: %s", yoke_error_text(), words);
}

#define REFUSED(field, value, words)                                                               \
    do {                                                                                           \
        yoke_plan_options planning_ = on(&lists[0], NULL);                                         \
        planning_.field = value;                                                                   \
        refused(planning_, YOKE_UNSUITABLE, words);                                                \
    } while (0)

Test(gpus, refuse_by_name_what_they_do_not_run)
{
    yoke_plan_options planning = on(&lists[0], NULL);
    REFUSED(partition, "ratio:0.5", "ratio:0.5 gives the CPU rows");
    REFUSED(partition, "adaptive", "adaptive gives the CPU rows");
    REFUSED(driver, "persistent", "several GPUs; use graph or stream");
    REFUSED(solver, "cg-single", "use solver cg");
    REFUSED(shape, "folded", "use unfolded");
    REFUSED(home, "spill:0.5", "homes other than owner");
    REFUSED(memory, "managed", "memory managed");
    REFUSED(parts, 3, "each device has one");
    planning.device_count = 9;
    refused(planning, YOKE_INVALID, "device_count is 9");
    planning.device_count = 2;
    planning.devices = (const int[]){0, -1};
    refused(planning, YOKE_INVALID, "devices[1] is -1");
    planning.devices = (const int[]){0, 99};
    refused(planning, YOKE_UNUSABLE, "device 99");
}

Test(gpus, a_list_of_one_is_that_device)
{
    yoke_plan_options planning = on(&lists[0], "graph");
    double *b = filled(900, 1.0), *x = filled(900, 0.0);
    planning.device_count = 1;
    yoke_report report =
        solve_with(generated(new_context(), "poisson2d5:30"), &planning, b, x, NULL);
    cr_assert_eq(report.gpus, 1);
    cr_assert_null(report.meeting);
}

Test(gpus, tell_what_they_take)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:100");
    yoke_plan_options planning = on(&lists[0], "graph");
    yoke_memory two = yoke_memory_defaults(), one = yoke_memory_defaults();
    MUST(yoke_plan_memory(matrix, &planning, &two));
    planning.device_count = 1;
    MUST(yoke_plan_memory(matrix, &planning, &one));
    cr_assert_gt(two.device_bytes, one.device_bytes * 9 / 10);
    cr_assert_lt(two.device_bytes, one.device_bytes * 2);
}

#if !FAKE_GPU

/* Of a real GPU's size: passes by warps, trees of many nodes, cuts on multiples of more chunks. */
static void have_the_bits_of_one(const char *spec)
{
    yoke_matrix *matrix = generated(new_context(), spec);
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(rows, 0.0), *expected = filled(rows, 0.0);
    yoke_plan_options one = on(&lists[0], "graph");
    one.device_count = 1;
    thirty = yoke_solve_defaults();
    thirty.maxit = 20;
    scramble(b, rows, 3);
    yoke_report of_one = solve_with(matrix, &one, b, expected, &thirty);
    for (int l = 0; l < LISTS; l++) {
        for (int way = 0; way < 4 && are_here(&lists[l]); way++) {
            yoke_plan_options planning = on(&lists[l], way % 2 ? "graph" : "stream");
            planning.memory = way / 2 ? "explicit" : NULL;
            same_bits(matrix, &planning, b, expected, &of_one);
        }
    }
}

Test(gpus, have_the_bits_of_one_in_large_systems)
{
    have_the_bits_of_one("poisson3d7:90");
    have_the_bits_of_one("poisson3d27:80");
    have_the_bits_of_one("poisson3d7:200");
}

#else

/* ----------------------------------------------------------- without a GPU */

enum { UNINITIALISED = 3, ILLEGAL_ADDRESS = 700 };

Test(gpus, meet_by_flags_where_all_reach_each_other)
{
    cr_assert_str_eq(meeting_of(&lists[1], NULL), "flags in peer memory");
    cr_assert_str_eq(meeting_of(&lists[1], "explicit"), "events, through peer memory");
    cr_assert_str_eq(meeting_of(&lists[1], "mapped"), "flags in pinned host memory");
    cr_assert_str_eq(meeting_of(&lists[4], NULL), "events, through peer memory");
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
    cr_assert_str_eq(meeting_of(&lists[1], NULL), "events, through peer memory");
    unsetenv("CUDA_LAUNCH_BLOCKING");
}

Test(gpus, without_peer_access_meet_through_the_host)
{
    fake_peers(false);
    cr_assert_str_eq(meeting_of(&lists[2], NULL), "events, through pinned host memory");
    in_all_ways(generated(new_context(), "poisson2d5:50"), "sell", "none");
}

Test(gpus, have_the_same_bits_as_early_as_can_be)
{
    fake_eager(true);
    in_all_ways(generated(new_context(), "poisson2d5:50"), "csr", "jacobi");
}

static void nothing_lives(const char *when)
{
    cr_assert_eq(fake_total(fake_live()), 0, "%s: %ld pieces are left", when,
                 fake_total(fake_live()));
    cr_assert_eq(fake_bytes(), 0, "%s", when);
    cr_assert_eq(fake_waiting(), 0, "%s: work is left", when);
}

Test(gpus, a_part_that_has_no_room_is_refused_with_its_device)
{
    fake_device_bytes(70000);
    refused(on(&lists[1], "graph"), YOKE_NO_MEMORY, "of device 0");
    nothing_lives("after the refusal");
}

Test(gpus, parts_of_one_device_share_its_room)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:100");
    yoke_plan *plan = NULL;
    yoke_plan_options planning = on(&lists[1], "graph");
    planning.format = "csr";
    fake_device_bytes(1000000);
    MUST(yoke_plan_create(matrix, &planning, &plan));
    yoke_plan_destroy(plan);
    planning.devices = lists[0].number;
    cr_assert_eq(yoke_plan_create(matrix, &planning, &plan), YOKE_NO_MEMORY);
    nothing_lives("after the refusal");
}

static yoke_status play(yoke_matrix *matrix, const yoke_plan_options *planning, double *x)
{
    yoke_plan *plan = NULL;
    yoke_status status = yoke_plan_create(matrix, planning, &plan);
    double b[900];
    for (int i = 0; i < 900; i++) b[i] = 1.0 + i % 5;
    if (status == YOKE_OK) status = yoke_solve(plan, b, x, NULL);
    if (status != YOKE_OK && plan) cr_assert(!yoke_plan_usable(plan));
    yoke_plan_destroy(plan);
    return status;
}

/* Of many alike some 4. */
static void fail_each(yoke_matrix *matrix, const yoke_plan_options *planning, const char *call,
                      const double *expected)
{
    double x[900];
    char when[120];
    long count = fake_calls(call);
    cr_assert_eq(play(matrix, planning, x), YOKE_OK, "%s", yoke_error_text());
    count = fake_calls(call) - count;
    for (long nth = 1; nth <= count; nth += 1 + count / 4) {
        snprintf(when, sizeof when, "call %ld of %s", nth, call);
        fake_fail(call, nth, UNINITIALISED);
        yoke_status status = play(matrix, planning, x);
        fake_fail(call, 0, 0);
        if (status == YOKE_OK)
            cr_assert_eq(memcmp(x, expected, sizeof x), 0, "%s", when);
        else
            cr_assert(strstr(yoke_error_text(), "initialization error"), "%s: %s", when,
                      yoke_error_text());
        nothing_lives(when);
    }
}

static void fail_everything(const struct devices *list, const char *driver)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:30");
    yoke_plan_options planning = on(list, driver);
    double expected[900];
    cr_assert_eq(play(matrix, &planning, expected), YOKE_OK, "%s", yoke_error_text());
    for (int k = 0; fake_call_name(k); k++) {
        const char *call = fake_call_name(k);
        bool tells = strcmp(call, "cudaGetDevice") != 0 && strcmp(call, "cudaSetDevice") != 0;
        if (tells) fail_each(matrix, &planning, call, expected);
    }
}

Test(gpus, any_call_may_fail_by_flags)
{
    fail_everything(&lists[1], "graph");
    fail_everything(&lists[1], "stream");
}

Test(gpus, any_call_may_fail_by_events)
{
    fail_everything(&lists[0], "graph");
    fail_everything(&lists[4], "stream");
}

/* A thread that frees memory waits for a device whose kernels wait for another's. */
static void *make_plans(void *user)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:10");
    volatile bool *stop = user;
    while (!*stop) {
        yoke_plan *plan = NULL;
        yoke_plan_options planning = on(&lists[0], "stream");
        planning.device_count = 1;
        MUST(yoke_plan_create(matrix, &planning, &plan));
        yoke_plan_destroy(plan);
    }
    return NULL;
}

Test(gpus, meet_by_flags_while_another_thread_frees_memory)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:30");
    volatile bool stop = false;
    pthread_t other;
    double x[900];
    cr_assert_eq(pthread_create(&other, NULL, make_plans, (void *)&stop), 0);
    for (int k = 0; k < 4; k++) {
        yoke_plan_options planning = on(&lists[1], k % 2 ? "stream" : "graph");
        cr_assert_eq(play(matrix, &planning, x), YOKE_OK, "%s", yoke_error_text());
    }
    stop = true;
    pthread_join(other, NULL);
    nothing_lives("after both");
}

/* A process each, as a device stays lost. */
static void lose_one(const struct devices *list, const char *driver, long nth)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:30");
    yoke_plan_options planning = on(list, driver);
    yoke_plan *plan = NULL;
    double *b = filled(900, 1.0), *x = filled(900, 0.0);
    MUST(yoke_plan_create(matrix, &planning, &plan));
    fake_fail_work(nth, ILLEGAL_ADDRESS);
    double began = yoke_seconds();
    cr_assert_eq(yoke_solve(plan, b, x, NULL), YOKE_DEVICE, "work %ld", nth);
    cr_assert(strstr(yoke_error_text(), "cudaErrorIllegalAddress"), "%s", yoke_error_text());
    cr_assert_lt(yoke_seconds() - began, 60.0, "the others waited for the lost one");
    yoke_plan_destroy(plan);
    nothing_lives("after a device was lost");
}

Test(gpus, a_lost_device_ends_all_by_flags)
{
    lose_one(&lists[2], "graph", 200);
}

Test(gpus, a_lost_device_ends_all_by_flags_of_streams)
{
    lose_one(&lists[1], "stream", 91);
}

Test(gpus, a_lost_device_ends_all_by_events)
{
    lose_one(&lists[4], "graph", 150);
}

Test(gpus, a_device_lost_at_the_first_work_ends_all)
{
    lose_one(&lists[1], "graph", 1);
}

#endif
