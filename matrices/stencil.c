/* SPDX-License-Identifier: BSD-3-Clause */
/* stencil.c: constant stencils on a box, Dirichlet: a neighbour outside the box is left out.
 * Second-order differences of -u_xx - u_yy (- u_zz), times h^2: LeVeque, "Finite difference
 * methods for ordinary and partial differential equations", SIAM 2007, section 3.2. The 27-point
 * one, diagonal 26 and neighbours -1, is that of HPCG: Dongarra, Heroux, Luszczek, 2016. */
#include <stdbool.h>
#include <stdlib.h>

#include "lib/status.h"
#include "matrices/generate.h"
#include "matrices/lattice.h"
#include "matrices/rows.h"

typedef struct stencil {
    bool corners; /* neighbours over edges and corners too */
    double centre;
    double beside; /* coupling within a layer, and over edges and corners */
    double above;  /* coupling in z */
} stencil;

/* Zero where the stencil has no entry. */
static double entry(const stencil *s, int dx, int dy, int dz)
{
    int apart = abs(dx) + abs(dy) + abs(dz);
    if (apart == 0) return s->centre;
    if (apart > 1 && !s->corners) return 0;
    return apart == 1 && dz ? s->above : s->beside;
}

static bool inside(int64_t position, int step, int64_t count)
{
    return position + step >= 0 && position + step < count;
}

static void pattern_of(const yk_lattice *lattice, yk_place place, int64_t y, int64_t z,
                       yk_pattern *pattern)
{
    const stencil *s = lattice->rule;
    int width = 0;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++) {
            if (!inside(z, dz, lattice->nz) || !inside(y, dy, lattice->ny)) continue;
            int64_t line = (dz * lattice->ny + dy) * lattice->nx;
            for (int dx = -1; dx <= 1; dx++) {
                double value = entry(s, dx, dy, dz);
                if (value == 0 || !yk_place_has(place, dx)) continue;
                pattern->offset[width] = (int32_t)(line + dx);
                pattern->value[0][width++] = value;
            }
        }
    pattern->width = width;
}

/* 5 n^2 - 4 n, 7 n^3 - 6 n^2, (3 n - 2)^3: every pair of nodes that touch is counted twice. */
static int64_t nonzeros_of(const stencil *s, int64_t n, int64_t nz)
{
    if (s->corners) return (3 * n - 2) * (3 * n - 2) * (3 * n - 2);
    return nz == 1 ? 5 * n * n - 4 * n : 7 * n * n * n - 6 * n * n;
}

static yoke_status build(yoke_context *context, const stencil *s, int64_t n, int64_t nz,
                         yoke_matrix **matrix)
{
    int64_t rows;
    YK_TRY(yk_rows_of_grid(n, n, nz, 1, &rows));
    yk_lattice lattice = {n, n, nz, 1, nonzeros_of(s, n, nz), s, pattern_of};
    return yk_lattice_build(context, &lattice, matrix);
}

yoke_status yk_make_poisson2d5(yoke_context *context, const yk_argument *a, yoke_matrix **matrix)
{
    return build(context, &(stencil){false, 4, -1, -1}, a[0].size, 1, matrix);
}

yoke_status yk_make_poisson3d7(yoke_context *context, const yk_argument *a, yoke_matrix **matrix)
{
    return build(context, &(stencil){false, 6, -1, -1}, a[0].size, a[0].size, matrix);
}

yoke_status yk_make_poisson3d27(yoke_context *context, const yk_argument *a, yoke_matrix **matrix)
{
    return build(context, &(stencil){true, 26, -1, -1}, a[0].size, a[0].size, matrix);
}

yoke_status yk_make_anisotropic3d7(yoke_context *context, const yk_argument *a,
                                   yoke_matrix **matrix)
{
    double eps = a[1].real;
    return build(context, &(stencil){false, 4 + 2 * eps, -1, -eps}, a[0].size, a[0].size, matrix);
}
