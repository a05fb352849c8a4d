/* SPDX-License-Identifier: BSD-3-Clause */
/* waist.h: a cut moved a little, to where fewer columns cross it. */
#ifndef YK_WAIST_H
#define YK_WAIST_H

#include "lib/csr.h"

/* A cut near `wanted` that parts rows [first, last) in two: a multiple of YK_CHUNK that takes at
 * most 1 % of the bytes of the smaller side to the other, where that costs less than the columns
 * cost that then no longer travel. wanted: such a multiple; returned where nothing is better, and
 * for an operator. */
int64_t yk_cut_at_waist(const yk_csr *csr, double row_bytes, int64_t first, int64_t last,
                        int64_t wanted);

/* A GPU's rows where the CPU has a share of the bytes of an iteration, cut at a waist. */
int64_t yk_gpu_rows_at_waist(const yk_csr *csr, double row_bytes, double share);

#endif
