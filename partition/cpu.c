/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu.c: all rows to CPU parts, in shares of equal bytes. */
#include "lib/iface/partition.h"
#include "partition/balance.h"

static void cut(const yk_cut_request *request, int64_t *first)
{
    yk_cut_equally(request->csr, request->row_bytes, 0, request->parts, first);
}

const yk_partition yk_partition_cpu = {
    .name = "cpu",
    .form = "cpu",
    .text = "all rows on the CPU, one part for each NUMA node or as many as asked",
    .owner = YK_OWNER_CPU,
    .cut = cut,
};
