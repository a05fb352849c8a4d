/* SPDX-License-Identifier: BSD-3-Clause */
/* measure.c: the order matters. One iteration to learn the bytes and to warm up; then, for each
 * repeat, the bandwidth, the solve, the bandwidth again; the first repeat is verified before the
 * others are timed. */
#include "bench/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yoke_tools.h>

#include "bench/per_rank.h"
#include "bench/plans.h"
#include "bench/progress.h"
#include "bench/ranks.h"
#include "bench/roofline.h"
#include "bench/say.h"
#include "bench/statistics.h"
#include "bench/take.h"
#include "bench/verify.h"
#include "bench/wisdom.h"

enum { PASSES = 3, HISTORY_LIMIT = 1 << 22 };

typedef struct trial {
    const bench_options *options;
    const source *s;
    const interlude *between;
    yoke_plan *plan;
    yoke_bandwidth *bandwidth;
    yoke_energy *meter; /* or NULL */
    double *x;
    double *us, *fraction, *solve, *transfer, *joules; /* [repeats] */
    double setup, upload;
    int done;
} trial;

int open_context(const bench_options *options, yoke_context **context)
{
    yoke_context_options wanted = yoke_context_defaults();
    wanted.threads = (int)options->threads;
    wanted.log = wisdom_log;
    yoke_status status = ranks_context(options, &wanted, context);
    return status ? say_status(status, NULL) : 0;
}

/* To the library, NULL is auto. */
static const char *asked(const configuration *c, int axis)
{
    const char *name = c->name[axis];
    return name && strcmp(name, "auto") != 0 ? name : NULL;
}

static yoke_plan_options plan_options(const bench_options *options, const configuration *c)
{
    yoke_plan_options wanted = yoke_plan_defaults();
    wanted.memory = asked(c, AXIS_MEMORY);
    wanted.home = asked(c, AXIS_HOME);
    wanted.partition = asked(c, AXIS_PARTITION);
    wanted.solver = asked(c, AXIS_SOLVER);
    wanted.driver = asked(c, AXIS_DRIVER);
    wanted.format = asked(c, AXIS_FORMAT);
    wanted.preconditioner = asked(c, AXIS_PRECOND);
    wanted.shape = asked(c, AXIS_SHAPE);
    wanted.effort = options->effort;
    wanted.reorder = options->reorder;
    wanted.threads = (int)options->threads;
    wanted.parts = (int)options->parts;
    wanted.device = options->device_count > 0 ? options_device(options) : YOKE_DEVICE_AUTO;
    if (options->device_count > 1) {
        wanted.devices = options->devices;
        wanted.device_count = options->device_count;
    }
    wanted.gpu_memory = (size_t)options->gpu_memory;
    wanted.gpu_sms = (int)options->gpu_sms;
    wanted.nullspace = options->nullspace ? YOKE_NULLSPACE_CONSTANT : YOKE_NULLSPACE_NONE;
    return wanted;
}

static yoke_solve_options solve_options(const bench_options *options, const source *s)
{
    yoke_solve_options wanted = yoke_solve_defaults();
    wanted.rtol = options->rtol;
    wanted.atol = options->atol;
    wanted.base = !strcmp(options->base, "r0") ? YOKE_BASE_R0 : YOKE_BASE_B;
    wanted.initial_guess = s->x0 != NULL;
    wanted.maxit = options->iterations ? options->iterations : options->maxit;
    wanted.fixed_iterations = options->iterations > 0;
    wanted.max_seconds = options->max_seconds;
    wanted.check_every = options->check_every;
    return wanted;
}

static yoke_status solve_once(trial *t, const yoke_solve_options *wanted)
{
    size_t bytes = (size_t)t->s->rows * sizeof *t->x;
    if (t->s->x0)
        memcpy(t->x, t->s->x0, bytes);
    else
        memset(t->x, 0, bytes);
    return yoke_solve(t->plan, t->s->b, t->x, wanted);
}

/* Instruments of whoever owns the rows: a CPU's bandwidth says nothing of a GPU's rows. No figure
 * is no failure: fraction_of_bandwidth and joules are then null. */
static void set_up_instruments(trial *t, yoke_context *context, const yoke_report *report)
{
    double bytes = report->bytes_per_iteration;
    int device = options_device(t->options), on_gpu = report->gpus == 1 && report->cpu_rows == 0;
    if (report->gpus > 0 && !on_gpu) return;
    if (report->ranks > 1) return; /* others share the machine, or are on another */
    yoke_energy_open(on_gpu ? device : -1, &t->meter);
    if (bytes < 1.0 || bytes >= 9e18) return;
    if (on_gpu)
        yoke_bandwidth_create_on_gpu(context, device, (size_t)bytes, &t->bandwidth);
    else
        yoke_bandwidth_create(context, report->threads, (size_t)bytes, &t->bandwidth);
}

static yoke_status warm_up(trial *t, yoke_context *context)
{
    yoke_solve_options one = yoke_solve_defaults();
    one.maxit = 1;
    one.fixed_iterations = 1;
    yoke_status status = solve_once(t, &one);
    if (status) return status;
    const yoke_report *report = yoke_plan_report(t->plan);
    t->setup = report->plan_seconds + report->setup_seconds;
    t->upload = report->upload_seconds;
    set_up_instruments(t, context, report);
    return YOKE_OK;
}

/* The best of a few passes: what the memory can do, not what disturbed it. */
static double read_bandwidth(trial *t)
{
    double best = NAN;
    for (int i = 0; t->bandwidth && i < PASSES; i++)
        best = fmax(best, yoke_bandwidth_measure(t->bandwidth, YOKE_STREAM_READ));
    return best;
}

static void record(trial *t, double before, double after, double joules)
{
    const yoke_report *report = yoke_plan_report(t->plan);
    double n = report->iterations > 0 ? (double)report->iterations : NAN;
    double seconds = report->solve_seconds / n;
    t->us[t->done] = seconds * 1e6;
    t->fraction[t->done] = report->bytes_per_iteration / seconds / (0.5 * (before + after));
    t->solve[t->done] = report->solve_seconds;
    t->transfer[t->done] = report->transfer_seconds;
    t->joules[t->done] = joules;
    t->done++;
}

/* A record of a pretended card says so, where it was used; of gpu_sms the library does. */
static void tell_card(const trial *t, row *r)
{
    char text[96];
    if (t->options->gpu_memory <= 0.0 || r->gpus <= 0) return;
    snprintf(text, sizeof text, "gpu_memory %.0f: the card is taken to have as many bytes",
             t->options->gpu_memory);
    row_notice(r, text);
}

static void describe(const trial *t, const yoke_report *report, row *r)
{
    r->rows = t->s->all_rows;
    r->nonzeros = t->s->all_nonzeros;
    row_set(&r->memory, report->memory);
    row_set(&r->home, report->home);
    row_set(&r->partition, report->partition);
    row_set(&r->solver, report->solver);
    row_set(&r->driver, report->driver);
    row_set(&r->format, report->format);
    row_set(&r->precond, report->preconditioner);
    row_set(&r->shape, report->shape);
    row_set(&r->effort, report->effort);
    row_set(&r->reorder, report->reorder);
    row_set(&r->outcome, yoke_outcome_word(report->outcome));
    r->cpu_rows = report->cpu_rows;
    r->gpus = report->gpus;
    if (report->gpus > 0) row_set_gpu(r, options_device(t->options));
    if (report->gpus > 0) tell_card(t, r);
    r->ranks = report->ranks;
    r->threads = report->threads;
    r->rtol = t->options->rtol;
    r->iterations = report->iterations;
    r->bytes = report->bytes_per_iteration;
    r->residual_true = relative_to(report->residual_true, t->s->b_norm);
    r->residual_recursive = relative_to(report->residual_recursive, t->s->b_norm);
    if (report->notices) row_notice(r, report->notices);
}

/* Unknown if one is: what is not a number has no order. */
static double median_if_known(double *value, int count)
{
    for (int i = 0; i < count; i++)
        if (isnan(value[i])) return NAN;
    return median_of(value, count);
}

static void set_times(trial *t, row *r)
{
    int n = t->done;
    r->setup = t->setup;
    r->upload = t->upload;
    r->transfer = median_of(t->transfer, n);
    r->solve = median_of(t->solve, n);
    r->joules = median_if_known(t->joules, n);
    if (r->iterations <= 0) return;
    r->us_median = median_of(t->us, n);
    r->us_min = t->us[0];
    r->us_max = t->us[n - 1];
    r->gb_per_s = r->bytes / r->us_median * 1e-3;
    r->fraction = median_if_known(t->fraction, n);
}

static void scale_history(const trial *t, row *r)
{
    r->history_length = yoke_plan_report(t->plan)->history_length;
    double *shrunk = realloc(r->history, ((size_t)r->history_length + 1) * sizeof *shrunk);
    if (shrunk) r->history = shrunk;
    for (int64_t k = 0; k < r->history_length; k++)
        r->history[k] = relative_to(r->history[k], t->s->b_norm);
}

static int ends_as(const trial *t, const yoke_report *report)
{
    if (report->outcome == YOKE_CONVERGED) return ENDS_WELL;
    if (t->options->iterations && report->outcome == YOKE_ITERATION_LIMIT) return ENDS_WELL;
    return ENDS_UNCONVERGED;
}

/* The first repeat: describes the row and says whether timing may go on. */
static int judge(const trial *t, row *r)
{
    const yoke_report *report = yoke_plan_report(t->plan);
    describe(t, report, r);
    if (t->options->per_rank) per_rank_gather(t->s, t->plan, r);
    if (r->history) scale_history(t, r);
    r->exit_code = ends_as(t, report);
    if (r->exit_code)
        say_error(r->exit_code, "%s: %s after %lld iterations: %s", t->s->name, r->outcome,
                  (long long)report->iterations,
                  *report->detail ? report->detail : yoke_outcome_text(report->outcome));
    const char *wrong =
        verify(t->s, t->x, report, t->options->nullspace != NULL, t->options->iterations > 0);
    if (!wrong) return 1;
    row_notice(r, wrong);
    row_set(&r->reason, wrong);
    r->exit_code = say_error(ENDS_UNCONVERGED, "%s: no time is reported for a wrong answer: %s",
                             t->s->name, wrong);
    return 0;
}

static yoke_status time_repeats(trial *t, yoke_solve_options *wanted, row *r)
{
    int right = 1;
    for (int k = 0; k < t->options->repeats && right; k++) {
        progress_show("%s: repeat %d of %d", t->s->name, k + 1, (int)t->options->repeats);
        double before = read_bandwidth(t);
        yoke_energy_start(t->meter);
        yoke_status status = solve_once(t, wanted);
        if (status) return status;
        double joules = yoke_energy_joules(t->meter);
        record(t, before, read_bandwidth(t), joules);
        if (k == 0) right = judge(t, r);
        if (right && t->between) t->between->play(t->between->user, r);
        wanted->history = NULL; /* that of the first repeat is kept, and has moved */
    }
    progress_clear();
    if (right) set_times(t, r);
    return YOKE_OK;
}

static void want_history(const trial *t, yoke_solve_options *wanted, row *r)
{
    int64_t limit = wanted->maxit;
    int64_t rows = t->s->all_rows;
    if (!limit) limit = rows < 100 ? 1000 : rows < 100000 ? 10 * rows : 1000000;
    wanted->history_capacity = limit < HISTORY_LIMIT ? limit + 1 : HISTORY_LIMIT;
    r->history = take("the history", wanted->history_capacity, sizeof *r->history);
    wanted->history = r->history;
}

/* A slow configuration does as many iterations as fit in the budget. They are found by a solve that
 * is not timed, since a clock that is looked at disturbs. */
static yoke_status fit_iterations(trial *t, yoke_solve_options *wanted)
{
    yoke_solve_options pilot = *wanted;
    pilot.max_seconds = t->options->budget;
    pilot.history = NULL;
    yoke_status status = solve_once(t, &pilot);
    if (status) return status;
    const yoke_report *report = yoke_plan_report(t->plan);
    if (report->outcome == YOKE_TIME_LIMIT && report->iterations > 0)
        wanted->maxit = report->iterations;
    return YOKE_OK;
}

/* Of an answer that was right. */
static yoke_status add_roofline(trial *t, yoke_context *context, row *r)
{
    if (!isfinite(r->us_median)) return YOKE_OK;
    if (r->gpus > 1) return YOKE_OK; /* whose passes no one device's bandwidth is the roof of */
    progress_show("%s: passes", t->s->name);
    yoke_status status =
        roofline_measure(context, options_device(t->options), (int)r->threads, t->plan, r);
    progress_clear();
    return status;
}

static void trial_close(trial *t)
{
    yoke_energy_close(t->meter);
    yoke_bandwidth_destroy(t->bandwidth);
    yoke_plan_destroy(t->plan);
    free(t->us);
    free(t->fraction);
    free(t->solve);
    free(t->transfer);
    free(t->joules);
}

yoke_status measure(yoke_context *context, const bench_options *options, const source *s,
                    const configuration *c, int history, const interlude *between, double *x,
                    row *r)
{
    trial t = {.options = options, .s = s, .between = between, .x = x};
    int64_t repeats = options->repeats;
    t.us = take("times", repeats, sizeof *t.us);
    t.fraction = take("times", repeats, sizeof *t.fraction);
    t.solve = take("times", repeats, sizeof *t.solve);
    t.transfer = take("times", repeats, sizeof *t.transfer);
    t.joules = take("joules", repeats, sizeof *t.joules);
    yoke_plan_options planned = plan_options(options, c);
    yoke_solve_options wanted = solve_options(options, s);
    if (history) want_history(&t, &wanted, r);
    progress_show("%s: planning", s->name);
    yoke_status status = yoke_plan_create(s->matrix, &planned, &t.plan);
    if (!status) status = warm_up(&t, context);
    if (!status && options->per_rank) status = yoke_plan_watch_ranks(t.plan, 1);
    if (!status && options->budget > 0.0) status = fit_iterations(&t, &wanted);
    if (!status) status = time_repeats(&t, &wanted, r);
    if (!status && options->explain) plans_tell(t.plan, r);
    if (!status && options->roofline) status = add_roofline(&t, context, r);
    trial_close(&t);
    return status;
}
