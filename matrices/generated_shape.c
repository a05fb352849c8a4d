/* SPDX-License-Identifier: BSD-3-Clause */
/* generated_shape.c: what a model needs to know of a generated matrix, by its arguments alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/model.h"
#include "lib/status.h"
#include "matrices/generate.h"

enum { CHUNK = 256, SLICE = 32, SECTOR = 4, MOST_BANDS = 27 };

static const double halo_share[YOKE_HALOS] = YK_HALO_SHARES;

/* ------------------------------------------------------------------ lattices */

/* The columns of a row lie in bands around it: centres, and a reach to both sides. */
typedef struct bands {
    int count;
    double centre[MOST_BANDS], reach; /* ascending */
} bands;

/* All neighbours of a node's cube, or those along the axes alone; in unknowns. */
static bands bands_of(double n, int dimensions, bool corners, double unknowns)
{
    bands b = {0, {0.0}, unknowns};
    for (int z = dimensions > 2 ? -1 : 0; z <= (dimensions > 2 ? 1 : 0); z++)
        for (int y = -1; y <= 1; y++)
            if (corners || !y || !z) b.centre[b.count++] = unknowns * (z * n * n + y * n);
    return b;
}

/* Of a chunk of rows: bands that meet are one. */
static double sectors_a_row(const bands *b, double rows)
{
    double chunk = fmin(CHUNK, rows), covered = 0.0, end = -INFINITY;
    for (int k = 0; k < b->count; k++) {
        double from = fmax(b->centre[k] - b->reach, end), to = b->centre[k] + b->reach + chunk;
        if (to <= end) continue;
        covered += to - from;
        end = to;
    }
    return fmin(covered, rows) / SECTOR / chunk;
}

/* Rows before the cut that the last ones need: their bands, shifted below it. */
static double halo_of_last(const bands *b, double last)
{
    double covered = 0.0, end = -INFINITY;
    for (int k = 0; k < b->count && b->centre[k] <= 0.0; k++) {
        double reach = b->count > 5 || b->centre[k] == 0.0 ? b->reach : 0.0;
        double from = fmax(b->centre[k] - reach, end), to = fmin(0.0, b->centre[k] + reach + last);
        if (to <= from) continue;
        covered += to - from;
        end = to;
    }
    return covered;
}

/* width: entries of a row inside. */
static void fill_lattice(double rows, double nonzeros, double width, const bands *b,
                         yoke_shape *shape)
{
    *shape = (yoke_shape){.rows = rows, .nonzeros = nonzeros, .longest_row = width};
    shape->dimensions = width > 5.0 ? 3.0 : 2.0;
    shape->unknowns = b->reach;
    shape->corners = b->count > 5;
    shape->sell_entries = width * SLICE * ceil(rows / SLICE);
    shape->sectors = sectors_a_row(b, rows);
    double widest = b->centre[b->count - 1] + (b->count > 5 ? b->reach : 0.0);
    for (int k = 0; k < YOKE_HALOS; k++) {
        double halo = fmin(widest, floor(halo_share[k] * rows));
        double last = floor(halo_share[k] * rows);
        shape->halo_of_last[k] = fmin(halo_of_last(b, last), rows - last);
        shape->halo_of_first[k] = halo;
    }
}

static void shape_of_2d5(const yk_argument *a, yoke_shape *shape)
{
    double n = (double)a[0].size;
    bands b = bands_of(n, 2, false, 1.0);
    fill_lattice(n * n, 5.0 * n * n - 4.0 * n, 5.0, &b, shape);
}

static void shape_of_3d7(const yk_argument *a, yoke_shape *shape)
{
    double n = (double)a[0].size;
    bands b = bands_of(n, 3, false, 1.0);
    fill_lattice(n * n * n, 7.0 * n * n * n - 6.0 * n * n, 7.0, &b, shape);
}

static void shape_of_3d27(const yk_argument *a, yoke_shape *shape)
{
    double n = (double)a[0].size;
    bands b = bands_of(n, 3, true, 1.0);
    fill_lattice(n * n * n, pow(3.0 * n - 2.0, 3.0), 27.0, &b, shape);
}

/* One plane of nodes is fixed and left out. */
static void shape_of_elasticity(const yk_argument *a, yoke_shape *shape)
{
    double n = (double)a[0].size, pairs = pow(3.0 * n - 2.0, 2.0) * (3.0 * n - 5.0);
    bands b = bands_of(n, 3, true, 3.0);
    fill_lattice(3.0 * n * n * (n - 1.0), 9.0 * pairs, 81.0, &b, shape);
}

/* ------------------------------------------------------------------- random */

/* Neighbours anywhere: a row is needed by the other side unless all of them lie on its own. */
static void fill_random(double rows, double a_row, yoke_shape *shape)
{
    double neighbours = a_row - 1.0;
    *shape = (yoke_shape){.rows = rows, .nonzeros = rows * a_row, .longest_row = a_row};
    shape->sell_entries = a_row * SLICE * ceil(rows / SLICE);
    double chunk = fmin(CHUNK, rows), places = ceil(rows / SECTOR);
    shape->sectors = places * (1.0 - pow(1.0 - 1.0 / places, chunk * a_row)) / chunk;
    for (int k = 0; k < YOKE_HALOS; k++) {
        double last = halo_share[k];
        shape->halo_of_last[k] = rows * (1.0 - last) * (1.0 - pow(1.0 - last, neighbours));
        shape->halo_of_first[k] = rows * last * (1.0 - pow(last, neighbours));
    }
}

static void shape_of_graph(const yk_argument *a, yoke_shape *shape)
{
    double rows = (double)a[0].size;
    fill_random(rows, fmin(rows, 1.0 + (double)a[1].size), shape);
}

static void shape_of_random(const yk_argument *a, yoke_shape *shape)
{
    double rows = (double)a[0].size;
    fill_random(rows, fmin(rows, (double)a[1].size), shape);
}

/* ------------------------------------------------------------------- by name */

static const struct shaped {
    const char *name;
    void (*fill)(const yk_argument *arguments, yoke_shape *shape);
} shaped[] = {
    {"poisson2d5", shape_of_2d5},   {"poisson3d7", shape_of_3d7},
    {"poisson3d27", shape_of_3d27}, {"anisotropic3d7", shape_of_3d7},
    {"jumps3d7", shape_of_3d7},     {"elasticity3d", shape_of_elasticity},
    {"graph", shape_of_graph},      {"random_spd", shape_of_random},
};

static yoke_status shape_of_named(const yk_generator *generator, const char *arguments,
                                  yoke_shape *shape)
{
    yk_argument argument[YK_ARGUMENTS];
    YK_TRY(yk_parse_arguments(generator, arguments, argument));
    for (size_t i = 0; i < sizeof shaped / sizeof *shaped; i++)
        if (strcmp(shaped[i].name, generator->name) == 0) shaped[i].fill(argument, shape);
    if (shape->rows >= 0x1p63 || shape->nonzeros >= 0x1p63)
        return yk_fail(YOKE_INVALID, "%s has more rows or nonzeros than 63 bits count",
                       generator->name);
    return YOKE_OK;
}

/* In a random order entries lie anywhere, but rows are as long as they were. */
static yoke_status shape_of_shuffled(const yk_generator *generator, const char *arguments,
                                     yoke_shape *shape)
{
    uint64_t seed;
    const char *spec;
    YK_TRY(yk_split_shuffled(generator, arguments, &seed, &spec));
    YK_TRY(yoke_shape_of_generated(spec, shape));
    const yoke_shape ordered = *shape;
    if (!(ordered.rows > 0.0)) return YOKE_OK;
    fill_random(ordered.rows, ordered.nonzeros / ordered.rows, shape);
    shape->longest_row = ordered.longest_row;
    shape->sell_entries = ordered.sell_entries;
    return YOKE_OK;
}

yoke_status yoke_shape_of_generated(const char *spec, yoke_shape *shape)
{
    const yk_generator *generator;
    if (!spec || !shape) return yk_fail(YOKE_INVALID, "spec or shape is NULL");
    YK_TRY(yk_find_generator(spec, &generator));
    const char *arguments = spec + strlen(generator->name);
    YK_TRY(generator->make ? shape_of_named(generator, arguments, shape)
                           : shape_of_shuffled(generator, arguments, shape));
    shape->start_bytes = shape->nonzeros <= INT32_MAX ? 4.0 : 8.0;
    return YOKE_OK;
}
