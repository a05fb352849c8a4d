/* SPDX-License-Identifier: BSD-3-Clause */
/* lattice.h: matrices on a box of nodes whose entries depend only on how a node lies to the faces.
 * Nodes are numbered x fastest, z slowest; a node has 1 or 3 unknowns, numbered one after another.
 */
#ifndef YK_LATTICE_H
#define YK_LATTICE_H

#include <stdint.h>
#include <yoke.h>

enum { YK_UNKNOWNS = 3, YK_WIDEST = 81 };

/* Where a node lies on its line of x. A line of one node is YK_ALONE. */
typedef enum yk_place { YK_FIRST, YK_MIDDLE, YK_LAST, YK_ALONE } yk_place;

/* The rows of one node: width entries each, at columns (first unknown of the node) + offset. */
typedef struct yk_pattern {
    int width;
    int32_t offset[YK_WIDEST];
    double value[YK_UNKNOWNS][YK_WIDEST];
} yk_pattern;

typedef struct yk_lattice {
    int64_t nx, ny, nz;
    int unknowns;
    int64_t nonzeros;
    const void *rule;
    /* Offsets ascending. */
    void (*pattern)(const struct yk_lattice *lattice, yk_place place, int64_t y, int64_t z,
                    yk_pattern *pattern);
} yk_lattice;

yoke_status yk_lattice_build(yoke_context *context, const yk_lattice *lattice,
                             yoke_matrix **matrix);

/* Whether place has a node at x + dx, dx within -1..1. */
static inline int yk_place_has(yk_place place, int dx)
{
    return dx == 0 || (dx < 0 ? place == YK_MIDDLE || place == YK_LAST
                              : place == YK_MIDDLE || place == YK_FIRST);
}

#endif
