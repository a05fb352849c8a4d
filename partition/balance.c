/* SPDX-License-Identifier: BSD-3-Clause */
/* balance.c: cutting rows into shares of equal bytes, on multiples of a chunk. */
#include "partition/balance.h"

#include "lib/sum.h"
#include "partition/waist.h"

double yk_bytes_before(const yk_csr *csr, double row_bytes, int64_t row)
{
    int64_t entries = csr->start32 || csr->start64 ? yk_row_start(csr, row) : 0;
    return 12.0 * (double)entries + row_bytes * (double)row;
}

int64_t yk_cut_at_share(const yk_csr *csr, double row_bytes, int64_t first, int64_t last,
                        double share)
{
    double from = yk_bytes_before(csr, row_bytes, first);
    double wanted = from + share * (yk_bytes_before(csr, row_bytes, last) - from);
    int64_t low = first / YK_CHUNK, high = (last + YK_CHUNK - 1) / YK_CHUNK;
    while (low < high) { /* the first chunk boundary at or after the wanted byte */
        int64_t middle = low + (high - low) / 2, row = middle * YK_CHUNK;
        if (yk_bytes_before(csr, row_bytes, row < last ? row : last) < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low * YK_CHUNK < last ? low * YK_CHUNK : last;
}

int64_t yk_gpu_rows(int64_t rows, int64_t gpu_chunks, double cpu_share)
{
    int64_t chunks = yk_chunks(rows);
    if (cpu_share <= 0.0 || chunks == 0) return rows;
    if (cpu_share >= 1.0) return 0;
    if (chunks == 1) return cpu_share < 0.5 ? rows : 0;
    if (gpu_chunks > chunks - 1) gpu_chunks = chunks - 1;
    return (gpu_chunks < 1 ? 1 : gpu_chunks) * YK_CHUNK;
}

void yk_cut_equally(const yk_csr *csr, double row_bytes, int64_t from, int parts, int64_t *first)
{
    first[0] = from;
    for (int i = 1; i < parts; i++)
        first[i] = yk_cut_at_share(csr, row_bytes, from, csr->rows, (double)i / parts);
    first[parts] = csr->rows;
    for (int i = 1; i < parts; i++)
        first[i] = yk_cut_at_waist(csr, row_bytes, first[i - 1], first[i + 1], first[i]);
}

void yk_cut_beside_gpu(const yk_cut_request *request, int64_t *first)
{
    first[0] = 0;
    yk_cut_equally(request->csr, request->row_bytes, request->gpu_rows, request->parts - 1,
                   first + 1);
}
