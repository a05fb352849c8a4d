/* SPDX-License-Identifier: BSD-3-Clause */
/* passes_one_sum.h: rows of the recurrences whose sums meet once an iteration; part of passes.h.
 *
 * With z = M^-1 r, w = A z, s = A p, m = M^-1 w, q = A m, t = A M^-1 s:
 *   cg-single     step       p = z + beta p; s = w + beta s; x += alpha p; r -= alpha s;
 *                            z = M^-1 r                              72 B a row (88 with Jacobi)
 *                 multiply   w = A z; r.r, r.z, w.z                  16 B (24) and the matrix
 *   cg-pipelined  step       as above, and t = q + beta t; w -= alpha t; m = M^-1 w;
 *                            r.r, r.z, w.z                           104 B (120)
 *                 product    q = A m, while the sums are on their way   16 B and the matrix
 * (Chronopoulos and Gear, J. Comput. Appl. Math. 25, 1989; Ghysels and Vanroose, Parallel Comput.
 * 40, 2014.) z is made anew from r where it is needed, and M^-1 s is not kept at all. x does not
 * lag. With several workers m and m_next take turns, since one may still gather from m when another
 * writes; else they are one, and w itself without a preconditioner. */
#ifndef YK_CG_PASSES_ONE_SUM_H
#define YK_CG_PASSES_ONE_SUM_H

/* What both steps do: p, s, x, r; returns the new r. */
YK_INLINE double yk_cg_step_row(const yk_cg_rows *c, int64_t i, const yk_cg_inputs *in, int jacobi,
                                int past)
{
    double z = jacobi ? in->r * in->inverse_diagonal : in->r;
    double p = yk_fma(c->beta, in->p, z - c->shift), s = yk_fma(c->beta, in->s, in->w);
    double r = yk_fma(-c->alpha, s, in->r);
    c->p[i] = p;
    c->s[i] = s;
    c->r[i] = r;
    yk_cg_write(&c->x[i], yk_fma(c->alpha, p, in->x), past);
    return r;
}

YK_INLINE void yk_cg_single_step_row(const yk_cg_rows *c, int64_t i, const yk_cg_inputs *in,
                                     int jacobi, int past)
{
    double r = yk_cg_step_row(c, i, in, jacobi, past);
    if (jacobi) c->z[i] = r * in->inverse_diagonal;
}

YK_INLINE void yk_cg_sums_row(double r, double z, double w, double *dot)
{
    dot[YK_DOT_RR] = r * r;
    dot[YK_DOT_RZ] = r * z;
    dot[YK_DOT_Z] = z;
    dot[YK_DOT_ZW] = z * w;
}

YK_INLINE void yk_cg_single_multiply_row(const yk_cg_rows *c, int64_t i, const yk_cg_inputs *in,
                                         double product, double *dot)
{
    yk_cg_store_product(c, &c->w[i], product);
    yk_cg_sums_row(in->r, in->z, product, dot);
}

YK_INLINE void yk_cg_pipelined_step_row(const yk_cg_rows *c, int64_t i, const yk_cg_inputs *in,
                                        int jacobi, double *dot, int past)
{
    double r = yk_cg_step_row(c, i, in, jacobi, past);
    double t = yk_fma(c->beta, in->t, in->q), w = yk_fma(-c->alpha, t, in->w);
    c->t[i] = t;
    c->w[i] = w;
    c->m_next[i] = jacobi ? w * in->inverse_diagonal : w;
    yk_cg_sums_row(r, jacobi ? r * in->inverse_diagonal : r, w, dot);
}

/* Outside the loop alone. */
YK_INLINE double yk_cg_preconditioned(const yk_cg_rows *c, int64_t i, double v)
{
    return c->inverse_diagonal ? v * c->inverse_diagonal[i] : v;
}

YK_INLINE void yk_cg_dots_s_row(const yk_cg_inputs *in, double *dot)
{
    dot[YK_DOT_PS] = in->p * in->s;
    dot[YK_DOT_ZS] = in->z * in->s;
}

YK_INLINE void yk_cg_clear_s_row(const yk_cg_rows *c, int64_t i)
{
    c->s[i] = 0.0;
    if (c->t) c->t[i] = 0.0;
}

#endif
