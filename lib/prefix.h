/* SPDX-License-Identifier: BSD-3-Clause */
/* prefix.h: from the lengths of rows to their starts. */
#ifndef YK_PREFIX_H
#define YK_PREFIX_H

#include <stdint.h>

/* start [rows + 1] holds the length of row i at [i]; becomes the sum of those before i. What was at
 * [rows] is overwritten by the sum of all. */
void yk_prefix_sum(int threads, int64_t rows, int64_t *start);

#endif
