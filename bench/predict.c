/* SPDX-License-Identifier: BSD-3-Clause */
/* predict.c: cgbench predict: the model's ranked plans for a matrix on machines by name. */
#include "bench/predict.h"

#include <stdlib.h>
#include <string.h>

#include <yoke_io.h>

#include "bench/commands.h"
#include "bench/measure.h"
#include "bench/outputs.h"
#include "bench/predict_ranks.h"
#include "bench/say.h"

enum { MOST_MACHINES = 16, MOST_RANKS = 32 };

/* As one number of ranks sees the matrix. */
static yoke_shape as_seen(const bench_options *options, const yoke_shape *shape, int ranks)
{
    int weak = options->scaling && !strcmp(options->scaling, "weak");
    return weak && ranks > 1 ? shape_scaled(shape, ranks) : *shape;
}

static int find_shape_of_file(yoke_context *context, const bench_options *options, const int *ranks,
                              int count, yoke_shape *shape)
{
    yoke_matrix *matrix = NULL;
    yoke_shape whole = {0};
    yoke_read_options read = yoke_read_defaults();
    read.threads = (int)options->threads;
    read.trust_symmetry = options->trust_symmetry;
    yoke_status status = yoke_matrix_read(context, options->matrices.word[0], &read, &matrix);
    if (!status) status = yoke_shape_of_matrix(matrix, &whole);
    for (int i = 0; i < count && !status; i++) {
        if (ranks[i] > 1) status = yoke_shape_count_ranks(matrix, ranks[i], &whole);
        shape[i] = as_seen(options, &whole, ranks[i]);
    }
    yoke_matrix_destroy(matrix);
    return status ? say_status(status, NULL) : 0;
}

/* shape [count]: for each number of ranks. A generated matrix is known by its arguments: it is not
 * made. */
static int find_shapes(yoke_context *context, const bench_options *options, const int *ranks,
                       int count, yoke_shape *shape)
{
    const char *name = options->matrices.word[0];
    yoke_shape whole;
    if (strncmp(name, "gen:", 4) != 0)
        return find_shape_of_file(context, options, ranks, count, shape);
    yoke_status status = yoke_shape_of_generated(name + 4, &whole);
    if (status) return say_status(status, name);
    for (int i = 0; i < count; i++) shape[i] = as_seen(options, &whole, ranks[i]);
    return 0;
}

static int open_model(yoke_context *context, const bench_options *options, const char *machine,
                      forecast *f)
{
    yoke_model *model = NULL;
    yoke_status status = yoke_model_open(context, machine, &model);
    *f = (forecast){.matrix = options->matrices.word[0], .machine = machine};
    if (status) return say_status(status, "--machine");
    f->model = model;
    if (*yoke_model_notice(model)) say_notice("%s", yoke_model_notice(model));
    return 0;
}

static int fill(yoke_context *context, const bench_options *options, const yoke_shape *shape,
                int ranks, forecast *f)
{
    f->shape = *shape;
    f->ranks = ranks;
    int code = forecast_make(options, NULL, f);
    if (!code) find_break_evens(context, f);
    return code;
}

static void forecast_close(forecast *f)
{
    yoke_model_close((yoke_model *)f->model);
    f->model = NULL;
    forecast_free(f);
}

static int write_all(const bench_options *options, const forecast *f, int count, outputs *out)
{
    for (int i = 0; i < count; i++) {
        if (!options->quiet) write_forecast(&f[i], out->table);
        if (options->explain && !options->quiet) write_forecast_terms(&f[i], out->table);
        if (out->json.stream) write_forecast_json(&f[i], out->json.stream);
        if (out->csv.stream) write_forecast_csv(&f[i], i == 0, out->csv.stream);
    }
    if (out->svg.stream) write_forecast_svg(f, count, out->svg.stream);
    return outputs_commit(out);
}

static int check(const bench_options *options, words *machines)
{
    if (options->matrices.count != 1)
        return say_error(ENDS_BAD_INPUT, "predict: expected one MATRIX, given %d",
                         options->matrices.count);
    for (int i = 0; i < options->ranks.count; i++)
        if (strcmp(options->ranks.word[i], "1") != 0 && !(options->network[1] > 0.0))
            return say_error(ENDS_BAD_INPUT,
                             "--ranks %s needs --network L,B: a message's latency and the bytes a "
                             "second, as 2us,25GB/s",
                             options->ranks.word[i]);
    if (options->ranks.count > MOST_RANKS)
        return say_error(ENDS_BAD_INPUT, "--ranks: %d numbers are more than %d",
                         options->ranks.count, MOST_RANKS);
    if (options->later) return say_error(ENDS_LACKING, "%s", options->later);
    if (!parse_words(options->machine ? options->machine : "this", machines))
        return say_error(ENDS_BAD_INPUT, "--machine: '%s' is not a comma list of names",
                         options->machine);
    if (machines->count > MOST_MACHINES)
        return say_error(ENDS_BAD_INPUT, "--machine: %d machines are more than %d", machines->count,
                         MOST_MACHINES);
    return 0;
}

static int predict_plans(yoke_context *context, const bench_options *options,
                         const yoke_shape *shape, int ranks, forecast *f, int count, outputs *out)
{
    int code = 0;
    for (int i = 0; i < count && !code; i++) code = fill(context, options, shape, ranks, &f[i]);
    return code ? code : write_all(options, f, count, out);
}

/* The names of machines are looked up before a matrix is read. */
static int predict(const bench_options *options, const words *machines, outputs *out)
{
    forecast f[MOST_MACHINES];
    yoke_context *context = NULL;
    yoke_shape shape[MOST_RANKS];
    int ranks[MOST_RANKS] = {1}, numbers = options->ranks.count, count = 0;
    for (int i = 0; i < numbers; i++) ranks[i] = (int)strtol(options->ranks.word[i], NULL, 10);
    int code = open_context(options, &context);
    while (!code && count < machines->count) {
        code = open_model(context, options, machines->word[count], &f[count]);
        count++;
    }
    if (!code) code = find_shapes(context, options, ranks, numbers ? numbers : 1, shape);
    if (!code && numbers > 1) code = predict_ranks(options, f, count, shape, ranks, numbers, out);
    if (!code && numbers < 2)
        code = predict_plans(context, options, shape, ranks[0], f, count, out);
    for (int i = 0; i < count; i++) forecast_close(&f[i]);
    yoke_context_destroy(context);
    return code;
}

int command_predict(const bench_options *options)
{
    words machines = {0, NULL};
    outputs out;
    int code = check(options, &machines);
    if (!code) code = outputs_open(options, &out);
    if (!code) {
        code = predict(options, &machines, &out);
        outputs_discard(&out);
    }
    words_free(&machines);
    return code;
}
