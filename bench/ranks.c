/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.c: of a build with MPI. */
#include "bench/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yoke_mpi.h>

#include "bench/launcher.h"
#include "bench/say.h"
#include "bench/take.h"

static int rank, count = 1;
static int begun;

int ranks_of_launcher(void)
{
    return launcher_rank();
}

/* A program that waits for others leaves its processor to them where there are more ranks than
 * processors; of that the launcher knows, unless it says otherwise. */
static int start(void)
{
    int level = 0;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    begun = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    say_be_silent(rank > 0);
    if (level >= MPI_THREAD_FUNNELED) return 0;
    return say_error(ENDS_LACKING, "this MPI does not offer MPI_THREAD_FUNNELED");
}

/* Ranks that were started by another MPI's launcher each see themselves alone. */
static int check_count(void)
{
    const char *variable;
    int expected = launcher_ranks(&variable);
    if (count > 1 || expected == 1) return 0;
    return say_error(ENDS_BAD_INPUT,
                     "started on %d ranks (%s), of which this build's MPI sees one: use the "
                     "launcher of the MPI it was built with",
                     expected, variable);
}

int ranks_begin(void)
{
    return launcher_is_there() ? start() : 0;
}

int ranks_check(const bench_options *options)
{
    int code = check_count();
    if (!code && options->ranks_file && !begun)
        code = say_error(ENDS_BAD_INPUT, "--ranks-file %s: start the ranks, by mpirun or srun",
                         options->ranks_file);
    if (!code && options->ranks_file && (options->deal || options->shares))
        code = say_error(ENDS_BAD_INPUT, "--ranks-file %s: it deals the rows out, so %s has no say",
                         options->ranks_file, options->deal ? "--deal" : "--shares");
    if (!code && !begun && options->command != COMMAND_PREDICT &&
        (options->deal || options->shares))
        code = say_error(ENDS_BAD_INPUT, "%s: start the ranks, by mpirun or srun",
                         options->deal ? "--deal" : "--shares");
    if (!code && count > 1 && options->vs.count)
        code = say_error(ENDS_LACKING, "--vs: rivals are not measured over ranks; start one rank");
    if (!code && count > 1 && options->roofline)
        code =
            say_error(ENDS_LACKING, "--roofline: passes are not timed over ranks; start one rank");
    if (!code && count > 1 && options->wisdom)
        code = say_error(ENDS_LACKING, "--wisdom: plans over ranks neither ask for it nor keep it");
    if (!code && count > 1 && options->command == COMMAND_STUDY)
        code = say_error(ENDS_BAD_INPUT, "study: it compares memory modes in one process; start "
                                         "one rank");
    return code;
}

/* FNV-1a (Fowler, Noll, Vo). */
static uint64_t hashed(const char *text, uint64_t hash)
{
    do hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    while (*text++);
    return hash;
}

static int is_of_one_rank(const char *given)
{
    static const char *const names[] = {"--threads", "--device", "--gpu-memory", "--gpu-sms",
                                        "--explain", "--quiet",  "--json",       "--csv",
                                        "--svg",     "--history"};
    size_t length = strcspn(given, " ");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && !memcmp(names[i], given, length)) return 1;
    return 0;
}

/* Ranks that solve another number of times would wait for each other. */
int ranks_alike(const bench_options *options)
{
    uint64_t mine = hashed(options->command_name, 0xcbf29ce484222325u), most, least;
    if (!begun) return 0;
    for (int i = 0; i < options->given.count; i++)
        if (!is_of_one_rank(options->given.word[i])) mine = hashed(options->given.word[i], mine);
    mine ^= (uint64_t)options->matrices.count;
    MPI_Allreduce(&mine, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    if (most == least) return 0;
    return say_error(ENDS_BAD_INPUT, "ranks were started with different arguments");
}

void ranks_end(void)
{
    if (begun) MPI_Finalize();
    begun = 0;
}

const char *ranks_missing(void)
{
    return NULL;
}

int ranks_rank(void)
{
    return rank;
}

int ranks_count(void)
{
    return count;
}

int ranks_agree(int code)
{
    if (begun) MPI_Allreduce(MPI_IN_PLACE, &code, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return code;
}

/* Where every partition that is asked for has rows on GPUs, by these. */
static const char *shares_of(const bench_options *options)
{
    const words *partition = &options->axis[AXIS_PARTITION];
    int on_gpus = partition->count > 0;
    for (int i = 0; i < partition->count; i++)
        if (!strcmp(partition->word[i], "cpu") || !strcmp(partition->word[i], "auto")) on_gpus = 0;
    if (!on_gpus || (options->shares && !strcmp(options->shares, "equal"))) return options->shares;
    return options->shares && !strcmp(options->shares, "profile") ? "profile-gpu" : "auto-gpu";
}

yoke_status ranks_context(const bench_options *options, const yoke_context_options *wanted,
                          yoke_context **context)
{
    char deal[4200];
    yoke_mpi_options mpi = yoke_mpi_defaults();
    if (!begun) return yoke_context_create(wanted, context);
    mpi.deal = options->deal;
    mpi.shares = shares_of(options);
    if (options->ranks_file) {
        snprintf(deal, sizeof deal, "file:%s", options->ranks_file);
        mpi.deal = deal;
    }
    return yoke_mpi_context_create(MPI_COMM_WORLD, wanted, &mpi, context);
}

/* Summed in one place, so that all have the same bits. */
long double ranks_sum(long double value)
{
    long double sum = value;
    if (!begun) return value;
    MPI_Reduce(&value, &sum, 1, MPI_LONG_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Bcast(&sum, 1, MPI_LONG_DOUBLE, 0, MPI_COMM_WORLD);
    return sum;
}

double ranks_most(double value)
{
    if (begun) MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return value;
}

void ranks_gather(const void *mine, size_t size, void *all)
{
    if (begun)
        MPI_Allgather(mine, (int)size, MPI_BYTE, all, (int)size, MPI_BYTE, MPI_COMM_WORLD);
    else
        memcpy(all, mine, size);
}

/* Rank by rank, so that no rank has more than the longest share beside the whole. */
void ranks_collect(const int64_t *row, const double *value, int64_t own, double *all,
                   int64_t all_rows)
{
    (void)all_rows;
    if (!begun) {
        memcpy(all, value, (size_t)own * sizeof *value);
        return;
    }
    for (int r = 0; r < count; r++) {
        long long n = own;
        MPI_Bcast(&n, 1, MPI_LONG_LONG, r, MPI_COMM_WORLD);
        int64_t *rows = take("rows of a rank", n, sizeof *rows);
        double *values = take("values of a rank", n, sizeof *values);
        if (r == rank && n > 0) {
            memcpy(rows, row, (size_t)n * sizeof *rows);
            memcpy(values, value, (size_t)n * sizeof *values);
        }
        MPI_Bcast(rows, (int)n, MPI_INT64_T, r, MPI_COMM_WORLD);
        MPI_Bcast(values, (int)n, MPI_DOUBLE, r, MPI_COMM_WORLD);
        for (long long i = 0; i < n; i++) all[rows[i]] = values[i];
        free(rows);
        free(values);
    }
}
