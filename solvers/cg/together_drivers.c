/* SPDX-License-Identifier: BSD-3-Clause */
/* together_drivers.c: the drivers `stream` and `graph` where the CPU has rows too: the team of
 * threads advances, and its first worker enqueues the GPU's half iterations beside its own.
 *
 *   direction | halo | multiply | meet | update, send z | meet
 *
 * By events no kernel waits: the worker enqueues a half up to its sums, which come down, does its
 * own pieces, waits for the copies and publishes in the GPU's name; the scalars that follow go up
 * with the next half. By flags the kernels meet the threads themselves, and the worker enqueues
 * ahead: but only once it has published its last message to what is under way, because the call may
 * wait for the GPU, if another thread frees device memory. */
#include <math.h>

#include "lib/status.h"
#include "solvers/cg/cuts.h"
#include "solvers/cg/gpu_meet.h"
#include "solvers/cg/gpu_state.h"

static yoke_status try(int error, const char *call)
{
    return yk_device_try(error, call);
}

static yk_task task_of(const yk_cg *cg, yk_half half)
{
    return half == YK_HALF_MULTIPLY ? YK_TASK_MULTIPLY : yk_cg_update_task(cg);
}

static bool meets_by_flags(const yk_cg *cg)
{
    return cg->link.meeting == YK_MEET_BY_FLAGS;
}

/* The GPU's own port. */
static yk_port *port_of(const yk_cg *cg)
{
    return &cg->link.port[cg->link.gpu];
}

/* p of what the GPU's rows read of others. */
static int halo_direction(const yk_cg *cg, const yk_gpu_view *view)
{
    const yk_part *part = yk_gpu_part(cg);
    void *stream = cg->gpu->device.stream;
    const double *z = port_of(cg)->gpu_z;
    if (!part->moving.on) return yk_gpu_launch_halo(view, part->halo, z, cg->gpu->loop, stream);
    return yk_gpu_launch_halo_at(view, part->moving.at, part->moving.arriving, z, cg->gpu->loop,
                                 stream);
}

/* A half up to the nodes of its sums. Passes of an iteration that begins backwards go back and
 * forth; the next iteration begins the other way. The first pass may overlap a kernel before it,
 * but no copy. */
static yoke_status enqueue_half(yk_cg *cg, yk_half half, int backwards)
{
    struct yk_gpu_state *gpu = cg->gpu;
    bool update = half == YK_HALF_UPDATE;
    yk_gpu_view view = yk_gpu_view_of(cg, 0);
    view.walk.backwards = backwards;
    view.walk.overlaps = gpu->walk.overlaps && meets_by_flags(cg);
    YK_TRY(yk_gpu_enqueue(cg, &view, update ? task_of(cg, half) : YK_TASK_DIRECTION,
                          update ? "update" : "direction"));
    view.walk.overlaps = gpu->walk.overlaps;
    if (update) return cg->whole_z ? YOKE_OK : yk_together_send(cg, YK_BOUNDARY_Z, gpu->loop);
    YK_TRY(try(halo_direction(cg, &view), "direction of the halo"));
    return yk_gpu_enqueue(cg, &view, YK_TASK_MULTIPLY, "multiply");
}

/* --------------------------------------------------------------- by events */

/* Where all of z travels: that of the CPU's rows up, and from it what is the halo's. */
static yoke_status bring_whole_up(yk_cg *cg)
{
    struct yk_gpu_state *gpu = cg->gpu;
    const yk_part *part = yk_gpu_part(cg);
    const yk_gpu_view view = yk_gpu_view_of(cg, 0);
    YK_TRY(yk_device_copy(&gpu->device, gpu->beside.whole_z + part->rows, cg->whole_z + part->rows,
                          (size_t)(cg->rows - part->rows) * sizeof(double)));
    return try(yk_gpu_launch_send(&view, gpu->beside.whole_z, gpu->beside.halo_row, part->halo,
                                  port_of(cg)->gpu_z, gpu->loop, gpu->device.stream),
               "z of the halo");
}

/* What the half needs from the host: the scalars; the halo of z. */
static yoke_status bring_up(yk_cg *cg, yk_half half)
{
    struct yk_gpu_state *gpu = cg->gpu;
    YK_TRY(yk_device_copy(&gpu->device, gpu->loop, gpu->staged, sizeof(yk_cg_scalars)));
    if (half == YK_HALF_UPDATE) return YOKE_OK;
    if (cg->whole_z) return bring_whole_up(cg);
    return yk_device_copy(&gpu->device, port_of(cg)->gpu_z, port_of(cg)->halo_z,
                          (size_t)yk_part_arriving(yk_gpu_part(cg)) * sizeof(double));
}

/* z of the GPU's rows down, from which the worker takes what halos need. */
static yoke_status bring_whole_down(yk_cg *cg)
{
    const yk_part *part = yk_gpu_part(cg);
    return yk_device_copy(&cg->gpu->device, cg->whole_z, part->z,
                          (size_t)part->rows * sizeof(double));
}

static void hand_out_whole(yk_cg *cg)
{
    const yk_part *part = yk_gpu_part(cg);
    for (int i = 0; i < part->sends; i++) {
        const yk_send *send = &part->send[i];
        double *to = cg->link.port[send->to].halo_z + send->at;
        for (int64_t k = 0; k < send->count; k++) to[k] = cg->whole_z[send->row[k]];
    }
}

static yoke_status enqueue_by_events(yk_cg *cg, yk_half half, int backwards)
{
    struct yk_gpu_state *gpu = cg->gpu;
    const yk_gpu_view view = yk_gpu_view_of(cg, 0);
    YK_TRY(bring_up(cg, half));
    YK_TRY(enqueue_half(cg, half, backwards));
    YK_TRY(try(yk_gpu_launch_tree(&view, task_of(cg, half), gpu->loop, gpu->beside.tree,
                                  gpu->device.stream),
               "sums of a part"));
    YK_TRY(yk_device_copy(&gpu->device, gpu->beside.seen, gpu->beside.tree, sizeof(yk_tree)));
    if (half == YK_HALF_MULTIPLY) return YOKE_OK;
    return cg->whole_z ? bring_whole_down(cg) : yk_together_bring_down(cg, YK_BOUNDARY_Z);
}

/* Which of the graphs: a half, forwards or backwards. */
static void **graph_of(yk_cg *cg, yk_half half, int backwards)
{
    return &cg->gpu->graph[2 * half + backwards];
}

static yoke_status launch_half(yk_cg *cg, yk_half half)
{
    struct yk_gpu_state *gpu = cg->gpu;
    int backwards = gpu->beside.backwards;
    void *graph = *graph_of(cg, half, backwards);
    if (graph)
        YK_TRY(yk_device_graph_launch(&gpu->device, graph));
    else
        YK_TRY(enqueue_by_events(cg, half, backwards));
    if (half == YK_HALF_UPDATE) gpu->beside.backwards ^= 1;
    return yk_device_set_mark(&gpu->device, 0);
}

static bool begin_by_events(yk_cg *cg, yk_half half, const yk_cg_scalars *s)
{
    cg->gpu->staged->s = *s; /* what was copied from it before has been waited for */
    return yk_gpu_ok(cg, launch_half(cg, half));
}

/* The boundary came down before the mark, so it is there when the flag is seen. */
static bool finish_by_events(yk_cg *cg, yk_half half, unsigned meeting)
{
    yk_slot *slot = &port_of(cg)->slot[meeting & 1];
    if (!yk_gpu_ok(cg, yk_device_wait_mark(&cg->gpu->device, 0))) return false;
    if (cg->whole_z && half == YK_HALF_UPDATE) hand_out_whole(cg);
    slot->sums = *cg->gpu->beside.seen;
    yk_flag_set(&slot->flag, meeting);
    return true;
}

static const yk_companion by_events = {.begin = begin_by_events, .finish = finish_by_events};

/* ---------------------------------------------------------------- by flags */

/* Iterations of a graph: see gpu_drivers.c; even, so that it ends in the direction of its
 * beginning. */
enum { BATCH = 16 };

/* A half and its meeting: the last thing enqueued is what waits. */
static yoke_status enqueue_by_flags(yk_cg *cg, yk_half half, int backwards)
{
    struct yk_gpu_state *gpu = cg->gpu;
    const yk_gpu_view view = yk_gpu_view_of(cg, 0);
    const yk_gpu_link link = yk_gpu_link_of(&cg->link);
    YK_TRY(enqueue_half(cg, half, backwards));
    return try(yk_gpu_launch_meet(&view, task_of(cg, half), gpu->loop, &link, gpu->device.stream),
               "a meeting");
}

static yoke_status next_half(yk_cg *cg, yk_half half)
{
    int backwards = cg->gpu->beside.backwards;
    if (half == YK_HALF_UPDATE) cg->gpu->beside.backwards ^= 1;
    return enqueue_by_flags(cg, half, backwards);
}

/* Iterations follow: a batch, or where there are few the first half of the next. */
static yoke_status next_iterations(yk_cg *cg, int64_t left)
{
    struct yk_gpu_state *gpu = cg->gpu;
    if (!gpu->graph[0] || left < BATCH / 2) return next_half(cg, YK_HALF_MULTIPLY);
    gpu->beside.ahead = BATCH;
    return yk_device_graph_launch(&gpu->device, gpu->graph[0]);
}

static yoke_status enqueue_next(yk_cg *cg, yk_half half, int64_t left)
{
    int *ahead = &cg->gpu->beside.ahead;
    if (half == YK_HALF_MULTIPLY) return *ahead > 0 ? YOKE_OK : next_half(cg, YK_HALF_UPDATE);
    if (*ahead > 0) --*ahead;
    return *ahead > 0 || left <= 1 ? YOKE_OK : next_iterations(cg, left - 1);
}

/* Seconds without an answer after which a worker asks whether the GPU is still there: one that is
 * lost raises no flag. The question is a call of the runtime, so it is a rare one. */
#define SILENCE 1.0

static yoke_status check_silent(yk_cg *cg, yk_flag *flag, unsigned meeting)
{
    bool idle = false;
    YK_TRY(yk_device_look(&cg->gpu->device, &idle));
    if (!idle || yk_flag_get(flag) == meeting || yk_flag_get(cg->link.abort)) return YOKE_OK;
    return yk_fail(YOKE_DEVICE, "the kernels of device %d ended before the solve did",
                   cg->gpu->device.number);
}

/* Until the GPU has published, or the loop is given up, which the waiting that follows sees. As
 * there, a process that was stopped meanwhile is not blamed. */
static bool wait_for_gpu(yk_cg *cg, unsigned meeting)
{
    yk_flag *flag = &port_of(cg)->slot[meeting & 1].flag;
    for (int spins = 0; spins < YK_SPINS && yk_flag_get(flag) != meeting; spins++) yk_pause();
    double before = yoke_seconds(), waited = 0.0, asked = 0.0;
    while (yk_flag_get(flag) != meeting && !yk_flag_get(cg->link.abort)) {
        sched_yield();
        double now = yoke_seconds();
        waited += fmin(now - before, 0.01);
        before = now;
        if (waited > cg->link.deadline) yk_flag_set(cg->link.abort, 1);
        if (waited - asked < SILENCE) continue;
        if (!yk_gpu_ok(cg, check_silent(cg, flag, meeting))) return false;
        asked = waited;
    }
    return true;
}

static bool arrived_by_flags(yk_cg *cg, yk_half half, unsigned meeting, int64_t left)
{
    return yk_gpu_ok(cg, enqueue_next(cg, half, left)) && wait_for_gpu(cg, meeting);
}

static const yk_companion by_flags = {.arrived = arrived_by_flags};

/* ----------------------------------------------------------------- advance */

static yoke_status start(yk_cg *cg, int64_t at_most)
{
    cg->gpu->beside.backwards = cg->gpu->beside.ahead = 0;
    YK_TRY(yk_gpu_begin_advance(cg, at_most));
    return meets_by_flags(cg) ? next_iterations(cg, at_most) : YOKE_OK;
}

/* Threads that have stopped meet no kernel, so where they would do nothing none is enqueued. */
static void advance(yk_cg *cg, int64_t at_most)
{
    if (at_most < 1 || cg->s.stop != YK_CG_GO_ON) return;
    int previous = yk_device_enter(&cg->gpu->device);
    if (cg->status == YOKE_OK && yk_gpu_ok(cg, start(cg, at_most)))
        yk_team_advance(cg, meets_by_flags(cg) ? &by_flags : &by_events, at_most);
    else
        yk_flag_set(cg->link.abort, 1); /* to a kernel that was enqueued */
    yk_gpu_ok(cg, yk_device_wait(&cg->gpu->device));
    yk_device_leave(previous);
}

/* ------------------------------------------------------------------ graphs */

static yoke_status enqueue_batch(yk_cg *cg)
{
    for (int i = 0; i < BATCH; i++) {
        YK_TRY(enqueue_by_flags(cg, YK_HALF_MULTIPLY, i & 1));
        YK_TRY(enqueue_by_flags(cg, YK_HALF_UPDATE, i & 1));
    }
    return YOKE_OK;
}

/* half, backwards: where they meet by events. */
static yoke_status capture(yk_cg *cg, yk_half half, int backwards, void **graph)
{
    const yk_device *device = &cg->gpu->device;
    YK_TRY(yk_device_capture_begin(device));
    yoke_status status =
        meets_by_flags(cg) ? enqueue_batch(cg) : enqueue_by_events(cg, half, backwards);
    yoke_status ended = yk_device_capture_end(device, graph);
    YK_TRY(status);
    return ended;
}

static yoke_status capture_all(yk_cg *cg)
{
    if (meets_by_flags(cg)) return capture(cg, YK_HALF_MULTIPLY, 0, &cg->gpu->graph[0]);
    for (int backwards = 0; backwards < 2; backwards++)
        for (int half = 0; half < 2; half++)
            YK_TRY(capture(cg, (yk_half)half, backwards, graph_of(cg, (yk_half)half, backwards)));
    return YOKE_OK;
}

static yoke_status prepare_graph(yk_cg *cg)
{
    int previous = yk_device_enter(&cg->gpu->device);
    yk_together_forget_graphs(cg->gpu);
    yoke_status status = capture_all(cg);
    yk_together_keep_graphs(cg);
    yk_device_leave(previous);
    return status;
}

/* Graphs hold what a cut changes: counts of rows, and of what travels. */
static yoke_status prepare_cuts(yk_cg *cg)
{
    const int at = cg->cuts->at;
    yoke_status status = YOKE_OK;
    int previous = yk_device_enter(&cg->gpu->device);
    for (int cut = 0; cut < cg->cuts->count && status == YOKE_OK; cut++) {
        yk_cuts_take(cg, cut);
        if (cg->gpu->graph[0]) continue;
        status = capture_all(cg);
        yk_together_keep_graphs(cg);
    }
    yk_cuts_take(cg, at);
    yk_device_leave(previous);
    return status;
}

static yoke_status prepare_stream(yk_cg *cg)
{
    yk_together_forget_graphs(cg->gpu);
    return YOKE_OK;
}

const yk_driver yk_driver_stream_with_cpu = {
    .name = "stream",
    .text = "kernels on a CUDA stream, beside CPU threads",
    .engine = &yk_engine_together,
    .over_ranks = &yk_driver_stream_over_ranks,
    .prepare = prepare_stream,
    .advance = advance,
};

const yk_driver yk_driver_graph_with_cpu = {
    .name = "graph",
    .text = "kernels as CUDA graphs, beside CPU threads",
    .engine = &yk_engine_together,
    .over_ranks = &yk_driver_graph_over_ranks,
    .prepare = prepare_graph,
    .prepare_cuts = prepare_cuts,
    .advance = advance,
};
