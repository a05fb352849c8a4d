/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.h: how many threads, and a loop shared by them. */
#ifndef YK_THREADS_H
#define YK_THREADS_H

#include <stdint.h>
#include <yoke.h>

/* Threads to use: asked if > 0, else the context's, else OMP_NUM_THREADS, else the processors of
 * the affinity mask divided by the ranks of the node that share it (OMPI_COMM_WORLD_LOCAL_SIZE,
 * MPI_LOCALNRANKS, SLURM_NTASKS_PER_NODE), at least 1. 1 without OpenMP. */
int yk_threads(const yoke_context *context, int asked);

/* How many of the wanted threads a parallel region that this thread enters now can have: fewer
 * inside another region, under OMP_THREAD_LIMIT, or where the system refuses to start them
 * (RLIMIT_NPROC, RLIMIT_AS, a cgroup's pids). Every region asks: OpenMP ends the process when it
 * cannot start a thread. */
int yk_team_size(int wanted);

/* Processors of this thread's affinity mask. */
int yk_processors(void);

/* Ranks of this node that divide its processors, as the launcher's variables tell: 1 where each has
 * processors of its own. */
int yk_ranks_sharing(void);

/* Ranks of this node, likewise; 1 where nothing tells. */
int yk_ranks_on_node(void);

/* Calls body(user, first, last) for the contiguous shares of [0, count), one a thread: share t of
 * T is [count t / T, count (t + 1) / T), rounded down to multiples of grain. Shares below one
 * grain run on the calling thread alone. */
typedef void (*yk_range_fn)(void *user, int64_t first, int64_t last);
void yk_parallel_for(int threads, int64_t count, int64_t grain, yk_range_fn body, void *user);

#endif
