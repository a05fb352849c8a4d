/* SPDX-License-Identifier: BSD-3-Clause */
/* options.c: the command line against the table. What is wrong ends in exit 2 before what is merely
 * lacking ends in exit 3, wherever either stands. */
#include "bench/options.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/names.h"
#include "bench/say.h"
#include "bench/take.h"

static const option *find_option(const char *text, size_t length, unsigned command)
{
    for (int i = 0; i < option_count; i++)
        if (strlen(option_table[i].name) == length && !memcmp(option_table[i].name, text, length) &&
            (option_table[i].commands & command))
            return &option_table[i];
    return NULL;
}

static int say_unknown_option(const bench_options *options, const char *text)
{
    char known[1500] = "";
    size_t used = 0;
    for (int i = 0; i < option_count && used + 32 < sizeof known; i++)
        if (option_table[i].commands & options->command)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? " " : "",
                                     option_table[i].name);
    return say_error(ENDS_BAD_INPUT, "%s: unknown option '%s'; known: %s", options->command_name,
                     text, known);
}

static int say_bad_value(const option *o, const char *value, const char *expected)
{
    return say_error(ENDS_BAD_INPUT, "%s: '%s' is not %s", o->name, value, expected);
}

static int read_count(const option *o, const char *value, int64_t *field)
{
    int64_t read = 0;
    if (!parse_count(value, &read) || read < o->least)
        return say_bad_value(o, value,
                             o->least ? "a whole number of at least 1" : "a whole number");
    if (o->most && read > o->most) return say_bad_value(o, value, "within 1 and 65536");
    if (field) *field = read;
    return 0;
}

static int read_number(const option *o, const char *value, double *field)
{
    if (!parse_number(value, field))
        return say_bad_value(o, value, "a finite number of at least 0");
    return 0;
}

static int read_size(const option *o, const char *value, double *field)
{
    double bytes = 0.0;
    if (!parse_size(value, &bytes)) return say_bad_value(o, value, "a size such as 40G");
    if (field) *field = bytes;
    return 0;
}

/* More than one makes plans of several GPUs, which are for what solves one matrix after another. */
static int read_devices(const option *o, const char *value, bench_options *options)
{
    enum { MOST = sizeof options->devices / sizeof options->devices[0] };
    words list = {0, NULL};
    int good = parse_words(value, &list) && list.count <= MOST;
    for (int i = 0; good && i < list.count; i++) {
        int64_t number = 0;
        good = parse_count(list.word[i], &number);
        options->devices[i] = number < INT_MAX ? (int)number : INT_MAX; /* nowhere are so many */
    }
    options->device_count = list.count;
    words_free(&list);
    if (!good) return say_bad_value(o, value, "a whole number, or up to 8 as N,N");
    if (options->device_count > 1 && !(options->command & (COMMAND_SOLVE | COMMAND_RUN)))
        return say_error(ENDS_BAD_INPUT, "--device %s: cgbench %s takes one device", value,
                         options->command_name);
    return 0;
}

static int read_network(const option *o, const char *value, double *field)
{
    if (parse_network(value, field)) return 0;
    return say_bad_value(o, value,
                         "L,B: a message's latency and the bytes a second, as 2us,25GB/s");
}

/* "a|b" as names are listed everywhere: "a, b". */
static int say_unknown_choice(const option *o, const char *value)
{
    char known[256] = "";
    size_t used = 0;
    for (const char *at = o->choices; *at && used + 3 < sizeof known; at++) {
        known[used++] = *at == '|' ? ',' : *at;
        if (*at == '|') known[used++] = ' ';
    }
    known[used] = '\0';
    return say_error(ENDS_BAD_INPUT, "%s: unknown name '%s'; known: %s", o->name, value, known);
}

static int read_list(const option *o, const char *value, words *field)
{
    words_free(field);
    if (!parse_words(value, field))
        return say_bad_value(o, value, "a comma list: an item is empty");
    for (int i = 0; i < field->count; i++) {
        if (o->kind == KIND_NAMES && name_check(o->name, o->names, field->word[i]))
            return ENDS_BAD_INPUT;
        if (o->kind == KIND_COUNTS && read_count(o, field->word[i], NULL)) return ENDS_BAD_INPUT;
        if (o->kind == KIND_RIVALS && !is_one_of(field->word[i], o->choices))
            return say_unknown_choice(o, field->word[i]);
    }
    return 0;
}

static int read_text(const option *o, const char *value, char **field)
{
    if (!*value) return say_error(ENDS_BAD_INPUT, "%s: its argument is empty", o->name);
    if (o->kind == KIND_NAME && name_check(o->name, o->names, value)) return ENDS_BAD_INPUT;
    if (o->kind == KIND_CHOICE && !is_one_of(value, o->choices))
        return say_unknown_choice(o, value);
    free(*field);
    *field = take_copy(value);
    return 0;
}

static int read_value(const option *o, const char *value, bench_options *options)
{
    void *field = (char *)options + o->offset;
    switch (o->kind) {
    case KIND_FLAG:
        if (!o->later) *(int *)field = 1;
        return 0;
    case KIND_COUNT: return read_count(o, value, o->later ? NULL : field);
    case KIND_NUMBER: return read_number(o, value, field);
    case KIND_SIZE: return read_size(o, value, o->later ? NULL : field);
    case KIND_NETWORK: return read_network(o, value, field);
    case KIND_DEVICES: return read_devices(o, value, options);
    case KIND_NAMES:
    case KIND_COUNTS:
    case KIND_RIVALS: return read_list(o, value, field);
    default: return read_text(o, value, field);
    }
}

static void note_given(const option *o, const char *value, bench_options *options)
{
    char text[512];
    snprintf(text, sizeof text, "%s%s%s", o->name, value ? " " : "", value ? value : "");
    words_add(&options->given, text);
}

static void note_later(const option *o, const char *value, bench_options *options)
{
    if (!o->later || options->later) return;
    if (o->later_values && !is_one_of(value, o->later_values)) return;
    size_t bytes = strlen(o->name) + strlen(o->later) + (value ? strlen(value) : 0) + 8;
    options->later = take("a string", (int64_t)bytes, 1);
    snprintf(options->later, bytes, "%s%s%s: %s", o->name, value ? " " : "", value ? value : "",
             o->later);
}

/* Reads the option at argv[*at], and its argument there or behind. */
static int read_option(int argc, char **argv, int *at, bench_options *options)
{
    const char *text = argv[*at], *value = strchr(text, '=');
    size_t length = value ? (size_t)(value - text) : strlen(text);
    const option *o = find_option(text, length, options->command);
    if (!o) return say_unknown_option(options, text);
    if (o->kind == KIND_FLAG && value)
        return say_error(ENDS_BAD_INPUT, "%s takes no argument, given '%s'", o->name, value + 1);
    if (value)
        value++;
    else if (o->kind != KIND_FLAG) {
        if (*at + 1 >= argc)
            return say_error(ENDS_BAD_INPUT, "%s needs an argument: %s", o->name, o->argument);
        value = argv[++*at];
    }
    int code = read_value(o, value, options);
    if (!code) note_given(o, value, options);
    if (!code) note_later(o, value, options);
    return code;
}

static void set_defaults(unsigned command, const char *command_name, bench_options *options)
{
    *options = (bench_options){.command = command, .command_name = command_name, .rtol = 1e-8};
    options->effort = take_copy(command == COMMAND_SOLVE ? "estimate" : "measure");
    options->repeats = command == COMMAND_SOLVE ? 1 : command == COMMAND_STUDY ? 3 : 5;
    if (command == COMMAND_STUDY) options->rtol = NAN; /* not asked: a time, not a solution */
    options->rhs = take_copy("ones");
    options->base = take_copy("b");
    options->check_every = 1;
}

int options_read(int argc, char **argv, unsigned command, const char *command_name,
                 bench_options *options)
{
    set_defaults(command, command_name, options);
    int only_operands = 0, code = 0;
    for (int at = 0; at < argc && !code; at++) {
        if (!only_operands && !strcmp(argv[at], "--"))
            only_operands = 1;
        else if (!only_operands && argv[at][0] == '-' && argv[at][1])
            code = read_option(argc, argv, &at, options);
        else
            words_add(&options->matrices, argv[at]);
    }
    if (!code) say_be_quiet(options->quiet);
    return code;
}

static int refuse_device(const bench_options *options)
{
    const char *reason;
    if (options->device_count == 0) return 0;
    int count = yoke_gpu_count(&reason);
    for (int i = 0; i < options->device_count; i++) {
        const int device = options->devices[i];
        if (count == 0)
            return say_error(ENDS_LACKING, "--device %d: no GPU here: %s", device, reason);
        if (device >= count)
            return say_error(ENDS_LACKING, "--device %d: this machine has %d, counted from 0",
                             device, count);
    }
    return 0;
}

int options_refuse_later(const bench_options *options)
{
    if (options->later) return say_error(ENDS_LACKING, "%s", options->later);
    return refuse_device(options);
}

int options_device(const bench_options *options)
{
    return options->device_count > 0 ? options->devices[0] : 0;
}

void options_free(bench_options *options)
{
    words_free(&options->matrices);
    words_free(&options->vs);
    words_free(&options->given);
    words_free(&options->ranks);
    for (int i = 0; i < AXES; i++) words_free(&options->axis[i]);
    for (int i = 0; i < option_count; i++) {
        option_kind kind = option_table[i].kind;
        if (kind != KIND_TEXT && kind != KIND_CHOICE && kind != KIND_NAME) continue;
        char **field = (char **)(void *)((char *)options + option_table[i].offset);
        free(*field);
        *field = NULL;
    }
    free(options->later);
    options->later = NULL;
}

void options_help(unsigned command, FILE *stream)
{
    for (int i = 0; i < option_count; i++) {
        const option *o = &option_table[i];
        if (!(o->commands & command)) continue;
        char left[64];
        snprintf(left, sizeof left, "%s%s%s", o->name, o->argument ? " " : "",
                 o->argument ? o->argument : "");
        fprintf(stream, "  %-34s  %s%s\n", left, o->help,
                o->later && !o->later_values ? " [not in this version yet]" : "");
    }
}
