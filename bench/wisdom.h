/* SPDX-License-Identifier: BSD-3-Clause */
/* wisdom.h: --wisdom FILE: what measuring plans found, from run to run. */
#ifndef BENCH_WISDOM_H
#define BENCH_WISDOM_H

#include "bench/options.h"

/* Takes what the file holds, if there is one; the exit code, or 0. Nothing without --wisdom. */
int wisdom_begin(const bench_options *options, yoke_context *context);

/* Writes what is known now, whatever code the solves end in; the exit code: theirs, unless the file
 * cannot be written. */
int wisdom_end(const bench_options *options, yoke_context *context, int code);

/* For yoke_context_options.log: tells what is not used of a file; other notices are in the reports.
 */
void wisdom_log(void *user, yoke_log_level level, const char *text);

#endif
