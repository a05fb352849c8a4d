/* SPDX-License-Identifier: BSD-3-Clause */
/* passes.h: what a solve does to one row, task by task. CPU and GPU compile this text; only who
 * walks over the rows, and who sums a row's entries, differs.
 *
 * The loop, for classical CG:
 *   unfolded   direction   x += alpha p; p = (z - shift) + beta p        40 B a row
 *              multiply    q = A p; p.q                                 16 B and the matrix
 *              update      r -= alpha q; z = M^-1 r; r.r, r.z            24 B (40 with Jacobi)
 *   folded     fold        x += alpha p_old; p = z + beta p_old;
 *                          q = A p, with p made on the way; p.q         48 B and the matrix
 *              update      as above                                     24 B (40 with Jacobi)
 * x lags behind by the step alpha p, which `flush` applies when the loop is left. The recurrences
 * with one meeting of sums are in passes_one_sum.h. */
#ifndef YK_CG_PASSES_H
#define YK_CG_PASSES_H

#include "lib/csr.h"
#include "lib/rowsum.h"
#include "solvers/cg/scalars.h"
#include "solvers/cg/tasks.h"

/* A part's data and the scalars of this pass, by value to whoever runs it. */
typedef struct yk_cg_rows {
    yk_csr csr;
    double *x, *r, *z, *p, *p_old, *q, *b, *best;
    double *w, *s, *t, *m, *m_next; /* of recurrences with one sum; see passes_one_sum.h */
    const double *inverse_diagonal;
    double alpha, beta, shift;
    double argument; /* of scale and centre */
    int stream_q;    /* q is too large to be in a cache when it is read again: store past it */
} yk_cg_rows;

YK_INLINE yk_operand yk_task_operand(int task, const yk_cg_rows *c)
{
    yk_operand v = {c->x, 0, 0.0};
    if (task == YK_TASK_MULTIPLY) v.z = c->p;
    if (task == YK_TASK_SINGLE_MULTIPLY) v.z = c->z;
    if (task == YK_TASK_PRODUCT) v.z = c->m;
    if (yk_task_folds(task)) {
        v.z = c->z;
        v.p = c->p_old;
        v.beta = c->beta;
    }
    return v;
}

/* A store that does not read the line first, where the processor has one. */
YK_INLINE void yk_cg_store_product(const yk_cg_rows *c, double *to, double product)
{
#if !defined(__CUDACC__) && defined(__SSE2__)
    if (c->stream_q) {
        long long bits;
        __builtin_memcpy(&bits, &product, sizeof bits);
        __builtin_ia32_movnti64((long long *)to, bits);
        return;
    }
#endif
    (void)c;
    *to = product;
}

typedef struct yk_cg_inputs {
    double x, r, z, p, p_old, q, b, best, inverse_diagonal, w, s, t;
} yk_cg_inputs;

/* x, and q when it is read, are not needed again before everything else was: `past` keeps them
 * from pushing r and p out of a GPU's cache. */
YK_INLINE double yk_cg_read(const double *v, int past)
{
#ifdef __CUDA_ARCH__
    if (past) return __ldcs(v);
#endif
    (void)past;
    return *v;
}

YK_INLINE void yk_cg_write(double *v, double value, int past)
{
#ifdef __CUDA_ARCH__
    if (past) {
        __stcs(v, value);
        return;
    }
#endif
    (void)past;
    *v = value;
}

/* All that the task reads of row i: before it stores anything, so that one may have the reads of
 * several rows under way, which no compiler can arrange that must take the vectors for one. */
YK_INLINE void yk_cg_load_some(int reads, const yk_cg_rows *c, int64_t i, int past,
                               yk_cg_inputs *in)
{
    if (reads & YK_READ_X) in->x = yk_cg_read(&c->x[i], past);
    if (reads & YK_READ_R) in->r = c->r[i];
    if (reads & YK_READ_Z) in->z = c->z[i];
    if (reads & YK_READ_P) in->p = c->p[i];
    if (reads & YK_READ_P_OLD) in->p_old = c->p_old[i];
    if (reads & YK_READ_Q) in->q = yk_cg_read(&c->q[i], past);
    if (reads & YK_READ_B) in->b = c->b[i];
    if (reads & YK_READ_BEST) in->best = c->best[i];
    if (reads & YK_READ_DIAGONAL) in->inverse_diagonal = c->inverse_diagonal[i];
    if (reads & YK_READ_W) in->w = c->w[i];
    if (reads & YK_READ_S) in->s = c->s[i];
    if (reads & YK_READ_T) in->t = c->t[i];
}

YK_INLINE yk_cg_inputs yk_cg_load(int task, const yk_cg_rows *c, int64_t i, int past)
{
    yk_cg_inputs in = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    yk_cg_load_some(yk_task_reads(task), c, i, past, &in);
    return in;
}

#include "solvers/cg/passes_one_sum.h"

/* z = M^-1 r for none and Jacobi, and the sums over r and z. */
YK_INLINE void yk_cg_precondition_row(const yk_cg_rows *c, int64_t i, const yk_cg_inputs *in,
                                      double r, int jacobi, double *dot)
{
    double z = jacobi ? r * in->inverse_diagonal : r;
    if (jacobi) c->z[i] = z;
    dot[YK_DOT_RR] = r * r;
    dot[YK_DOT_RZ] = r * z;
    dot[YK_DOT_Z] = z;
}

YK_INLINE void yk_cg_direction_row(const yk_cg_rows *c, int64_t i, const yk_cg_inputs *in, int past)
{
    yk_cg_write(&c->x[i], yk_fma(c->alpha, in->p, in->x), past);
    c->p[i] = yk_fma(c->beta, in->p, in->z - c->shift);
}

YK_INLINE void yk_cg_multiply_row(const yk_cg_rows *c, int64_t i, const yk_cg_inputs *in,
                                  double product, double *dot)
{
    yk_cg_store_product(c, &c->q[i], product);
    dot[YK_DOT_PQ] = in->p * product;
}

YK_INLINE void yk_cg_fold_row(const yk_cg_rows *c, int64_t i, const yk_cg_inputs *in,
                              double product, double *dot, int past)
{
    double p = yk_fma(c->beta, in->p_old, in->z);
    yk_cg_write(&c->x[i], yk_fma(c->alpha, in->p_old, in->x), past);
    c->p[i] = p;
    yk_cg_store_product(c, &c->q[i], product);
    dot[YK_DOT_PQ] = p * product;
}

YK_INLINE void yk_cg_update_row(const yk_cg_rows *c, int64_t i, const yk_cg_inputs *in, int jacobi,
                                double *dot)
{
    double r = yk_fma(-c->alpha, in->q, in->r);
    c->r[i] = r;
    yk_cg_precondition_row(c, i, in, r, jacobi, dot);
}

/* r = b - A x, the true residual, in place of the recursive one. */
YK_INLINE void yk_cg_residual_row(const yk_cg_rows *c, int64_t i, const yk_cg_inputs *in,
                                  double product, int jacobi, double *dot)
{
    double r = in->b - product;
    c->r[i] = r;
    yk_cg_precondition_row(c, i, in, r, jacobi, dot);
    dot[YK_DOT_BB] = in->b * in->b;
}

YK_INLINE void yk_cg_dots_z_row(const yk_cg_inputs *in, double *dot)
{
    dot[YK_DOT_RR] = in->r * in->r;
    dot[YK_DOT_RZ] = in->r * in->z;
    dot[YK_DOT_Z] = in->z;
    dot[YK_DOT_ZQ] = in->z * in->q;
}

YK_INLINE void yk_cg_scale_row(const yk_cg_rows *c, int64_t i, const yk_cg_inputs *in)
{
    c->b[i] = in->b * c->argument;
    c->x[i] = in->x * c->argument;
}

/* |v|, and infinity for what is no number. */
YK_INLINE double yk_cg_magnitude(double v)
{
    double magnitude = fabs(v);
    return magnitude == magnitude ? magnitude : (double)INFINITY;
}

/* Row i of a task from its inputs; product: of the row with the task's operand, where it
 * multiplies. With a constant task only its own lines are left. */
YK_INLINE void yk_cg_finish(int task, const yk_cg_rows *c, int64_t i, const yk_cg_inputs *in,
                            double product, double *dot, int past)
{
    switch (task) {
    case YK_TASK_DIRECTION: yk_cg_direction_row(c, i, in, past); break;
    case YK_TASK_MULTIPLY: yk_cg_multiply_row(c, i, in, product, dot); break;
    case YK_TASK_FOLD: yk_cg_fold_row(c, i, in, product, dot, past); break;
    case YK_TASK_FLUSH: c->x[i] = yk_fma(c->alpha, in->p, in->x); break;
    case YK_TASK_UPDATE_NONE:
    case YK_TASK_UPDATE_NONE_SHIFT: yk_cg_update_row(c, i, in, 0, dot); break;
    case YK_TASK_UPDATE_JACOBI:
    case YK_TASK_UPDATE_JACOBI_SHIFT: yk_cg_update_row(c, i, in, 1, dot); break;
    case YK_TASK_RESIDUAL_NONE: yk_cg_residual_row(c, i, in, product, 0, dot); break;
    case YK_TASK_RESIDUAL_JACOBI: yk_cg_residual_row(c, i, in, product, 1, dot); break;
    case YK_TASK_RESIDUAL_OF_Q_NONE: yk_cg_residual_row(c, i, in, in->q, 0, dot); break;
    case YK_TASK_RESIDUAL_OF_Q_JACOBI: yk_cg_residual_row(c, i, in, in->q, 1, dot); break;
    case YK_TASK_DOT_PQ: dot[YK_DOT_PQ] = in->p * in->q; break;
    case YK_TASK_UPDATE_R: c->r[i] = yk_fma(-c->alpha, in->q, in->r); break;
    case YK_TASK_DOTS_Z: yk_cg_dots_z_row(in, dot); break;
    case YK_TASK_SINGLE_STEP_NONE: yk_cg_single_step_row(c, i, in, 0, past); break;
    case YK_TASK_SINGLE_STEP_JACOBI: yk_cg_single_step_row(c, i, in, 1, past); break;
    case YK_TASK_SINGLE_MULTIPLY: yk_cg_single_multiply_row(c, i, in, product, dot); break;
    case YK_TASK_PIPELINED_STEP_NONE: yk_cg_pipelined_step_row(c, i, in, 0, dot, past); break;
    case YK_TASK_PIPELINED_STEP_JACOBI: yk_cg_pipelined_step_row(c, i, in, 1, dot, past); break;
    case YK_TASK_PRODUCT: yk_cg_store_product(c, &c->q[i], product); break;
    case YK_TASK_DOTS_S: yk_cg_dots_s_row(in, dot); break;
    case YK_TASK_M_OF_S: c->m[i] = yk_cg_preconditioned(c, i, in->s); break;
    case YK_TASK_M_OF_W: c->m[i] = yk_cg_preconditioned(c, i, in->w); break;
    case YK_TASK_CLEAR_S: yk_cg_clear_s_row(c, i); break;
    case YK_TASK_CLEAR_X: c->x[i] = 0.0; break;
    case YK_TASK_CLEAR_P: c->p[i] = 0.0; break;
    case YK_TASK_SCALE: yk_cg_scale_row(c, i, in); break;
    case YK_TASK_SAVE_X: c->best[i] = in->x; break;
    case YK_TASK_RESTORE_X: c->x[i] = in->best; break;
    case YK_TASK_SUM_B: dot[0] = in->b; break;
    case YK_TASK_SUM_X: dot[0] = in->x; break;
    case YK_TASK_CENTRE_B: c->b[i] = in->b - c->argument; break;
    case YK_TASK_CENTRE_X: c->x[i] = in->x - c->argument; break;
    case YK_TASK_LARGEST_B: dot[0] = yk_cg_magnitude(in->b); break;
    case YK_TASK_LARGEST_R: dot[0] = yk_cg_magnitude(in->r); break;
    case YK_TASK_LARGEST_X: dot[0] = yk_cg_magnitude(in->x); break;
    default: break;
    }
}

YK_INLINE void yk_cg_row(int task, const yk_cg_rows *c, int64_t i, double product, double *dot)
{
    yk_cg_inputs in = yk_cg_load(task, c, i, 0);
    yk_cg_finish(task, c, i, &in, product, dot, 0);
}

#endif
