/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu.c: all rows to CPU parts, in shares of equal bytes. */
#include "lib/iface/partition.h"
#include "partition/balance.h"

static void cut(const yk_cut_request *request, int64_t *first)
{
    int64_t rows = request->csr->rows;
    for (int i = 0; i < request->parts; i++)
        first[i] = i == 0 ? 0
                          : yk_cut_at_share(request->csr, request->row_bytes, 0, rows,
                                            (double)i / request->parts);
    first[request->parts] = rows;
}

const yk_partition yk_partition_cpu = {
    .name = "cpu",
    .form = "cpu",
    .text = "all rows on the CPU, one part for each NUMA node or as many as asked",
    .owner = YK_OWNER_CPU,
    .cut = cut,
};
