/* SPDX-License-Identifier: BSD-3-Clause */
/* test_sums.c: the fixed order of sums, against plain statements of it; and the passes of every
 * instruction set against each other. */
#include "config.h"
#include "lib/rowsum.h"
#include "lib/simd.h"
#include "solvers/cg/bytes.h"
#include "solvers/cg/cpu_passes.h"
#include "tests/systems.h"

/* The tree by recursion: the left half is the largest power of two below the count. */
static double tree_by_definition(const double *leaf, int64_t count)
{
    if (count == 1) return leaf[0];
    int64_t half = 1;
    while (2 * half < count) half *= 2;
    return tree_by_definition(leaf, half) + tree_by_definition(leaf + half, count - half);
}

Test(sums, the_tree_is_that_of_its_definition_however_it_is_cut)
{
    enum { most = 200 };
    double leaf[most];
    scramble(leaf, most, 7);
    for (int64_t count = 1; count <= most; count++) {
        double expected = tree_by_definition(leaf, count);
        for (int64_t cut = 0; cut <= count; cut++) {
            yk_tree left, right, all;
            double total;
            yk_tree_begin(&left, 0, 1);
            yk_tree_begin(&right, cut, 1);
            yk_tree_begin(&all, 0, 1);
            for (int64_t i = 0; i < cut; i++) yk_tree_add(&left, 0, &leaf[i]);
            for (int64_t i = cut; i < count; i++) yk_tree_add(&right, 0, &leaf[i]);
            yk_tree_append(&all, &left);
            yk_tree_append(&all, &right);
            yk_tree_total(&all, &total);
            cr_assert_eq(total, expected, "%lld leaves cut at %lld", (long long)count,
                         (long long)cut);
        }
    }
}

Test(sums, a_range_of_two_billion_rows_has_nodes_to_spare)
{
    yk_tree tree;
    double one = 1.0, total;
    yk_tree_begin(&tree, 1, 1); /* worst: starts and ends off every boundary */
    for (int level = 0; level < 23; level++) yk_tree_add(&tree, level, &one);
    for (int level = 22; level >= 0; level--) yk_tree_add(&tree, level, &one);
    cr_assert_leq(tree.count, YK_TREE_NODES);
    yk_tree_total(&tree, &total);
    cr_assert_eq(total, 46.0);
}

/* The order of rowsum.h in its plainest form. */
static double row_by_definition(const double *product_of, const double *x, int64_t count)
{
    double segment[64], lane[8] = {0.0};
    if (count > 256) {
        int64_t segments = (count + 255) / 256;
        for (int64_t s = 0; s < segments; s++)
            segment[s] = row_by_definition(product_of + 256 * s, x + 256 * s,
                                           s + 1 < segments ? 256 : count - 256 * s);
        return tree_by_definition(segment, segments);
    }
    int lanes = count <= 8 ? 1 : 8;
    for (int64_t k = 0; k < count; k++) lane[k % lanes] = fma(product_of[k], x[k], lane[k % lanes]);
    if (lanes == 1) return lane[0];
    double four[4], two[2];
    for (int j = 0; j < 4; j++) four[j] = lane[j] + lane[j + 4];
    for (int j = 0; j < 2; j++) two[j] = four[j] + four[j + 2];
    return two[0] + two[1];
}

enum { MOST = 3000 };

typedef struct rows_fixture {
    int32_t start[MOST + 1], column[4 * MOST];
    double value[4 * MOST], z[MOST], p[MOST], q[MOST], x[MOST], r[MOST], b[MOST], d[MOST],
        p_new[MOST];
} rows_fixture;

/* Rows of every length up to 70, and some of several segments. */
static int make_rows(rows_fixture *f)
{
    int rows = 0, used = 0;
    f->start[0] = 0;
    for (int length = 0; length <= 1100; length += length < 70 ? 1 : 257) {
        for (int k = 0; k < length; k++) f->column[used + k] = (k * 7 + length) % MOST;
        used += length;
        f->start[++rows] = used;
    }
    scramble(f->value, used, 1);
    scramble(f->z, MOST, 2);
    scramble(f->p, MOST, 3);
    scramble(f->x, MOST, 4);
    scramble(f->r, MOST, 5);
    scramble(f->b, MOST, 6);
    scramble(f->d, MOST, 8);
    return rows;
}

static const yk_cpu_passes *const all_passes[] = {
    &yk_cpu_passes_portable,
#if HAVE_X86_64
    &yk_cpu_passes_avx2,
    &yk_cpu_passes_avx512,
#endif
};

static bool runs_here(const yk_cpu_passes *passes)
{
#if HAVE_X86_64
    if (passes == &yk_cpu_passes_avx2) return yk_simd_level() >= YK_AVX2;
    if (passes == &yk_cpu_passes_avx512) return yk_simd_level() >= YK_AVX512;
#endif
    return passes != NULL;
}

static yk_cg_rows view_of(rows_fixture *f, int rows)
{
    return (yk_cg_rows){.csr = {.rows = rows,
                                .nonzeros = f->start[rows],
                                .start32 = f->start,
                                .column = f->column,
                                .value = f->value},
                        .x = f->x,
                        .r = f->r,
                        .z = f->z,
                        .p = f->p,
                        .p_old = f->p,
                        .q = f->q,
                        .b = f->b,
                        .inverse_diagonal = f->d,
                        .alpha = 0.37,
                        .beta = 1.21};
}

Test(sums, rows_of_every_length_follow_the_definition_in_every_instruction_set)
{
    static rows_fixture f;
    static double gathered[4 * MOST], folded[4 * MOST];
    for (size_t s = 0; s < sizeof all_passes / sizeof *all_passes; s++) {
        if (!runs_here(all_passes[s])) continue;
        int rows = make_rows(&f);
        yk_cg_rows c = view_of(&f, rows), c_folded = c;
        c_folded.p = f.p_new;
        yk_tree tree;
        for (int k = 0; k < f.start[rows]; k++) {
            gathered[k] = f.p[f.column[k]];
            folded[k] = fma(1.21, f.p[f.column[k]], f.z[f.column[k]]);
        }
        yk_tree_begin(&tree, 0, 1);
        all_passes[s]->pass[YK_TASK_MULTIPLY](&c, 0, rows, &tree);
        for (int i = 0; i < rows; i++) {
            int from = f.start[i], length = f.start[i + 1] - from;
            double expected = row_by_definition(f.value + from, gathered + from, length);
            cr_assert_eq(f.q[i], expected, "%s: row of %d", all_passes[s]->name, length);
        }
        yk_tree_begin(&tree, 0, 1);
        all_passes[s]->pass[YK_TASK_FOLD](&c_folded, 0, rows, &tree);
        for (int i = 0; i < rows; i++) {
            int from = f.start[i], length = f.start[i + 1] - from;
            double expected = row_by_definition(f.value + from, folded + from, length);
            cr_assert_eq(f.q[i], expected, "%s: folded row of %d", all_passes[s]->name, length);
        }
    }
}

/* A chunk's dot in its plainest form. */
static double dot_by_definition(const double *a, const double *b, int64_t count)
{
    double chunk[64];
    int64_t chunks = (count + YK_CHUNK - 1) / YK_CHUNK;
    for (int64_t c = 0; c < chunks; c++) {
        double lane[YK_LANES] = {0.0};
        for (int64_t i = 0; i < YK_CHUNK && c * YK_CHUNK + i < count; i++) {
            double product = a[c * YK_CHUNK + i] * b[c * YK_CHUNK + i];
            lane[i % YK_LANES] += product;
        }
        for (int half = 16; half > 0; half /= 2)
            for (int j = 0; j < half; j++) lane[j] = lane[j] + lane[j + half];
        chunk[c] = lane[0];
    }
    return tree_by_definition(chunk, chunks);
}

Test(sums, dots_follow_the_definition_in_every_instruction_set)
{
    static rows_fixture f;
    static double r[MOST];
    for (size_t s = 0; s < sizeof all_passes / sizeof *all_passes; s++) {
        if (!runs_here(all_passes[s])) continue;
        make_rows(&f);
        scramble(f.q, MOST, 9);
        int64_t rows = 2900; /* eleven chunks and a part of one */
        yk_cg_rows c = view_of(&f, 0);
        yk_tree tree;
        double total[YK_DOTS];
        for (int i = 0; i < rows; i++) r[i] = fma(-0.37, f.q[i], f.r[i]);
        f.z[rows] = 77.0;
        yk_tree_begin(&tree, 0, 2);
        all_passes[s]->pass[YK_TASK_UPDATE_JACOBI](&c, 0, rows, &tree);
        yk_tree_total(&tree, total);
        cr_assert_eq(memcmp(r, f.r, (size_t)rows * sizeof *r), 0);
        for (int i = 0; i < rows; i++) cr_assert_eq(f.z[i], r[i] * f.d[i]);
        cr_assert_eq(f.z[rows], 77.0, "nothing is written beyond the range");
        cr_assert_eq(total[YK_DOT_RR], dot_by_definition(r, r, rows), "%s", all_passes[s]->name);
        cr_assert_eq(total[YK_DOT_RZ], dot_by_definition(r, f.z, rows), "%s", all_passes[s]->name);
    }
}

/* What figures.md calls 72 and 80 to 88 bytes a row beside the matrix. */
Test(sums, the_passes_move_the_bytes_that_reports_count)
{
    cr_assert_eq(yk_cg_row_bytes(true, false), 72.0);
    cr_assert_eq(yk_cg_row_bytes(false, false), 80.0);
    cr_assert_eq(yk_cg_row_bytes(true, true), 88.0);
    cr_assert_eq(yk_cg_row_bytes(false, true), 96.0);
    cr_assert_eq(yk_recurrence_row_bytes(YK_SINGLE, false, false), 88.0);
    cr_assert_eq(yk_recurrence_row_bytes(YK_SINGLE, false, true), 112.0);
    cr_assert_eq(yk_recurrence_row_bytes(YK_PIPELINED, false, false), 120.0);
    cr_assert_eq(yk_recurrence_row_bytes(YK_PIPELINED, false, true), 136.0);
    int32_t start[2] = {0, 27}, column[27] = {0};
    yk_csr csr = {.rows = 1, .nonzeros = 27, .start32 = start, .column = column};
    cr_assert_eq(yk_csr_bytes(&csr), 328.0);
    cr_assert_eq(yk_sell_bytes(27), 324.0);
}
