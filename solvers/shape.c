/* SPDX-License-Identifier: BSD-3-Clause */
/* shape.c: what a model needs to know of a matrix, from its entries. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/matrix.h"
#include "lib/model.h"
#include "lib/status.h"
#include "lib/part.h"
#include "lib/threads.h"
#include "solvers/cg/row_shape.h"
#include "solvers/shape.h"

enum { SECTOR = 4 /* numbers */, SAMPLED = 16 /* chunks */, MOST = 1 << 16 /* entries of one */ };

/* By a table with linear probing, at most half full; table: [2 MOST]. A planner waits for it. */
static int64_t distinct(const int32_t *sector, int64_t count, int32_t *table)
{
    int64_t kept = 0;
    uint32_t places = 64;
    while (places < 2 * count) places *= 2;
    memset(table, 0xff, places * sizeof *table); /* -1: free */
    for (int64_t k = 0; k < count; k++) {
        uint32_t at = ((uint32_t)sector[k] * 2654435761U >> 7) & (places - 1);
        while (table[at] != -1 && table[at] != sector[k]) at = (at + 1) & (places - 1);
        kept += table[at] == -1;
        table[at] = sector[k];
    }
    return kept;
}

/* Of the rows of a chunk, as far as there is room for their entries: sector has that for MOST, and
 * for a table of twice as many. */
static void count_chunk(const yk_csr *csr, int64_t chunk, int32_t *sector, double *sectors,
                        double *rows)
{
    int32_t *table = sector + MOST;
    int64_t first = chunk * YK_CHUNK,
            last = first + YK_CHUNK < csr->rows ? first + YK_CHUNK : csr->rows;
    int64_t count = 0, i = first;
    for (; i < last; i++) {
        int64_t from = yk_row_start(csr, i), to = yk_row_start(csr, i + 1);
        if (count + to - from > MOST) break;
        for (int64_t k = from; k < to; k++) sector[count++] = csr->column[k] / SECTOR;
    }
    *sectors += (double)distinct(sector, count, table);
    *rows += (double)(i - first);
}

double yk_shape_sectors(const yk_csr *csr, int chunks)
{
    int64_t all = yk_chunks(csr->rows);
    double sectors = 0.0, rows = 0.0;
    int32_t *sector = all > 0 ? malloc(3 * (size_t)MOST * sizeof *sector) : NULL;
    if (!sector) return 0.0;
    if (chunks > all) chunks = (int)all;
    for (int c = 0; c < chunks; c++)
        count_chunk(csr, (2 * c + 1) * all / (2 * chunks), sector, &sectors, &rows);
    free(sector);
    return rows > 0.0 ? sectors / rows : 0.0;
}

/* The pattern is symmetric: a row that reaches over the cut is a row that the other side needs. */
static void count_halos(const yk_csr *csr, double share, double *of_last, double *of_first)
{
    int64_t cut = csr->rows - (int64_t)(share * (double)csr->rows);
    for (int64_t i = 0; i < csr->rows; i++) {
        int64_t from = yk_row_start(csr, i), to = yk_row_start(csr, i + 1);
        if (from == to) continue;
        if (i < cut)
            *of_last += csr->column[to - 1] >= cut;
        else
            *of_first += csr->column[from] < cut;
    }
}

void yk_shape_of_csr(const yk_csr *csr, int threads, yoke_shape *shape)
{
    static const double share[YOKE_HALOS] = YK_HALO_SHARES;
    const yk_row_shape rows = yk_shape_of_rows(csr, threads);
    *shape = (yoke_shape){.rows = (double)csr->rows,
                          .nonzeros = (double)csr->nonzeros,
                          .longest_row = (double)rows.longest,
                          .start_bytes = csr->start32 ? 4.0 : 8.0,
                          .sell_entries = (double)(YK_SELL_ROWS * rows.sell_columns),
                          .sell_sorted = rows.sell_order > 0,
                          .sectors = yk_shape_sectors(csr, SAMPLED)};
    for (int k = 0; k < YOKE_HALOS; k++)
        count_halos(csr, share[k], &shape->halo_of_last[k], &shape->halo_of_first[k]);
}

yoke_status yoke_shape_of_matrix(const yoke_matrix *matrix, yoke_shape *shape)
{
    if (!matrix || !shape) return yk_fail(YOKE_INVALID, "matrix or shape is NULL");
    if (matrix->is_operator)
        return yk_fail(YOKE_UNSUITABLE, "an operator has no entries to be counted");
    yk_shape_of_csr(&matrix->csr, yk_threads(matrix->context, 0), shape);
    return YOKE_OK;
}
