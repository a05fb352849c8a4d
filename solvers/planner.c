/* SPDX-License-Identifier: BSD-3-Clause */
/* planner.c: names and "auto" into a choice; by estimate, or by timing candidates on the matrix. */
#include <float.h>
#include <string.h>

#include "lib/context.h"
#include "lib/status.h"
#include "lib/threads.h"
#include "solvers/cg/bytes.h"
#include "solvers/plan.h"
#include "solvers/registry.h"

/* A thread is worth waking for about this many bytes an iteration: a meeting costs about 1 us, in
 * which one core reads some 10 KB. */
#define BYTES_A_THREAD 65536.0

/* No last-level cache is smaller; below it the machine is not even asked. */
#define SURELY_CACHED 4e6

/* Bytes of a matrix from which on the launches of a GPU cost less than a CPU's reading. */
#define WORTH_A_GPU 2e6

static bool is_auto(const char *name)
{
    return !name || strcmp(name, "auto") == 0;
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

static double bytes_per_iteration(const yoke_matrix *matrix, const yk_choice *choice)
{
    return yk_csr_bytes(&matrix->csr) +
           yk_cg_row_bytes(choice->folded, choice->jacobi) * (double)matrix->csr.rows;
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
    if (bytes < SURELY_CACHED) return;
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
    int64_t most = yk_chunks(matrix->csr.rows) / 16;
    return matrix->is_operator || most < nodes ? 1 : nodes;
}

static yoke_status choose_parts(const yoke_matrix *matrix, const yoke_plan_options *options,
                                yk_choice *choice)
{
    bool gpu = choice->partition->owner == YK_OWNER_GPU;
    if (gpu && options->parts > 1)
        return yk_fail(YOKE_UNSUITABLE, "partition gpu is one part, %d were asked for",
                       options->parts);
    if (options->parts < 0 || options->parts > 4096)
        return yk_fail(YOKE_INVALID, "parts is %d, expected 0 to 4096", options->parts);
    /* Describing the machine reads files: not for systems that one thread solves. */
    choice->parts = options->parts;
    if (choice->parts == 0)
        choice->parts = !gpu && choice->threads > 1 ? default_parts(matrix, choice) : 1;
    return YOKE_OK;
}

/* ------------------------------------------------------------------- names */

static yoke_status check_gpu_can(const yoke_matrix *matrix, const yoke_plan_options *options,
                                 const yk_choice *choice)
{
    if (choice->partition->owner != YK_OWNER_GPU) return YOKE_OK;
    if (matrix->is_operator || options->apply_preconditioner)
        return yk_fail(YOKE_UNSUITABLE, "partition gpu does not take a user's operator or "
                                        "preconditioner yet; use cpu");
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

static yoke_status choose_shape(const yoke_matrix *matrix, const yoke_plan_options *options,
                                yk_choice *choice)
{
    bool gpu = choice->partition->owner == YK_OWNER_GPU;
    bool cannot_fold = matrix->is_operator || options->apply_preconditioner || choice->nullspace;
    const char *name;
    YK_TRY(find(YOKE_LIST_SHAPES, options->shape, "unfolded", &name, NULL));
    choice->folded = strcmp(name, "folded") == 0;
    if (choice->folded && cannot_fold)
        return yk_fail(YOKE_UNSUITABLE, "shape folded cannot carry a user's operator or "
                                        "preconditioner, nor a nullspace; use unfolded");
    choice->measure_shape = !gpu && is_auto(options->shape) && !cannot_fold &&
                            choice->measure_iterations > 0 && matrix->csr.rows > 0;
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

/* A GPU wins from a few microseconds of memory time on; below, no device is even asked for. */
static const char *default_partition(const yoke_matrix *matrix, const yoke_plan_options *options)
{
    bool needs_cpu = matrix->is_operator || options->apply_preconditioner || options->parts > 1 ||
                     (!is_auto(options->driver) && strcmp(options->driver, "team") == 0);
    if (needs_cpu || yk_csr_bytes(&matrix->csr) < WORTH_A_GPU) return "cpu";
    return *yk_gpu_reason() ? "cpu" : "gpu";
}

static yoke_status choose_tables(const yoke_matrix *matrix, const yoke_plan_options *options,
                                 yk_choice *choice)
{
    const char *name;
    const void *table;
    YK_TRY(find(YOKE_LIST_PARTITIONS, options->partition, default_partition(matrix, options), &name,
                &table));
    choice->partition = table;
    bool gpu = choice->partition->owner == YK_OWNER_GPU;
    YK_TRY(find(YOKE_LIST_DRIVERS, options->driver, gpu ? "graph" : "team", &name, &table));
    choice->driver = table;
    if (gpu != (choice->driver->engine != &yk_engine_cpu))
        return yk_fail(YOKE_UNSUITABLE, "driver %s does not run partition %s", name,
                       choice->partition->name);
    YK_TRY(find(YOKE_LIST_MEMORY, options->memory, "host", &name, &table));
    choice->memmode = table;
    YK_TRY(find(YOKE_LIST_HOMES, options->home, "owner", &choice->home, NULL));
    YK_TRY(find(YOKE_LIST_SOLVERS, options->solver, "cg", &choice->solver, NULL));
    YK_TRY(find(YOKE_LIST_FORMATS, options->format, "csr", &choice->format, NULL));
    if (gpu && is_auto(options->format)) choice->format = NULL;
    if (!gpu && strcmp(choice->format, "csr") != 0)
        return yk_fail(YOKE_UNSUITABLE, "format %s is not for the CPU; use csr", choice->format);
    return YOKE_OK;
}

static yoke_status check_options(const yoke_plan_options *options)
{
    YK_TRY(yk_check_struct("yoke_plan_options", options->struct_size, sizeof *options));
    if (options->threads < 0 || options->threads > 65536)
        return yk_fail(YOKE_INVALID, "threads is %d, expected 0 to 65536", options->threads);
    if (options->device < 0)
        return yk_fail(YOKE_INVALID, "device is %d, expected 0 or more", options->device);
    if (options->nullspace != YOKE_NULLSPACE_NONE && options->nullspace != YOKE_NULLSPACE_CONSTANT)
        return yk_fail(YOKE_INVALID, "nullspace is %d, expected 0 or 1", (int)options->nullspace);
    return YOKE_OK;
}

yoke_status yk_planner_choose(yoke_matrix *matrix, const yoke_plan_options *options,
                              yk_choice *choice)
{
    memset(choice, 0, sizeof *choice);
    YK_TRY(check_options(options));
    choice->device = options->device;
    YK_TRY(choose_tables(matrix, options, choice));
    YK_TRY(check_gpu_can(matrix, options, choice));
    YK_TRY(choose_effort(options, choice));
    YK_TRY(choose_preconditioner(matrix, options, choice));
    choice->nullspace = options->nullspace == YOKE_NULLSPACE_CONSTANT;
    YK_TRY(choose_shape(matrix, options, choice));
    choose_threads(matrix, options, choice);
    YK_TRY(choose_parts(matrix, options, choice));
    choose_stores(matrix, choice);
    if (choice->parts == 1) choice->memmode = NULL;
    return YOKE_OK;
}

/* ----------------------------------------------------------------- measure */

/* Any r with no zero in it: timing does not depend on the values. */
static void fill_r(yk_cg *cg, yk_piece *piece, void *user)
{
    yk_part *part = &cg->part[piece->part];
    (void)user;
    for (int64_t i = piece->first; i < piece->last; i++)
        part->r[i] = part->z[i] = 1.0 + 1e-3 * (double)((part->first + i) % 97);
}

static void clear_vectors(yk_cg *cg, yk_piece *piece, void *user)
{
    yk_part *part = &cg->part[piece->part];
    size_t bytes = (size_t)(piece->last - piece->first) * sizeof(double);
    (void)user;
    memset(part->x + piece->first, 0, bytes);
    memset(part->p + piece->first, 0, bytes);
    memset(part->p_old + piece->first, 0, bytes);
}

/* Seconds of an iteration in this shape: one to warm up, then the least of some. */
static double time_shape(yoke_plan *plan, bool folded, int64_t iterations, double seconds)
{
    yk_cg *cg = &plan->cg;
    double least = DBL_MAX, began = yoke_seconds();
    cg->folded = folded;
    yk_team_run(cg, clear_vectors, NULL);
    yk_team_run(cg, fill_r, NULL);
    cg->s = (yk_cg_scalars){.rr = 1.0, .rz = 1.0};
    cg->limits = (yk_cg_limits){.bound = -1.0, .diverged = DBL_MAX, .check_every = 1};
    cg->history_capacity = 0;
    for (int64_t done = 0; done < iterations; done++) {
        double before = yoke_seconds();
        cg->s.stop = YK_CG_GO_ON;
        plan->choice.driver->advance(cg, 1);
        double took = yoke_seconds() - before;
        if (done > 0 && took < least) least = took;
        if (done > 0 && yoke_seconds() - began > seconds) break;
    }
    return least;
}

void yk_planner_measure(yoke_plan *plan)
{
    const yk_choice *choice = &plan->choice;
    plan->cg.folded = choice->folded;
    if (!choice->measure_shape) return;
    int64_t each = choice->measure_iterations / 2;
    double unfolded = time_shape(plan, false, each, choice->measure_seconds / 2);
    double folded = time_shape(plan, true, each, choice->measure_seconds / 2);
    plan->cg.folded = folded < unfolded;
    yk_log(plan->matrix->context, YOKE_LOG_DETAIL,
           "measured: unfolded %.3g us, folded %.3g us an iteration", 1e6 * unfolded, 1e6 * folded);
}
