/* SPDX-License-Identifier: BSD-3-Clause */
/* killed.c [SOLVER]: a solve without an end, of which one rank is killed: tests/ranks.sh looks
 * whether the others end too. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/mpi/claims.h"

static int die(void *user, int64_t iteration, double norm)
{
    (void)user;
    (void)norm;
    if (iteration == 50 && my_rank == all_ranks - 1) raise(SIGKILL);
    return 0;
}

int main(int argc, char **argv)
{
    claims_begin(&argc, &argv);
    whole w = whole_of("poisson3d7:20");
    piece p = piece_of(&w, 0, NULL);
    yoke_plan_options plan = yoke_plan_defaults();
    plan.solver = argc > 1 ? argv[1] : NULL;
    piece_make(&p, &plan);
    yoke_solve_options options = yoke_solve_defaults();
    options.maxit = INT64_MAX;
    options.fixed_iterations = 1;
    options.monitor = die;
    piece_solve(&p, &options);
    printf("rank %d came back with %d: %s\n", my_rank, (int)p.status, yoke_error_text());
    return 0;
}
