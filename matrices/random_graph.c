/* SPDX-License-Identifier: BSD-3-Clause */
/* random_graph.c: random symmetric patterns whose rows can be made one by one.
 * The graph is the union of degree / 2 random permutations: i has the neighbours pi(i) and
 * pi^-1(i), so either end finds the edge without a sort over all. An odd degree adds a random
 * matching, pi^-1 of (pi(i) with its last bit turned). Loops are dropped, repeats merged. */
#include "matrices/random_graph.h"

#include <math.h>
#include <stdlib.h>

#include "lib/ranks.h"
#include "lib/status.h"
#include "matrices/generate.h"
#include "matrices/hash.h"
#include "matrices/permutation.h"
#include "matrices/rows.h"

typedef struct graph {
    int degree;
    uint64_t seed;
    yk_permutation pi[YK_MOST_NEIGHBOURS / 2 + 1];
} graph;

enum { SHORT = 64 }; /* columns; beyond, counting costs more than qsort */

/* Streams of one seed that must not meet. */
enum { STREAM_PERMUTATION, STREAM_ENTRY, STREAM_DIAGONAL };

static uint64_t stream(uint64_t seed, uint64_t which)
{
    return yk_mix64(yk_hash(seed, which));
}

static int by_column(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int sort_long(int32_t *column, int count)
{
    int kept = 0;
    qsort(column, (size_t)count, sizeof *column, by_column);
    for (int k = 0; k < count; k++)
        if (kept == 0 || column[kept - 1] != column[k]) column[kept++] = column[k];
    return kept;
}

/* Each column goes to the place that counts the smaller ones: no branch to mispredict. Equal ones
 * go to one place and leave holes, which are closed. */
static int sort_short(int32_t *column, int count)
{
    int32_t given[SHORT], sorted[SHORT];
    int padded = (count + 3) / 4 * 4, kept = 0;
    for (int k = 0; k < padded; k++) {
        given[k] = k < count ? column[k] : INT32_MAX;
        sorted[k] = -1;
    }
    for (int k = 0; k < count; k++) {
        int32_t own = column[k], smaller = 0;
#pragma omp simd reduction(+ : smaller)
        for (int j = 0; j < padded; j++) smaller += given[j] < own;
        sorted[smaller] = own;
    }
    for (int k = 0; k < count; k++) {
        column[kept] = sorted[k];
        kept += sorted[k] >= 0;
    }
    return kept;
}

/* Sorts and drops repeats; returns how many are left. */
static int sort_columns(int32_t *column, int count)
{
    return count <= SHORT ? sort_short(column, count) : sort_long(column, count);
}

/* An odd count leaves the last place of the matching alone. */
static uint32_t matched(const yk_permutation *pi, uint32_t row)
{
    uint32_t partner = yk_permute(pi, row) ^ 1;
    return partner < pi->count ? yk_permute_back(pi, partner) : row;
}

/* The columns of a row, its own among them, ascending; returns how many. column: [degree + 1]. */
static int columns_of(const graph *g, int64_t row, int32_t *column)
{
    int pairs = g->degree / 2, count = 0;
    for (int k = 0; k < pairs; k++) {
        column[count++] = (int32_t)yk_permute(&g->pi[k], (uint32_t)row);
        column[count++] = (int32_t)yk_permute_back(&g->pi[k], (uint32_t)row);
    }
    if (g->degree % 2) column[count++] = (int32_t)matched(&g->pi[pairs], (uint32_t)row);
    column[count++] = (int32_t)row;
    return sort_columns(column, count);
}

/* After its last column a kept row holds -1, if there is room. */
static void lengths(const void *rule, int64_t first, int64_t last, int32_t *length, int32_t *kept)
{
    const graph *g = rule;
    int most = g->degree + 1;
    for (int64_t row = first; row < last; row++, kept += most) {
        int count = columns_of(g, row, kept);
        if (count < most) kept[count] = -1;
        *length++ = count;
    }
}

static int copy_kept(const int32_t *kept, int most, int32_t *column)
{
    int count = 0;
    for (; count < most && kept[count] >= 0; count++) column[count] = kept[count];
    return count;
}

static void fill_laplacian(const void *rule, int64_t first, int64_t last, const int32_t *kept,
                           int32_t *column, double *value)
{
    int most = ((const graph *)rule)->degree + 1;
    for (int64_t row = first; row < last; row++, kept += most) {
        int count = copy_kept(kept, most, column);
        /* count - 1 neighbours, plus identity */
        for (int k = 0; k < count; k++) value[k] = column[k] == row ? count : -1;
        column += count;
        value += count;
    }
}

/* In [-1, 1), the same from either end. */
static double entry(uint64_t entries, int64_t row, int64_t column)
{
    uint64_t low = (uint64_t)(row < column ? row : column);
    uint64_t high = (uint64_t)(row < column ? column : row);
    return 2 * yk_uniform(yk_hash(entries, low << 32 | high)) - 1;
}

/* The diagonal exceeds the sum of the others by 0.01 to 1.01, far above that sum's round-off. */
static void fill_dominant(const void *rule, int64_t first, int64_t last, const int32_t *kept,
                          int32_t *column, double *value)
{
    const graph *g = rule;
    uint64_t entries = stream(g->seed, STREAM_ENTRY), diagonals = stream(g->seed, STREAM_DIAGONAL);
    int most = g->degree + 1;
    for (int64_t row = first; row < last; row++, kept += most) {
        int count = copy_kept(kept, most, column), diagonal = 0;
        double sum = 0.01 + yk_uniform(yk_hash(diagonals, (uint64_t)row));
        for (int k = 0; k < count; k++) {
            if (column[k] == row) {
                diagonal = k;
                continue;
            }
            value[k] = entry(entries, row, column[k]);
            sum += fabs(value[k]);
        }
        value[diagonal] = sum;
        column += count;
        value += count;
    }
}

typedef void (*fill_fn)(const void *, int64_t, int64_t, const int32_t *, int32_t *, double *);

static yoke_status build(yoke_context *context, int64_t size, int degree, uint64_t seed,
                         fill_fn fill, yoke_matrix **matrix)
{
    int64_t rows;
    YK_TRY(yk_rows_of_grid(size, 1, 1, 1, &rows));
    graph *g = malloc(sizeof *g);
    if (!g) {
        yoke_status status =
            yk_fail(YOKE_NO_MEMORY, "no memory for %zu bytes of permutations", sizeof *g);
        return yk_agree(context, status, 0.0); /* over ranks others ask */
    }
    g->degree = degree;
    g->seed = seed;
    uint64_t permutations = stream(seed, STREAM_PERMUTATION);
    for (int k = 0; k < (degree + 1) / 2; k++)
        g->pi[k] = yk_permutation_make(yk_hash(permutations, (uint64_t)k), (uint32_t)rows);
    yk_rows made = {g, rows, rows * (degree + 1), 1, degree + 1, lengths, fill};
    yoke_status status = yk_rows_build(context, &made, matrix);
    free(g);
    return status;
}

yoke_status yk_make_graph(yoke_context *context, const yk_argument *a, yoke_matrix **matrix)
{
    if (a[1].size >= a[0].size)
        return yk_fail(YOKE_INVALID,
                       "graph of %lld rows and %lld neighbours a node: expected "
                       "graph:ROWS:DEGREE:SEED with DEGREE below ROWS",
                       (long long)a[0].size, (long long)a[1].size);
    return build(context, a[0].size, (int)a[1].size, a[2].seed, fill_laplacian, matrix);
}

yoke_status yk_make_random_spd(yoke_context *context, const yk_argument *a, yoke_matrix **matrix)
{
    if (a[1].size > a[0].size)
        return yk_fail(YOKE_INVALID,
                       "random_spd of %lld rows and %lld entries a row: expected "
                       "random_spd:ROWS:PER_ROW:SEED with PER_ROW at most ROWS",
                       (long long)a[0].size, (long long)a[1].size);
    return build(context, a[0].size, (int)a[1].size - 1, a[2].seed, fill_dominant, matrix);
}
