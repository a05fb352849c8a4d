/* SPDX-License-Identifier: BSD-3-Clause */
/* team_steps.c: iterations with a user's operator or preconditioner, task by task: a parallel
 * region each. */
#include <math.h>

#include "solvers/cg/team.h"

static void halo_direction(yk_cg *cg, yk_piece *piece, void *user)
{
    const yk_part *part = &cg->part[piece->part];
    yk_cg_rows c = yk_cg_view(cg, part, &cg->s, cg->newest_p);
    (void)user;
    yk_team_direct_halo(cg, &c, piece, c.p);
}

/* A callback may use threads of its own, so it runs between parallel regions. */
static bool multiply_by_steps(yk_cg *cg, double *total)
{
    yk_engine_cpu.run(cg, YK_TASK_DIRECTION, 0.0, NULL);
    yk_team_run(cg, halo_direction, NULL);
    if (cg->op && !yk_cg_callback(cg, cg->op, YK_VECTOR_P, YK_VECTOR_Q)) return false;
    yk_engine_cpu.run(cg, cg->op ? YK_TASK_DOT_PQ : YK_TASK_MULTIPLY, 0.0, total);
    if (cg->op && !isfinite(total[YK_DOT_PQ])) cg->not_finite_from = "operator";
    return true;
}

static bool update_by_steps(yk_cg *cg, double *total)
{
    if (!cg->preconditioner) {
        yk_engine_cpu.run(cg, yk_cg_update_task(cg), 0.0, total);
        if (!cg->jacobi) total[YK_DOT_RZ] = total[YK_DOT_RR];
    } else {
        yk_engine_cpu.run(cg, YK_TASK_UPDATE_R, 0.0, NULL);
        if (!yk_cg_callback(cg, cg->preconditioner, YK_VECTOR_R, YK_VECTOR_Z)) return false;
        yk_engine_cpu.run(cg, YK_TASK_DOTS_Z, 0.0, total);
        if (isfinite(total[YK_DOT_RR]) && !isfinite(total[YK_DOT_RZ]))
            cg->not_finite_from = "preconditioner";
    }
    yk_team_send(cg, YK_BOUNDARY_Z);
    return true;
}

void yk_team_advance_by_steps(yk_cg *cg, int64_t at_most)
{
    for (int64_t done = 0; done < at_most && !cg->s.stop; done++) {
        double total[YK_DOTS] = {0.0};
        if (!multiply_by_steps(cg, total)) {
            cg->s.alpha = 0.0; /* the direction took the step that x lacked */
            cg->s.stop = YK_CG_CALLBACK;
            return;
        }
        yk_cg_after_multiply(&cg->s, total[YK_DOT_PQ]);
        if (cg->s.stop) return;
        if (!update_by_steps(cg, total)) {
            cg->s.stop = YK_CG_CALLBACK;
            return;
        }
        yk_cg_after_update(&cg->s, &cg->limits, total);
        yk_team_record(cg, &cg->s);
    }
}
