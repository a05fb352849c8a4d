/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.h: a source cut into large blocks of whole lines, or read line by line. */
#ifndef YK_STREAM_H
#define YK_STREAM_H

#include <yoke_io.h>

#include "matrices/source.h"

/* Readable zeros behind a block's text: number.h loads 8 bytes at once. */
enum { YK_PADDING = 16 };

/* Whole lines: text[length - 1] is '\n', added where the file's last line has none. */
typedef struct yk_block {
    char *text;
    int64_t length;
    int64_t capacity; /* of text, without the padding; 0: not made yet */
} yk_block;

typedef struct yk_stream {
    yoke_context *context;
    yk_source *source;
    const yoke_read_options *options; /* for progress */
    int64_t block_size;
    yk_block rest; /* the begun line behind the last block */
} yk_stream;

void yk_stream_begin(yk_stream *stream, yoke_context *context, yk_source *source,
                     const yoke_read_options *options, int64_t block_size);
void yk_stream_end(yk_stream *stream);

/* The next lines, into a block that was all zero before its first use; length 0 at the end. A line
 * longer than the block makes the block grow. */
yoke_status yk_stream_fill(yk_stream *stream, yk_block *block);
void yk_block_free(yoke_context *context, yk_block *block);

/* Tells the caller how far the file is read; from the calling thread only. */
void yk_stream_progress(const yk_stream *stream);

/* Line by line. */
typedef struct yk_lines {
    yk_stream *stream;
    yk_block block;
    const char *next; /* the first line not given out yet */
    int64_t line;     /* number of the line last given out, from 1 */
} yk_lines;

/* The next line, which ends at '\n', or NULL at the end. Valid until the next call. */
yoke_status yk_lines_next(yk_lines *lines, const char **text);

/* Fails with "NAME:LINE: " before the sentence. */
#define yk_fail_line(stream, line, status, format, ...)                                            \
    yk_fail(status, "%s:%lld: " format, (stream)->source->name, (long long)(line), ##__VA_ARGS__)

/* The start of a text up to white space, or up to the line's end, fit to be quoted in a one-line
 * error: short, printable. */
typedef struct yk_quote {
    char text[48];
} yk_quote;
yk_quote yk_quote_word(const char *text);
yk_quote yk_quote_line(const char *text);

#endif
