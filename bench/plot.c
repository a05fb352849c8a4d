/* SPDX-License-Identifier: BSD-3-Clause */
/* plot.c: axes, curves and points as SVG. */
#include "bench/plot.h"

#include <math.h>

#include "bench/write_rows.h"

/* Pixels. */
enum {
    WIDTH = 900,
    LEFT = 84,
    TOP = 74,
    FRAME_WIDTH = 780,
    FRAME_HEIGHT = 380,
    LEGEND_TOP = TOP + FRAME_HEIGHT + 66,
    LEGEND_LINE = 20,
    TICKS = 8
};

/* Okabe and Ito's colours, told apart by all kinds of sight (Color Universal Design, 2008). */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#000000"};
enum { COLOURS = sizeof colours / sizeof colours[0] };

static double nice_step(double span)
{
    double rough = span / TICKS, power = pow(10.0, floor(log10(rough))), left = rough / power;
    return power * (left <= 1.0 ? 1.0 : left <= 2.0 ? 2.0 : left <= 5.0 ? 5.0 : 10.0);
}

axis axis_over(const char *title, int logarithmic, const double *value, int count)
{
    axis a = {INFINITY, -INFINITY, logarithmic, title};
    for (int i = 0; i < count; i++) {
        if (!isfinite(value[i]) || (logarithmic && !(value[i] > 0.0))) continue;
        a.from = fmin(a.from, value[i]);
        a.to = fmax(a.to, value[i]);
    }
    if (!(a.from <= a.to)) a.from = a.to = 1.0;
    if (logarithmic) {
        a.from = pow(10.0, floor(log10(a.from)));
        a.to = pow(10.0, ceil(log10(a.to)));
        if (!(a.from < a.to)) a.to = 10.0 * a.from;
        return a;
    }
    a.from = 0.0;
    if (!(a.to > 0.0)) a.to = 1.0;
    double step = nice_step(a.to);
    a.to = step * ceil(a.to / step * (1.0 - 1e-12));
    return a;
}

static double share(const axis *a, double value)
{
    if (a->logarithmic) return log(value / a->from) / log(a->to / a->from);
    return (value - a->from) / (a->to - a->from);
}

static double to_x(const plot *p, double x)
{
    return LEFT + FRAME_WIDTH * share(&p->x, x);
}

static double to_y(const plot *p, double y)
{
    return TOP + FRAME_HEIGHT * (1.0 - share(&p->y, y));
}

static void write_tick(const plot *p, int across, double value, double strength)
{
    char label[40];
    double x = across ? to_x(p, value) : LEFT, y = across ? TOP : to_y(p, value);
    fprintf(p->stream,
            "<line class=\"grid\" stroke-opacity=\"%.1f\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
            "y2=\"%.1f\"/>\n",
            strength, x, y, across ? x : LEFT + FRAME_WIDTH, across ? TOP + FRAME_HEIGHT : y);
    if (strength < 1.0) return;
    snprintf(label, sizeof label, "%.6g", value);
    if (across)
        fprintf(p->stream, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x,
                TOP + FRAME_HEIGHT + 18, label);
    else
        fprintf(p->stream, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", LEFT - 8,
                y + 4.0, label);
}

static void write_ticks(const plot *p, int across)
{
    const axis *a = across ? &p->x : &p->y;
    if (!a->logarithmic) {
        double step = nice_step(a->to - a->from);
        for (int i = 0; a->from + i * step <= a->to + 1e-9 * step; i++)
            write_tick(p, across, a->from + i * step, 1.0);
        return;
    }
    double decade = a->from;
    while (decade <= a->to * (1.0 + 1e-9)) {
        for (int k = 1; k < 10 && k * decade <= a->to * (1.0 + 1e-9); k++)
            write_tick(p, across, k * decade, k == 1 ? 1.0 : 0.5);
        decade *= 10.0;
    }
}

static void write_titles(const plot *p, const char *title, const char *subtitle)
{
    fprintf(p->stream, "<text class=\"title\" x=\"%d\" y=\"32\">", LEFT);
    write_svg_text(title, p->stream);
    fprintf(p->stream, "</text>\n<text class=\"note\" x=\"%d\" y=\"56\">", LEFT);
    write_svg_text(p->y.title, p->stream);
    fprintf(p->stream, "</text>\n<text class=\"note\" x=\"%d\" y=\"56\" text-anchor=\"end\">",
            LEFT + FRAME_WIDTH);
    write_svg_text(subtitle, p->stream);
    fprintf(p->stream, "</text>\n<text class=\"axis\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
            LEFT + FRAME_WIDTH / 2, TOP + FRAME_HEIGHT + 42);
    write_svg_text(p->x.title, p->stream);
    fputs("</text>\n", p->stream);
}

void plot_begin(plot *p, int legends, const char *title, const char *subtitle)
{
    int height = LEGEND_TOP + legends * LEGEND_LINE + 4;
    fprintf(p->stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
            "%d\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#333\">\n",
            WIDTH, height, WIDTH, height);
    fprintf(p->stream,
            "<style>.grid{stroke:#ddd}.frame{fill:none;stroke:#888}"
            ".curve{fill:none;stroke-width:1.8;stroke-linejoin:round}.title{font-size:18px;"
            "fill:#111}.axis{font-size:13px}.note{fill:#777}</style>\n"
            "<clipPath id=\"in\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/></clipPath>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            LEFT, TOP, FRAME_WIDTH, FRAME_HEIGHT);
    write_titles(p, title, subtitle);
    write_ticks(p, 0);
    write_ticks(p, 1);
    fprintf(p->stream, "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n",
            LEFT, TOP, FRAME_WIDTH, FRAME_HEIGHT);
}

void plot_curve(const plot *p, int i, const double *x, const double *y, int count)
{
    fprintf(p->stream,
            "<polyline class=\"curve\" clip-path=\"url(#in)\" stroke=\"%s\" "
            "stroke-dasharray=\"%s\" points=\"",
            colours[i % COLOURS], i / COLOURS % 2 ? "7 4" : "");
    for (int k = 0; k < count; k++)
        if (isfinite(x[k]) && isfinite(y[k]))
            fprintf(p->stream, "%.1f,%.1f ", to_x(p, x[k]), to_y(p, y[k]));
    fputs("\"/>\n", p->stream);
}

void plot_point(const plot *p, int i, double x, double y, const char *label)
{
    if (!isfinite(x) || !isfinite(y)) return;
    fprintf(p->stream, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\" fill=\"%s\"/>\n", to_x(p, x),
            to_y(p, y), colours[i % COLOURS]);
    fprintf(p->stream, "<text x=\"%.1f\" y=\"%.1f\">", to_x(p, x) + 8.0, to_y(p, y) + 4.0);
    write_svg_text(label, p->stream);
    fputs("</text>\n", p->stream);
}

void plot_legend(plot *p, int i, int as_point, const char *text)
{
    int y = LEGEND_TOP + p->legends++ * LEGEND_LINE;
    if (as_point)
        fprintf(p->stream, "<circle cx=\"%d\" cy=\"%d\" r=\"4.5\" fill=\"%s\"/>\n", LEFT + 13,
                y - 4, colours[i % COLOURS]);
    else
        fprintf(p->stream,
                "<line class=\"curve\" stroke=\"%s\" stroke-dasharray=\"%s\" x1=\"%d\" y1=\"%d\" "
                "x2=\"%d\" y2=\"%d\"/>\n",
                colours[i % COLOURS], i / COLOURS % 2 ? "7 4" : "", LEFT, y - 4, LEFT + 26, y - 4);
    fprintf(p->stream, "<text x=\"%d\" y=\"%d\">", LEFT + 34, y);
    write_svg_text(text, p->stream);
    fputs("</text>\n", p->stream);
}

void plot_end(const plot *p)
{
    fputs("</svg>\n", p->stream);
}
