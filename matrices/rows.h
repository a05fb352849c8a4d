/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.h: makes a canonical matrix from a rule that gives any range of rows by itself. */
#ifndef YK_ROWS_H
#define YK_ROWS_H

#include <stdint.h>
#include <yoke.h>

#include "lib/csr.h"

/* Both functions are called from several threads, each for other rows; first and last are
 * multiples of grain. What they write depends on the row alone. */
typedef struct yk_rows {
    const void *rule;
    int64_t rows;     /* at most 2^31 - 1: see yk_rows_of_grid */
    int64_t nonzeros; /* expected: lets a matrix too large be refused before anything is touched */
    int64_t grain;
    /* Where columns are dear to find, the most a row has; else 0. */
    int most_kept;
    /* length: [last - first], entries of each row. kept: [last - first, most_kept], for the rule to
     * leave the columns in; NULL if most_kept is 0. */
    void (*lengths)(const void *rule, int64_t first, int64_t last, int32_t *length, int32_t *kept);
    /* Writes the entries of the rows one after another, columns ascending. */
    void (*fill)(const void *rule, int64_t first, int64_t last, const int32_t *kept,
                 int32_t *column, double *value);
} yk_rows;

/* Counts, allocates and fills in parallel; each page is touched first by the thread whose
 * contiguous share of the rows lies in it. The bits do not depend on the number of threads. */
yoke_status yk_rows_build(yoke_context *context, const yk_rows *rows, yoke_matrix **matrix);

/* Rows [first, last), multiples of grain; columns are the whole's. Arrays by yk_alloc, also on
 * failure: yk_csr_free. */
yoke_status yk_rows_build_range(yoke_context *context, const yk_rows *rows, int64_t first,
                                int64_t last, yk_csr *csr);

/* entries: of each unit of rows from first on; unit is a multiple of grain. */
yoke_status yk_rows_count(yoke_context *context, const yk_rows *rows, int64_t first, int64_t last,
                          int64_t unit, int64_t *entries);

/* rows_over_ranks.c: of a context over ranks, as yoke_comm.deal says. Collective. */
yoke_status yk_rows_build_over_ranks(yoke_context *context, const yk_rows *rows,
                                     yoke_matrix **matrix);

/* nx ny nz unknowns in *rows, or YOKE_OVERFLOW if 32-bit columns
 * cannot hold them. */
yoke_status yk_rows_of_grid(int64_t nx, int64_t ny, int64_t nz, int64_t unknowns, int64_t *rows);

#endif
