/* SPDX-License-Identifier: BSD-3-Clause */
/* read.c: a file of a matrix, whose format its content tells. */
#include "matrices/read.h"

#include <stdio.h>
#include <string.h>

#include "lib/context.h"
#include "lib/matrix.h"
#include "lib/status.h"
#include "lib/threads.h"
#include "matrices/assemble.h"
#include "matrices/deal.h"
#include "matrices/number.h"

int64_t yk_block_size(int threads)
{
    int64_t size = (int64_t)threads << 21;
    int64_t least = 4 << 20, most = 32 << 20;
    return size < least ? least : size > most ? most : size;
}

typedef struct foreign {
    const char *magic;
    int64_t offset;
    const char *text;
} foreign;

/* Formats that people download matrices in, but which are not unpacked here. */
static const foreign foreigners[] = {
    {"ustar", 257, "a tar archive: unpack it and name the file in it"},
    {"PK\003\004", 0, "a zip archive: unpack it and name the file in it"},
    {"BZh", 0, "compressed with bzip2: unpack it first"},
    {"\xfd"
     "7zXZ",
     0, "compressed with xz: unpack it first"},
    {"\x28\xb5\x2f\xfd", 0, "compressed with zstd: unpack it first"},
    {"\x1f\x8b", 0, "compressed with gzip twice: unpack it first"},
};

static yoke_status refuse_foreign(const yk_stream *stream, const yk_block *block)
{
    for (size_t i = 0; i < sizeof foreigners / sizeof *foreigners; i++) {
        const foreign *f = &foreigners[i];
        int64_t length = (int64_t)strlen(f->magic);
        if (block->length >= f->offset + length &&
            memcmp(block->text + f->offset, f->magic, (size_t)length) == 0)
            return yk_fail(YOKE_FORMAT, "%s: the file is %s", stream->source->name, f->text);
    }
    return YOKE_OK;
}

static const char *first_text(const yk_block *block, int64_t *line)
{
    const char *at = block->text, *end = block->text + block->length;
    for (*line = 1; at < end; at++) {
        if (*at == '\n')
            ++*line;
        else if (!yk_is_blank(*at))
            break;
    }
    return at;
}

static yoke_status read_found(yk_lines *lines, int threads, yk_found *found)
{
    const yk_block *block = &lines->block;
    YK_TRY(yk_stream_fill(lines->stream, &lines->block));
    lines->next = block->text;
    YK_TRY(refuse_foreign(lines->stream, block));
    int64_t line;
    const char *text = first_text(block, &line);
    if (text == block->text + block->length)
        return yk_fail_line(lines->stream, 1, YOKE_FORMAT,
                            "the file is empty: a Matrix Market or Harwell-Boeing file expected");
    if (*text == '%') return yk_read_matrix_market(lines, threads, found);
    if (yk_is_harwell_boeing(block)) return yk_read_harwell_boeing(lines, found);
    return yk_fail_line(lines->stream, line, YOKE_FORMAT,
                        "neither a Matrix Market banner ('%%%%MatrixMarket matrix ...') nor a "
                        "Harwell-Boeing header: found '%s'",
                        yk_quote_line(text).text);
}

/* An error of the library below, which does not know the file, with the file's name. */
static yoke_status named(const yk_source *source, yoke_status status)
{
    char text[900];
    snprintf(text, sizeof text, "%s", yoke_error_text());
    char *place = strrchr(text, '[');
    if (place && place > text) place[-1] = '\0';
    return yk_fail(status, "%s: %s", source->name, text);
}

static yoke_status make_matrix(yoke_context *context, const yk_source *source, int threads,
                               const yoke_read_options *options, yk_found *found,
                               yoke_matrix **matrix)
{
    yk_csr csr;
    yoke_status status =
        yk_assemble(&found->triplets, source->name, found->rows, found->symmetric, threads, &csr);
    if (status == YOKE_NO_MEMORY || status == YOKE_OVERFLOW) return named(source, status);
    YK_TRY(status);
    bool needs_mean = false;
    if (!found->symmetric && !options->trust_symmetry)
        status = yk_matrix_symmetrise(&csr, (double *)csr.value, threads, true, &needs_mean);
    if (status != YOKE_OK) {
        yk_csr_free(context, &csr);
        return named(source, status);
    }
    status = yk_matrix_adopt(context, &csr, matrix);
    if (status != YOKE_OK) return named(source, status);
    (*matrix)->given.base = 1; /* as the file's entries are numbered */
    return YOKE_OK;
}

yoke_status yk_matrix_read_source(yoke_context *context, yk_source *source, int64_t block_size,
                                  const yoke_read_options *options, yoke_matrix **matrix)
{
    int threads = yk_threads(context, options->threads);
    yk_stream stream;
    yk_found found = {0};
    yk_stream_begin(&stream, context, source, options, block_size);
    yk_lines lines = {.stream = &stream};
    yk_triplets_begin(&found.triplets, context);
    yoke_status status = read_found(&lines, threads, &found);
    yk_block_free(context, &lines.block);
    yk_stream_end(&stream);
    if (status == YOKE_OK) status = make_matrix(context, source, threads, options, &found, matrix);
    yk_triplets_free(&found.triplets);
    return status;
}

static yoke_status read_here(yoke_context *context, const char *path,
                             const yoke_read_options *options, yoke_matrix **matrix)
{
    yoke_read_options defaults = yoke_read_defaults();
    if (!path || !matrix) return yk_fail(YOKE_INVALID, "path or matrix is NULL");
    if (!options) options = &defaults;
    YK_TRY(yk_check_struct("yoke_read_options", options->struct_size, sizeof *options));
    if (options->threads < 0 || options->threads > 65536)
        return yk_fail(YOKE_INVALID, "threads is %d, expected 0 to 65536", options->threads);
    yk_source *source;
    YK_TRY(yk_alloc(context, "a file's buffer", 1, sizeof *source, &source));
    yoke_status status = yk_source_open(source, path);
    if (status == YOKE_OK) {
        int64_t block_size = yk_block_size(yk_threads(context, options->threads));
        status = yk_matrix_read_source(context, source, block_size, options, matrix);
        yk_source_close(source);
    }
    yk_free(context, source, 1, sizeof *source);
    return status;
}

/* Rank 0 reads, and deals out what it has. */
static yoke_status read_over_ranks(yoke_context *context, const char *path,
                                   const yoke_read_options *options, yoke_matrix **matrix)
{
    yoke_matrix *whole = NULL, *share = NULL;
    yk_hand hand = {.base = 1};
    yoke_status status = matrix ? YOKE_OK : yk_fail(YOKE_INVALID, "matrix is NULL");
    if (status == YOKE_OK && context->comm->rank == 0)
        status = read_here(context, path, options, &whole);
    if (whole) {
        hand.csr = whole->csr;
        hand.all_rows = whole->csr.rows;
        hand.trusted = whole->unsymmetric == YOKE_TRUST;
    }
    status = yk_deal(context, &hand, status, &share);
    yoke_matrix_destroy(whole);
    if (status == YOKE_OK && matrix) *matrix = share;
    return status;
}

yoke_status yoke_matrix_read(yoke_context *context, const char *path,
                             const yoke_read_options *options, yoke_matrix **matrix)
{
    if (!context) return yk_fail(YOKE_INVALID, "context is NULL");
    if (yk_over_ranks(context)) return read_over_ranks(context, path, options, matrix);
    return read_here(context, path, options, matrix);
}
