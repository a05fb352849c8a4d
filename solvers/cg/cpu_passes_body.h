/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu_passes_body.h: text of cpu_passes_<isa>.c; included once by each, compiled with its flags. */
#include "solvers/cg/cpu_passes.h"

/* In all functions below the task is a constant, and the struct is a copy, so that the compiler
 * sees that no store changes it. */

/* Rows that deliver nothing. */
YK_INLINE void for_rows(int task, const yk_cg_rows *rows, int64_t first, int64_t last)
{
    yk_cg_rows c = *rows;
    double nothing[YK_DOTS];
    YK_IVDEP
    for (int64_t i = first; i < last; i++) yk_cg_row(task, &c, i, 0.0, nothing);
}

/* Streamed stores are weakly ordered: whoever takes over these rows must see them. */
YK_INLINE void order_streamed_stores(const yk_cg_rows *c)
{
    (void)c;
#ifdef __SSE2__
    if (c->stream_q) __builtin_ia32_sfence();
#endif
}

/* Rows that are multiplied: vectorised within a row, not across rows. */
YK_INLINE void for_products(int task, const yk_cg_rows *rows, int64_t first, int64_t last,
                            yk_tree *tree)
{
    yk_cg_rows c = *rows;
    yk_operand v = yk_task_operand(task, &c);
    int dots = yk_task_dots(task), fold = yk_task_folds(task);
    for (int64_t chunk = first; chunk < last; chunk += YK_CHUNK) {
        int64_t end = chunk + YK_CHUNK < last ? chunk + YK_CHUNK : last;
        double lane[YK_DOTS][YK_LANES] = {{0.0}}, dot[YK_DOTS], sum[YK_DOTS];
        int64_t to = yk_row_start(&c.csr, chunk);
        for (int64_t i = chunk; i < end; i++) {
            int64_t from = to;
            to = yk_row_start(&c.csr, i + 1);
            double product =
                yk_row_sum(c.csr.column + from, c.csr.value + from, to - from, &v, fold);
            yk_cg_row(task, &c, i, product, dot);
            for (int d = 0; d < dots; d++) lane[d][(i - chunk) % YK_LANES] += dot[d];
        }
        for (int d = 0; d < dots; d++) sum[d] = yk_lanes_total(lane[d]);
        yk_tree_add(tree, 0, sum);
    }
    order_streamed_stores(&c);
}

/* Sums from rows that are alike: the lanes are SIMD lanes. */
YK_INLINE void for_sums(int task, const yk_cg_rows *rows, int64_t first, int64_t last,
                        yk_tree *tree)
{
    yk_cg_rows c = *rows;
    int dots = yk_task_dots(task);
    for (int64_t chunk = first; chunk < last; chunk += YK_CHUNK) {
        int64_t end = chunk + YK_CHUNK < last ? chunk + YK_CHUNK : last, i = chunk;
        double lane[YK_DOTS][YK_LANES] = {{0.0}}, sum[YK_DOTS] = {0.0};
        for (; i + YK_LANES <= end; i += YK_LANES) {
            YK_IVDEP
            for (int j = 0; j < YK_LANES; j++) {
                double dot[YK_DOTS];
                yk_cg_row(task, &c, i + j, 0.0, dot);
                for (int d = 0; d < dots; d++) lane[d][j] += dot[d];
            }
        }
        for (int j = 0; i + j < end; j++) {
            double dot[YK_DOTS];
            yk_cg_row(task, &c, i + j, 0.0, dot);
            for (int d = 0; d < dots; d++) lane[d][j] += dot[d];
        }
        for (int d = 0; d < dots; d++) sum[d] = yk_lanes_total(lane[d]);
        yk_tree_add(tree, 0, sum);
    }
}

YK_INLINE double for_largest(int task, const yk_cg_rows *rows, int64_t first, int64_t last)
{
    yk_cg_rows c = *rows;
    double largest = 0.0, dot[YK_DOTS];
    for (int64_t i = first; i < last; i++) {
        yk_cg_row(task, &c, i, 0.0, dot);
        if (dot[0] > largest) largest = dot[0];
    }
    return largest;
}

YK_INLINE double run(int task, const yk_cg_rows *rows, int64_t first, int64_t last, yk_tree *tree)
{
    if (yk_task_is_largest(task)) return for_largest(task, rows, first, last);
    if (yk_task_multiplies(task))
        for_products(task, rows, first, last, tree);
    else if (yk_task_dots(task) > 0)
        for_sums(task, rows, first, last, tree);
    else
        for_rows(task, rows, first, last);
    return 0.0;
}

#define PASS(name, dots)                                                                           \
    static double run_##name(const yk_cg_rows *rows, int64_t first, int64_t last, yk_tree *tree)   \
    {                                                                                              \
        return run(YK_TASK_##name, rows, first, last, tree);                                       \
    }
YK_TASK_LIST(PASS)

#define PASS_ENTRY(name, dots) [YK_TASK_##name] = run_##name,
const yk_cpu_passes CPU_PASSES = {.name = CPU_PASSES_NAME, .pass = {YK_TASK_LIST(PASS_ENTRY)}};
