/* SPDX-License-Identifier: BSD-3-Clause */
/* commands.h: each takes the options as read and returns the exit code. */
#ifndef BENCH_COMMANDS_H
#define BENCH_COMMANDS_H

#include "bench/options.h"

int command_solve(const bench_options *options);
int command_run(const bench_options *options);
int command_study(const bench_options *options);
int command_predict(const bench_options *options);
int command_machine(const bench_options *options);
int command_list(const bench_options *options);

#endif
