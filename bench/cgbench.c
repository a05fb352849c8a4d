/* SPDX-License-Identifier: BSD-3-Clause */
/* cgbench.c: the commands, and what may precede them. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <yoke.h>

#include "bench/commands.h"
#include "bench/commit.h"
#include "bench/ranks.h"
#include "bench/say.h"

typedef struct command {
    const char *name, *usage, *help;
    unsigned bit;
    int (*run)(const bench_options *options);
} command;

static const command commands[] = {
    {"solve", "MATRIX [options]", "solve one system", COMMAND_SOLVE, command_solve},
    {"run", "MATRIX... [options]", "a row for each configuration of the comma lists", COMMAND_RUN,
     command_run},
    {"study", "[MATRIX...] [options]", "every memory mode, home and partition beside one owner",
     COMMAND_STUDY, command_study},
    {"predict", "MATRIX --machine M,... [options]", "the model's ranked plans, for any machine",
     COMMAND_PREDICT, command_predict},
    {"machine", "[options]", "what this machine is and how fast its memory is", COMMAND_MACHINE,
     command_machine},
    {"list", "[options]", "what there is: built, usable here, and why not", COMMAND_LIST,
     command_list},
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static int help(void)
{
    puts("Usage: cgbench COMMAND [arguments]\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        char left[64];
        snprintf(left, sizeof left, "%s %s", commands[i].name, commands[i].usage);
        printf("  %-38s  %s\n", left, commands[i].help);
    }
    puts(
        "\nMATRIX is a file (Matrix Market, Harwell-Boeing or Rutherford-Boeing, gzipped or not),\n"
        "\"-\" for standard input, or gen:NAME:ARGS (see cgbench list).\n"
        "\"cgbench COMMAND --help\" lists the options of a command; cgbench(1) has all.\n"
        "Exit: 0 converged, 1 not, 2 bad usage or input, 3 device or memory.");
    return ENDS_WELL;
}

static int help_on(const command *c)
{
    printf("Usage: cgbench %s %s\n\n%s\n\n", c->name, c->usage, c->help);
    options_help(c->bit, stdout);
    return ENDS_WELL;
}

static int version(void)
{
    printf("cgbench %s (%s)\n", yoke_version(NULL, NULL, NULL), YOKE_COMMIT);
    return ENDS_WELL;
}

static int say_unknown_command(const char *text)
{
    char known[256] = "";
    size_t used = 0;
    for (int i = 0; i < COMMAND_COUNT; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                                 commands[i].name);
    if (!text) return say_error(ENDS_BAD_INPUT, "no command given; known: %s", known);
    return say_error(ENDS_BAD_INPUT, "unknown command '%s'; known: %s", text, known);
}

/* Ranks meet at the end, also where one has found a fault alone. */
static int run_over_ranks(const command *c, int wrong, const bench_options *options)
{
    int mine = wrong ? wrong : options->help ? 0 : ranks_check(options);
    int code = ranks_agree(mine);
    if (code && !mine) say_error(code, "another rank does not take its arguments");
    if (!code) code = ranks_alike(options);
    if (code) return code;
    return options->help ? help_on(c) : ranks_agree(c->run(options));
}

static int run_command(const command *c, int argc, char **argv)
{
    bench_options options;
    int solves = c->bit & (COMMAND_SOLVE | COMMAND_RUN | COMMAND_STUDY);
    int code = solves ? ranks_begin() : 0;
    int wrong = options_read(argc, argv, c->bit, c->name, &options);
    if (wrong) code = wrong;
    if (solves)
        code = run_over_ranks(c, code, &options);
    else if (!code && options.help)
        help_on(c);
    else if (!code)
        code = c->run(&options);
    ranks_end();
    options_free(&options);
    if (fflush(stdout) && !code) code = say_error(ENDS_BAD_INPUT, "cannot write standard output");
    return code;
}

/* Where a stream comes closed, the first file that is opened would take its place and get what is
 * meant for it. What stands there instead refuses reading, or writing, as a closed one does. */
static void hold_streams(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if (fcntl(stream, F_GETFD) < 0 &&
            open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            exit(ENDS_LACKING);
}

/* Of ranks the first speaks for all. */
static void hold_tongue(void)
{
    if (!ranks_of_launcher()) return;
    say_be_silent(1);
    if (!freopen("/dev/null", "w", stdout)) exit(ENDS_LACKING);
}

int main(int argc, char **argv)
{
    hold_streams();
    hold_tongue();
    const char *name = argc > 1 ? argv[1] : NULL;
    if (!name) return say_unknown_command(NULL);
    if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) return help();
    if (!strcmp(name, "--version")) return version();
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(name, commands[i].name)) return run_command(&commands[i], argc - 2, argv + 2);
    return say_unknown_command(name);
}
