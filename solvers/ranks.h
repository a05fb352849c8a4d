/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.h: plans over ranks: what is refused, the halo, what ranks must know of each other. */
#ifndef YK_SOLVERS_RANKS_H
#define YK_SOLVERS_RANKS_H

#include "lib/ranks.h"
#include "lib/spread.h"
#include "solvers/plan.h"

/* Refuses by name what does not go over ranks, and leaves no choice to auto where there is none;
 * which GPU is the rank's. */
yoke_status yk_ranks_choose(const yoke_matrix *matrix, yoke_plan_options *options,
                            yk_choice *choice);

/* Of the parts what goes to other ranks, and of an only one its halo. */
yoke_status yk_ranks_analyse(yoke_plan *plan);

/* Who has which GPU; a shared one gets the driver for that, unless one was asked for. Collective.
 */
yoke_status yk_ranks_meet_devices(yoke_plan *plan);

/* What must be alike on all ranks, as a mark to agree on. */
double yk_ranks_mark_plan(const yk_choice *choice);
double yk_ranks_mark_solve(const yoke_solve_options *options, int n);

/* The first row of all ranks whose diagonal is not positive, and the bytes of all. Collective. */
yoke_status yk_ranks_share(yoke_plan *plan, double bytes);

/* Row of this process in the numbering of the system as given. */
int64_t yk_ranks_row(const yoke_matrix *matrix, int64_t row);

/* Of what each rank found that with the least level, from the first rank that has it. Collective.
 */
void yk_ranks_tell(const yoke_context *context, int level, int64_t *row, char *text, size_t size);

#endif
