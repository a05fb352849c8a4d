/* SPDX-License-Identifier: BSD-3-Clause */
/* model_ranks.c: what joins ranks: halos and sums over the network, what of them is hidden behind
 * the rows' work, and which recurrence that speaks for. */
#include <math.h>

#include "lib/model.h"
#include "lib/ranks.h"

/* Share of cg's time that a recurrence with one sum has to stay below: predictions are not better.
 */
#define WORTH_IT 0.95

/* As lib/spread.c sizes it: the nodes of one tree over all chunks. */
static double message_bytes(const yk_model *m)
{
    double chunks = fmax(1.0, ceil(m->matrix->rows / YK_CHUNK));
    double nodes = fmin(YK_TREE_NODES, 2.0 * floor(log2(chunks)) + 4.0);
    return (double)yk_message_bytes((int)nodes);
}

/* Recursive doubling (Thakur, Rabenseifner, Gropp, Int. J. High Perform. Comput. Appl. 19, 2005).
 */
static double all_reduce_seconds(const yk_model *m)
{
    const yk_model_plan *plan = m->plan;
    double step = plan->network_latency + message_bytes(m) / plan->network_speed;
    return ceil(log2(plan->ranks)) * step;
}

/* All of a rank's messages pass through its own port, which sends and receives at once. */
static double halo_seconds(const yk_model *m, const yoke_rank_cut *cut)
{
    if (!(cut->halo > 0.0)) return 0.0;
    return m->plan->network_latency + fmax(0.0, cut->neighbours - 1.0) * m->c->message_gap +
           8.0 * cut->halo / m->plan->network_speed;
}

/* What the GPU's rows need of others, and others of them, passes through host memory. */
static double staging_seconds(const yk_model *m, const yoke_rank_cut *cut)
{
    const yk_profile *p = m->machine;
    double bytes = 8.0 * cut->halo * m->gpu_rows / m->rows;
    if (!(m->gpu_rows > 0.0)) return 0.0;
    return bytes / yk_figure_or(&p->link_from_gpu, NAN) +
           bytes / yk_figure_or(&p->link_to_gpu, NAN);
}

/* The host brings the GPU's sums to the network, and begins the next half by what came: it waits
 * for an event and enqueues anew, in every memory mode. Beside CPU rows they meet in any case. */
static double sums_seconds(const yk_model *m)
{
    const yk_profile *p = m->machine;
    if (!(m->gpu_rows > 0.0) || m->cpu_rows > 0.0) return 0.0;
    if (m->plan->memory == YK_MODEL_EXPLICIT) return yk_model_meeting(m);
    return yk_model_gpu_tail(m) + yk_figure_or(&p->gpu_launch_sync, NAN);
}

static double half_seconds(const yk_model_times *times, int half)
{
    double owner[2] = {0.0, 0.0};
    for (int t = 0; t < YK_MODEL_TERM_COUNT; t++) {
        if (yk_model_terms[t].owner == 'c') owner[0] += times->at[half][t];
        if (yk_model_terms[t].owner == 'g') owner[1] += times->at[half][t];
    }
    return fmax(owner[0], owner[1]);
}

/* Of the first half, the pass that multiplies. */
static double product_seconds(const yk_model *m, const yk_model_times *times)
{
    double vectors = yk_model_row_bytes(m, 0) - yk_model_product_bytes(m);
    double matrix = (m->cpu_bytes + m->gpu_bytes) / m->rows + yk_model_product_bytes(m);
    return half_seconds(times, 0) * matrix / (matrix + vectors);
}

/* Takes what is hidden from the terms' time, the first term first. */
static void hide(yk_model_times *times, double seconds, int first, int second)
{
    const int term[] = {first, second};
    for (int i = 0; i < 2; i++) {
        double left = times->at[0][term[i]] + times->at[1][term[i]] - times->hidden[term[i]];
        double part = fmax(0.0, fmin(left, seconds));
        times->hidden[term[i]] += part;
        seconds -= part;
    }
}

/* cg: z leaves before the second sums meet and is wanted for the rows with
 * halo columns, behind the directions and the other rows' products. cg-single: only these products
 * lie between. cg-pipelined: the sums meet while the product is made, and z travels with them. */
static void hide_behind_work(const yk_model *m, const yoke_rank_cut *cut, double all_reduce,
                             yk_model_times *times)
{
    double product = product_seconds(m, times);
    double inner = product * fmax(0.0, 1.0 - cut->halo / m->rows), before = 0.0;
    if (m->plan->solver == YK_MODEL_CG)
        before = all_reduce + (m->plan->folded ? 0.0 : half_seconds(times, 0) - product);
    hide(times, before + inner, YK_TERM_network_halo, YK_TERM_rank_link);
    if (m->plan->solver != YK_MODEL_PIPELINED) return;
    hide(times, product, YK_TERM_all_reduce, YK_TERM_all_reduce);
}

void yk_model_rank_terms(const yk_model *m, yk_model_times *times)
{
    const yoke_rank_cut cut = yk_model_cut(m->matrix, m->plan->ranks, m->plan->blocks);
    double all_reduce = all_reduce_seconds(m), halo = halo_seconds(m, &cut);
    int halves = yk_model_halves(m);
    times->at[halves - 1][YK_TERM_network_halo] += halo;
    times->at[halves - 1][YK_TERM_rank_link] += staging_seconds(m, &cut);
    for (int half = 0; half < halves; half++) times->at[half][YK_TERM_all_reduce] += all_reduce;
    hide_behind_work(m, &cut, all_reduce, times);
    for (int half = 0; half < halves; half++) times->at[half][YK_TERM_rank_link] += sums_seconds(m);
}

yk_model_solver yk_model_best_solver(const yk_profile *machine, const yk_model_constants *constants,
                                     const yoke_shape *matrix, const yk_model_plan *plan)
{
    static const yk_model_solver one_sum[] = {YK_MODEL_SINGLE, YK_MODEL_PIPELINED};
    yk_model_plan other = *plan;
    yk_model_result result;
    yk_model_solver best = YK_MODEL_CG;
    if (plan->ranks < 2) return best;
    other.solver = YK_MODEL_CG;
    yk_model_predict(machine, constants, matrix, &other, &result);
    double least = WORTH_IT * result.seconds;
    other.folded = false;
    for (int i = 0; i < 2; i++) {
        other.solver = one_sum[i];
        yk_model_predict(machine, constants, matrix, &other, &result);
        if (!(result.seconds <= least)) continue;
        least = result.seconds;
        best = one_sum[i];
    }
    return best;
}
