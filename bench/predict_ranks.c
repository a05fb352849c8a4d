/* SPDX-License-Identifier: BSD-3-Clause */
/* predict_ranks.c: cgbench predict --ranks P,P,...: the fastest plan of each recurrence on so many
 * ranks. */
#include "bench/predict_ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/say.h"
#include "bench/take.h"

int is_weak(const bench_options *options)
{
    return options->scaling && !strcmp(options->scaling, "weak");
}

/* The plans' names stay those of the options and of literals; the text of a home that had to spill
 * is the plan's own, and moves with it. */
static int find_best(const bench_options *options, forecast *f, const char *solver,
                     predicted_plan *best, double *us)
{
    int code = forecast_make(options, solver, f);
    *us = NAN;
    if (!code && f->plan[0].p.fits) {
        *best = f->plan[0];
        if (*best->home) best->plan.home = best->home;
        *us = 1e6 * best->p.seconds;
    }
    forecast_free(f);
    return code;
}

static int find_point(const rank_series *s, forecast *f, rank_point *p)
{
    const yoke_model_plan plan = {.ranks = p->ranks, .deal = s->options->deal};
    p->cut = yoke_model_cut(&f->shape, &plan);
    p->rows = f->shape.rows;
    p->fastest = -1;
    for (int k = 0; k < s->solvers; k++) {
        int code = find_best(s->options, f, s->solver[k], &p->best[k], &p->us[k]);
        if (code) return code;
        if (isnan(p->us[k])) continue;
        if (p->fastest < 0 || p->us[k] < p->us[p->fastest]) p->fastest = k;
    }
    return 0;
}

/* Of what so many ranks could do together of what the first number of them does. */
static void find_efficiency(const rank_series *s, rank_point *p)
{
    const rank_point *first = &s->point[0];
    p->efficiency = NAN;
    if (first->fastest < 0 || p->fastest < 0) return;
    double work = is_weak(s->options) ? 1.0 : (double)p->ranks / first->ranks;
    p->efficiency = first->us[first->fastest] / (p->us[p->fastest] * work);
}

static int fill(rank_series *s, forecast *f, const yoke_shape *shape, const int *ranks)
{
    for (int i = 0; i < s->points; i++) {
        f->shape = shape[i];
        f->ranks = s->point[i].ranks = ranks[i];
        int code = find_point(s, f, &s->point[i]);
        if (code) return code;
        find_efficiency(s, &s->point[i]);
    }
    return 0;
}

static int most_of(const int *ranks, int count)
{
    int most = 1;
    for (int i = 0; i < count; i++)
        if (ranks[i] > most) most = ranks[i];
    return most;
}

static int write_all(const bench_options *options, const rank_series *s, int count, outputs *out)
{
    for (int i = 0; i < count; i++) {
        if (!options->quiet) write_rank_series(&s[i], out->table);
        if (out->json.stream) write_rank_series_json(&s[i], out->json.stream);
        if (out->csv.stream) write_rank_series_csv(&s[i], i == 0, out->csv.stream);
    }
    if (out->svg.stream) write_rank_series_svg(s, count, out->svg.stream);
    return outputs_commit(out);
}

int predict_ranks(const bench_options *options, forecast *f, int machines, const yoke_shape *shape,
                  const int *ranks, int count, outputs *out)
{
    rank_series *s = take("predictions", machines, sizeof *s);
    rank_point *points = take("predictions", (int64_t)machines * count, sizeof *points);
    int code = 0;
    for (int i = 0; i < machines && !code; i++) {
        s[i] = (rank_series){&f[i], options, {NULL}, 0, count, points + (ptrdiff_t)i * count};
        s[i].solvers = forecast_solvers(options, most_of(ranks, count), s[i].solver);
        code = fill(&s[i], &f[i], shape, ranks);
    }
    if (!code) code = write_all(options, s, machines, out);
    free(points);
    free(s);
    return code;
}
