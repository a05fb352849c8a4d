/* SPDX-License-Identifier: BSD-3-Clause */
/* permuted.h: a canonical matrix with its rows and columns in another order, canonical again. */
#ifndef YK_PERMUTED_H
#define YK_PERMUTED_H

#include "lib/csr.h"
#include "lib/status.h"

/* position[order[k]] = k; both [rows]. */
void yk_permutation_invert(const int32_t *order, int64_t rows, int threads, int32_t *position);

/* Row k of the result is row order[k] of csr, its columns renumbered and sorted. Its arrays are of
 * yk_alloc, as yk_matrix_adopt takes them; none is left on failure. */
yoke_status yk_permuted_create(yoke_context *context, const yk_csr *csr, const int32_t *order,
                               const int32_t *position, int threads, yk_csr *permuted);

/* New values of csr into the matrix that was made from it. Takes no memory. */
void yk_permuted_values(const yk_csr *csr, const int32_t *order, const int32_t *position,
                        int threads, yk_csr *permuted);

#endif
