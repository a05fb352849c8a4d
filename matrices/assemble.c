/* SPDX-License-Identifier: BSD-3-Clause */
/* assemble.c: triplets to rows by a counting sort. Each of T threads counts and then moves a
 * contiguous share of the file, behind what earlier shares put into the row: the entries of a row
 * are in the file's order whatever T is. */
#include "matrices/assemble.h"

#include <stdatomic.h>
#include <string.h>

#include "lib/context.h"
#include "lib/prefix.h"
#include "lib/status.h"
#include "lib/threads.h"
#include "matrices/sort_rows.h"

enum { ROUNDS = 16 };

typedef struct assembly {
    yoke_context *context;
    yk_triplets *triplets;
    int64_t rows;
    bool symmetric;
    int threads;    /* of the machine */
    int64_t shares; /* of the file */
    int64_t round;
    int64_t expanded;
    uint32_t *count; /* [shares][rows]: entries; then where in its row a share puts its next one */
    int64_t *start;  /* [rows + 1] */
    int32_t *column;
    double *value;
    atomic_llong counted;
} assembly;

static int64_t pieces_of(const assembly *a)
{
    return atomic_load(&a->triplets->pieces_used);
}

static int64_t share_begin(const assembly *a, int64_t share)
{
    return pieces_of(a) * share / a->shares;
}

static void count_shares(void *user, int64_t first, int64_t last)
{
    assembly *a = user;
    for (int64_t share = first; share < last; share++) {
        uint32_t *count = a->count + share * a->rows;
        int64_t counted = 0;
        memset(count, 0, (size_t)a->rows * sizeof *count);
        for (int64_t p = share_begin(a, share); p < share_begin(a, share + 1); p++) {
            const yk_piece *piece = &a->triplets->piece[p];
            for (const yk_triplet *e = piece->entry; e < piece->entry + piece->count; e++) {
                bool mirrored = a->symmetric && e->row != e->column;
                count[e->row]++;
                if (mirrored) count[e->column]++;
                counted += 1 + mirrored;
            }
        }
        atomic_fetch_add(&a->counted, counted);
    }
}

static void offset_rows(void *user, int64_t first, int64_t last)
{
    assembly *a = user;
    for (int64_t row = first; row < last; row++) {
        uint32_t before = 0;
        for (int64_t share = 0; share < a->shares; share++) {
            uint32_t *count = &a->count[share * a->rows + row], mine = *count;
            *count = before;
            before += mine;
        }
        a->start[row] = before;
    }
}

/* The pieces of a share are moved in rounds, and what was moved is released after each. */
static int64_t round_begin(const assembly *a, int64_t share, int64_t round)
{
    int64_t begin = share_begin(a, share);
    return begin + (share_begin(a, share + 1) - begin) * round / ROUNDS;
}

static void move_piece(const assembly *a, uint32_t *next, const yk_piece *piece)
{
    for (const yk_triplet *e = piece->entry; e < piece->entry + piece->count; e++) {
        int64_t to = a->start[e->row] + next[e->row]++;
        a->column[to] = e->column;
        a->value[to] = e->value;
        if (!a->symmetric || e->row == e->column) continue;
        to = a->start[e->column] + next[e->column]++;
        a->column[to] = e->row | YK_MIRRORED;
        a->value[to] = e->value;
    }
}

static void move_shares(void *user, int64_t first, int64_t last)
{
    assembly *a = user;
    for (int64_t share = first; share < last; share++) {
        uint32_t *next = a->count + share * a->rows;
        int64_t end = round_begin(a, share, a->round + 1);
        for (int64_t p = round_begin(a, share, a->round); p < end; p++)
            move_piece(a, next, &a->triplets->piece[p]);
    }
}

static void move_and_release(assembly *a)
{
    for (a->round = 0; a->round < ROUNDS; a->round++) {
        yk_parallel_for(a->threads, a->shares, 1, move_shares, a);
        for (int64_t share = 0; share < a->shares; share++)
            yk_triplets_taken(a->triplets, round_begin(a, share, a->round),
                              round_begin(a, share, a->round + 1));
    }
    yk_triplets_free(a->triplets);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Shares, so few that their counters stay small beside the entries. */
static int64_t shares_for(const assembly *a)
{
    int64_t entries = 0;
    for (int64_t p = 0; p < pieces_of(a); p++) entries += a->triplets->piece[p].count;
    int64_t shares = least(a->threads, pieces_of(a));
    shares = least(shares, entries / 2 / (a->rows + 1));
    return shares > 1 ? shares : 1;
}

static yoke_status count_rows(assembly *a)
{
    a->shares = shares_for(a);
    YK_TRY(yk_alloc(a->context, "row counters", a->shares * a->rows, sizeof *a->count, &a->count));
    YK_TRY(yk_alloc(a->context, "row starts", a->rows + 1, sizeof *a->start, &a->start));
    yk_parallel_for(a->threads, a->shares, 1, count_shares, a);
    yk_parallel_for(a->threads, a->rows, 4096, offset_rows, a);
    yk_prefix_sum(a->threads, a->rows, a->start);
    a->expanded = a->start[a->rows];
    /* A counter that wrapped at 2^32 lost entries. */
    if (a->expanded != atomic_load(&a->counted))
        return yk_fail(YOKE_OVERFLOW, "a row is given more than 2^32 entries");
    return YOKE_OK;
}

static yoke_status move_entries(assembly *a)
{
    YK_TRY(yk_alloc(a->context, "columns", a->expanded, sizeof *a->column, &a->column));
    YK_TRY(yk_alloc(a->context, "values", a->expanded, sizeof *a->value, &a->value));
    move_and_release(a);
    yk_free(a->context, a->count, a->shares * a->rows, sizeof *a->count);
    a->count = NULL;
    return YOKE_OK;
}

typedef struct narrowing {
    const int64_t *from;
    int32_t *to;
} narrowing;

static void narrow(void *user, int64_t first, int64_t last)
{
    const narrowing *n = user;
    for (int64_t i = first; i < last; i++) n->to[i] = (int32_t)n->from[i];
}

/* Row starts in 32 bits where they fit. */
static yoke_status settle_starts(assembly *a, yk_csr *csr)
{
    if (a->expanded > INT32_MAX) {
        csr->start64 = a->start;
        a->start = NULL;
        return YOKE_OK;
    }
    narrowing n = {.from = a->start};
    YK_TRY(yk_alloc(a->context, "row starts", a->rows + 1, sizeof *n.to, &n.to));
    yk_parallel_for(a->threads, a->rows + 1, 4096, narrow, &n);
    csr->start32 = n.to;
    return YOKE_OK;
}

static yoke_status assemble(assembly *a, const char *name, yk_csr *csr)
{
    yk_triplets_order(a->triplets);
    YK_TRY(count_rows(a));
    YK_TRY(move_entries(a));
    yk_unsorted_rows rows = {a->context, a->rows, a->threads, a->start, &a->column, &a->value};
    yoke_status status = yk_sort_rows(&rows, name);
    a->expanded = a->start[a->rows]; /* of the arrays as they are now, on failure too */
    YK_TRY(status);
    YK_TRY(settle_starts(a, csr));
    csr->rows = a->rows;
    csr->nonzeros = a->expanded;
    csr->column = a->column;
    csr->value = a->value;
    a->column = NULL;
    a->value = NULL;
    return YOKE_OK;
}

yoke_status yk_assemble(yk_triplets *triplets, const char *name, int64_t rows, bool symmetric,
                        int threads, yk_csr *csr)
{
    yoke_context *context = triplets->context;
    assembly a = {.context = context,
                  .triplets = triplets,
                  .rows = rows,
                  .symmetric = symmetric,
                  .threads = threads};
    atomic_init(&a.counted, 0);
    memset(csr, 0, sizeof *csr);
    yoke_status status = assemble(&a, name, csr);
    yk_free(context, a.count, a.shares * rows, sizeof *a.count);
    yk_free(context, a.column, a.expanded, sizeof *a.column);
    yk_free(context, a.value, a.expanded, sizeof *a.value);
    yk_free(context, a.start, rows + 1, sizeof *a.start);
    return status;
}

void yk_csr_free(yoke_context *context, yk_csr *csr)
{
    yk_free(context, (void *)csr->start32, csr->rows + 1, sizeof *csr->start32);
    yk_free(context, (void *)csr->start64, csr->rows + 1, sizeof *csr->start64);
    yk_free(context, (void *)csr->column, csr->nonzeros, sizeof *csr->column);
    yk_free(context, (void *)csr->value, csr->nonzeros, sizeof *csr->value);
    memset(csr, 0, sizeof *csr);
}
