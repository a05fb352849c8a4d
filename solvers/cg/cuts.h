/* SPDX-License-Identifier: BSD-3-Clause */
/* cuts.h: a cut that moves between a GPU's part and a CPU's: the cuts that it may take, all made
 * ready at planning, and what it takes to go from one to another between two advances. */
#ifndef YK_CG_CUTS_H
#define YK_CG_CUTS_H

#include "partition/adaptive.h"
#include "solvers/cg/cg.h"

/* With a cut at a row the GPU works on the rows before it, the CPU on the others. The GPU's
 * boundary is what of its rows the CPU reads, and so the CPU's halo; and the other way round. All
 * boundaries lie one behind the other: those of cut k of the GPU in [gpu_first[k], gpu_first[k +
 * 1]). */
struct yk_cuts {
    int count, at;             /* in force */
    int64_t row[YK_MOST_CUTS]; /* ascending; the GPU holds those before the last one */
    int64_t gpu_first[YK_MOST_CUTS + 1], cpu_first[YK_MOST_CUTS + 1];
    int32_t *gpu_row, *cpu_place; /* [gpu_first[count]] local to the GPU, and to the CPU */
    int32_t *cpu_row, *gpu_place; /* [cpu_first[count]] */
    double bytes;                 /* of an iteration over all rows */
    int pieces, threads;          /* of the CPU's part, at most */
    yk_adaptive policy;
    yk_clock clock;
    int64_t moved;                  /* in this solve */
    const int *forced, *forced_end; /* for tests: cuts to take, in place of the policy's */
};

/* Planning: each part's pieces are of all rows that it holds, to be filled. */
void yk_cuts_hold(yk_cg *cg);

/* That cut in force, by what each part works on, sends and is sent; no value moves. */
void yk_cuts_take(yk_cg *cg, int cut);

/* The policy begins, with what planning has measured. */
void yk_cuts_begin(yk_cg *cg, yk_rates rates);

/* Before an advance: moves the cut, if the times of those before say so, of an earlier solve too.
 * How far the next may go, of `steps`. */
int64_t yk_cuts_adapt(yk_cg *cg, int64_t steps);

/* By the first worker: an iteration's end; what the CPU worked on a half of it. */
static inline void yk_clock_begin(yk_clock *clock, int64_t at_most)
{
    clock->skips = at_most > 1; /* the first iteration begins with the launch of kernels */
    clock->half_busy = 0.0;
    clock->lap_began = yoke_seconds();
}

static inline void yk_clock_lap(yk_clock *clock)
{
    double now = yoke_seconds();
    if (!clock->skips) {
        clock->seconds += now - clock->lap_began;
        clock->busy += clock->half_busy;
        clock->iterations++;
    }
    clock->skips = false;
    clock->half_busy = 0.0;
    clock->lap_began = now;
}

#endif
