/* SPDX-License-Identifier: BSD-3-Clause */
/* json.c: rows as JSON Lines (RFC 8259, one object a line). */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/roofline.h"
#include "bench/write_rows.h"

void format_number(double value, char *text, size_t capacity)
{
    if (!isfinite(value)) {
        snprintf(text, capacity, "null");
        return;
    }
    if (fabs(value) < 1e15 && value == floor(value)) {
        snprintf(text, capacity, "%.0f", value);
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, capacity, "%.*g", digits, value);
        if (strtod(text, NULL) == value) return;
    }
}

/* RFC 3629: no surrogates, no overlong forms, nothing beyond U+10FFFF. */
int utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80) return 1;
    int length = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4) return 0;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F)) return 0;
    if ((s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F)) return 0;
    return length;
}

void write_json_text(const char *text, FILE *stream)
{
    if (!text) {
        fputs("null", stream);
        return;
    }
    fputc('"', stream);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        int length = utf8_length(s);
        if (!length)
            fputs("\\ufffd", stream);
        else if (*s == '"' || *s == '\\')
            fprintf(stream, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7f)
            fprintf(stream, "\\u%04x", (unsigned)*s);
        else
            fwrite(s, 1, (size_t)length, stream);
        s += length ? length : 1;
    }
    fputc('"', stream);
}

static void write_number(double value, FILE *stream)
{
    char text[40];
    format_number(value, text, sizeof text);
    fputs(text, stream);
}

static void write_value(const row *r, const field *f, FILE *stream)
{
    const void *at = (const char *)r + f->offset;
    if (f->kind == FIELD_TEXT)
        write_json_text(*(char *const *)at, stream);
    else if (f->kind == FIELD_NUMBER)
        write_number(*(const double *)at, stream);
    else if (*(const int64_t *)at < 0)
        fputs("null", stream);
    else
        fprintf(stream, "%" PRId64, *(const int64_t *)at);
}

static void write_fields(const row *r, FILE *stream)
{
    const char *group = NULL;
    for (int i = 0; i < row_field_count; i++) {
        const field *f = &row_fields[i];
        int same = group && f->group && !strcmp(group, f->group);
        if (group && !same) fputc('}', stream);
        if (i) fputc(',', stream);
        if (f->group && !same) fprintf(stream, "\"%s\":{", f->group);
        fprintf(stream, "\"%s\":", f->key);
        write_value(r, f, stream);
        group = f->group;
    }
    if (group) fputc('}', stream);
}

static void write_speedups(const row *r, FILE *stream)
{
    fputs(",\"speedup_vs\":{", stream);
    for (int i = 0, written = 0; i < RIVALS; i++) {
        if (!r->asked[i]) continue;
        fprintf(stream, "%s\"%s\":", written++ ? "," : "", rival_names[i]);
        write_number(r->speedup[i], stream);
    }
    fputc('}', stream);
}

/* Behind the keys that every row has. */
static void write_study(const row *r, FILE *stream)
{
    fputs(",\"configuration\":", stream);
    write_json_text(r->configuration, stream);
    fputs(",\"settings\":", stream);
    write_json_text(r->settings, stream);
    fputs(",\"reason\":", stream);
    write_json_text(r->reason, stream);
}

void write_json(const row_list *rows, FILE *stream)
{
    for (int i = 0; i < rows->count; i++) {
        const row *r = &rows->row[i];
        fputc('{', stream);
        write_fields(r, stream);
        write_speedups(r, stream);
        fputs(",\"notices\":[", stream);
        for (int k = 0; k < r->notices.count; k++) {
            if (k) fputc(',', stream);
            write_json_text(r->notices.word[k], stream);
        }
        fputc(']', stream);
        if (r->roofline) write_roofline_json(r, stream);
        if (r->configuration) write_study(r, stream);
        fputs("}\n", stream);
    }
}
