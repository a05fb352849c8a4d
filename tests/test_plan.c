/* SPDX-License-Identifier: BSD-3-Clause */
/* test_plan.c: plans: names, memory, reuse, many right-hand sides, updates, threads, spoiling. */
#include <pthread.h>
#include <stdatomic.h>
#include <yoke_tools.h>

#include "tests/systems.h"

/* ---------------------------------------------------------- counted memory */

typedef struct counter {
    atomic_llong allocations, live, fail_at;
} counter;

static void *count_allocate(void *user, size_t alignment, size_t bytes)
{
    counter *c = user;
    long long number = atomic_fetch_add(&c->allocations, 1) + 1;
    if (number == atomic_load(&c->fail_at)) return NULL;
    void *memory = aligned_alloc(alignment, bytes);
    if (!memory) return NULL;
    memset(memory, 0xff, bytes); /* NaN: nothing may rely on fresh memory being 0 */
    atomic_fetch_add(&c->live, (long long)bytes);
    return memory;
}

static void count_release(void *user, void *memory, size_t bytes)
{
    counter *c = user;
    atomic_fetch_sub(&c->live, (long long)bytes);
    free(memory);
}

static yoke_context *counted(counter *c)
{
    yoke_context_options options = yoke_context_defaults();
    options.allocate = count_allocate;
    options.release = count_release;
    options.memory_user = c;
    yoke_context *context = NULL;
    MUST(yoke_context_create(&options, &context));
    return context;
}

static const char *const solvers[] = {"cg", "cg-single", "cg-pipelined"};

static yoke_plan_options three_parts(void)
{
    yoke_plan_options planning = yoke_plan_defaults();
    planning.partition = "cpu";
    planning.parts = 3;
    planning.threads = 2;
    planning.preconditioner = "jacobi";
    return planning;
}

Test(plan, a_solve_allocates_nothing_and_fresh_memory_may_hold_nan)
{
    counter c = {0};
    yoke_context *context = counted(&c);
    yoke_matrix *matrix = generated(context, "poisson2d5:40");
    double *b = filled(1600, 1.0), *x = filled(1600, 0.0);
    const char *const shapes[] = {"folded", "unfolded", "auto", "auto"};
    yoke_solve_options options = yoke_solve_defaults();
    options.rtol = 0.1; /* few iterations: it is solves that are counted */
    for (int i = 0; i < 4; i++) {
        yoke_plan_options planning = three_parts();
        planning.shape = shapes[i];
        if (i >= 2) planning.solver = solvers[i - 1];
        yoke_plan *plan = NULL;
        MUST(yoke_plan_create(matrix, &planning, &plan));
        long long before = atomic_load(&c.allocations);
        for (int k = 0; k < 1000; k++) MUST(yoke_solve(plan, b, x, &options));
        cr_assert_eq(atomic_load(&c.allocations), before);
        cr_assert_eq(yoke_plan_report(plan)->outcome, YOKE_CONVERGED);
        yoke_plan_destroy(plan);
    }
}

Test(plan, a_thousand_plans_leave_memory_flat)
{
    counter c = {0};
    yoke_context *context = counted(&c);
    yoke_matrix *matrix = generated(context, "poisson2d5:12");
    double *b = filled(144, 1.0), *x = filled(144, 0.0);
    long long before = atomic_load(&c.live);
    for (int k = 0; k < 1000; k++) {
        yoke_plan_options planning = three_parts();
        solve_with(matrix, &planning, b, x, NULL);
    }
    cr_assert_eq(atomic_load(&c.live), before);
    yoke_matrix_destroy(matrix);
    cr_assert_eq(atomic_load(&c.live), 0);
    yoke_context_destroy(context);
}

Test(plan, memory_is_told_before_it_is_taken)
{
    counter c = {0};
    yoke_context *context = counted(&c);
    yoke_matrix *matrix = generated(context, "poisson3d7:30");
    for (int i = 0; i < 9; i++) {
        yoke_plan_options planning = three_parts();
        planning.parts = 1 + i % 3;
        planning.solver = solvers[i / 3];
        yoke_memory memory = yoke_memory_defaults();
        MUST(yoke_plan_memory(matrix, &planning, &memory));
        long long before = atomic_load(&c.live);
        yoke_plan *plan = NULL;
        MUST(yoke_plan_create(matrix, &planning, &plan));
        double taken = (double)(atomic_load(&c.live) - before);
        cr_assert_float_eq((double)memory.host_bytes / taken, 1.0, 0.02, "told %zu, took %g",
                           memory.host_bytes, taken);
        yoke_plan_destroy(plan);
    }
}

static int gpu_is(bool (*what)(const yoke_list_item *item))
{
    yoke_list_item item;
    for (int k = 0; yoke_list(YOKE_LIST_PARTITIONS, k, &item); k++)
        if (strcmp(item.name, "gpu") == 0) return what(&item);
    return 0;
}

static bool built(const yoke_list_item *item)
{
    return item->built;
}

static bool usable(const yoke_list_item *item)
{
    return item->usable;
}

/* A build without CUDA has nothing to tell, nor has a small system. */
Test(plan, auto_tells_once_that_a_gpu_is_missing)
{
    static const char *const specs[] = {"poisson2d5:20", "poisson3d27:40"};
    yoke_context *context = new_context();
    if (gpu_is(usable)) cr_skip_test("a GPU is usable");
    for (int large = 0; large < 2; large++) {
        yoke_matrix *matrix = generated(context, specs[large]);
        double *b = filled(64000, 1.0), *x = filled(64000, 0.0);
        yoke_plan *plan = NULL;
        MUST(yoke_plan_create(matrix, NULL, &plan));
        MUST(yoke_solve(plan, b, x, NULL));
        const char *notices = yoke_plan_report(plan)->notices;
        if (large && gpu_is(built))
            cr_assert(strstr(notices, "no GPU") && !strchr(notices, '\n'), "%s", notices);
        else
            cr_assert_str_eq(notices, "");
        yoke_plan_destroy(plan);
    }
}

/* Every allocation of planning fails in turn: a clear status, nothing leaked. */
static void any_allocation_may_fail(const char *solver)
{
    counter c = {0};
    yoke_context *context = counted(&c);
    yoke_matrix *matrix = generated(context, "poisson2d5:40");
    long long live = atomic_load(&c.live);
    for (int k = 1;; k++) {
        yoke_plan_options planning = three_parts();
        planning.solver = solver;
        yoke_plan *plan = NULL;
        atomic_store(&c.fail_at, atomic_load(&c.allocations) + k);
        yoke_status status = yoke_plan_create(matrix, &planning, &plan);
        if (status == YOKE_OK) {
            cr_assert_gt(k, 10, "planning for three parts allocates more than ten times");
            yoke_plan_destroy(plan);
            break;
        }
        cr_assert_eq(status, YOKE_NO_MEMORY, "%s", yoke_error_text());
        cr_assert_null(plan);
        cr_assert_eq(atomic_load(&c.live), live, "failure %d leaks", k);
    }
    cr_assert_eq(atomic_load(&c.live), live);
}

Test(plan, any_allocation_may_fail)
{
    for (int i = 0; i < 3; i++) any_allocation_may_fail(solvers[i]);
}

/* ------------------------------------------------------------------- names */

static yoke_status status_of(yoke_matrix *matrix, yoke_plan_options planning)
{
    yoke_plan *plan = NULL;
    yoke_status status = yoke_plan_create(matrix, &planning, &plan);
    yoke_plan_destroy(plan);
    return status;
}

Test(plan, unknown_names_list_the_known_and_missing_ones_say_why)
{
    yoke_matrix *matrix = tridiagonal(new_context(), 10, 0);
    yoke_plan_options planning = yoke_plan_defaults();
    planning.partition = "gpuu";
    cr_assert_eq(status_of(matrix, planning), YOKE_UNKNOWN_NAME);
    cr_assert(strstr(yoke_error_text(), "ratio:R"), "%s", yoke_error_text());
    planning = yoke_plan_defaults();
    planning.partition = "adaptive";
    yoke_status missing = status_of(matrix, planning);
    if (yoke_has("cuda"))
        cr_assert_neq(missing, YOKE_UNKNOWN_NAME);
    else
        cr_assert_eq(missing, YOKE_NOT_BUILT);
    planning = yoke_plan_defaults();
    planning.memory = "auto";
    planning.partition = "cpu";
    planning.driver = "team";
    planning.format = "csr";
    planning.solver = "cg";
    planning.effort = "measure";
    cr_assert_eq(status_of(matrix, planning), YOKE_OK);
    planning.threads = -1;
    cr_assert_eq(status_of(matrix, planning), YOKE_INVALID);
}

Test(plan, a_device_that_is_not_there_fails_the_plan_that_would_use_it_alone)
{
    yoke_matrix *matrix = tridiagonal(new_context(), 10, 0);
    yoke_plan_options planning = yoke_plan_defaults();
    cr_assert_eq(planning.device, YOKE_DEVICE_AUTO);
    planning.device = -2;
    cr_assert_eq(status_of(matrix, planning), YOKE_INVALID);
    planning.device = 4096;
    planning.partition = "cpu";
    cr_assert_eq(status_of(matrix, planning), YOKE_OK);
    planning.partition = "gpu";
    yoke_status status = status_of(matrix, planning);
    cr_assert(status == YOKE_UNUSABLE || status == YOKE_NOT_BUILT, "%s", yoke_status_text(status));
}

Test(plan, reports_say_what_ran)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:40");
    double *b = filled(1600, 1.0), *x = filled(1600, 0.0);
    yoke_plan_options planning = yoke_plan_defaults();
    planning.threads = planning.parts = 2;
    yoke_report report = solve_with(matrix, &planning, b, x, NULL);
    cr_assert_str_eq(report.memory, "host");
    cr_assert_str_eq(report.partition, "cpu");
    cr_assert_str_eq(report.driver, "team");
    cr_assert_eq(report.threads, yoke_has("openmp") ? 2 : 1);
    cr_assert_eq(report.parts, 2);
    cr_assert_eq(report.cpu_rows, 1600);
    planning.parts = 1;
    cr_assert_null(solve_with(matrix, &planning, b, x, NULL).memory, "one owner shares nothing");
    cr_assert_eq(solve_with(matrix, &planning, b, x, NULL).bytes_per_iteration,
                 12.0 * 7840 + 84.0 * 1600);
}

/* What was left free is there, each once, with what was measured; one of them is this plan. */
static void has_candidates(const yoke_plan_options *planning, int count, int measured)
{
    yoke_plan *plan = NULL;
    yoke_candidate c;
    int taken = 0, timed = 0, k = 0;
    MUST(yoke_plan_create(generated(new_context(), "poisson2d5:40"), planning, &plan));
    for (; yoke_plan_candidate(plan, k, &c); k++) {
        taken += c.taken;
        timed += c.measured > 0.0;
        cr_assert_gt(c.predicted, 0.0);
        cr_assert_str_eq(c.driver, "team");
        cr_assert_null(c.memory);
    }
    cr_assert_eq(k, count);
    cr_assert_eq(taken, 1);
    cr_assert_eq(timed, measured);
    cr_assert_not(yoke_plan_candidate(plan, -1, &c));
    yoke_plan_destroy(plan);
}

Test(plan, candidates_are_what_was_left_free)
{
    yoke_plan_options planning = yoke_plan_defaults();
    planning.partition = "cpu";
    has_candidates(&planning, 2, 0);
    planning.effort = "measure";
    has_candidates(&planning, 2, 2);
    planning.shape = "folded";
    has_candidates(&planning, 1, 0);
    cr_assert_not(yoke_plan_candidate(NULL, 0, &(yoke_candidate){0}));
}

Test(plan, bad_options_of_a_solve_are_refused)
{
    yoke_matrix *matrix = tridiagonal(new_context(), 10, 0);
    double b[10] = {1}, x[10];
    yoke_plan *plan = NULL;
    MUST(yoke_plan_create(matrix, NULL, &plan));
    yoke_solve_options options = yoke_solve_defaults();
    options.rtol = -1.0;
    cr_assert_eq(yoke_solve(plan, b, x, &options), YOKE_INVALID);
    options.rtol = NAN;
    cr_assert_eq(yoke_solve(plan, b, x, &options), YOKE_INVALID);
    options = yoke_solve_defaults();
    options.maxit = -5;
    cr_assert_eq(yoke_solve(plan, b, x, &options), YOKE_INVALID);
    options = yoke_solve_defaults();
    options.struct_size = 3;
    cr_assert_eq(yoke_solve(plan, b, x, &options), YOKE_INVALID);
    cr_assert_eq(yoke_solve(plan, b, b, NULL), YOKE_INVALID, "b and x overlap");
    cr_assert_eq(yoke_solve(plan, NULL, x, NULL), YOKE_INVALID);
    cr_assert_null(yoke_plan_report(plan));
    MUST(yoke_solve(plan, b, x, NULL));
    yoke_plan_destroy(plan);
}

/* -------------------------------------------------------- reuse and updates */

Test(plan, several_right_hand_sides_have_an_outcome_each)
{
    yoke_matrix *matrix = tridiagonal(new_context(), 300, 0);
    double *b = filled(3 * 310, 0.0), *x = filled(3 * 320, 0.0), *alone = filled(300, 0.0);
    scramble(b, 300, 1);
    scramble(b + 2 * 310, 300, 2);
    yoke_plan *plan = NULL;
    MUST(yoke_plan_create(matrix, NULL, &plan));
    MUST(yoke_solve_many(plan, 3, b, 310, x, 320, NULL));
    cr_assert_eq(yoke_plan_report_at(plan, 1)->iterations, 0, "the second b is 0");
    cr_assert_gt(yoke_plan_report_at(plan, 2)->iterations, 10);
    cr_assert_null(yoke_plan_report_at(plan, 3));
    cr_assert_eq(yoke_plan_report_at(plan, 2)->setup_seconds, 0.0);
    MUST(yoke_solve(plan, b + 2 * 310, alone, NULL));
    cr_assert_eq(memcmp(alone, x + 2 * 320, 300 * sizeof *x), 0);
    cr_assert_eq(yoke_solve_many(plan, 3, b, 200, x, 320, NULL), YOKE_INVALID);
    yoke_plan_destroy(plan);
}

Test(plan, new_values_reach_every_part_without_a_new_plan)
{
    yoke_context *context = new_context();
    for (int parts = 1; parts <= 3; parts++) {
        yoke_matrix *matrix = generated(context, "poisson2d5:40");
        yoke_csr csr = yoke_csr_defaults();
        MUST(yoke_matrix_view(matrix, &csr));
        int64_t nonzeros = yoke_matrix_nonzeros(matrix);
        double *twice = filled(nonzeros, 0.0), *b = filled(1600, 1.0);
        double *x = filled(1600, 0.0), *half = filled(1600, 0.0);
        for (int64_t k = 0; k < nonzeros; k++) twice[k] = 2.0 * csr.value[k];
        yoke_plan_options planning = three_parts();
        planning.parts = parts;
        yoke_plan *plan = NULL;
        MUST(yoke_plan_create(matrix, &planning, &plan));
        MUST(yoke_solve(plan, b, x, NULL));
        cr_assert_eq(yoke_plan_report(plan)->setup_seconds, 0.0);
        MUST(yoke_matrix_update_values(matrix, twice));
        MUST(yoke_solve(plan, b, half, NULL));
        cr_assert_gt(yoke_plan_report(plan)->setup_seconds, 0.0);
        for (int i = 0; i < 1600; i++) cr_assert_eq(2.0 * half[i], x[i]);
        MUST(yoke_solve(plan, b, half, NULL));
        cr_assert_eq(yoke_plan_report(plan)->setup_seconds, 0.0);
        yoke_plan_destroy(plan);
    }
}

Test(plan, handles_may_be_destroyed_in_any_order)
{
    counter c = {0};
    yoke_context *context = counted(&c);
    yoke_matrix *matrix = generated(context, "poisson2d5:40");
    yoke_plan *plan = NULL;
    MUST(yoke_plan_create(matrix, NULL, &plan));
    yoke_context_destroy(context);
    yoke_matrix_destroy(matrix);
    double *b = filled(1600, 1.0), *x = filled(1600, 0.0);
    MUST(yoke_solve(plan, b, x, NULL));
    yoke_plan_destroy(plan);
    cr_assert_eq(atomic_load(&c.live), 0);
    yoke_plan_destroy(NULL);
    yoke_matrix_destroy(NULL);
    yoke_context_destroy(NULL);
}

/* ----------------------------------------------------------------- threads */

typedef struct attempt {
    yoke_plan *plan;
    yoke_matrix *matrix;
    yoke_status second_solve, update;
} attempt;

static void *try_again(void *user)
{
    attempt *a = user;
    double b[50] = {1.0}, x[50], value[200] = {0.0};
    a->second_solve = yoke_solve(a->plan, b, x, NULL);
    a->update = yoke_matrix_update_values(a->matrix, value);
    return NULL;
}

/* Runs inside a solve: the plan and the values are taken. */
static int intrude(void *user, int64_t iteration, double norm)
{
    pthread_t thread;
    (void)norm;
    if (iteration > 0) return 0;
    cr_assert_eq(pthread_create(&thread, NULL, try_again, user), 0);
    pthread_join(thread, NULL);
    return 0;
}

Test(plan, one_plan_in_two_threads_is_refused_and_so_is_an_update_meanwhile)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = tridiagonal(context, 50, 0);
    attempt a = {NULL, matrix, YOKE_OK, YOKE_OK};
    MUST(yoke_plan_create(matrix, NULL, &a.plan));
    double *b = filled(50, 1.0), *x = filled(50, 0.0);
    yoke_solve_options options = yoke_solve_defaults();
    options.monitor = intrude;
    options.monitor_user = &a;
    MUST(yoke_solve(a.plan, b, x, &options));
    cr_assert_eq(a.second_solve, YOKE_BUSY);
    cr_assert_eq(a.update, YOKE_BUSY);
    cr_assert_eq(yoke_plan_report(a.plan)->outcome, YOKE_CONVERGED);
    yoke_plan_destroy(a.plan);
}

typedef struct job {
    yoke_matrix *matrix;
    const double *b;
    double *x;
} job;

static void *solve_fifty(void *user)
{
    job *j = user;
    yoke_plan_options planning = yoke_plan_defaults();
    planning.threads = 2;
    for (int k = 0; k < 50; k++) solve_with(j->matrix, &planning, j->b, j->x, NULL);
    return NULL;
}

Test(plan, two_plans_of_one_matrix_solve_in_two_threads)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:30");
    double *b = filled(900, 1.0), *x = filled(900, 0.0), *y = filled(900, 1.0);
    job jobs[2] = {{matrix, b, x}, {matrix, b, y}};
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        cr_assert_eq(pthread_create(&thread[i], NULL, solve_fifty, &jobs[i]), 0);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    cr_assert_eq(memcmp(x, y, 900 * sizeof *x), 0);
}
