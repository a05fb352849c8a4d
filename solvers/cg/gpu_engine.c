/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_engine.c: a part on a GPU: its memory, its vectors, and the tasks outside the loop. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/context.h"
#include "lib/cuda/shared.h"
#include "lib/status.h"
#include "solvers/cg/gpu_state.h"
#include "solvers/cg/gpus.h"
#include "solvers/cg/timing.h"

bool yk_gpu_ok(yk_cg *cg, yoke_status status)
{
    if (cg->status == YOKE_OK) cg->status = status;
    return cg->status == YOKE_OK;
}

yk_gpu_view yk_gpu_view_of(const yk_cg *cg, int newest_p)
{
    const struct yk_gpu_state *gpu = cg->gpu;
    yk_gpu_view view = {.rows = yk_cg_view(cg, yk_gpu_part(cg), &cg->s, newest_p),
                        .sell = yk_gpu_sell_of(gpu),
                        .spill = yk_gpu_spill_of(gpu),
                        .format = gpu->format,
                        .sums = gpu->sums,
                        .walk = gpu->walk};
    view.rows.csr.start32 = gpu->wide_start ? NULL : gpu->start;
    view.rows.csr.start64 = gpu->wide_start ? gpu->start : NULL;
    view.rows.csr.column = gpu->csr_column;
    view.rows.csr.value = gpu->csr_value;
    view.rows.stream_q = 0;
    return view;
}

/* ------------------------------------------------------------------ memory */

/* Of a task's sums and its largest magnitude, which lie together. */
static const size_t total_bytes = (YK_DOTS + 1) * sizeof(double);

/* Chunks a multiprocessor, from which on its warps take one each. */
enum { CHUNKS_FOR_WARPS = 4 };

/* More chunks a block save sums on their way, as long as there are blocks for every
 * multiprocessor; but what a block leaves to the others of several GPUs shall be a node of the
 * system's tree. */
static void choose_walk(struct yk_gpu_state *gpu, bool aligned, int64_t chunks, int streams,
                        int one_sum)
{
    yk_gpu_walk *walk = &gpu->walk;
    walk->multiprocessors = gpu->device.multiprocessors;
    walk->by_warps = aligned && chunks >= (int64_t)CHUNKS_FOR_WARPS * walk->multiprocessors;
    walk->one_sum = one_sum;
    walk->streams = walk->overlaps = streams;
    walk->chunks = 1;
    while (aligned && walk->chunks < 8 && chunks / (2 * walk->chunks) >= 16 * walk->multiprocessors)
        walk->chunks *= 2;
}

/* The nodes of each level, with room for a block a chunk, and in all; and the counters. */
typedef struct sums_size {
    size_t count[YK_SUM_LEVELS + 1], nodes, counters;
} sums_size;

static sums_size count_sums(int64_t rows)
{
    sums_size size = {.count = {(size_t)yk_chunks(rows) + 1}};
    for (int level = 0; level < YK_SUM_LEVELS; level++) {
        size.count[level + 1] = (size.count[level] + YK_SUM_GROUP - 1) / YK_SUM_GROUP;
        size.nodes += size.count[level];
        size.counters += size.count[level + 1];
    }
    return size;
}

static size_t sums_bytes(const sums_size *size)
{
    return (size->nodes + 2) * YK_DOTS * sizeof(double) + size->counters * sizeof(unsigned);
}

/* One allocation for the nodes of all levels, then the counters, then totals. */
static yoke_status allocate_sums(struct yk_gpu_state *gpu, int64_t rows)
{
    yk_gpu_sums *sums = &gpu->sums;
    const sums_size size = count_sums(rows);
    size_t bytes = sums_bytes(&size);
    YK_TRY(yk_device_allocate(&gpu->device, "partial sums", (int64_t)bytes, 1, &gpu->sums_memory));
    double *node = gpu->sums_memory;
    unsigned *arrived = (void *)(node + (size.nodes + 2) * YK_DOTS);
    for (int level = 0; level < YK_SUM_LEVELS; level++) {
        sums->node[level] = node;
        sums->arrived[level] = arrived;
        node += size.count[level] * YK_DOTS;
        arrived += size.count[level + 1];
    }
    sums->total = node;
    sums->largest = (void *)(node + YK_DOTS);
    return yk_device_clear(&gpu->device, gpu->sums_memory, bytes);
}

/* Why the device does not reach what the home needs; "" if it does. */
static const char *reason_of(const yk_home *home, int device)
{
    if (home->kind == YK_HOME_SPILL || home->memory == YK_MEMORY_MAPPED)
        return yk_shared_no_mapped(device);
    if (home->memory == YK_MEMORY_MANAGED) return yk_shared_no_managed(device);
    return home->memory == YK_MEMORY_SYSTEM ? yk_shared_no_plain(device) : "";
}

/* As the plan takes the device to be. */
static yoke_status limit(yk_cg *cg)
{
    yk_device *device = &cg->gpu->device;
    device->context = cg->context;
    device->limit = cg->gpu_memory;
    device->plain = cg->home.memory == YK_MEMORY_SYSTEM;
    const char *reason = reason_of(&cg->home, device->number);
    if (*reason)
        return yk_fail(YOKE_UNUSABLE, "home %s: %s",
                       cg->home.kind == YK_HOME_SPILL ? "spill" : "shared", reason);
    if (cg->gpu_sms > 0) YK_TRY(yk_device_limit_multiprocessors(device, cg->gpu_sms));
    cg->multiprocessors = device->multiprocessors;
    return YOKE_OK;
}

static yoke_status open_here(yk_cg *cg)
{
    struct yk_gpu_state *gpu = cg->gpu;
    int streams = 0;
    YK_TRY(limit(cg));
    YK_TRY(yk_device_try(yk_gpu_has_streams(&streams), "loading a kernel"));
    choose_walk(gpu, !cg->several || cg->first_chunk % YK_GPUS_CHUNKS == 0,
                yk_chunks(yk_gpu_part(cg)->rows), streams, cg->recurrence != YK_CLASSICAL);
    YK_TRY(yk_device_try(yk_gpu_load_kernels(&gpu->walk), "loading the kernels"));
    YK_TRY(allocate_sums(gpu, yk_gpu_part(cg)->rows));
    YK_TRY(yk_device_allocate(&gpu->device, "loop state", 1, sizeof *gpu->loop, &gpu->loop));
    YK_TRY(yk_device_allocate_pinned("loop state", sizeof *gpu->staged, &gpu->staged));
    for (int i = 0; i < 2; i++)
        YK_TRY(yk_device_allocate_pinned("loop state", YK_GPU_LOOP_HEAD, &gpu->seen[i]));
    YK_TRY(yk_gpu_open_exchange(cg));
    return yk_device_allocate_pinned("sums", total_bytes, &gpu->total);
}

static void state_bytes(const yk_cg *cg, size_t *host, size_t *device)
{
    const sums_size sums = count_sums(yk_gpu_part(cg)->rows);
    *device = sums_bytes(&sums) + sizeof(yk_gpu_loop);
    *host = sizeof(struct yk_gpu_state) + sizeof(yk_gpu_loop) + 2 * YK_GPU_LOOP_HEAD + total_bytes +
            yk_gpu_exchange_bytes(cg);
}

static yoke_status reserve(yk_cg *cg, const yk_part *part, size_t bytes, size_t managed)
{
    (void)part;
    const yk_device *device = &cg->gpu->device;
    int previous = yk_device_enter(device);
    yoke_status status = yk_device_reserve(device, bytes + managed);
    if (status == YOKE_OK && managed > 0) status = yk_device_reserve_managed(device, managed);
    yk_device_leave(previous);
    return status;
}

/* cudaMalloc takes large blocks by 2 MiB; a plan makes at most 20. A smaller card is pretended to
 * the byte. */
enum { ROUNDING = 20 * 2 << 20 };

static yoke_status available(yk_cg *cg, size_t *bytes)
{
    if (!cg->gpu) return yk_fail(YOKE_UNUSABLE, "no device is open");
    const yk_device *device = &cg->gpu->device;
    int previous = yk_device_enter(device);
    yoke_status status = yk_device_free_now(device, bytes);
    yk_device_leave(previous);
    if (status == YOKE_OK && device->limit == 0) *bytes -= *bytes < ROUNDING ? *bytes : ROUNDING;
    return status;
}

static yoke_status open_gpu(yk_cg *cg)
{
    struct yk_gpu_state *gpu = calloc(1, sizeof *gpu);
    if (!gpu) return yk_fail(YOKE_NO_MEMORY, "no memory for the state of a GPU");
    yoke_status status = yk_device_open(cg->device, &gpu->device);
    if (status != YOKE_OK) {
        free(gpu);
        return status;
    }
    cg->gpu = gpu;
    int previous = yk_device_enter(&gpu->device);
    status = open_here(cg);
    yk_device_leave(previous);
    return status;
}

static void close_gpu(yk_cg *cg)
{
    struct yk_gpu_state *gpu = cg->gpu;
    if (!gpu) return;
    int previous = yk_device_enter(&gpu->device);
    for (int i = 0; i < YK_GPU_GRAPHS; i++) yk_device_graph_destroy(gpu->graph[i]);
    for (int i = 0; i < 2; i++) yk_device_free_pinned(gpu->seen[i]);
    yk_device_free_pinned(gpu->staged);
    yk_device_free_pinned(gpu->total);
    yk_gpu_close_exchange(cg);
    yk_gpu_free_matrix(gpu);
    yk_device_free(gpu->sums_memory);
    yk_device_free(gpu->loop);
    yk_device_leave(previous);
    yk_device_close(&gpu->device);
    free(gpu);
    cg->gpu = NULL;
}

static yoke_status allocate(yk_cg *cg, const yk_part *part, const char *what, int64_t count,
                            double **vector)
{
    (void)part;
    int previous = yk_device_enter(&cg->gpu->device);
    yoke_status status = yk_device_allocate_in(&cg->gpu->device, cg->home.memory, what, count,
                                               sizeof(double), vector);
    if (status == YOKE_OK)
        status = yk_device_clear(&cg->gpu->device, *vector, (size_t)count * sizeof(double));
    yk_device_leave(previous);
    return status;
}

static void release(yk_cg *cg, const yk_part *part, double *vector, int64_t count)
{
    (void)part, (void)count;
    if (!cg->gpu) return;
    int previous = yk_device_enter(&cg->gpu->device);
    yk_device_free(vector);
    yk_device_leave(previous);
}

/* ----------------------------------------------------------------- vectors */

static yoke_status load_vector(yk_cg *cg, const yk_part *part, double *to, const double *from,
                               int64_t count)
{
    (void)part;
    int previous = yk_device_enter(&cg->gpu->device);
    yoke_status status = yk_device_copy(&cg->gpu->device, to, from, (size_t)count * sizeof *to);
    if (status == YOKE_OK) status = yk_device_wait(&cg->gpu->device);
    yk_device_leave(previous);
    return status;
}

/* ------------------------------------------------------------------- tasks */

static yoke_status run_here(yk_cg *cg, yk_task task, double argument, double *total)
{
    struct yk_gpu_state *gpu = cg->gpu;
    yk_gpu_view view = yk_gpu_view_of(cg, cg->newest_p);
    view.rows.argument = argument;
    if (yk_task_is_largest(task))
        YK_TRY(yk_device_clear(&gpu->device, gpu->sums.largest, sizeof(double)));
    YK_TRY(yk_device_try(yk_gpu_launch(&view, task, NULL, gpu->device.stream), "a task's kernel"));
    if (!total) return YOKE_OK;
    /* largest follows total: one copy brings both */
    YK_TRY(yk_device_copy(&gpu->device, gpu->total, gpu->sums.total, total_bytes));
    YK_TRY(yk_device_wait(&gpu->device));
    if (yk_task_is_largest(task))
        memcpy(total, gpu->total + YK_DOTS, sizeof *total);
    else
        memcpy(total, gpu->total, (size_t)yk_task_dots(task) * sizeof *total);
    return YOKE_OK;
}

static void run(yk_cg *cg, yk_task task, double argument, double *total)
{
    int dots = yk_task_dots(task);
    if (total) memset(total, 0, (size_t)dots * sizeof *total);
    if (cg->status != YOKE_OK || cg->rows == 0) return;
    int previous = yk_device_enter(&cg->gpu->device);
    yk_gpu_ok(cg, run_here(cg, task, argument, total));
    yk_device_leave(previous);
}

static yoke_status import_here(yk_cg *cg, const double *b, const double *x0)
{
    const yk_device *device = &cg->gpu->device;
    const yk_part *part = yk_gpu_part(cg);
    size_t bytes = (size_t)part->rows * sizeof(double);
    YK_TRY(yk_device_copy(device, part->b, b, bytes));
    if (x0)
        YK_TRY(yk_device_copy(device, part->x, x0, bytes));
    else
        YK_TRY(yk_device_clear(device, part->x, bytes));
    YK_TRY(yk_device_clear(device, part->p, bytes + (size_t)part->halo * sizeof(double)));
    if (cg->folded) YK_TRY(yk_device_clear(device, part->p_old, bytes));
    return YOKE_OK;
}

static void import(yk_cg *cg, const double *b, const double *x0)
{
    int previous = yk_device_enter(&cg->gpu->device);
    yk_gpu_ok(cg, import_here(cg, b, x0));
    yk_device_leave(previous);
}

/* x is scaled in place: nothing needs it any more. */
static yoke_status export_here(yk_cg *cg, double *x, double factor)
{
    const yk_device *device = &cg->gpu->device;
    if (factor != 1.0) run(cg, YK_TASK_SCALE, factor, NULL);
    YK_TRY(cg->status);
    const yk_part *part = yk_gpu_part(cg);
    YK_TRY(yk_device_copy(device, x, part->x, (size_t)part->rows * sizeof(double)));
    return yk_device_wait(device);
}

static void export(yk_cg *cg, double *x, double factor)
{
    if (cg->status != YOKE_OK) return;
    int previous = yk_device_enter(&cg->gpu->device);
    yk_gpu_ok(cg, export_here(cg, x, factor));
    yk_device_leave(previous);
}

const yk_engine yk_engine_gpu = {
    .name = "gpu",
    .open = open_gpu,
    .close = close_gpu,
    .allocate = allocate,
    .release = release,
    .state_bytes = state_bytes,
    .reserve = reserve,
    .available = available,
    .load_matrix = yk_gpu_load_matrix,
    .use_format = yk_gpu_use_format,
    .keep_format = yk_gpu_keep_format,
    .load_values = yk_gpu_load_values,
    .load_vector = load_vector,
    .run = run,
    .apply = yk_gpu_apply,
    .clear = yk_gpu_clear,
    .time_tasks = yk_gpu_time_tasks,
    .import = import,
    .export = export,
};
