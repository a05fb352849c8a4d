/* SPDX-License-Identifier: BSD-3-Clause */
/* predict_svg.c: predicted time against the CPU's share of the rows, a curve a machine, each in
 * units of its best single owner. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/plot.h"
#include "bench/predict.h"
#include "bench/take.h"

enum { POINTS = 200 };

/* Beyond some times the best share nothing is left to see. */
static double widest_share(const forecast *f, int count)
{
    double share = 0.05;
    for (int i = 0; i < count; i++)
        if (f[i].shared >= 0) share = fmax(share, 1.6 * f[i].plan[f[i].shared].plan.cpu_share);
    return fmin(share, 1.0);
}

/* Of the best single owner: what times are divided by. */
static double unit_of(const forecast *f)
{
    return f->single >= 0 ? f->plan[f->single].p.seconds : f->plan[0].p.seconds;
}

/* At share 0 the GPU alone, by the same driver and shape. */
static void find_curve(const forecast *f, double widest, double *x, double *y)
{
    for (int k = 0; k < POINTS; k++) {
        predicted_plan p = {.plan = {0}};
        if (f->shared >= 0) p = f->plan[f->shared];
        if (*p.home) p.plan.home = NULL;
        p.plan.cpu_share = fmin(widest * k / (POINTS - 1), 0.9999);
        x[k] = 100.0 * p.plan.cpu_share;
        y[k] = NAN;
        if (predict_fitting(f, f->model, &f->shape, &p) && p.p.fits)
            y[k] = p.p.seconds / unit_of(f);
    }
}

static void draw_legend(plot *p, int colour, const forecast *f)
{
    char text[320], plan[160];
    name_plan(&f->plan[f->single >= 0 ? f->single : 0], plan, sizeof plan);
    snprintf(text, sizeof text, "%s: 1 is %.4g us, %s", f->machine, 1e6 * unit_of(f), plan);
    plot_legend(p, colour, 0, text);
}

static void draw_machine(plot *p, int colour, const forecast *f, const double *x, const double *y)
{
    char text[64];
    plot_curve(p, colour, x, y, POINTS);
    draw_legend(p, colour, f);
    if (f->shared < 0) return;
    const predicted_plan *best = &f->plan[f->shared];
    snprintf(text, sizeof text, "%.2f %%: %.4g us", 100.0 * best->plan.cpu_share,
             1e6 * best->p.seconds);
    plot_point(p, colour, 100.0 * best->plan.cpu_share, best->p.seconds / unit_of(f), text);
}

/* Half as long again as the best single owner is as far as anyone looks. */
static axis axis_of_times(const double *y, int count)
{
    axis a = {1.0, 1.5, 0, "predicted time of an iteration / that of the best single owner"};
    for (int i = 0; i < count; i++)
        if (y[i] < a.from) a.from = floor(10.0 * y[i]) / 10.0;
    return a;
}

void write_forecast_svg(const forecast *f, int count, FILE *stream)
{
    double *x = take("points", (int64_t)count * POINTS, sizeof *x);
    double *y = take("points", (int64_t)count * POINTS, sizeof *y);
    double widest = widest_share(f, count);
    for (int i = 0; i < count; i++) find_curve(&f[i], widest, x + i * POINTS, y + i * POINTS);
    plot p = {.x = axis_over("share of the rows on the CPU, %", 0, x, count * POINTS),
              .y = axis_of_times(y, count * POINTS),
              .stream = stream};
    char title[256];
    snprintf(title, sizeof title, "Conjugate gradients on %.200s", f[0].matrix);
    plot_begin(&p, count, title, yoke_version(NULL, NULL, NULL));
    for (int i = 0; i < count; i++) {
        draw_machine(&p, i, &f[i], x + i * POINTS, y + i * POINTS);
    }
    plot_end(&p);
    free(x);
    free(y);
}
