/* SPDX-License-Identifier: BSD-3-Clause */
/* campaign.h: every configuration of every matrix, and the rivals; what solve and run share. */
#ifndef BENCH_CAMPAIGN_H
#define BENCH_CAMPAIGN_H

#include "bench/options.h"
#include "bench/row.h"

/* What can be refused before anything is read or written: the exit code, or 0. With several
 * configurations, those that cannot run here are told, and refused only if none is left; *code is
 * then 3, else 0. */
int campaign_check(const bench_options *options, int *code);

/* Rows in order, each matrix's rivals behind its own. The exit code: 2 stops at once, else the
 * highest of the rows'. */
int campaign_run(const bench_options *options, row_list *rows);

#endif
