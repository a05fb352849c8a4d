/* SPDX-License-Identifier: BSD-3-Clause */
/* test_gpu_operators.c: a user's operator and preconditioner in a GPU plan, in device memory and
 * through the host's: the bits of the same system given by its entries. */
#include "lib/cuda/device.h"
#include "solvers/cg/gpu.h"
#include "tests/need_gpu.h"
#include "tests/systems.h"

TestSuite(gpu_operators, .init = need_gpu);

/* 4 on the diagonal, -1 at a distance of 64. */
enum { ROWS = 3000, FAR = 64 };

typedef struct calls {
    int made, fail_at; /* fail_at: the call, counted from 1, that returns non-zero; 0: none */
} calls;

/* ------------------------------------------------------------------ on the device */

/* out[i] = fma(factor, in[i], out[i]), by the library's own pass of that form. */
static void add_scaled(void *stream, int64_t rows, double factor, const double *in, double *out)
{
    yk_gpu_view view = {
        .rows = {.csr = {.rows = rows}, .x = out, .p = (double *)in, .alpha = factor}};
    view.walk.chunks = 1;
    cr_assert_eq(yk_gpu_launch(&view, YK_TASK_FLUSH, NULL, stream), 0);
}

static void clear(void *stream, double *out)
{
    yk_device device = {.stream = stream};
    MUST(yk_device_clear(&device, out, ROWS * sizeof *out));
}

static void multiply_on_device(const double *in, double *out, void *stream)
{
    clear(stream, out);
    add_scaled(stream, ROWS - FAR, -1.0, in, out + FAR);
    add_scaled(stream, ROWS, 4.0, in, out);
    add_scaled(stream, ROWS - FAR, -1.0, in + FAR, out);
}

/* -------------------------------------------------------------------- on the host */

static void multiply_on_host(const double *in, double *out)
{
    for (int64_t i = 0; i < ROWS; i++) {
        double sum = i >= FAR ? -in[i - FAR] : 0.0;
        sum = fma(4.0, in[i], sum);
        out[i] = i + FAR < ROWS ? sum - in[i + FAR] : sum;
    }
}

static int multiply(void *user, int nrhs, const double *in, double *out, yoke_space space,
                    void *stream)
{
    calls *c = user;
    cr_assert_eq(nrhs, 1);
    if (space == YOKE_DEVICE_MEMORY)
        multiply_on_device(in, out, stream);
    else
        multiply_on_host(in, out);
    return ++c->made == c->fail_at;
}

/* Jacobi, as a callback. */
static int quarter(void *user, int nrhs, const double *in, double *out, yoke_space space,
                   void *stream)
{
    calls *c = user;
    cr_assert_eq(nrhs, 1);
    if (space == YOKE_DEVICE_MEMORY) {
        clear(stream, out);
        add_scaled(stream, ROWS, 0.25, in, out);
    } else {
        for (int64_t i = 0; i < ROWS; i++) out[i] = 0.25 * in[i];
    }
    return ++c->made == c->fail_at;
}

static int spoil(void *user, int nrhs, const double *in, double *out, yoke_space space,
                 void *stream)
{
    int code = quarter(user, nrhs, in, out, space, stream);
    if (((calls *)user)->made == 3) out[7] = NAN;
    return code;
}

/* --------------------------------------------------------------------- the system */

static yoke_matrix *entries(yoke_context *context)
{
    static int32_t start[ROWS + 1], column[3 * ROWS];
    static double value[3 * ROWS];
    int32_t count = 0;
    for (int32_t i = 0; i < ROWS; i++) {
        for (int32_t j = i - FAR; j <= i + FAR; j += FAR) {
            if (j < 0 || j >= ROWS) continue;
            column[count] = j;
            value[count++] = i == j ? 4.0 : -1.0;
        }
        start[i + 1] = count;
    }
    return of_arrays(context, ROWS, start, column, value, YOKE_BORROW);
}

static yoke_operator callback(yoke_apply apply, calls *user, unsigned flags)
{
    yoke_operator op = yoke_operator_defaults();
    op.rows = ROWS;
    op.apply = apply;
    op.user = user;
    op.flags = flags;
    return op;
}

static yoke_matrix *operator_matrix(yoke_context *context, calls *user, unsigned flags)
{
    yoke_operator op = callback(multiply, user, flags);
    yoke_matrix *matrix = NULL;
    MUST(yoke_matrix_create_operator(context, &op, &matrix));
    return keep(matrix);
}

static double *right_hand_side(void)
{
    double *b = filled(ROWS, 0.0);
    scramble(b, ROWS, 11);
    return b;
}

enum {
    HOST = YOKE_APPLY_FIXED_SPD,
    DEVICE = YOKE_APPLY_FIXED_SPD | YOKE_APPLY_DEVICE,
    CAPTURABLE = DEVICE | YOKE_APPLY_CAPTURABLE
};

/* Which callbacks run under which driver: auto, too. */
static const struct way {
    unsigned flags;
    const char *asked, *ran;
} ways[] = {{HOST, NULL, "stream"},      {HOST, "stream", "stream"},
            {DEVICE, NULL, "stream"},    {DEVICE, "stream", "stream"},
            {CAPTURABLE, NULL, "graph"}, {CAPTURABLE, "stream", "stream"}};

enum { WAYS = sizeof ways / sizeof *ways };

static yoke_plan_options on_gpu(const struct way *way)
{
    yoke_plan_options planning = yoke_plan_defaults();
    planning.partition = "gpu";
    planning.driver = way->asked;
    return planning;
}

static yoke_report on_cpu(yoke_matrix *matrix, const char *preconditioner, const double *b,
                          double *x, const yoke_solve_options *options)
{
    yoke_plan_options planning = yoke_plan_defaults();
    planning.partition = "cpu";
    planning.preconditioner = preconditioner;
    return solve_with(matrix, &planning, b, x, options);
}

/* --------------------------------------------------------------------------- tests */

Test(gpu_operators, an_operator_gives_the_bits_of_its_entries)
{
    yoke_context *context = new_context();
    double *b = right_hand_side(), *expected = filled(ROWS, 0.5), *x = filled(ROWS, 0.0);
    yoke_solve_options options = yoke_solve_defaults();
    options.initial_guess = 1;
    yoke_report cpu = on_cpu(entries(context), "none", b, expected, &options);
    for (int w = 0; w < WAYS; w++) {
        calls user = {0};
        yoke_plan_options planning = on_gpu(&ways[w]);
        for (int i = 0; i < ROWS; i++) x[i] = 0.5;
        yoke_report gpu =
            solve_with(operator_matrix(context, &user, ways[w].flags), &planning, b, x, &options);
        cr_assert_eq(gpu.outcome, YOKE_CONVERGED, "way %d", w);
        cr_assert_str_eq(gpu.driver, ways[w].ran, "way %d", w);
        cr_assert_str_eq(gpu.partition, "gpu");
        cr_assert_eq(gpu.iterations, cpu.iterations, "way %d", w);
        cr_assert_eq(memcmp(x, expected, ROWS * sizeof *x), 0, "way %d: other bits", w);
    }
}

Test(gpu_operators, a_preconditioner_gives_the_bits_of_the_same_built_in_one)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = entries(context);
    double *b = right_hand_side(), *expected = filled(ROWS, 0.0), *x = filled(ROWS, 0.0);
    yoke_report cpu = on_cpu(matrix, "jacobi", b, expected, NULL);
    for (int w = 0; w < WAYS; w++) {
        calls user = {0}, of_matrix = {0};
        yoke_operator op = callback(quarter, &user, ways[w].flags);
        yoke_plan_options planning = on_gpu(&ways[w]);
        planning.apply_preconditioner = &op;
        for (int both = 0; both < 2; both++) {
            yoke_matrix *a = both ? operator_matrix(context, &of_matrix, ways[w].flags) : matrix;
            yoke_report gpu = solve_with(a, &planning, b, x, NULL);
            cr_assert_eq(gpu.outcome, YOKE_CONVERGED, "way %d", w);
            cr_assert_eq(gpu.iterations, cpu.iterations, "way %d", w);
            cr_assert_str_eq(gpu.preconditioner, "user");
            cr_assert_eq(memcmp(x, expected, ROWS * sizeof *x), 0, "way %d: other bits", w);
        }
    }
}

Test(gpu_operators, a_preconditioner_that_may_change_takes_the_flexible_beta)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = entries(context);
    double *b = right_hand_side(), *expected = filled(ROWS, 0.0), *x = filled(ROWS, 0.0);
    for (int w = 0; w < WAYS; w++) {
        calls user = {0};
        yoke_operator op = callback(quarter, &user, ways[w].flags & ~YOKE_APPLY_FIXED_SPD);
        yoke_plan_options planning = yoke_plan_defaults();
        planning.partition = "cpu";
        planning.apply_preconditioner = &op;
        yoke_report cpu = solve_with(matrix, &planning, b, expected, NULL);
        planning = on_gpu(&ways[w]);
        planning.apply_preconditioner = &op;
        yoke_report gpu = solve_with(matrix, &planning, b, x, NULL);
        cr_assert_eq(gpu.outcome, YOKE_CONVERGED);
        cr_assert_eq(gpu.iterations, cpu.iterations);
        cr_assert_eq(memcmp(x, expected, ROWS * sizeof *x), 0, "way %d: other bits", w);
    }
}

/* The host looks at each iteration, so the callback is called as often as by the CPU. */
Test(gpu_operators, one_that_takes_host_memory_is_not_called_after_the_end)
{
    yoke_context *context = new_context();
    double *b = right_hand_side(), *x = filled(ROWS, 0.0);
    calls cpu = {0}, gpu = {0};
    yoke_plan_options planning = on_gpu(&ways[0]);
    on_cpu(operator_matrix(context, &cpu, HOST), "none", b, x, NULL);
    solve_with(operator_matrix(context, &gpu, HOST), &planning, b, x, NULL);
    cr_assert_eq(gpu.made, cpu.made);
}

/* The first call is for r0, so the sixth is in the fifth iteration. */
Test(gpu_operators, a_failing_operator_leaves_the_last_completed_iterate)
{
    yoke_context *context = new_context();
    double *b = right_hand_side(), *x = filled(ROWS, 0.0), *four = filled(ROWS, 0.0);
    yoke_solve_options options = yoke_solve_defaults();
    options.fixed_iterations = 1;
    options.maxit = 4;
    on_cpu(entries(context), "none", b, four, &options);
    for (int w = 0; w < 4; w++) {
        calls user = {0, 6};
        yoke_plan_options planning = on_gpu(&ways[w]);
        yoke_plan *plan = NULL;
        MUST(yoke_plan_create(operator_matrix(context, &user, ways[w].flags), &planning, &plan));
        MUST(yoke_solve(plan, b, x, NULL));
        cr_assert_eq(yoke_plan_report(plan)->outcome, YOKE_CALLBACK_FAILED);
        cr_assert(strstr(yoke_plan_report(plan)->detail, "operator"));
        cr_assert_eq(yoke_plan_report(plan)->iterations, 4);
        cr_assert_eq(memcmp(x, four, ROWS * sizeof *x), 0, "way %d: other bits", w);
        MUST(yoke_solve(plan, b, x, NULL)); /* the seventh call and later ones succeed */
        cr_assert_eq(yoke_plan_report(plan)->outcome, YOKE_CONVERGED);
        yoke_plan_destroy(plan);
    }
}

/* A graph calls while it is made, before its first iteration runs. */
Test(gpu_operators, one_that_fails_as_it_is_captured_ends_the_solve_and_not_the_plan)
{
    yoke_context *context = new_context();
    double *b = right_hand_side(), *x = filled(ROWS, NAN);
    for (int what = 0; what < 2; what++) {
        calls user = {0, 6};
        yoke_operator op = callback(quarter, &user, CAPTURABLE);
        yoke_plan_options planning = on_gpu(&ways[4]);
        yoke_plan *plan = NULL;
        if (what) planning.apply_preconditioner = &op;
        yoke_matrix *matrix = what ? entries(context) : operator_matrix(context, &user, CAPTURABLE);
        MUST(yoke_plan_create(matrix, &planning, &plan));
        MUST(yoke_solve(plan, b, x, NULL));
        cr_assert_eq(yoke_plan_report(plan)->outcome, YOKE_CALLBACK_FAILED);
        cr_assert_eq(yoke_plan_report(plan)->iterations, 0);
        for (int i = 0; i < ROWS; i++) cr_assert_eq(x[i], 0.0);
        MUST(yoke_solve(plan, b, x, NULL));
        cr_assert_eq(yoke_plan_report(plan)->outcome, YOKE_CONVERGED);
        yoke_plan_destroy(plan);
    }
}

/* Enqueued ahead of the end, the call after the last iteration's fails: it does not count. */
Test(gpu_operators, a_call_beyond_the_end_of_the_loop_may_fail)
{
    yoke_context *context = new_context();
    double *b = right_hand_side(), *x = filled(ROWS, 0.0), *expected = filled(ROWS, 0.0);
    yoke_report cpu = on_cpu(entries(context), "none", b, expected, NULL);
    calls user = {0, (int)cpu.iterations + 2};
    yoke_plan_options planning = on_gpu(&ways[3]);
    yoke_report gpu = solve_with(operator_matrix(context, &user, DEVICE), &planning, b, x, NULL);
    cr_assert_gt(user.made, user.fail_at);
    cr_assert_eq(gpu.outcome, YOKE_CONVERGED);
    cr_assert_eq(gpu.iterations, cpu.iterations);
    cr_assert_eq(memcmp(x, expected, ROWS * sizeof *x), 0);
}

static int count_iterations(void *user, int64_t iteration, double norm)
{
    cr_assert_eq(iteration, *(int64_t *)user);
    cr_assert(norm >= 0.0);
    return ++*(int64_t *)user == 6;
}

Test(gpu_operators, a_monitor_sees_each_iteration_and_stops)
{
    yoke_context *context = new_context();
    double *b = right_hand_side(), *x = filled(ROWS, 0.0);
    for (int w = 0; w < WAYS; w++) {
        calls user = {0};
        int64_t seen = 0;
        yoke_plan_options planning = on_gpu(&ways[w]);
        yoke_solve_options options = yoke_solve_defaults();
        options.monitor = count_iterations;
        options.monitor_user = &seen;
        yoke_report report =
            solve_with(operator_matrix(context, &user, ways[w].flags), &planning, b, x, &options);
        cr_assert_eq(report.outcome, YOKE_STOPPED);
        cr_assert_eq(report.iterations, 5);
    }
}

Test(gpu_operators, a_value_that_is_not_finite_names_the_callback)
{
    yoke_context *context = new_context();
    double *b = right_hand_side(), *x = filled(ROWS, 0.0);
    calls user = {0};
    yoke_operator op = callback(spoil, &user, HOST);
    yoke_plan_options planning = on_gpu(&ways[0]);
    yoke_plan *plan = NULL;
    planning.apply_preconditioner = &op;
    MUST(yoke_plan_create(entries(context), &planning, &plan));
    MUST(yoke_solve(plan, b, x, NULL));
    cr_assert_eq(yoke_plan_report(plan)->outcome, YOKE_NOT_FINITE);
    cr_assert(strstr(yoke_plan_report(plan)->detail, "preconditioner"));
    yoke_plan_destroy(plan);
}

Test(gpu_operators, auto_follows_where_the_callback_takes_its_vectors)
{
    yoke_context *context = new_context();
    double *b = right_hand_side(), *x = filled(ROWS, 0.0);
    calls user = {0};
    yoke_report host = solve_with(operator_matrix(context, &user, HOST), NULL, b, x, NULL);
    yoke_report device = solve_with(operator_matrix(context, &user, DEVICE), NULL, b, x, NULL);
    cr_assert_str_eq(host.partition, "cpu");
    cr_assert_str_eq(device.partition, "gpu");
}

Test(gpu_operators, what_cannot_be_captured_or_has_no_entries_is_refused_by_name)
{
    yoke_context *context = new_context();
    calls user = {0};
    yoke_plan *plan = NULL;
    yoke_plan_options planning = yoke_plan_defaults();
    planning.partition = "gpu";
    planning.driver = "graph";
    cr_assert_eq(yoke_plan_create(operator_matrix(context, &user, DEVICE), &planning, &plan),
                 YOKE_UNSUITABLE);
    cr_assert(strstr(yoke_error_text(), "YOKE_APPLY_CAPTURABLE"));
    planning.driver = NULL;
    planning.format = "sell";
    cr_assert_eq(yoke_plan_create(operator_matrix(context, &user, DEVICE), &planning, &plan),
                 YOKE_UNSUITABLE);
    planning.format = NULL;
    planning.shape = "folded";
    cr_assert_eq(yoke_plan_create(operator_matrix(context, &user, DEVICE), &planning, &plan),
                 YOKE_UNSUITABLE);
    cr_assert_eq(user.made, 0);
}
