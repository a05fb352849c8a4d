/* SPDX-License-Identifier: BSD-3-Clause */
/* speed.c: each figure is the best of some tries for a rate, the median for a latency: what the
 * machine can do, and what one has to expect. A group that fails leaves its figures unknown and the
 * others are still taken. */
#include "lib/cuda/speed.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cuda/buffer.h"
#include "lib/cuda/device.h"
#include "lib/cuda/latency.h"
#include "lib/cuda/nvml.h"
#include "lib/flag.h"
#include "lib/iface/gpu_tools.h"
#include "lib/status.h"

#define CUDA_TRY(call) YK_TRY(yk_device_try(call, #call))

/* Far beyond any level 2 cache. */
#define MEMORY_BYTES ((size_t)1 << 30)
/* Each way over the link: some milliseconds; less where the device has little free. */
#define LINK_BYTES ((size_t)1 << 27)

enum { TRIES = 10, SAMPLES = 200, LAUNCHES = 1000, NODES = 1000, BARRIERS = 1000, ROUNDS = 1000 };
static const double DEADLINE = 1.0; /* seconds, of the round trips together */

typedef struct bench {
    yk_device device;
    yoke_gpu_speed *speed;
    cudaStream_t other;
    cudaEvent_t begin, end;
} bench;

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *value, int count)
{
    qsort(value, (size_t)count, sizeof *value, ascending);
    return value[count / 2];
}

/* ---------------------------------------------------------------- memories */

static double best_of(void *buffer, int what)
{
    double best = NAN;
    yk_gpu_buffer_measure(buffer, what); /* clocks rise, the kernel is loaded */
    for (int i = 0; i < TRIES; i++) best = fmax(best, yk_gpu_buffer_measure(buffer, what));
    return best > 0.0 ? best : NAN;
}

static yoke_status measure_memory(bench *b)
{
    void *buffer;
    YK_TRY(yk_gpu_buffer_open(b->device.number, MEMORY_BYTES, &buffer));
    b->speed->read = best_of(buffer, YOKE_STREAM_READ);
    b->speed->copy = best_of(buffer, YOKE_STREAM_COPY);
    b->speed->triad = best_of(buffer, YOKE_STREAM_TRIAD);
    b->speed->write = best_of(buffer, YK_STREAM_WRITE);
    yk_gpu_buffer_close(buffer);
    return YOKE_OK;
}

/* Half of the cache: what else lies in it must not push the buffer out. */
static yoke_status measure_cache(bench *b)
{
    void *buffer;
    int bytes = 0;
    CUDA_TRY(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, b->device.number));
    if (bytes <= 0) return YOKE_OK;
    YK_TRY(yk_gpu_buffer_open(b->device.number, (size_t)bytes / 2, &buffer));
    b->speed->l2_working_set = yk_gpu_buffer_count(buffer) * (int64_t)sizeof(double);
    b->speed->l2_read = best_of(buffer, YOKE_STREAM_READ);
    yk_gpu_buffer_close(buffer);
    return YOKE_OK;
}

/* -------------------------------------------------------------------- link */

typedef struct link_memory {
    void *host[2], *device[2]; /* to the GPU, from it */
    size_t bytes;
} link_memory;

static yoke_status wait_for_both(const bench *b)
{
    YK_TRY(yk_device_wait(&b->device));
    CUDA_TRY(cudaStreamSynchronize(b->other));
    return YOKE_OK;
}

static yoke_status copy_both(const bench *b, const link_memory *m, int to, int from)
{
    if (to)
        CUDA_TRY(cudaMemcpyAsync(m->device[0], m->host[0], m->bytes, cudaMemcpyHostToDevice,
                                 b->device.stream));
    if (from)
        CUDA_TRY(
            cudaMemcpyAsync(m->host[1], m->device[1], m->bytes, cudaMemcpyDeviceToHost, b->other));
    return wait_for_both(b);
}

static yoke_status time_link(const bench *b, const link_memory *m, int to, int from, double *rate)
{
    double best = NAN;
    for (int i = 0; i < TRIES / 2; i++) {
        double start = yoke_seconds();
        YK_TRY(copy_both(b, m, to, from));
        best = fmin(best, yoke_seconds() - start);
    }
    if (best > 0.0) *rate = (double)m->bytes * (to + from) / best;
    return YOKE_OK;
}

static yoke_status allocate_link(const bench *b, link_memory *m)
{
    for (int i = 0; i < 2; i++) {
        YK_TRY(yk_device_allocate_pinned("pinned memory", m->bytes, &m->host[i]));
        memset(m->host[i], 0, m->bytes);
        YK_TRY(
            yk_device_allocate(&b->device, "memory to copy", (int64_t)m->bytes, 1, &m->device[i]));
    }
    return YOKE_OK;
}

static yoke_status time_links(const bench *b, const link_memory *m)
{
    YK_TRY(copy_both(b, m, 1, 1));
    YK_TRY(time_link(b, m, 1, 0, &b->speed->to_gpu));
    YK_TRY(time_link(b, m, 0, 1, &b->speed->from_gpu));
    return time_link(b, m, 1, 1, &b->speed->both_ways);
}

static yoke_status measure_link(bench *b)
{
    size_t room = b->device.free_bytes / 8;
    link_memory m = {{NULL, NULL}, {NULL, NULL}, LINK_BYTES < room ? LINK_BYTES : room};
    yoke_status status = allocate_link(b, &m);
    if (status == YOKE_OK) status = time_links(b, &m);
    for (int i = 0; i < 2; i++) {
        yk_device_free(m.device[i]);
        yk_device_free_pinned(m.host[i]);
    }
    return status;
}

/* --------------------------------------------------------------- latencies */

static yoke_status time_copies(bench *b, void *host, const void *device)
{
    double seconds[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        double start = yoke_seconds();
        YK_TRY(yk_device_copy(&b->device, host, device, sizeof(double)));
        YK_TRY(yk_device_wait(&b->device));
        seconds[i] = yoke_seconds() - start;
    }
    b->speed->copy_sync = median(seconds, SAMPLES);
    return YOKE_OK;
}

static yoke_status measure_copies(bench *b)
{
    void *host = NULL, *device = NULL;
    yoke_status status = yk_device_allocate_pinned("pinned memory", sizeof(double), &host);
    if (status == YOKE_OK)
        status = yk_device_allocate(&b->device, "a number", 1, sizeof(double), &device);
    if (status == YOKE_OK) status = yk_device_clear(&b->device, device, sizeof(double));
    if (status == YOKE_OK) status = time_copies(b, host, device);
    yk_device_free(device);
    yk_device_free_pinned(host);
    return status;
}

static yoke_status launch_nothing(const bench *b, int times)
{
    for (int i = 0; i < times; i++)
        YK_TRY(yk_device_try(yk_latency_nothing(b->device.stream), "an empty kernel"));
    return YOKE_OK;
}

static yoke_status measure_launches(bench *b)
{
    double seconds[SAMPLES];
    YK_TRY(launch_nothing(b, 1));
    YK_TRY(yk_device_wait(&b->device));
    for (int i = 0; i < SAMPLES; i++) {
        double start = yoke_seconds();
        YK_TRY(launch_nothing(b, 1));
        YK_TRY(yk_device_wait(&b->device));
        seconds[i] = yoke_seconds() - start;
    }
    b->speed->launch_sync = median(seconds, SAMPLES);
    for (int i = 0; i < TRIES; i++) {
        double start = yoke_seconds();
        YK_TRY(launch_nothing(b, LAUNCHES));
        YK_TRY(yk_device_wait(&b->device));
        seconds[i] = (yoke_seconds() - start) / LAUNCHES;
    }
    b->speed->launch = median(seconds, TRIES);
    return YOKE_OK;
}

/* Seconds between two events around what enqueue puts on the stream. */
static yoke_status time_on_device(const bench *b, yoke_status (*enqueue)(const bench *, void *),
                                  void *user, double *seconds)
{
    float milliseconds = 0.0f;
    CUDA_TRY(cudaEventRecord(b->begin, b->device.stream));
    YK_TRY(enqueue(b, user));
    CUDA_TRY(cudaEventRecord(b->end, b->device.stream));
    CUDA_TRY(cudaEventSynchronize(b->end));
    CUDA_TRY(cudaEventElapsedTime(&milliseconds, b->begin, b->end));
    *seconds = 1e-3 * (double)milliseconds;
    return YOKE_OK;
}

static yoke_status launch_graph(const bench *b, void *graph)
{
    return yk_device_graph_launch(&b->device, graph);
}

static yoke_status time_graph(const bench *b, void *graph)
{
    double seconds[TRIES];
    YK_TRY(time_on_device(b, launch_graph, graph, &seconds[0]));
    for (int i = 0; i < TRIES; i++) YK_TRY(time_on_device(b, launch_graph, graph, &seconds[i]));
    b->speed->graph_node = median(seconds, TRIES) / NODES;
    return YOKE_OK;
}

static yoke_status measure_graph(bench *b)
{
    void *graph = NULL;
    YK_TRY(yk_device_capture_begin(&b->device));
    yoke_status status = launch_nothing(b, NODES);
    yoke_status ended = yk_device_capture_end(&b->device, &graph);
    if (status == YOKE_OK) status = ended;
    if (status == YOKE_OK) status = time_graph(b, graph);
    yk_device_graph_destroy(graph);
    return status;
}

static yoke_status launch_barriers(const bench *b, void *count)
{
    return yk_device_try(
        yk_latency_barriers(b->device.multiprocessors, *(int *)count, b->device.stream),
        "a cooperative kernel");
}

/* The difference of many barriers and few: the launch does not count. */
static yoke_status measure_barriers(bench *b)
{
    int cooperative = 0, few = BARRIERS / 10, many = few + BARRIERS;
    double seconds[TRIES], some = 0.0, all = 0.0;
    CUDA_TRY(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, b->device.number));
    if (!cooperative) return YOKE_OK;
    YK_TRY(time_on_device(b, launch_barriers, &few, &some));
    for (int i = 0; i < TRIES; i++) {
        YK_TRY(time_on_device(b, launch_barriers, &few, &some));
        YK_TRY(time_on_device(b, launch_barriers, &many, &all));
        seconds[i] = (all - some) / BARRIERS;
    }
    b->speed->grid_barrier = median(seconds, TRIES);
    return YOKE_OK;
}

/* ------------------------------------------------------------------- flags */

typedef struct flags {
    yk_flag ping, pong;
    yk_abort abort;
} flags;

/* No CUDA call is made while the kernel waits: its launch is before, its end is awaited after. The
 * first round starts with the kernel and is not counted. */
static yoke_status play(bench *b, flags *host, flags *device, int *rounds, double *seconds)
{
    YK_TRY(
        yk_device_try(yk_latency_answer((const unsigned *)&device->ping, (unsigned *)&device->pong,
                                        (const unsigned *)&device->abort, ROUNDS + 1,
                                        (unsigned long long)(1e9 * DEADLINE), b->device.stream),
                      "a kernel that answers"));
    double start = 0.0;
    unsigned round = 0;
    bool answered = true;
    while (round <= ROUNDS && answered) {
        yk_flag_set(&host->ping, ++round);
        answered = yk_flag_wait(&host->pong, round, &host->abort, DEADLINE);
        if (round == 1) start = yoke_seconds();
    }
    *seconds = yoke_seconds() - start;
    *rounds = answered ? ROUNDS : 0;
    return yk_device_wait(&b->device);
}

static yoke_status measure_flags(bench *b)
{
    flags *host = NULL, *device = NULL;
    int rounds = 0;
    double seconds = 0.0;
    YK_TRY(yk_device_try(cudaHostAlloc((void **)&host, sizeof *host, cudaHostAllocMapped),
                         "mapped memory"));
    memset(host, 0, sizeof *host);
    yoke_status status =
        yk_device_try(cudaHostGetDevicePointer((void **)&device, host, 0), "mapped memory");
    if (status == YOKE_OK) status = play(b, host, device, &rounds, &seconds);
    if (status == YOKE_OK && rounds == 0)
        status = yk_fail(YOKE_DEVICE, "device %d did not answer a flag within %g s",
                         b->device.number, DEADLINE);
    if (status == YOKE_OK) b->speed->flag_round_trip = seconds / rounds;
    cudaFreeHost(host);
    return status;
}

/* ------------------------------------------------------------------ energy */

/* How often the counter moves, watched for a while. */
static yoke_status measure_counter(bench *b)
{
    enum { MOST = 64 };
    void *counter;
    double step[MOST], began = yoke_seconds(), changed = 0.0;
    int steps = -1; /* until the first change, which began before */
    if (yk_gpu_tools_cuda.energy_open(b->device.number, &counter) != YOKE_OK) return YOKE_OK;
    double last = yk_nvml_joules(counter);
    while (steps < MOST && yoke_seconds() - began < 0.6) {
        double joules = yk_nvml_joules(counter), now = yoke_seconds();
        if (!(joules > last)) continue;
        if (steps >= 0) step[steps] = now - changed;
        steps++;
        last = joules;
        changed = now;
    }
    if (steps > 0) b->speed->energy_step = median(step, steps);
    return YOKE_OK;
}

/* --------------------------------------------------------------------- all */

static const struct group {
    yoke_status (*measure)(bench *b);
} groups[] = {{measure_memory},   {measure_cache},    {measure_link},
              {measure_copies},   {measure_launches}, {measure_graph},
              {measure_barriers}, {measure_flags},    {measure_counter} /* the last */};
enum { GROUPS = sizeof groups / sizeof *groups };

static yoke_status measure_groups(bench *b, int count)
{
    yoke_status first;
    CUDA_TRY(cudaStreamCreateWithFlags(&b->other, cudaStreamNonBlocking));
    CUDA_TRY(cudaEventCreate(&b->begin));
    CUDA_TRY(cudaEventCreate(&b->end));
    first = yk_device_try(yk_latency_load(), "loading the kernels");
    for (int i = 0; i < count; i++) {
        yoke_status status = groups[i].measure(b);
        if (first == YOKE_OK) first = status;
    }
    return first;
}

static yoke_status measure(int number, yoke_gpu_speed *speed, int count)
{
    bench b = {.speed = speed};
    YK_TRY(yk_device_open(number, &b.device));
    int previous = yk_device_enter(&b.device);
    yoke_status status = measure_groups(&b, count);
    if (b.begin) cudaEventDestroy(b.begin);
    if (b.end) cudaEventDestroy(b.end);
    if (b.other) cudaStreamDestroy(b.other);
    yk_device_leave(previous);
    yk_device_close(&b.device);
    return status;
}

yoke_status yk_gpu_measure(int number, yoke_gpu_speed *speed)
{
    return measure(number, speed, GROUPS);
}

yoke_status yk_gpu_measure_speeds(int number, yoke_gpu_speed *speed)
{
    return measure(number, speed, GROUPS - 1);
}
