/* SPDX-License-Identifier: BSD-3-Clause */
/* svg.c: the residual, on a logarithmic axis, against the iteration (left) and against time
 * (right). Time is the iteration times the median time of one: measuring each would disturb it. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "bench/explain.h"
#include "bench/write_rows.h"

/* Pixels. A panel's box is its axes; labels lie outside it. */
enum {
    WIDTH = 1080,
    PANEL_WIDTH = 420,
    PANEL_HEIGHT = 320,
    PANEL_TOP = 74,
    LEFT_X = 78,
    RIGHT_X = 604,
    LEGEND_TOP = PANEL_TOP + PANEL_HEIGHT + 66,
    LEGEND_LINE = 20,
    POINTS = 800, /* of a line, at most: beyond it no eye sees more */
    TICKS = 7
};

/* Okabe and Ito's colours, told apart by all kinds of sight (Color Universal Design, 2008). */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#000000"};
enum { COLOURS = sizeof colours / sizeof colours[0] };
/* In turn, so that of two curves that coincide both are seen. */
static const char *const dashes[] = {"", "7 4"};
enum { DASHES = sizeof dashes / sizeof dashes[0] };

typedef struct panel {
    int x;         /* of its left edge */
    double end;    /* of the horizontal axis */
    int low, high; /* decades */
    int by_time;
    double unit; /* seconds of the axis's unit */
    const char *title;
} panel;

static double abscissa(const panel *p, const row *r, int64_t k)
{
    return p->by_time ? (double)k * r->us_median * 1e-6 / p->unit : (double)k;
}

static int is_drawn(const panel *p, const row *r)
{
    return r->history_length > 1 && (!p->by_time || isfinite(r->us_median));
}

void write_svg_text(const char *text, FILE *stream)
{
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        int length = utf8_length(s);
        if (!length)
            fputs("\xEF\xBF\xBD", stream);
        else if (*s == '<')
            fputs("&lt;", stream);
        else if (*s == '>')
            fputs("&gt;", stream);
        else if (*s == '&')
            fputs("&amp;", stream);
        else if (*s >= 0x20)
            fwrite(s, 1, (size_t)length, stream);
        s += length ? length : 1;
    }
}

static void find_decades(const row_list *rows, int *low, int *high)
{
    double least = INFINITY, most = 0.0;
    for (int i = 0; i < rows->count; i++)
        for (int64_t k = 0; k < rows->row[i].history_length; k++) {
            double value = rows->row[i].history[k];
            if (!(value > 0.0) || !isfinite(value)) continue;
            least = fmin(least, value);
            most = fmax(most, value);
        }
    *low = most > 0.0 ? (int)floor(log10(least)) : -1;
    *high = most > 0.0 ? (int)ceil(log10(most)) : 0;
    if (*high == *low) ++*high;
}

/* 1, 2 or 5 times a power of ten, so that about TICKS steps reach the end. */
static double nice_step(double end)
{
    double rough = end / TICKS, power = pow(10.0, floor(log10(rough))), left = rough / power;
    return power * (left <= 1.0 ? 1.0 : left <= 2.0 ? 2.0 : left <= 5.0 ? 5.0 : 10.0);
}

static panel make_panel(const row_list *rows, int by_time)
{
    panel p = {.x = by_time ? RIGHT_X : LEFT_X, .by_time = by_time, .unit = 1.0};
    p.title = "iteration";
    for (int i = 0; i < rows->count; i++)
        if (is_drawn(&p, &rows->row[i]))
            p.end = fmax(p.end, abscissa(&p, &rows->row[i], rows->row[i].history_length - 1));
    if (by_time) {
        p.unit = p.end >= 1.0 ? 1.0 : p.end >= 1e-3 ? 1e-3 : 1e-6;
        p.title = p.end >= 1.0 ? "time, s" : p.end >= 1e-3 ? "time, ms" : "time, us";
        p.end /= p.unit;
    }
    if (!(p.end > 0.0)) p.end = 1.0;
    find_decades(rows, &p.low, &p.high);
    return p;
}

static double to_x(const panel *p, double value)
{
    return p->x + value / p->end * PANEL_WIDTH;
}

static double to_y(const panel *p, double residual)
{
    double share = (log10(residual) - p->low) / (p->high - p->low);
    return PANEL_TOP + PANEL_HEIGHT * (1.0 - share);
}

static void write_decades(const panel *p, FILE *stream)
{
    int step = (p->high - p->low + 8) / 9;
    for (int d = p->high; d >= p->low; d -= step) {
        double y = to_y(p, pow(10.0, d));
        fprintf(stream, "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>\n",
                p->x, y, p->x + PANEL_WIDTH, y);
        fprintf(stream,
                "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">10<tspan dy=\"-5\" "
                "font-size=\"9\">%d</tspan></text>\n",
                p->x - 8, y + 5.0, d);
    }
}

static void write_ticks(const panel *p, FILE *stream)
{
    double step = nice_step(p->end);
    if (!p->by_time && step < 1.0) step = 1.0;
    for (int i = 0; i * step <= p->end * (1.0 + 1e-9); i++) {
        char label[40];
        double x = to_x(p, i * step);
        snprintf(label, sizeof label, "%.6g", i * step);
        if (i * step >= 10000.0) format_grouped((int64_t)(i * step), label, sizeof label);
        fprintf(stream, "<line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>\n", x,
                PANEL_TOP, x, PANEL_TOP + PANEL_HEIGHT);
        fprintf(stream, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x,
                PANEL_TOP + PANEL_HEIGHT + 18, label);
    }
}

static void write_axes(const panel *p, FILE *stream)
{
    write_decades(p, stream);
    write_ticks(p, stream);
    fprintf(stream, "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", p->x,
            PANEL_TOP, PANEL_WIDTH, PANEL_HEIGHT);
    fprintf(stream, "<text class=\"axis\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
            p->x + PANEL_WIDTH / 2, PANEL_TOP + PANEL_HEIGHT + 40, p->title);
}

static void write_style_of(int i, FILE *stream)
{
    fprintf(stream, "stroke=\"%s\"", colours[i % COLOURS]);
    const char *dash = dashes[i % DASHES];
    if (*dash) fprintf(stream, " stroke-dasharray=\"%s\"", dash);
}

/* A residual of 0 has no logarithm: the line ends before it. */
static void write_curve(const panel *p, const row *r, int i, FILE *stream)
{
    if (!is_drawn(p, r)) return;
    int64_t stride = (r->history_length + POINTS - 1) / POINTS, last = r->history_length - 1;
    fputs("<polyline class=\"curve\" ", stream);
    write_style_of(i, stream);
    fputs(" points=\"", stream);
    for (int64_t k = 0; k <= last; k = k < last && k + stride > last ? last : k + stride) {
        double value = r->history[k];
        if (value > 0.0 && isfinite(value))
            fprintf(stream, "%.1f,%.1f ", to_x(p, abscissa(p, r, k)), to_y(p, value));
    }
    fputs("\"/>\n", stream);
}

/* Where the solve was to end, if that is in the picture. */
static void write_tolerance(const panel *p, const row_list *rows, FILE *stream)
{
    double rtol = rows->count ? rows->row[0].rtol : NAN;
    if (!(rtol > pow(10.0, p->low)) || !(rtol < pow(10.0, p->high))) return;
    double y = to_y(p, rtol);
    fprintf(stream, "<line class=\"bound\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>\n", p->x,
            y, p->x + PANEL_WIDTH, y);
    fprintf(stream, "<text class=\"note\" x=\"%d\" y=\"%.1f\">rtol</text>\n", p->x + 5, y - 4.0);
}

static void write_panel(const row_list *rows, int by_time, FILE *stream)
{
    panel p = make_panel(rows, by_time);
    write_axes(&p, stream);
    write_tolerance(&p, rows, stream);
    for (int i = 0; i < rows->count; i++) write_curve(&p, &rows->row[i], i, stream);
}

static int one_matrix(const row_list *rows)
{
    for (int i = 1; i < rows->count; i++)
        if (strcmp(rows->row[i].matrix, rows->row[0].matrix) != 0) return 0;
    return rows->count > 0;
}

/* A label that names its matrix, perhaps by a long path, has the line to itself. */
static int legend_columns(const row_list *rows)
{
    return one_matrix(rows) ? 2 : 1;
}

static void write_legend(const row_list *rows, FILE *stream)
{
    int place = 0, columns = legend_columns(rows);
    int skip = one_matrix(rows) ? (int)strlen(rows->row[0].matrix) + 1 : 0;
    panel p = {.by_time = 0};
    for (int i = 0; i < rows->count; i++) {
        const row *r = &rows->row[i];
        char label[512], solve[32];
        if (!is_drawn(&p, r)) continue;
        int x = place % columns ? RIGHT_X - 40 : LEFT_X;
        int y = LEGEND_TOP + place / columns * LEGEND_LINE;
        place++;
        row_label(r, label, sizeof label);
        format_seconds(r->solve, solve, sizeof solve);
        fprintf(stream, "<line class=\"curve\" ");
        write_style_of(i, stream);
        fprintf(stream, " x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n<text x=\"%d\" y=\"%d\">", x,
                y - 4, x + 26, y - 4, x + 34, y);
        write_svg_text((int)strlen(label) > skip ? label + skip : label, stream);
        fprintf(stream, ": %" PRId64 " iterations, %s</text>\n", r->iterations, solve);
    }
}

static void write_title(const row_list *rows, FILE *stream)
{
    char text[64];
    fprintf(stream, "<text class=\"title\" x=\"%d\" y=\"32\">Conjugate gradients", LEFT_X);
    if (one_matrix(rows)) {
        const char *slash = strrchr(rows->row[0].matrix, '/');
        fputs(" on ", stream);
        write_svg_text(slash ? slash + 1 : rows->row[0].matrix, stream);
        format_grouped(rows->row[0].rows, text, sizeof text);
        fprintf(stream, ", %s rows", text);
    }
    fputs("</text>\n", stream);
    fprintf(stream, "<text class=\"note\" x=\"%d\" y=\"56\">recursive residual / ||b||</text>\n",
            LEFT_X);
    if (!rows->count || !rows->row[0].machine) return;
    row_workers(&rows->row[0], text, sizeof text);
    fprintf(stream, "<text class=\"note\" x=\"%d\" y=\"56\" text-anchor=\"end\">",
            RIGHT_X + PANEL_WIDTH);
    write_svg_text(rows->row[0].machine, stream);
    fprintf(stream, ", %s, Yoke %s</text>\n", text, rows->row[0].version);
}

void write_svg(const row_list *rows, FILE *stream)
{
    int curves = 0, columns = legend_columns(rows);
    panel p = {.by_time = 0};
    for (int i = 0; i < rows->count; i++) curves += is_drawn(&p, &rows->row[i]);
    int height = LEGEND_TOP + (curves + columns - 1) / columns * LEGEND_LINE + 4;
    fprintf(stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
            "%d\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#333\">\n",
            WIDTH, height, WIDTH, height);
    fputs("<style>.grid{stroke:#e4e4e4}.frame{fill:none;stroke:#888}"
          ".curve{fill:none;stroke-width:1.8;stroke-linejoin:round}"
          ".bound{stroke:#999;stroke-dasharray:4 4}.title{font-size:18px;fill:#111}"
          ".axis{font-size:13px}.note{fill:#777}</style>\n",
          stream);
    fputs("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", stream);
    write_title(rows, stream);
    write_panel(rows, 0, stream);
    write_panel(rows, 1, stream);
    write_legend(rows, stream);
    fputs("</svg>\n", stream);
}
