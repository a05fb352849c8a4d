/* SPDX-License-Identifier: BSD-3-Clause */
/* shape.h: what a model needs to know of a matrix, from its entries. */
#ifndef YK_SHAPE_H
#define YK_SHAPE_H

#include "lib/csr.h"
#include "yoke_tools.h"

void yk_shape_of_csr(const yk_csr *csr, int threads, yoke_shape *shape);

/* Of so many chunks of rows, spread over the matrix; 0 without memory for it. */
double yk_shape_sectors(const yk_csr *csr, int chunks);

#endif
