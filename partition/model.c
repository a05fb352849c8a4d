/* SPDX-License-Identifier: BSD-3-Clause */
/* model.c: the cut at which one GPU and the CPU are done with an iteration at the same time, by
 * what each was measured to move in a second. The share is of the bytes of an iteration, to
 * within what a cut through fewer columns is worth. */
#include "lib/iface/partition.h"
#include "partition/balance.h"
#include "partition/waist.h"

const yk_partition yk_partition_model = {
    .name = "model",
    .form = "model",
    .text = "the cut at which both are done at the same time, by measured speeds",
    .owner = YK_OWNER_GPU,
    .measured = true,
    .gpu_rows = yk_gpu_rows_at_waist,
    .cut = yk_cut_beside_gpu,
};
