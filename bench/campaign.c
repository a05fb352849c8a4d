/* SPDX-License-Identifier: BSD-3-Clause */
/* campaign.c: the cross product of the comma lists over the matrices. A configuration is numbered;
 * its number, read in mixed radix, picks a name from each list. */
#include "bench/campaign.h"

#include <stdlib.h>
#include <string.h>

#include <yoke_io.h>

#include "bench/measure.h"
#include "bench/meeting.h"
#include "bench/names.h"
#include "bench/progress.h"
#include "bench/say.h"
#include "bench/source.h"
#include "bench/take.h"
#include "bench/wisdom.h"

static int64_t configuration_count(const bench_options *options)
{
    int64_t count = 1;
    for (int i = 0; i < AXES; i++)
        if (options->axis[i].count) count *= options->axis[i].count;
    return count;
}

static configuration configuration_at(const bench_options *options, int64_t number)
{
    configuration c = {{NULL}};
    for (int i = AXES - 1; i >= 0; i--) {
        const words *names = &options->axis[i];
        if (!names->count) continue;
        c.name[i] = names->word[number % names->count];
        number /= names->count;
    }
    return c;
}

static int say_refusals(const bench_options *options)
{
    int code = 0;
    for (int i = 0; i < AXES; i++)
        for (int k = 0; k < options->axis[i].count; k++) {
            const char *name = options->axis[i].word[k];
            const char *why = name_refusal(axis_kind[i], name);
            if (why) code = say_error(ENDS_LACKING, "%s %s: %s", axis_option[i], name, why);
        }
    const char *why = name_refusal(YOKE_LIST_EFFORTS, options->effort);
    if (why) code = say_error(ENDS_LACKING, "--effort %s: %s", options->effort, why);
    return code;
}

int campaign_check(const bench_options *options, int *code)
{
    int64_t count = configuration_count(options), runnable = 0;
    int64_t solutions = count * options->matrices.count;
    if (options->out && solutions > 1)
        return say_error(ENDS_BAD_INPUT,
                         "--out holds one solution, but %lld configurations are asked for",
                         (long long)solutions);
    int refused = options_refuse_later(options);
    if (refused) return refused;
    *code = say_refusals(options);
    for (int64_t i = 0; i < count; i++) {
        configuration c = configuration_at(options, i);
        runnable += !configuration_refusal(&c);
    }
    if (!runnable || name_refusal(YOKE_LIST_EFFORTS, options->effort)) return ENDS_LACKING;
    return source_check(options);
}

/* ------------------------------------------------------------------ matrix */

static int write_solution(const bench_options *options, const source *s, const double *x)
{
    if (!options->out) return 0;
    yoke_status status = yoke_vector_write(options->out, s->rows, x);
    return status ? say_status(status, NULL) : 0;
}

/* Of several configurations some do not fit together, as a driver of the GPU and the partition cpu:
 * those cannot run, and are no reason to leave the others. */
static int say_unmeasured(yoke_status status, const bench_options *options, const source *s)
{
    if (status == YOKE_UNSUITABLE && configuration_count(options) > 1)
        return say_error(ENDS_LACKING, "%s: %s", s->name, library_sentence());
    return say_status(status, s->name);
}

static int measure_one(yoke_context *context, const bench_options *options, const source *s,
                       const configuration *c, meeting *m, double *x, row_list *rows)
{
    row r = row_new(s->name);
    interlude between = {meeting_play, m};
    int history = options->svg || options->history;
    yoke_status status =
        measure(context, options, s, c, history, options->vs.count ? &between : NULL, x, &r);
    int unmeasured = status ? say_unmeasured(status, options, s) : 0;
    meeting_pause(m);
    if (unmeasured) {
        row_free(&r);
        return unmeasured;
    }
    int code = write_solution(options, s, x);
    if (!code) code = r.exit_code;
    rows_add(rows, &r);
    return code;
}

static int run_matrix(yoke_context *context, const bench_options *options, const char *name,
                      row_list *rows)
{
    source s;
    int code = source_open(context, options, name, &s);
    if (code) return code;
    int64_t count = configuration_count(options);
    double *x = take("the solution", s.rows, sizeof *x);
    meeting m = {.options = options, .s = &s, .from = rows->count};
    for (int64_t i = 0; i < count && code != ENDS_BAD_INPUT; i++) {
        configuration c = configuration_at(options, i);
        if (configuration_refusal(&c)) continue;
        int one = measure_one(context, options, &s, &c, &m, x, rows);
        if (one == ENDS_BAD_INPUT || one > code) code = one;
    }
    meeting_end(&m, rows);
    free(x);
    source_close(&s);
    return code;
}

/* What was asked of a GPU's size, where none was used. */
static void tell_unused_card(const bench_options *options, const row_list *rows)
{
    const char *memory = options->gpu_memory > 0.0 ? "--gpu-memory" : "";
    const char *multiprocessors = options->gpu_sms > 0 ? "--gpu-sms" : "";
    for (int i = 0; i < rows->count; i++)
        if (rows->row[i].gpus > 0 && !rows->row[i].is_rival) return;
    if (rows->count && (*memory || *multiprocessors))
        say_notice("%s%s%s: not used, as no rows are on a GPU", memory,
                   *memory && *multiprocessors ? " and " : "", multiprocessors);
}

int campaign_run(const bench_options *options, row_list *rows)
{
    yoke_context *context = NULL;
    int code = open_context(options, &context);
    if (!code) code = wisdom_begin(options, context);
    for (int i = 0; i < options->matrices.count && code != ENDS_BAD_INPUT; i++) {
        int one = run_matrix(context, options, options->matrices.word[i], rows);
        if (one == ENDS_BAD_INPUT || one > code) code = one;
    }
    code = wisdom_end(options, context, code);
    yoke_context_destroy(context);
    progress_clear();
    tell_unused_card(options, rows);
    return code;
}
