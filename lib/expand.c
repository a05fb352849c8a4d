/* SPDX-License-Identifier: BSD-3-Clause */
/* expand.c: every given entry, and the mirror image of each in a triangle, goes to its row as a
 * pair (column, where its value was given); rows are sorted by both; equal columns become one
 * entry. */
#include "lib/expand.h"

#include <stdbool.h>
#include <stdlib.h>

#include "lib/context.h"
#include "lib/csr_input.h"
#include "lib/prefix.h"
#include "lib/sort_entries.h"
#include "lib/status.h"
#include "lib/threads.h"

typedef struct expansion {
    yoke_context *context;
    const yoke_csr *given;
    int threads;
    int64_t *end;    /* [rows + 1] end of each row in entry; while filling, where it goes on */
    int64_t entries; /* mirrored ones included */
    yk_entry *entry; /* [entries] */
    int64_t *start;  /* [rows + 1] of the canonical rows */
    int64_t repeat;  /* first given entry that repeats a place */
    const yk_csr *csr;
    int32_t *start32, *column; /* being written */
    yk_origin *origin;
} expansion;

static int64_t entries_begin(const expansion *x, int64_t row)
{
    return row ? x->end[row - 1] : 0;
}

/* Rows of a triangle also receive entries from other threads' rows. The order in which they arrive
 * does not matter: sorting makes it good. */
static int64_t reserve(expansion *x, int64_t row, int64_t count)
{
    return __atomic_fetch_add(&x->end[row], count, __ATOMIC_RELAXED);
}

static void clear_rows(void *user, int64_t first, int64_t last)
{
    expansion *x = user;
    for (int64_t i = first; i < last; i++) x->end[i] = 0;
}

static void count_rows(void *user, int64_t first, int64_t last)
{
    expansion *x = user;
    for (int64_t row = first; row < last; row++) {
        int64_t k = yk_given_start(x->given, row), end = yk_given_start(x->given, row + 1);
        reserve(x, row, end - k);
        for (; x->given->triangle != YOKE_FULL && k < end; k++) {
            int64_t column = yk_given_column(x->given, k);
            if (column != row) reserve(x, column, 1);
        }
    }
}

static void fill_rows(void *user, int64_t first, int64_t last)
{
    expansion *x = user;
    bool mirror = x->given->triangle != YOKE_FULL;
    for (int64_t row = first; row < last; row++) {
        int64_t k = yk_given_start(x->given, row), end = yk_given_start(x->given, row + 1);
        yk_entry *own = x->entry + reserve(x, row, end - k);
        for (; k < end; k++) {
            int64_t column = yk_given_column(x->given, k);
            *own++ = (yk_entry){k, (int32_t)column};
            if (mirror && column != row)
                x->entry[reserve(x, column, 1)] = (yk_entry){k, (int32_t)row};
        }
    }
}

static yoke_status gather_entries(expansion *x)
{
    int64_t rows = x->given->rows;
    YK_TRY(yk_alloc(x->context, "ends of rows", rows + 1, sizeof *x->end, &x->end));
    yk_parallel_for(x->threads, rows, YK_ROW_GRAIN, clear_rows, x);
    yk_parallel_for(x->threads, rows, YK_ROW_GRAIN, count_rows, x);
    yk_prefix_sum(x->threads, rows, x->end);
    x->entries = x->end[rows];
    YK_TRY(yk_alloc(x->context, "entries to sort", x->entries, sizeof *x->entry, &x->entry));
    yk_parallel_for(x->threads, rows, YK_ROW_GRAIN, fill_rows, x);
    return YOKE_OK;
}

/* Whether a sorted entry opens a new canonical one. */
static bool opens(const expansion *x, const yk_entry *entry, int64_t k, int64_t begin)
{
    return k == begin || entry[k].column != entry[k - 1].column || x->given->repeated == YOKE_TRUST;
}

static void sort_rows(void *user, int64_t first, int64_t last)
{
    expansion *x = user;
    for (int64_t row = first; row < last; row++) {
        int64_t begin = entries_begin(x, row), end = x->end[row], length = 0;
        yk_sort_entries(x->entry + begin, end - begin);
        for (int64_t k = begin; k < end; k++) {
            if (opens(x, x->entry, k, begin))
                length++;
            else
                yk_note_first(&x->repeat, x->entry[k].source);
        }
        x->start[row] = length;
    }
}

static yoke_status order_rows(expansion *x, yk_csr *csr)
{
    YK_TRY(yk_alloc(x->context, "starts of rows", csr->rows + 1, sizeof *x->start, &x->start));
    yk_parallel_for(x->threads, csr->rows, YK_ROW_GRAIN, sort_rows, x);
    if (x->repeat != INT64_MAX && x->given->repeated == YOKE_REFUSE)
        return yk_refuse_repeat(x->given, x->repeat);
    yk_prefix_sum(x->threads, csr->rows, x->start);
    csr->nonzeros = x->start[csr->rows];
    return YOKE_OK;
}

static void write_rows(void *user, int64_t first, int64_t last)
{
    expansion *x = user;
    for (int64_t row = first; row < last; row++) {
        int64_t begin = entries_begin(x, row), out = x->start[row];
        for (int64_t k = begin; k < x->end[row]; k++) {
            x->origin->source[k] = x->entry[k].source;
            if (!opens(x, x->entry, k, begin)) continue;
            if (x->origin->group) x->origin->group[out] = k;
            x->column[out++] = x->entry[k].column;
        }
        if (x->start32) x->start32[row + 1] = (int32_t)out;
    }
}

/* Hands the starts over as they are, or makes narrow ones that write_rows fills. */
static yoke_status make_start(expansion *x, yk_csr *csr)
{
    if (csr->nonzeros > INT32_MAX) {
        csr->start64 = x->start;
        return YOKE_OK;
    }
    YK_TRY(yk_alloc(x->context, "row starts", csr->rows + 1, sizeof *x->start32, &x->start32));
    x->start32[0] = 0;
    csr->start32 = x->start32;
    return YOKE_OK;
}

static yoke_status write_pattern(expansion *x, yk_csr *csr)
{
    YK_TRY(make_start(x, csr));
    YK_TRY(yk_alloc(x->context, "columns", csr->nonzeros, sizeof *x->column, &x->column));
    csr->column = x->column;
    YK_TRY(yk_origin_create(x->context, x->entries, csr->nonzeros, &x->origin));
    if (x->origin->group) x->origin->group[csr->nonzeros] = x->entries;
    yk_parallel_for(x->threads, csr->rows, YK_ROW_GRAIN, write_rows, x);
    return YOKE_OK;
}

static yoke_status write_values(expansion *x, yk_csr *csr)
{
    double *value;
    YK_TRY(yk_alloc(x->context, "values", csr->nonzeros, sizeof *value, &value));
    csr->value = value;
    yk_origin_apply(x->origin, csr, x->threads, x->given->value, value);
    return YOKE_OK;
}

static void free_scratch(expansion *x, const yk_csr *csr)
{
    int64_t rows = x->given->rows;
    yk_free(x->context, x->entry, x->entries, sizeof *x->entry);
    yk_free(x->context, x->end, rows + 1, sizeof *x->end);
    if (csr->start64 != x->start) yk_free(x->context, x->start, rows + 1, sizeof *x->start);
}

static void free_result(expansion *x, yk_csr *csr)
{
    yk_free(x->context, (void *)csr->start32, csr->rows + 1, sizeof *csr->start32);
    yk_free(x->context, (void *)csr->start64, csr->rows + 1, sizeof *csr->start64);
    yk_free(x->context, (void *)csr->column, csr->nonzeros, sizeof *csr->column);
    yk_origin_destroy(x->context, x->origin);
    *csr = (yk_csr){.rows = csr->rows};
}

yoke_status yk_expand(yoke_context *context, const yoke_csr *given, int threads, yk_csr *csr,
                      yk_origin **origin)
{
    expansion x = {.context = context, .given = given, .threads = threads, .repeat = INT64_MAX};
    *csr = (yk_csr){.rows = given->rows};
    yoke_status status = gather_entries(&x);
    if (status == YOKE_OK) status = order_rows(&x, csr);
    if (status == YOKE_OK) status = write_pattern(&x, csr);
    free_scratch(&x, csr);
    if (status == YOKE_OK) status = write_values(&x, csr);
    if (status == YOKE_OK)
        *origin = x.origin;
    else
        free_result(&x, csr);
    return status;
}
