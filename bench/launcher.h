/* SPDX-License-Identifier: BSD-3-Clause */
/* launcher.h: what launchers of MPI programs leave in the environment. */
#ifndef BENCH_LAUNCHER_H
#define BENCH_LAUNCHER_H

/* How many ranks it started, and the variable that says so; 1: one, or nothing says. */
int launcher_ranks(const char **variable);

/* How many of them are on this machine; 1: one, or nothing says. */
int launcher_local_ranks(void);

/* Whether one started this process. */
int launcher_is_there(void);

/* 0 for the first rank, and without a launcher; 1 for another. */
int launcher_rank(void);

#endif
