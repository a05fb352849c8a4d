/* SPDX-License-Identifier: BSD-3-Clause */
/* values.h: accepting values into a matrix. */
#ifndef YK_VALUES_H
#define YK_VALUES_H

#include <stdbool.h>

#include "lib/matrix.h"

/* Leaves in matrix->notice, and tells the log, that means were taken; or that none were. */
void yk_values_note(yoke_matrix *matrix, bool mean);

/* Verifies the symmetry of csr, unless the matrix is trusted, and leaves in matrix->notice what was
 * mended. Where means must be taken they are written in place if writable, else csr->value becomes
 * a copy made by yk_alloc. On failure csr->value is as it was, but for means if writable. */
yoke_status yk_values_verify(yoke_matrix *matrix, yk_csr *csr, bool writable, int threads);

#endif
