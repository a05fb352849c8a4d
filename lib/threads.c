/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.c: counting processors and sharing loops. */
#include "lib/threads.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/context.h"

#ifdef _OPENMP
#include <omp.h>
#include <pthread.h>
enum { HAS_TEAMS = 1 };
#else
enum { HAS_TEAMS = 0 };
#endif

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

int yk_ranks_on_node(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                        "SLURM_NTASKS_PER_NODE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int ranks = number_in_environment(names[i]);
        if (ranks > 0) return ranks;
    }
    return 1;
}

int yk_ranks_sharing(void)
{
    return yk_processors() < sysconf(_SC_NPROCESSORS_ONLN) ? 1 : yk_ranks_on_node();
}

/* A launcher that binds gives each rank its own mask; only an unbound mask, which spans the
 * machine, is shared by the ranks of the node. */
static int default_threads(void)
{
    int asked = number_in_environment("OMP_NUM_THREADS");
    if (asked) return asked;
    int mine = yk_processors(), ranks = yk_ranks_on_node();
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (mine < online) return mine;
    return mine / ranks > 0 ? mine / ranks : 1;
}

int yk_threads(const yoke_context *context, int asked)
{
    if (!HAS_TEAMS) return 1;
    if (asked > 0) return asked;
    if (context && context->options.threads > 0) return context->options.threads;
    return default_threads();
}

#ifdef _OPENMP

static void *pass_gate(void *gate)
{
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

/* Starts them all at once, with nothing to do; how many there are then, with the caller. */
static int rehearse(int wanted)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_t *thread = calloc((size_t)wanted, sizeof *thread);
    int came = 0;
    if (!thread) return 1;
    pthread_mutex_lock(&gate);
    while (came < wanted - 1 && pthread_create(&thread[came], NULL, pass_gate, &gate) == 0) came++;
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < came; i++) pthread_join(thread[i], NULL);
    free(thread);
    return came + 1;
}

/* OpenMP keeps the threads of a region for the next one of the same caller: one rehearsal a size.
 * Once some were refused, half is left to whoever else needs room. */
int yk_team_size(int wanted)
{
    static _Thread_local int rehearsed = 1, most = INT_MAX;
    if (wanted <= 1 || omp_get_active_level() >= omp_get_max_active_levels()) return 1;
    if (wanted > omp_get_thread_limit()) wanted = omp_get_thread_limit();
    if (wanted > most) wanted = most;
    if (wanted <= rehearsed) return wanted;
    int came = rehearse(wanted);
    rehearsed = came == wanted ? wanted : came / 2 > 1 ? came / 2 : 1;
    if (came < wanted) most = rehearsed;
    return rehearsed;
}

#else

int yk_team_size(int wanted)
{
    (void)wanted;
    return 1;
}

#endif

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
#pragma omp parallel for num_threads(yk_team_size(threads)) schedule(static, 1)
#endif
    for (int t = 0; t < threads; t++) {
        int64_t first = share_start(count, grain, t, threads);
        int64_t last = share_start(count, grain, t + 1, threads);
        if (first < last) body(user, first, last);
    }
}
