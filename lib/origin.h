/* SPDX-License-Identifier: BSD-3-Clause */
/* origin.h: which given values make each canonical one. Kept only where a triangle was mirrored,
 * columns sorted or repeats summed. */
#ifndef YK_ORIGIN_H
#define YK_ORIGIN_H

#include <stdint.h>
#include <yoke.h>

#include "lib/matrix.h"

/* source holds positions in the given values, grouped by canonical entry, rising in each group: so
 * repeats are summed in the order of creation, and both mirror images of a place get the same bits.
 */
typedef struct yk_origin {
    int64_t sources, nonzeros;
    int64_t *source; /* [sources] */
    int64_t *group;  /* [nonzeros + 1] start of each group; NULL: one source each */
} yk_origin;

/* Allocates, writes nothing in the arrays; group only where sources > nonzeros. */
yoke_status yk_origin_create(yoke_context *context, int64_t sources, int64_t nonzeros,
                             yk_origin **origin);
void yk_origin_destroy(yoke_context *context, yk_origin *origin);

/* value [csr->nonzeros] from given, each share of rows written by one thread. origin NULL: given is
 * in canonical order. */
void yk_origin_apply(const yk_origin *origin, const yk_csr *csr, int threads, const double *given,
                     double *value);

#endif
