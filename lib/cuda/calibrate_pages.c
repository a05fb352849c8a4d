/* SPDX-License-Identifier: BSD-3-Clause */
/* calibrate_pages.c: managed memory on its way between a GPU and the host: asked to move, moved by
 * whoever touches it, and one page that both touch in turn. A small piece, never beyond what the
 * device has free: asking for more can hang it for everyone. */
#include <cuda_runtime_api.h>
#include <math.h>
#include <string.h>

#include "lib/cuda/bandwidth.h"
#include "lib/cuda/calibrate.h"
#include "lib/cuda/device.h"
#include "lib/cuda/gather.h"
#include "lib/cuda/shared.h"
#include "lib/iface/gpu_tools.h"
#include "lib/status.h"
#include "lib/sweep.h"
#include "lib/threads.h"

#define CUDA_TRY(call) YK_TRY(yk_device_try(call, #call))

/* Whole tiles of the sweep's kernel, some 64 MiB. */
enum { TILES = 4096 / YK_GRAIN_TILES * YK_GRAIN_TILES, ROUNDS = 64, TRIES = 3, BLOCKS = 16 };

typedef struct pages {
    yk_calibration *c;
    yk_device device;
    double *memory; /* [TILES * YK_TILE], managed */
    double *sums;
    size_t bytes;
} pages;

static yoke_status move(const pages *p, bool to_gpu)
{
#if CUDART_VERSION >= 13000
    const struct cudaMemLocation gpu = {.type = cudaMemLocationTypeDevice, .id = p->device.number};
    const struct cudaMemLocation host = {.type = cudaMemLocationTypeHost, .id = 0};
    CUDA_TRY(cudaMemPrefetchAsync(p->memory, p->bytes, to_gpu ? gpu : host, 0, p->device.stream));
#else
    CUDA_TRY(cudaMemPrefetchAsync(p->memory, p->bytes, to_gpu ? p->device.number : cudaCpuDeviceId,
                                  p->device.stream));
#endif
    return yk_device_wait(&p->device);
}

static void touch_share(void *user, int64_t first, int64_t last)
{
    double *memory = user;
    for (int64_t i = first; i < last; i++) memory[i] = 1.0;
}

static void read_share(void *user, int64_t first, int64_t last)
{
    const pages *p = user;
    volatile double sum = yk_sweep_read(p->memory + first, (size_t)(last - first) / YK_LINE);
    (void)sum;
}

static yoke_status read_on_gpu(const pages *p)
{
    yk_gpu_sweep sweep = {p->memory, TILES, p->sums, BLOCKS * p->device.multiprocessors};
    YK_TRY(yk_device_try(yk_gpu_sweep_launch(&sweep, YOKE_STREAM_READ, 1, p->device.stream),
                         "a sweep over managed memory"));
    return yk_device_wait(&p->device);
}

static yoke_status read_on_cpu(const pages *p)
{
    yk_parallel_for(p->c->threads, (int64_t)TILES * YK_TILE, YK_LINE, read_share, (void *)p);
    return YOKE_OK;
}

static yoke_status to_gpu(const pages *p)
{
    return move(p, true);
}

static yoke_status to_cpu(const pages *p)
{
    return move(p, false);
}

/* Bytes a second of the second, each time after the first; the best of some. */
static yoke_status time_after(const pages *p, yoke_status (*before)(const pages *),
                              yoke_status (*timed)(const pages *), yk_figure *figure)
{
    double best = NAN;
    for (int i = 0; i < TRIES; i++) {
        YK_TRY(before(p));
        double start = yoke_seconds();
        YK_TRY(timed(p));
        best = fmin(best, yoke_seconds() - start);
    }
    if (best > 0.0) yk_calibration_set(p->c, figure, (double)p->bytes / best);
    return YOKE_OK;
}

/* The launch, and waiting for it, is not the page's. */
static yoke_status time_round_trip(const pages *p)
{
    unsigned *word = (unsigned *)(void *)p->memory;
    double launch = yk_figure_or(&p->c->profile->gpu_launch_sync, 0.0), start = 0.0;
    for (int round = -1; round < ROUNDS; round++) {
        if (round == 0) start = yoke_seconds();
        ++*(volatile unsigned *)word;
        YK_TRY(yk_device_try(yk_gpu_touch_launch(word, p->device.stream), "touching a page"));
        YK_TRY(yk_device_wait(&p->device));
    }
    double seconds = (yoke_seconds() - start) / ROUNDS - launch;
    yk_calibration_set(p->c, &p->c->profile->page_round_trip, seconds > 0.0 ? seconds : NAN);
    return YOKE_OK;
}

/* Where the CPU reaches the GPU's memory it reads there, and moves nothing. */
static yoke_status measure(const pages *p)
{
    yk_profile *profile = p->c->profile;
    bool coherent = yk_figure_or(&profile->coherent, 0.0) > 0.0;
    yk_parallel_for(p->c->threads, (int64_t)TILES * YK_TILE, YK_LINE, touch_share, p->memory);
    YK_TRY(yk_device_try(yk_gpu_gather_load(), "loading the kernels"));
    YK_TRY(time_after(p, to_cpu, to_gpu, &profile->page_migration_to_gpu));
    YK_TRY(time_after(p, to_gpu, to_cpu, &profile->page_migration_to_cpu));
    YK_TRY(time_after(p, to_cpu, read_on_gpu, &profile->page_faults_to_gpu));
    YK_TRY(time_after(p, to_gpu, read_on_cpu,
                      coherent ? &profile->cpu_reads_gpu : &profile->page_faults_to_cpu));
    return time_round_trip(p);
}

static yoke_status measure_within(pages *p)
{
    YK_TRY(yk_device_reserve_managed(&p->device, p->bytes));
    YK_TRY(yk_device_allocate(&p->device, "sums",
                              (int64_t)BLOCKS * p->device.multiprocessors * YK_SWEEP_WARPS,
                              sizeof(double), &p->sums));
    CUDA_TRY(cudaMallocManaged((void **)&p->memory, p->bytes, cudaMemAttachGlobal));
    yoke_status status = measure(p);
    yk_device_wait(&p->device);
    cudaFree(p->memory);
    return status;
}

yoke_status yk_gpu_calibrate_pages(yk_calibration *c, int number)
{
    pages p = {.c = c, .bytes = (size_t)TILES * YK_TILE * sizeof(double)};
    const char *reason = yk_shared_no_managed(number);
    if (*reason) return yk_fail(YOKE_UNUSABLE, "%s", reason);
    YK_TRY(yk_device_open(number, &p.device));
    int previous = yk_device_enter(&p.device);
    yoke_status status = measure_within(&p);
    yk_device_free(p.sums);
    yk_device_leave(previous);
    yk_device_close(&p.device);
    return status;
}
