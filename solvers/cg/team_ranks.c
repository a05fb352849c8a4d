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

static void multiply_inner(const yk_worker *w, int i, yk_task task)
{
    yk_cg *cg = w->cg;
    yk_inner *inner = &cg->ranks->inner[i];
    yk_cg_rows c = yk_team_view(w, &cg->piece[i]);
    int64_t before = (inner->first - cg->piece[i].first) / YK_CHUNK;
    yk_tree_begin(&inner->sums, yk_team_first_chunk(cg, &cg->piece[i]) + before,
                  yk_task_dots(task));
    cg->passes->pass[task](&c, inner->first, inner->last, &inner->sums);
}

/* The rows before and behind; the sums as if all had been taken in order. */
static void multiply_rest(const yk_worker *w, int i, yk_task task)
{
    yk_cg *cg = w->cg;
    yk_piece *piece = &cg->piece[i];
    const yk_inner *inner = &cg->ranks->inner[i];
    yk_cg_rows c = yk_team_view(w, piece);
    yk_tree_begin(&piece->sums, yk_team_first_chunk(cg, piece), yk_task_dots(task));
    cg->passes->pass[task](&c, piece->first, inner->first, &piece->sums);
    yk_tree_append(&piece->sums, &inner->sums);
    cg->passes->pass[task](&c, inner->last, piece->last, &piece->sums);
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
    YK_FOR_MY_PIECES(w, i) multiply_inner(w, i, task);
    if (!halo_has_come(w, number - 1)) return false;
    if (gates) direct_halos(w);
    if (gates && cg->ranks->has_halo && !yk_team_gate(w, number + 1)) return false;
    YK_FOR_MY_PIECES(w, i) multiply_rest(w, i, task);
    if (cg->folded) direct_halos(w);
    return true;
}
