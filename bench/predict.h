/* SPDX-License-Identifier: BSD-3-Clause */
/* predict.h: what the model says of one matrix on one machine: plans, ranked, and what would have
 * to change for others to win. */
#ifndef BENCH_PREDICT_H
#define BENCH_PREDICT_H

#include <stdio.h>

#include <yoke_tools.h>

#include "bench/options.h"

typedef struct predicted_plan {
    yoke_model_plan plan;
    char partition[32], home[32]; /* plan.home may point to the latter */
    yoke_prediction p;
    double gain; /* over the best single owner that fits */
} predicted_plan;

/* Factors and rows are NaN where nothing within reach changes who wins. */
typedef struct forecast {
    const char *matrix, *machine;
    yoke_shape shape;
    const yoke_model *model;
    int ranks;
    double gpu_memory;    /* bytes */
    predicted_plan *plan; /* [count], fastest first; those that do not fit last */
    int count;
    int single, shared;           /* the best of one owner, and of both; -1: there is none */
    double rows_even;             /* rows below which sharing loses */
    double link_even, cores_even; /* times as fast, at which the other of the two wins */
} forecast;

/* All plans that the options allow, predicted and ranked: f->shape, f->model and f->ranks are set.
 * solver: NULL, or only plans of that one. The exit code, or 0. */
int forecast_make(const bench_options *options, const char *solver, forecast *f);
void forecast_free(forecast *f);

/* Predicts p; what does not fit in the GPU's memory and has no home of its own spills as much of
 * its matrix as it must. 0 where the model refuses the plan or lacks a figure. */
int predict_fitting(const forecast *f, const yoke_model *model, const yoke_shape *shape,
                    predicted_plan *p);

/* The best share of a plan of both owners; 0 where none was found. */
double best_share(const forecast *f, const yoke_model *model, const yoke_shape *shape,
                  const predicted_plan *plan);

/* The matrix so many times as long, and like itself: a halo is a face, but of scattered columns. */
yoke_shape shape_scaled(const yoke_shape *a, double factor);

/* The recurrences that are asked for, else those that there are where ranks are several; at least
 * one, at most FORECAST_SOLVERS. */
enum { FORECAST_SOLVERS = 8 };
int forecast_solvers(const bench_options *options, int ranks, const char *solver[FORECAST_SOLVERS]);

/* The term that counts most; what a term is of the whole, in percent, also of a system without
 * rows. */
int largest_term(const yoke_prediction *p);
double percent_of(const predicted_plan *p, int term);

/* Of the best plans of one owner and of both: where they change places. */
void find_break_evens(yoke_context *context, forecast *f);

void write_forecast(const forecast *f, FILE *stream);
void write_forecast_terms(const forecast *f, FILE *stream); /* --explain */
void write_forecast_json(const forecast *f, FILE *stream);
void write_forecast_csv(const forecast *f, int first, FILE *stream);

/* Time against the CPU's share, a curve a machine. */
void write_forecast_svg(const forecast *f, int count, FILE *stream);

/* "GPU + CPU 5.2 %, mapped, graph, sell, unfolded" */
void name_plan(const predicted_plan *p, char *text, size_t capacity);

#endif
