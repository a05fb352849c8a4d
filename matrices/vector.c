/* SPDX-License-Identifier: BSD-3-Clause */
/* vector.c: a vector from a Matrix Market file (array, or coordinate with one column) or from a
 * plain list of numbers. */
#include <string.h>

#include "lib/context.h"
#include "lib/status.h"
#include "matrices/banner.h"
#include "matrices/number.h"
#include "matrices/read.h"

typedef struct vector {
    yk_lines lines;
    int64_t rows;
    double *value; /* [rows] */
} vector;

static yoke_status refuse_count(const vector *v, int64_t found, const char *what)
{
    return yk_fail_line(v->lines.stream, v->lines.line, YOKE_FORMAT,
                        "the %s has %lld numbers, the system %lld rows", what, (long long)found,
                        (long long)v->rows);
}

/* The number at *text, which must fill its word. */
static yoke_status take_number(const vector *v, const char **text, double *value)
{
    const char *word = *text, *fault = NULL;
    yk_number kind = yk_parse_number(text, value);
    if (kind == YK_NUMBER_NOT_FINITE) fault = "not finite";
    if (kind == YK_NUMBER_TOO_LARGE) fault = "beyond a double";
    if (kind == YK_NUMBER_NONE ||
        (kind == YK_NUMBER_GOOD && **text != '\n' && !yk_is_blank(**text)))
        fault = "not a number";
    if (!fault) return YOKE_OK;
    return yk_fail_line(v->lines.stream, v->lines.line, YOKE_FORMAT, "%s: '%s'", fault,
                        yk_quote_word(word).text);
}

/* All numbers that follow; comments begin with one of these characters, at any place of a line. */
static yoke_status read_list(vector *v, const char *comment)
{
    const char *text;
    int64_t found = 0;
    for (;;) {
        YK_TRY(yk_next_content(&v->lines, comment, &text));
        if (!text) break;
        while (*text != '\n' && (*text == '\0' || !strchr(comment, *text))) {
            double value;
            YK_TRY(take_number(v, &text, &value));
            if (found < v->rows) v->value[found] = value;
            found++;
            text = yk_skip_blanks(text);
        }
    }
    return found == v->rows ? YOKE_OK : refuse_count(v, found, "file");
}

static yoke_status take_row(const vector *v, const char **text, int64_t most, int64_t *row)
{
    const char *word = *text;
    yk_number kind = yk_parse_integer(text, row);
    if (kind == YK_NUMBER_GOOD && *row >= 1 && *row <= most && yk_is_blank(**text)) {
        *text = yk_skip_blanks(*text);
        return YOKE_OK;
    }
    return yk_fail_line(v->lines.stream, v->lines.line, YOKE_FORMAT,
                        "malformed entry: '%s', expected an index from 1 to %lld",
                        yk_quote_word(word).text, (long long)most);
}

/* Places that are not given are 0, places given more than once are summed. */
static yoke_status read_coordinates(vector *v, int64_t promised)
{
    const char *text;
    memset(v->value, 0, (size_t)v->rows * sizeof *v->value);
    int64_t found = 0;
    for (;; found++) {
        int64_t row, column;
        double value;
        YK_TRY(yk_next_content(&v->lines, "%", &text));
        if (!text) break;
        YK_TRY(take_row(v, &text, v->rows, &row));
        YK_TRY(take_row(v, &text, 1, &column));
        YK_TRY(take_number(v, &text, &value));
        text = yk_skip_blanks(text);
        if (*text != '\n')
            return yk_fail_line(v->lines.stream, v->lines.line, YOKE_FORMAT,
                                "unexpected text after the entry: '%s'", yk_quote_line(text).text);
        v->value[row - 1] += value;
    }
    if (found == promised) return YOKE_OK;
    return yk_fail_line(v->lines.stream, v->lines.line, YOKE_FORMAT,
                        "the file has %lld entries, its size line promises %lld", (long long)found,
                        (long long)promised);
}

static yoke_status read_market(vector *v)
{
    yk_banner banner;
    int64_t size[3] = {0, 1, 0};
    int count;
    YK_TRY(yk_banner_read(&v->lines, &banner));
    if (banner.field == YK_COMPLEX || banner.field == YK_PATTERN || banner.symmetry != YK_GENERAL)
        return yk_fail_line(v->lines.stream, banner.line, YOKE_UNSUITABLE,
                            "a vector is real or integer, and general");
    YK_TRY(yk_size_line(&v->lines, size, &count));
    bool coordinates = banner.layout == YK_COORDINATE;
    if (coordinates ? count != 3 : count != 1 && count != 2)
        return yk_fail_line(v->lines.stream, v->lines.line, YOKE_FORMAT,
                            "malformed size line: %d numbers, expected %s", count,
                            coordinates ? "3: rows, 1, entries" : "2: rows, 1");
    if (size[1] != 1)
        return yk_fail_line(v->lines.stream, v->lines.line, YOKE_UNSUITABLE,
                            "not a vector: %lld columns, expected 1", (long long)size[1]);
    if (size[0] != v->rows) return refuse_count(v, size[0], "vector");
    return coordinates ? read_coordinates(v, size[2]) : read_list(v, "%");
}

static yoke_status read_any(vector *v)
{
    yk_lines *lines = &v->lines;
    YK_TRY(yk_stream_fill(lines->stream, &lines->block));
    lines->next = lines->block.text;
    const char *text = lines->block.text;
    if (lines->block.length > 0)
        while (*text == '\n' || yk_is_blank(*text)) text++;
    bool market = lines->block.length > 0 && text[0] == '%' && text[1] == '%';
    return market ? read_market(v) : read_list(v, "#%");
}

yoke_status yk_vector_read_source(yoke_context *context, yk_source *source, int64_t rows,
                                  double *out)
{
    yk_stream stream;
    vector v = {.rows = rows};
    YK_TRY(yk_alloc(context, "a vector", rows, sizeof *v.value, &v.value));
    yk_stream_begin(&stream, context, source, NULL, yk_block_size(1));
    v.lines.stream = &stream;
    yoke_status status = read_any(&v);
    if (status == YOKE_OK) memcpy(out, v.value, (size_t)rows * sizeof *out);
    yk_block_free(context, &v.lines.block);
    yk_stream_end(&stream);
    yk_free(context, v.value, rows, sizeof *v.value);
    return status;
}

yoke_status yoke_vector_read(yoke_context *context, const char *path, int64_t rows, double *out)
{
    if (!context || !path || !out) return yk_fail(YOKE_INVALID, "context, path or out is NULL");
    if (rows < 0) return yk_fail(YOKE_INVALID, "rows is %lld", (long long)rows);
    yk_source *source;
    YK_TRY(yk_alloc(context, "a file's buffer", 1, sizeof *source, &source));
    yoke_status status = yk_source_open(source, path);
    if (status == YOKE_OK) {
        status = yk_vector_read_source(context, source, rows, out);
        yk_source_close(source);
    }
    yk_free(context, source, 1, sizeof *source);
    return status;
}
