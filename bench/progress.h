/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.h: what is being done now, on a terminal only. */
#ifndef BENCH_PROGRESS_H
#define BENCH_PROGRESS_H

#include <stdint.h>

/* Shows one line in place of the last; nothing when stderr is no terminal or cgbench is quiet. */
void progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_clear(void);

/* What all lines begin with from now on, as "12 of 40, 3 min left: ". */
void progress_within(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* For yoke_read_options.progress; user is the name of what is read. */
void progress_reading(void *user, int64_t done, int64_t total);

#endif
