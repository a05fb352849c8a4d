/* SPDX-License-Identifier: BSD-3-Clause */
/* elasticity.c: linear elasticity on trilinear hexahedra of edge 1, E = 1, nu = 0.3, the nodes of
 * face z = 0 fixed and left out.
 * Stiffness of a pair of element nodes a, b in directions i, j (Hughes, "The finite element
 * method", Dover 2000, chapter 2, linear elastostatics, with the isotropic tensor):
 *   K = integral of lambda N_a,i N_b,j + mu N_a,j N_b,i + mu delta_ij grad N_a . grad N_b,
 * by 2 x 2 x 2 Gauss points. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lib/ranks.h"
#include "lib/status.h"
#include "matrices/generate.h"
#include "matrices/lattice.h"
#include "matrices/rows.h"

enum { CORNERS = 8, NEIGHBOURS = 27, PLACES = 3 };

typedef double block[YK_UNKNOWNS][YK_UNKNOWNS];

typedef struct element {
    block stiffness[CORNERS][CORNERS]; /* corner x + 2 y + 4 z */
} element;

/* Sums of the elements around a node, by its place along x, y, z and by neighbour
 * (dx + 1) + 3 (dy + 1) + 9 (dz + 1). */
typedef struct table {
    block around[PLACES][PLACES][PLACES][NEIGHBOURS];
} table;

/* Derivatives of corner a's trilinear shape function by x, y, z at the point (each 0..1). */
static void gradient(int a, const double point[3], double by[3])
{
    double shape[3], slope[3];
    for (int i = 0; i < 3; i++) {
        bool upper = a >> i & 1;
        shape[i] = upper ? point[i] : 1 - point[i];
        slope[i] = upper ? 1 : -1;
    }
    by[0] = slope[0] * shape[1] * shape[2];
    by[1] = shape[0] * slope[1] * shape[2];
    by[2] = shape[0] * shape[1] * slope[2];
}

static void add_pair(block sum, const double a[3], const double b[3], double weight)
{
    static const double E = 1, nu = 0.3;
    double lambda = E * nu / ((1 + nu) * (1 - 2 * nu)), mu = E / (2 * (1 + nu));
    double both = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double density = lambda * a[i] * b[j] + mu * a[j] * b[i] + (i == j ? mu * both : 0);
            sum[i][j] += weight * density;
        }
}

/* Round-off differs between K_ab and K_ba; the upper half is taken for both. */
static void mirror(element *e)
{
    for (int row = 0; row < CORNERS * 3; row++)
        for (int column = 0; column < row; column++)
            e->stiffness[row / 3][column / 3][row % 3][column % 3] =
                e->stiffness[column / 3][row / 3][column % 3][row % 3];
}

static void integrate(element *e)
{
    double at[2] = {0.5 - 0.5 / sqrt(3), 0.5 + 0.5 / sqrt(3)};
    *e = (element){0};
    for (int g = 0; g < 8; g++) {
        double point[3] = {at[g & 1], at[g >> 1 & 1], at[g >> 2 & 1]}, by[CORNERS][3];
        for (int a = 0; a < CORNERS; a++) gradient(a, point, by[a]);
        for (int a = 0; a < CORNERS; a++)
            for (int b = 0; b < CORNERS; b++) add_pair(e->stiffness[a][b], by[a], by[b], 1. / 8);
    }
    mirror(e);
}

/* In one direction: whether the element that begins low (-1 or 0) from a node at place is there and
 * reaches the neighbour d away, which is its corner d - low; the node is its corner -low. */
static bool reaches(yk_place place, int low, int d)
{
    int step = low == 0 ? 1 : -1;
    return yk_place_has(place, step) && (d - low == 0 || d - low == 1);
}

/* Elements are added in the order of their own numbers, so that a pair of nodes gets the same
 * bits from either side. */
static void sum_block(const element *e, const yk_place place[3], const int d[3], block sum)
{
    for (int k = 0; k < 8; k++) {
        int low[3] = {(k & 1) - 1, (k >> 1 & 1) - 1, (k >> 2 & 1) - 1}, a = 0, b = 0;
        bool shared = true;
        for (int i = 0; i < 3; i++) {
            shared = shared && reaches(place[i], low[i], d[i]);
            a += -low[i] << i;
            b += (d[i] - low[i]) * (1 << i);
        }
        if (!shared) continue;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) sum[i][j] += e->stiffness[a][b][i][j];
    }
}

static void tabulate(const element *e, table *t)
{
    for (int p = 0; p < PLACES * PLACES * PLACES; p++) {
        yk_place place[3] = {(yk_place)(p % 3), (yk_place)(p / 3 % 3), (yk_place)(p / 9)};
        for (int n = 0; n < NEIGHBOURS; n++) {
            int d[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
            sum_block(e, place, d, t->around[place[0]][place[1]][place[2]][n]);
        }
    }
}

static yk_place place_of(int64_t position, int64_t count)
{
    if (position == 0) return YK_FIRST;
    return position == count - 1 ? YK_LAST : YK_MIDDLE;
}

static void put(yk_pattern *pattern, int64_t nodes_away, const block of)
{
    for (int j = 0; j < YK_UNKNOWNS; j++, pattern->width++) {
        pattern->offset[pattern->width] = (int32_t)(nodes_away * YK_UNKNOWNS + j);
        for (int i = 0; i < YK_UNKNOWNS; i++) pattern->value[i][pattern->width] = of[i][j];
    }
}

/* Layer z of the lattice is layer z + 1 of the cube. */
static void pattern_of(const yk_lattice *lattice, yk_place x_place, int64_t y, int64_t z,
                       yk_pattern *pattern)
{
    const table *t = lattice->rule;
    yk_place y_place = place_of(y, lattice->ny), z_place = place_of(z + 1, lattice->nz + 1);
    const block *around = t->around[x_place][y_place][z_place];
    pattern->width = 0;
    for (int n = 0; n < NEIGHBOURS; n++) {
        int dx = n % 3 - 1, dy = n / 3 % 3 - 1, dz = n / 9 - 1;
        bool fixed = z + dz < 0;
        if (fixed || !yk_place_has(x_place, dx) || !yk_place_has(y_place, dy) ||
            !yk_place_has(z_place, dz))
            continue;
        put(pattern, (dz * lattice->ny + dy) * lattice->nx + dx, around[n]);
    }
}

yoke_status yk_make_elasticity3d(yoke_context *context, const yk_argument *a, yoke_matrix **matrix)
{
    int64_t n = a[0].size, rows;
    YK_TRY(yk_rows_of_grid(n, n, n - 1, YK_UNKNOWNS, &rows));
    int64_t nonzeros = 9 * (3 * n - 2) * (3 * n - 2) * (3 * n - 5);
    element *e = malloc(sizeof *e);
    table *t = calloc(1, sizeof *t);
    yoke_status status = YOKE_OK;
    if (!e || !t) {
        status = yk_fail(YOKE_NO_MEMORY, "no memory for %zu bytes of stiffness", sizeof *t);
        status = yk_agree(context, status, 0.0); /* over ranks others ask */
    } else {
        integrate(e);
        tabulate(e, t);
        yk_lattice lattice = {n, n, n - 1, YK_UNKNOWNS, nonzeros, t, pattern_of};
        status = yk_lattice_build(context, &lattice, matrix);
    }
    free(t);
    free(e);
    return status;
}
