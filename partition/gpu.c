/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu.c: all rows to one GPU, or shares of equal bytes to several. A part of the CPU beside one,
 * which meets other ranks, has no rows.
 *
 * Cuts between GPUs lie on multiples of a power of two of chunks: then the sums of a part are few
 * nodes of the system's tree, and a block of several chunks leaves one. */
#include "lib/iface/partition.h"
#include "partition/balance.h"

/* Of a part's chunks no more than one in so many changes owner for that, if there are enough. */
enum { FINENESS = 256 };

/* The multiple, and what the passes of large parts need: a block of theirs takes so many chunks.
 * Parts of fewer than 64 chunks have no such blocks. */
static int64_t multiple_of(int64_t chunks_a_part)
{
    enum { OF_BLOCK = 16, SMALL = 64 };
    int64_t multiple = chunks_a_part < SMALL ? 1 : OF_BLOCK;
    while (multiple * FINENESS <= chunks_a_part) multiple *= 2;
    return multiple;
}

static int64_t rounded(int64_t row, int64_t multiple, int64_t rows)
{
    int64_t chunk = (row / YK_CHUNK + multiple / 2) / multiple * multiple;
    return chunk * YK_CHUNK < rows ? chunk * YK_CHUNK : rows;
}

static void cut(const yk_cut_request *request, int64_t *first)
{
    const int64_t rows = request->csr->rows;
    const int64_t multiple = multiple_of(yk_chunks(rows) / request->gpus);
    first[0] = 0;
    for (int i = 1; i < request->gpus; i++)
        first[i] = rounded(
            yk_cut_at_share(request->csr, request->row_bytes, 0, rows, (double)i / request->gpus),
            multiple, rows);
    for (int i = request->gpus; i <= request->parts; i++) first[i] = rows;
}

const yk_partition yk_partition_gpu = {
    .name = "gpu",
    .form = "gpu",
    .text = "all rows on one GPU, or on several",
    .owner = YK_OWNER_GPU,
    .cut = cut,
};
