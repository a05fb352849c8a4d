/* SPDX-License-Identifier: BSD-3-Clause */
/* shape_ranks.c: what contiguous shares of a matrix need of each other, counted entry by entry. */
#include <string.h>

#include "lib/matrix.h"
#include "lib/part.h"
#include "lib/status.h"
#include "matrices/deal.h"
#include <yoke_tools.h>

typedef struct counting {
    const yk_csr *csr;
    yoke_context *context;
    int ranks;
    int64_t *entries, *begin; /* of each chunk; [ranks + 1] */
    int32_t *seen_row;        /* [rows] the last rank, from 1, that needs it */
    int32_t *seen_rank;       /* [ranks] likewise */
} counting;

static yoke_status allocate(counting *c)
{
    int64_t rows = c->csr->rows, ranks = c->ranks;
    YK_TRY(yk_alloc(c->context, "chunks", yk_chunks(rows), sizeof *c->entries, &c->entries));
    YK_TRY(yk_alloc(c->context, "first rows", ranks + 1, sizeof *c->begin, &c->begin));
    YK_TRY(yk_alloc(c->context, "rows seen", rows, sizeof *c->seen_row, &c->seen_row));
    YK_TRY(yk_alloc(c->context, "ranks seen", ranks, sizeof *c->seen_rank, &c->seen_rank));
    memset(c->seen_row, 0, (size_t)rows * sizeof *c->seen_row);
    memset(c->seen_rank, 0, (size_t)ranks * sizeof *c->seen_rank);
    return YOKE_OK;
}

static void end(counting *c)
{
    int64_t rows = c->csr->rows, ranks = c->ranks;
    yk_free(c->context, c->entries, yk_chunks(rows), sizeof *c->entries);
    yk_free(c->context, c->begin, ranks + 1, sizeof *c->begin);
    yk_free(c->context, c->seen_row, rows, sizeof *c->seen_row);
    yk_free(c->context, c->seen_rank, ranks, sizeof *c->seen_rank);
}

static int owner_of(const counting *c, int64_t row)
{
    int low = 0, high = c->ranks - 1;
    while (low < high) {
        int middle = low + (high - low + 1) / 2;
        if (c->begin[middle] <= row)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static void count_rank(const counting *c, int rank, yoke_rank_cut *cut)
{
    int64_t first = c->begin[rank], last = c->begin[rank + 1];
    *cut = (yoke_rank_cut){0.0, 0.0};
    for (int64_t k = yk_row_start(c->csr, first); k < yk_row_start(c->csr, last); k++) {
        int32_t column = c->csr->column[k];
        if ((column >= first && column < last) || c->seen_row[column] == rank + 1) continue;
        c->seen_row[column] = rank + 1;
        cut->halo++;
        int owner = owner_of(c, column);
        cut->neighbours += c->seen_rank[owner] != rank + 1;
        c->seen_rank[owner] = rank + 1;
    }
}

static void count(counting *c, yoke_shape *shape)
{
    shape->counted_ranks = c->ranks;
    shape->rank_halo = shape->rank_neighbours = 0.0;
    yk_deal_count_chunks(c->csr, c->entries);
    yk_deal_cut(c->entries, c->csr->rows, YK_CHUNK, c->ranks, YK_DEAL_NONZEROS, NULL, c->begin);
    for (int r = 0; r < c->ranks; r++) {
        yoke_rank_cut cut;
        count_rank(c, r, &cut);
        if (cut.halo > shape->rank_halo) shape->rank_halo = cut.halo;
        if (cut.neighbours > shape->rank_neighbours) shape->rank_neighbours = cut.neighbours;
    }
}

yoke_status yoke_shape_count_ranks(const yoke_matrix *matrix, int ranks, yoke_shape *shape)
{
    if (!matrix || !shape) return yk_fail(YOKE_INVALID, "matrix or shape is NULL");
    if (ranks < 1) return yk_fail(YOKE_INVALID, "%d ranks, expected 1 or more", ranks);
    if (matrix->is_operator)
        return yk_fail(YOKE_UNSUITABLE, "an operator has no entries to be counted");
    counting c = {.csr = &matrix->csr, .context = matrix->context, .ranks = ranks};
    yoke_status status = allocate(&c);
    if (status == YOKE_OK) count(&c, shape);
    end(&c);
    return status;
}
