/* SPDX-License-Identifier: BSD-3-Clause */
/* jumps.c: -div(c grad u) by cell-centred finite volumes, c = 1 or CONTRAST in random blocks of
 * cells. A face couples its cells by the harmonic mean of their coefficients (Patankar, "Numerical
 * heat transfer and fluid flow", 1980, section 4.2-3). Beyond the boundary lies a mirror image of
 * the cell whose u is 0: with CONTRAST 1 this is poisson3d7. */
#include <stdbool.h>

#include "lib/status.h"
#include "matrices/generate.h"
#include "matrices/hash.h"
#include "matrices/rows.h"

enum { BLOCKS = 8, MOST_SIDE = 1290 }; /* a side: most blocks, and cells whose cube fits an index */

typedef struct jumps {
    int64_t n;
    uint8_t block[MOST_SIDE];          /* of a cell, in one direction */
    double coupling[3];                /* of two cells of which 0, 1, 2 are high */
    bool high[BLOCKS][BLOCKS][BLOCKS]; /* [z][y][x] */
} jumps;

static bool inside(const jumps *j, int64_t position)
{
    return position >= 0 && position < j->n;
}

static bool high_at(const jumps *j, int64_t x, int64_t y, int64_t z)
{
    return j->high[j->block[z]][j->block[y]][j->block[x]];
}

typedef struct cell {
    int64_t x, y, z;
} cell;

static cell cell_of(const jumps *j, int64_t row)
{
    return (cell){row % j->n, row / j->n % j->n, row / j->n / j->n};
}

static void next(const jumps *j, cell *at)
{
    if (++at->x < j->n) return;
    at->x = 0;
    if (++at->y < j->n) return;
    at->y = 0;
    at->z++;
}

static const struct face {
    int dx, dy, dz;
} faces[6] = {{0, 0, -1}, {0, -1, 0}, {-1, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

static void lengths(const void *rule, int64_t first, int64_t last, int32_t *length, int32_t *kept)
{
    (void)kept;
    const jumps *j = rule;
    int64_t end = j->n - 1;
    cell at = cell_of(j, first);
    for (int64_t row = first; row < last; row++, next(j, &at))
        *length++ =
            1 + (at.x > 0) + (at.x < end) + (at.y > 0) + (at.y < end) + (at.z > 0) + (at.z < end);
}

/* Writes one row, its diagonal between the third and the fourth face; returns its entries. */
static int write_row(const jumps *j, cell at, int32_t *column, double *value)
{
    bool own = high_at(j, at.x, at.y, at.z);
    double sum = 0;
    int count = 0, diagonal = 0;
    for (int f = 0; f < 6; f++) {
        int64_t x = at.x + faces[f].dx, y = at.y + faces[f].dy, z = at.z + faces[f].dz;
        bool within = inside(j, x) && inside(j, y) && inside(j, z);
        double coupling = j->coupling[own + (within ? high_at(j, x, y, z) : own)];
        if (f == 3) diagonal = count++;
        sum += coupling;
        if (!within) continue;
        column[count] = (int32_t)((z * j->n + y) * j->n + x);
        value[count++] = -coupling;
    }
    column[diagonal] = (int32_t)((at.z * j->n + at.y) * j->n + at.x);
    value[diagonal] = sum;
    return count;
}

static void fill(const void *rule, int64_t first, int64_t last, const int32_t *kept,
                 int32_t *column, double *value)
{
    (void)kept;
    cell at = cell_of(rule, first);
    for (int64_t row = first; row < last; row++, next(rule, &at)) {
        int count = write_row(rule, at, column, value);
        column += count;
        value += count;
    }
}

yoke_status yk_make_jumps3d7(yoke_context *context, const yk_argument *a, yoke_matrix **matrix)
{
    int64_t n = a[0].size;
    double contrast = a[1].real;
    yk_rows rows = {.grain = 1, .lengths = lengths, .fill = fill};
    YK_TRY(yk_rows_of_grid(n, n, n, 1, &rows.rows));
    rows.nonzeros = 7 * n * n * n - 6 * n * n;
    jumps j = {.n = n, .coupling = {1, 2 * contrast / (1 + contrast), contrast}};
    for (int64_t x = 0; x < n; x++) j.block[x] = (uint8_t)(x / ((n + BLOCKS - 1) / BLOCKS));
    for (int b = 0; b < BLOCKS * BLOCKS * BLOCKS; b++)
        j.high[b / 64][b / 8 % 8][b % 8] = yk_hash(a[2].seed, (uint64_t)b) >> 63;
    rows.rule = &j;
    return yk_rows_build(context, &rows, matrix);
}
