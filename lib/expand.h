/* SPDX-License-Identifier: BSD-3-Clause */
/* expand.h: the way to the canonical matrix for input that is not in its order. */
#ifndef YK_EXPAND_H
#define YK_EXPAND_H

#include <yoke.h>

#include "lib/matrix.h"
#include "lib/origin.h"

/* Mirrors a triangle, sorts columns, joins repeated places (unless trusted to have none). Makes all
 * arrays of *csr, and the origin of the values. Nothing is left behind on failure. */
yoke_status yk_expand(yoke_context *context, const yoke_csr *given, int threads, yk_csr *csr,
                      yk_origin **origin);

#endif
