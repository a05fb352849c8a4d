/* SPDX-License-Identifier: BSD-3-Clause */
/* predict_plans.c: which plans there are, and the share that suits each best. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/predict.h"
#include "bench/say.h"
#include "bench/take.h"

enum { MOST_NAMES = 32 };

typedef struct names {
    int count;
    const char *name[MOST_NAMES];
} names;

static int has(const names *of, const char *name)
{
    for (int i = 0; i < of->count; i++)
        if (!strcmp(of->name[i], name)) return 1;
    return 0;
}

/* What is asked for on an axis, each once, "auto" being all; else what is tried by default. */
static names names_of(const words *asked, const names *by_default)
{
    names of = {0, {NULL}};
    for (int i = 0; i < asked->count && of.count < MOST_NAMES; i++) {
        if (!strcmp(asked->word[i], "auto")) return *by_default;
        if (!has(&of, asked->word[i])) of.name[of.count++] = asked->word[i];
    }
    return of.count ? of : *by_default;
}

/* ------------------------------------------------------------------- memory */

/* What of the matrix must lie in host memory for the rest to fit; 0 where the vectors alone do not.
 */
static int spill_what_must(const forecast *f, const yoke_model *model, const yoke_shape *shape,
                           predicted_plan *p)
{
    yoke_model_plan nothing = p->plan;
    yoke_prediction kept;
    nothing.home = "spill:1";
    if (yoke_model_predict(model, shape, &nothing, &kept)) return 0;
    double matrix = p->p.gpu_bytes - kept.gpu_bytes, over = p->p.gpu_bytes - f->gpu_memory;
    if (over > matrix || !(matrix > 0.0)) return 0;
    snprintf(p->home, sizeof p->home, "spill:%.4f", fmin(1.0, ceil(1e4 * over / matrix) / 1e4));
    p->plan.home = p->home;
    return !yoke_model_predict(model, shape, &p->plan, &p->p);
}

int predict_fitting(const forecast *f, const yoke_model *model, const yoke_shape *shape,
                    predicted_plan *p)
{
    const char *home = p->plan.home;
    if (yoke_model_predict(model, shape, &p->plan, &p->p) || isnan(p->p.seconds)) return 0;
    p->p.fits = p->p.gpu_bytes <= f->gpu_memory;
    if (!p->p.fits && (!home || !strcmp(home, "owner")))
        p->p.fits = spill_what_must(f, model, shape, p) && p->p.gpu_bytes <= f->gpu_memory;
    return 1;
}

/* ------------------------------------------------------------------- shares */

/* Infinite where it cannot be, or does not fit. */
static double seconds_at(const forecast *f, const yoke_model *model, const yoke_shape *shape,
                         const predicted_plan *plan, double share)
{
    predicted_plan p = *plan;
    p.plan.cpu_share = share;
    return predict_fitting(f, model, shape, &p) && p.p.fits ? p.p.seconds : INFINITY;
}

/* Golden section (Kiefer, 1953) over the logarithm: the time falls until the CPU is the slower one,
 * then rises; shares too small to fit lie on the falling side. At least a chunk of 256 rows on
 * either side. */
double best_share(const forecast *f, const yoke_model *model, const yoke_shape *shape,
                  const predicted_plan *plan)
{
    const double golden = 0.6180339887498949;
    double least = 256.0 / shape->rows, low = log(least), high = log(1.0 - least);
    if (!(shape->rows >= 512.0)) return 0.0;
    for (int i = 0; i < 60; i++) {
        double left = high - golden * (high - low), right = low + golden * (high - low);
        double at_left = seconds_at(f, model, shape, plan, exp(left));
        double at_right = seconds_at(f, model, shape, plan, exp(right));
        if (at_left <= at_right && isfinite(at_left))
            high = right;
        else
            low = left;
    }
    double share = exp(0.5 * (low + high));
    return isfinite(seconds_at(f, model, shape, plan, share)) ? share : 0.0;
}

/* ------------------------------------------------------------------- plans */

static void add(forecast *f, const predicted_plan *p)
{
    predicted_plan *grown = take("plans", f->count + 1, sizeof *grown);
    if (f->count) memcpy(grown, f->plan, (size_t)f->count * sizeof *grown);
    free(f->plan);
    f->plan = grown;
    f->plan[f->count++] = *p;
}

/* Plans that the model refuses are none; a figure that is missing makes none either. */
static void try_plan(forecast *f, predicted_plan p)
{
    if (predict_fitting(f, f->model, &f->shape, &p)) add(f, &p);
}

/* Managed and plain memory are the same to a model where the CPU has no rows. */
static int memory_matters(const predicted_plan *p)
{
    int shared = p->plan.cpu_share > 0.0 && p->plan.cpu_share < 1.0;
    return shared || (p->plan.home && !strcmp(p->plan.home, "shared"));
}

typedef struct axes {
    names memory, home, driver, shape, format, partition;
} axes;

static void for_drivers(const axes *a, predicted_plan p, int finds_share, forecast *f)
{
    for (int d = 0; d < a->driver.count; d++)
        for (int s = 0; s < a->shape.count; s++)
            for (int k = 0; k < a->format.count; k++) {
                predicted_plan one = p;
                one.plan.driver = a->driver.name[d];
                one.plan.shape = a->shape.name[s];
                one.plan.format = a->format.name[k];
                if (finds_share) {
                    one.plan.cpu_share = best_share(f, f->model, &f->shape, &one);
                    if (!(one.plan.cpu_share > 0.0)) continue;
                }
                try_plan(f, one);
            }
}

/* Where a mode is of no matter the first one stands for all. */
static void for_memories(const axes *a, predicted_plan p, int finds_share, forecast *f)
{
    for (int h = 0; h < a->home.count; h++)
        for (int m = 0; m < a->memory.count; m++) {
            predicted_plan one = p;
            one.plan.home = a->home.name[h];
            one.plan.memory = a->memory.name[m];
            if (!finds_share && !memory_matters(&one)) {
                if (m > 0) continue;
                one.plan.memory = NULL;
            }
            for_drivers(a, one, finds_share, f);
        }
}

static void for_cpu(const axes *a, predicted_plan p, forecast *f)
{
    p.plan.cpu_share = 1.0;
    p.plan.format = "csr";
    p.plan.driver = "team";
    for (int s = 0; s < a->shape.count; s++) {
        p.plan.shape = a->shape.name[s];
        try_plan(f, p);
    }
}

static void for_partition(const axes *a, const char *name, predicted_plan p, forecast *f)
{
    const char *argument = strchr(name, ':');
    snprintf(p.partition, sizeof p.partition, "%s", name);
    if (!strcmp(name, "cpu"))
        for_cpu(a, p, f);
    else if (!strcmp(name, "gpu"))
        for_memories(a, p, 0, f);
    else if (argument) {
        p.plan.cpu_share = strtod(argument + 1, NULL);
        if (p.plan.cpu_share >= 1.0)
            for_cpu(a, p, f);
        else
            for_memories(a, p, 0, f);
    } else
        for_memories(a, p, 1, f);
}

/* ------------------------------------------------------------------ ranking */

static int is_shared(const predicted_plan *p)
{
    return p->plan.cpu_share > 0.0 && p->plan.cpu_share < 1.0;
}

static int by_seconds(const void *a, const void *b)
{
    const predicted_plan *x = a, *y = b;
    if (x->p.fits != y->p.fits) return y->p.fits - x->p.fits;
    return (x->p.seconds > y->p.seconds) - (x->p.seconds < y->p.seconds);
}

/* A home's text moves with its plan. */
static void rank(forecast *f)
{
    if (f->count > 0) qsort(f->plan, (size_t)f->count, sizeof *f->plan, by_seconds);
    f->single = f->shared = -1;
    for (int i = f->count - 1; i >= 0; i--) {
        predicted_plan *p = &f->plan[i];
        if (*p->home) p->plan.home = p->home;
        if (!p->p.fits) continue;
        if (is_shared(p))
            f->shared = i;
        else
            f->single = i;
    }
    for (int i = 0; i < f->count; i++)
        f->plan[i].gain = f->single < 0 ? NAN : f->plan[f->single].p.seconds / f->plan[i].p.seconds;
}

/* The smaller of what the machine has and what is pretended. */
static double gpu_memory(const bench_options *options, const yoke_model *model)
{
    double has = yoke_model_figure(model, "gpu_memory_bytes");
    if (isnan(has)) has = INFINITY;
    return options->gpu_memory > 0.0 ? fmin(has, options->gpu_memory) : has;
}

int forecast_solvers(const bench_options *options, int ranks, const char *solver[FORECAST_SOLVERS])
{
    static const names one = {1, {"cg"}}, all = {3, {"cg", "cg-single", "cg-pipelined"}};
    const names of = names_of(&options->axis[AXIS_SOLVER], ranks > 1 ? &all : &one);
    for (int i = 0; i < of.count; i++) solver[i] = of.name[i];
    return of.count;
}

static void for_solver(const axes *a, const char *solver, predicted_plan p, forecast *f)
{
    p.plan.solver = solver;
    for (int i = 0; i < a->partition.count; i++) for_partition(a, a->partition.name[i], p, f);
}

static axes axes_of(const bench_options *options, const yoke_model *model)
{
    static const names memories = {4, {"mapped", "explicit", "managed", "system"}};
    static const names coherent_less = {3, {"mapped", "explicit", "managed"}};
    static const names homes = {1, {"owner"}}, formats = {1, {"sell"}};
    static const names drivers = {3, {"persistent", "graph", "stream"}};
    static const names shapes = {2, {"unfolded", "folded"}};
    static const names partitions = {3, {"gpu", "cpu", "model"}};
    int pageable = yoke_model_figure(model, "pageable") > 0.0;
    return (axes){.memory =
                      names_of(&options->axis[AXIS_MEMORY], pageable ? &memories : &coherent_less),
                  .home = names_of(&options->axis[AXIS_HOME], &homes),
                  .driver = names_of(&options->axis[AXIS_DRIVER], &drivers),
                  .shape = names_of(&options->axis[AXIS_SHAPE], &shapes),
                  .format = names_of(&options->axis[AXIS_FORMAT], &formats),
                  .partition = names_of(&options->axis[AXIS_PARTITION], &partitions)};
}

int forecast_make(const bench_options *options, const char *solver, forecast *f)
{
    const axes a = axes_of(options, f->model);
    const words *precond = &options->axis[AXIS_PRECOND];
    predicted_plan p = {.plan = {.preconditioner = precond->count ? precond->word[0] : NULL,
                                 .threads = (int)options->threads,
                                 .gpu_sms = (int)options->gpu_sms,
                                 .ranks = f->ranks,
                                 .deal = options->deal,
                                 .network_latency = options->network[0],
                                 .network_speed = options->network[1]}};
    const char *solvers[FORECAST_SOLVERS] = {solver};
    int count = solver ? 1 : forecast_solvers(options, f->ranks, solvers);
    f->gpu_memory = gpu_memory(options, f->model);
    for (int i = 0; i < count; i++) for_solver(&a, solvers[i], p, f);
    rank(f);
    if (f->count) return 0;
    return say_error(ENDS_BAD_INPUT, "predict: no plan of those names can be predicted for %s: %s",
                     yoke_model_machine(f->model), library_sentence());
}

void forecast_free(forecast *f)
{
    free(f->plan);
    f->plan = NULL;
    f->count = 0;
}
