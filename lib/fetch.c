/* SPDX-License-Identifier: BSD-3-Clause */
/* fetch.c: a caller's CSR in device memory, brought to the host. */
#include "lib/fetch.h"

#include "lib/context.h"
#include "lib/csr_input.h"
#include "lib/place.h"
#include "lib/status.h"

static size_t index_size(yoke_index_type type)
{
    return type == YOKE_INT32 ? sizeof(int32_t) : sizeof(int64_t);
}

/* One array, which must be where csr.space says. The copy is made whatever follows, as its count is
 * what it is freed by. */
static yoke_status fetch(yoke_context *context, const char *what, const void *from, int64_t count,
                         size_t size, void *memory)
{
    void **out = memory;
    yk_place place;
    YK_TRY(yk_place_find(what, from, &place));
    if (!place.foreign)
        return yk_fail(YOKE_INVALID, "yoke_csr.space is YOKE_DEVICE_MEMORY, but %s is host memory",
                       what);
    YK_TRY(yk_alloc(context, what, count, size, out));
    YK_TRY(yk_place_settle(&place));
    return yk_place_copy(&place, *out, from, (size_t)count * size);
}

yoke_status yk_fetch_csr(yoke_context *context, const yoke_csr *given, int threads,
                         yk_fetched *fetched)
{
    yoke_csr *csr = &fetched->csr;
    YK_TRY(yk_csr_check_fields(given));
    *csr = *given;
    csr->space = YOKE_HOST;
    csr->ownership = YOKE_COPY;
    YK_TRY(fetch(context, "row_start", given->row_start, given->rows + 1,
                 index_size(given->row_start_type), &fetched->start));
    csr->row_start = fetched->start;
    YK_TRY(yk_csr_check_row_start(csr, threads, &fetched->nonzeros));
    if (fetched->nonzeros == 0) return YOKE_OK;
    YK_TRY(fetch(context, "column", given->column, fetched->nonzeros,
                 index_size(given->column_type), &fetched->column));
    csr->column = fetched->column;
    YK_TRY(
        fetch(context, "value", given->value, fetched->nonzeros, sizeof(double), &fetched->value));
    csr->value = fetched->value;
    return YOKE_OK;
}

void yk_fetch_free(yoke_context *context, const yk_fetched *fetched)
{
    const yoke_csr *csr = &fetched->csr;
    yk_free(context, fetched->start, csr->rows + 1, index_size(csr->row_start_type));
    yk_free(context, fetched->column, fetched->nonzeros, index_size(csr->column_type));
    yk_free(context, fetched->value, fetched->nonzeros, sizeof(double));
}
