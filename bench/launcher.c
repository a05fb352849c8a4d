/* SPDX-License-Identifier: BSD-3-Clause */
/* launcher.c: what launchers of MPI programs leave in the environment. */
#include "bench/launcher.h"

#include <stdlib.h>

#include "bench/parse.h"

static int64_t count_in(const char *name)
{
    const char *text = getenv(name);
    int64_t count = 0;
    return text && parse_count(text, &count) ? count : -1;
}

/* The batch script of SLURM carries SLURM_NTASKS too, its steps alone SLURM_STEP_NUM_TASKS. */
int launcher_ranks(const char **variable)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS",
                                        "SLURM_STEP_NUM_TASKS"};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        int64_t ranks = count_in(sizes[i]);
        *variable = sizes[i];
        if (ranks > 1) return ranks > 1 << 30 ? 1 << 30 : (int)ranks;
    }
    return 1;
}

/* SLURM writes "4" or, of nodes that differ, a list that begins with the first one's. */
int launcher_local_ranks(void)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        int64_t ranks = count_in(sizes[i]);
        if (ranks > 0) return ranks > 1 << 30 ? 1 << 30 : (int)ranks;
    }
    const char *text = getenv("SLURM_STEP_TASKS_PER_NODE");
    long ranks = text ? strtol(text, NULL, 10) : 1;
    return ranks > 1 && ranks < 1 << 30 ? (int)ranks : 1;
}

int launcher_is_there(void)
{
    static const char *const marks[] = {"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMIX_RANK",
                                        "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (getenv(marks[i])) return 1;
    return 0;
}

int launcher_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        int64_t rank = count_in(names[i]);
        if (rank >= 0) return rank > 0;
    }
    return 0;
}
