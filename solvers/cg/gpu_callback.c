/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_callback.c: a user's operator or preconditioner in a GPU plan. One that takes device pointers
 * enqueues its work on our stream, as a pass does, and may run ahead of the loop's end: it then
 * writes q or z again, which nobody reads. For one that takes host memory the vectors pass through
 * the host, which waits at each call and so looks whether the loop has ended. */
#include <math.h>

#include "lib/context.h"
#include "lib/status.h"
#include "solvers/cg/gpu_state.h"

typedef enum applied { APPLIED, APPLY_FAILED, LOOP_HALTED } applied;

static bool takes_device(const yoke_operator *op)
{
    return (op->flags & YOKE_APPLY_DEVICE) != 0;
}

/* The plan's device is current for the callback, and after it, whatever it made so. */
static applied call(const yk_cg *cg, const yoke_operator *op, const double *in, double *out)
{
    yoke_space space = takes_device(op) ? YOKE_DEVICE_MEMORY : YOKE_HOST;
    void *stream = takes_device(op) ? cg->gpu->device.stream : NULL;
    int code = op->apply(op->user, 1, in, out, space, stream);
    yk_device_enter(&cg->gpu->device);
    return code == 0 ? APPLIED : APPLY_FAILED;
}

/* Writing exchange[1] again is safe: its copy came before `in`'s on the stream. */
static yoke_status apply_through_host(yk_cg *cg, const yoke_operator *op, const double *in,
                                      double *out, bool look, applied *result)
{
    struct yk_gpu_state *gpu = cg->gpu;
    size_t bytes = (size_t)cg->rows * sizeof *in;
    YK_TRY(yk_device_copy(&gpu->device, gpu->exchange[0], in, bytes));
    if (look) YK_TRY(yk_device_copy(&gpu->device, gpu->staged, gpu->loop, YK_GPU_LOOP_HEAD));
    YK_TRY(yk_device_wait(&gpu->device));
    *result = LOOP_HALTED;
    if (look && gpu->staged->halt) return YOKE_OK;
    *result = call(cg, op, gpu->exchange[0], gpu->exchange[1]);
    if (*result != APPLIED) return YOKE_OK;
    return yk_device_copy(&gpu->device, out, gpu->exchange[1], bytes);
}

static yoke_status apply(yk_cg *cg, const yoke_operator *op, yk_vector in, yk_vector out, bool look,
                         applied *result)
{
    const double *from = yk_cg_vector(cg, 0, in);
    double *to = yk_cg_vector(cg, 0, out);
    if (!takes_device(op)) return apply_through_host(cg, op, from, to, look, result);
    *result = call(cg, op, from, to);
    return YOKE_OK;
}

bool yk_gpu_apply(yk_cg *cg, const yoke_operator *op, yk_vector in, yk_vector out)
{
    applied result = APPLIED;
    if (cg->status != YOKE_OK) return true;
    int previous = yk_device_enter(&cg->gpu->device);
    yk_gpu_ok(cg, apply(cg, op, in, out, false, &result));
    yk_device_leave(previous);
    return result != APPLY_FAILED;
}

/* -------------------------------------------------------------------- loop */

static yoke_status apply_in_loop(yk_cg *cg, const yoke_operator *op, yk_vector in, yk_vector out)
{
    applied result = APPLIED;
    YK_TRY(apply(cg, op, in, out, true, &result));
    cg->gpu->ended = result != APPLIED;
    if (result != APPLY_FAILED) return YOKE_OK;
    yk_cg_note_failed_callback(cg, op);
    cg->gpu->step_done = op == cg->op;
    return YOKE_OK;
}

static yoke_status enqueue(yk_cg *cg, yk_task task)
{
    yk_gpu_view view = yk_gpu_view_of(cg, cg->newest_p);
    return yk_device_try(yk_gpu_launch(&view, task, cg->gpu->loop, cg->gpu->device.stream),
                         "a pass around a callback");
}

static yoke_status enqueue_multiplication(yk_cg *cg)
{
    yk_gpu_view view = yk_gpu_view_of(cg, cg->newest_p);
    YK_TRY(enqueue(cg, YK_TASK_DIRECTION));
    if (!cg->op) return yk_gpu_enqueue_multiply(cg, &view);
    YK_TRY(apply_in_loop(cg, cg->op, YK_VECTOR_P, YK_VECTOR_Q));
    return cg->gpu->ended ? YOKE_OK : enqueue(cg, YK_TASK_DOT_PQ);
}

static yoke_status enqueue_update(yk_cg *cg)
{
    if (!cg->preconditioner) return enqueue(cg, yk_cg_update_task(cg));
    YK_TRY(enqueue(cg, YK_TASK_UPDATE_R));
    YK_TRY(apply_in_loop(cg, cg->preconditioner, YK_VECTOR_R, YK_VECTOR_Z));
    return cg->gpu->ended ? YOKE_OK : enqueue(cg, YK_TASK_DOTS_Z);
}

yoke_status yk_gpu_enqueue_callbacks(yk_cg *cg)
{
    YK_TRY(enqueue_multiplication(cg));
    return cg->gpu->ended ? YOKE_OK : enqueue_update(cg);
}

/* A callback that failed ahead of the loop's own end does not count. */
static void conclude_failure(yk_cg *cg)
{
    if (cg->s.stop != YK_CG_GO_ON) {
        cg->failed_callback = NULL;
        return;
    }
    cg->s.stop = YK_CG_CALLBACK;
    if (cg->gpu->step_done) cg->s.alpha = 0.0;
}

void yk_gpu_conclude_callbacks(yk_cg *cg)
{
    const yk_cg_scalars *s = &cg->s;
    if (cg->failed_callback) conclude_failure(cg);
    if (s->stop != YK_CG_NOT_FINITE) return;
    if (cg->op && !isfinite(s->pq)) cg->not_finite_from = "operator";
    if (cg->preconditioner && isfinite(s->pq) && isfinite(s->rr))
        cg->not_finite_from = "preconditioner";
}

/* ------------------------------------------------------------------ memory */

static bool needs_exchange(const yk_cg *cg)
{
    return (cg->op && !takes_device(cg->op)) ||
           (cg->preconditioner && !takes_device(cg->preconditioner));
}

size_t yk_gpu_exchange_bytes(const yk_cg *cg)
{
    return needs_exchange(cg) ? 2 * (size_t)cg->rows * sizeof(double) : 0;
}

/* Copies from memory that cannot be pinned are slower and right. */
static yoke_status allocate_pageable(yk_cg *cg)
{
    yk_log(cg->context, YOKE_LOG_NOTICE, "vectors for callbacks cannot be pinned: %s",
           yoke_error_text());
    for (int i = 0; i < 2; i++)
        YK_TRY(yk_alloc(cg->context, "vectors for callbacks", cg->rows, sizeof(double),
                        &cg->gpu->exchange[i]));
    return YOKE_OK;
}

yoke_status yk_gpu_open_exchange(yk_cg *cg)
{
    struct yk_gpu_state *gpu = cg->gpu;
    size_t bytes = (size_t)cg->rows * sizeof(double);
    if (!needs_exchange(cg) || bytes == 0) return YOKE_OK;
    gpu->exchange_pinned = true;
    for (int i = 0; i < 2; i++)
        if (yk_device_allocate_pinned("vectors for callbacks", bytes, &gpu->exchange[i]) !=
            YOKE_OK) {
            yk_gpu_close_exchange(cg);
            return allocate_pageable(cg);
        }
    return YOKE_OK;
}

void yk_gpu_close_exchange(yk_cg *cg)
{
    struct yk_gpu_state *gpu = cg->gpu;
    for (int i = 0; i < 2; i++) {
        if (gpu->exchange_pinned)
            yk_device_free_pinned(gpu->exchange[i]);
        else
            yk_free(cg->context, gpu->exchange[i], cg->rows, sizeof(double));
        gpu->exchange[i] = NULL;
    }
    gpu->exchange_pinned = false;
}
