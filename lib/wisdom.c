/* SPDX-License-Identifier: BSD-3-Clause */
/* wisdom.c: the table of a context, and the signature of a matrix. */
#include "lib/wisdom.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/context.h"
#include "lib/matrix.h"
#include "lib/status.h"
#include "lib/text_file.h"
#include "lib/wisdom_table.h"

/* Guards the table of every context, and the counters in it: held for a search alone. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void yk_wisdom_hold(void)
{
    pthread_mutex_lock(&lock);
}

void yk_wisdom_release(void)
{
    pthread_mutex_unlock(&lock);
}

/* --------------------------------------------------------------- signature */

static uint64_t add(uint64_t sum, int64_t number)
{
    return yk_text_sum(sum, (const char *)&number, sizeof number);
}

uint64_t yk_matrix_signature(const yoke_matrix *matrix)
{
    enum { ROWS = 4096, COLUMNS = 16 };
    const yk_csr *csr = &matrix->csr;
    uint64_t sum = add(add(YK_SUM_BEGIN, csr->rows), csr->nonzeros);
    int64_t rows = csr->rows < ROWS ? csr->rows : ROWS;
    for (int64_t k = 0; k < rows; k++) {
        /* 128 bits would be needed for rows times k only beyond 2^51 rows */
        int64_t row = csr->rows / rows * k + csr->rows % rows * k / rows;
        int64_t first = yk_row_start(csr, row), last = yk_row_start(csr, row + 1);
        sum = add(add(sum, first), last);
        for (int64_t i = first; i < last && i < first + COLUMNS; i++)
            sum = add(sum, csr->column[i]);
    }
    return sum ? sum : 1;
}

/* ------------------------------------------------------------------- table */

static yk_wise *find(yk_wisdom *wisdom, const yk_wise *wanted)
{
    for (int i = 0; wisdom && i < wisdom->count; i++)
        if (wisdom->wise[i].signature == wanted->signature &&
            strcmp(wisdom->wise[i].asked, wanted->asked) == 0)
            return &wisdom->wise[i];
    return NULL;
}

bool yk_wisdom_find(yoke_context *context, yk_wise *wise, bool patient)
{
    yk_wisdom_hold();
    const yk_wise *known = find(context->wisdom, wise);
    bool found = known && (known->patient || !patient);
    if (found) *wise = *known;
    if (found) context->wisdom->used++;
    yk_wisdom_release();
    return found;
}

/* The oldest gives way where there are too many. */
static yk_wise *place_for(yoke_context *context, const yk_wise *wise)
{
    if (!context->wisdom) context->wisdom = calloc(1, sizeof *context->wisdom);
    yk_wisdom *w = context->wisdom;
    yk_wise *place = find(w, wise);
    if (!w || place) return place;
    if (w->count == YK_WISDOM_MOST) {
        memmove(w->wise, w->wise + 1, (YK_WISDOM_MOST - 1) * sizeof *w->wise);
        return &w->wise[YK_WISDOM_MOST - 1];
    }
    if (w->count == w->capacity) {
        int capacity = w->capacity ? 2 * w->capacity : 8;
        yk_wise *more = realloc(w->wise, (size_t)capacity * sizeof *more);
        if (!more) return NULL;
        w->wise = more;
        w->capacity = capacity;
    }
    return &w->wise[w->count++];
}

void yk_wisdom_put(yoke_context *context, const yk_wise *wise)
{
    yk_wise *place = place_for(context, wise);
    if (place) *place = *wise;
}

void yk_wisdom_remember(yoke_context *context, const yk_wise *wise)
{
    yk_wisdom_hold();
    yk_wisdom_put(context, wise);
    if (context->wisdom) context->wisdom->measured++;
    yk_wisdom_release();
}

void yk_wisdom_free(yoke_context *context)
{
    if (context->wisdom) free(context->wisdom->wise);
    free(context->wisdom);
    context->wisdom = NULL;
}

yoke_status yoke_wisdom_forget(yoke_context *context)
{
    if (!context) return yk_fail(YOKE_INVALID, "context is NULL");
    yk_wisdom_hold();
    yk_wisdom_free(context);
    yk_wisdom_release();
    return YOKE_OK;
}

yoke_status yoke_wisdom_count(const yoke_context *context, yoke_wisdom_counts *counts)
{
    if (!context || !counts)
        return yk_fail(YOKE_INVALID, "%s is NULL", context ? "counts" : "context");
    yk_wisdom_hold();
    const yk_wisdom *w = context->wisdom;
    *counts =
        w ? (yoke_wisdom_counts){w->count, w->used, w->measured} : (yoke_wisdom_counts){0, 0, 0};
    yk_wisdom_release();
    return YOKE_OK;
}
