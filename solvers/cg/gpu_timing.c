/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_timing.c: passes of the GPU's part one by one, by events between them: so none begins before
 * the one before has ended, as they may inside the loop. */
#include "lib/status.h"
#include "solvers/cg/gpu_state.h"
#include "solvers/cg/timing.h"

static yoke_status clear_here(yk_cg *cg)
{
    const yk_device *device = &cg->gpu->device;
    const yk_part *part = yk_gpu_part(cg);
    size_t all = (size_t)(part->rows + part->halo) * sizeof(double);
    double *const vector[] = {part->x, part->r, part->p, part->z, part->p_old};
    for (int i = 0; i < 5; i++)
        if (vector[i]) YK_TRY(yk_device_clear(device, vector[i], all));
    YK_TRY(yk_device_clear(device, part->q, (size_t)part->rows * sizeof(double)));
    return yk_device_wait(device);
}

void yk_gpu_clear(yk_cg *cg)
{
    int previous = yk_device_enter(&cg->gpu->device);
    yk_gpu_ok(cg, clear_here(cg));
    yk_device_leave(previous);
}

/* The product is the format's own; cuSPARSE's leaves p.q to a second kernel. */
static yoke_status enqueue(yk_cg *cg, yk_gpu_view *view, yk_task task)
{
    void *stream = cg->gpu->device.stream;
    if (task == YK_TASK_MULTIPLY && cg->gpu->cusparse) {
        YK_TRY(yk_gpu_cusparse_multiply(cg));
        task = YK_TASK_DOT_PQ;
    }
    YK_TRY(yk_device_try(yk_gpu_launch(view, task, NULL, stream), "a timed pass"));
    view->walk.backwards ^= 1;
    return YOKE_OK;
}

static yoke_status time_between(yk_cg *cg, const yk_task *task, int count, void *const *timer,
                                double *seconds)
{
    const yk_device *device = &cg->gpu->device;
    yk_gpu_view view = yk_gpu_view_of(cg, cg->newest_p);
    YK_TRY(yk_device_timer_set(device, timer[0]));
    for (int i = 0; i < count; i++) {
        YK_TRY(enqueue(cg, &view, task[i]));
        YK_TRY(yk_device_timer_set(device, timer[i + 1]));
    }
    YK_TRY(yk_device_wait(device));
    for (int i = 0; i < count; i++)
        YK_TRY(yk_device_timer_seconds(timer[i], timer[i + 1], &seconds[i]));
    return YOKE_OK;
}

static yoke_status time_here(yk_cg *cg, const yk_task *task, int count, double *seconds)
{
    void *timer[YK_MOST_TIMED + 1] = {NULL};
    yoke_status status = YOKE_OK;
    for (int i = 0; i <= count && status == YOKE_OK; i++)
        status = yk_device_timer_create(&timer[i]);
    if (status == YOKE_OK) status = time_between(cg, task, count, timer, seconds);
    for (int i = 0; i <= count; i++) yk_device_timer_destroy(timer[i]);
    return status;
}

void yk_gpu_time_tasks(yk_cg *cg, const yk_task *task, int count, double *cpu, double *gpu)
{
    for (int i = 0; i < count; i++) cpu[i] = gpu[i] = NAN;
    if (cg->status != YOKE_OK) return;
    int previous = yk_device_enter(&cg->gpu->device);
    yk_gpu_ok(cg, time_here(cg, task, count, gpu));
    yk_device_leave(previous);
}
