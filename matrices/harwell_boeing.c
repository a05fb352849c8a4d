/* SPDX-License-Identifier: BSD-3-Clause */
/* harwell_boeing.c: compressed columns behind a header of four or five lines.
 * Duff, Grimes, Lewis, "Users' guide for the Harwell-Boeing sparse matrix collection", 1992, and
 * "The Rutherford-Boeing sparse matrix collection", RAL-TR-97-031, 1997. Right-hand sides, which
 * follow the values of some Harwell-Boeing files, are not read. */
#include <ctype.h>
#include <string.h>

#include "lib/context.h"
#include "lib/status.h"
#include "matrices/number.h"
#include "matrices/read.h"
#include "matrices/fortran.h"

typedef struct header {
    char type[4];     /* in upper case: "RSA" */
    int64_t cards[5]; /* lines: in all, of pointers, indices, values, right-hand sides */
    int64_t rows, columns, entries;
    yk_fortran_format pointers, indices, values;
} header;

static bool is_type(const char *text)
{
    return strchr("RIPCQ", toupper((unsigned char)text[0])) && text[0] &&
           strchr("SUHZR", toupper((unsigned char)text[1])) && text[1] &&
           strchr("AE", toupper((unsigned char)text[2])) && text[2] && yk_is_blank(text[3]);
}

bool yk_is_harwell_boeing(const yk_block *block)
{
    const char *at = block->text, *end = block->text + block->length, *second = NULL;
    for (int line = 1; line < 3 && at < end; line++) {
        at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
        if (line == 1) second = at;
    }
    return at < end && second && yk_is_digit(*yk_skip_blanks(second)) && is_type(at);
}

/* Integers separated by blanks, as many as there are up to `most`; at least `least`. */
static yoke_status take_integers(const yk_lines *lines, const char *text, int least, int most,
                                 int64_t *value)
{
    for (int i = 0; i < most; i++) {
        text = yk_skip_blanks(text);
        if (*text == '\n' && i >= least) return YOKE_OK;
        const char *word = text;
        yk_number kind = yk_parse_integer(&text, &value[i]);
        if (kind == YK_NUMBER_TOO_LARGE && *word != '-')
            return yk_fail_line(lines->stream, lines->line, YOKE_OVERFLOW,
                                "a count exceeds what an index can hold: '%s'",
                                yk_quote_word(word).text);
        if (kind != YK_NUMBER_GOOD || value[i] < 0 || !(*text == '\n' || yk_is_blank(*text)))
            return yk_fail_line(lines->stream, lines->line, YOKE_FORMAT,
                                "malformed header: found '%s', expected a count of 0 or more",
                                yk_quote_word(word).text);
    }
    return YOKE_OK;
}

static yoke_status header_line(yk_lines *lines, const char **text)
{
    YK_TRY(yk_lines_next(lines, text));
    if (*text) return YOKE_OK;
    return yk_fail_line(lines->stream, lines->line, YOKE_FORMAT, "the file ends within its header");
}

static yoke_status check_type(const yk_lines *lines, const char *type)
{
    const char *fault = NULL;
    if (type[2] == 'E') fault = "unassembled (elemental): an assembled one is expected";
    if (type[1] == 'R') fault = "rectangular: a square one is expected";
    if (type[1] == 'Z') fault = "skew-symmetric: a symmetric positive definite one is expected";
    if (type[1] == 'H') fault = "hermitian: a real one is expected";
    if (type[0] == 'C') fault = "complex: a real one is expected";
    if (type[0] == 'Q') fault = "given by an auxiliary file (type Q): values are expected";
    if (!fault) return YOKE_OK;
    return yk_fail_line(lines->stream, lines->line, YOKE_UNSUITABLE, "the matrix (%s) is %s", type,
                        fault);
}

static yoke_status read_header(yk_lines *lines, header *h)
{
    const char *text;
    memset(h, 0, sizeof *h);
    YK_TRY(header_line(lines, &text)); /* title and key */
    YK_TRY(header_line(lines, &text));
    YK_TRY(take_integers(lines, text, 3, 5, h->cards));
    YK_TRY(header_line(lines, &text));
    for (int i = 0; i < 3; i++) h->type[i] = (char)toupper((unsigned char)text[i]);
    YK_TRY(check_type(lines, h->type));
    int64_t size[4] = {0, 0, 0, 0};
    YK_TRY(take_integers(lines, text + 3, 3, 4, size));
    h->rows = size[0];
    h->columns = size[1];
    h->entries = size[2];
    YK_TRY(yk_check_sizes(lines, h->rows, h->columns));
    YK_TRY(header_line(lines, &text));
    YK_TRY(yk_fortran_format_read(lines, &text, &h->pointers));
    YK_TRY(yk_fortran_format_read(lines, &text, &h->indices));
    if (h->type[0] != 'P') YK_TRY(yk_fortran_format_read(lines, &text, &h->values));
    if (h->cards[4] > 0) YK_TRY(header_line(lines, &text)); /* of right-hand sides */
    return YOKE_OK;
}

static yoke_status read_pointers(yk_lines *lines, const header *h, int64_t *pointer)
{
    yk_fields fields = {lines, h->pointers, NULL, 0};
    for (int64_t column = 0; column <= h->columns; column++) {
        int64_t least = column == 0 ? 1 : pointer[column - 1];
        int64_t most = column == 0 ? 1 : h->entries + 1;
        if (column == h->columns) least = most;
        YK_TRY(yk_fields_integer(&fields, "column pointer", &pointer[column]));
        if (pointer[column] < least || pointer[column] > most)
            return yk_fail_line(lines->stream, lines->line, YOKE_FORMAT,
                                "column pointer %lld is %lld, expected %lld to %lld",
                                (long long)column + 1, (long long)pointer[column], (long long)least,
                                (long long)most);
    }
    return YOKE_OK;
}

/* Entries with value 1. */
static yoke_status read_indices(yk_lines *lines, const header *h, const int64_t *pointer,
                                yk_triplets *triplets)
{
    yk_fields fields = {lines, h->indices, NULL, 0};
    yk_triplet_writer writer = {.to = triplets};
    yk_triplet_begin_slice(&writer, 0);
    for (int64_t column = 0; column < h->columns; column++)
        for (int64_t i = pointer[column]; i < pointer[column + 1]; i++) {
            int64_t row;
            YK_TRY(yk_fields_integer(&fields, "row index", &row));
            if (row < 1 || row > h->rows)
                return yk_fail_line(lines->stream, lines->line, YOKE_FORMAT,
                                    "the row index is out of range: %lld, expected 1 to %lld",
                                    (long long)row, (long long)h->rows);
            if (writer.next == writer.end) YK_TRY(yk_triplets_reserve(triplets, 1, 1, 1));
            yk_triplet_put(&writer, (yk_triplet){(int32_t)(row - 1), (int32_t)column, 1.0});
        }
    yk_triplet_end_slice(&writer);
    return YOKE_OK;
}

static yoke_status read_values(yk_lines *lines, const header *h, yk_triplets *triplets)
{
    yk_fields fields = {lines, h->values, NULL, 0};
    for (int64_t p = 0; p < atomic_load(&triplets->pieces_used); p++) {
        const yk_piece *piece = &triplets->piece[p];
        for (int64_t i = 0; i < piece->count; i++)
            YK_TRY(yk_fields_real(&fields, "value", &piece->entry[i].value));
    }
    return YOKE_OK;
}

static yoke_status check_end(yk_lines *lines, const header *h)
{
    const char *text;
    if (h->cards[4] > 0) return YOKE_OK;
    do YK_TRY(yk_lines_next(lines, &text));
    while (text && *yk_skip_blanks(text) == '\n');
    if (!text) return YOKE_OK;
    return yk_fail_line(lines->stream, lines->line, YOKE_FORMAT,
                        "unexpected text after the last of %lld entries: '%s'",
                        (long long)h->entries, yk_quote_line(text).text);
}

yoke_status yk_read_harwell_boeing(yk_lines *lines, yk_found *found)
{
    header h;
    YK_TRY(read_header(lines, &h));
    yoke_context *context = lines->stream->context;
    int64_t *pointer;
    YK_TRY(yk_alloc(context, "column pointers", h.columns + 1, sizeof *pointer, &pointer));
    yoke_status status = read_pointers(lines, &h, pointer);
    if (status == YOKE_OK) status = read_indices(lines, &h, pointer, &found->triplets);
    yk_free(context, pointer, h.columns + 1, sizeof *pointer);
    YK_TRY(status);
    if (h.type[0] != 'P') YK_TRY(read_values(lines, &h, &found->triplets));
    found->rows = h.rows;
    found->symmetric = h.type[1] == 'S';
    return check_end(lines, &h);
}
