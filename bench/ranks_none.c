/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks_none.c: of a build without MPI: one rank. */
#include <string.h>

#include "bench/launcher.h"
#include "bench/ranks.h"
#include "bench/say.h"

int ranks_of_launcher(void)
{
    return 0; /* each is told that it should not be there */
}

int ranks_begin(void)
{
    return 0;
}

void ranks_end(void)
{
}

/* Under a launcher each of its ranks would solve the whole system. */
int ranks_check(const bench_options *options)
{
    const char *variable;
    int ranks = launcher_ranks(&variable);
    if (ranks > 1)
        return say_error(ENDS_BAD_INPUT,
                         "started on %d ranks (%s), but this build has no MPI: start one", ranks,
                         variable);
    if (options->ranks_file)
        return say_error(ENDS_LACKING, "--ranks-file %s: this build has no MPI",
                         options->ranks_file);
    if (options->command != COMMAND_PREDICT && (options->deal || options->shares))
        return say_error(ENDS_LACKING, "%s: this build has no MPI",
                         options->deal ? "--deal" : "--shares");
    return 0;
}

int ranks_alike(const bench_options *options)
{
    (void)options;
    return 0;
}

const char *ranks_missing(void)
{
    return "this build has no MPI";
}

int ranks_rank(void)
{
    return 0;
}

int ranks_count(void)
{
    return 1;
}

int ranks_agree(int code)
{
    return code;
}

yoke_status ranks_context(const bench_options *options, const yoke_context_options *wanted,
                          yoke_context **context)
{
    (void)options;
    return yoke_context_create(wanted, context);
}

long double ranks_sum(long double value)
{
    return value;
}

double ranks_most(double value)
{
    return value;
}

void ranks_gather(const void *mine, size_t size, void *all)
{
    memcpy(all, mine, size);
}

void ranks_collect(const int64_t *row, const double *value, int64_t count, double *all,
                   int64_t all_rows)
{
    (void)row;
    (void)all_rows;
    memcpy(all, value, (size_t)count * sizeof *value);
}
