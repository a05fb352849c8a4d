/* SPDX-License-Identifier: BSD-3-Clause */
/* ratio.c: a share of the rows to the CPU, the last ones, the others to one GPU. */
#include <math.h>

#include "lib/iface/partition.h"
#include "partition/balance.h"

static int64_t gpu_rows(const yk_csr *csr, double row_bytes, double share)
{
    (void)row_bytes;
    int64_t chunks = yk_chunks(csr->rows);
    return yk_gpu_rows(csr->rows, chunks - llround(share * (double)chunks), share);
}

const yk_partition yk_partition_ratio = {
    .name = "ratio",
    .form = "ratio:R",
    .text = "a share R of the rows on the CPU, the others on one GPU",
    .owner = YK_OWNER_GPU,
    .gpu_rows = gpu_rows,
    .cut = yk_cut_beside_gpu,
};
