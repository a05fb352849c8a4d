/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.h: cgbench under an MPI launcher. ranks.c of a build with MPI, ranks_none.c of one without,
 * where there is one rank. Calls but the first and those that say so are collective. */
#ifndef BENCH_RANKS_H
#define BENCH_RANKS_H

#include <yoke.h>

#include "bench/options.h"

/* As far as the launcher's variables tell, before MPI: 0 without a launcher. Local. */
int ranks_of_launcher(void);

/* Initialises MPI, of a build that has it, where a launcher's variables are there; a program that
 * was started alone stays free of it. The exit code, or 0. */
int ranks_begin(void);
void ranks_end(void);

/* What does not go with the ranks that there are: the exit code, or 0. */
int ranks_check(const bench_options *options);

/* Whether all were started with the same arguments, but for those that are a rank's own, or the
 * first one's: the same exit code on all, or 0. */
int ranks_alike(const bench_options *options);

/* Why this build has none; NULL: it has. */
const char *ranks_missing(void);

/* This rank, of how many. Local. */
int ranks_rank(void);
int ranks_count(void);

/* The greatest exit code of all. */
int ranks_agree(int code);

/* A context over all ranks, whose matrices are dealt out by --ranks-file. */
yoke_status ranks_context(const bench_options *options, const yoke_context_options *wanted,
                          yoke_context **context);

/* Over all ranks, the same on each. */
long double ranks_sum(long double value);
double ranks_most(double value);

/* all: [ranks] items of size bytes, in order. */
void ranks_gather(const void *mine, size_t size, void *all);

/* all [all_rows]: value i of each rank at its row[i]. On every rank. */
void ranks_collect(const int64_t *row, const double *value, int64_t count, double *all,
                   int64_t all_rows);

#endif
