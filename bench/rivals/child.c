/* SPDX-License-Identifier: BSD-3-Clause */
/* child.c: the program of a rival over MPI; see protocol.h. */
#include <time.h>

#include "bench/rivals/engine.h"
#include "bench/rivals/protocol.h"

/* The time of a one-iteration solve is taken off: ours counts iterations alone, and what a rival
 * does before its first (hypre: a product and two sums) is no iteration. Not below so many
 * iterations, too few for a difference of two times; and not if that solve took longer than so many
 * of them, since it was then disturbed. */
enum { SUBTRACT_FROM = 10, PLAUSIBLE = 4 };

typedef struct task {
    rival_request request;
    int rank, ranks;
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
    double one = seconds_of(1), all = seconds_of(t->request.iterations);
    if (t->rank == 0) rival_say_repeat(us_per_iteration(t->request.iterations, one, all), all);
}

/* The other side computes meanwhile, so nobody may spin here. */
static int asked_to_go(const task *t)
{
    static const struct timespec nap = {0, 200000};
    int go = 0, done = 0;
    MPI_Request request;
    if (t->rank == 0) go = rival_asked_to_go();
    MPI_Ibcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    for (;;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done) return go;
        nanosleep(&nap, NULL);
    }
}

static int verify(const task *t, const rival_share *share, rival_answer *answer)
{
    double begin = MPI_Wtime();
    if (rival.setup(share, t->request.jacobi)) return 1;
    answer->setup = MPI_Wtime() - begin;
    if (rival.solve(t->request.iterations, 1, &answer->iterations, &answer->residual_recursive))
        return 1;
    return rival.residual(&answer->residual_true);
}

static int run(const task *t)
{
    rival_share share;
    rival_answer answer = {.version = rival.version(), .ranks = t->ranks};
    if (rival_share_read(t->request.dump, t->rank, t->ranks, &share)) return 1;
    int bad = verify(t, &share, &answer);
    rival_share_free(&share);
    if (bad) return 1;
    if (t->rank == 0) rival_say_ready();
    while (asked_to_go(t)) time_one(t);
    if (t->rank == 0) rival_say_end(&answer);
    return 0;
}

int main(int argc, char **argv)
{
    task t = {0};
    int no_options = 1, refused = rival_request_read(argc, argv, &t.request);
    if (refused) return refused;
    char *alone[] = {argv[0], NULL}, **arguments = alone;
    if (rival.start(&no_options, &arguments)) return 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &t.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &t.ranks);
    if (run(&t)) MPI_Abort(MPI_COMM_WORLD, 1);
    rival.finish();
    return 0;
}
