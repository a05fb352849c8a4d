/* SPDX-License-Identifier: BSD-3-Clause */
/* wisdom_text.c: wisdom as text and back. Words that say of what machine and library it is, a line
 * a plan, and an end with the sum of all before it, as in a profile. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/context.h"
#include "lib/profile.h"
#include "lib/status.h"
#include "lib/text_file.h"
#include "lib/wisdom_table.h"

enum { VERSION = 1, MOST_BYTES = 2 << 20 };

typedef struct reader {
    yk_text text;
    yk_wisdom_text *wisdom;
    yk_profile_key key;
    char library[32];
    bool ended;
    int capacity;
} reader;

static yoke_status bad(const reader *r, const char *what)
{
    return yk_fail(YOKE_FORMAT, "%s:%d: %s", r->text.where, r->text.line, what);
}

/* ----------------------------------------------------------------- reading */

static yoke_status read_first(reader *r)
{
    static const char first[] = "yoke-wisdom ";
    char wanted[32];
    snprintf(wanted, sizeof wanted, "%s%d", first, VERSION);
    if (strncmp(r->text.buffer, first, sizeof first - 1) != 0)
        return bad(r, "this is no wisdom: it does not begin with yoke-wisdom");
    r->wisdom->begun = true;
    return strcmp(r->text.buffer, wanted) == 0
               ? YOKE_OK
               : bad(r, "of another version of the format than this library's");
}

static yoke_status read_end(reader *r, const char *rest, uint64_t sum)
{
    char *end;
    unsigned long long said = strtoull(rest, &end, 16);
    if (end == rest || *end) return bad(r, "the end has no sum");
    r->ended = true;
    r->wisdom->edited = said != sum;
    return YOKE_OK;
}

/* "name = value"; false: it is no such line. */
static bool read_word(reader *r, char *line)
{
    const struct {
        const char *name;
        char *to;
        size_t size;
    } words[] = {{"library", r->library, sizeof r->library},
                 {"cpu", r->key.cpu, sizeof r->key.cpu},
                 {"gpu", r->key.gpu, sizeof r->key.gpu},
                 {"driver", r->key.driver, sizeof r->key.driver}};
    char *equals = strstr(line, " =");
    if (!equals) return false;
    const char *value = equals + 2 + strspn(equals + 2, " ");
    *equals = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].name, line) != 0) continue;
        snprintf(words[i].to, words[i].size, "%.*s", (int)words[i].size - 1, value);
        return true;
    }
    if (strcmp(line, "threads") != 0) return false;
    r->key.threads = (int)strtol(value, NULL, 10);
    return true;
}

static bool is_word(const char *text)
{
    if (!*text) return false;
    for (; *text; text++)
        if (!isgraph((unsigned char)*text)) return false;
    return true;
}

/* The next word of a line, into a place of that size; NULL if it does not fit, or there is none. */
static const char *take_word(const char *at, char *to, size_t size)
{
    at += strspn(at, " \t");
    size_t length = strcspn(at, " \t");
    if (length == 0 || length >= size) return NULL;
    memcpy(to, at, length);
    to[length] = '\0';
    return is_word(to) ? at + length : NULL;
}

/* signature asked effort driver format shape share */
static bool read_wise(const char *line, yk_wise *wise)
{
    char signature[24], effort[16], shape[16], share[32], *end;
    const char *at = take_word(line, signature, sizeof signature);
    if (at) at = take_word(at, wise->asked, sizeof wise->asked);
    if (at) at = take_word(at, effort, sizeof effort);
    if (at) at = take_word(at, wise->driver, sizeof wise->driver);
    if (at) at = take_word(at, wise->format, sizeof wise->format);
    if (at) at = take_word(at, shape, sizeof shape);
    if (at) at = take_word(at, share, sizeof share);
    if (!at || *(at + strspn(at, " \t"))) return false;
    wise->signature = strtoull(signature, &end, 16);
    if (*end || strlen(signature) != 16) return false;
    wise->patient = strcmp(effort, "patient") == 0;
    wise->folded = strcmp(shape, "folded") == 0;
    if (!wise->patient && strcmp(effort, "measure") != 0) return false;
    if (!wise->folded && strcmp(shape, "unfolded") != 0) return false;
    wise->share = -1.0;
    if (strcmp(share, "-") == 0) return true;
    wise->share = yk_text_number(share, &end);
    return !*end && wise->share >= 0.0 && wise->share <= 1.0;
}

static yoke_status add_wise(reader *r, const yk_wise *wise)
{
    yk_wisdom_text *w = r->wisdom;
    if (w->count == YK_WISDOM_MOST) return bad(r, "more lines than wisdom may have");
    if (w->count == r->capacity) {
        int capacity = r->capacity ? 2 * r->capacity : 8;
        yk_wise *more = realloc(w->wise, (size_t)capacity * sizeof *more);
        if (!more) return yk_fail(YOKE_NO_MEMORY, "no memory for wisdom");
        w->wise = more;
        r->capacity = capacity;
    }
    w->wise[w->count++] = *wise;
    return YOKE_OK;
}

static yoke_status read_line(reader *r)
{
    char *line = r->text.buffer;
    yk_wise wise;
    if (!*line || *line == '#') return YOKE_OK;
    if (r->ended) return bad(r, "something follows the end");
    if (!r->wisdom->begun) return read_first(r);
    if (strncmp(line, "end ", 4) == 0) return read_end(r, line + 4, r->text.sum);
    if (read_word(r, line)) return YOKE_OK;
    memset(&wise, 0, sizeof wise);
    return read_wise(line, &wise) ? add_wise(r, &wise) : bad(r, "not a line of wisdom");
}

static yoke_status read_lines(reader *r)
{
    int more = 1;
    while (more) {
        const char *begin = r->text.at;
        YK_TRY(yk_text_next(&r->text, &more));
        if (more) YK_TRY(read_line(r));
        r->text.sum = yk_text_sum(r->text.sum, begin, (size_t)(r->text.at - begin));
    }
    if (!r->wisdom->begun) return bad(r, "this is no wisdom: nothing is in it");
    return r->ended ? YOKE_OK : bad(r, "cut short: its end is missing");
}

static void forget_lines(yk_wisdom_text *wisdom)
{
    free(wisdom->wise);
    wisdom->wise = NULL;
    wisdom->count = 0;
}

/* Whose choices these are: of this library and machine, or nobody's here. */
static void check_key(const reader *r)
{
    yk_profile_key here;
    char *stale = r->wisdom->stale;
    size_t size = sizeof r->wisdom->stale;
    const char *version = yoke_version(NULL, NULL, NULL);
    if (strcmp(r->library, version) != 0) {
        snprintf(stale, size, "is of version '%s' of the library, this is %s", r->library, version);
        return;
    }
    yk_profile_key_here(*r->key.gpu ? 0 : -1, &here);
    yk_profile_key_differs(&r->key, &here, stale, size);
}

yoke_status yk_wisdom_parse(const char *text, size_t size, const char *where,
                            yk_wisdom_text *wisdom)
{
    reader r = {.wisdom = wisdom};
    memset(wisdom, 0, sizeof *wisdom);
    yk_text_begin(&r.text, text, size, where);
    yoke_status status = read_lines(&r);
    if (status == YOKE_OK) check_key(&r);
    if (status != YOKE_OK || *wisdom->stale) forget_lines(wisdom);
    return status;
}

/* ------------------------------------------------------------------ import */

static void take_all(yoke_context *context, const yk_wisdom_text *wisdom)
{
    yk_wisdom_hold();
    for (int i = 0; i < wisdom->count; i++) yk_wisdom_put(context, &wisdom->wise[i]);
    yk_wisdom_release();
}

/* What is of no use is told and forgotten; what is no wisdom at all is refused. An empty file holds
 * none yet: mktemp makes such. */
static yoke_status take_text(yoke_context *context, const char *text, size_t size, const char *path)
{
    yk_wisdom_text wisdom;
    if (size == 0) return YOKE_OK;
    yoke_status status = yk_wisdom_parse(text, size, path, &wisdom);
    if (status == YOKE_FORMAT && wisdom.begun) {
        const char *sentence = yoke_error_text(), *place = strrchr(sentence, '[');
        yk_log(context, YOKE_LOG_NOTICE, "wisdom not used: %.*s",
               place ? (int)(place - sentence - 1) : (int)strlen(sentence), sentence);
        return YOKE_OK;
    }
    if (status != YOKE_OK) return status;
    if (*wisdom.stale)
        yk_log(context, YOKE_LOG_NOTICE, "wisdom not used: '%s' %s", path, wisdom.stale);
    else if (wisdom.edited)
        yk_log(context, YOKE_LOG_NOTICE, "wisdom '%s' was edited by hand", path);
    take_all(context, &wisdom);
    forget_lines(&wisdom);
    return YOKE_OK;
}

yoke_status yoke_wisdom_import(yoke_context *context, const char *path)
{
    char *text;
    size_t size;
    int error;
    if (!context || !path) return yk_fail(YOKE_INVALID, "%s is NULL", context ? "path" : "context");
    YK_TRY(yk_text_read(path, MOST_BYTES, &text, &size, &error));
    yoke_status status = take_text(context, text, size, path);
    free(text);
    return status;
}

/* ------------------------------------------------------------------ export */

static void write_wise(const yk_wise *w, FILE *stream)
{
    fprintf(stream, "%016llx %s %s %s %s %s ", (unsigned long long)w->signature, w->asked,
            w->patient ? "patient" : "measure", w->driver, w->format,
            w->folded ? "folded" : "unfolded");
    if (w->share < 0.0)
        fputs("-\n", stream);
    else
        fprintf(stream, "%.17g\n", w->share);
}

/* The GPU is asked only where one has been used. */
static bool used_gpu(const yk_wisdom *wisdom)
{
    for (int i = 0; wisdom && i < wisdom->count; i++)
        if (strcmp(wisdom->wise[i].driver, "team") != 0) return true;
    return false;
}

static void write_body(const void *of, FILE *stream)
{
    const yoke_context *context = of;
    yk_profile_key key;
    yk_wisdom_hold();
    const yk_wisdom *w = context->wisdom;
    yk_profile_key_here(used_gpu(w) ? 0 : -1, &key);
    fprintf(stream,
            "# What measuring plans found; made by yoke. It may be deleted.\n"
            "yoke-wisdom %d\nlibrary = %s\ncpu = %s\nthreads = %d\ngpu = %s\ndriver = %s\n\n"
            "# matrix asked effort driver format shape share_on_CPU\n",
            VERSION, yoke_version(NULL, NULL, NULL), key.cpu, key.threads, key.gpu, key.driver);
    for (int i = 0; w && i < w->count; i++) write_wise(&w->wise[i], stream);
    yk_wisdom_release();
}

yoke_status yoke_wisdom_export(yoke_context *context, const char *path)
{
    char *text;
    size_t size;
    if (!context || !path) return yk_fail(YOKE_INVALID, "%s is NULL", context ? "path" : "context");
    YK_TRY(yk_text_make(write_body, context, "the text of wisdom", &text, &size));
    yoke_status status = yk_text_replace(path, text, size);
    free(text);
    return status;
}
