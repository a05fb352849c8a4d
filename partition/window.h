/* SPDX-License-Identifier: BSD-3-Clause */
/* window.h: the cuts that a moving one may take: few enough to make everything ready for each,
 * close enough to each other that the best of them is nearly the best of all. */
#ifndef YK_WINDOW_H
#define YK_WINDOW_H

#include <stdbool.h>

#include "lib/csr.h"

enum { YK_MOST_CUTS = 64 };

typedef struct yk_window {
    int count, at;             /* row[at]: where it begins */
    int64_t row[YK_MOST_CUTS]; /* a GPU's rows, ascending, each a multiple of YK_CHUNK */
} yk_window;

/* Cuts around that at `row`, which leaves rows to either side, for a system that moves row_bytes a
 * row beside the matrix. narrow: none that would give the GPU more rows. */
yk_window yk_window_around(const yk_csr *csr, double row_bytes, int64_t row, bool narrow);

/* No more than `most` cuts, as far as the first, the last and the one in force are not more. */
void yk_window_thin(yk_window *window, int most);

#endif
