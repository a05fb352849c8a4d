/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.c: count, allocate, fill: the parallel frame of every generator. */
#include "matrices/rows.h"

#include <stdlib.h>

#include "lib/context.h"
#include "lib/machine.h"
#include "lib/matrix.h"
#include "lib/ranks.h"
#include "lib/status.h"
#include "lib/threads.h"
#include "matrices/assemble.h"

typedef struct build {
    const yk_rows *rows;
    int64_t first, count; /* rows [first, first + count) */
    int shares;
    int64_t *entries; /* [shares + 1]: first of the lengths' sums, then of the shares' starts */
    int32_t *start32; /* [count + 1]: lengths at [row - first + 1] first, then starts */
    int64_t *start64; /* [count + 1], where 32 bits cannot hold the starts */
    int32_t *column;
    double *value;
    int32_t *kept; /* [count, most_kept], NULL if nothing is kept */
} build;

yoke_status yk_rows_of_grid(int64_t nx, int64_t ny, int64_t nz, int64_t unknowns, int64_t *rows)
{
    int64_t product = nx;
    if (__builtin_mul_overflow(product, ny, &product) ||
        __builtin_mul_overflow(product, nz, &product) ||
        __builtin_mul_overflow(product, unknowns, &product) || product > INT32_MAX)
        return yk_fail(YOKE_OVERFLOW,
                       "%lld x %lld x %lld nodes of %lld unknowns are more rows than a 32-bit "
                       "index holds (%d)",
                       (long long)nx, (long long)ny, (long long)nz, (long long)unknowns, INT32_MAX);
    *rows = product;
    return YOKE_OK;
}

/* A row, as all below, counts from the first of the range. */
static int64_t share_start(const build *b, int64_t share)
{
    int64_t grains = b->count / b->rows->grain;
    return grains * share / b->shares * b->rows->grain;
}

static int32_t *kept_at(const build *b, int64_t row)
{
    return b->kept ? b->kept + row * b->rows->most_kept : NULL;
}

static void count_shares(void *user, int64_t first_share, int64_t last_share)
{
    build *b = user;
    for (int64_t s = first_share; s < last_share; s++) {
        int64_t first = share_start(b, s), last = share_start(b, s + 1), sum = 0;
        b->rows->lengths(b->rows->rule, b->first + first, b->first + last, b->start32 + first + 1,
                         kept_at(b, first));
        for (int64_t row = first; row < last; row++) sum += b->start32[row + 1];
        b->entries[s + 1] = sum;
    }
}

static void place_share(build *b, int64_t first, int64_t last, int64_t entries)
{
    for (int64_t row = first; row < last; row++) {
        entries += b->start32[row + 1];
        if (b->start64)
            b->start64[row + 1] = entries;
        else
            b->start32[row + 1] = (int32_t)entries;
    }
}

static void fill_shares(void *user, int64_t first_share, int64_t last_share)
{
    build *b = user;
    for (int64_t s = first_share; s < last_share; s++) {
        int64_t first = share_start(b, s), last = share_start(b, s + 1);
        place_share(b, first, last, b->entries[s]);
        b->rows->fill(b->rows->rule, b->first + first, b->first + last, kept_at(b, first),
                      b->column + b->entries[s], b->value + b->entries[s]);
    }
}

/* Of this range, as far as it can be told before it is counted. */
static int64_t expected(const build *b)
{
    if (b->count == b->rows->rows) return b->rows->nonzeros;
    return (int64_t)((double)b->rows->nonzeros / (double)b->rows->rows * (double)b->count);
}

static size_t bytes_of(const build *b)
{
    size_t starts = (size_t)(b->count + 1) * (expected(b) > INT32_MAX ? 12 : 4);
    size_t kept = (size_t)b->count * (size_t)b->rows->most_kept * sizeof(int32_t);
    return starts + kept + (size_t)expected(b) * (sizeof(int32_t) + sizeof(double));
}

/* All arrays together against what this process may still take: untouched memory counts nowhere,
 * so that each alone would pass, and the process be killed while filling them. */
static yoke_status check_memory(const yoke_context *context, const build *b)
{
    int64_t limit = yk_memory_limit(), available = yk_meminfo("", "MemAvailable");
    size_t bytes = bytes_of(b);
    if ((int64_t)bytes > limit)
        return yk_fail(YOKE_NO_MEMORY,
                       "a matrix of %lld rows and %lld nonzeros: asked %zu bytes, available %lld "
                       "within this process's limit",
                       (long long)b->count, (long long)expected(b), bytes, (long long)limit);
    if (available && (int64_t)bytes > available)
        yk_log(context, YOKE_LOG_NOTICE,
               "a matrix of %lld rows and %lld nonzeros takes %zu bytes; this machine has %lld "
               "available",
               (long long)b->count, (long long)expected(b), bytes, (long long)available);
    return YOKE_OK;
}

/* What the system will refuse is refused before the count touches memory for minutes. */
static yoke_status try_reservation(yoke_context *context, const build *b)
{
    void *reserved;
    YK_TRY(yk_alloc(context, "values", expected(b), sizeof(double), &reserved));
    yk_free(context, reserved, expected(b), sizeof(double));
    return YOKE_OK;
}

static yoke_status allocate_entries(yoke_context *context, build *b, int64_t nonzeros)
{
    if (nonzeros > INT32_MAX)
        YK_TRY(yk_alloc(context, "row starts", b->count + 1, sizeof *b->start64, &b->start64));
    YK_TRY(yk_alloc(context, "columns", nonzeros, sizeof *b->column, &b->column));
    return yk_alloc(context, "values", nonzeros, sizeof *b->value, &b->value);
}

static int64_t kept_count(const build *b)
{
    return b->count * b->rows->most_kept;
}

static yoke_status count(yoke_context *context, build *b, int threads)
{
    YK_TRY(yk_alloc(context, "row starts", b->count + 1, sizeof *b->start32, &b->start32));
    if (b->rows->most_kept)
        YK_TRY(yk_alloc(context, "columns found", kept_count(b), sizeof *b->kept, &b->kept));
    yk_parallel_for(threads, b->shares, 1, count_shares, b);
    for (int s = 0; s < b->shares; s++) b->entries[s + 1] += b->entries[s];
    return YOKE_OK;
}

/* Looks at nothing that counting takes; only what is filled too must fit. */
static yoke_status make(yoke_context *context, build *b, int threads)
{
    YK_TRY(check_memory(context, b));
    YK_TRY(try_reservation(context, b));
    YK_TRY(count(context, b, threads));
    YK_TRY(allocate_entries(context, b, b->entries[b->shares]));
    yk_parallel_for(threads, b->shares, 1, fill_shares, b);
    if (!b->start64) {
        b->start32[0] = 0;
        return YOKE_OK;
    }
    b->start64[0] = 0;
    yk_free(context, b->start32, b->count + 1, sizeof *b->start32);
    b->start32 = NULL;
    return YOKE_OK;
}

static yoke_status begin(yoke_context *context, const yk_rows *rows, int64_t first, int64_t last,
                         build *b)
{
    int threads = yk_threads(context, 0);
    *b = (build){.rows = rows, .first = first, .count = last - first, .shares = threads};
    b->entries = calloc((size_t)threads + 1, sizeof(int64_t));
    if (b->entries) return YOKE_OK;
    return yk_fail(YOKE_NO_MEMORY, "no memory for %d sums", threads + 1);
}

static void end(yoke_context *context, build *b)
{
    yk_free(context, b->kept, kept_count(b), sizeof *b->kept);
    free(b->entries);
}

yoke_status yk_rows_build_range(yoke_context *context, const yk_rows *rows, int64_t first,
                                int64_t last, yk_csr *csr)
{
    build b;
    *csr = (yk_csr){0};
    YK_TRY(begin(context, rows, first, last, &b));
    yoke_status status = make(context, &b, b.shares);
    *csr = (yk_csr){b.count, b.entries[b.shares], b.start32, b.start64, b.column, b.value};
    end(context, &b);
    return status;
}

yoke_status yk_rows_count(yoke_context *context, const yk_rows *rows, int64_t first, int64_t last,
                          int64_t unit, int64_t *entries)
{
    build b;
    YK_TRY(begin(context, rows, first, last, &b));
    yoke_status status = count(context, &b, b.shares);
    for (int64_t row = 0; status == YOKE_OK && row < b.count; row++)
        entries[row / unit] += b.start32[row + 1];
    yk_free(context, b.start32, b.count + 1, sizeof *b.start32);
    end(context, &b);
    return status;
}

yoke_status yk_rows_build(yoke_context *context, const yk_rows *rows, yoke_matrix **matrix)
{
    yk_csr csr;
    if (yk_over_ranks(context)) return yk_rows_build_over_ranks(context, rows, matrix);
    yoke_status status = yk_rows_build_range(context, rows, 0, rows->rows, &csr);
    if (status == YOKE_OK) return yk_matrix_adopt(context, &csr, matrix);
    yk_csr_free(context, &csr);
    return status;
}
