/* SPDX-License-Identifier: BSD-3-Clause */
/* machine_profile.c: the profile of a machine, measured or opened, as table and JSON. */
#include "bench/machine_profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"
#include "bench/outfile.h"
#include "bench/progress.h"
#include "bench/say.h"
#include "bench/take.h"
#include "bench/write_rows.h"

typedef struct shown {
    yoke_profile *profile;
    char where[4096]; /* it is kept; "" if not */
    words notices;
    int not_kept; /* what was measured: then the command has not done what it was asked */
} shown;

static void add_notice(shown *s, const char *text)
{
    if (!*text) return;
    words_add(&s->notices, text);
    say_notice("%s", text);
}

/* ------------------------------------------------------------------- table */

typedef struct scale {
    const char *unit, *text;
    double factor;
} scale;

static const scale scales[] = {
    {"B/s", "GB/s", 1e9}, {"s", "us", 1e-6}, {"B", "MB", 1e6}, {"1/s", "1e6/s", 1e6}};

static scale scale_of(const char *unit)
{
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
        if (!strcmp(scales[i].unit, unit)) return scales[i];
    return (scale){unit, unit, 1.0};
}

static void print_number(double value, const char *unit, int width, FILE *stream)
{
    char text[40];
    value /= scale_of(unit).factor;
    int decimals = value >= 100.0 || value == floor(value) ? 0 : value >= 10.0 ? 1 : 2;
    snprintf(text, sizeof text, "%.*f", decimals, value);
    if (value > 0.0 && value < 0.01) snprintf(text, sizeof text, "%.2g", value);
    fprintf(stream, "%*s", width, text);
}

static void print_source(const yoke_figure *f, FILE *stream)
{
    fprintf(stream, "  %s%s%s\n", f->kind, *f->source ? ": " : "", f->source);
}

static void print_curve(const yoke_figure *f, FILE *stream)
{
    const char *at = scale_of(f->at_unit).text, *unit = scale_of(f->unit).text;
    fprintf(stream, "  %s\n    %s\n   ", f->text, f->name);
    for (int k = 0; k < f->points; k++) {
        fputs(k ? ", " : " ", stream);
        print_number(f->at[k], f->at_unit, 0, stream);
        fprintf(stream, "%s%s: ", *at ? " " : "", at);
        print_number(f->values[k], f->unit, 0, stream);
    }
    fprintf(stream, " %s\n   ", unit);
    print_source(f, stream);
}

static void print_figures(const yoke_profile *profile, FILE *stream)
{
    yoke_figure f;
    fputc('\n', stream);
    for (int k = 0; yoke_profile_figure(profile, k, &f); k++) {
        if (f.at_unit || isnan(f.value)) continue;
        fprintf(stream, "  %-24s ", f.name);
        print_number(f.value, f.unit, 9, stream);
        fprintf(stream, " %-5s", scale_of(f.unit).text);
        print_source(&f, stream);
    }
    fputc('\n', stream);
    for (int k = 0; yoke_profile_figure(profile, k, &f); k++)
        if (f.points > 0) print_curve(&f, stream);
}

static void print_unknown(const yoke_profile *profile, FILE *stream)
{
    yoke_figure f;
    int count = 0;
    if (yoke_profile_value(profile, "gpu_count", 1.0) == 0.0) return; /* most are of a GPU */
    for (int k = 0; yoke_profile_figure(profile, k, &f); k++)
        if (!f.points && isnan(f.value))
            fprintf(stream, count++ ? ", %s" : "\n  not known: %s", f.name);
    if (count) fputc('\n', stream);
}

static void print_profile(const shown *s, FILE *stream)
{
    yoke_profile_machine m;
    yoke_profile_describe(s->profile, &m);
    fprintf(stream, "%s: %s\n", m.name, m.text);
    fprintf(stream, "  %-10s %s\n", "CPU", m.cpu);
    if (m.threads) fprintf(stream, "  %-10s %d\n", "processors", m.threads);
    if (*m.gpu) fprintf(stream, "  %-10s %s\n", "GPU", m.gpu);
    if (*m.driver) fprintf(stream, "  %-10s %s\n", "driver", m.driver);
    if (*m.date) fprintf(stream, "  %-10s %s\n", "of", m.date);
    print_figures(s->profile, stream);
    print_unknown(s->profile, stream);
    if (*s->where) fprintf(stream, "\nkept in %s\n", s->where);
}

/* -------------------------------------------------------------------- JSON */

static void write_word(const char *key, const char *text, FILE *stream)
{
    fprintf(stream, "\"%s\":", key);
    write_json_text(*text ? text : NULL, stream);
}

static void write_numbers(const char *key, const double *value, int count, FILE *stream)
{
    char text[40];
    fprintf(stream, ",\"%s\":[", key);
    for (int k = 0; k < count; k++) {
        format_number(value[k], text, sizeof text);
        fprintf(stream, "%s%s", k ? "," : "", text);
    }
    fputc(']', stream);
}

static void write_figure(const yoke_figure *f, FILE *stream)
{
    char text[40];
    fprintf(stream, "\"%s\":{", f->name);
    if (f->at_unit) {
        write_word("at_unit", f->at_unit, stream);
        write_numbers("at", f->at, f->points, stream);
        write_numbers("value", f->values, f->points, stream);
    } else {
        format_number(f->value, text, sizeof text);
        fprintf(stream, "\"value\":%s", text);
    }
    fputc(',', stream);
    write_word("unit", f->unit, stream);
    fputc(',', stream);
    write_word("kind", f->kind, stream);
    fputc(',', stream);
    write_word("source", f->source, stream);
    fputc('}', stream);
}

static void write_profile(const shown *s, FILE *stream)
{
    yoke_profile_machine m;
    yoke_figure f;
    yoke_profile_describe(s->profile, &m);
    const char *const words_[][2] = {{"profile", m.name}, {"text", m.text}, {"date", m.date},
                                     {"cpu", m.cpu},      {"gpu", m.gpu},   {"driver", m.driver},
                                     {"kept", s->where}};
    fputs("{\"schema\":1", stream);
    for (size_t i = 0; i < sizeof words_ / sizeof *words_; i++) {
        fputc(',', stream);
        write_word(words_[i][0], words_[i][1], stream);
    }
    fprintf(stream, ",\"processors\":%d,\"figures\":{", m.threads);
    for (int k = 0; yoke_profile_figure(s->profile, k, &f); k++) {
        if (k) fputc(',', stream);
        write_figure(&f, stream);
    }
    fputs("},\"notices\":[", stream);
    for (int i = 0; i < s->notices.count; i++) {
        if (i) fputc(',', stream);
        write_json_text(s->notices.word[i], stream);
    }
    fputs("]}\n", stream);
}

/* --------------------------------------------------------------------- all */

static void show_step(void *user, const char *step)
{
    (void)user;
    progress_show("%s", step);
}

/* What was kept and cannot be used is said: it is replaced. */
static void say_replaced(shown *s, int device)
{
    yoke_profile *kept = NULL;
    if (yoke_profile_open("this", device, &kept) != YOKE_OK) return;
    char text[1100];
    snprintf(text, sizeof text, "%s; replaced", yoke_profile_notice(kept));
    if (*yoke_profile_notice(kept)) add_notice(s, text);
    yoke_profile_close(kept);
}

/* One that cannot be kept is shown all the same; the last word is an error. */
static int calibrate(const bench_options *options, int device, shown *s)
{
    yoke_context *context = NULL;
    int code = open_context(options, &context);
    if (code) return code;
    say_replaced(s, device);
    yoke_status status = yoke_profile_calibrate(context, device, show_step, NULL, &s->profile);
    progress_clear();
    yoke_context_destroy(context);
    if (status) return say_status(status, NULL);
    add_notice(s, yoke_profile_notice(s->profile));
    status = yoke_profile_save(s->profile, NULL, s->where, sizeof s->where);
    s->not_kept = status != YOKE_OK;
    if (!status) return 0;
    words_add(&s->notices, library_sentence());
    say_error(ENDS_LACKING, "the profile is not kept: %s", library_sentence());
    return 0;
}

static int open_named(const bench_options *options, int device, shown *s)
{
    const char *name = options->machine ? options->machine : "this";
    yoke_status status = yoke_profile_open(name, device, &s->profile);
    if (status) return say_status(status, "--machine");
    add_notice(s, yoke_profile_notice(s->profile));
    return 0;
}

int profile_command(const bench_options *options)
{
    outfile json;
    shown s = {.profile = NULL};
    if (options->calibrate && options->machine && strcmp(options->machine, "this") != 0)
        return say_error(ENDS_BAD_INPUT, "--calibrate measures this machine, not %s",
                         options->machine);
    int code = outfile_open("--json", options->json, &json);
    if (code) return code;
    int device = yoke_gpu_count(NULL) > 0 ? options_device(options) : -1;
    code = options->calibrate ? calibrate(options, device, &s) : open_named(options, device, &s);
    FILE *text = options->quiet ? NULL : json.stream == stdout ? stderr : stdout;
    if (!code && text) print_profile(&s, text);
    if (!code && json.stream) write_profile(&s, json.stream);
    if (!code) code = outfile_commit(&json);
    outfile_discard(&json);
    yoke_profile_close(s.profile);
    words_free(&s.notices);
    return !code && s.not_kept ? ENDS_LACKING : code;
}
