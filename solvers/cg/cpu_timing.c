/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu_timing.c: passes of the CPU's parts one by one, by the clock of the thread that starts them.
 */
#include <string.h>

#include "solvers/cg/timing.h"

static void clear(double *vector, int64_t first, int64_t last)
{
    if (vector && first < last) memset(vector + first, 0, (size_t)(last - first) * sizeof *vector);
}

static void clear_piece(yk_cg *cg, yk_piece *piece, void *user)
{
    yk_part *part = &cg->part[piece->part];
    double *const vector[] = {part->x, part->r, part->z, part->p, part->p_old, part->q};
    const int with_halo = 5; /* all but q */
    (void)user;
    for (int i = 0; i < 6; i++) {
        clear(vector[i], piece->first, piece->last);
        if (i < with_halo && vector[i])
            clear(vector[i] + part->rows, piece->halo_first, piece->halo_last);
    }
}

void yk_cpu_clear(yk_cg *cg)
{
    yk_team_run(cg, clear_piece, NULL);
}

void yk_cpu_time_tasks(yk_cg *cg, const yk_task *task, int count, double *cpu, double *gpu)
{
    for (int i = 0; i < count; i++) {
        double before = yoke_seconds();
        yk_team_task(cg, task[i], 0.0);
        cpu[i] = yoke_seconds() - before;
        gpu[i] = NAN;
    }
}
