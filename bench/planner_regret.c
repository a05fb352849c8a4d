/* SPDX-License-Identifier: BSD-3-Clause */
/* planner_regret.c: planner_regret [--rounds N] [--seconds S] [--json FILE] [--cpu] [SPEC...]:
 * every plan that can be forced on a configuration, and those of auto with effort estimate and
 * measure, in one process, taking turns; how much slower auto's are than the best of all, and how
 * many iterations longer it took to make them. SPEC: generated matrices in place of the built-in
 * list.
 *
 * Where auto's plan is, by its names, one of the forced ones, the two times are of one plan, and
 * the lesser counts for both. */
#include "bench/planner_regret.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yoke_io.h>

#include "bench/statistics.h"
#include "bench/take.h"

enum { MOST_PLANS = 32, MOST_ROUNDS = 15, TEXT = 160 };

/* What auto is held to, by effort. */
static const char *const efforts[] = {"estimate", "measure"};
static const double bars[] = {0.10, 0.03};

typedef struct tried {
    yoke_plan *plan; /* NULL: refused, or given up */
    char name[TEXT];
    double us[MOST_ROUNDS], median;
    double planning; /* seconds */
} tried;

typedef struct trial {
    yoke_context *context;
    yoke_matrix *matrix;
    double *b, *x;
    int64_t iterations;
    int rounds, on_gpu;
    tried of[MOST_PLANS];
    int count; /* the last two are auto's */
} trial;

typedef struct verdict {
    int best, judged;
    double regret[2], planning[2]; /* planning: iterations beyond those of the same plan, forced */
} verdict;

/* ------------------------------------------------------------------ solving */

static double iteration_us(const trial *t, yoke_plan *plan, int64_t iterations)
{
    yoke_solve_options options = yoke_solve_defaults();
    options.maxit = iterations;
    options.fixed_iterations = 1;
    if (yoke_solve(plan, t->b, t->x, &options)) return INFINITY;
    const yoke_report *r = yoke_plan_report(plan);
    return r->iterations > 0 ? 1e6 * r->solve_seconds / (double)r->iterations : INFINITY;
}

/* One name, one plan. */
static void name_it(const trial *t, tried *one)
{
    const yoke_report *r = yoke_plan_report(one->plan);
    const char *home = strcmp(r->home, "owner") != 0 ? r->home : "";
    char owners[64];
    int both = r->gpus > 0 && r->cpu_rows > 0;
    if (both)
        snprintf(owners, sizeof owners, "gpu + %.2f%% %s",
                 100.0 * (double)r->cpu_rows / (double)yoke_matrix_rows(t->matrix), r->memory);
    else
        snprintf(owners, sizeof owners, r->gpus > 0 ? "gpu" : "cpu");
    snprintf(one->name, sizeof one->name, "%s %s%s%s %s %s", owners, home, *home ? " " : "",
             r->driver, r->format, r->shape);
    size_t used = strlen(one->name);
    if (r->cpu_rows > 0)
        snprintf(one->name + used, sizeof one->name - used, " %d threads", r->threads);
}

/* A plan that is refused is none. */
static void add(trial *t, const yoke_plan_options *planning)
{
    tried *one = &t->of[t->count++];
    *one = (tried){.median = INFINITY};
    if (yoke_plan_create(t->matrix, planning, &one->plan)) {
        one->plan = NULL;
        return;
    }
    iteration_us(t, one->plan, 2); /* warms up */
    one->planning = yoke_plan_report(one->plan)->plan_seconds;
    name_it(t, one);
}

/* One round of all; after the first, what is three times as slow as the best is left out. */
static void time_round(trial *t, int round)
{
    double best = INFINITY;
    for (int k = 0; k < t->count; k++) {
        tried *one = &t->of[k];
        if (!one->plan) continue;
        one->us[round] = iteration_us(t, one->plan, t->iterations);
        best = fmin(best, one->us[round]);
    }
    for (int k = 0; k < t->count - 2 && round == 0; k++) {
        tried *one = &t->of[k];
        if (!one->plan || one->us[0] < 3.0 * best) continue;
        yoke_plan_destroy(one->plan);
        one->plan = NULL;
    }
}

static int64_t enough_iterations(const trial *t)
{
    double bytes =
        12.0 * (double)yoke_matrix_nonzeros(t->matrix) + 88.0 * (double)yoke_matrix_rows(t->matrix);
    double us = 1e6 * bytes / (t->on_gpu ? 3e12 : 1e10), count = 4000.0 / us;
    if (!t->on_gpu) count *= 5.0;
    return count < 10.0 ? 10 : count > 200.0 ? 200 : (int64_t)count;
}

static double room_for(yoke_matrix *matrix, const judged *config)
{
    yoke_plan_options planning = yoke_plan_defaults();
    yoke_memory memory = yoke_memory_defaults();
    planning.partition = "gpu";
    planning.driver = "graph";
    if (yoke_plan_memory(matrix, &planning, &memory)) return 0.0;
    return config->gpu_memory * (double)memory.device_bytes;
}

static void make_plans(trial *t, const judged *config)
{
    yoke_plan_options planning;
    size_t room = config->gpu_memory > 0.0 ? (size_t)room_for(t->matrix, config) : 0;
    for (int k = 0; t->count < MOST_PLANS - 2 && forced_at(k, t->on_gpu, config, &planning); k++) {
        planning.gpu_memory = room;
        add(t, &planning);
    }
    for (int e = 0; e < 2; e++) {
        planning = yoke_plan_defaults();
        planning.effort = efforts[e];
        planning.threads = config->threads;
        planning.gpu_sms = config->gpu_sms;
        planning.gpu_memory = room;
        if (!t->on_gpu) planning.partition = "cpu";
        add(t, &planning);
    }
}

/* ------------------------------------------------------------------ judging */

static double same_plan(const trial *t, int k, int *twin)
{
    double us = t->of[k].median;
    *twin = -1;
    for (int i = 0; i < t->count - 2; i++) {
        if (!t->of[i].plan || strcmp(t->of[i].name, t->of[k].name) != 0) continue;
        *twin = i;
        us = fmin(us, t->of[i].median);
    }
    return us;
}

static verdict judge(trial *t)
{
    verdict v = {.best = -1};
    double best = INFINITY;
    for (int k = 0; k < t->count; k++) {
        tried *one = &t->of[k];
        if (!one->plan) continue;
        one->median = median_of(one->us, t->rounds);
        if (one->median < best) v.best = k;
        best = fmin(best, one->median);
    }
    for (int e = 0; e < 2; e++) {
        int k = t->count - 2 + e, twin;
        double us = same_plan(t, k, &twin);
        double before = twin >= 0 ? t->of[twin].planning : 0.0;
        v.judged += t->of[k].plan != NULL;
        v.regret[e] = us / best - 1.0;
        v.planning[e] = 1e6 * (t->of[k].planning - before) / t->of[k].median;
    }
    return v;
}

static void name_config(const judged *config, char *name, size_t size)
{
    char rest[64] = "";
    if (config->threads) snprintf(rest, sizeof rest, " threads %d", config->threads);
    if (config->gpu_sms) snprintf(rest, sizeof rest, " gpu-sms %d", config->gpu_sms);
    if (config->gpu_memory > 0.0)
        snprintf(rest, sizeof rest, " gpu-memory %.2f of what it takes", config->gpu_memory);
    snprintf(name, size, "%s%s", config->spec, rest);
}

static void say(const trial *t, const judged *config, const verdict *v, FILE *json)
{
    char name[TEXT];
    name_config(config, name, sizeof name);
    printf("%-34s best %9.2f us %s\n", name, t->of[v->best].median, t->of[v->best].name);
    for (int e = 0; e < 2; e++) {
        const tried *one = &t->of[t->count - 2 + e];
        printf("  %-9s regret %5.1f %% %9.2f us %s; planning %.0f iterations\n", efforts[e],
               100.0 * v->regret[e], one->median, one->name, v->planning[e]);
        if (json)
            fprintf(json,
                    "{\"schema\":1,\"configuration\":\"%s\",\"best\":\"%s\",\"best_us\":%.4g,"
                    "\"effort\":\"%s\",\"plan\":\"%s\",\"us\":%.4g,\"regret\":%.4f,"
                    "\"planning_iterations\":%.1f}\n",
                    name, t->of[v->best].name, t->of[v->best].median, efforts[e], one->name,
                    one->median, v->regret[e], v->planning[e]);
    }
    fflush(stdout);
}

static void trial_close(trial *t)
{
    for (int k = 0; k < t->count; k++) yoke_plan_destroy(t->of[k].plan);
    yoke_matrix_destroy(t->matrix);
    yoke_context_destroy(t->context);
    free(t->b);
    free(t->x);
}

/* A verdict with judged 0 where nothing could be run. */
static verdict try_one(const judged *config, int on_gpu, int rounds, FILE *json)
{
    trial t = {.on_gpu = on_gpu, .rounds = rounds};
    verdict v = {.best = -1};
    if (yoke_context_create(NULL, &t.context) ||
        yoke_matrix_generate(t.context, config->spec, &t.matrix)) {
        fprintf(stderr, "planner_regret: %s\n", yoke_error_text());
        yoke_context_destroy(t.context);
        return v;
    }
    int64_t rows = yoke_matrix_rows(t.matrix);
    t.b = take("b", rows, sizeof *t.b);
    t.x = take("x", rows, sizeof *t.x);
    for (int64_t i = 0; i < rows; i++) t.b[i] = 1.0;
    t.iterations = enough_iterations(&t);
    make_plans(&t, config);
    for (int round = 0; round < rounds; round++) time_round(&t, round);
    v = judge(&t);
    if (v.judged == 2) say(&t, config, &v, json);
    trial_close(&t);
    return v;
}

/* --------------------------------------------------------------------- all */

typedef struct request {
    int rounds, on_gpu, first; /* first: place of the first SPEC */
    double seconds;
    FILE *json;
} request;

static int read_request(int argc, char **argv, request *r)
{
    *r = (request){.rounds = 5, .on_gpu = yoke_gpu_count(NULL) > 0, .seconds = 280.0};
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at++) {
        int has_value = at + 1 < argc;
        if (!strcmp(argv[at], "--cpu"))
            r->on_gpu = 0;
        else if (!strcmp(argv[at], "--rounds") && has_value)
            r->rounds = atoi(argv[++at]);
        else if (!strcmp(argv[at], "--seconds") && has_value)
            r->seconds = atof(argv[++at]);
        else if (!strcmp(argv[at], "--json") && has_value && !r->json)
            r->json = fopen(argv[++at], "w");
        else
            return 0;
    }
    r->first = at;
    return r->rounds >= 1 && r->rounds <= MOST_ROUNDS;
}

static int config_at(const request *r, int argc, char **argv, int k, judged *config)
{
    *config = (judged){.spec = NULL};
    if (r->first == argc) return judged_at(k, r->on_gpu, config);
    if (r->first + k >= argc) return 0;
    const char *spec = argv[r->first + k];
    config->spec = strncmp(spec, "gen:", 4) == 0 ? spec + 4 : spec;
    return 1;
}

typedef struct totals {
    int count, met[2], skipped;
    double worst[2], planning[2];
} totals;

static void add_verdict(totals *all, const verdict *v)
{
    all->count++;
    for (int e = 0; e < 2; e++) {
        all->met[e] += v->regret[e] <= bars[e];
        all->worst[e] = fmax(all->worst[e], v->regret[e]);
        all->planning[e] = fmax(all->planning[e], v->planning[e]);
    }
}

static void say_totals(const totals *all)
{
    for (int e = 0; e < 2; e++)
        printf("%s: within %.0f %% on %d of %d, worst %.1f %%; planning %.0f iterations at most\n",
               efforts[e], 100.0 * bars[e], all->met[e], all->count, 100.0 * all->worst[e],
               all->planning[e]);
    if (all->skipped) printf("%d configurations were left out: no time was left\n", all->skipped);
}

int main(int argc, char **argv)
{
    request r;
    judged config;
    totals all = {0};
    if (!read_request(argc, argv, &r)) {
        fputs("usage: planner_regret [--cpu] [--rounds N] [--seconds S] [--json FILE] [SPEC...]\n",
              stderr);
        return 2;
    }
    double began = yoke_seconds();
    for (int k = 0; config_at(&r, argc, argv, k, &config); k++) {
        if (yoke_seconds() - began > r.seconds) {
            all.skipped++;
            continue;
        }
        verdict v = try_one(&config, r.on_gpu, r.rounds, r.json);
        if (v.judged == 2) add_verdict(&all, &v);
    }
    say_totals(&all);
    if (r.json) fclose(r.json);
    return all.count == 0 || all.met[0] < all.count || all.met[1] < all.count;
}
