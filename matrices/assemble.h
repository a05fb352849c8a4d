/* SPDX-License-Identifier: BSD-3-Clause */
/* assemble.h: triplets to the canonical matrix. */
#ifndef YK_ASSEMBLE_H
#define YK_ASSEMBLE_H

#include "lib/matrix.h"
#include "matrices/triplets.h"

/* The canonical matrix of the triplets: rows sorted, repeated entries summed in the file's order,
 * the other triangle added where symmetric. The same bits for any number of threads. Releases the
 * triplets while their entries move over: both never lie in memory whole. name: of the file, for
 * errors. YOKE_FORMAT: a place of a symmetric file is given in both triangles, where
 * one cannot know whether to sum. */
yoke_status yk_assemble(yk_triplets *triplets, const char *name, int64_t rows, bool symmetric,
                        int threads, yk_csr *csr);

/* Releases the arrays that yk_assemble made. */
void yk_csr_free(yoke_context *context, yk_csr *csr);

#endif
