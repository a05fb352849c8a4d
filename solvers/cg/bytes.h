/* SPDX-License-Identifier: BSD-3-Clause */
/* bytes.h: the bytes that one iteration must move, pass by pass. Figures in reports come from
 * here, so the table below is what "share of the bandwidth" means. */
#ifndef YK_CG_BYTES_H
#define YK_CG_BYTES_H

#include <stdbool.h>

#include "lib/matrix.h"

/* Vectors of 8 bytes a row that a pass reads and writes. */
typedef struct yk_pass_traffic {
    const char *name;
    int reads, writes;
} yk_pass_traffic;

/* The passes of one iteration, ended by a name of NULL. */
static inline const yk_pass_traffic *yk_cg_traffic(bool folded, bool jacobi)
{
    static const yk_pass_traffic unfolded_none[] = {{"direction", 3, 2 /* z, p, x; p, x */},
                                                    {"multiply", 1, 1 /* p; q */},
                                                    {"update", 2, 1 /* r, q; r */},
                                                    {0, 0, 0}};
    static const yk_pass_traffic unfolded_jacobi[] = {{"direction", 3, 2},
                                                      {"multiply", 1, 1},
                                                      {"update", 3, 2 /* r, q, 1/diagonal; r, z */},
                                                      {0, 0, 0}};
    static const yk_pass_traffic folded_none[] = {
        {"fold", 3, 3 /* z, p_old, x; p, q, x */}, {"update", 2, 1}, {0, 0, 0}};
    static const yk_pass_traffic folded_jacobi[] = {{"fold", 3, 3}, {"update", 3, 2}, {0, 0, 0}};
    if (folded) return jacobi ? folded_jacobi : folded_none;
    return jacobi ? unfolded_jacobi : unfolded_none;
}

/* Bytes a row beside the matrix: 80, or 72 folded; 16 more with Jacobi. */
static inline double yk_cg_row_bytes(bool folded, bool jacobi)
{
    int vectors = 0;
    for (const yk_pass_traffic *pass = yk_cg_traffic(folded, jacobi); pass->name; pass++)
        vectors += pass->reads + pass->writes;
    return 8.0 * vectors;
}

/* More, where p.q takes a pass of its own: p and q are read again. */
#define YK_CG_DOT_ROW_BYTES 16.0

/* Bytes of a part's matrix: 12 a nonzero, and a row start a row. */
static inline double yk_csr_bytes(const yk_csr *csr)
{
    if (!csr->column) return 0.0;
    return 12.0 * (double)csr->nonzeros + (csr->start32 ? 4.0 : 8.0) * (double)csr->rows;
}

/* The same of SELL: 12 an entry, padding included, since it is read; no row starts. */
static inline double yk_sell_bytes(int64_t entries)
{
    return 12.0 * (double)entries;
}

#endif
