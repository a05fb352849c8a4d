/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.c: blocks of whole lines. A block can be filled while another is parsed: what they share,
 * the line begun at a block's end, is copied. */
#include "matrices/stream.h"

#include <string.h>

#include "lib/context.h"
#include "lib/status.h"

void yk_stream_begin(yk_stream *stream, yoke_context *context, yk_source *source,
                     const yoke_read_options *options, int64_t block_size)
{
    memset(stream, 0, sizeof *stream);
    stream->context = context;
    stream->source = source;
    stream->options = options;
    stream->block_size = block_size;
}

void yk_block_free(yoke_context *context, yk_block *block)
{
    if (block->capacity > 0) yk_free(context, block->text, block->capacity + YK_PADDING, 1);
    memset(block, 0, sizeof *block);
}

void yk_stream_end(yk_stream *stream)
{
    yk_block_free(stream->context, &stream->rest);
}

static yoke_status reserve(yoke_context *context, yk_block *block, int64_t capacity)
{
    if (block->capacity >= capacity) return YOKE_OK;
    char *text;
    YK_TRY(yk_alloc(context, "text of a file", capacity + YK_PADDING, 1, &text));
    if (block->length > 0) memcpy(text, block->text, (size_t)block->length);
    int64_t length = block->length;
    yk_block_free(context, block);
    block->text = text;
    block->length = length;
    block->capacity = capacity;
    return YOKE_OK;
}

/* Moves the line begun at the block's end to stream->rest. False if no line ends in the block. */
static yoke_status keep_rest(yk_stream *stream, yk_block *block, bool *whole)
{
    const char *last = memrchr(block->text, '\n', (size_t)block->length);
    *whole = last != NULL;
    if (!last) return YOKE_OK;
    int64_t length = last + 1 - block->text, rest = block->length - length;
    YK_TRY(reserve(stream->context, &stream->rest, rest));
    if (rest > 0) memcpy(stream->rest.text, last + 1, (size_t)rest);
    stream->rest.length = rest;
    block->length = length;
    return YOKE_OK;
}

/* One place of the capacity stays free for the newline that the file's end may lack. */
static yoke_status read_more(yk_stream *stream, yk_block *block, bool *ended)
{
    size_t room = (size_t)(block->capacity - 1 - block->length), got;
    YK_TRY(yk_source_read(stream->source, block->text + block->length, room, &got));
    block->length += (int64_t)got;
    *ended = got < room;
    if (*ended && block->length > 0 && block->text[block->length - 1] != '\n')
        block->text[block->length++] = '\n';
    return YOKE_OK;
}

yoke_status yk_stream_fill(yk_stream *stream, yk_block *block)
{
    int64_t rest = stream->rest.length;
    block->length = 0;
    YK_TRY(reserve(stream->context, block, rest + stream->block_size));
    if (rest > 0) memcpy(block->text, stream->rest.text, (size_t)rest);
    block->length = rest;
    stream->rest.length = 0;
    bool ended = false, whole = false;
    while (!ended && !whole) {
        if (block->length + 1 >= block->capacity)
            YK_TRY(reserve(stream->context, block, 2 * block->capacity));
        YK_TRY(read_more(stream, block, &ended));
        if (!ended) YK_TRY(keep_rest(stream, block, &whole));
    }
    memset(block->text + block->length, 0, YK_PADDING);
    return YOKE_OK;
}

void yk_stream_progress(const yk_stream *stream)
{
    const yoke_read_options *options = stream->options;
    if (options && options->progress)
        options->progress(options->progress_user, stream->source->done, stream->source->total);
}

yoke_status yk_lines_next(yk_lines *lines, const char **text)
{
    const yk_block *block = &lines->block;
    if (!lines->next || lines->next == block->text + block->length) {
        YK_TRY(yk_stream_fill(lines->stream, &lines->block));
        yk_stream_progress(lines->stream);
        lines->next = block->text;
    }
    *text = NULL;
    if (block->length == 0) return YOKE_OK;
    *text = lines->next;
    lines->line++;
    size_t left = (size_t)(block->text + block->length - lines->next);
    lines->next = (const char *)memchr(lines->next, '\n', left) + 1;
    return YOKE_OK;
}

static bool ends_word(char c)
{
    return c == ' ' || c == '\t' || c == '\0';
}

static yk_quote quote(const char *text, bool spaces)
{
    yk_quote made;
    size_t room = sizeof made.text - 4, length = 0;
    while (length < room && text[length] != '\n' && text[length] != '\r' &&
           (spaces || !ends_word(text[length]))) {
        unsigned char c = (unsigned char)text[length];
        made.text[length++] = c >= 0x20 && c < 0x7f ? (char)c : c == '\t' ? ' ' : '?';
    }
    strcpy(made.text + length, length == room ? "..." : "");
    return made;
}

yk_quote yk_quote_word(const char *text)
{
    return quote(text, false);
}

yk_quote yk_quote_line(const char *text)
{
    return quote(text, true);
}
