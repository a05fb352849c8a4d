/* SPDX-License-Identifier: BSD-3-Clause */
/* test_fake_gpu.c: what a GPU plan asks of the CUDA runtime, and what it makes of each refusal, on
 * the fake runtime: nothing is made in a solve, everything is given back, the process lives on. */
#include "tests/systems.h"

#include <cuda_runtime_api.h>
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <yoke_tools.h>

#include "lib/context.h"
#include "solvers/cg/cuts.h"
#include "solvers/cg/gpu_state.h"
#include "solvers/plan.h"
#include "tests/fake/fake.h"

/* ------------------------------------------------------------ what is made */

/* Allocations of the library and the tests: the linker leads them here. */
static atomic_long allocations;

static void count_allocation(void)
{
    if (!fake_inside()) atomic_fetch_add(&allocations, 1);
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_malloc(size_t size)
{
    count_allocation();
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    count_allocation();
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    count_allocation();
    return __real_realloc(memory, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    count_allocation();
    return __real_aligned_alloc(alignment, size);
}

static int open_descriptors(void)
{
    int count = 0;
    DIR *all = opendir("/proc/self/fd");
    cr_assert(all);
    while (readdir(all)) count++;
    closedir(all);
    return count;
}

/* -------------------------------------------------------------------- ways */

/* Every driver, shape, format and preconditioner of a GPU, and what is chosen where nothing is;
 * then plans that have rows on the CPU too, in every memory mode. */
typedef struct way {
    yoke_plan_options planning;
    char name[96];
} way;

enum { MOST_WAYS = 80, MOVING = 2 /* the last ones have a cut that moves */ };
static way ways[MOST_WAYS];

static const char *const shapes[] = {"folded", "unfolded"}, *const formats[] = {"csr", "sell"};
static const char *const preconditioners[] = {"none", "jacobi"};

static bool is_declined(const char *driver, const char *shape)
{
    return strcmp(driver, "team") == 0 ||
           (strcmp(driver, "persistent") == 0 && strcmp(shape, "folded") == 0);
}

static int first_together; /* of the ways */

/* A cut that moves, by copies and by flags. */
static int add_adaptive(int count)
{
    static const char *const modes[] = {"explicit", "mapped"};
    for (int i = 0; i < 2; i++) {
        way *w = &ways[count++];
        w->planning = yoke_plan_defaults();
        w->planning.partition = "adaptive:0.4";
        w->planning.memory = modes[i];
        w->planning.driver = i ? "graph" : "stream";
        w->planning.format = formats[i];
        w->planning.preconditioner = preconditioners[i];
        w->planning.threads = 2;
        snprintf(w->name, sizeof w->name, "%s, %s", w->planning.partition, modes[i]);
    }
    return count;
}

static int add_together(int count)
{
    static const char *const modes[] = {"explicit", "mapped", "managed"};
    static const char *const drivers[] = {"stream", "graph"};
    first_together = count;
    for (int i = 0; i < 6; i++) {
        way *w = &ways[count++];
        w->planning = yoke_plan_defaults();
        w->planning.partition = "ratio:0.4";
        w->planning.memory = modes[i / 2];
        w->planning.home = i == 5 ? "spill:0.5" : i == 1 ? "shared" : NULL;
        w->planning.driver = drivers[i & 1];
        w->planning.format = formats[i / 2 & 1];
        w->planning.preconditioner = preconditioners[i & 1];
        snprintf(w->name, sizeof w->name, "%s, %s, %s, %s", w->planning.partition,
                 w->planning.memory, w->planning.driver, w->planning.format);
    }
    return add_adaptive(count);
}

/* Homes, and a slower GPU. */
static int list_homes(int count)
{
    static const struct {
        const char *home, *memory, *driver;
        int multiprocessors;
    } rows[] = {{"shared", "mapped", "stream", 0},
                {"shared", "managed", "graph", 0},
                {"spill:0.4", NULL, "graph", 0},
                {NULL, NULL, "stream", 1}};
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        way *w = &ways[count++];
        w->planning = yoke_plan_defaults();
        w->planning.partition = "gpu";
        w->planning.home = rows[i / 2].home;
        w->planning.memory = rows[i / 2].memory;
        w->planning.driver = rows[i / 2].driver;
        w->planning.gpu_sms = rows[i / 2].multiprocessors;
        w->planning.format = formats[i & 1];
        w->planning.shape = shapes[i & 1];
        w->planning.preconditioner = preconditioners[i & 1];
        snprintf(
            w->name, sizeof w->name, "%s, %s, %s, %s", w->planning.home ? w->planning.home : "-",
            w->planning.memory ? w->planning.memory : "-", w->planning.driver, w->planning.format);
    }
    return count;
}

/* Recurrences with one sum. */
static int list_solvers(int count)
{
    static const char *const solvers[] = {"cg-single", "cg-pipelined"};
    static const char *const drivers[] = {"stream", "graph"};
    for (int i = 0; i < 4 && count < MOST_WAYS; i++) {
        way *w = &ways[count++];
        w->planning = yoke_plan_defaults();
        w->planning.partition = "gpu";
        w->planning.driver = drivers[i & 1];
        w->planning.shape = "unfolded";
        w->planning.format = "sell";
        w->planning.solver = solvers[i >> 1];
        w->planning.preconditioner = preconditioners[i & 1];
        snprintf(w->name, sizeof w->name, "%s, %s", solvers[i >> 1], drivers[i & 1]);
    }
    return count;
}

static int list_ways(void)
{
    yoke_list_item driver;
    int count = 0;
    ways[count] = (way){yoke_plan_defaults(), "auto"};
    ways[count++].planning.partition = "gpu";
    for (int d = 0; yoke_list(YOKE_LIST_DRIVERS, d, &driver); d++)
        for (int i = 0; i < 8 && count < MOST_WAYS - 8; i++) {
            if (!driver.usable || is_declined(driver.name, shapes[i & 1])) continue;
            way *w = &ways[count++];
            w->planning = yoke_plan_defaults();
            w->planning.partition = "gpu";
            w->planning.driver = driver.name;
            w->planning.shape = shapes[i & 1];
            w->planning.format = formats[i >> 1 & 1];
            w->planning.preconditioner = preconditioners[i >> 2];
            snprintf(w->name, sizeof w->name, "%s, %s, %s, %s", driver.name, w->planning.shape,
                     w->planning.format, w->planning.preconditioner);
        }
    cr_assert_geq(count, 21, "the fake GPU is not usable");
    return add_together(list_homes(list_solvers(count)));
}

/* The first way of a driver, with the shape that all take. */
static const yoke_plan_options *way_of(const char *driver)
{
    for (int w = 1, count = list_ways(); w < count; w++)
        if (strcmp(ways[w].planning.driver, driver) == 0 &&
            strcmp(ways[w].planning.shape, "unfolded") == 0)
            return &ways[w].planning;
    cr_assert(false, "no driver %s", driver);
    return NULL;
}

static void solves_on_cpu(yoke_matrix *matrix)
{
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(rows, 1.0), *x = filled(rows, 0.0);
    yoke_plan_options planning = yoke_plan_defaults();
    planning.partition = "cpu";
    cr_assert_eq(solve_with(matrix, &planning, b, x, NULL).outcome, YOKE_CONVERGED);
}

static void nothing_lives(const char *when)
{
    fake_counts live = fake_live();
    cr_assert_eq(fake_total(live), 0,
                 "%s: left %ld device, %ld pinned, %ld managed blocks, %ld streams, %ld events, "
                 "%ld graphs, %ld executable graphs, %ld green contexts",
                 when, live.device, live.pinned, live.managed, live.streams, live.events,
                 live.graphs, live.execs, live.greens);
    cr_assert_eq(fake_bytes(), 0, "%s", when);
    cr_assert_eq(fake_waiting(), 0, "%s: work is left", when);
}

static int current_device(void)
{
    int device = -1;
    cr_assert_eq(cudaGetDevice(&device), cudaSuccess);
    return device;
}

/* --------------------------------------------------------- the fake itself */

static double *device_block(size_t count)
{
    void *memory = NULL;
    cr_assert_eq(cudaMalloc(&memory, count * sizeof(double)), cudaSuccess);
    return memory;
}

Test(fake_gpu, the_host_cannot_touch_device_memory, .signal = SIGSEGV)
{
    volatile double *memory = device_block(10);
    signal(SIGSEGV, SIG_DFL);
    memory[0] = 1.0;
}

Test(fake_gpu, work_waits_until_something_waits_for_it)
{
    double *memory = device_block(4), *pinned = NULL, host[4] = {1, 2, 3, 4};
    cudaStream_t first, second;
    cudaEvent_t copied;
    cudaMallocHost((void **)&pinned, sizeof host);
    memset(pinned, 0, sizeof host);
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&copied, cudaEventDisableTiming);
    cudaMemcpyAsync(memory, host, sizeof host, cudaMemcpyDefault, first);
    cudaMemcpyAsync(pinned, memory, sizeof host, cudaMemcpyDefault, first);
    cudaEventRecord(copied, first);
    host[0] = 5.0; /* pageable memory was read at the call */
    cudaStreamSynchronize(second);
    cr_assert_eq(pinned[0], 0.0);
    cudaStreamWaitEvent(second, copied, 0);
    cr_assert_eq(pinned[0], 0.0);
    cudaStreamSynchronize(second);
    cr_assert(pinned[0] == 1.0 && pinned[3] == 4.0);
    cudaEventDestroy(copied);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    cudaFreeHost(pinned);
    cudaFree(memory);
    nothing_lives("in the end");
}

Test(fake_gpu, fresh_device_memory_is_nan)
{
    double *memory = device_block(2), host[2] = {0.0, 0.0};
    cr_assert_eq(cudaMemcpy(host, memory, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess);
    cr_assert(isnan(host[0]) && isnan(host[1]));
    cr_assert_eq(cudaMemcpy(host, memory + 1, sizeof host, cudaMemcpyDefault),
                 cudaErrorInvalidValue, "a copy from beyond the end");
    cudaFree(memory);
}

Test(fake_gpu, a_capture_runs_nothing_and_refuses_waits_and_allocations)
{
    double *memory = device_block(1), *more = NULL, host = 7.0;
    cudaStream_t stream;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (int faulty = 0; faulty < 3; faulty++) {
        cr_assert_eq(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
        cr_assert_eq(cudaMemsetAsync(memory, 0, sizeof *memory, stream), cudaSuccess);
        if (faulty == 1)
            cr_assert_eq(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
        if (faulty == 2)
            cr_assert_eq(cudaMalloc((void **)&more, 8), cudaErrorStreamCaptureUnsupported);
        cr_assert_eq(cudaStreamEndCapture(stream, &graph),
                     faulty ? cudaErrorStreamCaptureInvalidated : cudaSuccess);
        if (faulty) continue;
        cr_assert_eq(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
        cudaGraphDestroy(graph);
    }
    cudaMemcpy(&host, memory, sizeof host, cudaMemcpyDefault);
    cr_assert(isnan(host), "captured work ran");
    cr_assert_eq(cudaGraphLaunch(exec, stream), cudaSuccess);
    cudaStreamSynchronize(stream);
    cudaMemcpy(&host, memory, sizeof host, cudaMemcpyDefault);
    cr_assert_eq(host, 0.0);
    cudaGraphExecDestroy(exec);
    cudaStreamDestroy(stream);
    cudaFree(memory);
    nothing_lives("in the end");
}

Test(fake_gpu, the_legacy_stream_is_closed_while_a_blocking_one_is_captured)
{
    double *memory = device_block(1);
    for (int blocking = 0; blocking < 2; blocking++) {
        enum cudaStreamCaptureStatus status;
        cudaError_t expected = blocking ? cudaErrorStreamCaptureImplicit : cudaSuccess;
        cudaStream_t stream;
        cudaGraph_t graph = NULL;
        cudaStreamCreateWithFlags(&stream, blocking ? 0 : cudaStreamNonBlocking);
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
        cr_assert_eq(cudaStreamIsCapturing(cudaStreamLegacy, &status), expected);
        cr_assert_eq(cudaMemsetAsync(memory, 0, sizeof *memory, NULL), expected);
        cr_assert_eq(cudaStreamSynchronize(NULL), expected);
        cr_assert_eq(cudaStreamEndCapture(stream, &graph),
                     blocking ? cudaErrorStreamCaptureInvalidated : cudaSuccess);
        if (graph) cudaGraphDestroy(graph);
        cudaStreamDestroy(stream);
    }
    cudaFree(memory);
    nothing_lives("in the end");
}

/* Blocking streams wait for the legacy one, and it for them; others do not. */
Test(fake_gpu, blocking_streams_are_ordered_with_the_legacy_one)
{
    double *memory = device_block(1), *pinned = NULL;
    cudaStream_t blocking, other;
    cudaMallocHost((void **)&pinned, sizeof *pinned);
    cudaStreamCreate(&blocking);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    *pinned = 3.0;
    cudaMemcpyAsync(memory, pinned, sizeof *pinned, cudaMemcpyDefault, blocking);
    cudaMemcpyAsync(pinned, memory, sizeof *pinned, cudaMemcpyDefault, other);
    cudaStreamSynchronize(other);
    cr_assert(isnan(*pinned), "the copy into the device is not done yet");
    *pinned = 4.0;
    cudaMemcpyAsync(pinned, memory, sizeof *pinned, cudaMemcpyDefault, cudaStreamLegacy);
    *pinned = 5.0; /* what the first copy reads, at the latest */
    cudaStreamSynchronize(cudaStreamLegacy);
    cr_assert_eq(*pinned, 5.0);
    cudaStreamDestroy(blocking);
    cudaStreamDestroy(other);
    cudaFreeHost(pinned);
    cudaFree(memory);
}

/* ------------------------------------------------------------------ solves */

Test(fake_gpu, the_same_bits_as_early_and_as_late_as_work_may_run)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = generated(context, "elasticity3d:4");
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(rows, 0.0), *late = filled(rows, 0.0), *early = filled(rows, 0.0);
    scramble(b, rows, 5);
    for (int w = 0, count = list_ways(); w < count; w++) {
        fake_eager(false);
        solve_with(matrix, &ways[w].planning, b, late, NULL);
        fake_eager(true);
        yoke_report report = solve_with(matrix, &ways[w].planning, b, early, NULL);
        cr_assert_eq(report.outcome, YOKE_CONVERGED, "%s", ways[w].name);
        cr_assert_eq(memcmp(early, late, (size_t)rows * sizeof *b), 0, "%s", ways[w].name);
    }
    nothing_lives("in the end");
}

Test(fake_gpu, a_solve_makes_nothing)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = generated(context, "poisson2d5:30");
    double *b = filled(900, 1.0), *x = filled(900, 0.0), history[50];
    for (int w = 0, count = list_ways(); w < count; w++) {
        yoke_plan *plan = NULL;
        yoke_solve_options options = yoke_solve_defaults();
        MUST(yoke_plan_create(matrix, &ways[w].planning, &plan));
        fake_counts before = fake_made();
        long long of_context = atomic_load(&context->allocations);
        int descriptors = open_descriptors();
        long of_heap = atomic_load(&allocations);
        for (int i = 0; i < 3; i++) {
            options.history = i ? history : NULL;
            options.history_capacity = i ? 50 : 0;
            MUST(yoke_solve(plan, b, x, &options));
        }
        cr_assert_eq(atomic_load(&allocations), of_heap, "%s: allocations", ways[w].name);
        cr_assert_eq(open_descriptors(), descriptors, "%s: descriptors", ways[w].name);
        cr_assert_eq(atomic_load(&context->allocations), of_context, "%s", ways[w].name);
        fake_counts after = fake_made();
        cr_assert_eq(memcmp(&after, &before, sizeof after), 0,
                     "%s: a solve made %ld things on the device, %ld of them executable graphs",
                     ways[w].name, fake_total(after) - fake_total(before),
                     after.execs - before.execs);
        yoke_plan_destroy(plan);
    }
}

Test(fake_gpu, a_thousand_solves_and_a_thousand_plans_leave_memory_flat)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = generated(context, "poisson2d5:17");
    double *b = filled(289, 1.0), *x = filled(289, 0.0);
    yoke_plan *plan = NULL;
    size_t bytes = 0, peak = 0;
    long long of_host = atomic_load(&context->live_bytes);
    int count = list_ways();
    for (int i = 0; i < 1000; i++) {
        MUST(yoke_plan_create(matrix, &ways[i % count].planning, &plan));
        MUST(yoke_solve(plan, b, x, NULL));
        yoke_plan_destroy(plan);
        if (i == count) peak = fake_peak();
        cr_assert_eq(fake_total(fake_live()), 0, "after %d plans", i + 1);
    }
    cr_assert_eq(fake_peak(), peak);
    cr_assert_eq(atomic_load(&context->live_bytes), of_host);
    MUST(yoke_plan_create(matrix, &ways[0].planning, &plan));
    fake_counts before = fake_made();
    for (int i = 0; i < 1000; i++) {
        MUST(yoke_solve(plan, b, x, NULL));
        if (i == 0) bytes = fake_bytes();
    }
    fake_counts after = fake_made();
    cr_assert_eq(fake_bytes(), bytes);
    cr_assert_eq(memcmp(&after, &before, sizeof after), 0);
    yoke_plan_destroy(plan);
    nothing_lives("after 1000 solves");
}

/* ---------------------------------------------------------- without a GPU */

/* Matrices from this size on go to a GPU by themselves. */
#define WORTH_A_GPU "poisson3d27:20"

Test(fake_gpu, a_small_system_makes_no_call)
{
    yoke_context *context = new_context();
    double *b = filled(100, 1.0), *x = filled(100, 0.0);
    yoke_report report = solve_with(generated(context, "poisson2d5:10"), NULL, b, x, NULL);
    cr_assert_str_eq(report.partition, "cpu");
    cr_assert_eq(fake_calls(NULL), 0);
}

Test(fake_gpu, a_large_system_goes_to_the_gpu_by_itself)
{
    yoke_context *context = new_context();
    double *b = filled(8000, 1.0), *x = filled(8000, 0.0);
    yoke_report report = solve_with(generated(context, WORTH_A_GPU), NULL, b, x, NULL);
    cr_assert_str_eq(report.partition, "gpu");
    nothing_lives("in the end");
}

typedef struct listener {
    char text[512];
    int count;
} listener;

static void keep_notice(void *user, yoke_log_level level, const char *text)
{
    listener *heard = user;
    if (level != YOKE_LOG_NOTICE) return;
    snprintf(heard->text, sizeof heard->text, "%s", text);
    heard->count++;
}

/* Case 35: auto takes the CPU, and says so once, however often it solves. */
static void tells_once(const char *why)
{
    listener heard = {.count = 0};
    yoke_context_options options = yoke_context_defaults();
    yoke_context *context = NULL;
    yoke_plan *plan = NULL;
    double *b = filled(8000, 1.0), *x = filled(8000, 0.0);
    options.log = keep_notice;
    options.log_user = &heard;
    MUST(yoke_context_create(&options, &context));
    keep(context);
    MUST(yoke_plan_create(generated(context, WORTH_A_GPU), NULL, &plan));
    for (int k = 0; k < 3; k++) {
        MUST(yoke_solve(plan, b, x, NULL));
        const char *notices = yoke_plan_report(plan)->notices;
        cr_assert(strstr(notices, "takes the CPU") && strstr(notices, why), "%s", notices);
        cr_assert_null(strchr(notices, '\n'), "%s", notices);
    }
    cr_assert_eq(heard.count, 1, "%d notices", heard.count);
    cr_assert(strstr(heard.text, why), "%s", heard.text);
    yoke_plan_destroy(plan);
}

static void goes_on_without_gpu(const char *why)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = generated(context, WORTH_A_GPU);
    double *b = filled(8000, 1.0), *x = filled(8000, 0.0);
    yoke_plan_options planning = yoke_plan_defaults();
    yoke_plan *plan = NULL;
    planning.partition = "gpu";
    cr_assert_eq(yoke_plan_create(matrix, &planning, &plan), YOKE_UNUSABLE);
    cr_assert(strstr(yoke_error_text(), why), "%s", yoke_error_text());
    yoke_report report = solve_with(matrix, NULL, b, x, NULL);
    cr_assert_eq(report.outcome, YOKE_CONVERGED);
    cr_assert_str_eq(report.partition, "cpu");
    tells_once(why);
    cr_assert_eq(fake_total(fake_made()), 0);
}

Test(fake_gpu, without_a_device_the_cpu_goes_on)
{
    fake_devices(0);
    goes_on_without_gpu("no CUDA-capable device is detected");
}

Test(fake_gpu, with_a_driver_too_old_the_cpu_goes_on)
{
    fake_fail("cudaGetDeviceCount", 1, cudaErrorInsufficientDriver);
    goes_on_without_gpu("driver");
}

/* ------------------------------------------------------------- not enough */

Test(fake_gpu, a_device_too_small_says_what_was_asked_and_what_is_free)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = generated(context, "poisson2d5:30");
    size_t most = 0;
    for (int w = 0, count = list_ways(); w < count; w++) {
        yoke_plan *plan = NULL;
        if (ways[w].planning.home) continue;
        ways[w].planning.home = "owner"; /* or auto would spill */
        fake_device_bytes((size_t)1 << 30);
        MUST(yoke_plan_create(matrix, &ways[w].planning, &plan));
        yoke_plan_destroy(plan);
        yoke_memory told = yoke_memory_defaults();
        MUST(yoke_plan_memory(matrix, &ways[w].planning, &told));
        most = w < first_together ? fake_peak() : told.device_bytes;
        for (size_t bytes = 0; bytes < most; bytes += most / 23) {
            fake_device_bytes(bytes);
            yoke_status status = yoke_plan_create(matrix, &ways[w].planning, &plan);
            if (status == YOKE_OK) {
                yoke_plan_destroy(plan);
                continue;
            }
            cr_assert_eq(status, YOKE_NO_MEMORY, "%s: %s", ways[w].name, yoke_error_text());
            cr_assert(strstr(yoke_error_text(), "free"), "%s", yoke_error_text());
            cr_assert(strpbrk(yoke_error_text(), "123456789"), "%s", yoke_error_text());
            nothing_lives(ways[w].name);
        }
        fake_device_bytes(most / 2);
        cr_assert_eq(yoke_plan_create(matrix, &ways[w].planning, &plan), YOKE_NO_MEMORY);
    }
    solves_on_cpu(matrix);
}

/* What is told is what a card must have, to the byte: with so much the plan is what it would be on
 * a larger one, and takes new values. */
static void fits_what_is_told(const char *spec, const way *w, const char *effort)
{
    yoke_matrix *matrix = generated(new_context(), spec);
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(rows, 1.0), *x = filled(rows, 0.0);
    yoke_plan_options planning = w->planning;
    yoke_memory told = yoke_memory_defaults();
    yoke_solve_options few = yoke_solve_defaults();
    yoke_plan *plan = NULL;
    few.rtol = 0.1;
    planning.effort = effort;
    MUST(yoke_plan_memory(matrix, &planning, &told));
    MUST(yoke_plan_create(matrix, &planning, &plan));
    MUST(yoke_solve(plan, b, x, &few));
    yoke_report large = *yoke_plan_report(plan);
    large.home = keep(strdup(large.home)); /* the other names are static */
    yoke_plan_destroy(plan);
    planning.gpu_memory = told.device_bytes;
    yoke_status status = yoke_plan_create(matrix, &planning, &plan);
    cr_assert_eq(status, YOKE_OK, "%s, %s: told %zu: %s", spec, w->name, told.device_bytes,
                 yoke_error_text());
    MUST(yoke_solve(plan, b, x, &few));
    const yoke_report *small = yoke_plan_report(plan);
    cr_assert_str_eq(small->home, large.home, "%s, %s: %s", spec, w->name, small->notices);
    if (!effort) {
        cr_assert_str_eq(small->format, large.format, "%s, %s", spec, w->name);
        cr_assert_str_eq(small->driver, large.driver, "%s, %s", spec, w->name);
    }
    yoke_csr csr = yoke_csr_defaults();
    MUST(yoke_matrix_view(matrix, &csr));
    double *value = filled(yoke_matrix_nonzeros(matrix), 0.0);
    memcpy(value, csr.value, (size_t)yoke_matrix_nonzeros(matrix) * sizeof *value);
    MUST(yoke_matrix_update_values(matrix, value));
    status = yoke_solve(plan, b, x, &few);
    cr_assert_eq(status, YOKE_OK, "%s, %s: new values: %s", spec, w->name, yoke_error_text());
    yoke_plan_destroy(plan);
}

Test(fake_gpu, a_card_of_the_size_that_is_told_is_large_enough)
{
    static const char *const specs[] = {"poisson2d5:2", "poisson2d5:30", "random_spd:700:9:4",
                                        "elasticity3d:6"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        for (int w = 0, count = list_ways(); w < count; w++)
            fits_what_is_told(specs[i], &ways[w], NULL);
    for (int w = 0, count = list_ways(); w < count; w++)
        fits_what_is_told("poisson2d5:17", &ways[w], "measure");
}

Test(fake_gpu, a_card_of_the_size_that_is_told_is_large_enough_for_any_spill)
{
    for (int tenths = 0; tenths <= 10; tenths++)
        for (int k = 0; k < 4; k++) {
            char home[16];
            way w = {yoke_plan_defaults(), ""};
            snprintf(home, sizeof home, "spill:0.%d", tenths);
            w.planning.partition = k & 1 ? "ratio:0.3" : "gpu";
            w.planning.home = tenths == 10 ? "spill:1" : home;
            w.planning.format = formats[k >> 1];
            snprintf(w.name, sizeof w.name, "%s, %s", home, w.planning.format);
            fits_what_is_told("random_spd:1900:9:4", &w, NULL);
        }
}

/* ---------------------------------------------------------------- failures */

/* Everything that a plan does, up to the first failure. */
typedef struct scenario {
    yoke_matrix *matrix;
    const yoke_plan_options *planning;
    double *b, *x, *value;
    int64_t rows;
} scenario;

static scenario new_scenario_of(const char *spec)
{
    yoke_context *context = new_context();
    scenario s = {.matrix = generated(context, spec)};
    s.rows = yoke_matrix_rows(s.matrix);
    yoke_csr csr = yoke_csr_defaults();
    MUST(yoke_matrix_view(s.matrix, &csr));
    int64_t nonzeros = yoke_matrix_nonzeros(s.matrix);
    s.value = filled(nonzeros, 0.0);
    memcpy(s.value, csr.value, (size_t)nonzeros * sizeof *s.value);
    s.b = filled(s.rows, 0.0);
    s.x = filled(s.rows, 0.0);
    scramble(s.b, s.rows, 3);
    return s;
}

static scenario new_scenario(void)
{
    return new_scenario_of("poisson2d5:17"); /* two chunks */
}

/* Four, where a cut has somewhere to go. */
static scenario new_scenario_for(const yoke_plan_options *planning)
{
    bool moves = strncmp(planning->partition, "adaptive", 8) == 0;
    return moves ? new_scenario_of("poisson2d5:30") : new_scenario();
}

/* Where a cut moves it does so between any two advances. */
static void force_cuts(yoke_plan *plan)
{
    static int sequence[64];
    yk_cuts *cuts = plan->cg.cuts;
    if (!cuts) return;
    for (int i = 0; i < 64; i++) sequence[i] = i % cuts->count;
    cuts->forced = sequence;
    cuts->forced_end = sequence + 64;
}

static yoke_status play(const scenario *s)
{
    yoke_plan *plan = NULL;
    yoke_status status = yoke_plan_create(s->matrix, s->planning, &plan);
    if (status == YOKE_OK) force_cuts(plan);
    if (status == YOKE_OK) status = yoke_solve(plan, s->b, s->x, NULL);
    MUST(yoke_matrix_update_values(s->matrix, s->value));
    if (status == YOKE_OK) status = yoke_solve(plan, s->b, s->x, NULL);
    if (status != YOKE_OK && plan) {
        cr_assert(!yoke_plan_usable(plan));
        cr_assert_eq(yoke_solve(plan, s->b, s->x, NULL), YOKE_SPOILED);
    }
    yoke_plan_destroy(plan);
    return status;
}

/* Whoever cannot learn which device is current, or change it, cannot bring it back. */
static bool keeps_the_device(const char *call)
{
    return strcmp(call, "cudaGetDevice") != 0 && strcmp(call, "cudaSetDevice") != 0;
}

/* The status of a failure names it; where the failure did no harm, the answer is right. Beside the
 * CPU, of many alike some 16. */
static void fail_each(const scenario *s, const double *expected, const char *call, long count)
{
    char when[160];
    int device = current_device();
    bool alone = strcmp(s->planning->partition, "gpu") == 0;
    for (long nth = 1; nth <= count; nth += alone ? 1 : 1 + count / 16) {
        snprintf(when, sizeof when, "call %ld of %s", nth, call);
        fake_fail(call, nth, cudaErrorInitializationError);
        memset(s->x, 0, (size_t)s->rows * sizeof *s->x);
        yoke_status status = play(s);
        fake_fail(call, 0, cudaSuccess);
        if (status == YOKE_OK)
            cr_assert_eq(memcmp(s->x, expected, (size_t)s->rows * sizeof *s->x), 0, "%s", when);
        else
            cr_assert(strstr(yoke_error_text(), "initialization error") ||
                          strstr(yoke_error_text(), "did not survive"),
                      "%s: %s", when, yoke_error_text());
        nothing_lives(when);
        cr_assert_eq(current_device(), device, "%s", when);
    }
}

static void fail_everything(int w)
{
    scenario s = new_scenario_for(&ways[w].planning);
    s.planning = &ways[w].planning;
    double *expected = filled(s.rows, 0.0);
    long calls[100];
    int failed = 0;
    play(&s); /* what is asked once is asked here */
    for (int k = 0; fake_call_name(k); k++) calls[k] = fake_calls(fake_call_name(k));
    cr_assert_eq(play(&s), YOKE_OK);
    memcpy(expected, s.x, (size_t)s.rows * sizeof *expected);
    for (int k = 0; fake_call_name(k); k++) {
        calls[k] = fake_calls(fake_call_name(k)) - calls[k];
        failed += calls[k] > 0;
    }
    cr_assert_gt(failed, 15, "%d kinds of call", failed);
    for (int k = 0; fake_call_name(k); k++)
        if (current_device() == 0 || keeps_the_device(fake_call_name(k)))
            fail_each(&s, expected, fake_call_name(k), calls[k]);
    solves_on_cpu(s.matrix);
}

Test(fake_gpu, any_call_may_fail)
{
    list_ways();
    for (int w = 0; w < first_together; w += w < 21 ? 5 : 1) fail_everything(w);
}

Test(fake_gpu, any_call_may_fail_in_a_plan_with_rows_on_the_cpu)
{
    int count = list_ways();
    for (int w = first_together; w < count - MOVING; w++) fail_everything(w);
}

Test(fake_gpu, any_call_may_fail_while_the_cut_moves)
{
    int count = list_ways();
    for (int w = count - MOVING; w < count; w++) fail_everything(w);
}

/* Several plans are made before the one that is kept. */
Test(fake_gpu, any_call_may_fail_while_the_cut_is_measured)
{
    scenario s = new_scenario();
    yoke_plan_options planning = yoke_plan_defaults();
    yoke_plan *plan = NULL;
    long calls[100];
    char when[160];
    planning.partition = "model";
    for (int k = 0; fake_call_name(k); k++) calls[k] = fake_calls(fake_call_name(k));
    MUST(yoke_plan_create(s.matrix, &planning, &plan));
    yoke_plan_destroy(plan);
    for (int k = 0; fake_call_name(k); k++) {
        const char *call = fake_call_name(k);
        calls[k] = fake_calls(call) - calls[k];
        for (long nth = 1; nth <= calls[k]; nth += 1 + calls[k] / 10) {
            snprintf(when, sizeof when, "call %ld of %s", nth, call);
            fake_fail(call, nth, cudaErrorInitializationError);
            yoke_status status = yoke_plan_create(s.matrix, &planning, &plan);
            fake_fail(call, 0, cudaSuccess);
            if (status == YOKE_OK) {
                MUST(yoke_solve(plan, s.b, s.x, NULL));
                yoke_plan_destroy(plan);
            } else {
                cr_assert(strstr(yoke_error_text(), "initialization error"), "%s: %s", when,
                          yoke_error_text());
            }
            nothing_lives(when);
        }
    }
}

Test(fake_gpu, any_call_may_fail_while_another_device_is_current)
{
    int count = list_ways();
    cudaSetDevice(1);
    fail_everything(3);
    fail_everything(count - 2);
}

Test(fake_gpu, a_device_that_cannot_be_made_current_is_refused)
{
    scenario s = new_scenario();
    s.planning = way_of("stream");
    cudaSetDevice(1);
    fake_fail("cudaSetDevice", 2, cudaErrorMemoryAllocation); /* 1: of yk_device_enter */
    cr_assert_eq(play(&s), YOKE_DEVICE);
    cr_assert(strstr(yoke_error_text(), "cudaErrorMemoryAllocation"), "%s", yoke_error_text());
    cr_assert_eq(current_device(), 1);
    nothing_lives("after the refusal");
}

/* The device is lost with the work that failed: told by one status, and silent after it. */
static void lose_device_at(long nth, const yoke_plan_options *planning)
{
    scenario s = new_scenario_for(planning);
    yoke_plan *plan = NULL;
    char text[512];
    s.planning = planning;
    MUST(yoke_plan_create(s.matrix, planning, &plan));
    force_cuts(plan);
    fake_fail_work(nth, cudaErrorIllegalAddress);
    cr_assert_eq(yoke_solve(plan, s.b, s.x, NULL), YOKE_DEVICE, "work %ld", nth);
    snprintf(text, sizeof text, "%s", yoke_error_text());
    cr_assert(strstr(text, "cudaErrorIllegalAddress"), "%s", text);
    cr_assert_eq(yoke_solve(plan, s.b, s.x, NULL), YOKE_SPOILED);
    cr_assert(!strstr(yoke_error_text(), "cudaErrorIllegalAddress"), "told twice");
    yoke_plan_destroy(plan);
    nothing_lives("after the device was lost");
    solves_on_cpu(s.matrix);
    cr_assert_neq(yoke_plan_create(s.matrix, planning, &plan), YOKE_OK);
    nothing_lives("on a lost device");
    solves_on_cpu(s.matrix);
}

Test(fake_gpu, a_device_lost_at_the_first_work)
{
    lose_device_at(1, way_of("stream"));
}

Test(fake_gpu, a_device_lost_in_the_loop)
{
    lose_device_at(40, way_of("stream"));
}

Test(fake_gpu, a_device_lost_in_a_graph)
{
    lose_device_at(40, way_of("graph"));
}

Test(fake_gpu, a_device_lost_in_the_persistent_kernel)
{
    lose_device_at(12, way_of("persistent"));
}

/* The threads are told by whoever asks the silent device. */
Test(fake_gpu, a_device_lost_beside_the_cpu)
{
    list_ways();
    lose_device_at(41, &ways[first_together].planning);
}

Test(fake_gpu, a_device_lost_in_a_graph_beside_the_cpu)
{
    list_ways();
    lose_device_at(41, &ways[first_together + 1].planning);
}

Test(fake_gpu, a_device_lost_while_threads_wait_for_its_flag)
{
    list_ways();
    lose_device_at(41, &ways[first_together + 2].planning);
}

Test(fake_gpu, a_device_lost_in_a_graph_while_threads_wait_for_its_flag)
{
    list_ways();
    lose_device_at(41, &ways[first_together + 3].planning);
}

/* Whether in a move or between two. */
Test(fake_gpu, a_device_lost_while_the_cut_moves)
{
    int count = list_ways();
    lose_device_at(67, &ways[count - MOVING].planning);
}

Test(fake_gpu, a_device_lost_while_the_cut_moves_and_threads_wait_for_its_flag)
{
    int count = list_ways();
    lose_device_at(67, &ways[count - MOVING + 1].planning);
}

/* Nobody waits for ever, nor alone: threads and kernels leave the loop together. */
Test(fake_gpu, an_owner_that_does_not_answer_in_time_ends_the_solve)
{
    scenario s = new_scenario();
    list_ways();
    for (int w = first_together + 2; w < first_together + 4; w++) { /* mapped: stream, graph */
        yoke_plan *plan = NULL;
        MUST(yoke_plan_create(s.matrix, &ways[w].planning, &plan));
        plan->cg.link.deadline = 0.0;
        cr_assert_eq(yoke_solve(plan, s.b, s.x, NULL), YOKE_TIMEOUT, "%s", ways[w].name);
        cr_assert(strstr(yoke_error_text(), "did not answer"), "%s", yoke_error_text());
        cr_assert_eq(yoke_solve(plan, s.b, s.x, NULL), YOKE_SPOILED);
        yoke_plan_destroy(plan);
        nothing_lives(ways[w].name);
    }
}

/* ------------------------------------------------------- persistent driver */

static yoke_plan_options persistent_options(const char *preconditioner, yoke_nullspace nullspace)
{
    yoke_plan_options planning = yoke_plan_defaults();
    planning.partition = "gpu";
    planning.driver = "persistent";
    planning.preconditioner = preconditioner;
    planning.nullspace = nullspace;
    return planning;
}

static int count_calls(void *user, int64_t iteration, double norm)
{
    (void)norm;
    ++*(int64_t *)user;
    return iteration < 0;
}

/* From a guess; in all of one launch, or with a monitor in a launch an iteration. */
static void same_as_cpu(yoke_matrix *matrix, const yoke_plan_options *planning, bool watched,
                        const char *name)
{
    enum { LENGTH = 5000 };
    int64_t rows = yoke_matrix_rows(matrix), calls = 0;
    double *b = filled(rows, 0.0), *x[2], *history[2];
    yoke_plan_options on_cpu = *planning;
    yoke_report report[2];
    on_cpu.partition = "cpu";
    on_cpu.driver = NULL;
    scramble(b, rows, 1);
    for (int gpu = 0; gpu < 2; gpu++) {
        yoke_solve_options options = yoke_solve_defaults();
        x[gpu] = filled(rows, 0.0);
        scramble(x[gpu], rows, 2);
        options.initial_guess = 1;
        options.check_every = watched ? 1 : 7;
        options.history = history[gpu] = filled(LENGTH, 0.0);
        options.history_capacity = LENGTH;
        options.monitor = watched ? count_calls : NULL;
        options.monitor_user = &calls;
        report[gpu] = solve_with(matrix, gpu ? planning : &on_cpu, b, x[gpu], &options);
    }
    cr_assert_str_eq(report[1].driver, "persistent", "%s", name);
    cr_assert_eq(report[1].outcome, YOKE_CONVERGED, "%s", name);
    cr_assert_eq(report[1].iterations, report[0].iterations, "%s", name);
    cr_assert_eq(report[1].history_length, report[0].history_length, "%s", name);
    cr_assert_eq(memcmp(history[0], history[1], LENGTH * sizeof *b), 0, "%s: history", name);
    cr_assert_eq(memcmp(x[0], x[1], (size_t)rows * sizeof *b), 0, "%s: other bits", name);
    if (watched) cr_assert_eq(calls, 2 * (report[1].iterations + 1), "%s", name);
}

/* Chips that give a block one chunk and many, a row one thread and four, all of the matrix a place
 * and little of it; nodes of one chunk and of several. */
Test(fake_gpu, the_persistent_driver_gives_the_bits_of_the_cpu_on_every_chip)
{
    static const fake_chip chips[] = {{2, 232448, 16}, {2, 232448, 0},   {4, 232448, 0},
                                      {7, 232448, 0},  {7, 232448, 8},   {132, 232448, 0},
                                      {4, 170000, 0},  {132, 160000, 16}};
    static const char *const specs[] = {"poisson2d5:60", "random_spd:1700:40:9", "elasticity3d:5",
                                        "poisson3d7:12", "jumps3d7:8:1e3:1"};
    static const char *const names[] = {"none", "jacobi"};
    char name[120];
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        yoke_matrix *matrix = generated(new_context(), specs[s]);
        for (size_t c = 0; c < sizeof chips / sizeof *chips; c++) {
            const char *preconditioner = names[(s + c / 2) % 2];
            yoke_plan_options planning = persistent_options(preconditioner, YOKE_NULLSPACE_NONE);
            fake_set_chip(chips[c]);
            snprintf(name, sizeof name, "%s, %s, chip %zu", specs[s], preconditioner, c);
            same_as_cpu(matrix, &planning, (s + c) % 2, name);
        }
    }
    nothing_lives("in the end");
}

static int stride_on(const char *spec, int multiprocessors)
{
    yoke_plan_options planning = persistent_options("none", YOKE_NULLSPACE_NONE);
    yoke_plan *plan = NULL;
    fake_set_chip((fake_chip){multiprocessors, 232448, 0});
    MUST(yoke_plan_create(generated(new_context(), spec), &planning, &plan));
    int stride = plan->cg.gpu->resident.shape.stride;
    yoke_plan_destroy(plan);
    return stride;
}

/* 31^3 rows leave the last nodes of some blocks empty; planes of 28^3 lie badly to nodes. */
Test(fake_gpu, a_block_of_the_persistent_driver_has_parts_of_planes_that_are_neighbours)
{
    static const char *const names[] = {"none", "jacobi"};
    cr_assert_eq(stride_on("poisson3d7:32", 32), 2);
    cr_assert_eq(stride_on("poisson3d7:31", 30), 2);
    cr_assert_eq(stride_on("poisson3d27:32", 32), 2);
    cr_assert_eq(stride_on("poisson3d7:28", 22), 1);
    cr_assert_eq(stride_on("poisson2d5:180", 32), 1);
    for (int p = 0; p < 2; p++) {
        yoke_plan_options planning = persistent_options(names[p], YOKE_NULLSPACE_NONE);
        fake_set_chip((fake_chip){p ? 30 : 32, 232448, 0});
        same_as_cpu(generated(new_context(), p ? "poisson3d7:31" : "poisson3d7:32"), &planning, p,
                    names[p]);
    }
    nothing_lives("in the end");
}

/* Systems whose vectors the chip holds and whose matrix it does not: with q and x on the chip or in
 * memory; blocks of as many chunks as warps, and of others; a last block of few rows; rows in
 * place, sorted, of widths that kernels know; a monitor, so that the state passes between launches.
 */
Test(fake_gpu, the_persistent_driver_holds_the_vectors_of_larger_systems)
{
    static const struct {
        const char *spec;
        int multiprocessors, q, x;
    } chip[] = {{"poisson3d7:20", 2, 1, 1},        {"poisson3d27:24", 2, 1, 0},
                {"poisson3d7:32", 2, 0, 0},        {"poisson2d5:130", 3, 1, 0},
                {"graph:9000:12:3", 2, 1, 1},      {"random_spd:8000:9:4", 3, 1, 1},
                {"elasticity3d:14", 3, 1, 1},      {"jumps3d7:22:1e4:7", 2, 1, 0},
                {"anisotropic3d7:19:0.1", 2, 1, 1}};
    static const char *const names[] = {"none", "jacobi"};
    for (size_t c = 0; c < sizeof chip / sizeof *chip; c++)
        for (int p = 0; p < 2; p++) {
            yoke_plan_options planning = persistent_options(names[p], YOKE_NULLSPACE_NONE);
            yoke_matrix *matrix = generated(new_context(), chip[c].spec);
            yoke_plan *plan = NULL;
            fake_set_chip((fake_chip){chip[c].multiprocessors, 232448, 0});
            MUST(yoke_plan_create(matrix, &planning, &plan));
            const yk_held *held = &plan->cg.gpu->held;
            cr_assert_not_null(held->word, "%s", chip[c].spec);
            cr_assert_eq(held->holds_q, chip[c].q, "%s: q", chip[c].spec);
            cr_assert_eq(held->holds_x, chip[c].x, "%s: x", chip[c].spec);
            yoke_plan_destroy(plan);
            same_as_cpu(matrix, &planning, p, chip[c].spec);
        }
    nothing_lives("in the end");
}

Test(fake_gpu, the_persistent_driver_projects_a_nullspace_out)
{
    static const char *const names[] = {"none", "jacobi"};
    yoke_matrix *matrix = tridiagonal(new_context(), 700, 1);
    for (int cluster = 0; cluster <= 16; cluster += 16)
        for (int p = 0; p < 2; p++) {
            yoke_plan_options planning = persistent_options(names[p], YOKE_NULLSPACE_CONSTANT);
            fake_set_chip((fake_chip){3, 232448, cluster});
            same_as_cpu(matrix, &planning, false, names[p]);
        }
}

static void is_declined_by_persistent(yoke_matrix *matrix, const char *shape, const char *why)
{
    yoke_plan_options planning = persistent_options("none", YOKE_NULLSPACE_NONE);
    yoke_plan *plan = NULL;
    planning.shape = shape;
    cr_assert_eq(yoke_plan_create(matrix, &planning, &plan), YOKE_UNSUITABLE, "%s", why);
    cr_assert(strstr(yoke_error_text(), why), "%s, not %s", yoke_error_text(), why);
    nothing_lives(why);
}

static yoke_matrix *arrow(int n)
{
    double *entry = filled((int64_t)n * n, 0.0);
    for (int i = 0; i < n; i++) {
        entry[i] = entry[i * n] = -1.0;
        entry[i * n + i] = 2.0 * n;
    }
    return dense(new_context(), n, entry);
}

Test(fake_gpu, what_the_persistent_driver_does_not_take_it_declines_and_says_why)
{
    yoke_matrix *small = generated(new_context(), "poisson2d5:30");
    fake_set_chip((fake_chip){2, 232448, 0});
    is_declined_by_persistent(small, "folded", "shape folded");
    is_declined_by_persistent(arrow(0), NULL, "0 rows are not 1 to 8192");
    is_declined_by_persistent(arrow(257), NULL, "a row has 257 entries, more than 256");
    is_declined_by_persistent(
        generated(new_context(), "poisson2d5:182"), NULL,
        "33124 rows are not 1 to 32768, whose vectors 2 multiprocessors hold");
    fake_set_chip((fake_chip){2, 12500, 0});
    is_declined_by_persistent(small, NULL, "to find the halos of 900 rows takes");
    fake_set_chip((fake_chip){2, 30000, 0});
    is_declined_by_persistent(generated(new_context(), "poisson2d5:60"), NULL,
                              "its halo of 60 rows");
    solves_on_cpu(small);
}

static void auto_takes(const char *spec, const char *driver)
{
    yoke_matrix *matrix = generated(new_context(), spec);
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(rows, 1.0), *x = filled(rows, 0.0);
    yoke_plan_options planning = yoke_plan_defaults();
    planning.partition = "gpu";
    yoke_report report = solve_with(matrix, &planning, b, x, NULL);
    cr_assert_eq(report.outcome, YOKE_CONVERGED);
    cr_assert_str_eq(report.driver, driver, "%s: %s", spec, report.driver);
}

Test(fake_gpu, auto_takes_the_persistent_driver_where_a_system_fits_and_the_graph_elsewhere)
{
    fake_set_chip((fake_chip){2, 232448, 0});
    auto_takes("poisson2d5:30", "persistent");
    auto_takes("poisson2d5:182", "graph");            /* too many rows */
    auto_takes("poisson2d5:91", "persistent");        /* whose vectors alone the chip holds */
    auto_takes("random_spd:1900:90:1", "persistent"); /* much of its matrix streams */
    fake_set_chip((fake_chip){2, 20000, 0});
    auto_takes("graph:1000:9:1", "graph"); /* its halos do not fit */
    nothing_lives("in the end");
}

/* ----------------------------------------------------------------- threads */

typedef struct worker {
    const scenario *s;
    const yoke_plan_options *planning;
    double *x, *expected;
    bool fine;
} worker;

static void *solve_often(void *user)
{
    worker *w = user;
    w->fine = true;
    cudaSetDevice(1);
    for (int i = 0; i < 8 && w->fine; i++) {
        yoke_plan *plan = NULL;
        int device = -1;
        w->fine = yoke_plan_create(w->s->matrix, w->planning, &plan) == YOKE_OK &&
                  yoke_solve(plan, w->s->b, w->x, NULL) == YOKE_OK;
        yoke_plan_destroy(plan);
        cudaGetDevice(&device);
        w->fine &= device == 1;
    }
    return NULL;
}

static atomic_bool go_on;

static void *allocate_often(void *user)
{
    (void)user;
    while (atomic_load(&go_on)) {
        void *memory = NULL;
        cudaMalloc(&memory, 1000);
        cudaFree(memory);
    }
    return NULL;
}

/* The CPU's bits, each in a thread of its own, while one more allocates. */
static void solve_at_once(const yoke_plan_options *const *planning, int count)
{
    scenario s = new_scenario();
    pthread_t thread[4];
    worker workers[3];
    double *expected = filled(s.rows, 0.0);
    atomic_store(&go_on, true);
    pthread_create(&thread[3], NULL, allocate_often, NULL);
    for (int i = 0; i < count; i++) {
        yoke_plan_options on_cpu = yoke_plan_defaults();
        on_cpu.partition = "cpu";
        on_cpu.preconditioner = planning[i]->preconditioner;
        solve_with(s.matrix, &on_cpu, s.b, expected, NULL);
        workers[i] = (worker){&s, planning[i], filled(s.rows, 0.0), filled(s.rows, 0.0), false};
        memcpy(workers[i].expected, expected, (size_t)s.rows * sizeof *expected);
    }
    for (int i = 0; i < count; i++) pthread_create(&thread[i], NULL, solve_often, &workers[i]);
    for (int i = 0; i < count; i++) pthread_join(thread[i], NULL);
    atomic_store(&go_on, false);
    pthread_join(thread[3], NULL);
    for (int i = 0; i < count; i++) {
        cr_assert(workers[i].fine, "%s", planning[i]->driver);
        cr_assert_eq(memcmp(workers[i].x, workers[i].expected, (size_t)s.rows * sizeof(double)), 0,
                     "%s", planning[i]->driver);
    }
    nothing_lives("in the end");
}

Test(fake_gpu, plans_in_threads_of_their_own_while_another_allocates)
{
    const yoke_plan_options *const planning[] = {way_of("stream"), way_of("graph"),
                                                 way_of("persistent")};
    solve_at_once(planning, 3);
}

/* Freeing device memory waits for a kernel that waits for threads, which must not wait for it. */
Test(fake_gpu, plans_with_rows_on_the_cpu_in_threads_of_their_own_while_another_allocates)
{
    list_ways();
    for (int w = first_together; w < first_together + 6; w += 2) {
        const yoke_plan_options *const planning[] = {&ways[w].planning, &ways[w + 1].planning};
        solve_at_once(planning, 1);
        solve_at_once(planning + 1, 1);
        solve_at_once(planning, 2);
    }
}
