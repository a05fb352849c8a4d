/* SPDX-License-Identifier: BSD-3-Clause */
/* gpus.c: the engine of a plan whose rows lie on several GPUs: each has a part, and what is done
 * outside the loop is done by all at once. Inside the loop: gpus_drivers.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/status.h"
#include "solvers/cg/gpus_state.h"
#include "solvers/cg/timing.h"

yk_cg yk_gpus_cg(const yk_cg *cg, int i)
{
    yk_cg one = *cg;
    one.part = &cg->part[i];
    one.parts = one.gpus = 1;
    one.rows = one.part->rows;
    one.first_chunk = cg->first_chunk + one.part->first / YK_CHUNK;
    one.gpu = cg->several->one[i].gpu;
    one.device = cg->gpu_device[i];
    if (i > 0) one.history_capacity = 0; /* what one records, all would */
    return one;
}

static int number_of(const yk_cg *cg, const yk_part *part)
{
    return (int)(part - cg->part);
}

/* ------------------------------------------------------------------ memory */

static yoke_status open_one(yk_cg *cg, int i)
{
    yk_cg one = yk_gpus_cg(cg, i);
    yoke_status status = yk_engine_gpu.open(&one);
    cg->several->one[i].gpu = one.gpu;
    if (i == 0 || one.multiprocessors < cg->multiprocessors)
        cg->multiprocessors = one.multiprocessors;
    return status;
}

static yoke_status open_all(yk_cg *cg)
{
    cg->several = calloc(1, sizeof *cg->several);
    if (!cg->several) return yk_fail(YOKE_NO_MEMORY, "no memory for the state of GPUs");
    for (int i = 0; i < cg->gpus; i++) YK_TRY(open_one(cg, i));
    return yk_gpus_open_inboxes(cg);
}

static void close_all(yk_cg *cg)
{
    if (!cg->several) return;
    yk_gpus_close_inboxes(cg);
    for (int i = 0; i < cg->gpus; i++) {
        yk_cg one = yk_gpus_cg(cg, i);
        yk_engine_gpu.close(&one);
    }
    free(cg->several);
    cg->several = NULL;
}

static yoke_status allocate(yk_cg *cg, const yk_part *part, const char *what, int64_t count,
                            double **vector)
{
    yk_cg one = yk_gpus_cg(cg, number_of(cg, part));
    return yk_engine_gpu.allocate(&one, part, what, count, vector);
}

static void release(yk_cg *cg, const yk_part *part, double *vector, int64_t count)
{
    if (!cg->several) return;
    yk_cg one = yk_gpus_cg(cg, number_of(cg, part));
    yk_engine_gpu.release(&one, part, vector, count);
}

/* As if the inboxes lay on the devices. */
static void state_bytes(const yk_cg *cg, size_t *host, size_t *device)
{
    *host = sizeof *cg->several + sizeof(yk_abort);
    *device = 0;
    for (int i = 0; i < cg->gpus; i++) {
        yk_cg one = *cg;
        size_t of_host, of_device;
        one.part = &cg->part[i];
        yk_engine_gpu.state_bytes(&one, &of_host, &of_device);
        *host += of_host;
        *device += of_device + yk_gpus_inbox_bytes(cg, i);
    }
}

/* Parts that share a device share what is free of it. */
static yoke_status reserve(yk_cg *cg, const yk_part *part, size_t bytes, size_t managed)
{
    const int number = number_of(cg, part);
    yk_cg one = yk_gpus_cg(cg, number);
    cg->several->one[number].wanted = bytes;
    for (int i = 0; i < number; i++)
        if (cg->gpu_device[i] == one.device && cg->gpu_memory == 0)
            bytes += cg->several->one[i].wanted;
    return yk_engine_gpu.reserve(&one, part, bytes, managed);
}

/* ------------------------------------------------------------------- matrix */

static void keep_bytes(yk_cg *cg, const yk_cg *one, int number)
{
    cg->several->one[number].matrix_bytes = one->matrix_bytes;
    cg->matrix_bytes = 0.0;
    for (int i = 0; i < cg->gpus; i++) cg->matrix_bytes += cg->several->one[i].matrix_bytes;
}

static yoke_status load_matrix(yk_cg *cg, const yk_part *part, const yk_csr *csr,
                               const char *format)
{
    const int number = number_of(cg, part);
    yk_cg one = yk_gpus_cg(cg, number);
    one.upload_seconds = 0.0;
    YK_TRY(yk_engine_gpu.load_matrix(&one, part, csr, format));
    cg->upload_seconds += one.upload_seconds;
    keep_bytes(cg, &one, number);
    return YOKE_OK;
}

static yoke_status load_values(yk_cg *cg, const yk_part *part, const yk_csr *csr)
{
    yk_cg one = yk_gpus_cg(cg, number_of(cg, part));
    return yk_engine_gpu.load_values(&one, part, csr);
}

static yoke_status use_format(yk_cg *cg, const char *format)
{
    for (int i = 0; i < cg->gpus; i++) {
        yk_cg one = yk_gpus_cg(cg, i);
        YK_TRY(yk_engine_gpu.use_format(&one, format));
        keep_bytes(cg, &one, i);
    }
    return YOKE_OK;
}

static void keep_format(yk_cg *cg)
{
    for (int i = 0; i < cg->gpus; i++) {
        yk_cg one = yk_gpus_cg(cg, i);
        yk_engine_gpu.keep_format(&one);
    }
}

static yoke_status load_vector(yk_cg *cg, const yk_part *part, double *to, const double *from,
                               int64_t count)
{
    yk_cg one = yk_gpus_cg(cg, number_of(cg, part));
    return yk_engine_gpu.load_vector(&one, part, to, from, count);
}

/* ------------------------------------------------------------------- tasks */

/* A part's sums, or its largest magnitude, on their way down. */
static yoke_status begin_task(const yk_cg *one, const yk_gpus_one *of, yk_task task,
                              double argument)
{
    struct yk_gpu_state *gpu = of->gpu;
    const yk_device *device = &gpu->device;
    yk_gpu_view view = yk_gpu_view_of(one, 0);
    view.rows.argument = argument;
    if (yk_task_is_largest(task))
        YK_TRY(yk_device_clear(device, gpu->sums.largest, sizeof(double)));
    YK_TRY(yk_device_try(yk_gpu_launch(&view, task, NULL, device->stream), "a task's kernel"));
    if (yk_task_is_largest(task))
        return yk_device_copy(device, gpu->total + YK_DOTS, gpu->sums.largest, sizeof(double));
    if (yk_task_dots(task) == 0) return YOKE_OK;
    YK_TRY(yk_device_try(
        yk_gpus_launch_meet(&view, task, NULL, &of->link, YK_GPUS_PUBLISH, device->stream),
        "a task's sums"));
    return yk_device_copy(device, gpu->beside.seen, &of->port[of->link.own.me].slot[0].sums,
                          sizeof(yk_tree));
}

static bool begin_on_all(yk_cg *cg, yk_task task, double argument)
{
    for (int i = 0; i < cg->gpus; i++) {
        const yk_cg one = yk_gpus_cg(cg, i);
        int previous = yk_device_enter(&one.gpu->device);
        yk_gpu_ok(cg, begin_task(&one, &cg->several->one[i], task, argument));
        yk_device_leave(previous);
        if (cg->status != YOKE_OK) return false;
    }
    return true;
}

/* Whatever failed, all have ended. */
static void wait_for_all(yk_cg *cg)
{
    for (int i = 0; i < cg->gpus; i++) {
        const yk_device *device = &yk_gpus_gpu(cg, i)->device;
        int previous = yk_device_enter(device);
        yk_gpu_ok(cg, yk_device_wait(device));
        yk_device_leave(previous);
    }
}

static double largest_of_all(const yk_cg *cg)
{
    double largest = 0.0;
    for (int i = 0; i < cg->gpus; i++) largest = fmax(largest, yk_gpus_gpu(cg, i)->total[YK_DOTS]);
    return largest;
}

static void total_of_all(const yk_cg *cg, yk_task task, double *total)
{
    yk_tree all;
    yk_tree_begin(&all, 0, yk_task_dots(task));
    for (int i = 0; i < cg->gpus; i++) yk_tree_append(&all, yk_gpus_gpu(cg, i)->beside.seen);
    yk_tree_total(&all, total);
}

static void run(yk_cg *cg, yk_task task, double argument, double *total)
{
    if (total) memset(total, 0, (size_t)yk_task_dots(task) * sizeof *total);
    if (cg->status != YOKE_OK) return;
    bool begun = begin_on_all(cg, task, argument);
    if (total || !begun) wait_for_all(cg);
    if (!total || cg->status != YOKE_OK) return;
    if (yk_task_is_largest(task))
        *total = largest_of_all(cg);
    else
        total_of_all(cg, task, total);
}

static void clear(yk_cg *cg)
{
    for (int i = 0; i < cg->gpus; i++) {
        yk_cg one = yk_gpus_cg(cg, i);
        yk_gpu_clear(&one);
        yk_gpu_ok(cg, one.status);
    }
}

/* One after the other; each pass takes as long as the slowest. */
static void time_tasks(yk_cg *cg, const yk_task *task, int count, double *cpu, double *gpu)
{
    double seconds[YK_MOST_TIMED];
    for (int k = 0; k < count; k++) gpu[k] = NAN;
    for (int i = 0; i < cg->gpus; i++) {
        yk_cg one = yk_gpus_cg(cg, i);
        yk_gpu_time_tasks(&one, task, count, cpu, seconds);
        yk_gpu_ok(cg, one.status);
        for (int k = 0; k < count; k++) gpu[k] = fmax(gpu[k], seconds[k]); /* the one not NaN */
    }
}

/* ---------------------------------------------------------------- exchange */

static yoke_status send_x(const yk_cg *cg, int i)
{
    return yk_gpus_send(cg, i, YK_BOUNDARY_X, NULL);
}

static yoke_status send_z(const yk_cg *cg, int i)
{
    return yk_gpus_send(cg, i, YK_BOUNDARY_Z, NULL);
}

/* Behind the part's own; z is read where it lies. */
static yoke_status take_x(const yk_cg *cg, int i)
{
    const yk_part *part = &cg->part[i];
    return yk_device_copy(&yk_gpus_gpu(cg, i)->device, part->x + part->rows, cg->several->one[i].x,
                          (size_t)part->halo * sizeof(double));
}

static void for_all(yk_cg *cg, yoke_status (*body)(const yk_cg *cg, int i))
{
    if (cg->status != YOKE_OK) return;
    for (int i = 0; i < cg->gpus; i++) {
        int previous = yk_device_enter(&yk_gpus_gpu(cg, i)->device);
        yk_gpu_ok(cg, body(cg, i));
        yk_device_leave(previous);
    }
    wait_for_all(cg);
}

static void exchange(yk_cg *cg, yk_boundary which)
{
    for_all(cg, which == YK_BOUNDARY_X ? send_x : send_z);
    if (which == YK_BOUNDARY_X) for_all(cg, take_x);
}

/* --------------------------------------------------------------- in and out */

static void import(yk_cg *cg, const double *b, const double *x0)
{
    for (int i = 0; i < cg->gpus; i++) {
        yk_cg one = yk_gpus_cg(cg, i);
        const int64_t first = one.part->first;
        yk_engine_gpu.import(&one, b + first, x0 ? x0 + first : NULL);
        yk_gpu_ok(cg, one.status);
    }
}

static void export(yk_cg *cg, double *x, double factor)
{
    for (int i = 0; i < cg->gpus; i++) {
        yk_cg one = yk_gpus_cg(cg, i);
        yk_engine_gpu.export(&one, x + one.part->first, factor);
        yk_gpu_ok(cg, one.status);
    }
}

const yk_engine yk_engine_gpus = {
    .name = "gpus",
    .open = open_all,
    .close = close_all,
    .allocate = allocate,
    .release = release,
    .state_bytes = state_bytes,
    .reserve = reserve,
    .load_matrix = load_matrix,
    .use_format = use_format,
    .keep_format = keep_format,
    .load_values = load_values,
    .load_vector = load_vector,
    .run = run,
    .clear = clear,
    .time_tasks = time_tasks,
    .exchange = exchange,
    .import = import,
    .export = export,
};
