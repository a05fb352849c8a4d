/* SPDX-License-Identifier: BSD-3-Clause */
/* read_row.c: a row from its line of JSON. What a row holds is objects of texts and numbers, at
 * most one in another, and a list of texts; anything deeper is no row. */
#include "bench/read_row.h"

#include <stdlib.h>
#include <string.h>

#include "bench/take.h"

typedef struct reader {
    const char *at;
    row *row;
} reader;

static void skip_blanks(reader *in)
{
    in->at += strspn(in->at, " \t");
}

static int take_mark(reader *in, char mark)
{
    skip_blanks(in);
    if (*in->at != mark) return 0;
    in->at++;
    return 1;
}

/* ------------------------------------------------------------------- texts */

/* Of a code below 0x10000, which is all that write_json escapes. Returns its bytes. */
static int put_utf8(unsigned code, char *to)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xC0 | code >> 6);
        to[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    to[0] = (char)(0xE0 | code >> 12);
    to[1] = (char)(0x80 | (code >> 6 & 0x3F));
    to[2] = (char)(0x80 | (code & 0x3F));
    return 3;
}

/* Behind a backslash. Returns the bytes put, 0 if it is no escape. */
static int read_escape(reader *in, char *to)
{
    static const char from[] = "\"\\/bfnrt", plain[] = "\"\\/\b\f\n\r\t";
    const char *known = *in->at ? strchr(from, *in->at) : NULL;
    if (known) {
        in->at++;
        *to = plain[known - from];
        return 1;
    }
    char digits[5] = "", *end = digits;
    if (*in->at != 'u') return 0;
    strncpy(digits, in->at + 1, 4);
    unsigned code = (unsigned)strtoul(digits, &end, 16);
    if (end != digits + 4 || strspn(digits, "+-") || code == 0) return 0;
    in->at += 5;
    return put_utf8(code, to);
}

/* To be freed; NULL if there is no sound text. */
static char *read_text(reader *in)
{
    if (!take_mark(in, '"')) return NULL;
    char *text = take("a text", (int64_t)strlen(in->at) + 1, 1), *to = text;
    while (*in->at && *in->at != '"') {
        int put = 1;
        if ((unsigned char)*in->at < 0x20) break;
        if (*in->at == '\\') {
            in->at++;
            put = read_escape(in, to);
        } else
            *to = *in->at++;
        if (!put) break;
        to += put;
    }
    *to = '\0';
    if (*in->at == '"') {
        in->at++;
        return text;
    }
    free(text);
    return NULL;
}

/* ------------------------------------------------------------------ values */

static const field *find_field(const char *group, const char *key)
{
    for (int i = 0; i < row_field_count; i++) {
        const field *f = &row_fields[i];
        if ((f->group != NULL) != (group != NULL) || (group && strcmp(f->group, group) != 0))
            continue;
        if (!strcmp(f->key, key)) return f;
    }
    return NULL;
}

static char **text_of(row *r, const char *key)
{
    if (!strcmp(key, "configuration")) return &r->configuration;
    if (!strcmp(key, "settings")) return &r->settings;
    if (!strcmp(key, "reason")) return &r->reason;
    const field *f = find_field(NULL, key);
    return f && f->kind == FIELD_TEXT ? (char **)(void *)((char *)r + f->offset) : NULL;
}

static void keep_number(row *r, const char *group, const char *key, const char *token)
{
    const field *f = find_field(group, key);
    if (group && !strcmp(group, "speedup_vs"))
        for (int i = 0; i < RIVALS; i++)
            if (!strcmp(rival_names[i], key)) {
                r->asked[i] = 1;
                if (token) r->speedup[i] = strtod(token, NULL);
            }
    if (!f || !token) return;
    if (f->kind == FIELD_COUNT) *(int64_t *)(void *)((char *)r + f->offset) = atoll(token);
    if (f->kind == FIELD_NUMBER) *(double *)(void *)((char *)r + f->offset) = strtod(token, NULL);
}

/* A number, or null, true or false, none of which is one. */
static int read_token(reader *in, const char *group, const char *key)
{
    static const char *const names[] = {"null", "true", "false"};
    for (int i = 0; i < 3; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(in->at, names[i], length) != 0) continue;
        in->at += length;
        keep_number(in->row, group, key, NULL);
        return 1;
    }
    char *end = NULL;
    if (!strspn(in->at, "-0123456789")) return 0;
    strtod(in->at, &end);
    if (end == in->at) return 0;
    keep_number(in->row, group, key, in->at);
    in->at = end;
    return 1;
}

static int read_list(reader *in, const char *key)
{
    if (!take_mark(in, '[')) return 0;
    if (take_mark(in, ']')) return 1;
    do {
        char *text = read_text(in);
        if (!text) return 0;
        if (!strcmp(key, "notices")) words_add(&in->row->notices, text);
        free(text);
    } while (take_mark(in, ','));
    return take_mark(in, ']');
}

static int read_object(reader *in, const char *group);

static int read_value(reader *in, const char *group, const char *key)
{
    skip_blanks(in);
    if (*in->at == '{') return !group && read_object(in, key);
    if (*in->at == '[') return !group && read_list(in, key);
    if (*in->at != '"') return read_token(in, group, key);
    char *text = read_text(in), **place = group ? NULL : text_of(in->row, key);
    if (place) row_set(place, text);
    int good = text != NULL;
    free(text);
    return good;
}

static int read_object(reader *in, const char *group)
{
    if (!take_mark(in, '{')) return 0;
    if (take_mark(in, '}')) return 1;
    do {
        skip_blanks(in);
        char *key = read_text(in);
        int good = key && take_mark(in, ':') && read_value(in, group, key);
        free(key);
        if (!good) return 0;
    } while (take_mark(in, ','));
    return take_mark(in, '}');
}

int read_row(const char *line, row *r)
{
    *r = row_unknown();
    reader in = {line, r};
    if (!read_object(&in, NULL)) return 0;
    skip_blanks(&in);
    for (int i = 0; i < RIVALS; i++)
        if (r->solver && !strcmp(r->solver, rival_names[i])) r->is_rival = 1;
    return *in.at == '\0';
}
