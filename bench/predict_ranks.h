/* SPDX-License-Identifier: BSD-3-Clause */
/* predict_ranks.h: what the model says of one matrix on more and more ranks of a machine, by
 * recurrence. */
#ifndef BENCH_PREDICT_RANKS_H
#define BENCH_PREDICT_RANKS_H

#include "bench/outputs.h"
#include "bench/predict.h"

/* One number of ranks. */
typedef struct rank_point {
    int ranks;
    double rows; /* of the system */
    yoke_rank_cut cut;
    predicted_plan best[FORECAST_SOLVERS]; /* the fastest plan of each recurrence */
    double us[FORECAST_SOLVERS];           /* its time; NaN: no plan of it can be, or fits */
    int fastest;                           /* of these; -1: none */
    double efficiency; /* against the first point, which has 1; NaN where one of them is none */
} rank_point;

typedef struct rank_series {
    const forecast *f; /* matrix, machine and model */
    const bench_options *options;
    const char *solver[FORECAST_SOLVERS];
    int solvers, points;
    rank_point *point; /* [points] */
} rank_series;

/* f [machines]: whose models are open. shape [count]: as ranks[count] see the matrix. Predicts and
 * writes everything that is asked for. The exit code, or 0. */
int predict_ranks(const bench_options *options, forecast *f, int machines, const yoke_shape *shape,
                  const int *ranks, int count, outputs *out);

int is_weak(const bench_options *options);

void write_rank_series(const rank_series *s, FILE *stream);
void write_rank_series_json(const rank_series *s, FILE *stream);
void write_rank_series_csv(const rank_series *s, int first, FILE *stream);

/* Time against ranks, a curve a recurrence and machine. */
void write_rank_series_svg(const rank_series *s, int count, FILE *stream);

#endif
