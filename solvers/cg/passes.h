/* SPDX-License-Identifier: BSD-3-Clause */
/* passes.h: the passes of classical CG, as what they do to one row. CPU and GPU compile this text;
 * only who walks over the rows differs.
 *
 *   unfolded   direction   x += alpha p; p = (z - shift) + beta p        40 B a row
 *              multiply    q = A p; p.q                                 16 B and the matrix
 *              update      r -= alpha q; z = M^-1 r; r.r, r.z            24 B (40 with Jacobi)
 *   folded     fold        x += alpha p_old; p = z + beta p_old;
 *                          q = A p, with p made on the way; p.q         48 B and the matrix
 *              update      as above                                     24 B (40 with Jacobi)
 *
 * x lags behind by the step alpha p, which `flush` applies when the loop is left. */
#ifndef YK_CG_PASSES_H
#define YK_CG_PASSES_H

#include "lib/csr.h"
#include "lib/rowsum.h"
#include "solvers/cg/scalars.h"

/* A part's data and the scalars of this pass, by value to whoever runs it. */
typedef struct yk_cg_rows {
    yk_csr csr;
    double *x, *r, *z, *p, *p_old, *q, *b;
    const double *inverse_diagonal;
    double alpha, beta, shift;
    int stream_q; /* q is too large to be in a cache when it is read again: store past it */
} yk_cg_rows;

YK_INLINE void yk_cg_direction_row(const yk_cg_rows *c, int64_t i)
{
    c->x[i] = yk_fma(c->alpha, c->p[i], c->x[i]);
    c->p[i] = yk_fma(c->beta, c->p[i], c->z[i] - c->shift);
}

/* A store that does not read the line first, where the processor has one. */
YK_INLINE void yk_cg_store_q(const yk_cg_rows *c, int64_t i, double q)
{
#if !defined(__CUDACC__) && defined(__SSE2__)
    if (c->stream_q) {
        long long bits;
        __builtin_memcpy(&bits, &q, sizeof bits);
        __builtin_ia32_movnti64((long long *)&c->q[i], bits);
        return;
    }
#endif
    c->q[i] = q;
}

YK_INLINE double yk_cg_multiply_row(const yk_cg_rows *c, int64_t i)
{
    yk_operand v = {c->p, 0, 0.0};
    int64_t from = yk_row_start(&c->csr, i), to = yk_row_start(&c->csr, i + 1);
    double q = yk_row_sum(c->csr.column + from, c->csr.value + from, to - from, &v, 0);
    yk_cg_store_q(c, i, q);
    return c->p[i] * q;
}

YK_INLINE double yk_cg_fold_row(const yk_cg_rows *c, int64_t i)
{
    yk_operand v = {c->z, c->p_old, c->beta};
    int64_t from = yk_row_start(&c->csr, i), to = yk_row_start(&c->csr, i + 1);
    double q = yk_row_sum(c->csr.column + from, c->csr.value + from, to - from, &v, 1);
    double p = yk_fma(c->beta, c->p_old[i], c->z[i]);
    c->x[i] = yk_fma(c->alpha, c->p_old[i], c->x[i]);
    c->p[i] = p;
    yk_cg_store_q(c, i, q);
    return p * q;
}

/* z = M^-1 r for none and Jacobi, and the sums over r and z. */
YK_INLINE void yk_cg_precondition_row(const yk_cg_rows *c, int64_t i, double r, int jacobi,
                                      double *dot)
{
    double z = jacobi ? r * c->inverse_diagonal[i] : r;
    if (jacobi) c->z[i] = z;
    dot[YK_DOT_RR] = r * r;
    dot[YK_DOT_RZ] = r * z;
    dot[YK_DOT_Z] = z;
}

YK_INLINE void yk_cg_update_row(const yk_cg_rows *c, int64_t i, int jacobi, double *dot)
{
    double r = yk_fma(-c->alpha, c->q[i], c->r[i]);
    c->r[i] = r;
    yk_cg_precondition_row(c, i, r, jacobi, dot);
}

/* r = b - A x, the true residual, in place of the recursive one. */
YK_INLINE void yk_cg_residual_row(const yk_cg_rows *c, int64_t i, int jacobi, double *dot)
{
    yk_operand v = {c->x, 0, 0.0};
    int64_t from = yk_row_start(&c->csr, i), to = yk_row_start(&c->csr, i + 1);
    double r = c->b[i] - yk_row_sum(c->csr.column + from, c->csr.value + from, to - from, &v, 0);
    c->r[i] = r;
    yk_cg_precondition_row(c, i, r, jacobi, dot);
    dot[YK_DOT_BB] = c->b[i] * c->b[i];
}

/* x += alpha p: the step that x lacks. */
YK_INLINE void yk_cg_flush_row(const yk_cg_rows *c, int64_t i)
{
    c->x[i] = yk_fma(c->alpha, c->p[i], c->x[i]);
}

#endif
