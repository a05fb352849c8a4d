/* SPDX-License-Identifier: BSD-3-Clause */
/* per_rank.h: what each rank had to do, for --per-rank. */
#ifndef BENCH_PER_RANK_H
#define BENCH_PER_RANK_H

#include <stdio.h>
#include <yoke.h>

#include "bench/row.h"
#include "bench/source.h"

typedef struct rank_row {
    int64_t rows, nonzeros, halo, sent, neighbours, threads;
    double solve;                          /* seconds */
    double interior, halo_wait, sums_wait; /* seconds an iteration, of the first worker */
} rank_row;

/* Fills r->each, on every rank, from a plan that is watched. Collective. */
void per_rank_gather(const source *s, const yoke_plan *plan, row *r);

void write_per_rank(const row_list *rows, FILE *stream);

#endif
