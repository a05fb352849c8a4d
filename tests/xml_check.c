/* SPDX-License-Identifier: BSD-3-Clause */
/* xml_check.c: the part of XML 1.0 that drawings use: elements, attributes, five entities. */
#include "tests/xml_check.h"

#include <string.h>

enum { DEPTH = 32, NAME = 32, ATTRIBUTES = 24 };

typedef struct reader {
    const char *at;
    char open[DEPTH][NAME];
    int depth, elements;
} reader;

static const char name_letters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_:";

static int read_name(reader *r, char *name)
{
    size_t length = strspn(r->at, name_letters);
    if (!length || length >= NAME) return 0;
    memcpy(name, r->at, length);
    name[length] = '\0';
    r->at += length;
    return 1;
}

static int is_entity(const char *at)
{
    static const char *const known[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&apos;"};
    for (int i = 0; i < 5; i++)
        if (!strncmp(at, known[i], strlen(known[i]))) return 1;
    return 0;
}

static int read_value(reader *r)
{
    if (*r->at++ != '"') return 0;
    for (; *r->at && *r->at != '"'; r->at++)
        if (*r->at == '<' || (*r->at == '&' && !is_entity(r->at))) return 0;
    return *r->at++ == '"';
}

static int read_attributes(reader *r)
{
    char seen[ATTRIBUTES][NAME];
    int count = 0;
    for (;;) {
        size_t blanks = strspn(r->at, " \n");
        r->at += blanks;
        if (*r->at == '>' || *r->at == '/') return 1;
        if (!blanks || count == ATTRIBUTES || !read_name(r, seen[count])) return 0;
        for (int i = 0; i < count; i++)
            if (!strcmp(seen[i], seen[count])) return 0;
        count++;
        if (*r->at++ != '=' || !read_value(r)) return 0;
    }
}

static int read_end(reader *r)
{
    char name[NAME];
    r->at += 2;
    return read_name(r, name) && *r->at++ == '>' && r->depth > 0 &&
           !strcmp(r->open[--r->depth], name);
}

static int read_tag(reader *r)
{
    if (r->at[1] == '/') return read_end(r);
    r->at++;
    if (r->depth == DEPTH || (!r->depth && r->elements) || !read_name(r, r->open[r->depth]))
        return 0;
    r->depth++;
    r->elements++;
    if (!read_attributes(r)) return 0;
    if (*r->at == '/') {
        r->at++;
        r->depth--;
    }
    return *r->at++ == '>';
}

static int read_character(reader *r)
{
    unsigned char c = (unsigned char)*r->at;
    if (c == '&' && !is_entity(r->at)) return 0;
    if ((c < 0x20 && c != '\n') || (!r->depth && c != '\n')) return 0;
    r->at++;
    return 1;
}

const char *xml_fault(const char *text)
{
    reader r = {.at = text};
    while (*r.at) {
        const char *before = r.at;
        if (!(*r.at == '<' ? read_tag(&r) : read_character(&r))) return before;
    }
    return r.depth || r.elements < 1 ? r.at : NULL;
}
