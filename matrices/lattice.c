/* SPDX-License-Identifier: BSD-3-Clause */
/* lattice.c: writes the rows of a box of nodes line by line, a pattern for each end of the line
 * and one for all nodes between. */
#include "matrices/lattice.h"

#include "lib/status.h"
#include "matrices/rows.h"

typedef struct line {
    int64_t y, z;
    int64_t first, last; /* nodes [first, last) of the line, as x */
    int64_t node;        /* number of the first of them */
} line;

static line line_at(const yk_lattice *lattice, int64_t node, int64_t end)
{
    int64_t x = node % lattice->nx, yz = node / lattice->nx;
    int64_t rest = lattice->nx - x;
    if (rest > end - node) rest = end - node;
    return (line){yz % lattice->ny, yz / lattice->ny, x, x + rest, node};
}

static yk_place place_of(const yk_lattice *lattice, int64_t x)
{
    if (lattice->nx == 1) return YK_ALONE;
    if (x == 0) return YK_FIRST;
    return x == lattice->nx - 1 ? YK_LAST : YK_MIDDLE;
}

/* Nodes from x on that share x's place, within the line. */
static int64_t run_length(const yk_lattice *lattice, const line *at, int64_t x)
{
    if (place_of(lattice, x) != YK_MIDDLE) return 1;
    int64_t end = at->last < lattice->nx - 1 ? at->last : lattice->nx - 1;
    return end - x;
}

static void lengths(const void *rule, int64_t first, int64_t last, int32_t *length, int32_t *kept)
{
    (void)kept;
    const yk_lattice *lattice = rule;
    int64_t unknowns = lattice->unknowns, end = last / unknowns;
    yk_pattern pattern;
    for (int64_t node = first / unknowns; node < end;) {
        line at = line_at(lattice, node, end);
        for (int64_t x = at.first, run; x < at.last; x += run) {
            run = run_length(lattice, &at, x);
            lattice->pattern(lattice, place_of(lattice, x), at.y, at.z, &pattern);
            for (int64_t k = 0; k < run * unknowns; k++) *length++ = pattern.width;
        }
        node += at.last - at.first;
    }
}

/* Writes count nodes of one pattern from node on; returns the entries written. */
static int64_t write_run(const yk_pattern *pattern, int unknowns, int64_t node, int64_t count,
                         int32_t *restrict column, double *restrict value)
{
    int64_t at = 0;
    int width = pattern->width;
    for (int64_t i = 0; i < count; i++) {
        int32_t base = (int32_t)((node + i) * unknowns);
        for (int u = 0; u < unknowns; u++, at += width) {
#pragma omp simd
            for (int k = 0; k < width; k++) column[at + k] = base + pattern->offset[k];
#pragma omp simd
            for (int k = 0; k < width; k++) value[at + k] = pattern->value[u][k];
        }
    }
    return at;
}

static void fill(const void *rule, int64_t first, int64_t last, const int32_t *kept,
                 int32_t *column, double *value)
{
    (void)kept;
    const yk_lattice *lattice = rule;
    int64_t end = last / lattice->unknowns;
    yk_pattern pattern;
    for (int64_t node = first / lattice->unknowns; node < end;) {
        line at = line_at(lattice, node, end);
        for (int64_t x = at.first, run; x < at.last; x += run) {
            run = run_length(lattice, &at, x);
            lattice->pattern(lattice, place_of(lattice, x), at.y, at.z, &pattern);
            int64_t wrote =
                write_run(&pattern, lattice->unknowns, node + x - at.first, run, column, value);
            column += wrote;
            value += wrote;
        }
        node += at.last - at.first;
    }
}

yoke_status yk_lattice_build(yoke_context *context, const yk_lattice *lattice, yoke_matrix **matrix)
{
    yk_rows rows = {lattice, 0, lattice->nonzeros, lattice->unknowns, 0, lengths, fill};
    YK_TRY(yk_rows_of_grid(lattice->nx, lattice->ny, lattice->nz, lattice->unknowns, &rows.rows));
    return yk_rows_build(context, &rows, matrix);
}
