/* SPDX-License-Identifier: BSD-3-Clause */
/* gpus_drivers.c: the drivers `stream` and `graph` where several GPUs have rows. Each does
 *
 *   direction | halo | multiply | meet | update, send z | meet
 *
 * on a stream of its own, and ends with the same scalars at the same iteration. The host enqueues
 * batches and looks at the head of the first one's loop, one batch behind, as gpu_drivers.c does.
 * By flags each has a graph of its own. By events one graph has the work of all, as an event that
 * is waited for joins its stream to the capture. */
#include <string.h>
#include <time.h>

#include "lib/status.h"
#include "solvers/cg/gpus_state.h"

/* Iterations a batch: see gpu_drivers.c; even, so that it ends in the direction of its beginning.
 */
enum { BATCH = 16 };

static const yk_device *device_of(const yk_cg *cg, int i)
{
    return &yk_gpus_gpu(cg, i)->device;
}

static yk_task task_of(const yk_cg *cg, yk_half half)
{
    return half == YK_HALF_MULTIPLY ? YK_TASK_MULTIPLY : yk_cg_update_task(cg);
}

/* -------------------------------------------------------------- iterations */

static yoke_status enqueue_multiply(yk_cg *one, const yk_gpus_one *of, int backwards)
{
    yk_gpu_view view = yk_gpu_view_of(one, 0);
    view.walk.backwards = backwards;
    YK_TRY(yk_gpu_enqueue(one, &view, YK_TASK_DIRECTION, "direction"));
    YK_TRY(yk_device_try(
        yk_gpu_launch_halo(&view, one->part->halo, of->z, of->gpu->loop, of->gpu->device.stream),
        "direction of the halo"));
    return yk_gpu_enqueue(one, &view, YK_TASK_MULTIPLY, "multiply");
}

static yoke_status enqueue_update(yk_cg *cg, yk_cg *one, int i, int backwards)
{
    yk_gpu_view view = yk_gpu_view_of(one, 0);
    view.walk.backwards = backwards;
    YK_TRY(yk_gpu_enqueue(one, &view, yk_cg_update_task(cg), "update"));
    return yk_gpus_send(cg, i, YK_BOUNDARY_Z, one->gpu->loop);
}

/* Some phases of a half's meeting; the last one begins behind other streams, not behind the kernel
 * before it alone. */
static yoke_status meet(const yk_cg *one, const yk_gpus_one *of, yk_half half, int phases)
{
    yk_gpu_view view = yk_gpu_view_of(one, 0);
    if (!(phases & YK_GPUS_PUBLISH)) view.walk.overlaps = 0;
    return yk_device_try(yk_gpus_launch_meet(&view, task_of(one, half), of->gpu->loop, &of->link,
                                             phases, of->gpu->device.stream),
                         "a meeting");
}

/* A half of part i up to its sums, or by flags to the end of the meeting. */
static yoke_status enqueue_half(yk_cg *cg, int i, yk_half half, int backwards)
{
    const yk_gpus_one *of = &cg->several->one[i];
    const bool by_flags = cg->several->by_flags;
    yk_cg one = yk_gpus_cg(cg, i);
    if (half == YK_HALF_MULTIPLY)
        YK_TRY(enqueue_multiply(&one, of, backwards));
    else
        YK_TRY(enqueue_update(cg, &one, i, backwards));
    if (by_flags) return meet(&one, of, half, YK_GPUS_PUBLISH | YK_GPUS_WAIT | YK_GPUS_CONCLUDE);
    YK_TRY(meet(&one, of, half, YK_GPUS_PUBLISH));
    return yk_device_set_mark(&of->gpu->device, YK_MARK_OF_MEETINGS);
}

/* By events: behind all that the others have published. */
static yoke_status conclude_half(const yk_cg *cg, int i, yk_half half)
{
    const yk_cg one = yk_gpus_cg(cg, i);
    for (int k = 0; k < cg->gpus; k++)
        if (k != i)
            YK_TRY(yk_device_follow(device_of(cg, i), device_of(cg, k), YK_MARK_OF_MEETINGS));
    return meet(&one, &cg->several->one[i], half, YK_GPUS_CONCLUDE);
}

/* Of parts [first, end). */
static yoke_status enqueue_halves(yk_cg *cg, int first, int end, yk_half half, int backwards)
{
    for (int i = first; i < end; i++) {
        int previous = yk_device_enter(device_of(cg, i));
        yoke_status status = enqueue_half(cg, i, half, backwards);
        yk_device_leave(previous);
        YK_TRY(status);
    }
    for (int i = first; i < end && !cg->several->by_flags; i++) {
        int previous = yk_device_enter(device_of(cg, i));
        yoke_status status = conclude_half(cg, i, half);
        yk_device_leave(previous);
        YK_TRY(status);
    }
    return YOKE_OK;
}

/* By turns, half by half: a kernel never waits for one that finds no room in its queue. */
static yoke_status enqueue_batch(yk_cg *cg, int first, int end, int64_t iterations)
{
    for (int k = 0; k < BATCH && k < iterations; k++) {
        YK_TRY(enqueue_halves(cg, first, end, YK_HALF_MULTIPLY, k & 1));
        YK_TRY(enqueue_halves(cg, first, end, YK_HALF_UPDATE, k & 1));
    }
    return YOKE_OK;
}

static yoke_status launch_stream(yk_cg *cg, int64_t iterations)
{
    return enqueue_batch(cg, 0, cg->gpus, iterations);
}

/* ------------------------------------------------------------------ graphs */

/* The first stream behind all others; and they behind it. */
static yoke_status gather(const yk_cg *cg)
{
    for (int i = 1; i < cg->gpus; i++) {
        YK_TRY(yk_device_set_mark(device_of(cg, i), YK_MARK_OF_MEETINGS));
        YK_TRY(yk_device_follow(device_of(cg, 0), device_of(cg, i), YK_MARK_OF_MEETINGS));
    }
    return YOKE_OK;
}

static yoke_status spread(const yk_cg *cg)
{
    YK_TRY(yk_device_set_mark(device_of(cg, 0), YK_MARK_OF_MEETINGS));
    for (int i = 1; i < cg->gpus; i++)
        YK_TRY(yk_device_follow(device_of(cg, i), device_of(cg, 0), YK_MARK_OF_MEETINGS));
    return YOKE_OK;
}

static yoke_status enqueue_for_all(yk_cg *cg)
{
    YK_TRY(spread(cg));
    YK_TRY(enqueue_batch(cg, 0, cg->gpus, BATCH));
    return gather(cg);
}

static yoke_status capture(yk_cg *cg, int i)
{
    const yk_device *device = device_of(cg, i);
    YK_TRY(yk_device_capture_begin(device));
    yoke_status status =
        cg->several->by_flags ? enqueue_batch(cg, i, i + 1, BATCH) : enqueue_for_all(cg);
    yoke_status ended = yk_device_capture_end(device, &yk_gpus_gpu(cg, i)->graph[0]);
    YK_TRY(status);
    return ended;
}

static int graphs(const yk_cg *cg)
{
    return cg->several->by_flags ? cg->gpus : 1;
}

static void forget_graphs(yk_cg *cg)
{
    for (int i = 0; i < cg->gpus; i++) {
        void **graph = &yk_gpus_gpu(cg, i)->graph[0];
        int previous = yk_device_enter(device_of(cg, i));
        yk_device_graph_destroy(*graph);
        *graph = NULL;
        yk_device_leave(previous);
    }
}

static yoke_status prepare_stream(yk_cg *cg)
{
    forget_graphs(cg);
    return YOKE_OK;
}

static yoke_status prepare_graph(yk_cg *cg)
{
    forget_graphs(cg);
    for (int i = 0; i < graphs(cg); i++) {
        int previous = yk_device_enter(device_of(cg, i));
        yoke_status status = capture(cg, i);
        yk_device_leave(previous);
        YK_TRY(status);
    }
    return YOKE_OK;
}

static yoke_status launch_graphs(yk_cg *cg)
{
    for (int i = 0; i < graphs(cg); i++) {
        int previous = yk_device_enter(device_of(cg, i));
        yoke_status status = yk_device_graph_launch(device_of(cg, i), yk_gpus_gpu(cg, i)->graph[0]);
        yk_device_leave(previous);
        YK_TRY(status);
    }
    return YOKE_OK;
}

/* A batch may go on beyond the end of the loop, where passes do nothing. */
static yoke_status launch_graph(yk_cg *cg, int64_t iterations)
{
    if (iterations < BATCH / 2) return launch_stream(cg, iterations);
    if (cg->several->by_flags) return launch_graphs(cg);
    YK_TRY(gather(cg));
    YK_TRY(launch_graphs(cg));
    return spread(cg);
}

/* ----------------------------------------------------------------- advance */

typedef yoke_status (*launch_fn)(yk_cg *cg, int64_t iterations);

static yoke_status begin(const yk_cg *cg, int64_t at_most)
{
    for (int i = 0; i < cg->gpus; i++) {
        yk_cg one = yk_gpus_cg(cg, i);
        int previous = yk_device_enter(&one.gpu->device);
        yoke_status status = yk_gpu_begin_advance(&one, at_most);
        yk_device_leave(previous);
        YK_TRY(status);
    }
    return YOKE_OK;
}

/* Seconds between two questions whether all are still there: one that is lost publishes nothing,
 * and then the first one waits. */
#define SILENCE 0.1

enum { LOOKS = 256 /* before the first nap */, NAP = 20000 /* ns */ };

static yoke_status look_at_all(const yk_cg *cg)
{
    bool idle;
    for (int i = 0; i < cg->gpus; i++) YK_TRY(yk_device_look(device_of(cg, i), &idle));
    return YOKE_OK;
}

static yoke_status wait_for_mark(const yk_cg *cg, int mark)
{
    const struct timespec nap = {.tv_nsec = NAP};
    double asked = yoke_seconds();
    bool reached = false;
    for (int looks = 0;; looks++) {
        YK_TRY(yk_device_look_mark(device_of(cg, 0), mark, &reached));
        if (reached) return YOKE_OK;
        if (looks < LOOKS) continue;
        nanosleep(&nap, NULL);
        if (yoke_seconds() - asked < SILENCE) continue;
        YK_TRY(look_at_all(cg));
        asked = yoke_seconds();
    }
}

/* The head of the first one's loop on its way, and a look at the one before. */
static yoke_status look(const yk_cg *cg, int64_t batch, bool *halt)
{
    struct yk_gpu_state *gpu = yk_gpus_gpu(cg, 0);
    const int mark = (int)(batch & 1), before = mark ^ 1;
    YK_TRY(yk_device_copy(&gpu->device, gpu->seen[mark], gpu->loop, YK_GPU_LOOP_HEAD));
    YK_TRY(yk_device_set_mark(&gpu->device, mark));
    if (batch < 1) return YOKE_OK;
    YK_TRY(wait_for_mark(cg, before));
    *halt = gpu->seen[before]->halt;
    return YOKE_OK;
}

/* By flags a kernel on one waits for one that another is given later in the same batch. */
static yoke_status launch_together(yk_cg *cg, int64_t iterations, launch_fn launch)
{
    if (!cg->several->by_flags) return launch(cg, iterations);
    yk_device_begin_launches();
    yoke_status status = launch(cg, iterations);
    if (status != YOKE_OK) yk_flag_set(cg->several->abort, 1); /* before who frees waits for it */
    yk_device_end_launches();
    return status;
}

static yoke_status run_batches(yk_cg *cg, int64_t at_most, launch_fn launch)
{
    bool halt = false;
    int last = 0;
    YK_TRY(begin(cg, at_most));
    for (int64_t batch = 0; batch * BATCH < at_most && !halt; batch++) {
        YK_TRY(launch_together(cg, at_most - batch * BATCH, launch));
        int previous = yk_device_enter(device_of(cg, 0));
        yoke_status status = look(cg, batch, &halt);
        yk_device_leave(previous);
        YK_TRY(status);
        last = (int)(batch & 1);
    }
    return wait_for_mark(cg, last);
}

/* One's state down; what it waited for has come, or been given up. */
static bool end_one(yk_cg *cg, int i, yk_cg *one)
{
    *one = yk_gpus_cg(cg, i);
    int previous = yk_device_enter(&one->gpu->device);
    yoke_status status = yk_gpu_end_advance(one);
    bool good = yk_gpu_ok(cg, status);
    if (!good) yk_device_wait(&one->gpu->device);
    yk_device_leave(previous);
    return good;
}

static bool differ(const yk_cg_scalars *a, const yk_cg_scalars *b)
{
    const bool are_numbers = a->rr == a->rr || b->rr == b->rr;
    return a->iteration != b->iteration || a->stop != b->stop || (are_numbers && a->rr != b->rr);
}

/* Where one had given up, another may have met all before it saw that. */
static void end(yk_cg *cg)
{
    yk_cg first, one;
    bool good = end_one(cg, 0, &first), aborted = good && first.s.stop == YK_CG_ABORTED;
    for (int i = 1; i < cg->gpus; i++) {
        if (!end_one(cg, i, &one) || !good) continue;
        aborted = aborted || one.s.stop == YK_CG_ABORTED;
        if (!aborted && differ(&first.s, &one.s))
            yk_gpu_ok(cg, yk_fail(YOKE_DEVICE,
                                  "devices %d and %d have different sums of one meeting, at "
                                  "iterations %lld and %lld",
                                  cg->gpu_device[0], cg->gpu_device[i],
                                  (long long)first.s.iteration, (long long)one.s.iteration));
    }
    if (cg->status != YOKE_OK) return;
    cg->s = first.s;
    if (aborted) cg->s.stop = YK_CG_ABORTED;
    cg->meetings = first.gpu->staged->meetings;
}

/* With a history, no further than a device can record. A failure ends the waiting of all. */
static void advance(yk_cg *cg, int64_t at_most, launch_fn launch)
{
    while (at_most > 0 && cg->s.stop == YK_CG_GO_ON && cg->status == YOKE_OK) {
        int64_t before = cg->s.iteration;
        int64_t now =
            cg->history_capacity > 0 && at_most > YK_GPU_HISTORY ? YK_GPU_HISTORY : at_most;
        if (!yk_gpu_ok(cg, run_batches(cg, now, launch))) yk_flag_set(cg->several->abort, 1);
        end(cg);
        at_most -= cg->s.iteration - before;
        if (cg->s.iteration == before) break;
    }
}

static void advance_stream(yk_cg *cg, int64_t at_most)
{
    advance(cg, at_most, launch_stream);
}

static void advance_graph(yk_cg *cg, int64_t at_most)
{
    advance(cg, at_most, launch_graph);
}

const yk_driver yk_driver_stream_with_gpus = {
    .name = "stream",
    .text = "kernels on a CUDA stream of each GPU",
    .engine = &yk_engine_gpus,
    .prepare = prepare_stream,
    .advance = advance_stream,
};

const yk_driver yk_driver_graph_with_gpus = {
    .name = "graph",
    .text = "kernels of several GPUs as CUDA graphs",
    .engine = &yk_engine_gpus,
    .prepare = prepare_graph,
    .advance = advance_graph,
};
