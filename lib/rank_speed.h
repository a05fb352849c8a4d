/* SPDX-License-Identifier: BSD-3-Clause */
/* rank_speed.h: how fast a rank is beside others: what it can read of the memory of its rows. */
#ifndef YK_RANK_SPEED_H
#define YK_RANK_SPEED_H

#include <stdbool.h>

#include "lib/context.h"
#include "lib/profile.h"

typedef struct yk_rank_speed {
    double speed;    /* bytes a second; 0: not known */
    double measured; /* 1: by a profile that was measured and kept on this machine; 0: a guess */
} yk_rank_speed;

/* The node of a rank: its threads, the ranks that divide its processors, all its ranks and the GPUs
 * that these share; gpus 0: rows lie in host memory. */
typedef struct yk_rank_node {
    int threads, sharing, ranks, gpus;
} yk_rank_node;

/* By a machine's profile: the figure that the rank's rows depend on, kept or not. */
yk_rank_speed yk_rank_speed_by(const yk_profile *profile, bool kept, const yk_rank_node *node);

/* Of this process; by its GPU, if on_gpus and there is one. Measures nothing, but asks a GPU then.
 */
void yk_rank_speed_here(const yoke_context *context, bool on_gpus, yk_rank_speed *speed);

#endif
