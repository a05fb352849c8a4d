/* SPDX-License-Identifier: BSD-3-Clause */
/* json_check.c: recursive descent over the grammar of RFC 8259. */
#include "tests/json_check.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct reader {
    const char *at;
    char path[256]; /* of the key being read */
    char *keys;
    size_t used, capacity;
    const char *wanted; /* a key whose value is sought */
    char *found;
    size_t found_capacity;
} reader;

static int read_value(reader *r);

static void skip_blanks(reader *r)
{
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r') r->at++;
}

static int take_char(reader *r, char c)
{
    skip_blanks(r);
    if (*r->at != c) return 0;
    r->at++;
    return 1;
}

static int read_escape(reader *r)
{
    r->at++;
    if (*r->at == 'u') {
        for (int i = 1; i <= 4; i++)
            if (!isxdigit((unsigned char)r->at[i])) return 0;
        r->at += 5;
        return 1;
    }
    if (!*r->at || !strchr("\"\\/bfnrt", *r->at)) return 0;
    r->at++;
    return 1;
}

static int read_string(reader *r)
{
    if (!take_char(r, '"')) return 0;
    while (*r->at != '"') {
        if ((unsigned char)*r->at < 0x20) return 0;
        if (*r->at == '\\') {
            if (!read_escape(r)) return 0;
        } else
            r->at++;
    }
    r->at++;
    return 1;
}

static int read_digits(reader *r)
{
    const char *begin = r->at;
    while (isdigit((unsigned char)*r->at)) r->at++;
    return r->at > begin;
}

static int read_number(reader *r)
{
    if (*r->at == '-') r->at++;
    if (*r->at == '0')
        r->at++;
    else if (!read_digits(r))
        return 0;
    if (*r->at == '.') {
        r->at++;
        if (!read_digits(r)) return 0;
    }
    if (*r->at == 'e' || *r->at == 'E') {
        r->at++;
        if (*r->at == '+' || *r->at == '-') r->at++;
        return read_digits(r);
    }
    return 1;
}

static int read_word(reader *r)
{
    static const char *const known[] = {"null", "true", "false"};
    for (int i = 0; i < 3; i++)
        if (!strncmp(r->at, known[i], strlen(known[i]))) {
            r->at += strlen(known[i]);
            return 1;
        }
    return read_number(r);
}

static int note_key(reader *r, const char *key, int length, size_t outer)
{
    snprintf(r->path + outer, sizeof r->path - outer, "%s%.*s", outer ? "." : "", length, key);
    char spaced[260];
    snprintf(spaced, sizeof spaced, "%s ", r->path);
    const char *seen = r->keys;
    while ((seen = strstr(seen, spaced)))
        if (seen == r->keys || seen[-1] == ' ')
            return 0;
        else
            seen++;
    r->used += (size_t)snprintf(r->keys + r->used, r->capacity - r->used, "%s", spaced);
    return r->used < r->capacity;
}

static int read_member(reader *r)
{
    size_t outer = strlen(r->path);
    skip_blanks(r);
    const char *key = r->at + 1;
    if (!read_string(r)) return 0;
    if (!note_key(r, key, (int)(r->at - 1 - key), outer)) return 0;
    if (!take_char(r, ':')) return 0;
    skip_blanks(r);
    const char *value = r->at;
    if (!read_value(r)) return 0;
    if (r->wanted && !strcmp(r->path, r->wanted))
        snprintf(r->found, r->found_capacity, "%.*s", (int)(r->at - value), value);
    r->path[outer] = '\0';
    return 1;
}

static int read_members(reader *r)
{
    r->at++;
    if (take_char(r, '}')) return 1;
    do
        if (!read_member(r)) return 0;
    while (take_char(r, ','));
    return take_char(r, '}');
}

/* The k-th value is known as "outer.k". */
static int read_array(reader *r)
{
    size_t outer = strlen(r->path);
    r->at++;
    if (take_char(r, ']')) return 1;
    int k = 0;
    do {
        snprintf(r->path + outer, sizeof r->path - outer, ".%d", k++);
        if (!read_value(r)) return 0;
        r->path[outer] = '\0';
    } while (take_char(r, ','));
    return take_char(r, ']');
}

static int read_value(reader *r)
{
    skip_blanks(r);
    if (*r->at == '{') return read_members(r);
    if (*r->at == '[') return read_array(r);
    if (*r->at == '"') return read_string(r);
    return read_word(r);
}

int json_object(const char *text, char *keys, size_t capacity)
{
    reader r = {.at = text, .keys = keys, .capacity = capacity};
    keys[0] = '\0';
    if (*text != '{' || !read_value(&r)) return 0;
    skip_blanks(&r);
    return *r.at == '\0';
}

const char *json_value(const char *text, const char *key)
{
    static char found[4096], keys[1 << 15];
    reader r = {.at = text,
                .keys = keys,
                .capacity = sizeof keys,
                .wanted = key,
                .found = found,
                .found_capacity = sizeof found};
    found[0] = keys[0] = '\0';
    read_value(&r);
    return found;
}
