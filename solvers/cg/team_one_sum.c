/* SPDX-License-Identifier: BSD-3-Clause */
/* team_one_sum.c: the loops of cg-single and cg-pipelined by CPU threads. Between them lies where
 * the sums are published: behind the product, or before it, so that they travel meanwhile. */
#include "solvers/cg/ranks.h"
#include "solvers/cg/team.h"

yk_task yk_cg_step_task(const yk_cg *cg)
{
    if (cg->recurrence == YK_PIPELINED)
        return cg->jacobi ? YK_TASK_PIPELINED_STEP_JACOBI : YK_TASK_PIPELINED_STEP_NONE;
    return cg->jacobi ? YK_TASK_SINGLE_STEP_JACOBI : YK_TASK_SINGLE_STEP_NONE;
}

static void run(yk_worker *w, yk_task task)
{
    YK_FOR_MY_PIECES(w, i)
    {
        yk_cg_rows c = yk_team_view(w, &w->cg->piece[i]);
        yk_team_run_task(w->cg, &w->cg->piece[i], &c, task);
    }
}

static void send(yk_worker *w, int which)
{
    YK_FOR_MY_PIECES(w, i) yk_send_boundary(w->cg, &w->cg->piece[i], (yk_boundary)which);
}

static bool sends_to(const yk_part *from, int to)
{
    for (int i = 0; i < from->sends; i++)
        if (from->send[i].to == to) return true;
    return false;
}

/* Which flag says that a part has written what a product gathers. */
static yk_flag *flag_of(const yk_worker *w, int part)
{
    yk_port *port = &w->cg->link.port[part];
    return w->cg->recurrence == YK_PIPELINED ? &port->slot[w->meetings & 1].flag : &port->gate;
}

bool yk_team_wait_for_rows(yk_worker *w, unsigned number)
{
    const yk_cg *cg = w->cg;
    YK_FOR_MY_PIECES(w, i)
    {
        int mine = cg->piece[i].part;
        for (int part = 0; part < cg->parts; part++) {
            if (part != mine && !sends_to(&cg->part[part], mine)) continue;
            if (!yk_team_wait(w, flag_of(w, part), number)) return false;
        }
    }
    return true;
}

static void expect(const yk_worker *w, int which)
{
    if (w->cg->ranks && w->index == 0) (void)yk_cg_ranks_expect(w->cg, (yk_boundary)which);
}

static bool multiply_single(yk_worker *w)
{
    unsigned number = w->meetings + 1;
    if (w->cg->ranks) return yk_team_single_over_ranks(w, number);
    if (!yk_team_wait_for_rows(w, number) || !yk_team_begin(w, YK_HALF_MULTIPLY)) return false;
    run(w, YK_TASK_SINGLE_MULTIPLY);
    return true;
}

/* step, send z | neighbours | w = A z, sums | all */
static bool iterate_single(yk_worker *w, double *total)
{
    int dots = yk_task_dots(YK_TASK_SINGLE_MULTIPLY);
    if (!yk_team_begin(w, YK_HALF_UPDATE)) return false;
    expect(w, YK_BOUNDARY_Z);
    run(w, yk_cg_step_task(w->cg));
    send(w, YK_BOUNDARY_Z);
    yk_team_open_gates(w, w->meetings + 1);
    if (!multiply_single(w) || !yk_team_publish(w, YK_HALF_MULTIPLY)) return false;
    if (w->cg->ranks) return yk_team_meet_over_ranks(w, YK_HALF_MULTIPLY, dots, total);
    return yk_team_total(w, dots, total);
}

/* step, sums, send m | published, neighbours | q = A m | all. The last iteration of an advance
 * leaves the product to the next, whose first it is. */
static bool iterate_pipelined(yk_worker *w, double *total)
{
    yk_task step = yk_cg_step_task(w->cg);
    if (!yk_team_begin(w, YK_HALF_UPDATE)) return false;
    expect(w, YK_BOUNDARY_M + (w->newest_p ^ w->cg->turns_m));
    run(w, step);
    w->newest_p ^= w->cg->turns_m;
    send(w, YK_BOUNDARY_M + w->newest_p);
    if (!yk_team_publish(w, YK_HALF_UPDATE)) return false;
    if (w->cg->ranks) return yk_team_pipelined_over_ranks(w, yk_task_dots(step), total);
    if (w->left > 1) {
        if (!yk_team_wait_for_rows(w, w->meetings)) return false;
        if (!yk_team_begin(w, YK_HALF_MULTIPLY)) return false;
        run(w, YK_TASK_PRODUCT);
    }
    return yk_team_total(w, yk_task_dots(step), total);
}

void yk_team_iterate_one_sum(yk_worker *w, int64_t at_most)
{
    yk_cg *cg = w->cg;
    bool pipelined = cg->recurrence == YK_PIPELINED;
    if (pipelined && at_most > 0 && !w->s.stop) run(w, YK_TASK_PRODUCT);
    for (w->left = at_most; w->left > 0 && !w->s.stop; w->left--) {
        double total[YK_DOTS] = {0.0};
        if (!(pipelined ? iterate_pipelined(w, total) : iterate_single(w, total))) return;
        yk_cg_after_sums(&w->s, &w->drift, &cg->limits, total);
        if (w->index == 0) yk_team_record(cg, &w->s);
    }
}
