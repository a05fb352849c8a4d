/* SPDX-License-Identifier: BSD-3-Clause */
/* together.c: the engine of a plan whose rows lie on a GPU and on the CPU: each owner's memory, and
 * the tasks outside the loop, by both at once. Inside the loop: together_drivers.c. */
#include <math.h>
#include <string.h>

#include "lib/context.h"
#include "lib/status.h"
#include "solvers/cg/gpu_meet.h"
#include "solvers/cg/gpu_state.h"
#include "solvers/cg/timing.h"

static const yk_engine *engine_of(const yk_part *part)
{
    return part->owner == YK_OWNER_GPU ? &yk_engine_gpu : &yk_engine_cpu;
}

/* ------------------------------------------------------------------ memory */

static int64_t count_sent(const yk_part *part)
{
    int64_t count = 0;
    for (int i = 0; i < part->sends; i++) count += part->send[i].count;
    return count;
}

static yoke_status upload_sends(yk_cg *cg)
{
    const yk_device *device = &cg->gpu->device;
    const yk_part *part = yk_gpu_part(cg);
    int32_t **row = &cg->gpu->beside.send_row;
    int64_t at = 0;
    YK_TRY(yk_device_allocate(device, "rows to send", count_sent(part), sizeof **row, row));
    for (int i = 0; i < part->sends; at += part->send[i++].count)
        YK_TRY(yk_device_copy(device, *row + at, part->send[i].row,
                              (size_t)part->send[i].count * sizeof **row));
    return yk_device_wait(device);
}

/* Home shared by copies: z of all rows in both memories, in the matrix's order. */
static yoke_status open_whole(yk_cg *cg)
{
    yk_gpu_beside *beside = &cg->gpu->beside;
    const yk_device *device = &cg->gpu->device;
    const yk_part *part = yk_gpu_part(cg);
    int32_t *row;
    if (!cg->whole_copies) return YOKE_OK;
    YK_TRY(yk_device_allocate(device, "copy of z", cg->rows, sizeof(double), &beside->whole_z));
    YK_TRY(
        yk_device_allocate(device, "rows of the halo", part->halo, sizeof *row, &beside->halo_row));
    YK_TRY(yk_alloc(cg->context, "rows of the halo", part->halo, sizeof *row, &row));
    for (int64_t k = 0; k < part->halo; k++) row[k] = (int32_t)part->halo_column[k];
    yoke_status status =
        yk_device_copy(device, beside->halo_row, row, (size_t)part->halo * sizeof *row);
    if (status == YOKE_OK) status = yk_device_wait(device);
    yk_free(cg->context, row, part->halo, sizeof *row);
    YK_TRY(status);
    return yk_device_allocate_pinned("copy of z", (size_t)cg->rows * sizeof(double), &cg->whole_z);
}

static yoke_status open_beside(yk_cg *cg)
{
    struct yk_gpu_state *gpu = cg->gpu;
    gpu->sums.first_chunk = cg->first_chunk;
    gpu->sums.apart = cg->first_chunk % YK_BLOCK_CHUNKS == 0 ? 1 : 2;
    YK_TRY(cg->cuts ? yk_together_open_cuts(cg) : upload_sends(cg));
    YK_TRY(open_whole(cg));
    YK_TRY(
        yk_device_allocate(&gpu->device, "sums of a part", 1, sizeof(yk_tree), &gpu->beside.tree));
    /* it comes down whole, whatever of it was written */
    YK_TRY(yk_device_clear(&gpu->device, gpu->beside.tree, sizeof(yk_tree)));
    return yk_device_allocate_pinned("sums of a part", sizeof(yk_tree), &gpu->beside.seen);
}

static yoke_status open_both(yk_cg *cg)
{
    YK_TRY(yk_engine_gpu.open(cg));
    int previous = yk_device_enter(&cg->gpu->device);
    yoke_status status = open_beside(cg);
    yk_device_leave(previous);
    return status;
}

static void close_both(yk_cg *cg)
{
    struct yk_gpu_state *gpu = cg->gpu;
    if (!gpu) return;
    int previous = yk_device_enter(&gpu->device);
    yk_together_close_cuts(gpu);
    yk_device_free(gpu->beside.send_row);
    yk_device_free(gpu->beside.tree);
    yk_device_free_pinned(gpu->beside.seen);
    yk_device_free(gpu->beside.whole_z);
    yk_device_free(gpu->beside.halo_row);
    yk_device_free_pinned(cg->whole_z);
    cg->whole_z = NULL;
    yk_device_leave(previous);
    yk_engine_gpu.close(cg);
}

static yoke_status allocate(yk_cg *cg, const yk_part *part, const char *what, int64_t count,
                            double **vector)
{
    return engine_of(part)->allocate(cg, part, what, count, vector);
}

static void release(yk_cg *cg, const yk_part *part, double *vector, int64_t count)
{
    engine_of(part)->release(cg, part, vector, count);
}

static void state_bytes(const yk_cg *cg, size_t *host, size_t *device)
{
    yk_engine_gpu.state_bytes(cg, host, device);
    *host += sizeof(yk_tree);
    *device += sizeof(yk_tree) + (size_t)count_sent(yk_gpu_part(cg)) * sizeof(int32_t);
    if (cg->cuts) yk_together_bytes_of_cuts(cg, device);
    if (!cg->whole_copies) return;
    *host += (size_t)cg->rows * sizeof(double);
    *device += (size_t)cg->rows * sizeof(double) + (size_t)yk_gpu_part(cg)->halo * sizeof(int32_t);
}

static yoke_status reserve(yk_cg *cg, const yk_part *part, size_t bytes, size_t managed)
{
    return yk_engine_gpu.reserve(cg, part, bytes, managed);
}

static yoke_status available(yk_cg *cg, size_t *bytes)
{
    return yk_engine_gpu.available(cg, bytes);
}

static yoke_status load_vector(yk_cg *cg, const yk_part *part, double *to, const double *from,
                               int64_t count)
{
    return yk_engine_gpu.load_vector(cg, part, to, from, count);
}

/* ------------------------------------------------------------------- tasks */

/* The GPU's rows; its sums, or its largest magnitude, on their way down. */
yoke_status yk_together_begin(yk_cg *cg, yk_task task, double argument)
{
    struct yk_gpu_state *gpu = cg->gpu;
    const yk_device *device = &gpu->device;
    yk_gpu_view view = yk_gpu_view_of(cg, 0);
    view.rows.argument = argument;
    if (yk_task_is_largest(task))
        YK_TRY(yk_device_clear(device, gpu->sums.largest, sizeof(double)));
    YK_TRY(yk_device_try(yk_gpu_launch(&view, task, NULL, device->stream), "a task's kernel"));
    if (yk_task_is_largest(task))
        return yk_device_copy(device, gpu->total + YK_DOTS, gpu->sums.largest, sizeof(double));
    if (yk_task_dots(task) == 0) return YOKE_OK;
    YK_TRY(yk_device_try(yk_gpu_launch_tree(&view, task, NULL, gpu->beside.tree, device->stream),
                         "a task's sums"));
    return yk_device_copy(device, gpu->beside.seen, gpu->beside.tree, sizeof(yk_tree));
}

/* The GPU's rows come first, and so do their sums. */
static void total_of_both(yk_cg *cg, yk_task task, double *total)
{
    yk_tree all;
    if (yk_task_is_largest(task)) {
        *total = fmax(cg->gpu->total[YK_DOTS], yk_team_largest(cg));
        return;
    }
    yk_tree_begin(&all, 0, yk_task_dots(task));
    yk_tree_append(&all, cg->gpu->beside.seen);
    yk_team_append_sums(cg, &all);
    yk_tree_total(&all, total);
}

static void run_here(yk_cg *cg, yk_task task, double argument, double *total)
{
    if (!yk_gpu_ok(cg, yk_together_begin(cg, task, argument))) return;
    yk_team_task(cg, task, argument);
    if (total && yk_gpu_ok(cg, yk_device_wait(&cg->gpu->device))) total_of_both(cg, task, total);
}

static void run(yk_cg *cg, yk_task task, double argument, double *total)
{
    if (cg->ranks) {
        yk_together_run_over_ranks(cg, task, argument, total);
        return;
    }
    if (total) memset(total, 0, (size_t)yk_task_dots(task) * sizeof *total);
    if (cg->status != YOKE_OK) return;
    int previous = yk_device_enter(&cg->gpu->device);
    run_here(cg, task, argument, total);
    yk_device_leave(previous);
}

/* So many that the host's calls do not count, but for the smallest systems. */
enum { TIMED = 8 };

static yoke_status passes_on_gpu(yk_cg *cg, const yk_task *task, int count)
{
    const yk_gpu_view view = yk_gpu_view_of(cg, 0);
    void *stream = cg->gpu->device.stream;
    for (int i = 0; i < TIMED * count; i++)
        YK_TRY(yk_device_try(yk_gpu_launch(&view, task[i % count], NULL, stream), "a timed pass"));
    return yk_device_wait(&cg->gpu->device);
}

static void time_passes(yk_cg *cg, double *cpu, double *gpu)
{
    const yk_task task[] = {YK_TASK_DIRECTION, YK_TASK_MULTIPLY, yk_cg_update_task(cg)};
    int previous = yk_device_enter(&cg->gpu->device);
    double began = yoke_seconds();
    yk_gpu_ok(cg, passes_on_gpu(cg, task, 3));
    double now = yoke_seconds();
    yk_device_leave(previous);
    *gpu = (now - began) / TIMED;
    for (int i = 0; i < 3; i++) yk_team_task(cg, task[i], 0.0);
    *cpu = yoke_seconds() - now;
}

static void clear(yk_cg *cg)
{
    yk_gpu_clear(cg);
    yk_cpu_clear(cg);
}

/* One owner after the other: each has its memory to itself. */
static void time_tasks(yk_cg *cg, const yk_task *task, int count, double *cpu, double *gpu)
{
    double nothing[YK_MOST_TIMED];
    yk_gpu_time_tasks(cg, task, count, nothing, gpu);
    yk_cpu_time_tasks(cg, task, count, cpu, nothing);
}

/* ---------------------------------------------------------------- exchange */

yoke_status yk_together_send(yk_cg *cg, yk_boundary which, const yk_gpu_loop *loop)
{
    struct yk_gpu_state *gpu = cg->gpu;
    const yk_part *part = yk_gpu_part(cg);
    const double *from = yk_boundary_vector(part, which);
    const yk_gpu_view view = yk_gpu_view_of(cg, 0);
    const int32_t *row = gpu->beside.send_row + gpu->beside.first_sent;
    for (int i = 0; i < part->sends; row += part->send[i++].count) {
        const yk_send *send = &part->send[i];
        const yk_port *port = &cg->link.port[send->to];
        double *to = (which == YK_BOUNDARY_Z ? port->gpu_z : port->gpu_x) + send->at;
        YK_TRY(yk_device_try(
            yk_gpu_launch_send(&view, from, row, send->count, to, loop, gpu->device.stream),
            "sending the boundary"));
    }
    return YOKE_OK;
}

yoke_status yk_together_bring_down(yk_cg *cg, yk_boundary which)
{
    const yk_part *part = yk_gpu_part(cg);
    for (int i = 0; i < part->sends; i++) {
        const yk_send *send = &part->send[i];
        const yk_port *port = &cg->link.port[send->to];
        bool z = which == YK_BOUNDARY_Z;
        YK_TRY(yk_device_copy(&cg->gpu->device, (z ? port->halo_z : port->halo_x) + send->at,
                              (z ? port->gpu_z : port->gpu_x) + send->at,
                              (size_t)send->count * sizeof(double)));
    }
    return YOKE_OK;
}

/* x goes through the link's memory in every mode, so what the GPU wrote there is complete first; z
 * is there already where they meet by flags. */
static yoke_status end_exchange(yk_cg *cg, yk_boundary which)
{
    const yk_device *device = &cg->gpu->device;
    const yk_part *part = yk_gpu_part(cg);
    const yk_port *port = &cg->link.port[cg->link.gpu];
    bool by_events = cg->link.meeting == YK_MEET_BY_EVENTS;
    YK_TRY(yk_device_wait(device));
    if (by_events || (which == YK_BOUNDARY_X && !cg->cuts))
        YK_TRY(yk_together_bring_down(cg, which));
    if (cg->cuts && which != YK_BOUNDARY_Z) {
        YK_TRY(yk_device_wait(device)); /* what came down, to the host */
        YK_TRY(yk_together_place(cg, which));
    } else if (which == YK_BOUNDARY_X)
        YK_TRY(yk_device_copy(device, part->x + part->rows, port->halo_x,
                              (size_t)part->halo * sizeof(double)));
    return yk_device_wait(device);
}

static void exchange(yk_cg *cg, yk_boundary which)
{
    if (cg->ranks) {
        yk_together_exchange_over_ranks(cg, which);
        return;
    }
    if (cg->status != YOKE_OK) return;
    int previous = yk_device_enter(&cg->gpu->device);
    yk_gpu_ok(cg, yk_together_send(cg, which, NULL));
    yk_engine_cpu.exchange(cg, which);
    if (cg->status == YOKE_OK) yk_gpu_ok(cg, end_exchange(cg, which));
    yk_device_leave(previous);
}

/* --------------------------------------------------------------- in and out */

/* p of rows that the CPU's part holds without working on them, and of its halo. */
static void clear_held(yk_cg *cg)
{
    const yk_part *part = &cg->part[1];
    memset(part->p, 0, (size_t)part->moving.first * sizeof(double));
    memset(part->p + part->rows, 0, (size_t)part->halo * sizeof(double));
}

static void import(yk_cg *cg, const double *b, const double *x0)
{
    yk_engine_gpu.import(cg, b, x0);
    if (cg->status == YOKE_OK) yk_engine_cpu.import(cg, b, x0);
    if (cg->cuts) clear_held(cg);
}

static void export(yk_cg *cg, double *x, double factor)
{
    yk_engine_gpu.export(cg, x, factor);
    if (cg->status == YOKE_OK) yk_engine_cpu.export(cg, x, factor);
}

const yk_engine yk_engine_together = {
    .name = "gpu and cpu",
    .open = open_both,
    .close = close_both,
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
    .time_passes = time_passes,
    .clear = clear,
    .time_tasks = time_tasks,
    .exchange = exchange,
    .import = import,
    .export = export,
    .take_cut = yk_together_take_cut,
    .move_cut = yk_together_move_cut,
};
