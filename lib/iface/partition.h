/* SPDX-License-Identifier: BSD-3-Clause */
/* partition.h: a strategy for the cut: which rows each part gets. */
#ifndef YK_IFACE_PARTITION_H
#define YK_IFACE_PARTITION_H

#include "lib/matrix.h"
#include "lib/part.h"

typedef struct yk_cut_request {
    const yk_csr *csr; /* row starts may be missing (an operator): then rows count alone */
    int parts;
    int64_t gpu_rows; /* of the first part, where the partition has gpu_rows */
    double row_bytes; /* of the vectors, an iteration; an entry of the matrix is 12 */
    int gpus;         /* of the parts the first ones, which have GPUs */
} yk_cut_request;

typedef struct yk_partition {
    const char *name, *form, *text;
    yk_owner owner; /* of the first part, and of all where gpu_rows is NULL */
    /* Of a strategy that has rows on a GPU and on the CPU: the GPU's, [0, gpu_rows), where the CPU
     * shall have a share, 0 to 1: a multiple of YK_CHUNK, or all. row_bytes: as in a request. */
    int64_t (*gpu_rows)(const yk_csr *csr, double row_bytes, double share);
    bool measured; /* the share is measured, not given */
    bool moves;    /* and the cut moves from there while a plan solves */
    /* first[0 .. parts]: part i gets rows [first[i], first[i + 1]); inner ones multiples of
     * YK_CHUNK, parts may be empty. */
    void (*cut)(const yk_cut_request *request, int64_t *first);
} yk_partition;

extern const yk_partition yk_partition_cpu, yk_partition_gpu;
extern const yk_partition yk_partition_ratio, yk_partition_nonzeros, yk_partition_model,
    yk_partition_adaptive;

#endif
