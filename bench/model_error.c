/* SPDX-License-Identifier: BSD-3-Clause */
/* model_error.c: model_error [--fit|--fit-cpu] [--choice] [--hold] [--machine NAME] RECORD...: what
 * the model predicts beside what records of run or study measured, row by row, and the median and
 * largest error, of the matrices that the model's constants were fitted to apart from the others.
 * --choice: and what the plan loses that is predicted to be the fastest of a matrix. --hold: exits
 * 1 where the last of these is above its bar. --fit: looks for constants that are better on the fit
 * set, and prints them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yoke_io.h>
#include <yoke_tools.h>

#include "bench/read_row.h"
#include "bench/row.h"
#include "bench/take.h"

/* The constants are fitted to these, and judged by all others. */
static const char *const fit_set[] = {
    "gen:poisson3d7:32",   "gen:poisson3d7:64",   "gen:poisson3d7:128",
    "gen:poisson3d27:32",  "gen:poisson3d27:64",  "gen:poisson3d27:128",
    "gen:poisson2d5:1000", "gen:elasticity3d:48", "gen:graph:1000000:16:1"};
enum { FIT_SET = sizeof fit_set / sizeof *fit_set, ROUNDS = 40 };

/* Below, an iteration is one kernel's latency; a bar is for systems from here on. */
#define LEAST_ROWS 30000

/* What it is held to, of a GPU alone. */
#define MEDIAN_BAR  0.05
#define LARGEST_BAR 0.12

typedef struct sample {
    char name[200];
    yoke_shape shape;
    yoke_model_plan plan;
    double us, predicted;
    int is_fit, owner; /* 0: a GPU, 1: the CPU, 2: both */
} sample;

typedef struct samples {
    sample *of;
    int count;
    words texts; /* what plans point to */
} samples;

static int is_in_fit_set(const char *matrix)
{
    for (int i = 0; i < FIT_SET; i++)
        if (!strcmp(fit_set[i], matrix)) return 1;
    return 0;
}

/* What the notice of a pretended slower card says: "gpu_sms 12: ...". */
static int gpu_sms_of(const row *r)
{
    for (int i = 0; i < r->notices.count; i++)
        if (!strncmp(r->notices.word[i], "gpu_sms ", 8)) return atoi(r->notices.word[i] + 8);
    return 0;
}

static const char *kept_text(samples *all, const char *text)
{
    if (!text) return NULL;
    words_add(&all->texts, text);
    return all->texts.word[all->texts.count - 1];
}

static int can_be_predicted(const row *r)
{
    return isfinite(r->us_median) && r->rows >= LEAST_ROWS && r->solver &&
           !strcmp(r->solver, "cg") && r->format && strcmp(r->format, "cusparse") != 0 &&
           !strncmp(r->matrix, "gen:", 4) && r->cpu_rows >= 0 &&
           (!r->memory || strcmp(r->memory, "host") != 0);
}

static void name_sample(const row *r, sample *s)
{
    snprintf(s->name, sizeof s->name, "%s %s %s %s %s %s %s%s", r->matrix,
             r->memory ? r->memory : "-", r->home, r->partition, r->driver, r->format, r->shape,
             s->plan.gpu_sms ? " gpu-sms" : "");
}

static void add_row(const row *r, samples *all)
{
    sample s = {.us = r->us_median};
    if (!can_be_predicted(r) || yoke_shape_of_generated(r->matrix + 4, &s.shape)) return;
    s.plan.cpu_share = (double)r->cpu_rows / (double)r->rows;
    s.plan.memory = r->gpus > 0 ? kept_text(all, r->memory) : NULL;
    s.plan.home = kept_text(all, r->home);
    s.plan.driver = kept_text(all, r->driver);
    s.plan.format = kept_text(all, r->format);
    s.plan.shape = kept_text(all, r->shape);
    s.plan.preconditioner = kept_text(all, r->precond);
    s.plan.threads = (int)r->threads;
    s.plan.gpu_sms = gpu_sms_of(r);
    s.is_fit = is_in_fit_set(r->matrix);
    s.owner = r->cpu_rows == 0 ? 0 : r->gpus == 0 ? 1 : 2;
    name_sample(r, &s);
    sample *grown = take("samples", all->count + 1, sizeof *grown);
    if (all->count) memcpy(grown, all->of, (size_t)all->count * sizeof *grown);
    free(all->of);
    all->of = grown;
    all->of[all->count++] = s;
}

static int read_records(const char *path, samples *all)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t size = 0;
    if (!file) {
        fprintf(stderr, "model_error: %s: cannot read\n", path);
        return 2;
    }
    while (getline(&line, &size, file) > 0) {
        row r = row_unknown();
        line[strcspn(line, "\n")] = '\0';
        if (read_row(line, &r)) add_row(&r, all);
        row_free(&r);
    }
    free(line);
    fclose(file);
    return 0;
}

/* ------------------------------------------------------------------- errors */

static double error_of(const yoke_model *model, sample *s)
{
    yoke_prediction prediction;
    s->predicted = NAN;
    if (yoke_model_predict(model, &s->shape, &s->plan, &prediction)) return NAN;
    s->predicted = 1e6 * prediction.seconds;
    return fabs(s->predicted - s->us) / s->us;
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Of an owner's rows, fitted or judged: ascending errors; how many. */
static int errors_of(const yoke_model *model, samples *all, int owner, int is_fit, double *error)
{
    int count = 0;
    for (int i = 0; i < all->count; i++) {
        sample *s = &all->of[i];
        double one = s->owner == owner && s->is_fit == is_fit ? error_of(model, s) : NAN;
        if (!isnan(one)) error[count++] = one;
    }
    qsort(error, (size_t)count, sizeof *error, by_value);
    return count;
}

/* 1 if what the model is held to is missed. */
static int say_group(const yoke_model *model, samples *all, int owner, int is_fit)
{
    static const char *const owners[] = {"a GPU alone", "the CPU alone", "GPU and CPU"};
    double *error = take("errors", all->count + 1, sizeof *error);
    int count = errors_of(model, all, owner, is_fit, error), missed = 0;
    if (count) {
        double median = error[count / 2], largest = error[count - 1];
        printf("%-13s %-9s %4d rows: median error %5.1f %%, largest %5.1f %%\n", owners[owner],
               is_fit ? "fit set" : "judged", count, 100.0 * median, 100.0 * largest);
        missed = owner == 0 && !is_fit && (median > MEDIAN_BAR || largest > LARGEST_BAR);
    }
    free(error);
    return missed;
}

static int say_rows(const yoke_model *model, samples *all)
{
    printf("%10s %10s %7s  %s\n", "measured", "predicted", "error", "row (us an iteration)");
    for (int i = 0; i < all->count; i++) {
        sample *s = &all->of[i];
        double error = error_of(model, s);
        printf("%10.2f %10.2f %6.1f%%  %s%s\n", s->us, s->predicted, 100.0 * error, s->name,
               s->is_fit ? "" : " [judged]");
    }
    int missed = 0;
    for (int group = 0; group < 6; group++)
        missed |= say_group(model, all, group / 2, group % 2 == 0);
    return missed;
}

/* ------------------------------------------------------------------- choice */

/* What a choice by the model may lose: what the effort estimate is held to. */
#define CHOICE_BAR 0.10

static int is_of_matrix(const sample *s, const sample *first)
{
    size_t length = strcspn(first->name, " ");
    return s->owner == 0 && !s->plan.gpu_sms && strcspn(s->name, " ") == length &&
           strncmp(s->name, first->name, length) == 0;
}

/* Of one matrix's plans on a GPU alone: how much slower than the fastest the one is that is
 * predicted to be so; NaN where they are not two. A plan that was measured twice has its lesser
 * time. */
static double lost_by_choice(samples *all, const sample *first)
{
    const sample *picked = first;
    double best = INFINITY, of_picked = INFINITY;
    int others = 0;
    for (int i = 0; i < all->count; i++) {
        const sample *s = &all->of[i];
        if (!is_of_matrix(s, first)) continue;
        others += strcmp(s->name, first->name) != 0;
        best = fmin(best, s->us);
        if (s->predicted < picked->predicted) picked = s;
    }
    for (int i = 0; i < all->count; i++)
        if (strcmp(all->of[i].name, picked->name) == 0) of_picked = fmin(of_picked, all->of[i].us);
    return others ? of_picked / best - 1.0 : NAN;
}

static int is_first_of_matrix(const samples *all, int k)
{
    for (int i = 0; i < k; i++)
        if (is_of_matrix(&all->of[i], &all->of[k])) return 0;
    return is_of_matrix(&all->of[k], &all->of[k]);
}

/* After the rows were predicted. 1 if what the choice is held to is missed. */
static int say_choices(samples *all)
{
    double worst = 0.0;
    int count = 0, right = 0;
    for (int k = 0; k < all->count; k++) {
        const sample *s = &all->of[k];
        double lost = is_first_of_matrix(all, k) ? lost_by_choice(all, s) : NAN;
        if (isnan(lost)) continue;
        printf("%6.1f%%  %.*s\n", 100.0 * lost, (int)strcspn(s->name, " "), s->name);
        worst = fmax(worst, lost);
        count++;
        right += lost == 0.0;
    }
    printf("choice on a GPU alone: the fastest on %d of %d matrices, at worst %.1f %% lost\n",
           right, count, 100.0 * worst);
    return count == 0 || worst > CHOICE_BAR;
}

/* ---------------------------------------------------------------------- fit */

/* The mean square of the errors, with a weight on the largest. */
static double cost(const yoke_model *model, samples *all, int owner)
{
    double sum = 0.0, largest = 0.0;
    int count = 0;
    for (int i = 0; i < all->count; i++) {
        sample *s = &all->of[i];
        double error = s->is_fit && s->owner == owner ? error_of(model, s) : NAN;
        if (isnan(error)) continue;
        error = fabs(log(s->predicted / s->us));
        sum += error * error;
        largest = fmax(largest, error);
        count++;
    }
    return count ? sum / count + 0.05 * largest * largest : INFINITY;
}

/* One constant after another, up and down by ever smaller steps. */
static void fit(yoke_model *model, samples *all, int owner)
{
    double best = cost(model, all, owner), step = 0.1, value;
    const char *name, *text;
    for (int round = 0; round < ROUNDS; round++, step *= 0.85)
        for (int k = 0; yoke_model_constant(model, k, &value, &text); k++)
            for (int sign = -1; sign <= 1; sign += 2) {
                double tried = value * (1.0 + sign * step);
                yoke_model_set_constant(model, k, tried);
                double now = cost(model, all, owner);
                if (now < best * (1.0 - 1e-6)) {
                    best = now;
                    value = tried;
                }
                yoke_model_set_constant(model, k, value);
            }
    for (int k = 0; (name = yoke_model_constant(model, k, &value, &text)); k++)
        printf("%-22s %.4g  %s\n", name, value, text);
}

static int usage(void)
{
    fputs("usage: model_error [--fit|--fit-cpu] [--choice] [--hold] [--machine NAME] RECORD...\n",
          stderr);
    return 2;
}

typedef struct request {
    const char *machine;
    int fits, chooses, holds; /* fits: 1 a GPU's constants, 2 the CPU's */
} request;

/* The place of the first record; 0: that is no way to call it. */
static int read_request(int argc, char **argv, request *wanted)
{
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at++) {
        if (!strcmp(argv[at], "--fit"))
            wanted->fits = 1;
        else if (!strcmp(argv[at], "--fit-cpu"))
            wanted->fits = 2;
        else if (!strcmp(argv[at], "--choice"))
            wanted->chooses = 1;
        else if (!strcmp(argv[at], "--hold"))
            wanted->holds = 1;
        else if (!strcmp(argv[at], "--machine") && at + 1 < argc)
            wanted->machine = argv[++at];
        else
            return 0;
    }
    return at < argc ? at : 0;
}

static int compare(const request *wanted, samples *all)
{
    yoke_context *context = NULL;
    yoke_model *model = NULL;
    int missed = 2;
    if (yoke_context_create(NULL, &context) || yoke_model_open(context, wanted->machine, &model))
        fprintf(stderr, "model_error: %s\n", yoke_error_text());
    else {
        if (wanted->fits) fit(model, all, wanted->fits - 1);
        missed = say_rows(model, all);
        if (wanted->chooses) missed = say_choices(all);
        missed = missed && wanted->holds;
    }
    yoke_model_close(model);
    yoke_context_destroy(context);
    return missed;
}

int main(int argc, char **argv)
{
    request wanted = {.machine = "h200-16cores"};
    samples all = {0};
    int code = 0, at = read_request(argc, argv, &wanted);
    if (at == 0) return usage();
    for (; at < argc && !code; at++) code = read_records(argv[at], &all);
    if (!code) code = compare(&wanted, &all);
    words_free(&all.texts);
    free(all.of);
    return code;
}
