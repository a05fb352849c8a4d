/* SPDX-License-Identifier: BSD-3-Clause */
/* canonical.h: from a caller's checked CSR to the canonical matrix. */
#ifndef YK_CANONICAL_H
#define YK_CANONICAL_H

#include <yoke.h>

#include "lib/csr_input.h"
#include "lib/matrix.h"
#include "lib/origin.h"

/* Fills *csr and *origin. An array of *csr that equals the one in given is the caller's, used in
 * place (BORROW and TAKE); the others are made by yk_alloc. Nothing is left behind on failure. */
yoke_status yk_canonical_create(yoke_context *context, const yoke_csr *given,
                                const yk_csr_facts *facts, int threads, yk_csr *csr,
                                yk_origin **origin);

/* Releases what *csr does not share with given. */
void yk_canonical_free(yoke_context *context, const yoke_csr *given, const yk_csr *csr);

#endif
