/* SPDX-License-Identifier: BSD-3-Clause */
/* campaign.c: the cross product of the comma lists over the matrices. A configuration is numbered;
 * its number, read in mixed radix, picks a name from each list. */
#include "bench/campaign.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <yoke_io.h>

#include "bench/measure.h"
#include "bench/names.h"
#include "bench/progress.h"
#include "bench/rival.h"
#include "bench/say.h"
#include "bench/source.h"
#include "bench/take.h"

static const yoke_list_kind axis_kind[AXES] = {
    YOKE_LIST_MEMORY,  YOKE_LIST_HOMES,   YOKE_LIST_PARTITIONS,      YOKE_LIST_SOLVERS,
    YOKE_LIST_DRIVERS, YOKE_LIST_FORMATS, YOKE_LIST_PRECONDITIONERS, YOKE_LIST_SHAPES};
static const char *const axis_option[AXES] = {"--memory", "--home",   "--partition", "--solver",
                                              "--driver", "--format", "--precond",   "--shape"};

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

static int can_run(const configuration *c)
{
    for (int i = 0; i < AXES; i++)
        if (c->name[i] && name_refusal(axis_kind[i], c->name[i])) return 0;
    return 1;
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
    if (options->out && count * options->matrices.count > 1)
        return say_error(ENDS_BAD_INPUT,
                         "--out holds one solution, but %lld configurations are asked for",
                         (long long)(count * options->matrices.count));
    int refused = options_refuse_later(options);
    if (refused) return refused;
    *code = say_refusals(options);
    for (int64_t i = 0; i < count; i++) {
        configuration c = configuration_at(options, i);
        runnable += can_run(&c);
    }
    if (!runnable || name_refusal(YOKE_LIST_EFFORTS, options->effort)) return ENDS_LACKING;
    return source_check(options);
}

/* ------------------------------------------------------------------ rivals */

static int rival_index(const char *name)
{
    int i = 0;
    while (i < RIVALS - 1 && strcmp(rival_names[i], name)) i++;
    return i;
}

/* "A rival in --vs that is not there: one notice and null", so once a run, not once a matrix. */
static void note_missing(const char *name, const char *why, row_list *rows, int from)
{
    static int told[RIVALS];
    char text[800];
    snprintf(text, sizeof text, "--vs %s: %s", name, why);
    if (!told[rival_index(name)]) say_notice("%s", text);
    told[rival_index(name)] = 1;
    for (int i = from; i < rows->count; i++)
        if (!rows->row[i].is_rival) row_notice(&rows->row[i], text);
}

static int same_precond(const row *a, const row *b)
{
    return a->precond && b->precond && !strcmp(a->precond, b->precond);
}

/* Measures one rival as `like` was and sets the ratios of all rows with that preconditioner. */
static void meet_rival(const bench_options *options, const source *s, const char *name, int like,
                       row_list *rows, int from)
{
    const row model = rows->row[like];
    row r = row_new(s->name);
    const char *why = rival_measure(name, s, model.precond, model.iterations, options->repeats,
                                    (int)model.threads, &r);
    if (why) {
        note_missing(name, why, rows, from);
        row_free(&r);
        return;
    }
    r.rtol = options->rtol;
    for (int i = from; i < rows->count; i++) {
        row *ours = &rows->row[i];
        if (!ours->is_rival && same_precond(ours, &model))
            ours->speedup[rival_index(name)] = r.us_median / ours->us_median;
    }
    rows_add(rows, &r);
}

static int first_with_its_precond(const row_list *rows, int from, int at)
{
    for (int i = from; i < at; i++)
        if (!rows->row[i].is_rival && isfinite(rows->row[i].us_median) &&
            same_precond(&rows->row[i], &rows->row[at]))
            return 0;
    return 1;
}

static void meet_rivals(const bench_options *options, const source *s, row_list *rows, int from)
{
    int ours = rows->count;
    for (int i = from; i < ours; i++)
        for (int k = 0; k < options->vs.count; k++)
            rows->row[i].asked[rival_index(options->vs.word[k])] = 1;
    for (int k = 0; k < options->vs.count; k++)
        for (int i = from; i < ours; i++)
            if (isfinite(rows->row[i].us_median) && first_with_its_precond(rows, from, i))
                meet_rival(options, s, options->vs.word[k], i, rows, from);
}

/* ------------------------------------------------------------------ matrix */

static int write_solution(const bench_options *options, const source *s, const double *x)
{
    if (!options->out) return 0;
    yoke_status status = yoke_vector_write(options->out, s->rows, x);
    return status ? say_status(status, NULL) : 0;
}

static int measure_one(yoke_context *context, const bench_options *options, const source *s,
                       const configuration *c, double *x, row_list *rows)
{
    row r = row_new(s->name);
    int history = options->svg || options->history;
    int code = measure(context, options, s, c, history, x, &r);
    if (code) {
        row_free(&r);
        return code;
    }
    code = write_solution(options, s, x);
    if (!code) code = r.exit_code;
    rows_add(rows, &r);
    return code;
}

static int run_matrix(yoke_context *context, const bench_options *options, const char *name,
                      row_list *rows)
{
    source s;
    int code = source_open(context, options, name, &s), from = rows->count;
    if (code) return code;
    int64_t count = configuration_count(options);
    double *x = take("the solution", s.rows, sizeof *x);
    for (int64_t i = 0; i < count && code != ENDS_BAD_INPUT; i++) {
        configuration c = configuration_at(options, i);
        if (!can_run(&c)) continue;
        int one = measure_one(context, options, &s, &c, x, rows);
        if (one == ENDS_BAD_INPUT || one > code) code = one;
    }
    if (code != ENDS_BAD_INPUT) meet_rivals(options, &s, rows, from);
    free(x);
    source_close(&s);
    return code;
}

int campaign_run(const bench_options *options, row_list *rows)
{
    yoke_context *context = NULL;
    int code = open_context(options, &context);
    for (int i = 0; i < options->matrices.count && code != ENDS_BAD_INPUT; i++) {
        int one = run_matrix(context, options, options->matrices.word[i], rows);
        if (one == ENDS_BAD_INPUT || one > code) code = one;
    }
    yoke_context_destroy(context);
    progress_clear();
    return code;
}
