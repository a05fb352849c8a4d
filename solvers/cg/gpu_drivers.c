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

static yoke_status enqueue_iteration(yk_cg *cg, int newest_p)
{
    struct yk_gpu_state *gpu = cg->gpu;
    void *stream = gpu->device.stream;
    yk_task update = yk_cg_update_task(cg);
    /* a fold writes the other p: the view is that after it */
    yk_gpu_view view = yk_gpu_view_of(cg, cg->folded ? newest_p ^ 1 : newest_p);
    if (cg->folded) {
        YK_TRY(yk_device_try(yk_gpu_launch(&view, YK_TASK_FOLD, gpu->loop, stream), "fold"));
    } else {
        YK_TRY(
            yk_device_try(yk_gpu_launch(&view, YK_TASK_DIRECTION, gpu->loop, stream), "direction"));
        YK_TRY(
            yk_device_try(yk_gpu_launch(&view, YK_TASK_MULTIPLY, gpu->loop, stream), "multiply"));
    }
    return yk_device_try(yk_gpu_launch(&view, update, gpu->loop, stream), "update");
}

static yoke_status enqueue_batch(yk_cg *cg, int64_t iterations)
{
    int newest_p = cg->newest_p;
    for (int64_t i = 0; i < iterations; i++) {
        YK_TRY(enqueue_iteration(cg, newest_p));
        if (cg->folded) newest_p ^= 1;
    }
    return YOKE_OK;
}

static yoke_status launch_stream(yk_cg *cg, int64_t iterations)
{
    return enqueue_batch(cg, iterations < BATCH ? iterations : BATCH);
}

static yoke_status launch_graph(yk_cg *cg, int64_t iterations)
{
    struct yk_gpu_state *gpu = cg->gpu;
    if (iterations < BATCH / 2) return enqueue_batch(cg, iterations);
    return yk_device_graph_launch(&gpu->device, gpu->graph[cg->newest_p]);
}

static yoke_status capture_batch(yk_cg *cg, void **graph)
{
    struct yk_gpu_state *gpu = cg->gpu;
    YK_TRY(yk_device_capture_begin(&gpu->device));
    yoke_status status = enqueue_batch(cg, BATCH);
    yoke_status ended = yk_device_capture_end(&gpu->device, graph);
    return status != YOKE_OK ? status : ended;
}

/* The graphs are made at planning, from pointers that stay as long as the plan. */
static yoke_status prepare_graph(yk_cg *cg)
{
    struct yk_gpu_state *gpu = cg->gpu;
    yoke_status status = YOKE_OK;
    int previous = yk_device_enter(&gpu->device), kinds = cg->folded ? 2 : 1;
    if (cg->rows == 0) kinds = 0;
    for (int i = 0; i < kinds && status == YOKE_OK; i++) {
        cg->newest_p = i;
        status = capture_batch(cg, &gpu->graph[i]);
    }
    cg->newest_p = 0;
    yk_device_leave(previous);
    return status;
}

typedef yoke_status (*launch_fn)(yk_cg *cg, int64_t iterations);

static yoke_status begin_advance(yk_cg *cg, int64_t at_most)
{
    struct yk_gpu_state *gpu = cg->gpu;
    yk_gpu_loop *loop = gpu->staged;
    loop->s = cg->s;
    loop->left = at_most;
    loop->halt = 0;
    loop->folds = 0;
    loop->limits = cg->limits;
    loop->recorded = 0;
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
    for (int64_t batch = 0, done = 0; done < at_most && !halt; batch++, done += BATCH) {
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

static yoke_status end_advance(yk_cg *cg)
{
    struct yk_gpu_state *gpu = cg->gpu;
    int64_t first = cg->s.iteration + 1;
    bool history = cg->history_capacity > first;
    YK_TRY(yk_device_copy(&gpu->device, gpu->staged, gpu->loop,
                          history ? sizeof *gpu->loop : YK_GPU_LOOP_HEAD));
    YK_TRY(yk_device_wait(&gpu->device));
    if (history) record(cg, gpu->staged, first);
    cg->s = gpu->staged->s;
    cg->newest_p ^= gpu->staged->folds & 1;
    return YOKE_OK;
}

static yoke_status advance_here(yk_cg *cg, int64_t at_most, launch_fn launch)
{
    YK_TRY(begin_advance(cg, at_most));
    YK_TRY(run_batches(cg, at_most, launch));
    return end_advance(cg);
}

/* With a history, no further than the device can record. */
static void advance(yk_cg *cg, int64_t at_most, launch_fn launch)
{
    int previous = yk_device_enter(&cg->gpu->device);
    while (at_most > 0 && cg->s.stop == YK_CG_GO_ON && cg->status == YOKE_OK) {
        int64_t before = cg->s.iteration;
        int64_t now =
            cg->history_capacity > 0 && at_most > YK_GPU_HISTORY ? YK_GPU_HISTORY : at_most;
        if (!yk_gpu_ok(cg, advance_here(cg, now, launch))) break;
        at_most -= cg->s.iteration - before;
        if (cg->s.iteration == before) break;
    }
    yk_device_leave(previous);
}

static void advance_stream(yk_cg *cg, int64_t at_most)
{
    advance(cg, at_most, launch_stream);
}

static void advance_graph(yk_cg *cg, int64_t at_most)
{
    advance(cg, at_most, launch_graph);
}

const yk_driver yk_driver_stream = {
    .name = "stream",
    .text = "kernels on a CUDA stream",
    .engine = &yk_engine_gpu,
    .advance = advance_stream,
};

const yk_driver yk_driver_graph = {
    .name = "graph",
    .text = "batches of kernels as a CUDA graph",
    .engine = &yk_engine_gpu,
    .prepare = prepare_graph,
    .advance = advance_graph,
};
