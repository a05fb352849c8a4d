/* SPDX-License-Identifier: BSD-3-Clause */
/* predict.c: cgbench predict: the model's ranked plans for a matrix on machines by name. */
#include "bench/predict.h"

#include <string.h>

#include <yoke_io.h>

#include "bench/commands.h"
#include "bench/measure.h"
#include "bench/outputs.h"
#include "bench/say.h"

enum { MOST_MACHINES = 16 };

/* A generated matrix is known by its arguments: it is not made. */
static int find_shape(yoke_context *context, const bench_options *options, yoke_shape *shape)
{
    const char *name = options->matrices.word[0];
    yoke_matrix *matrix = NULL;
    if (!strncmp(name, "gen:", 4)) {
        yoke_status status = yoke_shape_of_generated(name + 4, shape);
        return status ? say_status(status, name) : 0;
    }
    yoke_read_options read = yoke_read_defaults();
    read.threads = (int)options->threads;
    read.trust_symmetry = options->trust_symmetry;
    yoke_status status = yoke_matrix_read(context, name, &read, &matrix);
    if (!status) status = yoke_shape_of_matrix(matrix, shape);
    yoke_matrix_destroy(matrix);
    return status ? say_status(status, NULL) : 0;
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
                forecast *f)
{
    f->shape = *shape;
    int code = forecast_make(options, f->model, f);
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
        if (out->json.stream) write_forecast_json(&f[i], options, out->json.stream);
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
    if (options->ranks > 1 && !(options->network[1] > 0.0))
        return say_error(ENDS_BAD_INPUT,
                         "--ranks %lld needs --network L,B: seconds of a message "
                         "and bytes a second, as 2e-6,25e9",
                         (long long)options->ranks);
    if (options->later) return say_error(ENDS_LACKING, "%s", options->later);
    if (!parse_words(options->machine ? options->machine : "this", machines))
        return say_error(ENDS_BAD_INPUT, "--machine: '%s' is not a comma list of names",
                         options->machine);
    if (machines->count > MOST_MACHINES)
        return say_error(ENDS_BAD_INPUT, "--machine: %d machines are more than %d", machines->count,
                         MOST_MACHINES);
    return 0;
}

/* The names of machines are looked up before a matrix is read. */
static int predict(const bench_options *options, const words *machines, outputs *out)
{
    forecast f[MOST_MACHINES];
    yoke_context *context = NULL;
    yoke_shape shape;
    int count = 0, code = open_context(options, &context);
    while (!code && count < machines->count) {
        code = open_model(context, options, machines->word[count], &f[count]);
        count++;
    }
    if (!code) code = find_shape(context, options, &shape);
    for (int i = 0; i < count && !code; i++) code = fill(context, options, &shape, &f[i]);
    if (!code) code = write_all(options, f, count, out);
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
