/* SPDX-License-Identifier: BSD-3-Clause */
/* meeting.h: the rivals of --vs on one matrix. For each preconditioner they are measured in turn
 * with the first of our configurations that has it, repeat by repeat. */
#ifndef BENCH_MEETING_H
#define BENCH_MEETING_H

#include "bench/options.h"
#include "bench/rival.h"

typedef struct meeting {
    const bench_options *options;
    const source *s;
    int from;             /* the matrix's first row */
    words met;            /* preconditioners */
    int at_work;          /* with the configuration being measured now */
    rival *rival[RIVALS]; /* those that are */
    row_list theirs;
    words notices;
} meeting;

/* An interlude of measure(), user a meeting: starts those that are due, and a repeat of each. */
void meeting_play(void *user, const row *ours);

/* After a configuration: ends those that worked beside it. */
void meeting_pause(meeting *m);

/* After the matrix: the ratios into our rows, the rivals' rows behind them. Releases m's own. */
void meeting_end(meeting *m, row_list *rows);

#endif
