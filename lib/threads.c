/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.c: counting processors and sharing loops. */
#include "lib/threads.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/context.h"

int yk_processors(void)
{
    cpu_set_t mask;
    if (sched_getaffinity(0, sizeof mask, &mask) == 0 && CPU_COUNT(&mask) > 0)
        return CPU_COUNT(&mask);
    /* A machine with more processors than the fixed mask holds. */
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

/* A positive number at the start of an environment variable ("4", "4,2", "8(x2)"); 0: none. */
static int number_in_environment(const char *name)
{
    const char *text = getenv(name);
    if (!text) return 0;
    long value = strtol(text, NULL, 10);
    return value > 0 && value <= 65536 ? (int)value : 0;
}

static int ranks_on_node(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                        "SLURM_NTASKS_PER_NODE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int ranks = number_in_environment(names[i]);
        if (ranks > 0) return ranks;
    }
    return 1;
}

/* A launcher that binds gives each rank its own mask; only an unbound mask, which spans the
 * machine, is shared by the ranks of the node. */
static int default_threads(void)
{
    int asked = number_in_environment("OMP_NUM_THREADS");
    if (asked) return asked;
    int mine = yk_processors(), ranks = ranks_on_node();
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (mine < online) return mine;
    return mine / ranks > 0 ? mine / ranks : 1;
}

int yk_threads(const yoke_context *context, int asked)
{
#ifdef _OPENMP
    if (asked > 0) return asked;
    if (context && context->options.threads > 0) return context->options.threads;
    return default_threads();
#else
    (void)context;
    (void)asked;
    return 1;
#endif
}

static int64_t share_start(int64_t count, int64_t grain, int64_t t, int64_t threads)
{
    int64_t grains = (count + grain - 1) / grain;
    /* grains * t may overflow only beyond 2^47 grains at 65536 threads */
    int64_t start = grains / threads * t + grains % threads * t / threads;
    return start * grain < count ? start * grain : count;
}

void yk_parallel_for(int threads, int64_t count, int64_t grain, yk_range_fn body, void *user)
{
    if (threads <= 1 || count <= grain) {
        if (count > 0) body(user, 0, count);
        return;
    }
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(static, 1)
#endif
    for (int t = 0; t < threads; t++) {
        int64_t first = share_start(count, grain, t, threads);
        int64_t last = share_start(count, grain, t + 1, threads);
        if (first < last) body(user, first, last);
    }
}
