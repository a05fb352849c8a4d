/* SPDX-License-Identifier: BSD-3-Clause */
/* child.c: a rival's program: DUMP none|jacobi ITERATIONS REPEATS. Verifies once, then times, and
 * prints one line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/rivals/engine.h"
#include "bench/statistics.h"

/* From here on the time of a one-iteration solve is taken off: ours counts iterations alone, and
 * what a rival does before its first (hypre: a product and two sums) is no iteration. Fewer are too
 * few for a difference of two times. */
enum { SUBTRACT_FROM = 10 };

typedef struct task {
    const char *dump;
    int jacobi, iterations, repeats, rank, ranks;
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

static int measure(const task *t, double *us, double *solve)
{
    double *one = calloc((size_t)t->repeats, sizeof *one);
    double *all = calloc((size_t)t->repeats, sizeof *all);
    int subtract = t->iterations >= SUBTRACT_FROM, counted = t->iterations - subtract;
    for (int k = 0; one && all && k < t->repeats; k++) {
        one[k] = subtract ? seconds_of(1) : 0.0;
        all[k] = seconds_of(t->iterations);
    }
    int good = one && all;
    if (good) {
        double before = median_of(one, t->repeats);
        for (int k = 0; k < t->repeats; k++) us[k] = (all[k] - before) / counted * 1e6;
        *solve = median_of(all, t->repeats);
    }
    free(one);
    free(all);
    return !good;
}

typedef struct result {
    int done;
    double residual, recursive, setup, solve;
    double *us; /* [repeats] */
} result;

static int verify_and_measure(const task *t, const rival_share *share, result *r)
{
    double begin = MPI_Wtime();
    if (rival.setup(share, t->jacobi)) return 1;
    r->setup = MPI_Wtime() - begin;
    if (rival.solve(t->iterations, 1, &r->done, &r->recursive)) return 1;
    return rival.residual(&r->residual) || measure(t, r->us, &r->solve);
}

static void print(const task *t, const result *r)
{
    double median = median_of(r->us, t->repeats);
    printf(
        "yoke-rival %s version %s ranks %d iterations %d repeats %d us_median %.17g us_min %.17g "
        "us_max %.17g residual_true %.17g residual_recursive %.17g setup %.17g solve %.17g\n",
        rival.name, rival.version(), t->ranks, r->done, t->repeats, median, r->us[0],
        r->us[t->repeats - 1], r->residual, r->recursive, r->setup, r->solve);
}

static int run(const task *t)
{
    rival_share share;
    result r = {.us = calloc((size_t)t->repeats, sizeof *r.us)};
    int bad = !r.us || rival_share_read(t->dump, t->rank, t->ranks, &share);
    if (!bad) {
        bad = verify_and_measure(t, &share, &r);
        rival_share_free(&share);
    }
    if (!bad && t->rank == 0) print(t, &r);
    free(r.us);
    return bad;
}

int main(int argc, char **argv)
{
    task t = {0};
    int no_options = 1;
    if (argc != 5) {
        fprintf(stderr, "usage: %s DUMP none|jacobi ITERATIONS REPEATS\n", argv[0]);
        return 2;
    }
    t.dump = argv[1];
    t.jacobi = !strcmp(argv[2], "jacobi");
    t.iterations = atoi(argv[3]);
    t.repeats = atoi(argv[4]);
    if (t.iterations < 1 || t.repeats < 1) return 2;
    char *alone[] = {argv[0], NULL}, **arguments = alone;
    if (rival.start(&no_options, &arguments)) return 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &t.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &t.ranks);
    if (run(&t)) MPI_Abort(MPI_COMM_WORLD, 1);
    rival.finish();
    return 0;
}
