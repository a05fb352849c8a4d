/* SPDX-License-Identifier: BSD-3-Clause */
/* child.c: a rival's program: DUMP none|jacobi ITERATIONS. Verifies once and prints
 *   yoke-rival ready
 * then times one solve for each line "go" on stdin and prints
 *   yoke-rival repeat us US seconds S
 * and at any other line or the end
 *   yoke-rival end version V ranks R iterations N residual_true T residual_recursive C setup S */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/rivals/engine.h"

/* The time of a one-iteration solve is taken off: ours counts iterations alone, and what a rival
 * does before its first (hypre: a product and two sums) is no iteration. Not below so many
 * iterations, too few for a difference of two times; and not if that solve took longer than so many
 * of them, since it was then disturbed. */
enum { SUBTRACT_FROM = 10, PLAUSIBLE = 4 };

typedef struct task {
    const char *dump;
    int jacobi, iterations, rank, ranks;
} task;

static double seconds_of(int iterations)
{
    double begin, mine, all = 0.0, ignored = 0.0;
    int done = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    if (rival.solve(iterations, 0, &done, &ignored) || done != iterations)
        MPI_Abort(MPI_COMM_WORLD, 1);
    mine = MPI_Wtime() - begin;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static double us_per_iteration(int iterations, double one, double all)
{
    double plain = all / iterations;
    if (iterations < SUBTRACT_FROM || one > PLAUSIBLE * plain) return plain * 1e6;
    return (all - one) / (iterations - 1) * 1e6;
}

static void time_one(const task *t)
{
    seconds_of(1); /* it has slept, and its caches are cold */
    double one = seconds_of(1), all = seconds_of(t->iterations);
    if (t->rank) return;
    printf("yoke-rival repeat us %.17g seconds %.17g\n", us_per_iteration(t->iterations, one, all),
           all);
    fflush(stdout);
}

/* The other side computes meanwhile, so nobody may spin here. */
static int asked_to_go(const task *t)
{
    static const struct timespec nap = {0, 200000};
    char line[16] = "";
    int go = 0, done = 0;
    MPI_Request request;
    if (t->rank == 0) go = fgets(line, sizeof line, stdin) && !strcmp(line, "go\n");
    MPI_Ibcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    for (;;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done) return go;
        nanosleep(&nap, NULL);
    }
}

typedef struct result {
    int done;
    double residual, recursive, setup;
} result;

static int verify(const task *t, const rival_share *share, result *r)
{
    double begin = MPI_Wtime();
    if (rival.setup(share, t->jacobi)) return 1;
    r->setup = MPI_Wtime() - begin;
    if (rival.solve(t->iterations, 1, &r->done, &r->recursive)) return 1;
    return rival.residual(&r->residual);
}

static int run(const task *t)
{
    rival_share share;
    result r = {0};
    if (rival_share_read(t->dump, t->rank, t->ranks, &share)) return 1;
    int bad = verify(t, &share, &r);
    rival_share_free(&share);
    if (bad) return 1;
    if (t->rank == 0) {
        puts("yoke-rival ready");
        fflush(stdout);
    }
    while (asked_to_go(t)) time_one(t);
    if (t->rank == 0)
        printf("yoke-rival end version %s ranks %d iterations %d residual_true %.17g "
               "residual_recursive %.17g setup %.17g\n",
               rival.version(), t->ranks, r.done, r.residual, r.recursive, r.setup);
    return 0;
}

int main(int argc, char **argv)
{
    task t = {0};
    int no_options = 1;
    if (argc != 4) {
        fprintf(stderr, "usage: %s DUMP none|jacobi ITERATIONS\n", argv[0]);
        return 2;
    }
    t.dump = argv[1];
    t.jacobi = !strcmp(argv[2], "jacobi");
    t.iterations = atoi(argv[3]);
    if (t.iterations < 1) return 2;
    char *alone[] = {argv[0], NULL}, **arguments = alone;
    if (rival.start(&no_options, &arguments)) return 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &t.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &t.ranks);
    if (run(&t)) MPI_Abort(MPI_COMM_WORLD, 1);
    rival.finish();
    return 0;
}
