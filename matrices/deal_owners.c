/* SPDX-License-Identifier: BSD-3-Clause */
/* deal_owners.c: a rank for each row, from a file or by METIS, and the numbers that rows then have.
 */
#include <string.h>
#include <yoke_io.h>

#include "lib/part.h"
#include "lib/status.h"
#include "matrices/deal.h"

/* ------------------------------------------------------------------ by file */

static yoke_status take_owners(const yoke_comm *comm, const double *given, int64_t rows,
                               int32_t *owner)
{
    for (int64_t i = 0; i < rows; i++) {
        owner[i] = given[i] >= 0.0 && given[i] < comm->ranks ? (int32_t)given[i] : -1;
        if (owner[i] < 0 || (double)owner[i] != given[i])
            return yk_fail(YOKE_FORMAT,
                           "%s: row %lld (counted from 1) is given to rank %.17g, "
                           "expected a whole number from 0 to %d",
                           comm->deal + 5, (long long)i + 1, given[i], comm->ranks - 1);
    }
    return YOKE_OK;
}

static yoke_status read_owners(yoke_context *context, int64_t rows, int32_t *owner)
{
    double *given;
    YK_TRY(yk_alloc(context, "a file's ranks", rows, sizeof *given, &given));
    yoke_status status = yoke_vector_read(context, context->comm->deal + 5, rows, given);
    if (status == YOKE_OK) status = take_owners(context->comm, given, rows, owner);
    yk_free(context, given, rows, sizeof *given);
    return status;
}

/* ---------------------------------------------------------------- by METIS */

static bool needs_others(const yk_csr *csr, int64_t row, const int32_t *owner)
{
    for (int64_t k = yk_row_start(csr, row); k < yk_row_start(csr, row + 1); k++)
        if (yk_deal_owner(owner[csr->column[k]]) != yk_deal_owner(owner[row])) return true;
    return false;
}

static void mark_edges(const yk_csr *csr, int32_t *owner)
{
    for (int64_t i = 0; i < csr->rows; i++)
        if (needs_others(csr, i, owner)) owner[i] |= YK_DEAL_EDGE;
}

/* ------------------------------------------------------------------ numbers */

static void sort_by_owner(const int32_t *owner, int64_t rows, int ranks, const int64_t *begin,
                          int32_t *order)
{
    int64_t next[(size_t)ranks];
    for (int r = 0; r < ranks; r++) next[r] = begin[r];
    for (int64_t i = 0; i < rows; i++) order[next[yk_deal_owner(owner[i])]++] = (int32_t)i;
}

/* Places [first, last): those without the mark, then those with it. */
static void number_run(const int32_t *owner, const int32_t *order, int64_t first, int64_t last,
                       int32_t *new_of)
{
    int64_t next = first;
    for (int marked = 0; marked < 2; marked++)
        for (int64_t place = first; place < last; place++)
            if (!!(owner[order[place]] & YK_DEAL_EDGE) == marked)
                new_of[order[place]] = (int32_t)next++;
}

void yk_deal_number(const int32_t *owner, int64_t rows, int ranks, const int64_t *begin,
                    const int64_t *threads, int32_t *order, int32_t *new_of)
{
    sort_by_owner(owner, rows, ranks, begin, order);
    for (int r = 0; r < ranks; r++) {
        int64_t count = begin[r + 1] - begin[r], runs = threads[r] > 1 ? threads[r] : 1;
        for (int64_t k = 0; k < runs; k++)
            number_run(owner, order, begin[r] + count * k / runs, begin[r] + count * (k + 1) / runs,
                       new_of);
    }
}

/* ------------------------------------------------------------ what it is worth */

static void own_slabs(const yk_csr *csr, int ranks, const double *share, int64_t *entries,
                      int64_t *begin, int32_t *owner)
{
    yk_deal_count_chunks(csr, entries);
    yk_deal_cut(entries, csr->rows, YK_CHUNK, ranks, YK_DEAL_NONZEROS, share, begin);
    for (int r = 0; r < ranks; r++)
        for (int64_t i = begin[r]; i < begin[r + 1]; i++) owner[i] = r;
}

yoke_status yk_deal_count_slabs(yoke_context *context, const yk_csr *csr, const double *share,
                                int ranks, yk_deal_need *need)
{
    int64_t *entries = NULL, *begin = NULL, chunks = yk_chunks(csr->rows);
    int32_t *owner = NULL;
    yoke_status status = yk_alloc(context, "chunks", chunks, sizeof *entries, &entries);
    if (status == YOKE_OK)
        status = yk_alloc(context, "first rows", ranks + 1, sizeof *begin, &begin);
    if (status == YOKE_OK)
        status = yk_alloc(context, "ranks of rows", csr->rows, sizeof *owner, &owner);
    if (status == YOKE_OK) {
        own_slabs(csr, ranks, share, entries, begin, owner);
        status = yk_deal_count_needs(context, csr, owner, ranks, need);
    }
    yk_free(context, entries, chunks, sizeof *entries);
    yk_free(context, begin, ranks + 1, sizeof *begin);
    yk_free(context, owner, csr->rows, sizeof *owner);
    return status;
}

/* Numbers that would travel if shares were contiguous. */
static yoke_status count_contiguous(yoke_context *context, const yk_csr *csr, const double *share,
                                    int64_t *sent)
{
    int ranks = context->comm->ranks;
    yk_deal_need *need;
    YK_TRY(yk_alloc(context, "figures of ranks", ranks, sizeof *need, &need));
    yoke_status status = yk_deal_count_slabs(context, csr, share, ranks, need);
    *sent = 0;
    for (int r = 0; status == YOKE_OK && r < ranks; r++) *sent += need[r].halo;
    yk_free(context, need, ranks, sizeof *need);
    return status;
}

yoke_status yk_deal_find_owners(yoke_context *context, yk_deal_by by, const yk_csr *csr,
                                int64_t rows, const double *share, int32_t *owner, int64_t *sent)
{
    *sent = 0;
    if (by == YK_DEAL_FILE) return read_owners(context, rows, owner);
    YK_TRY(yk_deal_by_graph(context, csr, share, owner));
    mark_edges(csr, owner);
    return count_contiguous(context, csr, share, sent);
}
