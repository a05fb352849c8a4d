/* SPDX-License-Identifier: BSD-3-Clause */
/* spread.c: from the rows that each rank has to a matrix over ranks. Whatever may fail on one rank
 * is agreed on before the next exchange. */
#include "lib/spread.h"

#include <stdlib.h>
#include <string.h>

#include "lib/canonical.h"
#include "lib/csr_input.h"
#include "lib/part.h"
#include "lib/status.h"
#include "lib/threads.h"
#include "lib/values.h"

typedef struct spreading {
    yoke_context *context;
    yk_spread *spread;
    yoke_csr given; /* with columns that are compact, once they are */
    int threads, ranks;
    int64_t below;     /* of the halo, columns before our first row */
    int32_t *compact;  /* [nonzeros] columns: halo below, own, halo above */
    int64_t *halo;     /* [halo] in the plan's numbering, ascending */
    int64_t *asked;    /* rows that others need, by rank */
    size_t *to, *from; /* [ranks] bytes */
} spreading;

/* -------------------------------------------------------------- whose rows */

static int nodes_of(int64_t chunks)
{
    int bits = 0;
    while (chunks >> bits) bits++;
    return 2 * bits + 2 < YK_TREE_NODES ? 2 * bits + 2 : YK_TREE_NODES;
}

static yoke_status number_rows(spreading *s)
{
    yk_spread *spread = s->spread;
    int rank = s->context->comm->rank;
    int64_t chunks = 0;
    YK_TRY(yk_ranks_gather(s->context, &s->given.rows, sizeof(int64_t), spread->begin + 1));
    spread->begin[0] = 0;
    for (int r = 0; r < s->ranks; r++) {
        if (r == rank) spread->first_chunk = chunks;
        chunks += yk_chunks(spread->begin[r + 1]);
        if (__builtin_add_overflow(spread->begin[r], spread->begin[r + 1], &spread->begin[r + 1]))
            return yk_fail(YOKE_OVERFLOW, "the rows of all ranks exceed what an index can hold");
    }
    spread->all_rows = spread->begin[s->ranks];
    spread->first = spread->begin[rank];
    spread->rows = s->given.rows;
    spread->nodes = nodes_of(chunks);
    return YOKE_OK;
}

int yk_spread_owner(const yk_spread *spread, int ranks, int64_t row)
{
    int low = 0, high = ranks - 1;
    while (low < high) { /* the last rank that begins at or before the row, of which it has some */
        int middle = low + (high - low + 1) / 2;
        if (spread->begin[middle] <= row)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

int yk_spread_neighbours(const yk_spread *spread)
{
    int count = spread->receives, r = 0;
    for (int s = 0; s < spread->sends; s++) {
        while (r < spread->receives && spread->receive[r].rank < spread->send[s].rank) r++;
        count += r == spread->receives || spread->receive[r].rank != spread->send[s].rank;
    }
    return count;
}

/* -------------------------------------------------------------------- halo */

static bool is_own(const spreading *s, int64_t column)
{
    return column >= s->spread->first && column < s->spread->first + s->spread->rows;
}

/* The least and the greatest column that is not ours. */
static void span_of_halo(const spreading *s, int64_t nonzeros, int64_t *least, int64_t *end)
{
    *least = INT64_MAX;
    *end = 0;
    for (int64_t k = 0; k < nonzeros; k++) {
        int64_t column = yk_given_column(&s->given, k);
        if (is_own(s, column)) continue;
        if (column < *least) *least = column;
        if (column >= *end) *end = column + 1;
    }
}

static yoke_status list_halo(spreading *s, int64_t nonzeros, int64_t least, int64_t words,
                             uint64_t *marks)
{
    int64_t count = 0;
    memset(marks, 0, (size_t)words * sizeof *marks);
    for (int64_t k = 0; k < nonzeros; k++) {
        int64_t column = yk_given_column(&s->given, k), bit = column - least;
        if (is_own(s, column) || (marks[bit >> 6] >> (bit & 63) & 1)) continue;
        marks[bit >> 6] |= (uint64_t)1 << (bit & 63);
        count++;
    }
    if (count + s->spread->rows > INT32_MAX)
        return yk_fail(YOKE_OVERFLOW, "a rank has %lld rows and %lld halo columns, beyond 32 bits",
                       (long long)s->spread->rows, (long long)count);
    YK_TRY(yk_alloc(s->context, "halo columns", count, sizeof *s->halo, &s->halo));
    s->spread->halo = count;
    count = 0;
    for (int64_t w = 0; w < words; w++)
        for (uint64_t left = marks[w]; left; left &= left - 1)
            s->halo[count++] = least + w * 64 + __builtin_ctzll(left);
    while (s->below < count && s->halo[s->below] < s->spread->first) s->below++;
    return YOKE_OK;
}

static yoke_status find_halo(spreading *s, int64_t nonzeros)
{
    int64_t least, end;
    uint64_t *marks;
    span_of_halo(s, nonzeros, &least, &end);
    int64_t words = end > least ? (end - least) / 64 + 1 : 0;
    YK_TRY(yk_alloc(s->context, "marks of the halo", words, sizeof *marks, &marks));
    yoke_status status = list_halo(s, nonzeros, least, words, marks);
    yk_free(s->context, marks, words, sizeof *marks);
    return status;
}

static int64_t halo_position(const spreading *s, int64_t column)
{
    int64_t low = 0, high = s->spread->halo;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (s->halo[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ----------------------------------------------------------------- columns */

static void compact_rows(void *user, int64_t first, int64_t last)
{
    const spreading *s = user;
    const yk_spread *spread = s->spread;
    int64_t end = yk_given_start(&s->given, last);
    for (int64_t k = yk_given_start(&s->given, first); k < end; k++) {
        int64_t column = yk_given_column(&s->given, k);
        if (is_own(s, column))
            column += s->below - spread->first;
        else
            column = halo_position(s, column) + (column < spread->first ? 0 : spread->rows);
        s->compact[k] = (int32_t)(column + s->given.base);
    }
}

typedef struct renumbering {
    const yk_csr *csr;
    int32_t *column;
    int32_t below, rows;
} renumbering;

/* Own columns first; those of the halo above are where they belong. */
static void renumber_rows(void *user, int64_t first, int64_t last)
{
    const renumbering *n = user;
    for (int64_t k = yk_row_start(n->csr, first); k < yk_row_start(n->csr, last); k++) {
        int32_t column = n->column[k];
        if (column < n->below)
            n->column[k] = n->rows + column;
        else if (column < n->below + n->rows)
            n->column[k] = column - n->below;
    }
}

/* The arrays that come out are the matrix's own. */
static yoke_status make_local(spreading *s, const yk_csr_facts *facts, yoke_matrix *matrix)
{
    YK_TRY(find_halo(s, facts->nonzeros));
    YK_TRY(yk_alloc(s->context, "columns", facts->nonzeros, sizeof(int32_t), &s->compact));
    yk_parallel_for(s->threads, s->given.rows, YK_ROW_GRAIN, compact_rows, s);
    yoke_csr compact = s->given;
    compact.column_type = YOKE_INT32;
    compact.column = s->compact;
    compact.ownership = YOKE_COPY;
    YK_TRY(yk_canonical_create(s->context, &compact, facts, s->threads, &matrix->csr,
                               &matrix->origin));
    matrix->given_nonzeros = facts->nonzeros;
    renumbering n = {&matrix->csr, (int32_t *)matrix->csr.column, (int32_t)s->below,
                     (int32_t)s->spread->rows};
    yk_parallel_for(s->threads, s->given.rows, YK_ROW_GRAIN, renumber_rows, &n);
    return YOKE_OK;
}

/* ------------------------------------------------------------------- lanes */

/* Which of the halo comes from whom: runs of it, as each rank's rows follow each other. */
static yoke_status find_receives(spreading *s)
{
    yk_spread *spread = s->spread;
    int64_t ranks = s->ranks;
    YK_TRY(yk_alloc(s->context, "lanes", ranks, sizeof(yk_lane), &spread->receive));
    YK_TRY(yk_alloc(s->context, "lanes", ranks, sizeof(yk_lane), &spread->send));
    YK_TRY(yk_alloc(s->context, "sizes of lanes", ranks, sizeof *s->to, &s->to));
    YK_TRY(yk_alloc(s->context, "sizes of lanes", ranks, sizeof *s->from, &s->from));
    memset(s->to, 0, (size_t)ranks * sizeof *s->to);
    for (int64_t k = 0; k < spread->halo; k++) {
        int owner = yk_spread_owner(spread, s->ranks, s->halo[k]);
        if (s->to[owner] == 0)
            spread->receive[spread->receives++] = (yk_lane){.rank = owner, .at = k};
        s->to[owner] += sizeof(int64_t);
        spread->receive[spread->receives - 1].count++;
    }
    return YOKE_OK;
}

/* How many bytes each other rank has for us, who has `to` for each. */
static yoke_status exchange_sizes(spreading *s)
{
    size_t each[(size_t)s->ranks];
    for (int r = 0; r < s->ranks; r++) each[r] = sizeof(size_t);
    return yk_ranks_exchange(s->context, s->to, each, s->from, each);
}

static int64_t asked_in_all(const spreading *s)
{
    int64_t count = 0;
    for (int r = 0; r < s->ranks; r++) count += (int64_t)(s->from[r] / sizeof(int64_t));
    return count;
}

static yoke_status make_send(spreading *s, int rank, const int64_t *asked, int64_t count)
{
    yk_spread *spread = s->spread;
    yk_lane *lane = &spread->send[spread->sends];
    YK_TRY(yk_alloc(s->context, "rows to send", count, sizeof(int32_t), &lane->row));
    *lane = (yk_lane){rank, count, spread->sent, lane->row};
    spread->sends++;
    spread->sent += count;
    for (int64_t k = 0; k < count; k++) lane->row[k] = (int32_t)(asked[k] - spread->first);
    return YOKE_OK;
}

static yoke_status make_sends(spreading *s)
{
    const int64_t *asked = s->asked;
    for (int r = 0; r < s->ranks; r++) {
        int64_t count = (int64_t)(s->from[r] / sizeof(int64_t));
        if (count > 0) YK_TRY(make_send(s, r, asked, count));
        asked += count;
    }
    return YOKE_OK;
}

/* The number in the system as given of each local column: ours, and the halo's from their owners,
 * on the lanes turned round: what is sent comes to where the halo is. */
static yoke_status number_as_given(spreading *s, const int64_t *row_of, int64_t *packed)
{
    yk_spread *spread = s->spread;
    for (int64_t i = 0; i < spread->rows; i++)
        spread->row_of[i] = row_of ? row_of[i] : spread->first + i;
    for (int l = 0; l < spread->sends; l++)
        for (int64_t k = 0; k < spread->send[l].count; k++)
            packed[spread->send[l].at + k] = spread->row_of[spread->send[l].row[k]];
    return yk_ranks_exchange(s->context, packed, s->from, spread->row_of + spread->rows, s->to);
}

static yoke_status make_lanes(spreading *s, const int64_t *row_of)
{
    const yoke_context *context = s->context;
    yk_spread *spread = s->spread;
    int64_t *packed = NULL;
    YK_TRY(exchange_sizes(s));
    int64_t count = asked_in_all(s);
    YK_TRY(yk_agree(
        context, yk_alloc(s->context, "rows that others need", count, sizeof *s->asked, &s->asked),
        0.0));
    YK_TRY(yk_ranks_exchange(context, s->halo, s->to, s->asked, s->from));
    yoke_status status = make_sends(s);
    if (status == YOKE_OK)
        status = yk_alloc(s->context, "numbers of rows", spread->rows + spread->halo,
                          sizeof(int64_t), &spread->row_of);
    if (status == YOKE_OK)
        status = yk_alloc(s->context, "numbers of rows", count, sizeof *packed, &packed);
    status = yk_agree(context, status, 0.0);
    if (status == YOKE_OK) status = number_as_given(s, row_of, packed);
    yk_free(s->context, packed, count, sizeof *packed);
    return status;
}

/* -------------------------------------------------------------------- fill */

static yoke_status begin(spreading *s, yoke_matrix *matrix)
{
    yk_spread *spread = calloc(1, sizeof *spread);
    if (!spread) return yk_fail(YOKE_NO_MEMORY, "no memory for %zu bytes", sizeof *spread);
    matrix->spread = s->spread = spread;
    YK_TRY(yk_alloc(s->context, "first rows", s->ranks + 1, sizeof(int64_t), &spread->begin));
    YK_TRY(yk_csr_check_fields(&s->given));
    if (s->given.triangle == YOKE_FULL) return YOKE_OK;
    return yk_fail(YOKE_UNSUITABLE, "over ranks yoke_csr.triangle must be YOKE_FULL");
}

static yoke_status add_nonzeros(spreading *s, const yoke_matrix *matrix)
{
    size_t mine = (size_t)matrix->csr.nonzeros;
    YK_TRY(yk_ranks_gather(s->context, &mine, sizeof mine, s->to)); /* no longer needed */
    for (int r = 0; r < s->ranks; r++) s->spread->all_nonzeros += (int64_t)s->to[r];
    return YOKE_OK;
}

static yoke_status spread_rows(spreading *s, const int64_t *row_of, yoke_matrix *matrix)
{
    yk_csr_facts facts;
    bool mean = false;
    YK_TRY(number_rows(s));
    yoke_status status = yk_csr_check_rows(&s->given, s->spread->all_rows, s->threads, &facts);
    if (status == YOKE_OK) status = make_local(s, &facts, matrix);
    if (status == YOKE_OK) status = find_receives(s);
    YK_TRY(yk_agree(s->context, status, 0.0));
    YK_TRY(make_lanes(s, row_of));
    YK_TRY(add_nonzeros(s, matrix));
    if (matrix->unsymmetric == YOKE_TRUST) return YOKE_OK;
    YK_TRY(yk_spread_symmetrise(matrix, (double *)matrix->csr.value, s->threads, &mean));
    yk_values_note(matrix, mean);
    return YOKE_OK;
}

static void end(spreading *s, int64_t nonzeros)
{
    int64_t ranks = s->ranks, halo = s->spread ? s->spread->halo : 0;
    if (s->asked) yk_free(s->context, s->asked, asked_in_all(s), sizeof *s->asked);
    yk_free(s->context, s->compact, nonzeros, sizeof *s->compact);
    yk_free(s->context, s->halo, halo, sizeof *s->halo);
    yk_free(s->context, s->to, ranks, sizeof *s->to);
    yk_free(s->context, s->from, ranks, sizeof *s->from);
}

yoke_status yk_spread_fill(yoke_matrix *matrix, const yoke_csr *given, int64_t *row_of, int threads,
                           yoke_status status)
{
    yoke_context *context = matrix->context;
    spreading s = {
        .context = context, .given = *given, .threads = threads, .ranks = context->comm->ranks};
    if (status == YOKE_OK) status = begin(&s, matrix);
    status = yk_agree(context, status, (double)matrix->unsymmetric);
    if (status == YOKE_OK) status = spread_rows(&s, row_of, matrix);
    end(&s, s.compact ? yk_given_start(given, given->rows) : 0);
    yk_free(context, row_of, given->rows, sizeof *row_of);
    return status;
}

void yk_spread_free(yoke_context *context, yk_spread *spread)
{
    if (!spread) return;
    int64_t ranks = context->comm->ranks;
    for (int l = 0; l < spread->sends; l++)
        yk_free(context, spread->send[l].row, spread->send[l].count, sizeof(int32_t));
    yk_free(context, spread->send, ranks, sizeof(yk_lane));
    yk_free(context, spread->receive, ranks, sizeof(yk_lane));
    yk_free(context, spread->begin, ranks + 1, sizeof(int64_t));
    yk_free(context, spread->row_of, spread->rows + spread->halo, sizeof(int64_t));
    free(spread);
}
