/* SPDX-License-Identifier: BSD-3-Clause */
/* machine_profile.h: cgbench machine --calibrate and --machine: figures with where they come from.
 */
#ifndef BENCH_MACHINE_PROFILE_H
#define BENCH_MACHINE_PROFILE_H

#include "bench/options.h"

/* Measures this machine and keeps what it found, or opens the profile that --machine names; prints
 * it, and writes --json. Returns the exit code. */
int profile_command(const bench_options *options);

#endif
