/* SPDX-License-Identifier: BSD-3-Clause */
/* calibrate.c: what a profile holds of a GPU beyond yoke_gpu_speed: bandwidths by size and by
 * multiprocessors, of its own memory and of the host's, gathers, copies by size. */
#include "lib/cuda/calibrate.h"

#include <math.h>
#include <stdlib.h>

#include "lib/cuda/buffer.h"
#include "lib/cuda/device.h"
#include "lib/cuda/latency.h"
#include "lib/cuda/speed.h"
#include "lib/iface/gpu_tools.h"
#include "lib/status.h"

#define MIB ((size_t)1 << 20)

enum { TRIES = 4, SAMPLES = 51 };

/* NaN if one failed. The first is not counted: clocks rise, the kernel is loaded. */
static double best_of(void *buffer, int what)
{
    double best = 0.0, speed = yk_gpu_buffer_measure(buffer, what);
    for (int i = 0; i < TRIES && speed > 0.0; i++) {
        speed = yk_gpu_buffer_measure(buffer, what);
        best = fmax(best, speed);
    }
    return speed > 0.0 ? best : NAN;
}

static double bytes_of(const void *buffer)
{
    return (double)yk_gpu_buffer_count(buffer) * (double)sizeof(double);
}

/* The sentence is there: of what made the speed unknown. */
static yoke_status failed_if(bool failed)
{
    return failed ? YOKE_DEVICE : YOKE_OK;
}

/* ------------------------------------------------------------------ speeds */

yoke_status yk_gpu_calibrate_speeds(yk_calibration *c, int number)
{
    yoke_gpu_speed s = {NAN, NAN, NAN, NAN, NAN, 0,   NAN, NAN,
                        NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    yk_profile *p = c->profile;
    yoke_status status = yk_gpu_measure_speeds(number, &s);
    const struct {
        yk_figure *figure;
        double value;
    } found[] = {{&p->gpu_write, s.write},
                 {&p->gpu_triad, s.triad},
                 {&p->gpu_launch, s.launch},
                 {&p->gpu_launch_sync, s.launch_sync},
                 {&p->gpu_graph_node, s.graph_node},
                 {&p->gpu_grid_barrier, s.grid_barrier},
                 {&p->flag_round_trip, s.flag_round_trip},
                 {&p->copy_latency, s.copy_sync},
                 {&p->link_to_gpu, s.to_gpu},
                 {&p->link_from_gpu, s.from_gpu},
                 {&p->link_both, s.both_ways}};
    for (size_t i = 0; i < sizeof found / sizeof *found; i++)
        yk_calibration_set(c, found[i].figure, found[i].value);
    return status;
}

/* ------------------------------------------------------------------- sizes */

/* Around the level 2 cache more closely: there it falls. Once a buffer was cut to what is free,
 * larger ones are the same. */
yoke_status yk_gpu_calibrate_sizes(yk_calibration *c, int number)
{
    static const size_t sizes[] = {1, 4, 16, 32, 48, 64, 96, 128, 256, 1024};
    double last = 0.0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        void *buffer;
        YK_TRY(yk_gpu_buffer_open(number, sizes[i] * MIB, &buffer));
        double bytes = bytes_of(buffer), read = NAN, copy = NAN;
        if (bytes > last) {
            read = best_of(buffer, YOKE_STREAM_READ);
            if (!isnan(read)) copy = best_of(buffer, YOKE_STREAM_COPY);
            yk_calibration_add(c, &c->profile->gpu_read, bytes, read);
            yk_calibration_add(c, &c->profile->gpu_copy, bytes, copy);
        }
        yk_gpu_buffer_close(buffer);
        if (!(bytes > last)) break;
        YK_TRY(failed_if(isnan(read) || isnan(copy)));
        last = bytes;
    }
    return YOKE_OK;
}

static double best_gather(void *buffer, size_t bytes)
{
    double best = 0.0, speed = 1.0;
    for (int i = 0; i <= TRIES && speed > 0.0; i++) {
        speed = yk_gpu_buffer_gather(buffer, bytes);
        best = fmax(best, speed);
    }
    return speed > 0.0 ? best : NAN;
}

yoke_status yk_gpu_calibrate_gathers(yk_calibration *c, int number)
{
    static const size_t sizes[] = {1, 4, 16, 32, 64, 128, 512};
    void *buffer;
    bool failed = false;
    YK_TRY(yk_gpu_buffer_open(number, 512 * MIB, &buffer));
    double room = bytes_of(buffer);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !failed; i++) {
        if ((double)(sizes[i] * MIB) > room) break;
        double speed = best_gather(buffer, sizes[i] * MIB);
        yk_calibration_add(c, &c->profile->gpu_gather_set, (double)(sizes[i] * MIB), speed);
        failed = isnan(speed);
    }
    yk_gpu_buffer_close(buffer);
    return failed_if(failed);
}

/* --------------------------------------------------------- multiprocessors */

/* Sixteenths of them: few are enough for a link, most are needed for the memory. */
static const int sixteenths[] = {1, 2, 4, 8, 12, 16};
enum { SHARES = sizeof sixteenths / sizeof *sixteenths };

/* A curve over shares of the multiprocessors, reading a kind of memory. */
static yoke_status read_by_shares(yk_calibration *c, int number, yk_memory kind, size_t bytes,
                                  yk_curve *curve)
{
    int all = (int)yk_figure_or(&c->profile->gpu_sms, 0.0), last = 0;
    for (int i = 0; i < SHARES; i++) {
        int count = (all * sixteenths[i] + 15) / 16;
        void *buffer;
        YK_TRY(yk_gpu_buffer_open_as(number, bytes, kind, count, &buffer));
        count = yk_gpu_buffer_multiprocessors(buffer);
        double speed = count > last ? best_of(buffer, YOKE_STREAM_READ) : 1.0;
        if (count > last) yk_calibration_add(c, curve, count, speed);
        yk_gpu_buffer_close(buffer);
        YK_TRY(failed_if(isnan(speed)));
        last = count;
    }
    return YOKE_OK;
}

yoke_status yk_gpu_calibrate_multiprocessors(yk_calibration *c, int number)
{
    YK_TRY(read_by_shares(c, number, YK_MEMORY_DEVICE, 512 * MIB, &c->profile->gpu_read_sms));
    return read_by_shares(c, number, YK_MEMORY_MAPPED, 64 * MIB, &c->profile->gpu_reads_host_sms);
}

/* ------------------------------------------------------------- host memory */

/* The GPU reads for about a tenth of a second; what the CPU reads in passes that end before it does
 * counts. */
static yoke_status read_together(yk_calibration *c, void *gpu, yoke_bandwidth *cpu, double speed)
{
    double passes = 0.1 * speed / bytes_of(gpu), sum = 0.0, last = NAN;
    int count = 0;
    YK_TRY(yk_gpu_buffer_begin(gpu, passes > 1.0 ? (int64_t)passes : 1));
    do {
        if (!isnan(last)) {
            sum += last;
            count++;
        }
        last = yoke_bandwidth_measure(cpu, YOKE_STREAM_READ);
    } while (yk_gpu_buffer_runs(gpu) && count < 10000);
    double share = yk_gpu_buffer_end(gpu);
    YK_TRY(failed_if(!(share > 0.0)));
    yk_calibration_set(c, &c->profile->gpu_reads_host_shared, share);
    yk_calibration_set(c, &c->profile->cpu_reads_host_shared, count ? sum / count : NAN);
    return YOKE_OK;
}

static yoke_status measure_together(yk_calibration *c, void *gpu, double speed)
{
    yoke_bandwidth *cpu;
    YK_TRY(yoke_bandwidth_create(c->context, c->threads, 4 * (size_t)bytes_of(gpu), &cpu));
    yoke_status status = read_together(c, gpu, cpu, speed);
    yoke_bandwidth_destroy(cpu);
    return status;
}

yoke_status yk_gpu_calibrate_host(yk_calibration *c, int number)
{
    void *buffer;
    /* With the CPU's four times as large: beyond the last caches of most. */
    YK_TRY(yk_gpu_buffer_open_as(number, 128 * MIB, YK_MEMORY_MAPPED, 0, &buffer));
    double read = best_of(buffer, YOKE_STREAM_READ);
    double write = isnan(read) ? NAN : best_of(buffer, YK_STREAM_WRITE);
    yk_calibration_set(c, &c->profile->gpu_reads_host, read);
    yk_calibration_set(c, &c->profile->gpu_writes_host, write);
    yoke_status status = failed_if(isnan(read) || isnan(write));
    if (status == YOKE_OK) status = measure_together(c, buffer, read);
    yk_gpu_buffer_close(buffer);
    return status;
}

/* ------------------------------------------------------------------ copies */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *value)
{
    qsort(value, SAMPLES, sizeof *value, ascending);
    return value[SAMPLES / 2];
}

static yoke_status time_sizes(yk_calibration *c, const yk_device *device, void *host,
                              const void *memory, size_t most)
{
    static const size_t sizes[] = {8, 4096, 65536, 262144, 1048576, 8388608};
    double seconds[SAMPLES];
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes && sizes[k] <= most; k++) {
        for (int i = 0; i < SAMPLES; i++) {
            double start = yoke_seconds();
            YK_TRY(yk_device_copy(device, host, memory, sizes[k]));
            YK_TRY(yk_device_wait(device));
            seconds[i] = yoke_seconds() - start;
        }
        yk_calibration_add(c, &c->profile->copy_time, (double)sizes[k], median(seconds));
    }
    return YOKE_OK;
}

static yoke_status time_copies(yk_calibration *c, const yk_device *device)
{
    const size_t most = 8 * MIB;
    void *host = NULL, *memory = NULL;
    yoke_status status = yk_device_allocate_pinned("pinned memory", most, &host);
    if (status == YOKE_OK)
        status = yk_device_allocate(device, "memory to copy", (int64_t)most, 1, &memory);
    if (status == YOKE_OK) status = yk_device_clear(device, memory, most);
    if (status == YOKE_OK) status = yk_device_wait(device);
    if (status == YOKE_OK) status = time_sizes(c, device, host, memory, most);
    yk_device_free(memory);
    yk_device_free_pinned(host);
    return status;
}

static yoke_status time_launches(yk_calibration *c, const yk_device *device, void *graph)
{
    double seconds[SAMPLES];
    for (int i = -1; i < SAMPLES; i++) {
        double start = yoke_seconds();
        YK_TRY(yk_device_graph_launch(device, graph));
        YK_TRY(yk_device_wait(device));
        if (i >= 0) seconds[i] = yoke_seconds() - start;
    }
    yk_calibration_set(c, &c->profile->gpu_graph_launch, median(seconds));
    return YOKE_OK;
}

static yoke_status time_graph(yk_calibration *c, const yk_device *device)
{
    void *graph = NULL;
    YK_TRY(yk_device_try(yk_latency_load(), "loading the kernels"));
    YK_TRY(yk_device_capture_begin(device));
    yoke_status status = yk_device_try(yk_latency_nothing(device->stream), "an empty kernel");
    yoke_status ended = yk_device_capture_end(device, &graph);
    if (status == YOKE_OK) status = ended;
    if (status == YOKE_OK) status = time_launches(c, device, graph);
    yk_device_graph_destroy(graph);
    return status;
}

yoke_status yk_gpu_calibrate_copies(yk_calibration *c, int number)
{
    yk_device device;
    YK_TRY(yk_device_open(number, &device));
    int previous = yk_device_enter(&device);
    yoke_status status = time_copies(c, &device), second = time_graph(c, &device);
    yk_device_leave(previous);
    yk_device_close(&device);
    return status == YOKE_OK ? second : status;
}

/* --------------------------------------------------------------------- all */

static const struct {
    const char *what;
    yoke_status (*measure)(yk_calibration *c, int number);
} steps[] = {
    {"the GPU's launches, barriers, flags and link", yk_gpu_calibrate_speeds},
    {"the GPU's memory by size", yk_gpu_calibrate_sizes},
    {"gathers of the GPU", yk_gpu_calibrate_gathers},
    {"the GPU by multiprocessors", yk_gpu_calibrate_multiprocessors},
    {"the GPU in the host's memory", yk_gpu_calibrate_host},
    {"copies by size", yk_gpu_calibrate_copies},
    {"managed pages", yk_gpu_calibrate_pages},
};

void yk_gpu_calibrate(yk_calibration *c, int number)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        yk_calibration_step(c, steps[i].what);
        yk_calibration_missed(c, steps[i].what, steps[i].measure(c, number));
    }
}
