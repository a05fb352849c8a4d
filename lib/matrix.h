/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix.h: the canonical matrix: full, sorted, no repeats, base 0, 32-bit columns. */
#ifndef YK_MATRIX_H
#define YK_MATRIX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <yoke.h>

#include "lib/csr.h"

struct yoke_matrix {
    yoke_context *context;
    atomic_int references; /* the user's, and one a plan */
    atomic_int solving;    /* plans in a solve; -1 while values are updated */
    atomic_llong version;  /* of the values: plans refresh when it moved */
    bool usable;
    yk_csr csr; /* rows alone for an operator */
    /* As created. Its three arrays are those of csr that are the caller's, used in place, else
     * NULL: an array of csr that differs from its namesake here is ours, by yk_alloc. Its base is
     * also the one in which later faults name entries: a reader that adopts may set it. */
    yoke_csr given;
    bool is_operator;
    yoke_operator op;         /* of an operator; op.diagonal is a copy of ours */
    int64_t given_nonzeros;   /* as created: what an update brings */
    struct yk_origin *origin; /* how values given in creation order reach the canonical ones;
                               * NULL: they are in canonical order */
    yoke_policy unsymmetric;  /* TRUST also for a triangle: symmetric by construction */
    char notice[256];         /* on what was mended; "" if nothing */
    struct yk_spread *spread; /* over ranks: csr is this rank's rows, see spread.h; else NULL */
};

/* A matrix from canonical arrays made by yk_alloc (what "row starts", "columns", "values"; sizes
 * rows + 1, nonzeros, nonzeros); takes them, on failure too. Looks at nothing. */
yoke_status yk_matrix_adopt(yoke_context *context, const yk_csr *csr, yoke_matrix **matrix);

/* From this rank's rows, with columns in the plan's numbering: see yk_spread_fill. Releases nothing
 * of csr. Collective. */
yoke_status yk_matrix_spread(yoke_context *context, const yoke_csr *csr, int64_t *row_of,
                             yoke_status status, yoke_matrix **matrix);

/* Verifies symmetry of a canonical matrix; where |aij - aji| <= 1e-12 max(|aij|, |aji|) both are
 * replaced by their mean. value is csr->value, writable, or NULL: nothing is written. *needs_mean
 * (needs_mean may be NULL) tells whether a mean was, or would be, taken. A missing entry counts as
 * 0; a value that is not finite is not judged. YOKE_UNSUITABLE names the first offending pair in
 * row order (1-based if one_based), whatever the number of threads. */
yoke_status yk_matrix_symmetrise(yk_csr *csr, double *value, int threads, bool one_based,
                                 bool *needs_mean);

void yk_matrix_retain(yoke_matrix *matrix);
void yk_matrix_release(yoke_matrix *matrix);

#endif
