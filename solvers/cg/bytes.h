/* SPDX-License-Identifier: BSD-3-Clause */
/* bytes.h: the bytes that one iteration must move, pass by pass. Figures in reports come from
 * here, so the table below is what "share of the bandwidth" means. */
#ifndef YK_CG_BYTES_H
#define YK_CG_BYTES_H

#include <stdbool.h>

#include "lib/matrix.h"
#include "solvers/cg/scalars_one_sum.h"

/* Vectors of 8 bytes a row that a pass reads and writes. */
typedef struct yk_pass_traffic {
    const char *name;
    int reads, writes;
} yk_pass_traffic;

/* Of the recurrences with one sum. m is counted as w without a preconditioner, which it is with one
 * part. */
static inline const yk_pass_traffic *yk_cg_one_sum_traffic(bool pipelined, bool jacobi)
{
    static const yk_pass_traffic single_none[] = {
        {"step", 5, 4 /* r, w, p, s, x; p, s, x, r */}, {"multiply", 1, 1 /* r; w */}, {0, 0, 0}};
    static const yk_pass_traffic single_jacobi[] = {
        {"step", 6, 5 /* and 1/diagonal; z */}, {"multiply", 2, 1 /* r, z; w */}, {0, 0, 0}};
    static const yk_pass_traffic pipelined_none[] = {
        {"step", 7, 6 /* r, w, p, s, x, q, t; p, s, x, r, t, w */},
        {"product", 1, 1 /* m; q */},
        {0, 0, 0}};
    static const yk_pass_traffic pipelined_jacobi[] = {
        {"step", 8, 7 /* and 1/diagonal; m */}, {"product", 1, 1}, {0, 0, 0}};
    if (pipelined) return jacobi ? pipelined_jacobi : pipelined_none;
    return jacobi ? single_jacobi : single_none;
}

/* The passes of one iteration of classical CG, ended by a name of NULL. */
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

static inline double yk_passes_row_bytes(const yk_pass_traffic *pass)
{
    int vectors = 0;
    for (; pass->name; pass++) vectors += pass->reads + pass->writes;
    return 8.0 * vectors;
}

/* Bytes a row beside the matrix: 80, or 72 folded; 16 more with Jacobi. */
static inline double yk_cg_row_bytes(bool folded, bool jacobi)
{
    return yk_passes_row_bytes(yk_cg_traffic(folded, jacobi));
}

/* The same of any recurrence: cg-single 88, with Jacobi 112; cg-pipelined 120, with Jacobi 136. */
static inline double yk_recurrence_row_bytes(yk_recurrence recurrence, bool folded, bool jacobi)
{
    if (recurrence == YK_CLASSICAL) return yk_cg_row_bytes(folded, jacobi);
    return yk_passes_row_bytes(yk_cg_one_sum_traffic(recurrence == YK_PIPELINED, jacobi));
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
