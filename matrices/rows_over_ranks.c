/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_over_ranks.c: each rank makes its own rows. How many entries the others' have is counted by
 * all together, a share each, so that no rank has to see the whole system. */
#include <string.h>

#include "lib/context.h"
#include "lib/part.h"
#include "lib/spread.h"
#include "lib/status.h"
#include "matrices/assemble.h"
#include "matrices/deal.h"
#include "matrices/rows.h"

typedef struct sharing {
    yoke_context *context;
    const yk_rows *rows;
    int rank, ranks;
    int64_t unit, units, each; /* rows of a unit; units in all, and that a rank counts */
    int64_t *mine, *all;       /* [each], [each * ranks] entries of each unit */
    int64_t *begin;            /* [ranks + 1] */
} sharing;

/* Cuts fall on chunks, and where rows are made some at a time, on multiples of these too. */
static int64_t unit_of(const yk_rows *rows)
{
    int64_t unit = YK_CHUNK;
    while (unit % rows->grain != 0) unit += YK_CHUNK;
    return unit;
}

static int64_t row_at(const sharing *s, int64_t unit)
{
    int64_t row = unit * s->unit;
    return row < s->rows->rows ? row : s->rows->rows;
}

static yoke_status allocate(sharing *s)
{
    YK_TRY(yk_alloc(s->context, "first rows", s->ranks + 1, sizeof *s->begin, &s->begin));
    YK_TRY(yk_alloc(s->context, "entries of rows", s->each, sizeof *s->mine, &s->mine));
    return yk_alloc(s->context, "entries of rows", s->each * s->ranks, sizeof *s->all, &s->all);
}

static yoke_status count_share(sharing *s)
{
    int64_t first = row_at(s, s->each * s->rank), last = row_at(s, s->each * (s->rank + 1));
    YK_TRY(allocate(s));
    memset(s->mine, 0, (size_t)s->each * sizeof *s->mine);
    return yk_rows_count(s->context, s->rows, first, last, s->unit, s->mine);
}

static yoke_status build_share(const sharing *s, yk_csr *csr)
{
    return yk_rows_build_range(s->context, s->rows, s->begin[s->rank], s->begin[s->rank + 1], csr);
}

/* Rows of this rank; their columns are the system's. */
static yoke_status spread(sharing *s, yoke_status status, const yk_csr *made, yoke_matrix **matrix)
{
    yoke_csr csr = yoke_csr_defaults();
    csr.rows = made->rows;
    csr.row_start = made->start32 ? (const void *)made->start32 : (const void *)made->start64;
    csr.row_start_type = made->start32 ? YOKE_INT32 : YOKE_INT64;
    csr.column = made->column;
    csr.value = made->value;
    csr.unsorted = csr.repeated = csr.unsymmetric = YOKE_TRUST;
    YK_TRY(yk_matrix_spread(s->context, &csr, NULL, status, matrix));
    (*matrix)->unsymmetric = YOKE_REFUSE; /* new values are asked */
    return YOKE_OK;
}

static yoke_status make_in_place(sharing *s, yk_deal_by by, yoke_matrix **matrix)
{
    yk_csr csr = {0};
    YK_TRY(yk_agree(s->context, count_share(s), yk_deal_mark(s->context, by)));
    YK_TRY(yk_ranks_gather(s->context, s->mine, (size_t)s->each * sizeof *s->mine, s->all));
    bool equal;
    double share[(size_t)s->ranks];
    YK_TRY(yk_deal_find_shares(s->context, share, &equal));
    yk_deal_cut(s->all, s->rows->rows, s->unit, s->ranks, by, equal ? NULL : share, s->begin);
    yoke_status status = build_share(s, &csr);
    status = spread(s, status, &csr, matrix);
    if (status == YOKE_OK && !equal) (*matrix)->spread->due = share[s->rank];
    yk_csr_free(s->context, &csr);
    return status;
}

/* By a file nobody's rows lie together: each makes a share, which is dealt out. METIS looks at all
 * of them, which the first rank makes. */
static yoke_status make_and_deal(const sharing *s, yk_deal_by by, yoke_matrix **matrix)
{
    int64_t first = row_at(s, s->each * s->rank), last = row_at(s, s->each * (s->rank + 1));
    if (by == YK_DEAL_METIS) {
        first = s->rank == 0 ? 0 : s->rows->rows;
        last = s->rows->rows;
    }
    yk_hand hand = {.first = first, .all_rows = s->rows->rows};
    yoke_status status = yk_rows_build_range(s->context, s->rows, first, last, &hand.csr);
    status = yk_deal(s->context, &hand, status, matrix);
    yk_csr_free(s->context, &hand.csr);
    return status;
}

yoke_status yk_rows_build_over_ranks(yoke_context *context, const yk_rows *rows,
                                     yoke_matrix **matrix)
{
    sharing s = {.context = context,
                 .rows = rows,
                 .rank = context->comm->rank,
                 .ranks = context->comm->ranks,
                 .unit = unit_of(rows)};
    yk_deal_by by;
    YK_TRY(yk_agree(context, yk_deal_find(context, &by), 0.0));
    s.units = (rows->rows + s.unit - 1) / s.unit;
    s.each = (s.units + s.ranks - 1) / s.ranks;
    yoke_status status =
        yk_deal_scatters(by) ? make_and_deal(&s, by, matrix) : make_in_place(&s, by, matrix);
    yk_free(context, s.begin, s.ranks + 1, sizeof *s.begin);
    yk_free(context, s.mine, s.each, sizeof *s.mine);
    yk_free(context, s.all, s.each * s.ranks, sizeof *s.all);
    return status;
}
