/* SPDX-License-Identifier: BSD-3-Clause */
/* together_ranks.c: a GPU and the team where other ranks have rows too: tasks outside the loop, and
 * the drivers `stream` and `graph`. The team, which may have no row, meets the other ranks for both
 * (ranks.h); its first worker enqueues
 *
 *   scalars, direction, multiply what needs no halo | z of the halo has come | it goes up, its
 *   direction, multiply the rest, sums down | reduce | scalars, update, sums and z down | send z,
 * reduce
 *
 * No kernel waits, whatever the memory mode: what a worker waits for are events, so ranks may share
 * a GPU. By mode `explicit` what crosses is copied, by the others it lies where both reach it. */
#include <math.h>
#include <string.h>

#include "lib/status.h"
#include "solvers/cg/gpu_meet.h"
#include "solvers/cg/gpu_state.h"
#include "solvers/cg/ranks.h"
#include "solvers/cg/team.h"

/* Whether the GPU has halos of its own, to be copied. */
static bool copies(const yk_cg *cg)
{
    return !cg->link.gpu_port;
}

static yk_port *port_of(const yk_cg *cg)
{
    return &cg->link.port[cg->link.gpu];
}

/* ---------------------------------------------------------- outside the loop */

/* Of this rank; nothing where it has failed. */
static void sums_here(yk_cg *cg, yk_task task, double argument, bool wanted, yk_tree *all,
                      double *largest)
{
    if (cg->status != YOKE_OK || !yk_gpu_ok(cg, yk_together_begin(cg, task, argument))) return;
    yk_team_task(cg, task, argument);
    if (!wanted || !yk_gpu_ok(cg, yk_device_wait(&cg->gpu->device))) return;
    if (yk_task_is_largest(task)) {
        *largest = fmax(cg->gpu->total[YK_DOTS], yk_team_largest(cg));
        return;
    }
    yk_tree_append(all, cg->gpu->beside.seen);
    yk_team_append_sums(cg, all);
}

/* Whoever has failed still meets the others. */
void yk_together_run_over_ranks(yk_cg *cg, yk_task task, double argument, double *total)
{
    const int dots = yk_task_dots(task);
    const bool wanted = total && dots > 0;
    double largest = 0.0;
    yk_tree all;
    yk_tree_begin(&all, cg->first_chunk, dots);
    int previous = yk_device_enter(&cg->gpu->device);
    sums_here(cg, task, argument, wanted, &all, &largest);
    yk_device_leave(previous);
    if (total && yk_task_is_largest(task)) {
        *total = yk_ranks_most(cg->context, largest);
    } else if (wanted) {
        yk_cg_ranks_add(cg, &all);
        yk_tree_total(&all, total);
    }
}

/* What the GPU sent to where the host has it, unless that is one memory: x that goes to a part of
 * this rank never is. */
static yoke_status bring_down(yk_cg *cg, yk_boundary which)
{
    const yk_part *part = yk_gpu_part(cg);
    const bool z = which == YK_BOUNDARY_Z;
    for (int i = 0; i < part->sends; i++) {
        const yk_send *send = &part->send[i];
        const yk_port *port = &cg->link.port[send->to];
        if (!copies(cg) && (z || send->to >= cg->parts)) continue;
        YK_TRY(yk_device_copy(&cg->gpu->device, (z ? port->halo_z : port->halo_x) + send->at,
                              (z ? port->gpu_z : port->gpu_x) + send->at,
                              (size_t)send->count * sizeof(double)));
    }
    return YOKE_OK;
}

static yoke_status send_all(yk_cg *cg, yk_boundary which)
{
    YK_TRY(yk_together_send(cg, which, NULL));
    yk_team_send(cg, which);
    YK_TRY(yk_device_wait(&cg->gpu->device)); /* what crosses by one memory is complete */
    YK_TRY(bring_down(cg, which));
    return yk_device_wait(&cg->gpu->device);
}

/* x of the halo to behind the GPU's own; z goes up in the loop. */
static yoke_status bring_x_up(yk_cg *cg)
{
    const yk_device *device = &cg->gpu->device;
    const yk_part *part = yk_gpu_part(cg);
    YK_TRY(yk_device_copy(device, part->x + part->rows, port_of(cg)->halo_x,
                          (size_t)part->halo * sizeof(double)));
    return yk_device_wait(device);
}

void yk_together_exchange_over_ranks(yk_cg *cg, yk_boundary which)
{
    int previous = yk_device_enter(&cg->gpu->device);
    if (cg->status == YOKE_OK) yk_gpu_ok(cg, send_all(cg, which));
    yk_cg_ranks_send(cg, which);
    if (cg->status == YOKE_OK && which == YK_BOUNDARY_X) yk_gpu_ok(cg, bring_x_up(cg));
    yk_device_leave(previous);
}

/* ---------------------------------------------------------------- the loop */

/* What is enqueued at a time. */
typedef enum step { INNER, REST, UPDATE } step;

static yoke_status try(int error, const char *call)
{
    return yk_device_try(error, call);
}

/* The view of a pass of this direction. Copies go before, so no pass begins early. */
static yk_gpu_view view_of(const yk_cg *cg, int backwards)
{
    yk_gpu_view view = yk_gpu_view_of(cg, 0);
    view.walk.backwards = backwards;
    view.walk.overlaps = 0;
    return view;
}

static yoke_status bring_scalars_up(yk_cg *cg)
{
    struct yk_gpu_state *gpu = cg->gpu;
    return yk_device_copy(&gpu->device, gpu->loop, gpu->staged, sizeof(yk_cg_scalars));
}

/* By mode `explicit` they are copied; else the kernel writes where the host reads. */
static yoke_status bring_sums_down(yk_cg *cg, yk_task task, const yk_gpu_view *view)
{
    struct yk_gpu_state *gpu = cg->gpu;
    const yk_gpu_beside *beside = &gpu->beside;
    yk_tree *tree = copies(cg) ? beside->tree : beside->seen;
    YK_TRY(
        try(yk_gpu_launch_tree(view, task, gpu->loop, tree, gpu->device.stream), "sums of a part"));
    return copies(cg) ? yk_device_copy(&gpu->device, beside->seen, tree, sizeof *tree) : YOKE_OK;
}

/* Blocks of the product none of whose rows has a column of the halo: [first, last). */
static void inner_blocks(const yk_cg *cg, const yk_gpu_view *view, int64_t *first, int64_t *last)
{
    const yk_inner *inner = &cg->ranks->gpu_inner;
    const int64_t rows = YK_CHUNK * (int64_t)yk_gpu_block_chunks(view, YK_TASK_MULTIPLY);
    *first = (inner->first + rows - 1) / rows;
    *last =
        inner->last == yk_gpu_part(cg)->rows ? (inner->last + rows - 1) / rows : inner->last / rows;
    if (*last < *first) *first = *last = 0;
}

/* Rows of blocks [first, last). */
static yoke_status multiply(yk_cg *cg, yk_gpu_view view, int64_t first, int64_t last)
{
    if (first >= last) return YOKE_OK;
    view.walk.first_block = (int)first;
    view.walk.blocks = (int)(last - first);
    return yk_gpu_enqueue(cg, &view, YK_TASK_MULTIPLY, "multiply");
}

static int64_t blocks_of(const yk_cg *cg, const yk_gpu_view *view)
{
    const int64_t full = yk_gpu_block_chunks(view, YK_TASK_MULTIPLY);
    return (yk_chunks(yk_gpu_part(cg)->rows) + full - 1) / full;
}

static yoke_status enqueue_inner(yk_cg *cg, int backwards)
{
    yk_gpu_view view = view_of(cg, backwards);
    int64_t first, last;
    YK_TRY(bring_scalars_up(cg));
    YK_TRY(yk_gpu_enqueue(cg, &view, YK_TASK_DIRECTION, "direction"));
    inner_blocks(cg, &view, &first, &last);
    return multiply(cg, view, first, last);
}

static yoke_status enqueue_rest(yk_cg *cg, int backwards)
{
    struct yk_gpu_state *gpu = cg->gpu;
    const yk_part *part = yk_gpu_part(cg);
    const yk_port *port = port_of(cg);
    const yk_gpu_view view = view_of(cg, backwards ^ 1);
    int64_t first, last;
    if (copies(cg))
        YK_TRY(yk_device_copy(&gpu->device, port->gpu_z, port->halo_z,
                              (size_t)part->halo * sizeof(double)));
    YK_TRY(try(yk_gpu_launch_halo(&view, part->halo, port->gpu_z, gpu->loop, gpu->device.stream),
               "direction of the halo"));
    inner_blocks(cg, &view, &first, &last);
    YK_TRY(multiply(cg, view, 0, first));
    YK_TRY(multiply(cg, view, last, blocks_of(cg, &view)));
    return bring_sums_down(cg, YK_TASK_MULTIPLY, &view);
}

static yoke_status enqueue_update(yk_cg *cg, int backwards)
{
    yk_gpu_view view = view_of(cg, backwards);
    const yk_task task = yk_cg_update_task(cg);
    YK_TRY(bring_scalars_up(cg));
    YK_TRY(yk_gpu_enqueue(cg, &view, task, "update"));
    YK_TRY(yk_together_send(cg, YK_BOUNDARY_Z, cg->gpu->loop));
    YK_TRY(bring_sums_down(cg, task, &view));
    return bring_down(cg, YK_BOUNDARY_Z);
}

static yoke_status enqueue(yk_cg *cg, step which, int backwards)
{
    switch (which) {
    case INNER: return enqueue_inner(cg, backwards);
    case REST: return enqueue_rest(cg, backwards);
    default: return enqueue_update(cg, backwards);
    }
}

static void **graph_of(yk_cg *cg, step which, int backwards)
{
    return &cg->gpu->graph[2 * (int)which + backwards];
}

/* A mark follows what somebody waits for. */
static yoke_status launch(yk_cg *cg, step which)
{
    struct yk_gpu_state *gpu = cg->gpu;
    const int backwards = gpu->beside.backwards;
    void *graph = *graph_of(cg, which, backwards);
    YK_TRY(graph ? yk_device_graph_launch(&gpu->device, graph) : enqueue(cg, which, backwards));
    if (which == UPDATE) gpu->beside.backwards ^= 1;
    return which == INNER ? YOKE_OK : yk_device_set_mark(&gpu->device, 0);
}

/* What was copied from there before has been waited for. */
static bool begin(yk_cg *cg, yk_half half, const yk_cg_scalars *s)
{
    cg->gpu->staged->s = *s;
    return yk_gpu_ok(cg, launch(cg, half == YK_HALF_MULTIPLY ? INNER : UPDATE));
}

static bool halo(yk_cg *cg)
{
    return yk_gpu_ok(cg, launch(cg, REST));
}

static bool finish(yk_cg *cg, yk_half half, unsigned meeting)
{
    yk_slot *slot = &port_of(cg)->slot[meeting & 1];
    (void)half;
    if (!yk_gpu_ok(cg, yk_device_wait_mark(&cg->gpu->device, 0))) return false;
    slot->sums = *cg->gpu->beside.seen;
    yk_flag_set(&slot->flag, meeting);
    return true;
}

static const yk_companion beside_team = {.begin = begin, .halo = halo, .finish = finish};

/* A rank that has failed says so where the others wait for its sums. */
static void stay_out(yk_cg *cg)
{
    yk_cg_ranks_begin(cg);
    yk_cg_ranks_give_up(cg, YK_HALF_MULTIPLY);
    yk_cg_ranks_end(cg);
    cg->s.stop = YK_CG_ABORTED;
}

static void advance(yk_cg *cg, int64_t at_most)
{
    if (at_most < 1 || cg->s.stop != YK_CG_GO_ON) return;
    int previous = yk_device_enter(&cg->gpu->device);
    cg->gpu->beside.backwards = 0;
    if (cg->status == YOKE_OK && yk_gpu_ok(cg, yk_gpu_begin_advance(cg, at_most)))
        yk_team_advance(cg, &beside_team, at_most);
    else
        stay_out(cg);
    yk_gpu_ok(cg, yk_device_wait(&cg->gpu->device));
    yk_device_leave(previous);
}

/* ----------------------------------------------------------------- drivers */

static yoke_status capture(yk_cg *cg, step which, int backwards)
{
    const yk_device *device = &cg->gpu->device;
    YK_TRY(yk_device_capture_begin(device));
    yoke_status status = enqueue(cg, which, backwards);
    yoke_status ended = yk_device_capture_end(device, graph_of(cg, which, backwards));
    YK_TRY(status);
    return ended;
}

static yoke_status prepare_stream(yk_cg *cg)
{
    yk_together_forget_graphs(cg->gpu);
    return YOKE_OK;
}

static yoke_status prepare_graph(yk_cg *cg)
{
    yoke_status status = prepare_stream(cg);
    int previous = yk_device_enter(&cg->gpu->device);
    for (int which = INNER; which <= UPDATE; which++)
        for (int backwards = 0; backwards < 2 && status == YOKE_OK; backwards++)
            status = capture(cg, (step)which, backwards);
    yk_device_leave(previous);
    return status;
}

const yk_driver yk_driver_stream_over_ranks = {
    .name = "stream",
    .text = "kernels on a CUDA stream, beside CPU threads that meet other ranks",
    .engine = &yk_engine_together,
    .prepare = prepare_stream,
    .advance = advance,
};

const yk_driver yk_driver_graph_over_ranks = {
    .name = "graph",
    .text = "kernels as CUDA graphs, beside CPU threads that meet other ranks",
    .engine = &yk_engine_together,
    .prepare = prepare_graph,
    .advance = advance,
};
