/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_text.c: a profile as text and back. A line a figure, "name = value  # kind: source", a
 * curve's value being points "at: value, ..."; at last a line "end" with the sum of all before it,
 * which what was cut short lacks and what was edited does not fit. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/profile.h"
#include "lib/status.h"
#include "lib/text_file.h"

enum { VERSION = 1, MOST_BYTES = 1 << 16, MOST_ENTRIES = 128 };

/* Of each unit ascending: a value is written in the last that is not larger and gives it exactly.
 */
static const struct scale {
    yk_unit unit;
    double factor;
    const char *text;
} scales[] = {
    {YK_COUNT, 1.0, ""},      {YK_BYTES, 1.0, "B"},
    {YK_BYTES, 1e3, "kB"},    {YK_BYTES, 1024.0, "KiB"},
    {YK_BYTES, 1e6, "MB"},    {YK_BYTES, 1048576.0, "MiB"},
    {YK_BYTES, 1e9, "GB"},    {YK_BYTES, 1073741824.0, "GiB"},
    {YK_SECONDS, 1e-9, "ns"}, {YK_SECONDS, 1e-6, "us"},
    {YK_SECONDS, 1e-3, "ms"}, {YK_SECONDS, 1.0, "s"},
    {YK_SPEED, 1.0, "B/s"},   {YK_SPEED, 1e6, "MB/s"},
    {YK_SPEED, 1e9, "GB/s"},  {YK_SPEED, 1e12, "TB/s"},
    {YK_RATE, 1.0, "/s"},     {YK_RATE, 1e6, "M/s"},
    {YK_RATE, 1e9, "G/s"},
};
enum { SCALES = sizeof scales / sizeof *scales };

typedef struct reader {
    yk_text text;
    yk_profile *profile;
    bool begun, ended, edited, seen[MOST_ENTRIES];
} reader;

#define BAD(r, ...) bad(__LINE__, r, __VA_ARGS__)
static yoke_status bad(int line, const reader *r, const char *format, const char *what)
    __attribute__((format(printf, 3, 0)));
static yoke_status bad(int line, const reader *r, const char *format, const char *what)
{
    char sentence[YK_TEXT_LINE + 128];
    snprintf(sentence, sizeof sentence, format, what);
    yk_fail_at(__FILE__, line, YOKE_FORMAT, "%s:%d: %s", r->text.where, r->text.line, sentence);
    return YOKE_FORMAT;
}

/* ----------------------------------------------------------------- reading */

/* A number and its unit; *at goes behind them. NaN: there is none that can be true. */
static double read_quantity(const char **at, yk_unit unit)
{
    char *end;
    double value = yk_text_number(*at, &end);
    if (end == *at) return NAN;
    end += strspn(end, " \t");
    size_t length = 0;
    while (isalpha((unsigned char)end[length]) || end[length] == '/') length++;
    for (int i = 0; i < SCALES; i++)
        if (scales[i].unit == unit && strlen(scales[i].text) == length &&
            strncmp(scales[i].text, end, length) == 0) {
            *at = end + length + strspn(end + length, " \t");
            /* 0.83 us is 0.83 / 1e6: 1e-6 would be rounded before */
            value = scales[i].factor < 1.0 ? value / round(1.0 / scales[i].factor)
                                           : value * scales[i].factor;
            return yk_unit_sane(unit, value) ? value : NAN;
        }
    return NAN;
}

static yoke_status read_figure(reader *r, const yk_profile_entry *e, const char *at,
                               yk_figure_kind kind, const char *source)
{
    double value = read_quantity(&at, e->unit);
    if (isnan(value) || *at) return BAD(r, "%s: no value that a machine can have", e->name);
    yk_figure_set(yk_profile_figure(r->profile, e), value, kind, source);
    return YOKE_OK;
}

static yoke_status read_curve(reader *r, const yk_profile_entry *e, const char *at,
                              yk_figure_kind kind, const char *source)
{
    yk_curve *curve = yk_profile_curve(r->profile, e);
    for (bool more = true; more;) {
        double x = read_quantity(&at, e->at);
        if (isnan(x) || !(x > 0.0) || *at++ != ':')
            return BAD(r, "%s: expected points 'at: value, ...'", e->name);
        double y = read_quantity(&at, e->unit);
        more = *at == ',';
        if (isnan(y) || (*at && !more))
            return BAD(r, "%s: no value that a machine can have", e->name);
        if (more) at++;
        if (curve->points == YK_CURVE_POINTS) return BAD(r, "%s: too many points", e->name);
        if (curve->points > 0 && !(x > curve->at[curve->points - 1]))
            return BAD(r, "%s: points must ascend", e->name);
        yk_curve_add(curve, x, y, kind, source);
    }
    return YOKE_OK;
}

/* Cuts "value  # kind: source" apart. */
static bool read_kind(char *rest, yk_figure_kind *kind, const char **source)
{
    char *mark = strchr(rest, '#');
    if (!mark) return false;
    *mark++ = '\0';
    mark += strspn(mark, " \t");
    for (int k = YK_MEASURED; k <= YK_ASSUMED; k++) {
        const char *word = yk_figure_kind_text((yk_figure_kind)k);
        size_t length = strlen(word);
        if (strncmp(mark, word, length) != 0 || mark[length] != ':') continue;
        *kind = (yk_figure_kind)k;
        *source = mark + length + 1 + strspn(mark + length + 1, " \t");
        return strlen(*source) < YK_SOURCE_BYTES;
    }
    return false;
}

static int find_entry(const char *name)
{
    for (int i = 0; i < yk_profile_entry_count && i < MOST_ENTRIES; i++)
        if (strcmp(yk_profile_entries[i].name, name) == 0) return i;
    return -1;
}

static yoke_status read_entry(reader *r, const char *name, char *rest)
{
    int i = find_entry(name);
    const char *source = "";
    yk_figure_kind kind = YK_UNKNOWN;
    if (i < 0) return BAD(r, "'%s' is no figure of a profile", name);
    if (r->seen[i]) return BAD(r, "%s: given twice", name);
    r->seen[i] = true;
    if (!read_kind(rest, &kind, &source))
        return BAD(r, "%s: expected '# measured: source', published or assumed", name);
    char *end = rest + strlen(rest);
    while (end > rest && (end[-1] == ' ' || end[-1] == '\t')) *--end = '\0';
    const yk_profile_entry *e = &yk_profile_entries[i];
    return e->is_curve ? read_curve(r, e, rest, kind, source)
                       : read_figure(r, e, rest, kind, source);
}

/* The lines that say what machine it is. */
static yoke_status read_word(reader *r, const char *name, const char *rest, bool *taken)
{
    yk_profile *p = r->profile;
    const struct {
        const char *name;
        char *to;
        size_t size;
    } words[] = {
        {"text", p->text, sizeof p->text},
        {"date", p->date, sizeof p->date},
        {"cpu", p->key.cpu, sizeof p->key.cpu},
        {"gpu", p->key.gpu, sizeof p->key.gpu},
        {"driver", p->key.driver, sizeof p->key.driver},
    };
    *taken = true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].name, name) != 0) continue;
        if (strlen(rest) >= words[i].size) return BAD(r, "%s: too long", name);
        memcpy(words[i].to, rest, strlen(rest) + 1);
        return YOKE_OK;
    }
    *taken = strcmp(name, "threads") == 0;
    if (!*taken) return YOKE_OK;
    double threads = read_quantity(&rest, YK_COUNT);
    if (!(threads >= 1.0) || threads != floor(threads) || *rest)
        return BAD(r, "%s: expected a count", name);
    p->key.threads = (int)threads;
    return YOKE_OK;
}

static yoke_status read_first(reader *r)
{
    static const char first[] = "yoke-profile ";
    char wanted[32];
    if (strncmp(r->text.buffer, first, sizeof first - 1) != 0)
        return BAD(r, "'%.40s' is not the beginning of a profile", r->text.buffer);
    snprintf(wanted, sizeof wanted, "%s%d", first, VERSION);
    if (strcmp(r->text.buffer, wanted) != 0)
        return BAD(r, "'%.40s' is of another version of the format than this library's",
                   r->text.buffer);
    r->begun = true;
    return YOKE_OK;
}

static yoke_status read_end(reader *r, const char *rest, uint64_t sum)
{
    char *end;
    unsigned long long said = strtoull(rest, &end, 16);
    rest += strspn(rest, " ");
    if (*end && strspn(end, " ") != strlen(end)) return BAD(r, "%s: not a sum", "end");
    r->ended = true;
    r->edited = !*rest || said != sum;
    return YOKE_OK;
}

static yoke_status read_line(reader *r, uint64_t sum)
{
    char *line = r->text.buffer, *equals = strchr(line, '=');
    bool taken;
    if (!*line || *line == '#') return YOKE_OK;
    if (r->ended) return BAD(r, "'%.40s' follows the end", line);
    if (!r->begun) return read_first(r);
    if (strncmp(line, "end", 3) == 0 && (!line[3] || line[3] == ' '))
        return read_end(r, line + 3, sum);
    if (!equals) return BAD(r, "'%.40s' is no line of a profile", line);
    char *end = equals;
    while (end > line && (end[-1] == ' ' || end[-1] == '\t')) end--;
    *end = '\0';
    char *rest = equals + 1 + strspn(equals + 1, " \t");
    YK_TRY(read_word(r, line, rest, &taken));
    return taken ? YOKE_OK : read_entry(r, line, rest);
}

static yoke_status read_lines(reader *r)
{
    int more = 1;
    while (more) {
        const char *begin = r->text.at;
        YK_TRY(yk_text_next(&r->text, &more));
        if (more) YK_TRY(read_line(r, r->text.sum));
        r->text.sum = yk_text_sum(r->text.sum, begin, (size_t)(r->text.at - begin));
    }
    if (!r->begun) return yk_fail(YOKE_FORMAT, "%s: no profile, nothing in it", r->text.where);
    if (!r->ended)
        return yk_fail(YOKE_FORMAT, "%s: cut short after line %d: its end is missing",
                       r->text.where, r->text.line);
    return YOKE_OK;
}

yoke_status yk_profile_parse(const char *text, size_t size, const char *where, yk_profile *profile,
                             bool *edited)
{
    reader r = {.profile = profile};
    yk_text_begin(&r.text, text, size, where);
    yk_profile_clear(profile);
    yoke_status status = read_lines(&r);
    if (status != YOKE_OK) yk_profile_clear(profile);
    if (edited) *edited = r.edited;
    return status;
}

yoke_status yk_profile_read(const char *path, yk_profile *profile, bool *edited)
{
    char *text;
    size_t size;
    int error;
    YK_TRY(yk_text_read(path, MOST_BYTES, &text, &size, &error));
    yoke_status status = yk_profile_parse(text, size, path, profile, edited);
    free(text);
    if (status == YOKE_OK) strcpy(profile->name, "file");
    return status;
}

/* ----------------------------------------------------------------- writing */

/* In the largest scale in which it is 1 or more, or in bytes where only these give it exactly. */
static void write_quantity(yk_unit unit, double value, FILE *stream)
{
    const struct scale *best = NULL;
    char text[40];
    for (int i = 0; i < SCALES; i++) {
        if (scales[i].unit != unit) continue;
        snprintf(text, sizeof text, "%.6g", value / scales[i].factor);
        bool fits =
            unit == YK_BYTES ? yk_text_number(text, NULL) * scales[i].factor == value : true;
        if (!best || (value >= scales[i].factor && fits)) best = &scales[i];
    }
    bool plain = best->factor == 1.0;
    fprintf(stream, plain ? "%.12g%s%s" : "%.6g%s%s", value / best->factor, *best->text ? " " : "",
            best->text);
}

static void write_curve(const yk_profile_entry *e, const yk_curve *curve, FILE *stream)
{
    fprintf(stream, "%s = ", e->name);
    for (int k = 0; k < curve->points; k++) {
        if (k) fputs(", ", stream);
        write_quantity(e->at, curve->at[k], stream);
        fputs(": ", stream);
        write_quantity(e->unit, curve->value[k], stream);
    }
    fprintf(stream, "  # %s: %s\n", yk_figure_kind_text(curve->kind), curve->source);
}

static void write_entry(const yk_profile *profile, const yk_profile_entry *e, FILE *stream)
{
    yk_profile *p = (yk_profile *)profile; /* only looked at */
    if (e->is_curve) {
        const yk_curve *curve = yk_profile_curve(p, e);
        if (curve->points > 0) write_curve(e, curve, stream);
        return;
    }
    const yk_figure *figure = yk_profile_figure(p, e);
    if (!yk_known(figure)) return;
    fprintf(stream, "%s = ", e->name);
    write_quantity(e->unit, figure->value, stream);
    fprintf(stream, "  # %s: %s\n", yk_figure_kind_text(figure->kind), figure->source);
}

static void write_body(const void *profile, FILE *stream)
{
    const yk_profile *p = profile;
    fprintf(stream,
            "# How fast this machine is, as measured; made by cgbench machine --calibrate.\n"
            "# It may be edited, but for its end: it is then used, with a notice.\n"
            "yoke-profile %d\ntext = %s\ndate = %s\ncpu = %s\ngpu = %s\ndriver = %s\n",
            VERSION, p->text, p->date, p->key.cpu, p->key.gpu, p->key.driver);
    if (p->key.threads > 0) fprintf(stream, "threads = %d\n", p->key.threads);
    fputc('\n', stream);
    for (int i = 0; i < yk_profile_entry_count; i++) write_entry(p, &yk_profile_entries[i], stream);
}

yoke_status yk_profile_write(const char *path, const yk_profile *profile)
{
    char *text;
    size_t size;
    YK_TRY(yk_text_make(write_body, profile, "a profile's text", &text, &size));
    yoke_status status = yk_text_replace(path, text, size);
    free(text);
    return status;
}
