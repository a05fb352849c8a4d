/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu_passes_body.h: text of cpu_passes_<isa>.c; included once by each, compiled with its flags. */
#include "solvers/cg/cpu_passes.h"

typedef void (*row_fn)(const yk_cg_rows *c, int64_t i);
typedef double (*row_dot_fn)(const yk_cg_rows *c, int64_t i);
typedef void (*row_dots_fn)(const yk_cg_rows *c, int64_t i, double *dot);

/* The structs are copied so that the compiler sees that no store changes them. */

YK_INLINE void for_rows(const yk_cg_rows *rows, int64_t first, int64_t last, row_fn row)
{
    yk_cg_rows c = *rows;
    YK_IVDEP
    for (int64_t i = first; i < last; i++) row(&c, i);
}

/* Streamed stores are weakly ordered: whoever takes over these rows must see them. */
YK_INLINE void order_streamed_stores(const yk_cg_rows *c)
{
    (void)c;
#ifdef __SSE2__
    if (c->stream_q) __builtin_ia32_sfence();
#endif
}

/* One sum, from rows whose work is not vectorised across rows. */
YK_INLINE void for_chunks_dot(const yk_cg_rows *rows, int64_t first, int64_t last, yk_tree *tree,
                              row_dot_fn row)
{
    yk_cg_rows c = *rows;
    for (int64_t chunk = first; chunk < last; chunk += YK_CHUNK) {
        int64_t end = chunk + YK_CHUNK < last ? chunk + YK_CHUNK : last;
        double lane[YK_LANES] = {0.0};
        for (int64_t i = chunk; i < end; i++) lane[(i - chunk) % YK_LANES] += row(&c, i);
        double sum = yk_lanes_total(lane);
        yk_tree_add(tree, 0, &sum);
    }
    order_streamed_stores(&c);
}

/* Several sums, from rows that are alike: the lanes are SIMD lanes. */
YK_INLINE void for_chunks_dots(const yk_cg_rows *rows, int64_t first, int64_t last, yk_tree *tree,
                               row_dots_fn row, int dots)
{
    yk_cg_rows c = *rows;
    for (int64_t chunk = first; chunk < last; chunk += YK_CHUNK) {
        int64_t end = chunk + YK_CHUNK < last ? chunk + YK_CHUNK : last, i = chunk;
        double lane[YK_DOTS][YK_LANES] = {{0.0}}, sum[YK_DOTS] = {0.0};
        for (; i + YK_LANES <= end; i += YK_LANES) {
            YK_IVDEP
            for (int j = 0; j < YK_LANES; j++) {
                double dot[YK_DOTS];
                row(&c, i + j, dot);
                for (int d = 0; d < dots; d++) lane[d][j] += dot[d];
            }
        }
        for (int j = 0; i + j < end; j++) {
            double dot[YK_DOTS];
            row(&c, i + j, dot);
            for (int d = 0; d < dots; d++) lane[d][j] += dot[d];
        }
        for (int d = 0; d < dots; d++) sum[d] = yk_lanes_total(lane[d]);
        yk_tree_add(tree, 0, sum);
    }
}

YK_INLINE void update_none_row(const yk_cg_rows *c, int64_t i, double *dot)
{
    yk_cg_update_row(c, i, 0, dot);
}

YK_INLINE void update_jacobi_row(const yk_cg_rows *c, int64_t i, double *dot)
{
    yk_cg_update_row(c, i, 1, dot);
}

YK_INLINE void residual_none_row(const yk_cg_rows *c, int64_t i, double *dot)
{
    yk_cg_residual_row(c, i, 0, dot);
}

YK_INLINE void residual_jacobi_row(const yk_cg_rows *c, int64_t i, double *dot)
{
    yk_cg_residual_row(c, i, 1, dot);
}

YK_INLINE void residual_of_q_row(const yk_cg_rows *c, int64_t i, int jacobi, double *dot)
{
    double r = c->b[i] - c->q[i];
    c->r[i] = r;
    yk_cg_precondition_row(c, i, r, jacobi, dot);
    dot[YK_DOT_BB] = c->b[i] * c->b[i];
}

YK_INLINE void residual_of_q_none_row(const yk_cg_rows *c, int64_t i, double *dot)
{
    residual_of_q_row(c, i, 0, dot);
}

YK_INLINE void residual_of_q_jacobi_row(const yk_cg_rows *c, int64_t i, double *dot)
{
    residual_of_q_row(c, i, 1, dot);
}

YK_INLINE double dot_pq_row(const yk_cg_rows *c, int64_t i)
{
    return c->p[i] * c->q[i];
}

YK_INLINE void update_r_row(const yk_cg_rows *c, int64_t i)
{
    c->r[i] = yk_fma(-c->alpha, c->q[i], c->r[i]);
}

YK_INLINE void dots_z_row(const yk_cg_rows *c, int64_t i, double *dot)
{
    dot[YK_DOT_RR] = c->r[i] * c->r[i];
    dot[YK_DOT_RZ] = c->r[i] * c->z[i];
    dot[YK_DOT_Z] = c->z[i];
    dot[YK_DOT_ZQ] = c->z[i] * c->q[i];
}

#define PLAIN_PASS(name, row)                                                                      \
    static void name(const yk_cg_rows *rows, int64_t first, int64_t last, yk_tree *tree)           \
    {                                                                                              \
        (void)tree;                                                                                \
        for_rows(rows, first, last, row);                                                          \
    }
#define DOT_PASS(name, row)                                                                        \
    static void name(const yk_cg_rows *rows, int64_t first, int64_t last, yk_tree *tree)           \
    {                                                                                              \
        for_chunks_dot(rows, first, last, tree, row);                                              \
    }
#define DOTS_PASS(name, row, dots)                                                                 \
    static void name(const yk_cg_rows *rows, int64_t first, int64_t last, yk_tree *tree)           \
    {                                                                                              \
        for_chunks_dots(rows, first, last, tree, row, dots);                                       \
    }

PLAIN_PASS(direction, yk_cg_direction_row)
PLAIN_PASS(flush, yk_cg_flush_row)
PLAIN_PASS(update_r, update_r_row)
DOT_PASS(multiply, yk_cg_multiply_row)
DOT_PASS(fold, yk_cg_fold_row)
DOT_PASS(dot_pq, dot_pq_row)
DOTS_PASS(update_none, update_none_row, 1)
DOTS_PASS(update_none_shift, update_none_row, 3)
DOTS_PASS(update_jacobi, update_jacobi_row, 2)
DOTS_PASS(update_jacobi_shift, update_jacobi_row, 3)
DOTS_PASS(residual_none, residual_none_row, 4)
DOTS_PASS(residual_jacobi, residual_jacobi_row, 4)
DOTS_PASS(residual_of_q_none, residual_of_q_none_row, 4)
DOTS_PASS(residual_of_q_jacobi, residual_of_q_jacobi_row, 4)
DOTS_PASS(dots_z, dots_z_row, 4)

const yk_cpu_passes CPU_PASSES = {
    .name = CPU_PASSES_NAME,
    .direction = direction,
    .multiply = multiply,
    .fold = fold,
    .flush = flush,
    .update = {{update_none, update_none_shift}, {update_jacobi, update_jacobi_shift}},
    .residual = {residual_none, residual_jacobi},
    .dot_pq = dot_pq,
    .update_r = update_r,
    .dots_z = dots_z,
    .residual_of_q = {residual_of_q_none, residual_of_q_jacobi},
};
