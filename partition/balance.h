/* SPDX-License-Identifier: BSD-3-Clause */
/* balance.h: cutting rows into shares of equal bytes. */
#ifndef YK_BALANCE_H
#define YK_BALANCE_H

#include "lib/iface/partition.h"

/* Bytes that rows [0, row) move in an iteration: 12 a nonzero, row_bytes a row. */
double yk_bytes_before(const yk_csr *csr, double row_bytes, int64_t row);

/* The row in [first, last], a multiple of YK_CHUNK or last, before which about `share` (0 to 1) of
 * the bytes of [first, last) lie. */
int64_t yk_cut_at_share(const yk_csr *csr, double row_bytes, int64_t first, int64_t last,
                        double share);

/* Rows of a GPU that shall have so many chunks: where the CPU shall have neither nothing nor all,
 * each has a chunk at least, as far as there are two. */
int64_t yk_gpu_rows(int64_t rows, int64_t gpu_chunks, double cpu_share);

/* Parts of rows [from, rows), in shares of equal bytes, each cut moved to where fewer columns cross
 * it, if that is near: first[0 .. parts], first[0] == from. */
void yk_cut_equally(const yk_csr *csr, double row_bytes, int64_t from, int parts, int64_t *first);

/* A partition's cut: the GPU's rows first, then CPU parts in shares of equal bytes. */
void yk_cut_beside_gpu(const yk_cut_request *request, int64_t *first);

#endif
