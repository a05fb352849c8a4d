/* SPDX-License-Identifier: BSD-3-Clause */
/* test_gpu_memory.c: a GPU plan's memory is told before it is taken, and what does not fit is
 * refused, or goes to the CPU where that was left open. */
#include "lib/cuda/device.h"
#include "tests/need_gpu.h"
#include "tests/systems.h"

#if FAKE_GPU
#include "tests/fake/fake.h"
#endif

TestSuite(gpu_memory, .init = need_gpu);

#if FAKE_GPU /* smaller, as one thread of a CPU runs the kernels; it gives out what it is asked    \
                for */
enum { SIDE = 24 };
#define SPEC    "poisson3d27:24"
#define GRANULE 0.0
#define LITTLE  3e6
#else
enum { SIDE = 64 };
#define SPEC    "poisson3d27:64"
/* cudaMalloc takes large blocks by 2 MiB; a plan makes at most 20. */
#define GRANULE (20 * 2.0 * 1024 * 1024)
#define LITTLE  64e6 /* too little for any plan */
#endif

#define SORTED "elasticity3d:12" /* whose SELL has an order */

static double free_now(void)
{
    yk_device device;
    MUST(yk_device_open(0, &device));
    yk_device_close(&device);
    return (double)device.free_bytes;
}

static yoke_plan_options in_format(const char *format, const char *shape)
{
    yoke_plan_options planning = yoke_plan_defaults();
    planning.partition = "gpu";
    planning.driver = "graph";
    planning.format = format;
    planning.shape = shape;
    planning.preconditioner = "jacobi";
    return planning;
}

static yoke_solve_options three_iterations(void)
{
    yoke_solve_options options = yoke_solve_defaults();
    options.fixed_iterations = 1;
    options.maxit = 3;
    return options;
}

static double told(yoke_matrix *matrix, const yoke_plan_options *planning)
{
    yoke_memory memory = yoke_memory_defaults();
    MUST(yoke_plan_memory(matrix, planning, &memory));
    return (double)memory.device_bytes;
}

static yoke_plan *planned(yoke_matrix *matrix, const yoke_plan_options *planning)
{
    yoke_plan *plan = NULL;
    MUST(yoke_plan_create(matrix, planning, &plan));
    return plan;
}

/* Rows of a plan on the GPU: the first ones. */
static int64_t gpu_rows(const yoke_matrix *matrix, yoke_plan *plan)
{
    int64_t rows = yoke_matrix_rows(matrix);
    yoke_solve_options few = three_iterations();
    MUST(yoke_solve(plan, filled(rows, 1.0), filled(rows, 0.0), &few));
    return rows - yoke_plan_report(plan)->cpu_rows;
}

static double csr_bytes(const yoke_matrix *matrix, int64_t rows)
{
    yoke_csr csr = yoke_csr_defaults();
    MUST(yoke_matrix_view(matrix, &csr));
    return 12.0 * ((const int32_t *)csr.row_start)[rows] + 4.0 * (double)(rows + 1);
}

/* Of SELL the CSR it was made from is told and given back. */
static void told_is_taken(yoke_matrix *matrix, const yoke_plan_options *planning)
{
    double expected = told(matrix, planning), before = free_now();
    yoke_plan *plan = planned(matrix, planning);
    double taken = before - free_now(), csr = csr_bytes(matrix, gpu_rows(matrix, plan));
    double given_back = strcmp(planning->format, "sell") == 0 ? csr : 0.0;
    cr_assert_float_eq(expected - given_back, taken, GRANULE, "%s, %s: told %.9g, took %.9g",
                       planning->format, planning->shape, expected, taken);
    yoke_plan_destroy(plan);
    cr_assert_float_eq(free_now(), before, GRANULE);
}

Test(gpu_memory, is_told_before_it_is_taken)
{
    yoke_matrix *matrix = generated(new_context(), SPEC);
    yoke_plan_options csr = in_format("csr", "unfolded"), folded = in_format("csr", "folded");
    yoke_plan_options sell = in_format("sell", "unfolded");
    yoke_plan_destroy(planned(matrix, &csr)); /* kernels are loaded */
    told_is_taken(matrix, &csr);
    told_is_taken(matrix, &folded);
    told_is_taken(matrix, &sell);
    sell.driver = "graph"; /* which keeps nothing else of a small system */
    told_is_taken(generated(new_context(), SORTED), &sell);
    cr_assert_float_eq(told(matrix, &folded) - told(matrix, &csr), 8.0 * SIDE * SIDE * SIDE, 1.0);
}

static const char *const modes[] = {"explicit", "mapped", "managed"};

/* Managed memory is the host's where it stays there, and yet counts as the fake device's. */
Test(gpu_memory, of_a_plan_with_rows_on_the_cpu_is_told_before_it_is_taken)
{
    yoke_matrix *matrix = generated(new_context(), SPEC);
    for (int i = 0; i < 6; i++) {
        yoke_plan_options planning = in_format(i & 1 ? "sell" : "csr", "unfolded");
        planning.partition = "ratio:0.3";
        planning.memory = modes[i / 2 % 2];
        planning.home = i < 4 ? NULL : "shared"; /* by copies */
        planning.parts = 2;
        if (!joins_gpu(planning.memory)) continue;
        yoke_plan_destroy(planned(matrix, &planning)); /* kernels are loaded */
        told_is_taken(matrix, &planning);
    }
}

typedef struct counter {
    double live, peak;
} counter;

static void *count_allocate(void *user, size_t alignment, size_t bytes)
{
    counter *c = user;
    c->live += (double)bytes;
    if (c->live > c->peak) c->peak = c->live;
    return aligned_alloc(alignment, bytes);
}

static void count_release(void *user, void *memory, size_t bytes)
{
    counter *c = user;
    c->live -= (double)bytes;
    free(memory);
}

/* The part's matrix passes through the host. What is pinned is told too, and little. */
Test(gpu_memory, of_the_host_too_is_told_with_what_passes_through_it)
{
    counter c = {0.0, 0.0};
    yoke_context_options options = yoke_context_defaults();
    yoke_context *context = NULL;
    options.allocate = count_allocate;
    options.release = count_release;
    options.memory_user = &c;
    MUST(yoke_context_create(&options, &context));
    yoke_matrix *matrix = NULL;
    MUST(yoke_matrix_generate(context, SPEC, &matrix));
    for (int i = 0; i < 3; i++) {
        yoke_plan_options planning = in_format("csr", "unfolded");
        yoke_memory memory = yoke_memory_defaults();
        planning.partition = "ratio:0.3";
        planning.memory = modes[i];
        planning.threads = 1;
        if (!joins_gpu(modes[i])) continue;
        MUST(yoke_plan_memory(matrix, &planning, &memory));
        double before = c.peak = c.live;
        yoke_plan_destroy(planned(matrix, &planning));
        cr_assert_float_eq((c.peak - before) / (double)memory.host_bytes, 1.0, 0.05,
                           "%s: told %zu, took %g", modes[i], memory.host_bytes, c.peak - before);
        cr_assert_eq(c.live, before);
    }
    yoke_matrix_destroy(matrix);
    yoke_context_destroy(context);
}

/* The image's size is known for sure only once it is made. */
Test(gpu_memory, of_the_persistent_driver_is_no_more_than_told)
{
    static const char *const specs[] = {"poisson2d5:3",   "elasticity3d:6", "graph:3000:9:7",
                                        "poisson3d27:14", "poisson2d5:80",  "random_spd:3000:60:3"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        yoke_matrix *matrix = generated(new_context(), specs[i]);
        yoke_plan_options planning = in_format(i % 2 ? "csr" : "sell", "unfolded");
        double graph = told(matrix, &planning), before = free_now();
        planning.driver = "persistent";
        double persistent = told(matrix, &planning);
        yoke_plan *plan = planned(matrix, &planning);
        cr_assert_leq(before - free_now(), persistent + GRANULE, "%s", specs[i]);
        cr_assert_gt(persistent, graph, "%s", specs[i]);
        cr_assert_leq(persistent, 3.0 * graph + 2e6, "%s: told %g", specs[i], persistent);
#if FAKE_GPU /* they come smallest first */
        cr_assert_leq((double)fake_peak(), persistent, "%s: took %zu, told %g", specs[i],
                      fake_peak(), persistent);
#endif
        yoke_plan_destroy(plan);
    }
}

/* Takes all of the device but so much. */
static void *leave_free(double bytes)
{
    yk_device device;
    void *memory = NULL;
    MUST(yk_device_open(0, &device));
    double most = (double)device.free_bytes - bytes;
    cr_assert_gt(most, 0.0, "the device has less than %g bytes free", bytes);
    int previous = yk_device_enter(&device);
    MUST(yk_device_allocate(&device, "a test's own", (int64_t)most, 1, &memory));
    yk_device_leave(previous);
    yk_device_close(&device);
    return memory;
}

Test(gpu_memory, what_does_not_fit_is_refused_with_asked_and_free)
{
    yoke_matrix *matrix = generated(new_context(), SPEC);
    yoke_plan_options planning = in_format(NULL, NULL);
    yoke_plan *plan = NULL;
    planning.home = "owner";
    yoke_plan_destroy(planned(matrix, &planning));
    void *taken = leave_free(LITTLE);
    double before = free_now();
    cr_assert_eq(yoke_plan_create(matrix, &planning, &plan), YOKE_NO_MEMORY);
    cr_assert(strstr(yoke_error_text(), "needs ") && strstr(yoke_error_text(), " free"), "%s",
              yoke_error_text());
    cr_assert_float_eq(free_now(), before, GRANULE);
    yk_device_free(taken);
    yoke_plan_destroy(planned(matrix, &planning));
}

static int newlines(const char *text)
{
    int count = 0;
    for (; *text; text++) count += *text == '\n';
    return count;
}

Test(gpu_memory, auto_takes_the_cpu_where_the_device_is_full_and_says_so_once)
{
    enum { rows = SIDE * SIDE * SIDE };
    yoke_matrix *matrix = generated(new_context(), SPEC);
    double *b = filled(rows, 1.0), *x = filled(rows, 0.0);
    yoke_solve_options few = three_iterations();
    yoke_plan_options alone = yoke_plan_defaults();
    alone.home = "owner"; /* named: they do not share the rows */
    yoke_plan *plan = planned(matrix, &alone);
    MUST(yoke_solve(plan, b, x, &few));
    cr_assert_str_eq(yoke_plan_report(plan)->partition, "gpu");
    cr_assert_str_eq(yoke_plan_report(plan)->notices, "");
    yoke_plan_destroy(plan);
    void *taken = leave_free(LITTLE);
    plan = planned(matrix, &alone);
    MUST(yoke_solve(plan, b, x, &few));
    const yoke_report *report = yoke_plan_report(plan);
    cr_assert_eq(report->iterations, 3);
    cr_assert_str_eq(report->partition, "cpu");
    cr_assert(strstr(report->notices, "takes the CPU"), "%s", report->notices);
    cr_assert(strstr(report->notices, " free"), "%s", report->notices);
    cr_assert_eq(newlines(report->notices), 0);
    yoke_plan_destroy(plan);
    yk_device_free(taken);
}

Test(gpu_memory, auto_takes_the_graph_where_there_is_no_room_for_what_persistent_keeps)
{
    yoke_matrix *matrix = generated(new_context(), FAKE_GPU ? "poisson2d5:60" : "poisson3d7:60");
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(rows, 1.0), *x = filled(rows, 0.0);
    yoke_plan_options graph = in_format("csr", "unfolded"), any = graph;
    yoke_solve_options few = three_iterations();
    any.driver = NULL;
    cr_assert_str_eq(solve_with(matrix, &any, b, x, &few).driver, "persistent");
    void *taken = leave_free(0.5 * (told(matrix, &graph) + told(matrix, &any)));
    cr_assert_str_eq(solve_with(matrix, &any, b, x, &few).driver, "graph");
    yk_device_free(taken);
}

Test(gpu_memory, csr_is_taken_where_sell_cannot_be_made)
{
    enum { rows = SIDE * SIDE * SIDE };
    yoke_matrix *matrix = generated(new_context(), SPEC);
    double *b = filled(rows, 1.0), *x = filled(rows, 0.0);
    yoke_plan_options csr = in_format("csr", NULL), sell = in_format("sell", NULL);
    yoke_plan_options either = in_format(NULL, NULL);
    yoke_solve_options few = three_iterations();
    yoke_plan *plan = NULL;
    yoke_plan_destroy(planned(matrix, &either));
    void *taken = leave_free(0.5 * (told(matrix, &csr) + told(matrix, &sell)));
    sell.home = "owner";
    cr_assert_eq(yoke_plan_create(matrix, &sell, &plan), YOKE_NO_MEMORY);
    cr_assert_str_eq(solve_with(matrix, &either, b, x, &few).format, "csr");
    yk_device_free(taken);
    cr_assert_str_eq(solve_with(matrix, &either, b, x, &few).format, "sell");
}
