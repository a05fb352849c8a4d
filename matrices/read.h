/* SPDX-License-Identifier: BSD-3-Clause */
/* read.h: one reader of matrices a format, and the entrance that the tests and fuzzers share. */
#ifndef YK_READ_H
#define YK_READ_H

#include "matrices/stream.h"
#include "matrices/triplets.h"

/* What a reader of a format finds. */
typedef struct yk_found {
    int64_t rows;
    bool symmetric; /* one triangle is given */
    yk_triplets triplets;
} yk_found;

yoke_status yk_read_matrix_market(yk_lines *lines, int threads, yk_found *found);
yoke_status yk_read_harwell_boeing(yk_lines *lines, yk_found *found);

/* Do the first lines look like a Harwell-Boeing header? */
bool yk_is_harwell_boeing(const yk_block *block);

/* Sizes as a header gives them: square, and rows within a 32-bit index. */
yoke_status yk_check_sizes(const yk_lines *lines, int64_t rows, int64_t columns);

yoke_status yk_matrix_read_source(yoke_context *context, yk_source *source,
                                  const yoke_read_options *options, yoke_matrix **matrix);
yoke_status yk_vector_read_source(yoke_context *context, yk_source *source, int64_t rows,
                                  double *out);

/* Bytes of a block for so many threads. */
int64_t yk_block_size(int threads);

#endif
