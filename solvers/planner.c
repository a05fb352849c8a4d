/* SPDX-License-Identifier: BSD-3-Clause */
/* planner.c: names and "auto" into a choice, by estimate; tune.c may time others on the matrix. */
#include <string.h>

#include "lib/context.h"
#include "lib/status.h"
#include "lib/threads.h"
#include "partition/balance.h"
#include "solvers/cg/bytes.h"
#include "solvers/homes.h"
#include "solvers/planner.h"
#include "solvers/ranks.h"
#include "solvers/registry.h"

/* A thread is worth waking for about this many bytes an iteration: a meeting costs about 1 us, in
 * which one core reads some 10 KB. */
#define BYTES_A_THREAD 65536.0

/* No last-level cache is smaller; below it the machine is not even asked. */
#define SURELY_CACHED 4e6

yoke_status yk_planner_find(yoke_list_kind kind, const char *given, const char *by_default,
                            const char **name, const void **implementation)
{
    yoke_list_item item;
    YK_TRY(yk_registry_find(kind, yk_is_auto(given) ? by_default : given, &item, implementation));
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
    if (gpu && choice->gpus > 1) {
        choice->parts = choice->gpus;
        return YOKE_OK;
    }
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

bool yk_planner_callbacks_have(const yoke_matrix *matrix, const yoke_plan_options *options,
                               unsigned flags)
{
    const yoke_operator *user = options->apply_preconditioner;
    return (!matrix->is_operator || (matrix->op.flags & flags) == flags) &&
           (!user || (user->flags & flags) == flags);
}

bool yk_planner_has_callbacks(const yoke_matrix *matrix, const yoke_plan_options *options)
{
    return matrix->is_operator || options->apply_preconditioner;
}

bool yk_planner_can_be_captured(const yoke_matrix *matrix, const yoke_plan_options *options)
{
    return yk_planner_callbacks_have(matrix, options, YOKE_APPLY_DEVICE | YOKE_APPLY_CAPTURABLE);
}

/* What the recurrences with one sum run with so far. */
static yoke_status check_recurrence(const yoke_matrix *matrix, const yoke_plan_options *options,
                                    const yk_choice *choice)
{
    const char *why = NULL;
    if (choice->recurrence == YK_CLASSICAL) return YOKE_OK;
    if (yk_planner_has_callbacks(matrix, options)) why = "a user's operator or preconditioner";
    if (choice->shared)
        why =
            choice->over_gpus ? "GPUs over ranks" : "a partition with rows on a GPU and on the CPU";
    if (choice->foreign_product) why = "format cusparse";
    if (strcmp(choice->driver->name, "persistent") == 0) why = "driver persistent";
    if (yk_is_named(options->shape, "folded")) why = "shape folded";
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
    if (!yk_planner_has_callbacks(matrix, options)) return YOKE_OK;
    if (!choice->driver->takes_callbacks)
        return yk_fail(YOKE_UNSUITABLE,
                       "driver %s does not take a user's operator or preconditioner; use stream",
                       choice->driver->name);
    if (strcmp(choice->driver->name, "graph") == 0 && !yk_planner_can_be_captured(matrix, options))
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
    if (user && !yk_is_auto(options->preconditioner) &&
        strcmp(options->preconditioner, "none") != 0)
        return yk_fail(YOKE_INVALID, "both preconditioner %s and apply_preconditioner are given",
                       options->preconditioner);
    YK_TRY(yk_planner_find(YOKE_LIST_PRECONDITIONERS, options->preconditioner, "none",
                           &choice->preconditioner, NULL));
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

/* Ranks measure together, also those without rows. */
bool yk_planner_may_measure(const yoke_matrix *matrix, const yk_choice *choice)
{
    int64_t rows = matrix->spread ? matrix->spread->all_rows : matrix->csr.rows;
    return choice->measure_iterations > 0 && rows > 0;
}

/* cuSPARSE multiplies by a p that is there already, when the host says so. */
static yoke_status check_cusparse_can(const yoke_plan_options *options, const yk_choice *choice)
{
    if (!choice->foreign_product) return YOKE_OK;
    if (choice->shared)
        return yk_fail(YOKE_UNSUITABLE,
                       "partition %s does not take format cusparse; use sell or csr",
                       choice->partition_text);
    if (!yk_is_auto(options->shape) && strcmp(options->shape, "folded") == 0)
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
                       choice->foreign_product || choice->shared || choice->gpus > 1 ||
                       choice->recurrence != YK_CLASSICAL;
    const char *name;
    YK_TRY(check_cusparse_can(options, choice));
    YK_TRY(yk_planner_find(YOKE_LIST_SHAPES, options->shape, "unfolded", &name, NULL));
    choice->folded = strcmp(name, "folded") == 0;
    if (choice->folded && choice->shared)
        return yk_fail(YOKE_UNSUITABLE, "partition %s does not take shape folded; use unfolded",
                       choice->partition_text);
    if (choice->folded && cannot_fold)
        return yk_fail(YOKE_UNSUITABLE, "shape folded cannot carry a user's operator or "
                                        "preconditioner, nor a nullspace; use unfolded");
    choice->shape_is_free = yk_is_auto(options->shape) && !cannot_fold;
    choice->measure_shape = choice->shape_is_free && yk_planner_may_measure(matrix, choice);
    return YOKE_OK;
}

static yoke_status choose_effort(const yoke_plan_options *options, yk_choice *choice)
{
    YK_TRY(yk_planner_find(YOKE_LIST_EFFORTS, options->effort, "estimate", &choice->effort, NULL));
    bool measure = strcmp(choice->effort, "measure") == 0;
    bool patient = strcmp(choice->effort, "patient") == 0;
    choice->measure_iterations = measure ? 60 : patient ? 600 : 0;
    choice->measure_seconds = measure ? 0.02 : patient ? 0.2 : 0.0;
    return YOKE_OK;
}

static yoke_status choose_tables(const yoke_matrix *matrix, yoke_plan_options *options,
                                 yk_cut_wish wish, yk_choice *choice)
{
    YK_TRY(yk_planner_choose_owners(matrix, options, wish, choice));
    bool gpu = choice->partition->owner == YK_OWNER_GPU;
    YK_TRY(yk_planner_find(YOKE_LIST_HOMES, options->home, "owner", &choice->home, NULL));
    YK_TRY(yk_planner_find(YOKE_LIST_SOLVERS, options->solver, "cg", &choice->solver, NULL));
    choice->recurrence = recurrence_of(choice->solver);
    YK_TRY(yk_planner_find(YOKE_LIST_FORMATS, options->format, "csr", &choice->format, NULL));
    choice->format_is_auto = yk_is_auto(options->format);
    choice->foreign_product = yk_is_named(choice->format, "cusparse");
    if (!gpu && strcmp(choice->format, "csr") != 0)
        return yk_fail(YOKE_UNSUITABLE, "format %s is not for the CPU; use csr", choice->format);
    return yk_home_choose(matrix, options, choice);
}

/* A search through the whole matrix takes longer than an estimate may; one part has no halo. */
static yoke_status choose_reorder(const yoke_matrix *matrix, const yoke_plan_options *options,
                                  yk_choice *choice)
{
    const char *name;
    YK_TRY(yk_planner_find(YOKE_LIST_REORDERINGS, options->reorder, "none", &name, NULL));
    if (strcmp(name, "none") != 0 && yk_planner_has_callbacks(matrix, options))
        return yk_fail(YOKE_UNSUITABLE,
                       "reorder %s does not take a user's operator or preconditioner, which know "
                       "the caller's order alone; use none",
                       name);
    choice->reorder = strcmp(name, "none") != 0 ? YK_REORDER_ASKED : YK_REORDER_NEVER;
    if (yk_is_auto(options->reorder) && choice->parts > 1 &&
        !yk_planner_has_callbacks(matrix, options) && yk_planner_may_measure(matrix, choice))
        choice->reorder = YK_REORDER_IF_LESS;
    return YOKE_OK;
}

static yoke_status check_options(const yoke_plan_options *options)
{
    YK_TRY(yk_check_struct("yoke_plan_options", options->struct_size, sizeof *options));
    if (options->threads < 0 || options->threads > 65536)
        return yk_fail(YOKE_INVALID, "threads is %d, expected 0 to 65536", options->threads);
    if (options->device < YOKE_DEVICE_AUTO)
        return yk_fail(YOKE_INVALID, "device is %d, expected 0 or more, or -1", options->device);
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
    YK_TRY(yk_ranks_choose(matrix, options, choice));
    YK_TRY(yk_planner_choose_devices(options, choice));
    options->device = choice->device;
    YK_TRY(choose_tables(matrix, options, wish, choice));
    YK_TRY(yk_planner_check_gpus(matrix, options, choice));
    YK_TRY(check_recurrence(matrix, options, choice));
    YK_TRY(check_callbacks(matrix, options, choice));
    YK_TRY(choose_effort(options, choice));
    YK_TRY(choose_preconditioner(matrix, options, choice));
    choice->nullspace = options->nullspace == YOKE_NULLSPACE_CONSTANT;
    YK_TRY(choose_shape(matrix, options, choice));
    choose_threads(matrix, options, choice);
    YK_TRY(yk_planner_choose_format(matrix, choice));
    YK_TRY(yk_planner_choose_residency(matrix, options, choice));
    yk_planner_choose_measuring(matrix, options, choice);
    YK_TRY(choose_parts(matrix, options, choice));
    YK_TRY(choose_reorder(matrix, options, choice));
    choose_stores(matrix, choice);
    if (choice->parts == 1) choice->memmode = NULL;
    return YOKE_OK;
}
