/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu.c: all rows to one GPU. */
#include "lib/iface/partition.h"

static void cut(const yk_cut_request *request, int64_t *first)
{
    first[0] = 0;
    for (int i = 1; i <= request->parts; i++) first[i] = request->csr->rows;
}

const yk_partition yk_partition_gpu = {
    .name = "gpu",
    .form = "gpu",
    .text = "all rows on one GPU",
    .owner = YK_OWNER_GPU,
    .cut = cut,
};
