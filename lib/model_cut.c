/* SPDX-License-Identifier: BSD-3-Clause */
/* model_cut.c: what a rank needs of the others: counted, by the points of a grid, or by scaling the
 * halos that a matrix's shape has. Ranks have as many rows each. */
#include <math.h>

#include "lib/model.h"

enum { MOST_BANDS = 9 };

typedef struct bands {
    int count;
    double from[MOST_BANDS], to[MOST_BANDS]; /* columns of row 0, ascending, at or behind it */
} bands;

/* ------------------------------------------------------------------- grids */

/* A whole number where the rows are those of a whole grid: bands that just meet must not miss. */
static double side_of(const yoke_shape *a, double rows)
{
    double side = pow(rows / a->unknowns, 1.0 / a->dimensions), whole = round(side);
    return fabs(side - whole) < 1e-9 * side ? whole : side;
}

/* The rows behind that a row has entries in, by lines of points: z n^2 + y n - 1 to + 1, or along
 * the axes alone. */
static bands bands_of(const yoke_shape *a)
{
    bands b = {0, {0.0}, {0.0}};
    double n = side_of(a, a->rows), u = a->unknowns;
    for (int z = 0; z <= (a->dimensions > 2.0 ? 1 : 0); z++)
        for (int y = z ? -1 : 0; y <= 1; y++) {
            double at = u * (z * n * n + y * n), reach = a->corners || (!y && !z) ? u : 0.0;
            if (!a->corners && y && z) continue;
            b.from[b.count] = fmax(0.0, at - reach);
            b.to[b.count++] = at + reach;
        }
    return b;
}

/* Of rows [-m, 0): what lies behind them, bands that meet being one, and whose it is. */
static yoke_rank_cut behind(const bands *b, double m)
{
    yoke_rank_cut cut = {0.0, 0.0};
    double end = 0.0, last = 0.0; /* covered so far; the rank that comes next */
    for (int k = 0; k < b->count; k++) {
        double from = fmax(b->from[k] - m, end), to = b->to[k];
        if (to <= from) continue;
        cut.halo += to - from;
        cut.neighbours += fmax(0.0, ceil(to / m) - fmax(floor(from / m), last));
        last = ceil(to / m);
        end = to;
    }
    return cut;
}

static yoke_rank_cut slab_of_grid(const yoke_shape *a, double m, int ranks)
{
    const bands b = bands_of(a);
    yoke_rank_cut cut = behind(&b, m);
    double sides = ranks > 2 ? 2.0 : 1.0;
    return (yoke_rank_cut){sides * cut.halo, sides * cut.neighbours};
}

/* A box of n^d points cut into p[0] x p[1] x p[2] boxes: of the largest, what lies around it.
 * Behind a cut there is a neighbour, on both sides where there are three or more along an axis. */
static yoke_rank_cut around(double n, const double p[3], int d, bool corners)
{
    double inside = 1.0, outside = 1.0, faces = 0.0, beside = 0.0, all = 1.0;
    for (int i = 0; i < d && i < 3; i++) {
        double sides = fmin(2.0, p[i] - 1.0), points = n / p[i];
        inside *= points;
        outside *= points + sides;
        all *= 1.0 + sides;
        beside += sides;
    }
    for (int i = 0; i < d && i < 3; i++) faces += fmin(2.0, p[i] - 1.0) * inside / (n / p[i]);
    if (corners) return (yoke_rank_cut){outside - inside, all - 1.0};
    return (yoke_rank_cut){faces, beside};
}

/* The best of all ways to cut a box into so many alike, and a cube where there would be three along
 * each axis, which METIS comes near to with any number. */
static yoke_rank_cut best_box(double n, int ranks, int d, bool corners)
{
    double root = cbrt(ranks) + 1e-9, of_cube = pow(ranks, 1.0 / d);
    double cube[3] = {of_cube, of_cube, of_cube};
    yoke_rank_cut best = {INFINITY, 0.0};
    if (of_cube >= 3.0) best = around(n, cube, d, corners);
    for (int x = 1; x <= (d > 2 ? root : 1); x++)
        for (int y = x; y <= (d > 1 ? ranks / x / y : 1); y++) {
            const int z = ranks / (x * y);
            const double p[3] = {z, y, x}; /* the order of axes is no matter */
            if (ranks % (x * y) != 0) continue;
            yoke_rank_cut cut = around(n, p, d, corners);
            if (cut.halo < best.halo) best = cut;
        }
    return best;
}

static yoke_rank_cut block_of_grid(const yoke_shape *a, int ranks)
{
    double n = side_of(a, a->rows);
    yoke_rank_cut cut = best_box(n, ranks, (int)a->dimensions, a->corners);
    cut.halo *= a->unknowns;
    return cut;
}

/* -------------------------------------------------------------- any matrix */

/* How a halo grows with the rows: 0, a band's, not at all; 1, that of columns anywhere, as they do.
 * Of the two smallest shares where it was counted. */
static double growth(const yoke_shape *a)
{
    if (!(a->halo_of_last[0] > 0.0) || !(a->halo_of_last[1] > 0.0)) return 0.0;
    return fmin(1.0, fmax(0.0, log(a->halo_of_last[1] / a->halo_of_last[0]) / log(5.0)));
}

static yoke_rank_cut slab(const yoke_shape *a, double m, int ranks)
{
    double share = 1.0 / ranks, e = growth(a), sides = ranks > 2 ? 2.0 - e : 1.0;
    double halo = yk_model_halo(a, share, true) * fmin(1.0, pow(share / 0.01, e));
    double most = m * fmax(0.0, a->nonzeros / a->rows - 1.0);
    double near = fmax(1.0, ceil(halo / m));
    return (yoke_rank_cut){fmin(sides * halo, most), e > 0.5 ? halo : sides * near};
}

/* The cut through the middle tells how many dimensions there are: of n points it has n^(1 - 1/d).
 * Beyond three there is little that blocks would save. */
static yoke_rank_cut block(const yoke_shape *a, double m, int ranks)
{
    double middle = a->halo_of_last[YOKE_HALOS - 1];
    double e = middle > 1.0 && a->rows > 1.0 ? log(middle) / log(a->rows) : 0.0;
    int d = (int)fmax(1.0, round(1.0 / (1.0 - fmin(e, 0.8))));
    if (d > 3) return slab(a, m, ranks);
    double n = d > 1 ? pow(middle, 1.0 / (d - 1.0)) : a->rows;
    yoke_rank_cut cut = best_box(n, ranks, d, false);
    if (d == 1) cut.halo *= middle;
    return cut;
}

static yoke_rank_cut contiguous(const yoke_shape *a, double m, int ranks)
{
    if (a->counted_ranks == ranks) return (yoke_rank_cut){a->rank_halo, a->rank_neighbours};
    return a->dimensions > 0.0 ? slab_of_grid(a, m, ranks) : slab(a, m, ranks);
}

/* METIS would find slabs too, where they are the shorter way. Nobody needs more ranks than columns,
 * however many have less than a row. */
yoke_rank_cut yk_model_cut(const yoke_shape *a, int ranks, bool blocks)
{
    double m = ranks > 0 ? a->rows / ranks : 0.0;
    if (ranks < 2 || !(m > 0.0)) return (yoke_rank_cut){0.0, 0.0};
    yoke_rank_cut cut = contiguous(a, m, ranks);
    if (blocks) {
        yoke_rank_cut of_blocks =
            a->dimensions > 0.0 ? block_of_grid(a, ranks) : block(a, m, ranks);
        if (of_blocks.halo < cut.halo) cut = of_blocks;
    }
    double halo = fmin(cut.halo, a->rows - m);
    return (yoke_rank_cut){halo, fmin(cut.neighbours, fmin(ceil(halo), ranks - 1.0))};
}
