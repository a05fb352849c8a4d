/* SPDX-License-Identifier: BSD-3-Clause */
/* test_gpu_callers.c: what callers of a solve hand in: host, pinned, device and managed vectors,
 * streams, a current device, several threads. Without a GPU every test is skipped, or with
 * YOKE_REQUIRE_GPU=1 fails. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/context.h"
#include "lib/cuda/device.h"
#include "lib/matrix.h"
#include "tests/cuda_calls.h"
#include "tests/need_gpu.h"
#include "tests/systems.h"

/* What a run that waits for ever is ended by. */
TestSuite(gpu_callers, .init = need_gpu, .timeout = 120.0);

enum { ROWS = 1600 };
static const char spec[] = "poisson2d5:40";
static const size_t bytes = ROWS * sizeof(double);

static yoke_plan *plan_for(yoke_matrix *matrix, const char *partition, int parts)
{
    yoke_plan_options planning = yoke_plan_defaults();
    yoke_plan *plan = NULL;
    planning.partition = partition;
    planning.parts = parts;
    MUST(yoke_plan_create(matrix, &planning, &plan));
    return plan;
}

/* On two devices, or in two parts on one. */
static yoke_plan *plan_for_two(yoke_matrix *matrix)
{
    const int number[] = {0, devices() > 1};
    yoke_plan *plan = NULL;
    yoke_plan_options planning = yoke_plan_defaults();
    planning.partition = "gpu";
    planning.devices = number;
    planning.device_count = 2;
    MUST(yoke_plan_create(matrix, &planning, &plan));
    return plan;
}

/* Who may have the rows. */
static const char *const owners[] = {"gpu", "cpu", "ratio:0.4"};

/* b, and the x that every owner of rows must find to the bit. */
typedef struct problem {
    yoke_context *context;
    yoke_matrix *matrix;
    double *b, *x0, *x;
} problem;

static problem new_problem(bool guess)
{
    problem p = {.context = new_context()};
    p.matrix = generated(p.context, spec);
    p.b = filled(ROWS, 0.0);
    p.x0 = filled(ROWS, NAN);
    p.x = filled(ROWS, 0.0);
    scramble(p.b, ROWS, 1);
    if (guess) scramble(p.x0, ROWS, 2);
    memcpy(p.x, p.x0, bytes);
    yoke_plan_options on_cpu = yoke_plan_defaults();
    yoke_solve_options options = yoke_solve_defaults();
    on_cpu.partition = "cpu";
    options.initial_guess = guess;
    cr_assert_eq(solve_with(p.matrix, &on_cpu, p.b, p.x, &options).outcome, YOKE_CONVERGED);
    return p;
}

static void expect_x(const problem *p, const void *x, const char *what)
{
    double got[ROWS];
    fetch(got, x, bytes);
    cr_assert_eq(memcmp(got, p->x, bytes), 0, "%s: other bits", what);
}

/* -------------------------------------------------------------- where they lie */

static void solve_from(const problem *p, yoke_plan *plan, memory_kind b_kind, memory_kind x_kind,
                       bool guess)
{
    char what[128];
    yoke_solve_options options = yoke_solve_defaults();
    options.initial_guess = guess;
    double *b = placed(b_kind, p->b, bytes), *x = placed(x_kind, p->x0, bytes);
    MUST(yoke_solve(plan, b, x, &options));
    const yoke_report *report = yoke_plan_report(plan);
    snprintf(what, sizeof what, "%s, %d parts, b %s, x %s%s", report->partition, report->parts,
             memory_name[b_kind], memory_name[x_kind], guess ? ", a guess" : "");
    cr_assert_eq(report->outcome, YOKE_CONVERGED, "%s: %s", what,
                 yoke_outcome_word(report->outcome));
    double got[ROWS];
    fetch(got, x, bytes);
    cr_assert_eq(memcmp(got, p->x, bytes), 0, "%s: other bits", what);
    fetch(got, b, bytes);
    cr_assert_eq(memcmp(got, p->b, bytes), 0, "%s: b has changed", what);
    unplace(b_kind, b);
    unplace(x_kind, x);
}

Test(gpu_callers, vectors_give_the_same_bits_wherever_they_lie)
{
    for (int guess = 0; guess < 2; guess++) {
        problem p = new_problem(guess);
        yoke_plan *plan[] = {plan_for(p.matrix, "gpu", 0), plan_for(p.matrix, "cpu", 1),
                             plan_for(p.matrix, "cpu", 3), plan_for(p.matrix, "ratio:0.4", 2),
                             plan_for_two(p.matrix)};
        for (int k = 0; k < 5; k++)
            for (int b = 0; b < MEMORY_KINDS; b++)
                for (int x = 0; x < MEMORY_KINDS; x++)
                    solve_from(&p, plan[k], (memory_kind)b, (memory_kind)x, guess);
        for (int k = 0; k < 5; k++) yoke_plan_destroy(plan[k]);
    }
}

/* A plan's own order of rows is made and undone on the host, between which vectors travel. */
Test(gpu_callers, vectors_of_plans_in_another_order_lie_anywhere)
{
    yoke_plan_options planning = yoke_plan_defaults();
    yoke_solve_options options = yoke_solve_defaults();
    problem p = new_problem(true);
    planning.reorder = "rcm";
    planning.partition = "cpu";
    options.initial_guess = 1;
    memcpy(p.x, p.x0, bytes);
    solve_with(p.matrix, &planning, p.b, p.x, &options);
    for (int k = 0; k < 3; k++) {
        yoke_plan *plan = NULL;
        planning.partition = owners[k];
        MUST(yoke_plan_create(p.matrix, &planning, &plan));
        for (int b = 0; b < MEMORY_KINDS; b++)
            for (int x = 0; x < MEMORY_KINDS; x++)
                solve_from(&p, plan, (memory_kind)b, (memory_kind)x, true);
        yoke_plan_destroy(plan);
    }
}

/* The library has touched no device yet: the driver, which the caller has loaded, knows. */
Test(gpu_callers, a_cpu_plan_finds_device_memory_in_a_process_without_gpu_plans)
{
    problem p = new_problem(false);
    yoke_plan *plan = plan_for(p.matrix, "cpu", 0);
    double *b = placed(DEVICE, p.b, bytes), *x = placed(DEVICE, NULL, bytes);
    if (!dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD))
        cr_skip_test("the driver is not a library of this process");
    cr_assert_not(yk_device_opened());
    MUST(yoke_solve(plan, b, x, NULL));
    expect_x(&p, x, "cpu");
    MUST(yoke_solve(plan, p.b, x, NULL));
    expect_x(&p, x, "cpu, b on the host");
    cr_assert_not(yk_device_opened());
    unplace(DEVICE, b);
    unplace(DEVICE, x);
    yoke_plan_destroy(plan);
}

Test(gpu_callers, many_right_hand_sides_lie_on_the_device)
{
    enum { MANY = 3, LD = ROWS + 8 };
    problem p = new_problem(false);
    static double b[MANY * LD], x[MANY * LD];
    for (int k = 0; k < MANY; k++)
        for (int i = 0; i < ROWS; i++) b[k * LD + i] = ldexp(p.b[i], k);
    double *b_device = placed(DEVICE, b, sizeof b), *x_device = placed(DEVICE, NULL, sizeof x);
    for (int k = 0; k < 3; k++) {
        yoke_plan *plan = plan_for(p.matrix, owners[k], 0);
        MUST(yoke_solve_many(plan, MANY, b_device, LD, x_device, LD, NULL));
        fetch(x, x_device, sizeof x);
        for (int m = 0; m < MANY; m++)
            for (int i = 0; i < ROWS; i++)
                cr_assert_eq(x[m * LD + i], ldexp(p.x[i], m), "%d, row %d", m, i);
        yoke_plan_destroy(plan);
    }
    unplace(DEVICE, b_device);
    unplace(DEVICE, x_device);
}

Test(gpu_callers, a_nan_on_the_device_is_found_and_named)
{
    problem p = new_problem(false);
    for (int k = 0; k < 6; k++) {
        yoke_plan *plan = plan_for(p.matrix, owners[k % 3], 0);
        yoke_solve_options options = yoke_solve_defaults();
        double wrong[ROWS];
        memcpy(wrong, p.b, bytes);
        wrong[1234] = NAN;
        options.initial_guess = k >= 3;
        double *b = placed(DEVICE, options.initial_guess ? p.b : wrong, bytes);
        double *x = placed(MANAGED, wrong, bytes);
        MUST(yoke_solve(plan, b, x, &options));
        const yoke_report *report = yoke_plan_report(plan);
        cr_assert_eq(report->outcome, YOKE_NOT_FINITE);
        cr_assert_eq(report->row, 1234, "row %lld: %s", (long long)report->row, report->detail);
        cr_assert(strstr(report->detail, k >= 3 ? "initial guess is" : "b is"), "%s",
                  report->detail);
        unplace(DEVICE, b);
        unplace(MANAGED, x);
        yoke_plan_destroy(plan);
    }
}

Test(gpu_callers, a_diagonal_that_is_not_positive_is_refused_with_vectors_on_the_device)
{
    static const double entry[4] = {1, 0, 0, -1}, b[2] = {0, 3}, zeros[2], guess[2] = {5, 6};
    double x[2];
    for (int k = 0; k < 2; k++) {
        yoke_plan_options planning = yoke_plan_defaults();
        yoke_solve_options options = yoke_solve_defaults();
        yoke_plan *plan = NULL;
        planning.partition = k ? "cpu" : "gpu";
        planning.preconditioner = "jacobi";
        MUST(yoke_plan_create(dense(new_context(), 2, entry), &planning, &plan));
        double *b_device = placed(DEVICE, b, sizeof b), *x_device = placed(DEVICE, guess, sizeof b);
        for (options.initial_guess = 1; options.initial_guess >= 0; options.initial_guess--) {
            MUST(yoke_solve(plan, b_device, x_device, &options));
            cr_assert_eq(yoke_plan_report(plan)->outcome, YOKE_INDEFINITE);
            cr_assert_eq(yoke_plan_report(plan)->row, 1);
            fetch(x, x_device, sizeof x);
            cr_assert_eq(memcmp(x, options.initial_guess ? guess : zeros, sizeof x), 0);
        }
        double *zeros_device = placed(DEVICE, zeros, sizeof zeros);
        MUST(yoke_solve(plan, zeros_device, x_device, NULL));
        cr_assert_eq(yoke_plan_report(plan)->outcome, YOKE_CONVERGED);
        unplace(DEVICE, b_device);
        unplace(DEVICE, x_device);
        unplace(DEVICE, zeros_device);
        yoke_plan_destroy(plan);
    }
}

Test(gpu_callers, overlapping_vectors_on_the_device_are_refused)
{
    problem p = new_problem(false);
    double *both = placed(DEVICE, NULL, 2 * bytes);
    for (int k = 0; k < 2; k++) {
        yoke_plan *plan = plan_for(p.matrix, k ? "cpu" : "gpu", 0);
        cr_assert_eq(yoke_solve(plan, both, both + ROWS - 1, NULL), YOKE_INVALID);
        cr_assert(strstr(yoke_error_text(), "overlap"));
        cr_assert(yoke_plan_usable(plan));
        yoke_plan_destroy(plan);
    }
    unplace(DEVICE, both);
}

/* ----------------------------------------------------------------- streams */

static void sleep_a_while(void *user)
{
    (void)user;
    usleep(100000);
}

/* What stands for a long kernel: b has its values only after 0.1 s of the stream's time. */
static void enqueue_b(void *stream, double *b, const double *pinned)
{
    enqueue_call(stream, sleep_a_while, NULL);
    enqueue_copy(stream, b, pinned, bytes);
}

static void solve_on(const problem *p, yoke_plan *plan, stream_kind kind, memory_kind b_kind,
                     bool guess, bool say_so)
{
    yoke_solve_options options = yoke_solve_defaults();
    options.use_stream = say_so;
    options.initial_guess = guess;
    double *b = placed(b_kind, NULL, bytes), *x = placed(DEVICE, NULL, bytes);
    double *from = placed(PINNED, p->b, bytes), *from_x0 = placed(PINNED, p->x0, bytes);
    double *to = placed(PINNED, NULL, bytes);
    void *stream = options.stream = new_stream(kind);
    enqueue_b(stream, b, from);
    enqueue_copy(stream, x, from_x0, bytes);
    MUST(yoke_solve(plan, b, x, &options));
    enqueue_copy(stream, to, x, bytes);
    finish(stream);
    cr_assert_eq(memcmp(to, p->x, bytes), 0, "%s, stream %s, b %s: other bits",
                 yoke_plan_report(plan)->partition, stream_name[kind], memory_name[b_kind]);
    end_stream(kind, stream);
    unplace(b_kind, b);
    unplace(DEVICE, x);
    unplace(PINNED, from);
    unplace(PINNED, from_x0);
    unplace(PINNED, to);
}

Test(gpu_callers, a_stream_is_waited_for_before_b_and_x0_are_read)
{
    for (int guess = 0; guess < 2; guess++) {
        problem p = new_problem(guess);
        yoke_plan *plan[] = {plan_for(p.matrix, "gpu", 0), plan_for(p.matrix, "cpu", 2)};
        for (int k = 0; k < 2; k++)
            for (int kind = 0; kind < STREAM_KINDS; kind++) {
                solve_on(&p, plan[k], (stream_kind)kind, DEVICE, guess, true);
                solve_on(&p, plan[k], (stream_kind)kind, PINNED, guess, true);
            }
        for (int k = 0; k < 2; k++) yoke_plan_destroy(plan[k]);
    }
}

Test(gpu_callers, device_memory_is_read_after_what_the_default_stream_holds)
{
    problem p = new_problem(true);
    yoke_plan *plan[] = {plan_for(p.matrix, "gpu", 0), plan_for(p.matrix, "cpu", 2)};
    for (int k = 0; k < 2; k++) {
        solve_on(&p, plan[k], NO_STREAM, DEVICE, true, false);
        solve_on(&p, plan[k], NO_STREAM, MANAGED, true, false);
        yoke_plan_destroy(plan[k]);
    }
}

Test(gpu_callers, a_capturing_stream_is_refused_and_its_capture_lives_on)
{
    problem p = new_problem(false);
    yoke_plan *plan[] = {plan_for(p.matrix, "gpu", 0), plan_for(p.matrix, "cpu", 0)};
    for (int k = 0; k < 2; k++)
        for (int kind = NON_BLOCKING; kind <= BLOCKING; kind++) {
            yoke_solve_options options = yoke_solve_defaults();
            options.use_stream = 1;
            options.stream = new_stream((stream_kind)kind);
            begin_capture(options.stream);
            cr_assert_eq(yoke_solve(plan[k], p.b, p.x0, &options), YOKE_INVALID);
            cr_assert(strstr(yoke_error_text(), "stream is being captured"), "%s",
                      yoke_error_text());
            cr_assert(yoke_plan_usable(plan[k]));
            cr_assert(end_capture(options.stream));
            MUST(yoke_solve(plan[k], p.b, p.x0, &options));
            cr_assert_eq(memcmp(p.x0, p.x, bytes), 0);
            end_stream((stream_kind)kind, options.stream);
        }
    for (int k = 0; k < 2; k++) yoke_plan_destroy(plan[k]);
}

/* The default stream is then out of bounds; a solve must neither fail by it nor spoil the capture.
 */
Test(gpu_callers, a_solve_leaves_the_capture_of_another_stream_alone)
{
    problem p = new_problem(false);
    yoke_plan *plan = plan_for(p.matrix, "gpu", 0);
    double *b = placed(DEVICE, p.b, bytes), *x = placed(DEVICE, NULL, bytes);
    MUST(yoke_solve(plan, b, x, NULL));
    for (int kind = NON_BLOCKING; kind <= BLOCKING; kind++) {
        void *stream = new_stream((stream_kind)kind);
        begin_capture(stream);
        MUST(yoke_solve(plan, b, x, NULL));
        cr_assert(end_capture(stream), "%s", stream_name[kind]);
        expect_x(&p, x, stream_name[kind]);
        end_stream((stream_kind)kind, stream);
    }
    unplace(DEVICE, b);
    unplace(DEVICE, x);
    yoke_plan_destroy(plan);
}

/* ----------------------------------------------------------------- threads */

typedef struct solver {
    const problem *p;
    yoke_plan *plan;
    int solves;
    bool own_plan, right;
} solver;

static void *solve_repeatedly(void *user)
{
    solver *s = user;
    yoke_plan *plan = s->plan;
    yoke_plan_options planning = yoke_plan_defaults();
    yoke_context *context = NULL;
    yoke_matrix *matrix = NULL;
    double x[ROWS];
    planning.partition = "gpu";
    s->right = true;
    if (s->own_plan)
        s->right = yoke_context_create(NULL, &context) == YOKE_OK &&
                   yoke_matrix_generate(context, spec, &matrix) == YOKE_OK &&
                   yoke_plan_create(matrix, &planning, &plan) == YOKE_OK;
    for (int k = 0; k < s->solves && s->right; k++) {
        memset(x, 0xff, sizeof x);
        s->right =
            yoke_solve(plan, s->p->b, x, NULL) == YOKE_OK && memcmp(x, s->p->x, sizeof x) == 0;
    }
    if (!s->own_plan) return NULL;
    yoke_plan_destroy(plan);
    yoke_matrix_destroy(matrix);
    yoke_context_destroy(context);
    return NULL;
}

Test(gpu_callers, contexts_of_several_threads_share_one_gpu)
{
    enum { THREADS = 4 };
    problem p = new_problem(false);
    solver s[THREADS];
    pthread_t thread[THREADS];
    for (int k = 0; k < THREADS; k++) {
        s[k] = (solver){&p, NULL, FAKE_GPU ? 5 : 20, true, false};
        cr_assert_eq(pthread_create(&thread[k], NULL, solve_repeatedly, &s[k]), 0);
    }
    for (int k = 0; k < THREADS; k++) pthread_join(thread[k], NULL);
    for (int k = 0; k < THREADS; k++) cr_assert(s[k].right, "thread %d", k);
}

/* cudaFree waits for the whole device: whoever waits for a lock of the runtime's while a kernel of
 * his waits for him would stop here for ever. */
Test(gpu_callers, two_plans_solve_while_a_third_thread_allocates_and_frees)
{
    problem p = new_problem(false);
    solver s[2];
    pthread_t thread[2];
    for (int k = 0; k < 2; k++) {
        s[k] = (solver){&p, plan_for(p.matrix, "gpu", 0), FAKE_GPU ? 20 : 200, false, false};
        cr_assert_eq(pthread_create(&thread[k], NULL, solve_repeatedly, &s[k]), 0);
    }
    for (int k = 0; k < 300; k++) {
        void *memory = try_allocate((size_t)1 << (12 + k % 12));
        cr_assert(memory);
        unplace(DEVICE, memory);
    }
    for (int k = 0; k < 2; k++) {
        pthread_join(thread[k], NULL);
        cr_assert(s[k].right, "plan %d", k);
        yoke_plan_destroy(s[k].plan);
    }
}

/* ------------------------------------------------------------------ memory */

enum { GRANULE = 2 << 20 /* in which a device's memory is given out */ };
enum { TIMES = FAKE_GPU ? 100 : 1000 };

Test(gpu_callers, many_solves_take_no_memory)
{
    problem p = new_problem(false);
    yoke_plan *plan = plan_for(p.matrix, "gpu", 0);
    double *b = placed(DEVICE, p.b, bytes), *x = placed(DEVICE, NULL, bytes);
    MUST(yoke_solve(plan, b, x, NULL));
    size_t before = free_bytes();
    int64_t on_device = yk_device_allocations();
    long long on_host = atomic_load(&p.context->allocations);
    for (int k = 0; k < TIMES; k++) MUST(yoke_solve(plan, k & 1 ? p.b : b, x, NULL));
    cr_assert_eq(yk_device_allocations(), on_device);
    cr_assert_eq(atomic_load(&p.context->allocations), on_host);
    cr_assert_leq(before, free_bytes() + GRANULE);
    expect_x(&p, x, "the last");
    unplace(DEVICE, b);
    unplace(DEVICE, x);
    yoke_plan_destroy(plan);
}

Test(gpu_callers, many_plans_leave_no_memory_behind)
{
    problem p = new_problem(false);
    double x[ROWS];
    size_t before = 0;
    long long host_before = 0;
    for (int k = 0; k < TIMES; k++) {
        yoke_plan *plan = plan_for(p.matrix, "gpu", 0);
        if (k % 20 == 0) MUST(yoke_solve(plan, p.b, x, NULL));
        yoke_plan_destroy(plan);
        if (k > 10) continue;
        before = free_bytes();
        host_before = atomic_load(&p.context->live_bytes);
    }
    cr_assert_leq(before, free_bytes() + GRANULE);
    cr_assert_eq(atomic_load(&p.context->live_bytes), host_before);
    cr_assert_eq(memcmp(x, p.x, bytes), 0);
}

/* Fills the device up to a few megabytes; what was taken, to be given back. */
static int fill_device(void **taken, int most)
{
    int count = 0;
    for (size_t size = free_bytes(); size >= 4 << 20; size /= 2)
        while (count < most && free_bytes() > size + (8 << 20)) {
            void *memory = try_allocate(size);
            if (!memory) break;
            taken[count++] = memory;
        }
    forget_error();
    return count;
}

Test(gpu_callers, a_full_device_is_told_with_its_figures_and_the_cpu_goes_on)
{
    void *taken[256];
    problem p = new_problem(false);
    yoke_plan *small = plan_for(p.matrix, "gpu", 0), *plan = NULL;
    yoke_matrix *large = generated(p.context, "poisson3d7:64");
    yoke_plan_options planning = yoke_plan_defaults();
    planning.partition = "gpu";
    int count = fill_device(taken, 256);
    yoke_status status = yoke_plan_create(large, &planning, &plan);
    size_t left = free_bytes();
    for (int k = 0; k < count; k++) unplace(DEVICE, taken[k]);
    cr_assert_eq(status, YOKE_NO_MEMORY, "%d, with %zu bytes free: %s", (int)status, left,
                 yoke_error_text());
    cr_assert(strstr(yoke_error_text(), "free"), "%s", yoke_error_text());
    double x[ROWS];
    MUST(yoke_solve(small, p.b, x, NULL));
    cr_assert_eq(memcmp(x, p.x, bytes), 0);
    double *b = filled(64 * 64 * 64, 1.0), *y = filled(64 * 64 * 64, 0.0);
    planning.partition = "cpu";
    cr_assert_eq(solve_with(large, &planning, b, y, NULL).outcome, YOKE_CONVERGED);
    yoke_plan_destroy(small);
}

/* The runtime may be one for both, and its last error that of the caller's. */
Test(gpu_callers, an_error_that_the_caller_left_unread_is_not_the_solves)
{
    problem p = new_problem(false);
    yoke_plan *plan = plan_for(p.matrix, "gpu", 0);
    double x[ROWS];
    cr_assert_null(try_allocate((size_t)1 << 60));
    MUST(yoke_solve(plan, p.b, x, NULL));
    cr_assert_eq(memcmp(x, p.x, bytes), 0);
    yoke_plan_destroy(plan);
}

/* ------------------------------------------------------------ several devices */

/* Case 37: with one device this shows no more than that nothing else was made current. */
Test(gpu_callers, the_current_device_is_kept_by_calls_that_succeed_and_that_fail)
{
    problem p = new_problem(false);
    double x[ROWS];
    for (int device = 0; device < devices(); device++) {
        use_device(device);
        yoke_plan *plan = plan_for(p.matrix, "gpu", 0);
        cr_assert_eq(current_device(), device);
        MUST(yoke_solve(plan, p.b, x, NULL));
        cr_assert_eq(current_device(), device);
        double *managed = placed(MANAGED, p.b, bytes);
        MUST(yoke_solve(plan, managed, x, NULL));
        cr_assert_eq(current_device(), device);
        cr_assert_eq(yoke_solve(plan, managed, managed, NULL), YOKE_INVALID);
        yoke_plan_options planning = yoke_plan_defaults();
        yoke_plan *none = NULL;
        planning.partition = "gpu";
        planning.format = "sell";
        planning.shape = "no such shape";
        cr_assert_neq(yoke_plan_create(p.matrix, &planning, &none), YOKE_OK);
        cr_assert_eq(current_device(), device);
        MUST(yoke_matrix_update_values(p.matrix, p.matrix->csr.value));
        yoke_plan_destroy(plan);
        cr_assert_eq(current_device(), device);
        unplace(MANAGED, managed);
    }
}

Test(gpu_callers, memory_of_another_device_is_refused_by_the_gpu_and_copied_by_the_cpu)
{
    if (devices() < 2) cr_skip_test("one device");
    problem p = new_problem(false);
    yoke_plan *plan = plan_for(p.matrix, "gpu", 0), *on_cpu = plan_for(p.matrix, "cpu", 0);
    use_device(1);
    double *b = placed(DEVICE, p.b, bytes), *x = placed(DEVICE, NULL, bytes), y[ROWS];
    cr_assert_eq(yoke_solve(plan, b, y, NULL), YOKE_INVALID);
    cr_assert(strstr(yoke_error_text(), "b is memory of device 1, but the plan is on device 0"));
    cr_assert_eq(yoke_solve(plan, p.b, x, NULL), YOKE_INVALID);
    cr_assert(strstr(yoke_error_text(), "x is memory of device 1"));
    cr_assert_eq(current_device(), 1);
    MUST(yoke_solve(on_cpu, b, x, NULL));
    expect_x(&p, x, "cpu");
    cr_assert_eq(current_device(), 1);
    MUST(yoke_solve(plan, p.b, y, NULL));
    cr_assert_eq(memcmp(y, p.x, bytes), 0);
    unplace(DEVICE, b);
    unplace(DEVICE, x);
    yoke_plan_destroy(plan);
    yoke_plan_destroy(on_cpu);
}
