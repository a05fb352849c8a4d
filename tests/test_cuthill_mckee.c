/* SPDX-License-Identifier: BSD-3-Clause */
/* test_cuthill_mckee.c: the order that brings entries near the diagonal, and the matrix in it. */
#include <yoke_io.h>

#include "lib/cuthill_mckee.h"
#include "lib/permuted.h"
#include "tests/matrix_fixture.h"

TestSuite(cuthill_mckee, .init = make_context, .fini = drop_context);

static int64_t bandwidth(const yk_csr *csr)
{
    int64_t widest = 0;
    for (int64_t i = 0; i < csr->rows; i++)
        for (int64_t k = yk_row_start(csr, i); k < yk_row_start(csr, i + 1); k++) {
            int64_t distance = csr->column[k] > i ? csr->column[k] - i : i - csr->column[k];
            if (distance > widest) widest = distance;
        }
    return widest;
}

/* A seeded shuffle (Fisher and Yates). */
static int32_t *shuffled(int64_t rows, uint64_t seed)
{
    int32_t *order = malloc((size_t)(rows + 1) * sizeof *order);
    for (int64_t i = 0; i < rows; i++) order[i] = (int32_t)i;
    for (int64_t i = rows - 1; i > 0; i--) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        int64_t j = (int64_t)((seed >> 33) % (uint64_t)(i + 1));
        int32_t moved = order[i];
        order[i] = order[j];
        order[j] = moved;
    }
    return order;
}

/* The matrix with its rows in an order, as one of its own. */
static yoke_matrix *in_order(const yk_csr *csr, const int32_t *order)
{
    yoke_matrix *matrix = NULL;
    yk_csr permuted;
    int32_t *position = malloc((size_t)(csr->rows + 1) * sizeof *position);
    yk_permutation_invert(order, csr->rows, 3, position);
    cr_assert_eq(yk_permuted_create(context, csr, order, position, 3, &permuted), YOKE_OK);
    free(position);
    cr_assert_eq(yk_matrix_adopt(context, &permuted, &matrix), YOKE_OK);
    return matrix;
}

static int32_t *order_of(const yk_csr *csr)
{
    int32_t *order = malloc((size_t)(csr->rows + 1) * sizeof *order);
    cr_assert_eq(yk_cuthill_mckee(context, csr, order), YOKE_OK);
    return order;
}

static void is_permutation(const int32_t *order, int64_t rows)
{
    char *seen = calloc((size_t)rows + 1, 1);
    for (int64_t k = 0; k < rows; k++) {
        cr_assert(order[k] >= 0 && order[k] < rows);
        cr_assert_eq(seen[order[k]], 0, "row %d comes twice", (int)order[k]);
        seen[order[k]] = 1;
    }
    free(seen);
}

static yoke_matrix *shuffled_matrix(const char *spec, uint64_t seed)
{
    yoke_matrix *matrix = NULL;
    cr_assert_eq(yoke_matrix_generate(context, spec, &matrix), YOKE_OK);
    int32_t *order = shuffled(matrix->csr.rows, seed);
    yoke_matrix *moved = in_order(&matrix->csr, order);
    free(order);
    yoke_matrix_destroy(matrix);
    return moved;
}

static int64_t bandwidth_after(const yoke_matrix *matrix)
{
    int32_t *order = order_of(&matrix->csr);
    is_permutation(order, matrix->csr.rows);
    yoke_matrix *ordered = in_order(&matrix->csr, order);
    int64_t width = bandwidth(&ordered->csr);
    free(order);
    yoke_matrix_destroy(ordered);
    return width;
}

/* From a corner the levels are the diagonals of the grid, of which neighbours have N - 1 and N
 * rows at most. */
Test(cuthill_mckee, finds_the_band_of_a_shuffled_grid)
{
    enum { N = 37 };
    yoke_matrix *matrix = shuffled_matrix("poisson2d5:37", 5);
    cr_assert_gt(bandwidth(&matrix->csr), N * N / 2);
    cr_assert_leq(bandwidth_after(matrix), N);
    yoke_matrix_destroy(matrix);
}

Test(cuthill_mckee, finds_the_end_of_a_shuffled_chain)
{
    enum { N = 1000 };
    int32_t start[N + 1], column[3 * N];
    double value[3 * N];
    start[0] = 0;
    for (int i = 0; i < N; i++) {
        start[i + 1] = start[i];
        for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < N; j++) {
            column[start[i + 1]] = j;
            value[start[i + 1]++] = i == j ? 2.0 : -1.0;
        }
    }
    yoke_csr csr = csr32(N, start, column, value);
    yoke_matrix *chain = created(&csr);
    int32_t *order = shuffled(N, 9);
    yoke_matrix *matrix = in_order(&chain->csr, order);
    cr_assert_gt(bandwidth(&matrix->csr), 100);
    cr_assert_eq(bandwidth_after(matrix), 1);
    free(order);
    yoke_matrix_destroy(matrix);
    yoke_matrix_destroy(chain);
}

/* A row that all are connected to, beside a list of neighbours that is sorted by digits: those
 * with the fewest entries come nearest to the root, so last, as the order is reversed. */
Test(cuthill_mckee, sorts_long_lists_of_neighbours_by_their_entries)
{
    enum { N = 401, PAIRS = 50 }; /* a star around row 0, whose first 2 PAIRS points are paired */
    static int32_t start[N + 1], column[4 * N];
    static double value[4 * N];
    int32_t count = 0;
    for (int i = 0; i < N; i++) {
        int other = i == 0 || i > 2 * PAIRS ? 0 : i % 2 ? i + 1 : i - 1;
        for (int j = 0; j < N; j++) {
            if (i != 0 && j != 0 && j != i && j != other) continue;
            column[count] = j;
            value[count++] = i == j ? N : -1.0;
        }
        start[i + 1] = count;
    }
    yoke_csr csr = csr32(N, start, column, value);
    yoke_matrix *matrix = created(&csr);
    int32_t *order = order_of(&matrix->csr);
    is_permutation(order, N);
    cr_assert_eq(order[N - 2], 0, "the centre is the first level's only neighbour");
    for (int k = 0; k < 2 * PAIRS; k++)
        cr_assert(order[k] >= 1 && order[k] <= 2 * PAIRS, "row %d comes too early", order[k]);
    free(order);
    yoke_matrix_destroy(matrix);
}

/* Two chains that lie between each other, and rows without any entry. */
Test(cuthill_mckee, orders_each_component_and_empty_rows)
{
    enum { N = 9 };
    static const int32_t start[] = {0, 1, 2, 4, 6, 6, 7, 8, 8, 8};
    static const int32_t column[] = {6, 3, 2, 5, 1, 3, 2, 0};
    static const double value[] = {1, 1, 1, 1, 1, 1, 1, 1};
    yoke_csr csr = csr32(N, start, column, value);
    csr.unsymmetric = YOKE_TRUST;
    yoke_matrix *matrix = created(&csr);
    cr_assert_eq(bandwidth(&matrix->csr), 6);
    cr_assert_eq(bandwidth_after(matrix), 1);
    yoke_matrix_destroy(matrix);
}

Test(cuthill_mckee, orders_no_row_and_one_row)
{
    static const int32_t none[] = {0}, one[] = {0, 1}, column[] = {0};
    static const double value[] = {2};
    yoke_csr csr = csr32(0, none, column, value);
    yoke_matrix *matrix = created(&csr);
    free(order_of(&matrix->csr));
    yoke_matrix_destroy(matrix);
    csr = csr32(1, one, column, value);
    matrix = created(&csr);
    int32_t *order = order_of(&matrix->csr);
    cr_assert_eq(order[0], 0);
    free(order);
    yoke_matrix_destroy(matrix);
}

/* An entry that its mirror image lacks: what is found is a permutation all the same. */
Test(cuthill_mckee, takes_patterns_that_are_not_symmetric)
{
    static const int32_t start[] = {0, 2, 3, 5, 6};
    static const int32_t column[] = {0, 3, 1, 0, 2, 3};
    static const double value[] = {1, 0, 1, 0, 1, 1};
    yoke_csr csr = csr32(4, start, column, value);
    csr.unsymmetric = YOKE_TRUST;
    yoke_matrix *matrix = created(&csr);
    (void)bandwidth_after(matrix);
    yoke_matrix_destroy(matrix);
}

/* Back in its first order the matrix is what it was, values too, also by new ones. */
Test(cuthill_mckee, a_matrix_goes_there_and_back)
{
    yoke_matrix *matrix = NULL;
    cr_assert_eq(yoke_matrix_generate(context, "random_spd:300:70:3", &matrix), YOKE_OK);
    const yk_csr *csr = &matrix->csr;
    int32_t *order = shuffled(csr->rows, 1), *position = malloc(300 * sizeof *position);
    yk_permutation_invert(order, csr->rows, 2, position);
    yoke_matrix *there = in_order(csr, order), *back = in_order(&there->csr, position);
    holds(back, csr->rows, csr->start32, csr->column, csr->value);
    for (int64_t k = 0; k < csr->nonzeros; k++) ((double *)csr->value)[k] *= 1.0 + (double)k;
    yk_permuted_values(csr, order, position, 3, &there->csr);
    yk_permuted_values(&there->csr, position, order, 3, &back->csr);
    holds(back, csr->rows, csr->start32, csr->column, csr->value);
    free(order);
    free(position);
    yoke_matrix_destroy(there);
    yoke_matrix_destroy(back);
    yoke_matrix_destroy(matrix);
}
