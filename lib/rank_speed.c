/* SPDX-License-Identifier: BSD-3-Clause */
/* rank_speed.c: how fast a rank is beside others. */
#include "lib/rank_speed.h"

#include "lib/threads.h"

static yk_rank_speed share_of(const yk_curve *curve, double speed, double share, bool kept)
{
    bool known = speed > 0.0;
    return (yk_rank_speed){known ? speed * share : 0.0, kept && curve->kind == YK_MEASURED};
}

/* Ranks that divide processors, or a GPU, read its memory at once. */
yk_rank_speed yk_rank_speed_by(const yk_profile *profile, bool kept, const yk_rank_node *node)
{
    const yk_curve *cpu = &profile->cpu_read, *gpu = &profile->gpu_read;
    double share = node->ranks > node->gpus ? (double)node->gpus / node->ranks : 1.0;
    if (node->gpus > 0 && gpu->points > 0)
        return share_of(gpu, gpu->value[gpu->points - 1], share, kept);
    double all = yk_curve_at(cpu, (double)node->threads * node->sharing);
    return share_of(cpu, all, 1.0 / node->sharing, kept);
}

void yk_rank_speed_here(const yoke_context *context, bool on_gpus, yk_rank_speed *speed)
{
    yk_profile profile;
    char notice[256];
    bool kept = false;
    const yk_rank_node node = {.threads = yk_threads(context, 0),
                               .sharing = yk_ranks_sharing(),
                               .ranks = yk_ranks_on_node(),
                               .gpus = on_gpus ? yoke_gpu_count(NULL) : 0};
    yk_profile_here(node.gpus > 0 ? 0 : -1, &profile, &kept, notice, sizeof notice);
    *speed = yk_rank_speed_by(&profile, kept, &node);
}
