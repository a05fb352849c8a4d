/* SPDX-License-Identifier: BSD-3-Clause */
/* partition.h: a strategy for the cut: which rows each part gets. */
#ifndef YK_IFACE_PARTITION_H
#define YK_IFACE_PARTITION_H

#include "lib/matrix.h"
#include "lib/part.h"

typedef struct yk_cut_request {
    const yk_csr *csr; /* row starts may be missing (an operator): then rows count alone */
    int parts;
    double row_bytes; /* of the vectors, an iteration; an entry of the matrix is 12 */
} yk_cut_request;

typedef struct yk_partition {
    const char *name, *form, *text;
    yk_owner owner; /* of all parts */
    /* first[0 .. parts]: part i gets rows [first[i], first[i + 1]); inner ones multiples of
     * YK_CHUNK, parts may be empty. */
    void (*cut)(const yk_cut_request *request, int64_t *first);
} yk_partition;

extern const yk_partition yk_partition_cpu, yk_partition_gpu;

#endif
