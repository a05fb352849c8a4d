/* SPDX-License-Identifier: BSD-3-Clause */
/* deal.c: who gets which rows, and the rows on their way there. */
#include "matrices/deal.h"

#include <string.h>

#include "lib/part.h"
#include "lib/spread.h"
#include "lib/status.h"
#include "lib/threads.h"

typedef struct dealing {
    yoke_context *context;
    int ranks;
    yk_hand hand;     /* rows in the order in which they leave, columns in the plan's numbering */
    bool own;         /* the hand's arrays are ours */
    int64_t *begin;   /* [ranks + 1] */
    int64_t *threads; /* [ranks] that they have */
    double *share;    /* [ranks] of all; shares: the same, or NULL where they are equal */
    const double *shares;
    int64_t contiguous_sent; /* numbers that would travel then; 0: not counted */
    int32_t *owner;          /* [all_rows], where rows are scattered; else NULL */
    int32_t *new_of;         /* [all_rows] in the plan's numbering; else NULL */
    int32_t *order;          /* [all_rows] rows rank by rank; else NULL */
    int32_t *number;         /* [hand rows] in the system as given */
    int32_t *length;         /* [hand rows] */
    int64_t *leave;          /* [ranks + 1] the hand's first row for each rank */
    int64_t *go, *come;      /* [ranks, 2] rows and entries for each, and that each sends us */
    size_t *to, *from;       /* [ranks] bytes */
    int64_t rows, entries;   /* that come */
    int32_t *their_number, *their_length, *column;
    double *value;
    int64_t *start;
} dealing;

/* ------------------------------------------------------------------- shares */

yoke_status yk_deal_find(const yoke_context *context, yk_deal_by *by)
{
    const char *deal = context->comm->deal;
    YK_TRY(yk_deal_check_shares(context));
    *by = YK_DEAL_NONZEROS;
    if (!deal || strcmp(deal, "nonzeros") == 0) return YOKE_OK;
    *by = YK_DEAL_ROWS;
    if (strcmp(deal, "rows") == 0) return YOKE_OK;
    *by = YK_DEAL_METIS;
    if (strcmp(deal, "metis") == 0)
        return context->comm->partition
                   ? YOKE_OK
                   : yk_fail(YOKE_NOT_BUILT, "rows are not dealt out by metis: "
                                             "libyoke_mpi was built without it");
    *by = YK_DEAL_FILE;
    if (strncmp(deal, "file:", 5) == 0) return YOKE_OK;
    return yk_fail(YOKE_UNKNOWN_NAME,
                   "no way to deal rows out is named '%s'; known: nonzeros, "
                   "rows, metis, file:PATH",
                   deal);
}

static double weight(const int64_t *entries, int64_t rows, int64_t unit, int64_t u, yk_deal_by by)
{
    int64_t left = rows - u * unit, of_unit = left < unit ? left : unit;
    if (by == YK_DEAL_ROWS) return (double)of_unit;
    return YK_DEAL_ROW_BYTES * (double)of_unit + YK_DEAL_ENTRY_BYTES * (double)entries[u];
}

void yk_deal_cut(const int64_t *entries, int64_t rows, int64_t unit, int ranks, yk_deal_by by,
                 const double *share, int64_t *begin)
{
    int64_t units = (rows + unit - 1) / unit, u = 0;
    double all = 0.0, before = 0.0, of_ranks = 0.0;
    for (int64_t i = 0; i < units; i++) all += weight(entries, rows, unit, i, by);
    for (int r = 0; r < ranks; r++) {
        /* the cut nearest to the share, so that no rank's lot is what rounding left */
        while (u < units) {
            double next = weight(entries, rows, unit, u, by),
                   wanted = all * (share ? of_ranks : (double)r / ranks);
            if (before + 0.5 * next >= wanted) break;
            before += next;
            u++;
        }
        begin[r] = u * unit < rows ? u * unit : rows;
        if (share) of_ranks += share[r];
    }
    begin[ranks] = rows;
}

void yk_deal_count_chunks(const yk_csr *csr, int64_t *entries)
{
    for (int64_t row = 0; row < csr->rows; row += YK_CHUNK) {
        int64_t end = row + YK_CHUNK < csr->rows ? row + YK_CHUNK : csr->rows;
        *entries++ = yk_row_start(csr, end) - yk_row_start(csr, row);
    }
}

static yoke_status cut_shares(dealing *d, yk_deal_by by)
{
    int64_t *entries = NULL, chunks = yk_chunks(d->hand.all_rows);
    bool deals = d->context->comm->rank == 0;
    yoke_status status = YOKE_OK;
    if (deals) status = yk_alloc(d->context, "chunks", chunks, sizeof *entries, &entries);
    if (deals && status == YOKE_OK) {
        yk_deal_count_chunks(&d->hand.csr, entries);
        yk_deal_cut(entries, d->hand.all_rows, YK_CHUNK, d->ranks, by, d->shares, d->begin);
    }
    yk_free(d->context, entries, chunks, sizeof *entries);
    YK_TRY(yk_agree(d->context, status, 0.0));
    return yk_ranks_broadcast(d->context, 0, d->begin, (size_t)(d->ranks + 1) * sizeof *d->begin);
}

/* -------------------------------------------------------------- a rank a row */

/* Rank by rank, in the order in which they are given. */
static void number_rows(dealing *d)
{
    memset(d->begin, 0, (size_t)(d->ranks + 1) * sizeof *d->begin);
    for (int64_t i = 0; i < d->hand.all_rows; i++) d->begin[yk_deal_owner(d->owner[i]) + 1]++;
    for (int r = 0; r < d->ranks; r++) d->begin[r + 1] += d->begin[r];
    yk_deal_number(d->owner, d->hand.all_rows, d->ranks, d->begin, d->threads, d->order, d->new_of);
}

static yoke_status cut_by_owners(dealing *d, yk_deal_by by)
{
    int64_t rows = d->hand.all_rows;
    yoke_status status = yk_alloc(d->context, "ranks of rows", rows, sizeof *d->owner, &d->owner);
    if (status == YOKE_OK)
        status = yk_alloc(d->context, "numbers of rows", rows, sizeof *d->new_of, &d->new_of);
    if (status == YOKE_OK)
        status = yk_alloc(d->context, "rows by ranks", rows, sizeof *d->order, &d->order);
    if (status == YOKE_OK && d->context->comm->rank == 0)
        status = yk_deal_find_owners(d->context, by, &d->hand.csr, rows, d->shares, d->owner,
                                     &d->contiguous_sent);
    YK_TRY(yk_agree(d->context, status, 0.0));
    YK_TRY(yk_ranks_broadcast(d->context, 0, d->owner, (size_t)rows * sizeof *d->owner));
    YK_TRY(yk_ranks_broadcast(d->context, 0, &d->contiguous_sent, sizeof d->contiguous_sent));
    int64_t mine = yk_deal_on_gpus(d->context) ? 1 : yk_threads(d->context, 0);
    YK_TRY(yk_ranks_gather(d->context, &mine, sizeof mine, d->threads));
    number_rows(d);
    return YOKE_OK;
}

/* --------------------------------------------------------------- the leaving */

static int owner_of(const dealing *d, int64_t row)
{
    int r = 0;
    if (d->owner) return yk_deal_owner(d->owner[row]);
    while (row >= d->begin[r + 1]) r++;
    return r;
}

/* How many of the hand's rows leave for each rank. */
static void count_leaving(dealing *d)
{
    memset(d->leave, 0, (size_t)(d->ranks + 1) * sizeof *d->leave);
    for (int64_t i = 0; i < d->hand.csr.rows; i++) d->leave[owner_of(d, d->hand.first + i) + 1]++;
    for (int r = 0; r < d->ranks; r++) d->leave[r + 1] += d->leave[r];
}

static yoke_status allocate_sorted(dealing *d, yk_csr *csr)
{
    int64_t *start = NULL;
    int32_t *column = NULL;
    double *value = NULL;
    csr->start32 = NULL;
    yoke_status status = yk_alloc(d->context, "row starts", csr->rows + 1, sizeof *start, &start);
    csr->start64 = start;
    if (status == YOKE_OK)
        status = yk_alloc(d->context, "columns", csr->nonzeros, sizeof *column, &column);
    csr->column = column;
    if (status == YOKE_OK)
        status = yk_alloc(d->context, "values", csr->nonzeros, sizeof *value, &value);
    csr->value = value;
    return status;
}

static void copy_row(const dealing *d, const yk_csr *from, int64_t row, const yk_csr *to,
                     int64_t place)
{
    int64_t at = to->start64[place], begin = yk_row_start(from, row);
    int64_t count = yk_row_start(from, row + 1) - begin;
    for (int64_t k = 0; k < count; k++)
        ((int32_t *)to->column)[at + k] = d->new_of[from->column[begin + k]];
    memcpy((double *)to->value + at, from->value + begin, (size_t)count * sizeof(double));
    ((int64_t *)to->start64)[place + 1] = at + count;
}

/* By a file the hand is sorted by ranks first, and its columns become the plan's. */
static yoke_status sort_hand(dealing *d)
{
    const yk_csr given = d->hand.csr;
    bool all = given.rows == d->hand.all_rows;
    int64_t *next = d->come; /* until it is asked for */
    if (!d->owner) return YOKE_OK;
    d->own = true;
    YK_TRY(allocate_sorted(d, &d->hand.csr));
    for (int r = 0; r < d->ranks; r++) next[r] = d->leave[r];
    for (int64_t i = 0; i < given.rows; i++) {
        int64_t row = d->hand.first + i; /* a hand of all rows has them as the plan numbers them */
        int64_t place = all ? d->new_of[row] : next[owner_of(d, row)]++;
        d->number[place] = (int32_t)row;
    }
    ((int64_t *)d->hand.csr.start64)[0] = 0;
    for (int64_t i = 0; i < given.rows; i++)
        copy_row(d, &given, d->number[i] - d->hand.first, &d->hand.csr, i);
    return YOKE_OK;
}

static yoke_status pack(dealing *d)
{
    const yk_csr *csr = &d->hand.csr;
    YK_TRY(yk_alloc(d->context, "numbers of rows", csr->rows, sizeof *d->number, &d->number));
    YK_TRY(yk_alloc(d->context, "lengths of rows", csr->rows, sizeof *d->length, &d->length));
    count_leaving(d);
    for (int64_t i = 0; i < csr->rows; i++) d->number[i] = (int32_t)(d->hand.first + i);
    YK_TRY(sort_hand(d));
    for (int64_t i = 0; i < csr->rows; i++)
        d->length[i] = (int32_t)(yk_row_start(csr, i + 1) - yk_row_start(csr, i));
    return YOKE_OK;
}

/* --------------------------------------------------------------- the exchange */

/* Rows and entries that come from each rank. */
static yoke_status exchange_counts(dealing *d)
{
    const yk_csr *csr = &d->hand.csr;
    int64_t *go = d->go;
    size_t *each = d->to; /* until they are asked for */
    for (int r = 0; r < d->ranks; r++) {
        go[2 * r] = d->leave[r + 1] - d->leave[r];
        go[2 * r + 1] =
            csr->rows ? yk_row_start(csr, d->leave[r + 1]) - yk_row_start(csr, d->leave[r]) : 0;
        each[r] = sizeof(int64_t[2]);
    }
    YK_TRY(yk_ranks_exchange(d->context, go, each, d->come, each));
    for (int r = 0; r < d->ranks; r++) {
        d->rows += d->come[2 * r];
        d->entries += d->come[2 * r + 1];
    }
    return YOKE_OK;
}

static yoke_status allocate_coming(dealing *d)
{
    yoke_context *context = d->context;
    YK_TRY(yk_alloc(context, "numbers of rows", d->rows, sizeof(int32_t), &d->their_number));
    YK_TRY(yk_alloc(context, "lengths of rows", d->rows, sizeof(int32_t), &d->their_length));
    YK_TRY(yk_alloc(context, "row starts", d->rows + 1, sizeof *d->start, &d->start));
    YK_TRY(yk_alloc(context, "columns", d->entries, sizeof *d->column, &d->column));
    return yk_alloc(context, "values", d->entries, sizeof *d->value, &d->value);
}

/* Items a row, or an entry where of_entries. */
static yoke_status exchange(dealing *d, const void *send, void *receive, bool of_entries,
                            size_t size)
{
    const yk_csr *csr = &d->hand.csr;
    for (int r = 0; r < d->ranks; r++) {
        int64_t first = d->leave[r], last = d->leave[r + 1], go = last - first;
        if (of_entries && csr->rows > 0) go = yk_row_start(csr, last) - yk_row_start(csr, first);
        d->to[r] = (size_t)go * size;
        d->from[r] = (size_t)d->come[2 * r + of_entries] * size;
    }
    return yk_ranks_exchange(d->context, send, d->to, receive, d->from);
}

static yoke_status exchange_rows(dealing *d)
{
    const yk_csr *csr = &d->hand.csr;
    YK_TRY(exchange(d, d->number, d->their_number, false, sizeof *d->number));
    YK_TRY(exchange(d, d->length, d->their_length, false, sizeof *d->length));
    YK_TRY(exchange(d, csr->column, d->column, true, sizeof *d->column));
    YK_TRY(exchange(d, csr->value, d->value, true, sizeof *d->value));
    d->start[0] = 0;
    for (int64_t i = 0; i < d->rows; i++) d->start[i + 1] = d->start[i] + d->their_length[i];
    return YOKE_OK;
}

/* ---------------------------------------------------------------------- deal */

static yoke_status begin(dealing *d, yk_deal_by *by)
{
    int64_t ranks = d->ranks;
    YK_TRY(yk_deal_find(d->context, by));
    YK_TRY(yk_alloc(d->context, "shares", ranks, sizeof *d->share, &d->share));
    YK_TRY(yk_alloc(d->context, "threads of ranks", ranks, sizeof *d->threads, &d->threads));
    YK_TRY(yk_alloc(d->context, "first rows", ranks + 1, sizeof *d->begin, &d->begin));
    YK_TRY(yk_alloc(d->context, "first rows", ranks + 1, sizeof *d->leave, &d->leave));
    YK_TRY(yk_alloc(d->context, "rows to go", 2 * ranks, sizeof *d->go, &d->go));
    YK_TRY(yk_alloc(d->context, "rows to come", 2 * ranks, sizeof *d->come, &d->come));
    YK_TRY(yk_alloc(d->context, "sizes", ranks, sizeof *d->to, &d->to));
    return yk_alloc(d->context, "sizes", ranks, sizeof *d->from, &d->from);
}

static yoke_status tell_all(dealing *d)
{
    int64_t told[3] = {d->hand.all_rows, d->hand.base, d->hand.trusted};
    YK_TRY(yk_ranks_broadcast(d->context, 0, told, sizeof told));
    d->hand.all_rows = told[0];
    d->hand.base = (int)told[1];
    d->hand.trusted = told[2] != 0;
    return YOKE_OK;
}

/* A file's are the file's. */
static yoke_status find_shares(dealing *d, yk_deal_by by)
{
    bool equal = true;
    if (by != YK_DEAL_FILE) YK_TRY(yk_deal_find_shares(d->context, d->share, &equal));
    d->shares = equal ? NULL : d->share;
    return YOKE_OK;
}

static yoke_status deal(dealing *d, yk_deal_by by)
{
    YK_TRY(tell_all(d));
    YK_TRY(find_shares(d, by));
    YK_TRY(yk_deal_scatters(by) ? cut_by_owners(d, by) : cut_shares(d, by));
    YK_TRY(yk_agree(d->context, pack(d), 0.0));
    YK_TRY(exchange_counts(d));
    YK_TRY(yk_agree(d->context, allocate_coming(d), 0.0));
    return exchange_rows(d);
}

/* What came, as rows of this rank. */
static yoke_status make(dealing *d, yoke_matrix **matrix)
{
    yoke_csr csr = yoke_csr_defaults();
    int64_t *row_of = NULL;
    csr.rows = d->rows;
    csr.row_start = d->start;
    csr.row_start_type = YOKE_INT64;
    csr.column = d->column;
    csr.value = d->value;
    csr.unsorted = csr.repeated = YOKE_TRUST;
    csr.unsymmetric = YOKE_TRUST; /* it was asked, if it was to be, when it was whole */
    yoke_status status = yk_alloc(d->context, "numbers of rows", d->rows, sizeof *row_of, &row_of);
    for (int64_t i = 0; status == YOKE_OK && i < d->rows; i++) row_of[i] = d->their_number[i];
    YK_TRY(yk_matrix_spread(d->context, &csr, row_of, status, matrix));
    (*matrix)->given.base = d->hand.base;
    (*matrix)->spread->contiguous_sent = d->contiguous_sent;
    (*matrix)->spread->due = d->shares ? d->shares[d->context->comm->rank] : 0.0;
    (*matrix)->unsymmetric = d->hand.trusted ? YOKE_TRUST : YOKE_REFUSE;
    return YOKE_OK;
}

static void end(dealing *d)
{
    yoke_context *context = d->context;
    const yk_csr *csr = &d->hand.csr;
    int64_t all = d->hand.all_rows, ranks = d->ranks;
    if (d->own) {
        yk_free(context, (void *)csr->start64, csr->rows + 1, sizeof(int64_t));
        yk_free(context, (void *)csr->column, csr->nonzeros, sizeof(int32_t));
        yk_free(context, (void *)csr->value, csr->nonzeros, sizeof(double));
    }
    yk_free(context, d->share, ranks, sizeof *d->share);
    yk_free(context, d->threads, ranks, sizeof *d->threads);
    yk_free(context, d->begin, ranks + 1, sizeof *d->begin);
    yk_free(context, d->leave, ranks + 1, sizeof *d->leave);
    yk_free(context, d->go, 2 * ranks, sizeof *d->go);
    yk_free(context, d->come, 2 * ranks, sizeof *d->come);
    yk_free(context, d->to, ranks, sizeof *d->to);
    yk_free(context, d->from, ranks, sizeof *d->from);
    yk_free(context, d->owner, all, sizeof *d->owner);
    yk_free(context, d->new_of, all, sizeof *d->new_of);
    yk_free(context, d->order, all, sizeof *d->order);
    yk_free(context, d->number, csr->rows, sizeof *d->number);
    yk_free(context, d->length, csr->rows, sizeof *d->length);
    yk_free(context, d->their_number, d->rows, sizeof(int32_t));
    yk_free(context, d->their_length, d->rows, sizeof(int32_t));
    yk_free(context, d->start, d->rows + 1, sizeof *d->start);
    yk_free(context, d->column, d->entries, sizeof *d->column);
    yk_free(context, d->value, d->entries, sizeof *d->value);
}

yoke_status yk_deal(yoke_context *context, const yk_hand *hand, yoke_status status,
                    yoke_matrix **matrix)
{
    dealing d = {.context = context, .ranks = context->comm->ranks, .hand = *hand};
    yk_deal_by by = YK_DEAL_NONZEROS;
    if (status == YOKE_OK) status = begin(&d, &by);
    status = yk_agree(context, status, yk_deal_mark(context, by));
    if (status == YOKE_OK) status = deal(&d, by);
    if (status == YOKE_OK) status = make(&d, matrix);
    end(&d);
    return status;
}
