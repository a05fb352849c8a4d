/* SPDX-License-Identifier: BSD-3-Clause */
/* planner.c: names and "auto" into a choice, by estimate; tune.c may time others on the matrix. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/context.h"
#include "lib/status.h"
#include "lib/threads.h"
#include "matrices/number.h"
#include "partition/balance.h"
#include "solvers/cg/bytes.h"
#include "solvers/estimate.h"
#include "solvers/homes.h"
#include "solvers/plan.h"
#include "solvers/ranks.h"
#include "solvers/registry.h"

/* A thread is worth waking for about this many bytes an iteration: a meeting costs about 1 us, in
 * which one core reads some 10 KB. */
#define BYTES_A_THREAD 65536.0

/* No last-level cache is smaller; below it the machine is not even asked. */
#define SURELY_CACHED 4e6

static bool is_auto(const char *name)
{
    return !name || strcmp(name, "auto") == 0;
}

static bool is_named(const char *given, const char *name)
{
    return !is_auto(given) && strcmp(given, name) == 0;
}

/* The item's static name for a given one, or the default for "auto". */
static yoke_status find(yoke_list_kind kind, const char *given, const char *by_default,
                        const char **name, const void **implementation)
{
    yoke_list_item item;
    YK_TRY(yk_registry_find(kind, is_auto(given) ? by_default : given, &item, implementation));
    *name = item.name;
    return YOKE_OK;
}

/* ----------------------------------------------------------------- threads */

/* Of those rows that the CPU has beside a GPU, at most; of all where it is alone, or the GPU. */
static double bytes_per_iteration(const yoke_matrix *matrix, const yk_choice *choice)
{
    double row_bytes = yk_recurrence_row_bytes(choice->recurrence, choice->folded, choice->jacobi);
    double bytes = yk_csr_bytes(&matrix->csr) + row_bytes * (double)matrix->csr.rows;
    if (!choice->shared) return bytes;
    int64_t first = choice->window.count > 0 ? choice->window.row[0] : choice->gpu_rows;
    return bytes - yk_bytes_before(&matrix->csr, row_bytes, first);
}

static void choose_threads(const yoke_matrix *matrix, const yoke_plan_options *options,
                           yk_choice *choice)
{
    const yoke_context *context = matrix->context;
    choice->threads = yk_threads(context, options->threads);
    if (options->threads > 0 || context->options.threads > 0) return;
    double worth = bytes_per_iteration(matrix, choice) / BYTES_A_THREAD;
    if (worth < choice->threads) choice->threads = worth < 1.0 ? 1 : (int)worth;
}

/* q is read again only after the whole matrix went by: if an iteration exceeds the last cache, it
 * is no longer there. */
static void choose_stores(const yoke_matrix *matrix, yk_choice *choice)
{
    double bytes = bytes_per_iteration(matrix, choice);
    bool of_cpu = choice->partition->owner == YK_OWNER_CPU || choice->shared;
    if (!of_cpu || bytes < SURELY_CACHED) return;
    yoke_machine machine;
    yoke_machine_describe(&machine);
    choice->stream_q = bytes > (double)machine.cache_bytes[3];
}

/* A team a NUMA node, once a part is long enough to be cut. */
static int default_parts(const yoke_matrix *matrix, const yk_choice *choice)
{
    yoke_machine machine;
    yoke_machine_describe(&machine);
    int nodes = machine.numa_nodes > 0 ? machine.numa_nodes : 1;
    if (nodes > choice->threads) nodes = choice->threads;
    int64_t most = yk_chunks(matrix->csr.rows - choice->gpu_rows) / 16;
    return matrix->is_operator || most < nodes ? 1 : nodes;
}

static yoke_status choose_parts(const yoke_matrix *matrix, const yoke_plan_options *options,
                                yk_choice *choice)
{
    bool gpu = choice->partition->owner == YK_OWNER_GPU && !choice->shared;
    if (gpu && options->parts > 1)
        return yk_fail(YOKE_UNSUITABLE, "partition gpu is one part, %d were asked for",
                       options->parts);
    if (choice->window.count > 0 && options->parts > 1)
        return yk_fail(
            YOKE_UNSUITABLE,
            "partition %s moves one cut, between a GPU and one part of the CPU, %d parts "
            "were asked for",
            choice->partition->name, options->parts);
    if (options->parts < 0 || options->parts > 4096)
        return yk_fail(YOKE_INVALID, "parts is %d, expected 0 to 4096", options->parts);
    /* Describing the machine reads files: not for systems that one thread solves. */
    choice->parts = options->parts;
    if (choice->parts == 0)
        choice->parts = !gpu && choice->threads > 1 && choice->window.count == 0
                            ? default_parts(matrix, choice)
                            : 1;
    if (choice->shared) choice->parts++;
    return YOKE_OK;
}

/* ------------------------------------------------------------------- names */

/* Whether the user's operator and preconditioner, where there are any, have all of these flags. */
static bool callbacks_have(const yoke_matrix *matrix, const yoke_plan_options *options,
                           unsigned flags)
{
    const yoke_operator *user = options->apply_preconditioner;
    return (!matrix->is_operator || (matrix->op.flags & flags) == flags) &&
           (!user || (user->flags & flags) == flags);
}

static bool has_callbacks(const yoke_matrix *matrix, const yoke_plan_options *options)
{
    return matrix->is_operator || options->apply_preconditioner;
}

/* A graph replays what was enqueued once. */
static bool can_be_captured(const yoke_matrix *matrix, const yoke_plan_options *options)
{
    return callbacks_have(matrix, options, YOKE_APPLY_DEVICE | YOKE_APPLY_CAPTURABLE);
}

/* What the recurrences with one sum run with so far. */
static yoke_status check_recurrence(const yoke_matrix *matrix, const yoke_plan_options *options,
                                    const yk_choice *choice)
{
    const char *why = NULL;
    if (choice->recurrence == YK_CLASSICAL) return YOKE_OK;
    if (has_callbacks(matrix, options)) why = "a user's operator or preconditioner";
    if (choice->shared) why = "a partition with rows on a GPU and on the CPU";
    if (choice->foreign_product) why = "format cusparse";
    if (strcmp(choice->driver->name, "persistent") == 0) why = "driver persistent";
    if (is_named(options->shape, "folded")) why = "shape folded";
    if (matrix->spread) why = "several ranks";
    if (!why) return YOKE_OK;
    return yk_fail(YOKE_UNSUITABLE, "solver %s does not take %s; use cg", choice->solver, why);
}

static yk_recurrence recurrence_of(const char *solver)
{
    if (strcmp(solver, "cg-single") == 0) return YK_SINGLE;
    return strcmp(solver, "cg-pipelined") == 0 ? YK_PIPELINED : YK_CLASSICAL;
}

static yoke_status check_callbacks(const yoke_matrix *matrix, const yoke_plan_options *options,
                                   const yk_choice *choice)
{
    if (!has_callbacks(matrix, options)) return YOKE_OK;
    if (!choice->driver->takes_callbacks)
        return yk_fail(YOKE_UNSUITABLE,
                       "driver %s does not take a user's operator or preconditioner; use stream",
                       choice->driver->name);
    if (strcmp(choice->driver->name, "graph") == 0 && !can_be_captured(matrix, options))
        return yk_fail(YOKE_UNSUITABLE,
                       "driver graph takes a user's operator or preconditioner only with "
                       "YOKE_APPLY_DEVICE and YOKE_APPLY_CAPTURABLE; use stream");
    if (matrix->is_operator && choice->format && strcmp(choice->format, "csr") != 0)
        return yk_fail(YOKE_UNSUITABLE, "format %s needs entries, which an operator has not",
                       choice->format);
    return YOKE_OK;
}

static yoke_status choose_preconditioner(const yoke_matrix *matrix,
                                         const yoke_plan_options *options, yk_choice *choice)
{
    const yoke_operator *user = options->apply_preconditioner;
    if (user && !is_auto(options->preconditioner) && strcmp(options->preconditioner, "none") != 0)
        return yk_fail(YOKE_INVALID, "both preconditioner %s and apply_preconditioner are given",
                       options->preconditioner);
    YK_TRY(find(YOKE_LIST_PRECONDITIONERS, options->preconditioner, "none", &choice->preconditioner,
                NULL));
    choice->jacobi = strcmp(choice->preconditioner, "jacobi") == 0;
    if (choice->jacobi && matrix->is_operator && !matrix->op.diagonal)
        return yk_fail(YOKE_UNSUITABLE, "preconditioner jacobi needs the operator's diagonal, "
                                        "which was not given");
    if (!user) return YOKE_OK;
    YK_TRY(yk_check_struct("yoke_operator", user->struct_size, sizeof *user));
    if (!user->apply) return yk_fail(YOKE_INVALID, "apply_preconditioner has no apply");
    if (user->rows != matrix->csr.rows)
        return yk_fail(YOKE_INVALID, "apply_preconditioner has %lld rows, the matrix %lld",
                       (long long)user->rows, (long long)matrix->csr.rows);
    choice->preconditioner = "user";
    return YOKE_OK;
}

static bool may_measure(const yoke_matrix *matrix, const yk_choice *choice)
{
    return choice->measure_iterations > 0 && matrix->csr.rows > 0;
}

/* cuSPARSE multiplies by a p that is there already, when the host says so. */
static yoke_status check_cusparse_can(const yoke_plan_options *options, const yk_choice *choice)
{
    if (!choice->foreign_product) return YOKE_OK;
    if (choice->shared)
        return yk_fail(YOKE_UNSUITABLE,
                       "partition %s does not take format cusparse; use sell or csr",
                       choice->partition_text);
    if (!is_auto(options->shape) && strcmp(options->shape, "folded") == 0)
        return yk_fail(YOKE_UNSUITABLE, "format cusparse does not take shape folded; use unfolded");
    if (!choice->driver->takes_callbacks)
        return yk_fail(YOKE_UNSUITABLE,
                       "format cusparse does not take driver %s; use graph or stream",
                       choice->driver->name);
    return YOKE_OK;
}

static yoke_status choose_shape(const yoke_matrix *matrix, const yoke_plan_options *options,
                                yk_choice *choice)
{
    bool cannot_fold = matrix->is_operator || options->apply_preconditioner || choice->nullspace ||
                       choice->foreign_product || choice->shared ||
                       choice->recurrence != YK_CLASSICAL;
    const char *name;
    YK_TRY(check_cusparse_can(options, choice));
    YK_TRY(find(YOKE_LIST_SHAPES, options->shape, "unfolded", &name, NULL));
    choice->folded = strcmp(name, "folded") == 0;
    if (choice->folded && choice->shared)
        return yk_fail(YOKE_UNSUITABLE, "partition %s does not take shape folded; use unfolded",
                       choice->partition_text);
    if (choice->folded && cannot_fold)
        return yk_fail(YOKE_UNSUITABLE, "shape folded cannot carry a user's operator or "
                                        "preconditioner, nor a nullspace; use unfolded");
    choice->measure_shape = is_auto(options->shape) && !cannot_fold && may_measure(matrix, choice);
    return YOKE_OK;
}

static yoke_status choose_effort(const yoke_plan_options *options, yk_choice *choice)
{
    YK_TRY(find(YOKE_LIST_EFFORTS, options->effort, "estimate", &choice->effort, NULL));
    bool measure = strcmp(choice->effort, "measure") == 0;
    bool patient = strcmp(choice->effort, "patient") == 0;
    choice->measure_iterations = measure ? 60 : patient ? 600 : 0;
    choice->measure_seconds = measure ? 0.02 : patient ? 0.2 : 0.0;
    return YOKE_OK;
}

/* Twice as fast by the estimate: caches hold small systems, which the estimate does not know, and a
 * GPU must be opened and filled first. */
#define GPU_ADVANTAGE 2.0

/* Homes that only a GPU's rows have. */
static bool is_home_of_gpu(const char *home)
{
    return !is_auto(home) && strcmp(home, "owner") != 0;
}

/* Whether a GPU is taken whatever an estimate says, 1, or is not, 0; -1: the estimate says. What
 * takes device pointers has its data there. */
static int is_settled(const yoke_matrix *matrix, const yoke_plan_options *options)
{
    if (options->parts > 1 || is_named(options->driver, "team")) return 0;
    if (!is_auto(options->format) && !is_named(options->format, "csr")) return 1;
    if (is_home_of_gpu(options->home)) return 1;
    if (has_callbacks(matrix, options)) return callbacks_have(matrix, options, YOKE_APPLY_DEVICE);
    return yk_is_surely_for_the_cpu(matrix) ? 0 : -1;
}

/* What is wrong with a profile is told once a plan. */
static bool is_worth_a_gpu(const yoke_matrix *matrix, const yoke_plan_options *options, int device,
                           yk_choice *choice)
{
    yk_estimate estimate;
    yk_estimate_owners(matrix, options->threads, device, &estimate);
    snprintf(choice->notice, sizeof choice->notice, "%s", estimate.notice);
    return GPU_ADVANTAGE * estimate.gpu < estimate.cpu;
}

/* For small systems no device is even asked for, and where one is not worth it by the machine's
 * profile. What the GPU is called may tell more than was assumed. A build without CUDA is no
 * surprise; a GPU that is not there may be. */
static const char *default_partition(const yoke_matrix *matrix, const yoke_plan_options *options,
                                     yk_choice *choice)
{
    int settled = yoke_has("cuda") ? is_settled(matrix, options) : 0;
    if (settled == 0 || (settled < 0 && !is_worth_a_gpu(matrix, options, -1, choice))) return "cpu";
    const char *reason = yk_gpu_reason();
    if (*reason) choice->declined = reason;
    if (*reason) return "cpu";
    if (settled < 0 && !is_worth_a_gpu(matrix, options, options->device, choice)) return "cpu";
    return "gpu";
}

static const char *default_driver(const yoke_matrix *matrix, const yoke_plan_options *options,
                                  bool gpu)
{
    if (!gpu) return "team";
    return can_be_captured(matrix, options) ? "graph" : "stream";
}

/* The number behind the partition's name: the CPU's share. */
static yoke_status read_share(const char *given, const char *form, double *share)
{
    char text[64] = ""; /* of which the reader looks at eight bytes more */
    const char *argument = strchr(given, ':'), *end = text;
    if (argument && strlen(argument) < sizeof text - 8) strcpy(text, argument + 1);
    if (yk_parse_number(&end, share) != YK_NUMBER_GOOD || *end || !(*share >= 0.0 && *share <= 1.0))
        return yk_fail(YOKE_INVALID, "partition %s: expected %s with R from 0 to 1", given, form);
    return YOKE_OK;
}

/* One kind of owner has all rows: a plan for it alone, by what was asked as far as it goes. */
static void leave_to_one(yoke_plan_options *options, yk_choice *choice)
{
    bool gpu = choice->gpu_rows > 0;
    snprintf(choice->notice, sizeof choice->notice, "partition %s leaves no rows to %s: %s alone",
             choice->partition_text, gpu ? "the CPU" : "a GPU", gpu ? "a GPU" : "the CPU");
    choice->partition = gpu ? &yk_partition_gpu : &yk_partition_cpu;
    choice->partition_text[0] = '\0';
    choice->gpu_rows = 0;
    choice->shared = choice->cut_is_measured = false;
    bool is_home =
        gpu && is_named(options->home, "shared") && !is_named(options->memory, "explicit");
    if (!is_home) options->memory = NULL; /* it joins nobody */
    if (gpu)
        options->parts = 0;
    else
        options->driver = options->format = options->home = NULL;
}

/* Before anything is measured: by the model. */
static double guessed_share(const yoke_matrix *matrix, const yoke_plan_options *options)
{
    yk_estimate estimate;
    if (matrix->csr.rows == 0) return 0.0;
    yk_estimate_owners(matrix, options->threads, -1, &estimate);
    return estimate.gpu / (estimate.cpu + estimate.gpu);
}

/* Which rows a GPU has beside the CPU. */
static yoke_status choose_shares(const yoke_matrix *matrix, yoke_plan_options *options,
                                 yk_cut_wish given, yk_choice *choice)
{
    const yk_partition *partition = choice->partition;
    yk_cut_wish *wish = &given;
    if (!partition->gpu_rows) return YOKE_OK;
    bool given_share = !partition->measured || strchr(options->partition, ':');
    if (given_share)
        YK_TRY(read_share(options->partition, partition->form, &wish->share));
    else if (wish->share < 0.0 && !matrix->is_operator)
        wish->share = guessed_share(matrix, options);
    if (has_callbacks(matrix, options))
        return yk_fail(YOKE_UNSUITABLE,
                       "partition %s does not take a user's operator or preconditioner; use cpu or "
                       "gpu",
                       options->partition);
    snprintf(choice->partition_text, sizeof choice->partition_text, "%s", options->partition);
    choice->shared = true;
    choice->cut_is_measured = !given_share;
    double row_bytes = yk_cg_row_bytes(false, is_named(options->preconditioner, "jacobi"));
    choice->gpu_rows = partition->gpu_rows(&matrix->csr, row_bytes, wish->share);
    if (choice->gpu_rows == 0 || choice->gpu_rows == matrix->csr.rows)
        leave_to_one(options, choice);
    else if (partition->moves)
        choice->window = yk_window_around(&matrix->csr, row_bytes, choice->gpu_rows, wish->narrow);
    return YOKE_OK;
}

/* The driver for the owners that there are. */
static yoke_status choose_driver(const yoke_matrix *matrix, const yoke_plan_options *options,
                                 yk_choice *choice)
{
    bool gpu = choice->partition->owner == YK_OWNER_GPU;
    const char *name;
    const void *table;
    YK_TRY(find(YOKE_LIST_DRIVERS, options->driver, default_driver(matrix, options, gpu), &name,
                &table));
    choice->driver = table;
    if (choice->shared) choice->driver = choice->driver->with_cpu;
    if (choice->driver && gpu == (choice->driver->engine != &yk_engine_cpu)) return YOKE_OK;
    return yk_fail(YOKE_UNSUITABLE, "driver %s does not run partition %s%s", name,
                   choice->partition->name, choice->shared ? "; use graph or stream" : "");
}

/* Then the thread that launches a kernel waits for it, which waits for what that thread would do
 * next. By copies no kernel waits. */
static bool launches_block(void)
{
    const char *set = getenv("CUDA_LAUNCH_BLOCKING");
    return set && *set && strcmp(set, "0") != 0;
}

/* Why a mode cannot join a GPU and the CPU here; "" if it can. */
static const char *cannot_join(const yk_memmode *mode, int device)
{
    if (!mode->reason) return "it joins CPU parts alone";
    if (strcmp(mode->name, "explicit") != 0 && launches_block())
        return "CUDA_LAUNCH_BLOCKING is set, and kernels wait for CPU threads; use explicit";
    return mode->reason(device);
}

/* Where a GPU reaches no host memory, copies do. */
static yoke_status default_memory(const yoke_plan_options *options, yk_choice *choice,
                                  const char **name)
{
    yoke_list_item mapped;
    const void *table;
    *name = choice->shared ? "mapped" : "host";
    if (!choice->shared || !is_auto(options->memory)) return YOKE_OK;
    YK_TRY(yk_registry_find(YOKE_LIST_MEMORY, *name, &mapped, &table));
    const char *reason = cannot_join(table, options->device);
    if (!*reason) return YOKE_OK;
    snprintf(choice->notice, sizeof choice->notice, "memory auto takes explicit: %s", reason);
    *name = "explicit";
    return YOKE_OK;
}

static yoke_status choose_memory(const yoke_plan_options *options, yk_choice *choice)
{
    const char *name, *by_default, *reason;
    const void *table;
    YK_TRY(default_memory(options, choice, &by_default));
    YK_TRY(find(YOKE_LIST_MEMORY, options->memory, by_default, &name, &table));
    choice->memmode = table; /* where one owner has all rows, as its home needs it: homes.c */
    if (!choice->shared || !*(reason = cannot_join(choice->memmode, options->device)))
        return YOKE_OK;
    return yk_fail(choice->memmode->reason ? YOKE_UNUSABLE : YOKE_UNSUITABLE,
                   "memory %s for partition %s: %s", name, choice->partition_text, reason);
}

/* The CPU has no use for what was asked of a GPU's size; where it was named, that is no surprise.
 */
static void note_unused_card(const yoke_plan_options *options, yk_choice *choice)
{
    if (choice->partition->owner != YK_OWNER_CPU || !is_auto(options->partition)) return;
    if (options->gpu_memory == 0 && options->gpu_sms == 0) return;
    const char *what = !options->gpu_sms      ? "gpu_memory"
                       : !options->gpu_memory ? "gpu_sms"
                                              : "gpu_memory and gpu_sms";
    snprintf(choice->notice, sizeof choice->notice, "%s: not used, as partition auto takes the CPU",
             what);
}

static yoke_status choose_tables(const yoke_matrix *matrix, yoke_plan_options *options,
                                 yk_cut_wish wish, yk_choice *choice)
{
    const char *name, *by_default = "cpu";
    const void *table;
    if (is_auto(options->partition)) by_default = default_partition(matrix, options, choice);
    YK_TRY(find(YOKE_LIST_PARTITIONS, options->partition, by_default, &name, &table));
    choice->partition = table;
    note_unused_card(options, choice);
    YK_TRY(choose_shares(matrix, options, wish, choice));
    bool gpu = choice->partition->owner == YK_OWNER_GPU;
    choice->falls_back = gpu && is_auto(options->partition) && is_auto(options->driver) &&
                         options->device == 0 && !is_home_of_gpu(options->home) &&
                         (is_auto(options->format) || is_named(options->format, "csr"));
    YK_TRY(choose_driver(matrix, options, choice));
    YK_TRY(choose_memory(options, choice));
    YK_TRY(find(YOKE_LIST_HOMES, options->home, "owner", &choice->home, NULL));
    YK_TRY(find(YOKE_LIST_SOLVERS, options->solver, "cg", &choice->solver, NULL));
    choice->recurrence = recurrence_of(choice->solver);
    YK_TRY(find(YOKE_LIST_FORMATS, options->format, "csr", &choice->format, NULL));
    choice->format_is_auto = is_auto(options->format);
    choice->foreign_product = is_named(choice->format, "cusparse");
    if (!gpu && strcmp(choice->format, "csr") != 0)
        return yk_fail(YOKE_UNSUITABLE, "format %s is not for the CPU; use csr", choice->format);
    return yk_home_choose(matrix, options, choice);
}

/* ------------------------------------------------------------------ formats */

/* SELL's padding is read but not multiplied; a row that is too long for one thread belongs to CSR,
 * which gives it eight or a block. */
#define SELL_PADDING 1.5

/* More than this is not even timed. */
#define SELL_PADDING_TIMED 3.0

static bool sell_is_possible(const yk_row_shape *shape)
{
    return shape->longest <= YK_ROW_SEGMENT;
}

static const char *estimated_format(const yk_row_shape *shape)
{
    return sell_is_possible(shape) && shape->sell_padding <= SELL_PADDING ? "sell" : "csr";
}

/* By name, or for auto to see once it has the matrix. */
static yoke_status choose_residency(const yoke_matrix *matrix, const yoke_plan_options *options,
                                    yk_choice *choice)
{
    bool gpu = choice->partition->owner == YK_OWNER_GPU;
    bool asked = is_named(options->driver, "persistent");
    bool possible = sell_is_possible(&choice->row_shape);
    bool free = gpu && !choice->shared && is_auto(options->driver);
    if (choice->place.kind != YK_HOME_OWNER || choice->gpu_sms > 0) free = false;
    if (choice->recurrence != YK_CLASSICAL) free = false;
    if (asked && choice->folded)
        return yk_fail(YOKE_UNSUITABLE, "driver persistent keeps p on the chip and does not take "
                                        "shape folded; use unfolded");
    if (asked && !possible)
        return yk_fail(YOKE_UNSUITABLE,
                       "driver persistent: a row has %lld entries, more than %d; use graph",
                       (long long)choice->row_shape.longest, YK_ROW_SEGMENT);
    choice->residency = YK_RESIDENT_NEVER;
    if (asked) choice->residency = YK_RESIDENT_ASKED;
    if (free && possible && !has_callbacks(matrix, options) && !choice->foreign_product &&
        !is_named(options->shape, "folded"))
        choice->residency = YK_RESIDENT_IF_FASTER;
    return YOKE_OK;
}

/* A user's callbacks are not called before the first solve, so they are not timed. */
static void choose_measuring(const yoke_matrix *matrix, const yoke_plan_options *options,
                             yk_choice *choice)
{
    const yk_row_shape *shape = &choice->row_shape;
    bool gpu = choice->partition->owner == YK_OWNER_GPU;
    choice->driver_is_auto = is_auto(options->driver);
    if (!gpu || has_callbacks(matrix, options) || !may_measure(matrix, choice)) return;
    choice->measure_driver = choice->driver_is_auto;
    if (choice->place.kind != YK_HOME_OWNER) return; /* both formats are not there at once */
    choice->measure_format = choice->format_is_auto && sell_is_possible(shape) &&
                             shape->sell_padding <= SELL_PADDING_TIMED;
}

static yoke_status choose_format(const yoke_matrix *matrix, yk_choice *choice)
{
    if (choice->partition->owner != YK_OWNER_GPU || matrix->is_operator) return YOKE_OK;
    const yk_row_shape *shape = &choice->row_shape;
    yk_csr of_gpu = matrix->csr;
    if (choice->shared) {
        const yk_window *window = &choice->window;
        of_gpu.rows = window->count > 0 ? window->row[window->count - 1] : choice->gpu_rows;
        of_gpu.nonzeros = yk_row_start(&matrix->csr, of_gpu.rows);
    }
    choice->row_shape = yk_shape_of_rows(&of_gpu, choice->threads);
    if (choice->format_is_auto) choice->format = estimated_format(shape);
    if (strcmp(choice->format, "sell") == 0 && !sell_is_possible(shape))
        return yk_fail(YOKE_UNSUITABLE,
                       "format sell: a row has %lld entries, more than %d; use csr",
                       (long long)shape->longest, YK_ROW_SEGMENT);
    return YOKE_OK;
}

/* A search through the whole matrix takes longer than an estimate may; one part has no halo. */
static yoke_status choose_reorder(const yoke_matrix *matrix, const yoke_plan_options *options,
                                  yk_choice *choice)
{
    const char *name;
    YK_TRY(find(YOKE_LIST_REORDERINGS, options->reorder, "none", &name, NULL));
    if (strcmp(name, "none") != 0 && has_callbacks(matrix, options))
        return yk_fail(YOKE_UNSUITABLE,
                       "reorder %s does not take a user's operator or preconditioner, which know "
                       "the caller's order alone; use none",
                       name);
    choice->reorder = strcmp(name, "none") != 0 ? YK_REORDER_ASKED : YK_REORDER_NEVER;
    if (is_auto(options->reorder) && choice->parts > 1 && !has_callbacks(matrix, options) &&
        may_measure(matrix, choice))
        choice->reorder = YK_REORDER_IF_LESS;
    return YOKE_OK;
}

static yoke_status check_options(const yoke_plan_options *options)
{
    YK_TRY(yk_check_struct("yoke_plan_options", options->struct_size, sizeof *options));
    if (options->threads < 0 || options->threads > 65536)
        return yk_fail(YOKE_INVALID, "threads is %d, expected 0 to 65536", options->threads);
    if (options->device < 0)
        return yk_fail(YOKE_INVALID, "device is %d, expected 0 or more", options->device);
    if (options->gpu_sms < 0)
        return yk_fail(YOKE_INVALID, "gpu_sms is %d, expected 0 or more", options->gpu_sms);
    if (options->nullspace != YOKE_NULLSPACE_NONE && options->nullspace != YOKE_NULLSPACE_CONSTANT)
        return yk_fail(YOKE_INVALID, "nullspace is %d, expected 0 or 1", (int)options->nullspace);
    return YOKE_OK;
}

yoke_status yk_planner_choose(yoke_matrix *matrix, const yoke_plan_options *given, yk_cut_wish wish,
                              yk_choice *choice)
{
    memset(choice, 0, sizeof *choice);
    YK_TRY(check_options(given));
    yoke_plan_options of_owners = *given, *options = &of_owners;
    choice->device = options->device;
    YK_TRY(yk_ranks_choose(matrix, options));
    YK_TRY(choose_tables(matrix, options, wish, choice));
    YK_TRY(check_recurrence(matrix, options, choice));
    YK_TRY(check_callbacks(matrix, options, choice));
    YK_TRY(choose_effort(options, choice));
    YK_TRY(choose_preconditioner(matrix, options, choice));
    choice->nullspace = options->nullspace == YOKE_NULLSPACE_CONSTANT;
    YK_TRY(choose_shape(matrix, options, choice));
    choose_threads(matrix, options, choice);
    YK_TRY(choose_format(matrix, choice));
    YK_TRY(choose_residency(matrix, options, choice));
    choose_measuring(matrix, options, choice);
    YK_TRY(choose_parts(matrix, options, choice));
    YK_TRY(choose_reorder(matrix, options, choice));
    choose_stores(matrix, choice);
    if (choice->parts == 1) choice->memmode = NULL;
    return YOKE_OK;
}
