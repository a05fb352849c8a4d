/* SPDX-License-Identifier: BSD-3-Clause */
/* bandwidth.c: how fast this machine's threads, or a GPU, read, copy and combine memory. */
#include "lib/bandwidth.h"

#include <stdlib.h>

#include "lib/context.h"
#include "lib/iface/gpu_tools.h"
#include "lib/status.h"
#include "lib/sweep.h"
#include "lib/threads.h"

enum {
    GRAIN = 6 * YK_LINE, /* lines, halves and thirds of a share are whole lines */
    ENOUGH = 32 << 20    /* bytes a measurement, so that waking the threads does not count */
};

typedef struct pass {
    yoke_bandwidth *bandwidth;
    yoke_stream what;
    int64_t times; /* over the buffer, in one go */
} pass;

static int64_t share_start(const yoke_bandwidth *b, int64_t share)
{
    return b->count / GRAIN * share / b->threads * GRAIN;
}

static void touch(void *user, int64_t first_share, int64_t last_share)
{
    yoke_bandwidth *b = user;
    int64_t last = share_start(b, last_share);
    for (int64_t i = share_start(b, first_share); i < last; i++) b->buffer[i] = 1;
}

static void sweep_once(const pass *p, int64_t share)
{
    yoke_bandwidth *b = p->bandwidth;
    int64_t first = share_start(b, share), count = share_start(b, share + 1) - first;
    double *at = b->buffer + first;
    size_t lines = (size_t)(count / YK_LINE);
    switch (p->what) {
    case YOKE_STREAM_READ: b->sums[share * YK_LINE] = yk_sweep_read(at, lines); break;
    case YOKE_STREAM_COPY: yk_sweep_copy(at + count / 2, at, lines / 2); break;
    case YOKE_STREAM_TRIAD:
        yk_sweep_triad(at, at + count / 3, at + 2 * (count / 3), 0.5, lines / 3);
        break;
    }
}

static void sweep(void *user, int64_t share, int64_t last_share)
{
    (void)last_share; /* one share a call */
    const pass *p = user;
    for (int64_t k = 0; k < p->times; k++) sweep_once(p, share);
}

static yoke_status allocate(yoke_bandwidth *b)
{
    YK_TRY(yk_alloc(b->context, "bandwidth buffer", b->count, sizeof(double), &b->buffer));
    return yk_alloc(b->context, "bandwidth sums", (int64_t)b->threads * YK_LINE, sizeof(double),
                    &b->sums);
}

yoke_status yoke_bandwidth_create(yoke_context *context, int threads, size_t bytes,
                                  yoke_bandwidth **bandwidth)
{
    if (!context || !bandwidth)
        return yk_fail(YOKE_INVALID, "%s is NULL", context ? "bandwidth" : "context");
    if (threads < 0 || threads > 65536)
        return yk_fail(YOKE_INVALID, "threads is %d, expected 0 to 65536", threads);
    if (bytes > (size_t)PTRDIFF_MAX - GRAIN * sizeof(double))
        return yk_fail(YOKE_OVERFLOW, "a buffer of %zu bytes exceeds what an index can hold",
                       bytes);
    yoke_bandwidth *b = calloc(1, sizeof *b);
    if (!b) return yk_fail(YOKE_NO_MEMORY, "no memory for %zu bytes", sizeof *b);
    size_t grains = (bytes + GRAIN * sizeof(double) - 1) / (GRAIN * sizeof(double));
    b->context = context;
    b->threads = yk_threads(context, threads);
    b->count = (int64_t)(grains ? grains : 1) * GRAIN;
    yk_context_retain(context);
    yoke_status status = allocate(b);
    if (status != YOKE_OK) {
        yoke_bandwidth_destroy(b);
        return status;
    }
    yk_parallel_for(b->threads, b->threads, 1, touch, b);
    *bandwidth = b;
    return YOKE_OK;
}

yoke_status yoke_bandwidth_create_on_gpu(yoke_context *context, int device, size_t bytes,
                                         yoke_bandwidth **bandwidth)
{
    const yk_gpu_tools *tools = yk_gpu_tools_built();
    if (!context || !bandwidth)
        return yk_fail(YOKE_INVALID, "%s is NULL", context ? "bandwidth" : "context");
    if (!tools) return yk_fail(YOKE_NOT_BUILT, "device %d: this build has no CUDA", device);
    yoke_bandwidth *b = calloc(1, sizeof *b);
    if (!b) return yk_fail(YOKE_NO_MEMORY, "no memory for %zu bytes", sizeof *b);
    yoke_status status = tools->buffer_open(device, bytes, &b->on_gpu);
    if (status != YOKE_OK) {
        free(b);
        return status;
    }
    b->context = context;
    b->count = tools->buffer_count(b->on_gpu);
    yk_context_retain(context);
    *bandwidth = b;
    return YOKE_OK;
}

double yoke_bandwidth_measure(yoke_bandwidth *b, yoke_stream what)
{
    if (b->on_gpu) return yk_gpu_tools_built()->buffer_measure(b->on_gpu, (int)what);
    int64_t bytes = b->count * (int64_t)sizeof(double);
    pass p = {b, what, bytes < ENOUGH ? ENOUGH / bytes : 1};
    double start = yoke_seconds();
    yk_parallel_for(b->threads, b->threads, 1, sweep, &p);
    double seconds = yoke_seconds() - start;
    return seconds > 0 ? (double)bytes * (double)p.times / seconds : 0;
}

void yoke_bandwidth_destroy(yoke_bandwidth *b)
{
    if (!b) return;
    if (b->on_gpu) {
        yk_gpu_tools_built()->buffer_close(b->on_gpu);
    } else {
        yk_free(b->context, b->buffer, b->count, sizeof(double));
        yk_free(b->context, b->sums, (int64_t)b->threads * YK_LINE, sizeof(double));
    }
    yk_context_release(b->context);
    free(b);
}
