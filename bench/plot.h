/* SPDX-License-Identifier: BSD-3-Clause */
/* plot.h: one drawing of curves and points over two axes, as SVG. */
#ifndef BENCH_PLOT_H
#define BENCH_PLOT_H

#include <stdio.h>

typedef struct axis {
    double from, to; /* from < to; of a logarithmic one from > 0 */
    int logarithmic;
    const char *title;
} axis;

typedef struct plot {
    axis x, y;
    FILE *stream;
    int legends; /* written so far */
} plot;

/* An axis that holds all values: whole decades, or from 0 to a round end. */
axis axis_over(const char *title, int logarithmic, const double *value, int count);

/* Title and subtitle; frame, grid and ticks. legends: how many will be written. */
void plot_begin(plot *p, int legends, const char *title, const char *subtitle);

/* The i-th colour and dash; points that are not finite are left out; clipped to the frame. */
void plot_curve(const plot *p, int i, const double *x, const double *y, int count);
void plot_point(const plot *p, int i, double x, double y, const char *label);

/* A line below the frame, with the i-th colour; as a point or as a curve. */
void plot_legend(plot *p, int i, int as_point, const char *text);
void plot_end(const plot *p);

#endif
