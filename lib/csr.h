/* SPDX-License-Identifier: BSD-3-Clause */
/* csr.h: compressed sparse rows as every engine reads them, in the subset of C11 and CUDA. */
#ifndef YK_CSR_H
#define YK_CSR_H

#include <stdint.h>

#include "lib/subset.h"

/* Full, sorted, no repeats, base 0. Exactly one of start32 and start64 is set: start64 only where
 * nonzeros >= 2^31, or where the caller's own array is borrowed. */
typedef struct yk_csr {
    int64_t rows, nonzeros;
    const int32_t *start32; /* [rows + 1] */
    const int64_t *start64; /* [rows + 1] */
    const int32_t *column;  /* [nonzeros] */
    const double *value;    /* [nonzeros] */
} yk_csr;

YK_INLINE int64_t yk_row_start(const yk_csr *csr, int64_t row)
{
    return csr->start32 ? csr->start32[row] : csr->start64[row];
}

#endif
