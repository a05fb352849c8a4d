/* SPDX-License-Identifier: BSD-3-Clause */
/* deal_halo.c: what shares of rows need of each other, counted by who has them all. */
#include <string.h>

#include "lib/status.h"
#include "matrices/deal.h"

typedef struct counting {
    const yk_csr *csr;
    const int32_t *owner;
    int32_t *seen_row;  /* [rows] the last rank, from 1, that needs it */
    int32_t *seen_rank; /* [ranks] likewise */
    int64_t *first;     /* [ranks + 1] of order, by rank */
    int32_t *order;     /* [rows] rows, rank by rank */
} counting;

static void sort_by_owner(const counting *c, int ranks)
{
    memset(c->first, 0, (size_t)(ranks + 1) * sizeof *c->first);
    for (int64_t i = 0; i < c->csr->rows; i++) c->first[c->owner[i] + 1]++;
    for (int r = 0; r < ranks; r++) c->first[r + 1] += c->first[r];
    for (int64_t i = 0; i < c->csr->rows; i++) c->order[c->first[c->owner[i]]++] = (int32_t)i;
    memmove(c->first + 1, c->first, (size_t)ranks * sizeof *c->first);
    c->first[0] = 0;
}

static void count_row(const counting *c, int64_t row, yk_deal_need *need)
{
    int rank = c->owner[row];
    for (int64_t k = yk_row_start(c->csr, row); k < yk_row_start(c->csr, row + 1); k++) {
        int32_t column = c->csr->column[k], owner = c->owner[column];
        if (owner == rank || c->seen_row[column] == rank + 1) continue;
        c->seen_row[column] = rank + 1;
        need->halo++;
        need->neighbours += c->seen_rank[owner] != rank + 1;
        c->seen_rank[owner] = rank + 1;
    }
}

static void count(const counting *c, int ranks, yk_deal_need *need)
{
    sort_by_owner(c, ranks);
    for (int r = 0; r < ranks; r++) {
        need[r] = (yk_deal_need){0, 0};
        for (int64_t i = c->first[r]; i < c->first[r + 1]; i++) count_row(c, c->order[i], &need[r]);
    }
}

yoke_status yk_deal_count_needs(yoke_context *context, const yk_csr *csr, const int32_t *owner,
                                int ranks, yk_deal_need *need)
{
    counting c = {.csr = csr, .owner = owner};
    yoke_status status = yk_alloc(context, "rows seen", csr->rows, sizeof *c.seen_row, &c.seen_row);
    if (status == YOKE_OK)
        status = yk_alloc(context, "ranks seen", ranks, sizeof *c.seen_rank, &c.seen_rank);
    if (status == YOKE_OK)
        status = yk_alloc(context, "first rows", ranks + 1, sizeof *c.first, &c.first);
    if (status == YOKE_OK)
        status = yk_alloc(context, "an order", csr->rows, sizeof *c.order, &c.order);
    if (status == YOKE_OK) {
        memset(c.seen_row, 0, (size_t)csr->rows * sizeof *c.seen_row);
        memset(c.seen_rank, 0, (size_t)ranks * sizeof *c.seen_rank);
        count(&c, ranks, need);
    }
    yk_free(context, c.seen_row, csr->rows, sizeof *c.seen_row);
    yk_free(context, c.seen_rank, ranks, sizeof *c.seen_rank);
    yk_free(context, c.first, ranks + 1, sizeof *c.first);
    yk_free(context, c.order, csr->rows, sizeof *c.order);
    return status;
}
