/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran.c: what a Fortran formatted READ makes of a field (ISO/IEC 1539, edit descriptors I, F,
 * E, D, G and P). Fields may touch, so they are cut by width, never by blanks. */
#include "matrices/fortran.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lib/status.h"
#include "matrices/number.h"

enum { WIDEST = 120 };

static int take_count(const char **at, int otherwise)
{
    if (!yk_is_digit(**at)) return otherwise;
    int value = 0;
    for (; yk_is_digit(**at); ++*at)
        if (value < 100000) value = value * 10 + (**at - '0');
    return value;
}

/* "[kP[,]] [repeat] letter width [.digits [E digits]]", without blanks, all of it. */
static bool parse_format(const char *at, yk_fortran_format *format)
{
    bool negative = *at == '-';
    if (negative) at++;
    int number = take_count(&at, 1);
    format->scale = 0;
    if (*at == 'P') {
        format->scale = negative ? -number : number;
        negative = false;
        at += at[1] == ',' ? 2 : 1;
        number = take_count(&at, 1);
    }
    if (negative || *at == '\0' || !strchr("IEDFG", *at)) return false;
    format->per_line = number;
    format->kind = *at++;
    format->width = take_count(&at, 0);
    format->digits = 0;
    if (*at == '.') {
        at++;
        format->digits = take_count(&at, 0);
    }
    if (*at == 'E') {
        at++;
        take_count(&at, 0);
    }
    return *at == '\0' && format->per_line > 0 && format->per_line < 100000 && format->width > 0 &&
           format->width <= WIDEST && format->digits < 1000;
}

yoke_status yk_fortran_format_read(const yk_lines *lines, const char **text,
                                   yk_fortran_format *format)
{
    char compact[64];
    size_t length = 0;
    const char *begin = yk_skip_blanks(*text), *at = begin;
    bool open = *at == '(';
    for (at += open; open && *at != '\n' && *at != ')' && length + 1 < sizeof compact; at++)
        if (!yk_is_blank(*at)) compact[length++] = (char)toupper((unsigned char)*at);
    compact[length] = '\0';
    *text = at + 1;
    if (open && *at == ')' && parse_format(compact, format)) return YOKE_OK;
    return yk_fail_line(lines->stream, lines->line, YOKE_FORMAT,
                        "not a Fortran format that can be read: '%s', expected one like (16I5) or "
                        "(1P,4E20.12)",
                        yk_quote_line(begin).text);
}

/* The next field without its blanks, behind which there are 8 readable zeros. */
static yoke_status next_field(yk_fields *fields, const char *what, char field[WIDEST + 16])
{
    if (!fields->line || fields->used == fields->format.per_line) {
        YK_TRY(yk_lines_next(fields->lines, &fields->line));
        fields->used = 0;
    }
    if (!fields->line)
        return yk_fail_line(fields->lines->stream, fields->lines->line, YOKE_FORMAT,
                            "the file ends where a %s is expected", what);
    const char *end = memchr(fields->line, '\n', (size_t)(fields->lines->next - fields->line));
    int64_t from = (int64_t)fields->used * fields->format.width;
    size_t length = 0;
    for (int i = 0; i < fields->format.width && from + i < end - fields->line; i++) {
        char c = fields->line[from + i];
        if (!yk_is_blank(c)) field[length++] = c;
    }
    memset(field + length, 0, WIDEST + 16 - length);
    fields->used++;
    if (length > 0) return YOKE_OK;
    return yk_fail_line(fields->lines->stream, fields->lines->line, YOKE_FORMAT,
                        "blank where a %s is expected: field %d, columns %lld to %lld", what,
                        fields->used, (long long)from + 1, (long long)from + fields->format.width);
}

static yoke_status refuse(const yk_fields *fields, const char *what, const char *fault,
                          const char *field)
{
    return yk_fail_line(fields->lines->stream, fields->lines->line, YOKE_FORMAT,
                        "the %s %s: '%s' in field %d", what, fault, yk_quote_word(field).text,
                        fields->used);
}

yoke_status yk_fields_integer(yk_fields *fields, const char *what, int64_t *value)
{
    char field[WIDEST + 16];
    YK_TRY(next_field(fields, what, field));

    const char *at = field;
    if (yk_parse_integer(&at, value) == YK_NUMBER_GOOD && *at == '\0') return YOKE_OK;
    return refuse(fields, what, "is no integer", field);
}

/* Where the exponent begins, or the end: after a letter, or at a bare sign ("1.5+105"). */
static size_t find_exponent(const char *field)
{
    size_t at = strcspn(field, "eEdD");
    size_t sign = 1 + strcspn(field + 1, "+-");
    return sign < at ? sign : at;
}

/* Writes the field as C would, with the exponent that scale and missing point imply. */
static bool rewrite(const yk_fortran_format *format, const char *field, char text[WIDEST + 64])
{
    size_t mantissa = find_exponent(field);
    const char *at = field + mantissa;
    bool has_exponent = *at != '\0';
    int64_t exponent = 0;
    if (has_exponent) {
        if (*at != '+' && *at != '-') at++;
        if (yk_parse_integer(&at, &exponent) != YK_NUMBER_GOOD || *at != '\0') return false;
    }
    if (exponent > 1000000) exponent = 1000000;
    if (exponent < -1000000) exponent = -1000000;
    if (!memchr(field, '.', mantissa)) exponent -= format->digits;
    if (!has_exponent) exponent -= format->scale;
    memset(text, 0, WIDEST + 64);
    snprintf(text, WIDEST + 48, "%.*se%lld", (int)mantissa, field, (long long)exponent);
    return true;
}

yoke_status yk_fields_real(yk_fields *fields, const char *what, double *value)
{
    char field[WIDEST + 16], text[WIDEST + 64];
    YK_TRY(next_field(fields, what, field));

    const char *at = field;
    yk_number kind = yk_parse_number(&at, value);
    if (kind == YK_NUMBER_NOT_FINITE) return refuse(fields, what, "is not finite", field);
    at = text;
    if (kind == YK_NUMBER_NONE || !rewrite(&fields->format, field, text))
        return refuse(fields, what, "is no number", field);
    kind = yk_parse_number(&at, value);
    if (kind == YK_NUMBER_TOO_LARGE) return refuse(fields, what, "overflows a double", field);
    if (kind != YK_NUMBER_GOOD || *at != '\0') return refuse(fields, what, "is no number", field);
    return YOKE_OK;
}
