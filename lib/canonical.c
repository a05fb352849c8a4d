/* SPDX-License-Identifier: BSD-3-Clause */
/* canonical.c: a caller's CSR becomes full, sorted, without repeats, base 0, with 32-bit columns.
 * Input that is ordered already is used in place or copied; expand.c does the rest. */
#include "lib/canonical.h"

#include "lib/context.h"
#include "lib/expand.h"
#include "lib/status.h"
#include "lib/threads.h"

/* What is still to be written; NULL: in place already. */
typedef struct copy {
    const yoke_csr *given;
    int32_t *start32;
    int64_t *start64;
    int32_t *column;
    double *value;
} copy;

static void copy_rows(void *user, int64_t first, int64_t last)
{
    const copy *c = user;
    const yoke_csr *given = c->given;
    int64_t begin = yk_given_start(given, first), end = yk_given_start(given, last);
    /* The share that begins at 0 also writes the 0 that no row's end is. */
    for (int64_t i = first ? first + 1 : 0; c->start32 && i <= last; i++)
        c->start32[i] = (int32_t)yk_given_start(given, i);
    for (int64_t i = first ? first + 1 : 0; c->start64 && i <= last; i++)
        c->start64[i] = yk_given_start(given, i);
    for (int64_t k = begin; c->column && k < end; k++)
        c->column[k] = (int32_t)yk_given_column(given, k);
    for (int64_t k = begin; c->value && k < end; k++) c->value[k] = given->value[k];
}

static yoke_status make_start(yoke_context *context, copy *c, yk_csr *csr)
{
    int64_t count = csr->rows + 1;
    if (csr->nonzeros <= INT32_MAX) {
        YK_TRY(yk_alloc(context, "row starts", count, sizeof *c->start32, &c->start32));
        csr->start32 = c->start32;
        c->start32[0] = 0; /* also where there are no rows */
    } else {
        YK_TRY(yk_alloc(context, "row starts", count, sizeof *c->start64, &c->start64));
        csr->start64 = c->start64;
        c->start64[0] = 0;
    }
    return YOKE_OK;
}

static yoke_status make_missing(yoke_context *context, copy *c, yk_csr *csr)
{
    if (!csr->start32 && !csr->start64) YK_TRY(make_start(context, c, csr));
    if (!csr->column) {
        YK_TRY(yk_alloc(context, "columns", csr->nonzeros, sizeof *c->column, &c->column));
        csr->column = c->column;
    }
    if (!csr->value) {
        YK_TRY(yk_alloc(context, "values", csr->nonzeros, sizeof *c->value, &c->value));
        csr->value = c->value;
    }
    return YOKE_OK;
}

static void use_in_place(const yoke_csr *given, yk_csr *csr)
{
    if (given->row_start_type == YOKE_INT32)
        csr->start32 = given->row_start;
    else
        csr->start64 = given->row_start;
    if (given->column_type == YOKE_INT32) csr->column = given->column;
    csr->value = given->value;
}

yoke_status yk_canonical_create(yoke_context *context, const yoke_csr *given,
                                const yk_csr_facts *facts, int threads, yk_csr *csr,
                                yk_origin **origin)
{
    *csr = (yk_csr){.rows = given->rows, .nonzeros = facts->nonzeros};
    *origin = NULL;
    if (!facts->ordered) return yk_expand(context, given, threads, csr, origin);
    if (given->ownership != YOKE_COPY && given->base == 0) use_in_place(given, csr);
    copy c = {.given = given};
    yoke_status status = make_missing(context, &c, csr);
    if (status == YOKE_OK)
        yk_parallel_for(threads, given->rows, YK_ROW_GRAIN, copy_rows, &c);
    else {
        yk_canonical_free(context, given, csr);
        *csr = (yk_csr){.rows = given->rows};
    }
    return status;
}

static void free_ours(yoke_context *context, const void *array, const void *given, int64_t count,
                      size_t size)
{
    if (array != given) yk_free(context, (void *)array, count, size);
}

void yk_canonical_free(yoke_context *context, const yoke_csr *given, const yk_csr *csr)
{
    free_ours(context, csr->start32, given->row_start, csr->rows + 1, sizeof *csr->start32);
    free_ours(context, csr->start64, given->row_start, csr->rows + 1, sizeof *csr->start64);
    free_ours(context, csr->column, given->column, csr->nonzeros, sizeof *csr->column);
    free_ours(context, csr->value, given->value, csr->nonzeros, sizeof *csr->value);
}
