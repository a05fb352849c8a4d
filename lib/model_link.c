/* SPDX-License-Identifier: BSD-3-Clause */
/* model_link.c: what joins a GPU and the CPU. */
#include <math.h>

#include "lib/model.h"

static const double counted_at[YOKE_HALOS] = YK_HALO_SHARES;

/* Between the shares where it was counted a line over the logarithm. Beyond a half the two change
 * places: that is exact for bands and random patterns. */
double yk_model_halo(const yoke_shape *matrix, double cpu_share, bool of_cpu)
{
    double share = fmin(cpu_share, 1.0 - cpu_share);
    const double *halo =
        of_cpu == (cpu_share <= 0.5) ? matrix->halo_of_last : matrix->halo_of_first;
    int last = YOKE_HALOS - 1, k = 1;
    if (share <= counted_at[0]) return halo[0];
    if (share >= counted_at[last]) return halo[last];
    while (k < last && share > counted_at[k]) k++;
    double part = log(share / counted_at[k - 1]) / log(counted_at[k] / counted_at[k - 1]);
    return halo[k - 1] + part * (halo[k] - halo[k - 1]);
}

static double figure(const yk_figure *f)
{
    return yk_figure_or(f, NAN);
}

/* A meeting by flags: a kernel that makes the part's sums, a flag to and fro, and the threads'
 * barrier. By events: the sums and the boundary come down, are waited for, and go up. */
double yk_model_meeting(const yk_model *m)
{
    const yk_profile *p = m->machine;
    double barrier = yk_model_cpu_barrier(m);
    if (m->plan->memory == YK_MODEL_EXPLICIT)
        return m->c->meeting_copies * figure(&p->copy_latency) + figure(&p->gpu_launch_sync) +
               barrier;
    return m->c->meeting_tails * m->c->tail_barriers * figure(&p->gpu_grid_barrier) +
           figure(&p->gpu_graph_node) + m->c->meeting_round_trips * figure(&p->flag_round_trip) +
           barrier;
}

/* Home shared by copies: all of z, both ways at once. */
static double halo_seconds(const yk_model *m)
{
    const yk_profile *p = m->machine;
    double down = 8.0 * yk_model_halo(m->matrix, m->plan->cpu_share, true);
    double up = 8.0 * yk_model_halo(m->matrix, m->plan->cpu_share, false);
    if (m->plan->memory == YK_MODEL_EXPLICIT && m->plan->home == YK_MODEL_SHARED)
        return 16.0 * m->rows / figure(&p->link_both);
    if (m->plan->memory == YK_MODEL_EXPLICIT)
        return down / figure(&p->link_from_gpu) + up / figure(&p->link_to_gpu);
    return down / yk_figure_or(&p->gpu_writes_host, figure(&p->gpu_reads_host)) +
           up / figure(&p->gpu_reads_host);
}

void yk_model_link_terms(const yk_model *m, yk_model_times *times)
{
    times->at[yk_model_halves(m) - 1][YK_TERM_halo] += halo_seconds(m);
    for (int half = 0; half < yk_model_halves(m); half++)
        times->at[half][YK_TERM_meeting] += yk_model_meeting(m);
}
