/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_drivers.c: the drivers `stream` and `graph`: batches of passes are enqueued, and the host
 * looks at the loop's head one batch behind, so that the device never waits for it. Scalars and the
 * end of the loop are the device's own: passes after the end do nothing. */
#include <math.h>
#include <string.h>

#include "lib/status.h"
#include "solvers/cg/gpu_state.h"

/* Iterations a batch. With creation cost a an iteration, a gap of L between launches, N iterations
 * and an iteration's time t, the best is sqrt(N L / (a + t / 2)), where t / 2 counts overshoot
 * (Ekelund et al., arXiv 2501.09398, found that there is a best one): about 14 for N = 200, L = 8,
 * a = 3, t = 10 us. Even, so that a batch ends with p where it began. */
enum { BATCH = 16 };

yoke_status yk_gpu_enqueue(yk_cg *cg, yk_gpu_view *view, yk_task task, const char *name)
{
    struct yk_gpu_state *gpu = cg->gpu;
    YK_TRY(yk_device_try(yk_gpu_launch(view, task, gpu->loop, gpu->device.stream), name));
    view->walk.backwards ^= 1;
    return YOKE_OK;
}

/* A product that is not ours leaves p.q to a pass of its own. It runs after the end of the loop
 * too, on a p that does not change any more. */
yoke_status yk_gpu_enqueue_multiply(yk_cg *cg, yk_gpu_view *view)
{
    if (!cg->gpu->cusparse) return yk_gpu_enqueue(cg, view, YK_TASK_MULTIPLY, "multiply");
    YK_TRY(yk_gpu_cusparse_multiply(cg));
    return yk_gpu_enqueue(cg, view, YK_TASK_DOT_PQ, "multiply");
}

/* Two passes, of which cg-pipelined's sums come in the second: no other way on one GPU would let
 * them travel meanwhile. */
static yoke_status enqueue_one_sum(yk_cg *cg, int *backwards)
{
    yk_gpu_view view = yk_gpu_view_of(cg, cg->newest_p);
    view.walk.backwards = *backwards;
    if (cg->recurrence == YK_PIPELINED)
        YK_TRY(yk_gpu_enqueue(cg, &view, YK_TASK_PRODUCT, "product"));
    YK_TRY(yk_gpu_enqueue(cg, &view, yk_cg_step_task(cg), "step"));
    if (cg->recurrence == YK_SINGLE)
        YK_TRY(yk_gpu_enqueue(cg, &view, YK_TASK_SINGLE_MULTIPLY, "multiply"));
    *backwards = view.walk.backwards;
    return YOKE_OK;
}

/* backwards: the direction of the next pass. */
static yoke_status enqueue_iteration(yk_cg *cg, int newest_p, int *backwards)
{
    if (cg->op || cg->preconditioner) return yk_gpu_enqueue_callbacks(cg);
    if (cg->recurrence != YK_CLASSICAL) return enqueue_one_sum(cg, backwards);
    /* a fold writes the other p: the view is that after it */
    yk_gpu_view view = yk_gpu_view_of(cg, cg->folded ? newest_p ^ 1 : newest_p);
    view.walk.backwards = *backwards;
    if (cg->folded) {
        YK_TRY(yk_gpu_enqueue(cg, &view, YK_TASK_FOLD, "fold"));
    } else {
        YK_TRY(yk_gpu_enqueue(cg, &view, YK_TASK_DIRECTION, "direction"));
        YK_TRY(yk_gpu_enqueue_multiply(cg, &view));
    }
    YK_TRY(yk_gpu_enqueue(cg, &view, yk_cg_update_task(cg), "update"));
    *backwards = view.walk.backwards;
    return YOKE_OK;
}

static yoke_status enqueue_batch(yk_cg *cg, int64_t iterations)
{
    int newest_p = cg->newest_p, backwards = 0;
    for (int64_t i = 0; i < iterations && !cg->gpu->ended; i++) {
        YK_TRY(enqueue_iteration(cg, newest_p, &backwards));
        if (!cg->folded) continue;
        newest_p ^= 1;
        backwards ^= 1; /* two passes an iteration: so a fold, too, goes against the one before */
    }
    return YOKE_OK;
}

static yoke_status launch_stream(yk_cg *cg, int64_t iterations)
{
    return enqueue_batch(cg, iterations < BATCH ? iterations : BATCH);
}

static yoke_status capture_batch(yk_cg *cg, void **graph)
{
    struct yk_gpu_state *gpu = cg->gpu;
    YK_TRY(yk_device_capture_begin(&gpu->device));
    yoke_status status = enqueue_batch(cg, BATCH);
    yoke_status ended = yk_device_capture_end(&gpu->device, graph);
    YK_TRY(status);
    YK_TRY(ended);
    if (!gpu->ended) return YOKE_OK;
    yk_device_graph_destroy(*graph); /* a callback failed: none of this ran */
    *graph = NULL;
    gpu->step_done = false;
    return YOKE_OK;
}

/* A batch may go on beyond the end of the loop, where passes do nothing; but a preconditioner that
 * changes from call to call would leave another z than the one whose sums were taken. */
static yoke_status launch_graph(yk_cg *cg, int64_t iterations)
{
    struct yk_gpu_state *gpu = cg->gpu;
    void **graph = &gpu->graph[cg->newest_p];
    if (cg->recurrence != cg->planned) return launch_stream(cg, iterations);
    if (iterations < (cg->limits.flexible ? BATCH : BATCH / 2))
        return enqueue_batch(cg, iterations);
    if (!*graph) YK_TRY(capture_batch(cg, graph));
    return gpu->ended ? YOKE_OK : yk_device_graph_launch(&gpu->device, *graph);
}

/* Graphs hold the pointers, the format and the shape of their making. Made at planning; those with
 * a user's callbacks at the first solve, before which nothing calls them. */
static yoke_status prepare_graph(yk_cg *cg)
{
    struct yk_gpu_state *gpu = cg->gpu;
    yoke_status status = YOKE_OK;
    int previous = yk_device_enter(&gpu->device), kinds = cg->folded ? 2 : 1;
    for (int i = 0; i < 2; i++) {
        yk_device_graph_destroy(gpu->graph[i]);
        gpu->graph[i] = NULL;
    }
    if (cg->op || cg->preconditioner || cg->rows == 0) kinds = 0;
    for (int i = 0; i < kinds && status == YOKE_OK; i++) {
        cg->newest_p = i;
        status = capture_batch(cg, &gpu->graph[i]);
    }
    cg->newest_p = 0;
    yk_device_leave(previous);
    return status;
}

typedef yoke_status (*launch_fn)(yk_cg *cg, int64_t iterations);

yoke_status yk_gpu_begin_advance(yk_cg *cg, int64_t at_most)
{
    struct yk_gpu_state *gpu = cg->gpu;
    yk_gpu_loop *loop = gpu->staged;
    gpu->ended = gpu->step_done = false;
    loop->s = cg->s;
    loop->drift = cg->drift;
    loop->left = at_most;
    loop->halt = 0;
    loop->folds = 0;
    loop->limits = cg->limits;
    loop->recorded = 0;
    loop->meetings = cg->meetings;
    return yk_device_copy(&gpu->device, gpu->loop, loop, offsetof(yk_gpu_loop, rr));
}

/* Looks at the head that was copied when the batch before the last one ended. */
static yoke_status halted(struct yk_gpu_state *gpu, int64_t batch, bool *halt)
{
    *halt = false;
    if (batch < 1) return YOKE_OK;
    int mark = (int)((batch - 1) & 1);
    YK_TRY(yk_device_wait_mark(&gpu->device, mark));
    *halt = gpu->seen[mark]->halt;
    return YOKE_OK;
}

static yoke_status run_batches(yk_cg *cg, int64_t at_most, launch_fn launch)
{
    struct yk_gpu_state *gpu = cg->gpu;
    bool halt = false;
    for (int64_t batch = 0, done = 0; done < at_most && !halt && !gpu->ended;
         batch++, done += BATCH) {
        int mark = (int)(batch & 1);
        YK_TRY(launch(cg, at_most - done));
        YK_TRY(yk_device_copy(&gpu->device, gpu->seen[mark], gpu->loop, YK_GPU_LOOP_HEAD));
        YK_TRY(yk_device_set_mark(&gpu->device, mark));
        YK_TRY(halted(gpu, batch, &halt));
    }
    return YOKE_OK;
}

static void record(yk_cg *cg, const yk_gpu_loop *loop, int64_t first)
{
    for (int64_t k = 0; k < loop->recorded && first + k < cg->history_capacity; k++)
        cg->history[first + k] = ldexp(sqrt(loop->rr[k]), cg->exponent);
}

yoke_status yk_gpu_end_advance(yk_cg *cg)
{
    struct yk_gpu_state *gpu = cg->gpu;
    int64_t first = cg->s.iteration + 1;
    bool history = cg->history_capacity > first;
    YK_TRY(yk_device_copy(&gpu->device, gpu->staged, gpu->loop,
                          history ? sizeof *gpu->loop : YK_GPU_LOOP_HEAD));
    YK_TRY(yk_device_wait(&gpu->device));
    if (history) record(cg, gpu->staged, first);
    cg->s = gpu->staged->s;
    cg->drift = gpu->staged->drift;
    cg->newest_p ^= gpu->staged->folds & 1;
    if (cg->op || cg->preconditioner) yk_gpu_conclude_callbacks(cg);
    return YOKE_OK;
}

static yoke_status advance_by(yk_cg *cg, int64_t at_most, launch_fn launch)
{
    YK_TRY(yk_gpu_begin_advance(cg, at_most));
    YK_TRY(run_batches(cg, at_most, launch));
    return yk_gpu_end_advance(cg);
}

static yoke_status advance_by_stream(yk_cg *cg, int64_t at_most)
{
    return advance_by(cg, at_most, launch_stream);
}

static yoke_status advance_by_graph(yk_cg *cg, int64_t at_most)
{
    return advance_by(cg, at_most, launch_graph);
}

/* Without rows nothing is launched, and so nothing counts: all sums are 0. */
static void advance_without_rows(yk_cg *cg, int64_t at_most)
{
    const double dot[YK_DOTS] = {0.0};
    for (; at_most > 0 && cg->s.stop == YK_CG_GO_ON; at_most--) {
        yk_cg_after_multiply(&cg->s, dot[YK_DOT_PQ]);
        yk_cg_after_update(&cg->s, &cg->limits, dot);
        if (cg->s.iteration < cg->history_capacity) cg->history[cg->s.iteration] = 0.0;
    }
}

/* With a history, no further than the device can record. */
void yk_gpu_advance(yk_cg *cg, int64_t at_most, yk_gpu_advance_fn advance)
{
    if (cg->rows == 0) {
        advance_without_rows(cg, at_most);
        return;
    }
    int previous = yk_device_enter(&cg->gpu->device);
    while (at_most > 0 && cg->s.stop == YK_CG_GO_ON && cg->status == YOKE_OK) {
        int64_t before = cg->s.iteration;
        int64_t now =
            cg->history_capacity > 0 && at_most > YK_GPU_HISTORY ? YK_GPU_HISTORY : at_most;
        if (!yk_gpu_ok(cg, advance(cg, now))) break;
        at_most -= cg->s.iteration - before;
        if (cg->s.iteration == before) break;
    }
    yk_device_leave(previous);
}

static void advance_stream(yk_cg *cg, int64_t at_most)
{
    yk_gpu_advance(cg, at_most, advance_by_stream);
}

static void advance_graph(yk_cg *cg, int64_t at_most)
{
    yk_gpu_advance(cg, at_most, advance_by_graph);
}

const yk_driver yk_driver_stream = {
    .name = "stream",
    .text = "kernels on a CUDA stream",
    .engine = &yk_engine_gpu,
    .takes_callbacks = true,
    .with_cpu = &yk_driver_stream_with_cpu,
    .with_gpus = &yk_driver_stream_with_gpus,
    .advance = advance_stream,
};

const yk_driver yk_driver_graph = {
    .name = "graph",
    .text = "batches of kernels as a CUDA graph",
    .engine = &yk_engine_gpu,
    .takes_callbacks = true,
    .with_cpu = &yk_driver_graph_with_cpu,
    .with_gpus = &yk_driver_graph_with_gpus,
    .prepare = prepare_graph,
    .advance = advance_graph,
};
