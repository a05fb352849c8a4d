/* SPDX-License-Identifier: BSD-3-Clause */
/* model.c: the cut at which one GPU and the CPU are done with an iteration at the same time, by
 * what each was measured to move in a second. The share is of the bytes of an iteration, to
 * within what a cut through fewer columns is worth. */
#include "lib/iface/partition.h"
#include "partition/balance.h"
#include "partition/waist.h"

static int64_t gpu_rows(const yk_csr *csr, double row_bytes, double share)
{
    int64_t row = yk_cut_at_share(csr, row_bytes, 0, csr->rows, 1.0 - share);
    int64_t cut = yk_gpu_rows(csr->rows, yk_chunks(row), share);
    return yk_cut_at_waist(csr, row_bytes, 0, csr->rows, cut);
}

const yk_partition yk_partition_model = {
    .name = "model",
    .form = "model",
    .text = "the cut at which both are done at the same time, by measured speeds",
    .owner = YK_OWNER_GPU,
    .measured = true,
    .gpu_rows = gpu_rows,
    .cut = yk_cut_beside_gpu,
};
