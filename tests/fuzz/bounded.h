/* SPDX-License-Identifier: BSD-3-Clause */
/* bounded.h: what the fuzz targets share: a context whose memory is bounded and must come back, and
 * the whole way from bytes to a matrix. */
#ifndef YK_FUZZ_BOUNDED_H
#define YK_FUZZ_BOUNDED_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/status.h"
#include "matrices/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A header may ask for millions of rows: enough for what a small file needs, and quickly refused
 * beyond. */
enum { BOUND = 24 << 20 };
static long long bounded_out;

static void *bounded_allocate(void *user, size_t alignment, size_t bytes)
{
    (void)user;
    if (bounded_out + (long long)bytes > BOUND) return NULL;
    bounded_out += (long long)bytes;
    return aligned_alloc(alignment, bytes);
}

static void bounded_release(void *user, void *memory, size_t bytes)
{
    (void)user;
    bounded_out -= (long long)bytes;
    free(memory);
}

static inline yoke_context *bounded_context(void)
{
    yoke_context_options options = yoke_context_defaults();
    yoke_context *context = NULL;
    options.allocate = bounded_allocate;
    options.release = bounded_release;
    options.threads = 1;
    if (yoke_context_create(&options, &context) != YOKE_OK) abort();
    return context;
}

/* Blocks of a few bytes, so that every seam between blocks is met, or one block for all. */
static inline int64_t bounded_block(size_t size)
{
    return size % 2 ? 48 : 1 << 16;
}

/* A refusal must say why, in one line, and only for reasons that input can give. */
static inline void expect_reason(yoke_status status)
{
    if (status == YOKE_OK) return;
    const char *text = yoke_error_text();
    if (!*text || strchr(text, '\n')) abort();
    if (status != YOKE_FORMAT && status != YOKE_UNSUITABLE && status != YOKE_OVERFLOW &&
        status != YOKE_NO_MEMORY)
        abort();
}

/* Every array of a matrix that was accepted. */
static inline void check_matrix(const yoke_matrix *matrix)
{
    yoke_csr csr = yoke_csr_defaults();
    if (yoke_matrix_view(matrix, &csr) != YOKE_OK) abort();
    const int32_t *start = csr.row_start, *column = csr.column;
    if (start[0] != 0 || start[csr.rows] != yoke_matrix_nonzeros(matrix)) abort();
    for (int64_t row = 0; row < csr.rows; row++)
        for (int32_t i = start[row]; i < start[row + 1]; i++)
            if (!isfinite(csr.value[i]) || column[i] < 0 || column[i] >= csr.rows ||
                (i > start[row] && column[i] <= column[i - 1]))
                abort();
}

static inline int read_bounded_matrix(const uint8_t *data, size_t size)
{
    static yk_source source;
    yoke_context *context = bounded_context();
    yoke_matrix *matrix = NULL;
    yoke_read_options options = yoke_read_defaults();
    yoke_status status = yk_source_open_memory(&source, "input", data, size);
    if (status == YOKE_OK)
        status = yk_matrix_read_source(context, &source, bounded_block(size), &options, &matrix);
    yk_source_close(&source);
    expect_reason(status);
    if (status == YOKE_OK) check_matrix(matrix);
    yoke_matrix_destroy(matrix);
    yoke_context_destroy(context);
    if (bounded_out != 0) abort();
    return 0;
}

#endif
