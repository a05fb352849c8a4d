/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_meeting.cuh: how blocks that all run at once meet: each puts its nodes of a sum, as messages,
 * where all await them. What the kernels of the persistent driver have in common. */
#ifndef YK_GPU_MEETING_CUH
#define YK_GPU_MEETING_CUH

#include "solvers/cg/gpu_message.cuh"
#include "solvers/cg/gpu_resident_layout.h"
#include "solvers/cg/gpu_sums.cuh"

enum {
    BATCH = 4,         /* words that a lane awaits at once */
    PATIENCE = 1 << 25 /* reads of a message, some 0.6 us each, before a partner counts as lost */
};

enum kind { AFTER_MULTIPLY, AFTER_UPDATE };

typedef yk_resident_turn turn;

/* Now and then: whether this block, or another, has waited long enough. */
static __device__ __noinline__ bool lost_patience(int *abandoned, int tries)
{
    if (tries >= PATIENCE) *(volatile int *)abandoned = 1;
    return *(volatile int *)abandoned != 0;
}

/* One tree over the warp's values, neighbours first, up to groups of `width`. */
static __device__ __forceinline__ double tree_over(double sum, int width)
{
#pragma unroll
    for (int step = 1; step < WARP; step *= 2) {
        double other = __shfl_xor_sync(ALL, sum, step);
        if (step < width) sum += other;
    }
    return sum;
}

/* By a warp: COUNT words a lane of the `words` that begin at `from`, in a tree; those that are not
 * there count as 0. Clears *good if they do not come. */
template <int COUNT>
static __device__ __forceinline__ double
await(const yk_message *from, int words, unsigned long long of_meeting, int *abandoned, bool *good)
{
    const int lane = threadIdx.x % WARP;
    const yk_message *word = from + (lane < words ? lane : 0);
    double value[COUNT];
    for (int tries = 1;; tries++) {
        /* No load hangs on a condition, so that all are under way at once. */
        unsigned long long tag[COUNT];
        bool here = true;
#pragma unroll
        for (int j = 0; j < COUNT; j++)
            tag[j] = get(word + (j * WARP + lane < words ? j * WARP : 0), &value[j]);
#pragma unroll
        for (int j = 0; j < COUNT; j++) here &= tag[j] == of_meeting;
        if (__all_sync(ALL, here)) break; /* a vote: the warp stays together */
        if (tries % 1024 == 0 && lost_patience(abandoned, tries)) {
            *good = false;
            break;
        }
    }
#pragma unroll
    for (int j = 0; j < COUNT; j++)
        if (j * WARP + lane >= words) value[j] = 0.0;
#pragma unroll
    for (int step = 1; step < WARP; step *= 2)
#pragma unroll
        for (int j = 0; j < COUNT; j++) value[j] += __shfl_xor_sync(ALL, value[j], step);
    return tree_of<COUNT>(value);
}

/* By one thread, with the first total, and what else there is in now->dot: as `step` in
 * gpu_kernels.cu. */
static __device__ __forceinline__ void take_turn(turn *now, kind kind, int update,
                                                 yk_gpu_loop *loop, double first)
{
    if (kind == AFTER_MULTIPLY) {
        yk_cg_after_multiply(&now->s, first);
        now->halt = now->s.stop != YK_CG_GO_ON;
        return;
    }
    const bool is_r = update == YK_TASK_UPDATE_NONE || update == YK_TASK_UPDATE_NONE_SHIFT;
    const double dot[YK_DOTS] = {first, is_r ? first : now->dot[YK_DOT_RZ],
                                 yk_task_dots(update) > 2 ? now->dot[YK_DOT_Z] : 0.0, 0.0};
    yk_cg_after_update(&now->s, &now->limits, dot);
    if (blockIdx.x == 0 && now->recorded < YK_GPU_HISTORY) loop->rr[now->recorded] = now->s.rr;
    now->recorded++;
    now->left--;
    now->halt = now->s.stop != YK_CG_GO_ON || now->left <= 0;
}

#endif
