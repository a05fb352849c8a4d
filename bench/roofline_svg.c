/* SPDX-License-Identifier: BSD-3-Clause */
/* roofline_svg.c: GFLOP/s against flops a byte, both logarithmic. The sloped lines are what each
 * owner's memory allows, as it was measured beside the passes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/plot.h"
#include "bench/roofline.h"
#include "bench/take.h"

static int count_points(const row_list *rows)
{
    int count = 0;
    for (int i = 0; i < rows->count; i++) count += rows->row[i].roofline_count;
    return count;
}

static double intensity(const roofline_pass *p)
{
    return p->pass.flops / p->pass.bytes;
}

static double speed(const roofline_pass *p)
{
    return 1e-9 * p->pass.flops / p->pass.seconds;
}

/* Both coordinates of each pass, and of the ceiling above it. */
static void find_axes(const row_list *rows, plot *p)
{
    int points = count_points(rows), at = 0;
    double *x = take("points", points, sizeof *x), *y = take("points", 2 * points, sizeof *y);
    for (int i = 0; i < rows->count; i++)
        for (int k = 0; k < rows->row[i].roofline_count; k++, at++) {
            const roofline_pass *pass = &rows->row[i].roofline[k];
            x[at] = intensity(pass);
            y[2 * at] = speed(pass);
            y[2 * at + 1] = 1e-9 * pass->ceiling * intensity(pass);
        }
    p->x = axis_over("flops a byte", 1, x, at);
    p->y = axis_over("GFLOP/s", 1, y, 2 * at);
    free(x);
    free(y);
}

static void draw_ceiling(const plot *p, int colour, const roofline_pass *pass)
{
    const double x[2] = {p->x.from, p->x.to};
    const double y[2] = {1e-9 * pass->ceiling * x[0], 1e-9 * pass->ceiling * x[1]};
    if (isfinite(pass->ceiling)) plot_curve(p, colour, x, y, 2);
}

/* The first pass of an owner brings its ceiling. */
static void draw_row(plot *p, int colour, const row *r)
{
    const char *owner = "";
    for (int k = 0; k < r->roofline_count; k++) {
        const roofline_pass *pass = &r->roofline[k];
        char label[64];
        if (strcmp(owner, pass->pass.owner) != 0) draw_ceiling(p, colour, pass);
        owner = pass->pass.owner;
        snprintf(label, sizeof label, "%s, %s", pass->pass.name, pass->pass.owner);
        plot_point(p, colour, intensity(pass), speed(pass), label);
    }
    char label[512];
    row_label(r, label, sizeof label);
    plot_legend(p, colour, 1, label);
}

void write_roofline_svg(const row_list *rows, FILE *stream)
{
    plot p = {.stream = stream};
    int drawn = 0;
    for (int i = 0; i < rows->count; i++) drawn += rows->row[i].roofline_count > 0;
    find_axes(rows, &p);
    plot_begin(&p, drawn, "Passes of an iteration below their memory's read bandwidth",
               rows->count && rows->row[0].machine ? rows->row[0].machine : "");
    for (int i = 0, colour = 0; i < rows->count; i++)
        if (rows->row[i].roofline_count > 0) draw_row(&p, colour++, &rows->row[i]);
    plot_end(&p);
}
