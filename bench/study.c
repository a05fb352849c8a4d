/* SPDX-License-Identifier: BSD-3-Clause */
/* study.c: cgbench study. A matrix is read once, when a case of it is to be measured; a case that
 * cannot run is a row with the reason. */
#include "bench/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/commands.h"
#include "bench/explain.h"
#include "bench/measure.h"
#include "bench/names.h"
#include "bench/outputs.h"
#include "bench/progress.h"
#include "bench/rival.h"
#include "bench/say.h"
#include "bench/source.h"
#include "bench/study_record.h"
#include "bench/take.h"
#include "bench/write_rows.h"
#include "bench/wisdom.h"

/* Of different kinds and sizes: from what fits in the caches to what does not fit in them by far,
 * rows of 5 to 81 entries, jumps of coefficients, columns anywhere. */
static const char *const default_matrices[] = {
    "gen:poisson3d7:32",      "gen:poisson2d5:1000", "gen:poisson3d7:128",
    "gen:jumps3d7:100:1e4:1", "gen:elasticity3d:48", "gen:poisson3d27:128",
    "gen:graph:1000000:16:1",
};
enum { DEFAULT_MATRICES = sizeof default_matrices / sizeof default_matrices[0] };

/* A solve of our own choice is as long as an H200 takes for so many bytes, some 10 ms, within so
 * many iterations; and a configuration that is slower does what fits in the budget of seconds. */
static const double BYTES_OF_A_SOLVE = 4e10, BUDGET = 0.1;
enum { LEAST_ITERATIONS = 20, MOST_ITERATIONS = 200 };

typedef struct study {
    bench_options options; /* as given, and what follows from them; shares its texts */
    int our_choice;        /* of the iterations */
    study_cases cases;
    study_record record;
    row_list rows;
    yoke_context *context;
    char *settings;
    double began;
    int done, left; /* cases measured, and to be */

    /* Of the matrix at hand. */
    source s;
    double *x;      /* [rows]; NULL: it is not read yet */
    int unreadable; /* it cannot be read */
} study;

/* ---------------------------------------------------------------- settings */

/* What changes no row: where the rows go, and which are asked for. */
static int is_setting(const char *name)
{
    return !is_one_of(name,
                      "--json|--csv|--svg|--quiet|--explain|--memory|--home|--partition|--vs");
}

/* All other options, in the order of the table, so that two studies can be told apart. To be freed.
 */
static char *settings_of(const bench_options *options)
{
    char *text = NULL;
    size_t bytes = 0;
    const char *threads = getenv("OMP_NUM_THREADS");
    FILE *stream = open_memstream(&text, &bytes);
    if (!stream) exit(say_error(ENDS_LACKING, "study: no memory for its settings"));
    for (int i = 0; i < option_count; i++) {
        const char *name = option_table[i].name, *last = NULL;
        size_t length = strlen(name);
        for (int k = 0; k < options->given.count; k++) {
            const char *given = options->given.word[k];
            if (!strncmp(given, name, length) && (!given[length] || given[length] == ' '))
                last = given;
        }
        if (last && is_setting(name)) fprintf(stream, "%s%s", ftell(stream) ? " " : "", last);
    }
    if (threads && !options->threads)
        fprintf(stream, "%sOMP_NUM_THREADS=%s", ftell(stream) ? " " : "", threads);
    fclose(stream);
    return text;
}

/* ------------------------------------------------------------------ checks */

static int check_lists(const bench_options *options)
{
    for (int i = AXIS_SOLVER; i < AXES; i++) {
        const words *names = &options->axis[i];
        if (names->count > 1)
            return say_error(ENDS_BAD_INPUT, "study: %s takes one name, given %s,%s%s",
                             axis_option[i], names->word[0], names->word[1],
                             names->count > 2 ? ",..." : "");
    }
    return 0;
}

/* What no case could do without. */
static int check_names(const bench_options *options)
{
    configuration c = {{NULL}};
    for (int i = AXIS_SOLVER; i < AXES; i++)
        if (options->axis[i].count) c.name[i] = options->axis[i].word[0];
    const char *why = configuration_refusal(&c);
    if (why) return say_error(ENDS_LACKING, "%s", why);
    why = name_refusal(YOKE_LIST_EFFORTS, options->effort);
    return why ? say_error(ENDS_LACKING, "--effort %s: %s", options->effort, why) : 0;
}

/* A row that is kept is known by its matrix's name, which must mean the same the next time. */
static int check_inputs(const bench_options *options)
{
    int input = !strcmp(options->rhs, "-") || (options->x0 && !strcmp(options->x0, "-"));
    for (int i = 0; i < options->matrices.count; i++)
        input |= !strcmp(options->matrices.word[i], "-");
    if (!input || !options->json || !strcmp(options->json, "-")) return 0;
    return say_error(ENDS_BAD_INPUT,
                     "study: --json %s can be completed later, but standard input is read once: "
                     "give files",
                     options->json);
}

static int check(const bench_options *options)
{
    int code = check_lists(options);
    if (!code) code = check_inputs(options);
    if (!code) code = options_refuse_later(options);
    if (!code) code = check_names(options);
    return code ? code : source_check(options);
}

/* --------------------------------------------------------------------- rows */

/* All rows of a study name the GPU, since each is compared with what has it. */
static void complete_row(const study *t, const study_case *c, row *r)
{
    if (r->gpus <= 0 && yoke_gpu_count(NULL) > 0) row_set_gpu(r, options_device(&t->options));
    row_set(&r->configuration, c->label);
    row_set(&r->settings, t->settings);
    if (r->outcome) return;
    const char *const *asked = c->asked.name;
    if (t->x) {
        r->rows = t->s.rows;
        r->nonzeros = t->s.nonzeros;
    }
    row_set(&r->memory, asked[AXIS_MEMORY]);
    row_set(&r->home, asked[AXIS_HOME]);
    row_set(&r->partition, c->rival || !strcmp(c->label, "auto") ? NULL : asked[AXIS_PARTITION]);
    row_set(&r->solver, c->rival);
}

/* Names why a plan or a solve did not come to a result. What the library declines cannot run; the
 * rest is a failure. The exit code. */
static int refuse(yoke_status status, const char *label, row *r)
{
    char text[1024];
    const char *why = library_sentence();
    if (!*why) why = yoke_status_text(status);
    int failed = status == YOKE_DEVICE || status == YOKE_TIMEOUT || status == YOKE_INTERNAL ||
                 status == YOKE_SPOILED || status == YOKE_BUSY || status == YOKE_COMMUNICATION;
    snprintf(text, sizeof text, "%s%s", failed ? STUDY_FAILURE : "", why);
    row_set(&r->reason, text);
    return !failed ? 0 : say_error(ENDS_LACKING, "%s: %s: %s", r->matrix, label, why);
}

/* A row that was kept ends as it did when it was measured. */
static int ends_as(const study *t, const row *r)
{
    if (!r->outcome) return ENDS_WELL;
    if (r->reason) return ENDS_UNCONVERGED;
    int fixed = t->our_choice || t->options.iterations > 0 || r->is_rival;
    int well =
        !strcmp(r->outcome, "converged") || (fixed && !strcmp(r->outcome, "iteration_limit"));
    return well ? ENDS_WELL : ENDS_UNCONVERGED;
}

/* -------------------------------------------------------------------- kept */

/* Why a case cannot run, as far as the lists know, as "--memory managed: why"; NULL if nothing is
 * known against it. Valid until the next call. */
static const char *refusal_of(const study_case *c)
{
    static char text[512];
    if (!c->rival) return configuration_refusal(&c->asked);
    const char *why = rival_refusal(c->rival);
    if (why) snprintf(text, sizeof text, "--vs %s: %s", c->rival, why);
    return why ? text : NULL;
}

/* What a list said against a case is good as long as it says so. */
static int is_good(const row *kept, const char *why)
{
    int by_list = kept->reason && !kept->outcome && !strncmp(kept->reason, "--", 2);
    return why ? by_list && !strcmp(kept->reason, why) : !by_list;
}

static int take_kept(study *t, const char *matrix, const study_case *c, const char *why, row *r)
{
    if (!study_record_take(&t->record, matrix, c->label, r)) return 0;
    if (is_good(r, why)) {
        r->exit_code = ends_as(t, r);
        return 1;
    }
    row_free(r);
    return 0;
}

/* ------------------------------------------------------------------ measure */

static void show_progress(const study *t, const study_case *c)
{
    double seconds = yoke_seconds() - t->began;
    char left[48] = "";
    if (t->done > 0) {
        double more = seconds / t->done * t->left;
        if (more < 90.0)
            snprintf(left, sizeof left, ", %.0f s left", more);
        else
            snprintf(left, sizeof left, ", %.0f min left", more / 60.0);
    }
    progress_within("%d of %d%s: %.36s, ", t->done + 1, t->done + t->left, left, c->label);
}

static int open_source(study *t, const char *matrix)
{
    if (t->x) return 0;
    int code = source_open(t->context, &t->options, matrix, &t->s);
    if (code) return code;
    t->x = take("the solution", t->s.rows, sizeof *t->x);
    double bytes = 12.0 * (double)t->s.nonzeros + 80.0 * (double)t->s.rows + 1.0;
    double fit = fmin(fmax(BYTES_OF_A_SOLVE / bytes, LEAST_ITERATIONS), MOST_ITERATIONS);
    if (t->our_choice) t->options.iterations = (int64_t)fit;
    return 0;
}

static void close_source(study *t)
{
    if (!t->x) return;
    free(t->x);
    t->x = NULL;
    source_close(&t->s);
}

/* How many iterations, with what preconditioner and threads: as the CPU did, or the first that ran.
 */
static const row *model_for_rival(const study *t, const char *matrix)
{
    const row *first = NULL;
    for (int i = 0; i < t->rows.count; i++) {
        const row *r = &t->rows.row[i];
        if (strcmp(r->matrix, matrix) != 0 || r->is_rival || study_state_of(r) != STUDY_RAN)
            continue;
        if (!first || !strcmp(r->configuration, "cpu")) first = r;
    }
    return first;
}

static void measure_rival(const study *t, const study_case *c, row *r)
{
    const row *ours = model_for_rival(t, r->matrix);
    rival *theirs = NULL;
    if (!ours) {
        row_set(&r->reason, "none of ours ran, so there is nothing to compare");
        return;
    }
    const rival_terms terms = {.precond = ours->precond,
                               .iterations = ours->iterations,
                               .ranks = (int)ours->threads,
                               .threads = (int)t->options.threads,
                               .device = options_device(&t->options)};
    const char *why = rival_start(c->rival, &t->s, &terms, &theirs);
    for (int k = 0; !why && k < t->options.repeats && !rival_repeat(theirs);) k++;
    r->rtol = t->options.rtol;
    if (!why) why = rival_finish(theirs, r);
    if (!why) return;
    row nothing = row_new(r->matrix); /* of what is wrong no figure stays */
    row_free(r);
    *r = nothing;
    row_set(&r->reason, why);
}

static int measure_case(study *t, const study_case *c, row *r)
{
    show_progress(t, c);
    if (c->rival) {
        measure_rival(t, c, r);
        return 0;
    }
    yoke_status status = measure(t->context, &t->options, &t->s, &c->asked, 0, NULL, t->x, r);
    return status ? refuse(status, c->label, r) : r->exit_code;
}

static int run_case(study *t, const char *matrix, const study_case *c)
{
    const char *why = refusal_of(c);
    row r;
    int code = 0;
    if (take_kept(t, matrix, c, why, &r)) {
        code = r.exit_code;
        rows_add(&t->rows, &r);
        return code;
    }
    if (!why && (code = open_source(t, matrix))) {
        t->unreadable = 1;
        return code;
    }
    r = row_new(matrix);
    if (why)
        row_set(&r.reason, why);
    else
        code = measure_case(t, c, &r);
    complete_row(t, c, &r);
    r.exit_code = code;
    int written = study_record_append(&t->record, &r);
    rows_add(&t->rows, &r);
    t->done += !why;
    t->left -= !why;
    return written ? written : code;
}

static int run_matrix(study *t, const char *matrix)
{
    int code = 0;
    t->unreadable = 0;
    for (int i = 0; i < t->cases.count && code != ENDS_BAD_INPUT && !t->unreadable; i++) {
        int one = run_case(t, matrix, &t->cases.item[i]);
        if (one == ENDS_BAD_INPUT || one > code) code = one;
    }
    close_source(t);
    return code;
}

static void count_cases(study *t)
{
    for (int i = 0; i < t->options.matrices.count; i++)
        for (int k = 0; k < t->cases.count; k++) {
            const study_case *c = &t->cases.item[k];
            const row *kept = study_find(&t->record.kept, t->options.matrices.word[i], c->label);
            t->left += !refusal_of(c) && !(kept && is_good(kept, NULL));
        }
}

static int run_all(study *t)
{
    int code = open_context(&t->options, &t->context);
    if (code) return code;
    code = wisdom_begin(&t->options, t->context);
    t->began = yoke_seconds();
    count_cases(t);
    for (int i = 0; i < t->options.matrices.count && code != ENDS_BAD_INPUT; i++) {
        int one = run_matrix(t, t->options.matrices.word[i]);
        if (one == ENDS_BAD_INPUT || one > code) code = one;
    }
    code = wisdom_end(&t->options, t->context, code);
    yoke_context_destroy(t->context);
    progress_clear();
    return code;
}

/* -------------------------------------------------------------------- files */

/* speedup_vs of ours, by the rivals' rows of the same matrix. */
static void compare_with_rivals(row_list *rows)
{
    for (int i = 0; i < rows->count; i++) {
        row *r = &rows->row[i];
        for (int k = 0; k < RIVALS && !r->is_rival; k++) {
            const row *theirs = study_find(rows, r->matrix, rival_names[k]);
            r->asked[k] = theirs != NULL;
            r->speedup[k] = theirs ? theirs->us_median / r->us_median : NAN;
        }
    }
}

static int write_files(study *t, outputs *out)
{
    compare_with_rivals(&t->rows);
    row_list rest = study_record_rest(&t->record);
    if (out->json.stream) {
        write_json(&t->rows, out->json.stream);
        write_json(&rest, out->json.stream);
    }
    rows_free(&rest);
    if (out->csv.stream) write_csv(&t->rows, out->csv.stream);
    if (out->svg.stream) write_heatmap(&t->rows, out->svg.stream);
    return outputs_commit(out);
}

static void write_tables(const study *t, FILE *stream)
{
    if (t->options.quiet) return;
    write_study_table(&t->rows, stream);
    if (t->options.explain) write_explanation(&t->rows, stream);
}

static int run_study(study *t, outputs *out)
{
    row model = row_new(NULL);
    complete_row(t, &t->cases.item[0], &model);
    int code = study_record_open(t->options.json, &model, &t->record);
    row_free(&model);
    if (!code) code = run_all(t);
    if (code != ENDS_BAD_INPUT) {
        write_tables(t, out->table);
        int written = write_files(t, out);
        if (written) code = written;
    }
    study_record_close(&t->record);
    return code;
}

/* With nothing asked of when to stop, a number of iterations is timed, since all configurations
 * take the same path. */
static void choose_iterations(study *t)
{
    bench_options *o = &t->options;
    t->our_choice = !o->iterations && !o->maxit && isnan(o->rtol) && o->atol == 0.0;
    if (isnan(o->rtol)) o->rtol = 1e-8;
    if (t->our_choice) o->budget = BUDGET;
}

int command_study(const bench_options *options)
{
    study t = {.options = *options};
    words matrices = {0, NULL};
    for (int i = 0; i < options->matrices.count; i++)
        words_add_once(&matrices, options->matrices.word[i]);
    for (int i = 0; !options->matrices.count && i < DEFAULT_MATRICES; i++)
        words_add(&matrices, default_matrices[i]);
    t.options.matrices = matrices;
    outputs out;
    int code = check(&t.options);
    if (!code) code = outputs_open(&t.options, &out);
    if (!code) {
        choose_iterations(&t);
        t.settings = settings_of(options);
        t.cases = study_cases_make(&t.options);
        code = run_study(&t, &out);
        outputs_discard(&out);
    }
    rows_free(&t.rows);
    study_cases_free(&t.cases);
    free(t.settings);
    words_free(&matrices);
    return code;
}
