/* SPDX-License-Identifier: BSD-3-Clause */
/* deal_graph.c: rows dealt out by the graph of the matrix, so that few columns are needed across
 * ranks, on the rank that has all rows. */
#include <string.h>

#include "lib/part.h"
#include "lib/status.h"
#include "matrices/deal.h"

typedef struct graph {
    yoke_context *context;
    const yk_csr *csr;
    int64_t *start; /* [rows + 1] */
    int32_t *neighbour;
    double *weight;
    int64_t pairs;
} graph;

static bool has(const yk_csr *csr, int64_t row, int32_t column)
{
    int64_t low = yk_row_start(csr, row), high = yk_row_start(csr, row + 1);
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (csr->column[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low < yk_row_start(csr, row + 1) && csr->column[low] == column;
}

/* Each entry beside the diagonal, and where its twin is not there, since it is 0 or nobody asked,
 * that too: at(i, j) for both. place NULL: counts into start + 1. */
static void walk(const yk_csr *csr, int64_t *start, int32_t *neighbour)
{
    for (int64_t i = 0; i < csr->rows; i++)
        for (int64_t k = yk_row_start(csr, i); k < yk_row_start(csr, i + 1); k++) {
            int32_t j = csr->column[k];
            if (j == i) continue;
            bool alone = !has(csr, j, (int32_t)i);
            if (neighbour) {
                neighbour[start[i]] = j;
                if (alone) neighbour[start[j]] = (int32_t)i;
            }
            start[i]++;
            if (alone) start[j]++;
        }
}

/* Counts become places, and once they are used the starts again. */
static void to_places(int64_t *start, int64_t rows)
{
    int64_t sum = 0;
    for (int64_t i = 0; i <= rows; i++) {
        int64_t count = i < rows ? start[i] : 0;
        start[i] = sum;
        sum += count;
    }
}

static void to_starts(int64_t *start, int64_t rows)
{
    memmove(start + 1, start, (size_t)rows * sizeof *start);
    start[0] = 0;
}

static yoke_status build(graph *g)
{
    const yk_csr *csr = g->csr;
    YK_TRY(yk_alloc(g->context, "a graph's starts", csr->rows + 1, sizeof *g->start, &g->start));
    YK_TRY(yk_alloc(g->context, "a graph's weights", csr->rows, sizeof *g->weight, &g->weight));
    memset(g->start, 0, (size_t)(csr->rows + 1) * sizeof *g->start);
    walk(csr, g->start, NULL);
    to_places(g->start, csr->rows);
    g->pairs = g->start[csr->rows];
    YK_TRY(yk_alloc(g->context, "a graph", g->pairs, sizeof *g->neighbour, &g->neighbour));
    walk(csr, g->start, g->neighbour);
    to_starts(g->start, csr->rows);
    for (int64_t i = 0; i < csr->rows; i++)
        g->weight[i] = YK_DEAL_ROW_BYTES + YK_DEAL_ENTRY_BYTES * (double)(yk_row_start(csr, i + 1) -
                                                                          yk_row_start(csr, i));
    return YOKE_OK;
}

static void release(graph *g)
{
    int64_t rows = g->csr->rows;
    yk_free(g->context, g->start, rows + 1, sizeof *g->start);
    yk_free(g->context, g->weight, rows, sizeof *g->weight);
    yk_free(g->context, g->neighbour, g->pairs, sizeof *g->neighbour);
}

/* Where there are hardly more rows than ranks there is no shape to find. */
static bool too_few(int64_t rows, int ranks)
{
    return ranks == 1 || rows < 4 * (int64_t)ranks;
}

yoke_status yk_deal_by_graph(yoke_context *context, const yk_csr *csr, const double *share,
                             int32_t *owner)
{
    const yoke_comm *comm = context->comm;
    graph g = {.context = context, .csr = csr};
    if (too_few(csr->rows, comm->ranks)) {
        for (int64_t i = 0; i < csr->rows; i++) owner[i] = (int32_t)(i * comm->ranks / csr->rows);
        return YOKE_OK;
    }
    yoke_status status = build(&g);
    if (status == YOKE_OK) {
        const yoke_graph given = {csr->rows, g.start, g.neighbour, g.weight};
        status = comm->partition(comm->self, &given, share, owner);
    }
    release(&g);
    return status;
}
