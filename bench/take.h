/* SPDX-License-Identifier: BSD-3-Clause */
/* take.h: memory that cgbench cannot go on without. */
#ifndef BENCH_TAKE_H
#define BENCH_TAKE_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed memory for count items of size each. Ends the program with exit 3 and a sentence with
 * the bytes asked if there is none or the limit of this process forbids it. */
void *take(const char *what, int64_t count, size_t size);
char *take_copy(const char *text); /* of a string; NULL gives NULL */

#endif
