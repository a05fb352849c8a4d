/* SPDX-License-Identifier: BSD-3-Clause */
/* nonzeros.c: rows with a share of the nonzeros to the CPU, the last ones, the others to one GPU.
 */
#include "lib/iface/partition.h"
#include "partition/balance.h"

static int64_t gpu_rows(const yk_csr *csr, double row_bytes, double share)
{
    (void)row_bytes;
    int64_t row = yk_cut_at_share(csr, 0.0, 0, csr->rows, 1.0 - share);
    return yk_gpu_rows(csr->rows, yk_chunks(row), share);
}

const yk_partition yk_partition_nonzeros = {
    .name = "nonzeros",
    .form = "nonzeros:R",
    .text = "a share R of the nonzeros on the CPU, the others on one GPU",
    .owner = YK_OWNER_GPU,
    .gpu_rows = gpu_rows,
    .cut = yk_cut_beside_gpu,
};
