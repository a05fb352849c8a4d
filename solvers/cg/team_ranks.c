/* SPDX-License-Identifier: BSD-3-Clause */
/* team_ranks.c: what the team does where other ranks have rows too: it multiplies the rows that
 * need no halo while that travels, and its sums meet theirs. */
#include "solvers/cg/ranks.h"
#include "solvers/cg/team.h"

/* The first worker meets the other ranks, the others wait for what it brings. */
bool yk_team_meet_over_ranks(yk_worker *w, yk_half half, int dots, double *total)
{
    unsigned meeting = w->meetings;
    yk_slot *slot = &w->cg->ranks->slot[meeting & 1];
    if (w->index == 0 && !yk_team_go_on(w, yk_cg_ranks_meet(w->cg, half, meeting, dots)))
        return false;
    if (!yk_team_wait(w, &slot->flag, meeting)) return false;
    yk_tree_total(&slot->sums, total);
    return true;
}

/* The first worker looks after what is under way every so many rows: some 30 us of them. */
enum { STRIDE = 16 * YK_CHUNK };

static void multiply_range(const yk_worker *w, const yk_cg_rows *c, yk_task task, int64_t first,
                           int64_t last, yk_tree *sums)
{
    yk_cg *cg = w->cg;
    int64_t stride = w->index == 0 ? STRIDE : last - first;
    for (int64_t at = first; at < last; at += stride) {
        cg->passes->pass[task](c, at, at + stride < last ? at + stride : last, sums);
        if (w->index == 0) yk_cg_ranks_progress(cg);
    }
}

static void multiply_inner(const yk_worker *w, int i, yk_task task)
{
    yk_cg *cg = w->cg;
    yk_inner *inner = &cg->ranks->inner[i];
    yk_cg_rows c = yk_team_view(w, &cg->piece[i]);
    int64_t before = (inner->first - cg->piece[i].first) / YK_CHUNK;
    yk_tree_begin(&inner->sums, yk_team_first_chunk(cg, &cg->piece[i]) + before,
                  yk_task_dots(task));
    multiply_range(w, &c, task, inner->first, inner->last, &inner->sums);
}

static void multiply_interior(const yk_worker *w, yk_task task)
{
    yk_rank_clock *clock = &w->cg->ranks->clock;
    double began = w->index == 0 ? yk_rank_clock_read(clock) : 0.0;
    YK_FOR_MY_PIECES(w, i) multiply_inner(w, i, task);
    if (w->index == 0) yk_rank_clock_add(clock, began, &clock->times.interior);
}

/* The rows before and behind; the sums as if all had been taken in order. */
static void multiply_rest(const yk_worker *w, int i, yk_task task)
{
    yk_cg *cg = w->cg;
    yk_piece *piece = &cg->piece[i];
    const yk_inner *inner = &cg->ranks->inner[i];
    yk_cg_rows c = yk_team_view(w, piece);
    yk_tree_begin(&piece->sums, yk_team_first_chunk(cg, piece), yk_task_dots(task));
    multiply_range(w, &c, task, piece->first, inner->first, &piece->sums);
    yk_tree_append(&piece->sums, &inner->sums);
    multiply_range(w, &c, task, inner->last, piece->last, &piece->sums);
}

static void direct_halos(const yk_worker *w)
{
    const yk_cg *cg = w->cg;
    YK_FOR_MY_PIECES(w, i)
    {
        yk_cg_rows c = yk_team_view(w, &cg->piece[i]);
        yk_team_direct_halo(cg, &c, &cg->piece[i], cg->folded ? c.p_old : c.p);
    }
}

static bool companion_has_halo(yk_worker *w)
{
    return !w->with || !w->with->halo || w->with->halo(w->cg);
}

static bool halo_has_come(yk_worker *w, unsigned meeting)
{
    if (w->index == 0 &&
        !yk_team_go_on(w, yk_cg_ranks_finish_halo(w->cg, meeting) && companion_has_halo(w)))
        return false;
    return w->cg->ranks->spread->halo == 0 || yk_team_wait(w, &w->cg->ranks->halo, meeting);
}

bool yk_team_multiply_over_ranks(yk_worker *w, unsigned number)
{
    yk_cg *cg = w->cg;
    yk_task task = cg->folded ? YK_TASK_FOLD : YK_TASK_MULTIPLY;
    bool gates = !cg->folded;
    if (cg->folded) w->newest_p ^= 1;
    YK_FOR_MY_PIECES(w, i)
    {
        yk_cg_rows c = yk_team_view(w, &cg->piece[i]);
        if (!cg->folded) yk_team_run_task(cg, &cg->piece[i], &c, YK_TASK_DIRECTION);
    }
    if (gates && !yk_team_gate(w, number)) return false;
    multiply_interior(w, task);
    if (!halo_has_come(w, number - 1)) return false;
    if (gates) direct_halos(w);
    if (gates && cg->ranks->has_halo && !yk_team_gate(w, number + 1)) return false;
    YK_FOR_MY_PIECES(w, i) multiply_rest(w, i, task);
    if (cg->folded) direct_halos(w);
    return true;
}

/* ------------------------------------------------------------ one sum alone */

/* Of rows that are written; the boundary is under way. */
static bool product(yk_worker *w, yk_task task, unsigned number)
{
    multiply_interior(w, task);
    if (!halo_has_come(w, number)) return false;
    YK_FOR_MY_PIECES(w, i) multiply_rest(w, i, task);
    return true;
}

/* What others wait for is sent even by a rank that gives up. */
bool yk_team_single_over_ranks(yk_worker *w, unsigned number)
{
    bool good = yk_team_wait_for_rows(w, number);
    if (w->index == 0) good = yk_team_go_on(w, yk_cg_ranks_dispatch(w->cg, YK_BOUNDARY_Z) && good);
    good = good && product(w, YK_TASK_SINGLE_MULTIPLY, number);
    if (!good && w->index == 0) yk_cg_ranks_give_up(w->cg, YK_HALF_MULTIPLY);
    return good;
}

/* The sums and m are on their way during the product, which the last iteration of an advance leaves
 * to the next. Where it fails here the others hear of that with the next sums, up to which the
 * first worker goes on. */
static bool work_meanwhile(yk_worker *w, int dots)
{
    yk_cg *cg = w->cg;
    bool first = w->index == 0, good = true;
    if (first) {
        good = yk_cg_ranks_begin_sums(cg, w->meetings, dots);
        good = yk_cg_ranks_dispatch(cg, (yk_boundary)(YK_BOUNDARY_M + w->newest_p)) && good;
        good = yk_team_go_on(w, good);
    } else if (w->left > 1) {
        good = yk_team_wait_for_rows(w, w->meetings);
    }
    if (good && w->left > 1) good = product(w, YK_TASK_PRODUCT, w->meetings);
    if (!first) return good;
    if (!yk_team_go_on(w, yk_cg_ranks_finish_sums(cg, w->meetings))) return false;
    w->s.stop = YK_CG_GO_ON;
    return true;
}

bool yk_team_pipelined_over_ranks(yk_worker *w, int dots, double *total)
{
    yk_slot *slot = &w->cg->ranks->slot[w->meetings & 1];
    if (!work_meanwhile(w, dots) || !yk_team_wait(w, &slot->flag, w->meetings)) return false;
    yk_tree_total(&slot->sums, total);
    return true;
}
