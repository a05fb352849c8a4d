/* SPDX-License-Identifier: BSD-3-Clause */
/* buffer.c: device memory, never managed: asking for more managed memory than a card has free can
 * hang it. */
#include "lib/cuda/buffer.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>

#include "lib/cuda/bandwidth.h"
#include "lib/cuda/device.h"
#include "lib/cuda/gather.h"
#include "lib/iface/gpu_tools.h"
#include "lib/status.h"

#define CUDA_TRY(call) YK_TRY(yk_device_try(call, #call))

/* Bytes a measurement, a millisecond or so; over a link five: the gap before a kernel does not
 * count. */
#define ENOUGH           ((int64_t)1 << 32)
#define ENOUGH_OVER_LINK ((int64_t)1 << 28)

/* Of all threads that a multiprocessor holds, twice: what ends early makes room. */
enum { BLOCKS_A_MULTIPROCESSOR = 16 };

typedef struct buffer {
    yk_device device;
    yk_gpu_sweep sweep;
    cudaEvent_t begin, end;
    int64_t passes; /* of the last reading measure */
    yk_memory kind;
} buffer;

static int64_t bytes_of(const buffer *b)
{
    return b->sweep.tiles * YK_TILE * (int64_t)sizeof(double);
}

/* Whole grains for the bytes asked, but no more than seven eighths of what is free. */
static int64_t tiles_for(const buffer *b, size_t bytes)
{
    const size_t grain = (size_t)YK_GRAIN_TILES * YK_TILE * sizeof(double);
    size_t most = b->device.free_bytes / 8 * 7 / grain, wanted = bytes / grain + 1;
    if (wanted > most) wanted = most;
    return (int64_t)(wanted > 0 ? wanted : 1) * YK_GRAIN_TILES;
}

static yoke_status fill(buffer *b)
{
    yk_gpu_sweep *s = &b->sweep;
    s->blocks = BLOCKS_A_MULTIPROCESSOR * b->device.multiprocessors;
    CUDA_TRY(cudaEventCreate(&b->begin));
    CUDA_TRY(cudaEventCreate(&b->end));
    YK_TRY(yk_device_allocate_in(&b->device, b->kind, "bandwidth buffer", s->tiles * YK_TILE,
                                 sizeof(double), &s->memory));
    YK_TRY(yk_device_allocate(&b->device, "bandwidth sums", (int64_t)s->blocks * YK_SWEEP_WARPS,
                              sizeof(double), &s->sums));
    YK_TRY(yk_device_try(yk_gpu_sweep_launch(s, YK_STREAM_WRITE, 1, b->device.stream),
                         "filling the bandwidth buffer"));
    return yk_device_wait(&b->device);
}

yoke_status yk_gpu_buffer_open(int number, size_t bytes, void **out)
{
    return yk_gpu_buffer_open_as(number, bytes, YK_MEMORY_DEVICE, 0, out);
}

yoke_status yk_gpu_buffer_open_as(int number, size_t bytes, yk_memory kind, int multiprocessors,
                                  void **out)
{
    buffer *b = calloc(1, sizeof *b);
    if (!b) return yk_fail(YOKE_NO_MEMORY, "no memory for %zu bytes", sizeof *b);
    yoke_status status = yk_device_open(number, &b->device);
    if (status != YOKE_OK) {
        free(b);
        return status;
    }
    b->kind = kind;
    b->sweep.tiles = tiles_for(b, bytes);
    int previous = yk_device_enter(&b->device);
    if (multiprocessors > 0) status = yk_device_limit_multiprocessors(&b->device, multiprocessors);
    if (status == YOKE_OK) status = fill(b);
    yk_device_leave(previous);
    if (status != YOKE_OK) {
        yk_gpu_buffer_close(b);
        return status;
    }
    *out = b;
    return YOKE_OK;
}

int64_t yk_gpu_buffer_count(const void *buffer_)
{
    const buffer *b = buffer_;
    return b->sweep.tiles * YK_TILE;
}

static yoke_status time_sweep(buffer *b, int what, int64_t passes, double *seconds)
{
    float milliseconds = 0.0f;
    cudaStream_t stream = b->device.stream;
    CUDA_TRY(cudaEventRecord(b->begin, stream));
    YK_TRY(yk_device_try(yk_gpu_sweep_launch(&b->sweep, what, passes, stream), "a sweep"));
    CUDA_TRY(cudaEventRecord(b->end, stream));
    CUDA_TRY(cudaEventSynchronize(b->end));
    CUDA_TRY(cudaEventElapsedTime(&milliseconds, b->begin, b->end));
    *seconds = 1e-3 * (double)milliseconds;
    return YOKE_OK;
}

double yk_gpu_buffer_measure(void *buffer_, int what)
{
    buffer *b = buffer_;
    double seconds = 0.0;
    int64_t enough = b->kind == YK_MEMORY_DEVICE ? ENOUGH : ENOUGH_OVER_LINK;
    int64_t passes = bytes_of(b) < enough ? enough / bytes_of(b) : 1;
    int previous = yk_device_enter(&b->device);
    yoke_status status = time_sweep(b, what, passes, &seconds);
    yk_device_leave(previous);
    if (what == YOKE_STREAM_READ) b->passes = passes;
    if (status != YOKE_OK || !(seconds > 0.0)) return 0.0;
    return (double)bytes_of(b) * (double)passes / seconds;
}

int yk_gpu_buffer_multiprocessors(const void *buffer_)
{
    const buffer *b = buffer_;
    return b->device.multiprocessors;
}

/* ----------------------------------------------------------------- gathers */

static yoke_status time_gathers(buffer *b, size_t bytes, double *gathers, double *seconds)
{
    float milliseconds = 0.0f;
    cudaStream_t stream = b->device.stream;
    yk_gpu_gathers g = {.vector = b->sweep.memory,
                        .mask = bytes / sizeof(double) - 1,
                        .sums = b->sweep.sums,
                        .blocks = b->sweep.blocks};
    CUDA_TRY(cudaEventRecord(b->begin, stream));
    YK_TRY(yk_device_try(yk_gpu_gather_launch(&g, stream), "gathers"));
    CUDA_TRY(cudaEventRecord(b->end, stream));
    CUDA_TRY(cudaEventSynchronize(b->end));
    CUDA_TRY(cudaEventElapsedTime(&milliseconds, b->begin, b->end));
    *seconds = 1e-3 * (double)milliseconds;
    *gathers = (double)g.blocks * YK_GATHERS_OF_BLOCK;
    return YOKE_OK;
}

double yk_gpu_buffer_gather(void *buffer_, size_t bytes)
{
    buffer *b = buffer_;
    double seconds = 0.0, gathers = 0.0;
    if ((int64_t)bytes > bytes_of(b)) return 0.0;
    int previous = yk_device_enter(&b->device);
    yoke_status status = time_gathers(b, bytes, &gathers, &seconds);
    yk_device_leave(previous);
    return status == YOKE_OK && seconds > 0.0 ? gathers / seconds : 0.0;
}

/* -------------------------------------------------- reading beside the host */

static yoke_status begin(buffer *b)
{
    CUDA_TRY(cudaEventRecord(b->begin, b->device.stream));
    YK_TRY(yk_device_try(
        yk_gpu_sweep_launch(&b->sweep, YOKE_STREAM_READ, b->passes, b->device.stream), "a sweep"));
    CUDA_TRY(cudaEventRecord(b->end, b->device.stream));
    return YOKE_OK;
}

yoke_status yk_gpu_buffer_begin(void *buffer_, int64_t passes)
{
    buffer *b = buffer_;
    b->passes = passes;
    int previous = yk_device_enter(&b->device);
    yoke_status status = begin(b);
    yk_device_leave(previous);
    return status;
}

bool yk_gpu_buffer_runs(void *buffer_)
{
    buffer *b = buffer_;
    bool idle = true;
    int previous = yk_device_enter(&b->device);
    yoke_status status = yk_device_look(&b->device, &idle);
    yk_device_leave(previous);
    return status == YOKE_OK && !idle;
}

static yoke_status end(buffer *b, double *seconds)
{
    float milliseconds = 0.0f;
    CUDA_TRY(cudaEventSynchronize(b->end));
    CUDA_TRY(cudaEventElapsedTime(&milliseconds, b->begin, b->end));
    *seconds = 1e-3 * (double)milliseconds;
    return YOKE_OK;
}

double yk_gpu_buffer_end(void *buffer_)
{
    buffer *b = buffer_;
    double seconds = 0.0;
    int previous = yk_device_enter(&b->device);
    yoke_status status = end(b, &seconds);
    yk_device_leave(previous);
    if (status != YOKE_OK || !(seconds > 0.0)) return 0.0;
    return (double)bytes_of(b) * (double)b->passes / seconds;
}

static yoke_status add_sums(buffer *b, double *sum)
{
    int64_t count = (int64_t)b->sweep.blocks * YK_SWEEP_WARPS;
    double *sums = malloc((size_t)count * sizeof *sums);
    if (!sums) return yk_fail(YOKE_NO_MEMORY, "no memory for %lld sums", (long long)count);
    yoke_status status =
        yk_device_copy(&b->device, sums, b->sweep.sums, (size_t)count * sizeof *sums);
    if (status == YOKE_OK) status = yk_device_wait(&b->device);
    *sum = 0.0;
    for (int64_t i = 0; status == YOKE_OK && i < count; i++) *sum += sums[i];
    free(sums);
    return status;
}

double yk_gpu_buffer_sum(void *buffer_)
{
    buffer *b = buffer_;
    double sum = NAN;
    if (b->passes == 0) return sum;
    int previous = yk_device_enter(&b->device);
    yoke_status status = add_sums(b, &sum);
    yk_device_leave(previous);
    return status == YOKE_OK ? sum / (double)b->passes : NAN;
}

void yk_gpu_buffer_close(void *buffer_)
{
    buffer *b = buffer_;
    if (!b) return;
    int previous = yk_device_enter(&b->device);
    if (b->begin) cudaEventDestroy(b->begin);
    if (b->end) cudaEventDestroy(b->end);
    yk_device_free(b->sweep.memory);
    yk_device_free(b->sweep.sums);
    yk_device_leave(previous);
    yk_device_close(&b->device);
    free(b);
}
