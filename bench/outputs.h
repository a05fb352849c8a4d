/* SPDX-License-Identifier: BSD-3-Clause */
/* outputs.h: the files that solve and run write. */
#ifndef BENCH_OUTPUTS_H
#define BENCH_OUTPUTS_H

#include "bench/options.h"
#include "bench/outfile.h"
#include "bench/row.h"

typedef struct outputs {
    outfile json, csv, svg, history;
    int draws_roofline; /* what the SVG shows */
    FILE *table;        /* stdout, or stderr once a file is "-" */
} outputs;

/* All of them opened, and --out checked, before anything is solved: the exit code, or 0. */
int outputs_open(const bench_options *options, outputs *out);

/* Writes the rows, each file as a whole; the exit code, or 0. */
int outputs_write(outputs *out, const row_list *rows);

/* The same of what has been written to the streams. */
int outputs_commit(outputs *out);
void outputs_discard(outputs *out);

#endif
