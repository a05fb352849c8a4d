/* SPDX-License-Identifier: BSD-3-Clause */
/* entries.c: the entries of a coordinate file. A block of lines is cut into slices which threads
 * parse while the next block is read. A thread that meets a line it cannot parse only notes where;
 * the calling thread then takes the first such line and says what is wrong with it. */
#include "matrices/entries.h"

#include <math.h>
#include <string.h>

#include "lib/context.h"
#include "lib/status.h"
#include "lib/threads.h"
#include "matrices/number.h"

enum {
    SLICE = 1 << 16,   /* bytes, about */
    MOST_SLICES = 512, /* of a block */
    LEAST_ENTRY = 4    /* bytes: "1 1\n" */
};

typedef struct slice {
    const char *begin, *end;
    int64_t lines, entries; /* before the fault, if there is one */
    const char *fault;      /* a line that is no entry, or NULL */
} slice;

typedef struct body {
    const yk_entries *expected;
    yk_stream *stream;
    yk_triplets *triplets;
    yk_triplet_writer *writer; /* [threads] */
    int64_t line;              /* lines before the block */
    int64_t entries;           /* before the block */
    int64_t slices_before;
    int slices;
    slice slice[MOST_SLICES];
} body;

/* ------------------------------------------------------------ one line */

/* An index of 8 digits or more, perhaps with leading zeros, or of none; most < 10^18. */
static __attribute__((noinline)) const char *parse_long_index(const char *text, uint64_t *value)
{
    while (*text == '0') text++;
    const char *first = text;
    for (*value = 0; yk_is_digit(*text); text++) *value = *value * 10 + (uint64_t)(*text - '0');
    if (text - first > 18) *value = UINT64_MAX;
    return text;
}

/* An index of 1 to most, with its end; NULL: something else. */
static inline const char *parse_index(const char *text, int64_t most, int32_t *index)
{
    uint64_t value;
    if (*text == '+') text++;
    int count = yk_short_number(text, &value);
    text = count - 1u < 7u ? text + count : parse_long_index(text, &value);
    *index = (int32_t)(value - 1);
    return value - 1 < (uint64_t)most ? text : NULL;
}

static bool fits_field(yk_field field, double value)
{
    return field != YK_INTEGER || value == rint(value);
}

/* The entry on the line that begins at text; returns what is behind it, or NULL. */
static inline const char *parse_entry(const yk_entries *expected, const char *text,
                                      yk_triplet *entry)
{
    text = parse_index(text, expected->rows, &entry->row);
    if (!text || !yk_is_blank(*text)) return NULL;
    text = parse_index(yk_skip_blanks(text), expected->columns, &entry->column);
    if (!text) return NULL;
    entry->value = 1.0;
    if (expected->field != YK_PATTERN) {
        if (!yk_is_blank(*text)) return NULL;
        text = yk_skip_blanks(text);
        if (yk_parse_number(&text, &entry->value) != YK_NUMBER_GOOD) return NULL;
        if (!fits_field(expected->field, entry->value)) return NULL;
    }
    text = yk_skip_blanks(text);
    return *text == '\n' ? text : NULL;
}

static const char *after_line(const char *text, const char *end)
{
    return (const char *)memchr(text, '\n', (size_t)(end - text)) + 1;
}

/* Works on copies: writers and slices of several threads lie side by side in memory. */
static void parse_slice(const yk_entries *expected, slice *of_block, yk_triplet_writer *of_thread)
{
    slice s = *of_block;
    yk_triplet_writer writer = *of_thread;
    const char *line = s.begin;
    for (; line < s.end; s.lines++) {
        const char *text = yk_skip_blanks(line);
        if (*text == '\n' || *text == '%') {
            line = after_line(text, s.end);
            continue;
        }
        yk_triplet entry;
        text = parse_entry(expected, text, &entry);
        if (!text) {
            s.fault = line;
            break;
        }
        yk_triplet_put(&writer, entry);
        s.entries++;
        line = text + 1;
    }
    *of_block = s;
    *of_thread = writer;
}

/* ----------------------------------------------------- what is wrong */

/* Refuses the index at *text unless it is good; then moves behind it. */
static yoke_status explain_index(const body *b, int64_t line, const char *what, int64_t most,
                                 const char **text)
{
    int64_t value = 0;
    const char *word = yk_skip_blanks(*text);
    *text = word;
    if (*word == '\n')
        return yk_fail_line(b->stream, line, YOKE_FORMAT, "the line ends where a %s is expected",
                            what);
    yk_number kind = yk_parse_integer(text, &value);
    bool whole = **text == '\n' || yk_is_blank(**text);
    if (kind == YK_NUMBER_NONE || !whole)
        return yk_fail_line(b->stream, line, YOKE_FORMAT, "the %s is no integer: '%s'", what,
                            yk_quote_word(word).text);
    if (kind != YK_NUMBER_GOOD || value < 1 || value > most)
        return yk_fail_line(b->stream, line, YOKE_FORMAT,
                            "the %s is out of range: %s, expected 1 to %lld", what,
                            yk_quote_word(word).text, (long long)most);
    return YOKE_OK;
}

static yoke_status explain_value(const body *b, int64_t line, const char **text)
{
    double value = 0;
    const char *word = yk_skip_blanks(*text);
    *text = word;
    if (*word == '\n')
        return yk_fail_line(b->stream, line, YOKE_FORMAT,
                            "the line ends where a value is expected");
    yk_number kind = yk_parse_number(text, &value);
    const char *fault = NULL;
    if (kind == YK_NUMBER_NOT_FINITE) fault = "the value is not finite";
    if (kind == YK_NUMBER_TOO_LARGE) fault = "the value overflows a double";
    if (kind == YK_NUMBER_NONE) fault = "the value is no number";
    if (kind == YK_NUMBER_GOOD && **text != '\n' && !yk_is_blank(**text))
        fault = "the value is no number";
    if (!fault && !fits_field(b->expected->field, value))
        fault = "the value is no integer, as the banner says";
    if (!fault) return YOKE_OK;
    return yk_fail_line(b->stream, line, YOKE_FORMAT, "%s: '%s'", fault, yk_quote_word(word).text);
}

static yoke_status explain(const body *b, int64_t line, int64_t entries, const char *text)
{
    if (entries == b->expected->promised)
        return yk_fail_line(b->stream, line, YOKE_FORMAT,
                            "more than the %lld entries that the size line promises: '%s'",
                            (long long)entries, yk_quote_line(text).text);
    YK_TRY(explain_index(b, line, "row index", b->expected->rows, &text));
    YK_TRY(explain_index(b, line, "column index", b->expected->columns, &text));
    if (b->expected->field != YK_PATTERN) YK_TRY(explain_value(b, line, &text));
    return yk_fail_line(b->stream, line, YOKE_FORMAT, "unexpected text after the entry: '%s'",
                        yk_quote_line(yk_skip_blanks(text)).text);
}

/* In a slice, the line with the entry behind the first `skip` ones; lines that are none count. */
static const char *entry_behind(const slice *s, int64_t skip, int64_t *line)
{
    const char *at = s->begin;
    for (;; at = after_line(at, s->end), ++*line) {
        const char *text = yk_skip_blanks(at);
        if (*text == '\n' || *text == '%') continue;
        if (skip-- == 0) return text;
    }
}

/* The first offending line of the block, if there is one. */
static yoke_status judge_block(body *b)
{
    for (int i = 0; i < b->slices; i++) {
        const slice *s = &b->slice[i];
        int64_t allowed = b->expected->promised - b->entries;
        if (s->entries > allowed) {
            int64_t line = b->line + 1;
            const char *text = entry_behind(s, allowed, &line);
            return explain(b, line, b->expected->promised, text);
        }
        b->line += s->lines;
        b->entries += s->entries;
        if (s->fault) return explain(b, b->line + 1, b->entries, s->fault);
    }
    return YOKE_OK;
}

/* ------------------------------------------------------------ the body */

static void cut_block(body *b, const char *begin, const char *end)
{
    int64_t count = (end - begin) / SLICE + 1;
    if (count > MOST_SLICES) count = MOST_SLICES;
    int64_t size = (end - begin) / count + 1;
    b->slices = 0;
    while (begin < end) {
        const char *cut = end - begin > size ? after_line(begin + size - 1, end) : end;
        b->slice[b->slices++] = (slice){.begin = begin, .end = cut};
        begin = cut;
    }
}

static int this_thread(void);

/* Parses the slices, while the calling thread first reads the next block and then helps. */
static yoke_status parse_block(body *b, yk_block *next)
{
    yoke_status status = YOKE_OK;
    int threads = yk_team_size(b->expected->threads);
    (void)threads;
#pragma omp parallel num_threads(threads)
    {
#pragma omp master
        status = yk_stream_fill(b->stream, next);
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < b->slices; i++) {
            yk_triplet_writer *writer = &b->writer[this_thread()];
            yk_triplet_begin_slice(writer, b->slices_before + i);
            parse_slice(b->expected, &b->slice[i], writer);
            yk_triplet_end_slice(writer);
        }
    }
    b->slices_before += b->slices;
    return status;
}

#ifdef _OPENMP
#include <omp.h>
static int this_thread(void)
{
    return omp_get_thread_num();
}
#else
static int this_thread(void)
{
    return 0;
}
#endif

static yoke_status read_blocks(body *b, yk_lines *lines, yk_block *next)
{
    const char *begin = lines->next;
    while (lines->block.length > 0) {
        const char *end = lines->block.text + lines->block.length;
        cut_block(b, begin, end);
        YK_TRY(yk_triplets_reserve(b->triplets, (end - begin) / LEAST_ENTRY, b->slices,
                                   b->expected->threads));
        yoke_status reading = parse_block(b, next);
        /* A bad line stands before whatever spoils the next block. */
        YK_TRY(judge_block(b));
        if (reading != YOKE_OK) return reading;
        yk_stream_progress(b->stream);
        yk_block swap = lines->block;
        lines->block = *next;
        *next = swap;
        begin = lines->block.text;
    }
    if (b->entries < b->expected->promised)
        return yk_fail_line(b->stream, b->line, YOKE_FORMAT,
                            "the file ends after %lld entries, the size line promises %lld",
                            (long long)b->entries, (long long)b->expected->promised);
    return YOKE_OK;
}

yoke_status yk_entries_read(yk_lines *lines, const yk_entries *expected, yk_triplets *triplets)
{
    yk_stream *stream = lines->stream;
    yk_block next = {NULL, 0, 0};
    body *b;
    YK_TRY(yk_alloc(stream->context, "state of a parser", 1, sizeof *b, &b));
    memset(b, 0, offsetof(body, slice));
    b->expected = expected;
    b->stream = stream;
    b->triplets = triplets;
    b->line = lines->line;
    yoke_status status = yk_alloc(stream->context, "state of a parser", expected->threads,
                                  sizeof *b->writer, &b->writer);
    for (int t = 0; status == YOKE_OK && t < expected->threads; t++)
        b->writer[t] = (yk_triplet_writer){.to = triplets};
    if (status == YOKE_OK) status = read_blocks(b, lines, &next);
    yk_free(stream->context, b->writer, expected->threads, sizeof *b->writer);
    yk_free(stream->context, b, 1, sizeof *b);
    yk_block_free(stream->context, &next);
    return status;
}
