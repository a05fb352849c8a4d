/* SPDX-License-Identifier: BSD-3-Clause */
/* predict_ranks_write.c: predictions for more and more ranks as a table, JSON, CSV and SVG. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/commit.h"
#include "bench/explain.h"
#include "bench/plot.h"
#include "bench/predict_ranks.h"
#include "bench/take.h"
#include "bench/write_rows.h"

enum { SCHEMA = 1 };

static const char *deal_of(const rank_series *s)
{
    return s->options->deal ? s->options->deal : "nonzeros";
}

static const char *scaling_of(const rank_series *s)
{
    return is_weak(s->options) ? "weak" : "strong";
}

/* ------------------------------------------------------------------- table */

static void write_head(const rank_series *s, FILE *stream)
{
    fprintf(stream, "\n%s%s on %s, rows dealt out by %s; network: %.3g us, %.3g GB/s\n\n",
            s->f->matrix, is_weak(s->options) ? " a rank" : "", s->f->machine, deal_of(s),
            1e6 * s->options->network[0], 1e-9 * s->options->network[1]);
    fprintf(stream, "%7s %13s %11s %10s", "ranks", "rows a rank", "halo", "neighbours");
    for (int k = 0; k < s->solvers; k++) fprintf(stream, " %12s", s->solver[k]);
    fprintf(stream, " %10s  %s\n", "efficiency", "most of the fastest");
}

static void write_point(const rank_series *s, const rank_point *p, FILE *stream)
{
    char rows[40], halo[40];
    format_grouped((int64_t)(p->rows / p->ranks), rows, sizeof rows);
    format_grouped((int64_t)round(p->cut.halo), halo, sizeof halo);
    fprintf(stream, "%7d %13s %11s %10.0f", p->ranks, rows, halo, p->cut.neighbours);
    for (int k = 0; k < s->solvers; k++)
        if (isnan(p->us[k]))
            fprintf(stream, " %12s", "-");
        else
            fprintf(stream, " %12.2f", p->us[k]);
    if (p->fastest < 0) {
        fprintf(stream, " %10s  %s\n", "-", "does not fit in the GPUs' memory");
        return;
    }
    const predicted_plan *best = &p->best[p->fastest];
    int t = largest_term(&best->p);
    if (isnan(p->efficiency))
        fprintf(stream, " %10s", "-");
    else
        fprintf(stream, " %8.1f %%", 100.0 * p->efficiency);
    fprintf(stream, "  %s (%.0f %%)\n", best->p.term[t].text, percent_of(best, t));
}

/* "cg is the fastest on 1 to 16 ranks, cg-pipelined on 64 to 4096." */
static void write_crossovers(const rank_series *s, FILE *stream)
{
    const char *before = "  Fastest of the numbers above:";
    for (int i = 0; i < s->points;) {
        int from = i, k = s->point[i].fastest;
        while (i < s->points && s->point[i].fastest == k) i++;
        if (k < 0) continue;
        fprintf(stream, "%s %s on %d", before, s->solver[k], s->point[from].ranks);
        if (i - from > 1) fprintf(stream, " to %d", s->point[i - 1].ranks);
        before = ",";
    }
    fputs(*before == ',' ? ".\n" : "", stream);
}

/* The plan of the last point's fastest: what the times are of. */
static void write_plan(const rank_series *s, FILE *stream)
{
    const rank_point *p = &s->point[s->points - 1];
    char text[160];
    if (p->fastest < 0) return;
    name_plan(&p->best[p->fastest], text, sizeof text);
    fprintf(stream,
            "  Microseconds of an iteration by each solver's fastest plan; of the last line: %s.\n",
            text);
}

void write_rank_series(const rank_series *s, FILE *stream)
{
    write_head(s, stream);
    for (int i = 0; i < s->points; i++) write_point(s, &s->point[i], stream);
    fputc('\n', stream);
    if (s->solvers > 1) write_crossovers(s, stream);
    write_plan(s, stream);
}

/* ------------------------------------------------------------- JSON and CSV */

static void write_number(const char *before, const char *key, double value, FILE *stream)
{
    char text[40];
    format_number(value, text, sizeof text);
    fprintf(stream, "%s\"%s\":%s", before, key, text);
}

static void write_text(const char *key, const char *value, FILE *stream)
{
    fprintf(stream, ",\"%s\":", key);
    write_json_text(value, stream);
}

static void write_terms_json(const yoke_prediction *p, FILE *stream)
{
    fputs(",\"us\":{", stream);
    for (int t = 0; t < p->terms; t++)
        write_number(t ? "," : "", p->term[t].name, 1e6 * p->term[t].counted, stream);
    fputc('}', stream);
}

static void write_solver_json(const predicted_plan *p, double us, FILE *stream)
{
    char text[160];
    write_number("{", "us_per_iteration", us, stream);
    if (!isnan(us)) {
        name_plan(p, text, sizeof text);
        write_text("plan", text, stream);
        write_terms_json(&p->p, stream);
    }
    fputc('}', stream);
}

static void write_point_json(const rank_series *s, const rank_point *p, FILE *stream)
{
    write_number("{", "ranks", p->ranks, stream);
    write_number(",", "rows", p->rows, stream);
    write_number(",", "halo", p->cut.halo, stream);
    write_number(",", "neighbours", p->cut.neighbours, stream);
    write_text("fastest", p->fastest < 0 ? NULL : s->solver[p->fastest], stream);
    write_number(",", "efficiency", p->efficiency, stream);
    fputs(",\"solvers\":{", stream);
    for (int k = 0; k < s->solvers; k++) {
        fprintf(stream, "%s\"%s\":", k ? "," : "", s->solver[k]);
        write_solver_json(&p->best[k], p->us[k], stream);
    }
    fputs("}}", stream);
}

void write_rank_series_json(const rank_series *s, FILE *stream)
{
    fprintf(stream, "{\"schema\":%d", SCHEMA);
    write_text("version", yoke_version(NULL, NULL, NULL), stream);
    write_text("commit", YOKE_COMMIT, stream);
    write_text("machine", s->f->machine, stream);
    write_text("matrix", s->f->matrix, stream);
    write_text("scaling", scaling_of(s), stream);
    write_text("deal", deal_of(s), stream);
    write_number(",", "latency", s->options->network[0], stream);
    write_number(",", "bandwidth", s->options->network[1], stream);
    fputs(",\"points\":[", stream);
    for (int i = 0; i < s->points; i++) {
        if (i) fputc(',', stream);
        write_point_json(s, &s->point[i], stream);
    }
    fputs("]}\n", stream);
}

void write_rank_series_csv(const rank_series *s, int first, FILE *stream)
{
    if (first)
        fputs("machine,matrix,scaling,deal,ranks,rows,halo,neighbours,solver,us_per_iteration\n",
              stream);
    for (int i = 0; i < s->points; i++)
        for (int k = 0; k < s->solvers; k++) {
            const rank_point *p = &s->point[i];
            if (isnan(p->us[k])) continue;
            write_csv_text(s->f->machine, stream);
            fputc(',', stream);
            write_csv_text(s->f->matrix, stream);
            fprintf(stream, ",%s,%s,%d,%.0f,%.0f,%.0f,%s,%.6g\n", scaling_of(s), deal_of(s),
                    p->ranks, p->rows, p->cut.halo, p->cut.neighbours, s->solver[k], p->us[k]);
        }
}

/* --------------------------------------------------------------------- SVG */

static void draw(plot *p, int colour, const rank_series *s, int k, const double *x, const double *y)
{
    char text[320];
    snprintf(text, sizeof text, "%s, %s", s->f->machine, s->solver[k]);
    plot_curve(p, colour, x, y, s->points);
    plot_legend(p, colour, 0, text);
}

void write_rank_series_svg(const rank_series *s, int count, FILE *stream)
{
    int curves = count * s->solvers, points = s->points;
    double *x = take("points", (int64_t)curves * points, sizeof *x);
    double *y = take("points", (int64_t)curves * points, sizeof *y);
    for (int c = 0; c < curves; c++)
        for (int i = 0; i < points; i++) {
            const rank_point *p = &s[c / s->solvers].point[i];
            x[c * points + i] = p->ranks;
            y[c * points + i] = p->us[c % s->solvers];
        }
    plot p = {.x = axis_over("ranks", 1, x, curves * points),
              .y = axis_over("microseconds of an iteration", 1, y, curves * points),
              .stream = stream};
    char title[320];
    snprintf(title, sizeof title, "Conjugate gradients on %.200s%s, dealt out by %s", s->f->matrix,
             is_weak(s->options) ? " a rank" : "", deal_of(s));
    plot_begin(&p, curves, title, yoke_version(NULL, NULL, NULL));
    for (int c = 0; c < curves; c++)
        draw(&p, c, &s[c / s->solvers], c % s->solvers, x + c * points, y + c * points);
    plot_end(&p);
    free(x);
    free(y);
}
