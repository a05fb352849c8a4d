/* SPDX-License-Identifier: BSD-3-Clause */
/* arguments.c: the numbers after a generator's name, ":200:1e-3:7", read strictly. */
#include <ctype.h>
#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/status.h"
#include "matrices/generate.h"

enum { LONGEST = 64 };

/* Squares and sums of six couplings stay finite and normal within these. */
static const double REAL_LEAST = 1e-150, REAL_MOST = 1e150;

/* strtod takes the caller's decimal comma; strtod_l with the C locale does not. */
static bool real_of(const char *text, double *real)
{
    if (strspn(text, "0123456789.eE+-") != strlen(text)) return false;
    if (!isdigit((unsigned char)*text) && *text != '.') return false;
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c) return false;
    char *end;
    *real = strtod_l(text, &end, c);
    freelocale(c);
    return end != text && !*end;
}

static bool whole_of(const char *text, uint64_t *whole)
{
    *whole = 0;
    if (!*text) return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9') return false;
        if (__builtin_mul_overflow(*whole, (uint64_t)10, whole)) return false;
        if (__builtin_add_overflow(*whole, (uint64_t)(*text - '0'), whole)) return false;
    }
    return true;
}

static yoke_status parse_size(const yk_generator *g, const yk_argument_form *form, const char *text,
                              yk_argument *argument)
{
    uint64_t whole;
    if (!whole_of(text, &whole) || whole < (uint64_t)form->least || whole > (uint64_t)form->most)
        return yk_fail(YOKE_INVALID,
                       "'%s' in %s: expected %s with an integer from %lld to %lld here", text,
                       g->name, g->form, (long long)form->least, (long long)form->most);
    argument->size = (int64_t)whole;
    return YOKE_OK;
}

static yoke_status parse_one(const yk_generator *g, const yk_argument_form *form, const char *text,
                             yk_argument *argument)
{
    switch (form->kind) {
    case YK_SIZE: return parse_size(g, form, text, argument);
    case YK_SEED:
        if (whole_of(text, &argument->seed)) return YOKE_OK;
        return yk_fail(YOKE_INVALID,
                       "'%s' in %s: expected %s with an integer from 0 to 2^64 - 1 here", text,
                       g->name, g->form);
    case YK_REAL:
        if (real_of(text, &argument->real) && argument->real >= REAL_LEAST &&
            argument->real <= REAL_MOST)
            return YOKE_OK;
        return yk_fail(YOKE_INVALID, "'%s' in %s: expected %s with a number from %g to %g here",
                       text, g->name, g->form, REAL_LEAST, REAL_MOST);
    }
    return yk_fail(YOKE_INTERNAL, "%s has an argument of kind %d", g->name, (int)form->kind);
}

yoke_status yk_parse_arguments(const yk_generator *g, const char *text, yk_argument *arguments)
{
    for (int k = 0; k < YK_ARGUMENTS && g->argument[k].kind; k++) {
        if (*text != ':')
            return yk_fail(YOKE_INVALID, "%s lacks an argument: expected %s", g->name, g->form);
        size_t length = strcspn(++text, ":");
        char word[LONGEST];
        if (length >= sizeof word)
            return yk_fail(YOKE_INVALID, "an argument of %zu characters in %s: expected %s", length,
                           g->name, g->form);
        memcpy(word, text, length);
        word[length] = '\0';
        YK_TRY(parse_one(g, &g->argument[k], word, &arguments[k]));
        text += length;
    }
    if (*text)
        return yk_fail(YOKE_INVALID, "'%.64s' is too much for %s: expected %s", text, g->name,
                       g->form);
    return YOKE_OK;
}
