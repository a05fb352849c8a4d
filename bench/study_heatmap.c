/* SPDX-License-Identifier: BSD-3-Clause */
/* study_heatmap.c: matrices across, configurations down, in bands of one memory mode and home. Blue
 * is faster than the best single owner, orange slower, pale as fast; hatched cannot run. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/explain.h"
#include "bench/say.h"
#include "bench/study.h"
#include "bench/take.h"
#include "bench/write_rows.h"

/* Pixels. */
enum {
    MARGIN = 24,
    LABELS = 236, /* left of the cells */
    CELL_WIDTH = 108,
    CELL_HEIGHT = 20,
    BAND_GAP = 9,
    TOP = 142, /* of the first cell */
    LEAST_WIDTH = 860,
    NAME_LENGTH = 16 /* of a matrix above its column, in characters */
};

typedef struct map {
    const row_list *rows;
    words matrices, labels;
    double *base, *best; /* [matrices], us an iteration */
    int y;               /* where the next line goes */
    FILE *stream;
} map;

/* ------------------------------------------------------------------ colours */

static const int slowest[3] = {0xb0, 0x45, 0x06}, even[3] = {0xf3, 0xf1, 0xec},
                 fastest[3] = {0x0a, 0x5c, 0xad};

/* Full orange at an eighth of the speed, full blue at one and a half times it, the square root in
 * between: differences near 1 are those that matter. */
static void colour_of(double speed, int rgb[3])
{
    double by = log2(speed), reach = by < 0.0 ? 3.0 : log2(1.5);
    double share = sqrt(fmin(fabs(by) / reach, 1.0));
    if (fabs(speed - 1.0) < 0.005) share = 0.0; /* shown as 1.00 */
    const int *end = by < 0.0 ? slowest : fastest;
    for (int i = 0; i < 3; i++) rgb[i] = even[i] + (int)lround(share * (end[i] - even[i]));
}

static const char *ink_on(const int rgb[3])
{
    return 0.30 * rgb[0] + 0.59 * rgb[1] + 0.11 * rgb[2] < 140.0 ? "#fff" : "#111";
}

/* -------------------------------------------------------------------- cells */

static int x_of(int matrix)
{
    return MARGIN + LABELS + matrix * CELL_WIDTH;
}

static void write_title_of(const map *m, const row *r, int matrix)
{
    char time[32], workers[64], rows[40];
    fputs("<title>", m->stream);
    write_svg_text(r->matrix, m->stream);
    fputs(": ", m->stream);
    write_svg_text(r->configuration, m->stream);
    if (study_state_of(r) == STUDY_RAN) {
        format_seconds(r->us_median * 1e-6, time, sizeof time);
        row_workers(r, workers, sizeof workers);
        fprintf(m->stream, ": %s an iteration, %s", time, workers);
        format_grouped(r->cpu_rows, rows, sizeof rows);
        if (r->gpus > 0 && r->cpu_rows > 0) fprintf(m->stream, ", %s rows on the CPU", rows);
        if (r->driver) fputs(", driver ", m->stream);
        write_svg_text(r->driver ? r->driver : "", m->stream);
    } else {
        fputs(study_state_of(r) == STUDY_FAILED ? ": failed: " : ": cannot run: ", m->stream);
        write_svg_text(r->reason ? r->reason : r->outcome ? r->outcome : "unknown", m->stream);
    }
    if (isfinite(m->base[matrix]) && study_state_of(r) == STUDY_RAN)
        fprintf(m->stream, "; %.3f times the best single owner", m->base[matrix] / r->us_median);
    fputs("</title>", m->stream);
}

static void write_box(const map *m, int matrix, const char *attributes)
{
    fprintf(m->stream, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" %s/>", x_of(matrix) + 1,
            m->y + 1, CELL_WIDTH - 2, CELL_HEIGHT - 2, attributes);
}

static void write_figure(const map *m, int matrix, const char *ink, const char *text, int bold)
{
    fprintf(m->stream, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\"%s%s%s%s>%s</text>",
            x_of(matrix) + CELL_WIDTH / 2, m->y + CELL_HEIGHT - 6, *ink ? " fill=\"" : "", ink,
            *ink ? "\"" : "", bold ? " font-weight=\"bold\"" : "", text);
}

static void write_speed(const map *m, const row *r, int matrix)
{
    char attributes[64], text[32];
    int rgb[3];
    double speed = m->base[matrix] / r->us_median;
    int best = !r->is_rival && r->us_median == m->best[matrix];
    if (!isfinite(speed)) { /* no single owner ran: a time, and no colour */
        write_box(m, matrix, "class=\"plain\"");
        format_seconds(r->us_median * 1e-6, text, sizeof text);
        write_figure(m, matrix, "", text, 0);
        return;
    }
    colour_of(speed, rgb);
    snprintf(attributes, sizeof attributes, "fill=\"#%02x%02x%02x\"%s", rgb[0], rgb[1], rgb[2],
             best ? " class=\"best\"" : "");
    snprintf(text, sizeof text, speed < 0.095 ? "%.3f" : "%.2f", speed);
    write_box(m, matrix, attributes);
    write_figure(m, matrix, ink_on(rgb), text, best);
}

static void write_cell(const map *m, const row *r, int matrix)
{
    if (!r) return;
    fputs("<g>", m->stream);
    write_title_of(m, r, matrix);
    switch (study_state_of(r)) {
    case STUDY_RAN: write_speed(m, r, matrix); break;
    case STUDY_CANNOT_RUN: write_box(m, matrix, "fill=\"url(#hatch)\""); break;
    case STUDY_FAILED:
        write_box(m, matrix, "class=\"failed\"");
        write_figure(m, matrix, "", "failed", 1);
        break;
    }
    fputs("</g>\n", m->stream);
}

/* ------------------------------------------------------------------- lines */

static void write_line(map *m, const char *label)
{
    study_place place;
    const char *name = study_place_of(label, &place) ? place.partition : label;
    fprintf(m->stream, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", x_of(0) - 10,
            m->y + CELL_HEIGHT - 6);
    write_svg_text(name, m->stream);
    fputs("</text>\n", m->stream);
    for (int k = 0; k < m->matrices.count; k++)
        write_cell(m, study_find(m->rows, m->matrices.word[k], label), k);
    m->y += CELL_HEIGHT;
}

/* The band of a label: its memory mode and home; of others, ours or rivals. */
static void band_of(const char *label, char *band, size_t capacity)
{
    study_place place;
    if (study_place_of(label, &place)) {
        snprintf(band, capacity, "%s, %s", place.memory, place.home);
        return;
    }
    int rival = 0;
    for (int i = 0; i < RIVALS; i++) rival |= !strcmp(label, rival_names[i]);
    snprintf(band, capacity, rival ? "rivals" : "by itself");
}

/* Whether none of these lines can run on any matrix, for one reason, which it then is. */
static int are_refused(const map *m, int from, int to, char reason[STUDY_REASON])
{
    char other[STUDY_REASON];
    *reason = '\0';
    for (int i = from; i < to; i++)
        for (int k = 0; k < m->matrices.count; k++) {
            const row *r = study_find(m->rows, m->matrices.word[k], m->labels.word[i]);
            if (!r || study_state_of(r) != STUDY_CANNOT_RUN) return 0;
            study_reason(r, other);
            if (*reason && strcmp(reason, other) != 0) return 0;
            memcpy(reason, other, sizeof other);
        }
    return *reason != '\0';
}

/* One hatched line that says why, in place of many that only look so. */
static void write_refused(map *m, const char *reason, const char *which, int lines)
{
    int width = m->matrices.count * CELL_WIDTH, room = width / 7;
    char text[512];
    snprintf(text, sizeof text, "%.*s%s", room < 500 ? room : 500, reason,
             (int)strlen(reason) > room ? "..." : "");
    fprintf(m->stream, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s %d</text>\n", x_of(0) - 10,
            m->y + CELL_HEIGHT - 6, which, lines);
    fputs("<g><title>cannot run: ", m->stream);
    write_svg_text(reason, m->stream);
    fprintf(m->stream,
            "</title><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"url(#hatch)\"/>"
            "<text class=\"why\" x=\"%d\" y=\"%d\">",
            x_of(0) + 1, m->y + 1, width - 2, CELL_HEIGHT - 2, x_of(0) + 8, m->y + CELL_HEIGHT - 6);
    write_svg_text(text, m->stream);
    fputs("</text></g>\n", m->stream);
    m->y += CELL_HEIGHT;
}

static void write_band(map *m, int from, int to, const char *name)
{
    char reason[STUDY_REASON];
    m->y += BAND_GAP;
    fprintf(m->stream, "<text class=\"band\" x=\"%d\" y=\"%d\">", MARGIN, m->y + CELL_HEIGHT - 6);
    write_svg_text(name, m->stream);
    fputs("</text>\n", m->stream);
    for (int i = from, end; i < to; i = end) {
        for (end = i + 1; end < to && are_refused(m, i, end + 1, reason);) end++;
        if (end - i > 1 && are_refused(m, i, end, reason))
            write_refused(m, reason, end - i == to - from ? "all" : "other", end - i);
        else
            write_line(m, m->labels.word[i]);
    }
}

static void write_bands(map *m)
{
    char band[3 * STUDY_WORD], next[3 * STUDY_WORD];
    m->y = TOP - BAND_GAP;
    for (int from = 0, to; from < m->labels.count; from = to) {
        band_of(m->labels.word[from], band, sizeof band);
        for (to = from + 1; to < m->labels.count; to++) {
            band_of(m->labels.word[to], next, sizeof next);
            if (strcmp(band, next) != 0) break;
        }
        write_band(m, from, to, band);
    }
}

/* --------------------------------------------------------------------- head */

/* "gen:" says nothing above a column, nor do a file's folders. */
static const char *short_name(const char *matrix)
{
    const char *slash = strrchr(matrix, '/');
    if (!strncmp(matrix, "gen:", 4)) return matrix + 4;
    return slash && slash[1] ? slash + 1 : matrix;
}

/* At most so many characters, whatever their bytes. */
static void shorten(const char *name, char *text, size_t capacity)
{
    size_t used = 0;
    for (int count = 0; *name && count < NAME_LENGTH; count++) {
        int length = utf8_length((const unsigned char *)name);
        size_t bytes = length ? (size_t)length : 1;
        if (used + bytes + 4 > capacity) break;
        memcpy(text + used, name, bytes);
        used += bytes;
        name += bytes;
    }
    snprintf(text + used, capacity - used, "%s", *name ? "..." : "");
}

static void write_column_head(const map *m, int matrix)
{
    const char *name = m->matrices.word[matrix];
    char text[128], rows[40];
    int x = x_of(matrix) + CELL_WIDTH / 2;
    shorten(short_name(name), text, sizeof text);
    fputs("<g><title>", m->stream);
    write_svg_text(name, m->stream);
    fprintf(m->stream, "</title><text class=\"name\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">", x,
            TOP - 26);
    write_svg_text(text, m->stream);
    fputs("</text>", m->stream);
    for (int i = 0; i < m->rows->count; i++) {
        const row *r = &m->rows->row[i];
        if (strcmp(r->matrix, name) != 0 || r->rows < 0) continue;
        format_grouped(r->rows, rows, sizeof rows);
        fprintf(m->stream,
                "<text class=\"note\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s rows</text>", x,
                TOP - 11, rows);
        break;
    }
    fputs("</g>\n", m->stream);
}

static void write_legend(const map *m)
{
    static const double speeds[] = {0.125, 0.25, 0.5, 0.8, 0.95, 1.0, 1.05, 1.25, 1.5};
    char number[16];
    int x = MARGIN + 150, y = 66, rgb[3], count = sizeof speeds / sizeof *speeds;
    fprintf(m->stream, "<text class=\"note\" x=\"%d\" y=\"%d\">best single owner = 1</text>\n",
            MARGIN, y + 13);
    for (int i = 0; i < count; i++, x += 42) {
        colour_of(speeds[i], rgb);
        snprintf(number, sizeof number, "%.3g", speeds[i]);
        fprintf(m->stream,
                "<rect x=\"%d\" y=\"%d\" width=\"42\" height=\"18\" fill=\"#%02x%02x%02x\"/>"
                "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"%s\">%s</text>\n",
                x, y, rgb[0], rgb[1], rgb[2], x + 21, y + 13, ink_on(rgb), number);
    }
    fprintf(m->stream,
            "<rect x=\"%d\" y=\"%d\" width=\"42\" height=\"18\" fill=\"url(#hatch)\"/>"
            "<text class=\"note\" x=\"%d\" y=\"%d\">cannot run here</text>"
            "<rect class=\"best plain\" x=\"%d\" y=\"%d\" width=\"42\" height=\"18\"/>"
            "<text class=\"note\" x=\"%d\" y=\"%d\">fastest of ours</text>\n",
            x + 14, y, x + 62, y + 13, x + 166, y, x + 214, y + 13);
}

static void write_origin(const map *m)
{
    const row *r = m->rows->row; /* the first says what all say */
    char text[128];
    fprintf(m->stream, "<text class=\"note\" x=\"%d\" y=\"52\">", MARGIN);
    if (r->machine) {
        write_svg_text(r->machine, m->stream);
        fputs("; ", m->stream);
    }
    snprintf(text, sizeof text, "Yoke %.64s, %.10s", r->version ? r->version : "",
             r->date ? r->date : "");
    write_svg_text(text, m->stream);
    fputs("</text>\n", m->stream);
}

static void write_head(const map *m)
{
    fprintf(m->stream,
            "<text class=\"title\" x=\"%d\" y=\"32\">CPU and GPU in one solve: speed beside the "
            "best single owner</text>\n",
            MARGIN);
    if (m->rows->count) write_origin(m);
    write_legend(m);
    for (int k = 0; k < m->matrices.count; k++) write_column_head(m, k);
}

static void write_style(FILE *stream)
{
    fputs("<style>svg{fill:#222}.page{fill:#fff}.title{font-size:18px;fill:#111}"
          ".note{fill:#666;font-size:11px}.name{font-size:11px}.band{font-weight:bold}"
          ".why{font-size:11px}.plain{fill:#f3f1ec}.best{stroke:#111;stroke-width:2}"
          ".failed{fill:#fff;stroke:#c00;stroke-width:2}.under{fill:#eee}.over{stroke:#bbb}\n"
          "@media(prefers-color-scheme:dark){svg{fill:#ddd}.page{fill:#15181c}.title{fill:#fff}"
          ".note{fill:#a0a6ad}.plain{fill:#2b3036}.best{stroke:#ffd75e}"
          ".failed{fill:#15181c;stroke:#f55}.under{fill:#22262b}.over{stroke:#474d55}}</style>\n",
          stream);
    fputs("<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
          "patternTransform=\"rotate(45)\"><rect class=\"under\" width=\"6\" height=\"6\"/>"
          "<line class=\"over\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" stroke-width=\"2\"/></pattern>"
          "</defs>\n<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n",
          stream);
}

/* --------------------------------------------------------------------- map */

static void find_best(map *m)
{
    for (int k = 0; k < m->matrices.count; k++) {
        m->base[k] = study_base(m->rows, m->matrices.word[k]);
        m->best[k] = study_best(m->rows, m->matrices.word[k]);
    }
}

void write_heatmap(const row_list *rows, FILE *stream)
{
    map m = {.rows = rows};
    study_names(rows, &m.matrices, &m.labels);
    m.base = take("speeds", m.matrices.count, sizeof *m.base);
    m.best = take("speeds", m.matrices.count, sizeof *m.best);
    find_best(&m);
    /* The height is known when all lines are written. */
    char *lines = NULL;
    size_t bytes = 0;
    m.stream = open_memstream(&lines, &bytes);
    if (!m.stream) exit(say_error(ENDS_LACKING, "no memory for the heat map"));
    write_head(&m);
    write_bands(&m);
    fclose(m.stream);
    int width = x_of(m.matrices.count) + MARGIN, height = m.y + MARGIN;
    if (width < LEAST_WIDTH) width = LEAST_WIDTH;
    fprintf(stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
            "%d\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\">\n",
            width, height, width, height);
    write_style(stream);
    fwrite(lines, 1, bytes, stream);
    fputs("</svg>\n", stream);
    free(lines);
    free(m.base);
    free(m.best);
    words_free(&m.matrices);
    words_free(&m.labels);
}
