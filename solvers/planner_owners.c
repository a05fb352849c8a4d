/* SPDX-License-Identifier: BSD-3-Clause */
/* planner_owners.c: whose the rows are, and by what driver and memory mode they meet. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/status.h"
#include "matrices/number.h"
#include "solvers/cg/bytes.h"
#include "solvers/estimate.h"
#include "solvers/planner.h"
#include "solvers/registry.h"

/* Twice as fast by the estimate: caches hold small systems, which the estimate does not know, and a
 * GPU must be opened and filled first. */
#define GPU_ADVANTAGE 2.0

/* Homes that only a GPU's rows have. */
static bool is_home_of_gpu(const char *home)
{
    return !yk_is_auto(home) && strcmp(home, "owner") != 0;
}

/* Whether a GPU is taken whatever an estimate says, 1, or is not, 0; -1: the estimate says. What
 * takes device pointers has its data there. */
static int is_settled(const yoke_matrix *matrix, const yoke_plan_options *options)
{
    if (options->parts > 1 || yk_is_named(options->driver, "team")) return 0;
    if (!yk_is_auto(options->format) && !yk_is_named(options->format, "csr")) return 1;
    if (is_home_of_gpu(options->home)) return 1;
    if (yk_planner_has_callbacks(matrix, options))
        return yk_planner_callbacks_have(matrix, options, YOKE_APPLY_DEVICE);
    return yk_is_surely_for_the_cpu(matrix) ? 0 : -1;
}

/* Both together are taken where the model says that this is so much faster than the faster of them
 * alone: its errors there are larger, and a plan for one may do more (fold, stay on the chip).
 * Where that is then measured, less will do. */
#define SHARING_ADVANTAGE          1.10
#define SHARING_ADVANTAGE_MEASURED 1.02

/* What plans with rows on both take. */
static bool may_share(const yoke_matrix *matrix, const yoke_plan_options *options)
{
    bool driver = yk_is_auto(options->driver) || yk_is_named(options->driver, "graph") ||
                  yk_is_named(options->driver, "stream");
    bool solver = yk_is_auto(options->solver) || yk_is_named(options->solver, "cg");
    return driver && solver && yk_is_auto(options->memory) && yk_is_auto(options->home) &&
           !yk_is_named(options->shape, "folded") && !yk_is_named(options->format, "cusparse") &&
           !matrix->spread && !yk_planner_has_callbacks(matrix, options);
}

bool yk_planner_share_by_model(const yoke_matrix *matrix, const yoke_plan_options *options,
                               double least_share, char *text, size_t size)
{
    yk_estimate e;
    if (!may_share(matrix, options)) return false;
    yk_estimate_owners(matrix, options, options->device, least_share, &e);
    bool pays = SHARING_ADVANTAGE * e.both < e.cpu;
    snprintf(text, size, "ratio:%.4f", e.share);
    return pays && e.share > 0.0 && e.share < 1.0;
}

/* Who wins by an estimate; the CPU where it is near. */
static const char *winner(const yk_estimate *e, const yoke_plan_options *options, yk_choice *choice)
{
    double advantage = yk_may_take_time(options) ? SHARING_ADVANTAGE_MEASURED : SHARING_ADVANTAGE;
    double alone = e->cpu < e->gpu ? e->cpu : e->gpu;
    if (!(advantage * e->both < alone)) return GPU_ADVANTAGE * e->gpu < e->cpu ? "gpu" : "cpu";
    if (yk_may_take_time(options)) return "model";
    snprintf(choice->auto_partition, sizeof choice->auto_partition, "ratio:%.4f", e->share);
    return choice->auto_partition;
}

/* What is wrong with a profile is told once a plan. */
static const char *estimated_partition(const yoke_matrix *matrix, const yoke_plan_options *options,
                                       int device, yk_choice *choice)
{
    yk_estimate estimate;
    double least_share = may_share(matrix, options) ? 0.0 : -1.0;
    yk_estimate_owners(matrix, options, device, least_share, &estimate);
    snprintf(choice->notice, sizeof choice->notice, "%s", estimate.notice);
    return winner(&estimate, options, choice);
}

/* For small systems no device is even asked for, and where one is not worth it by the machine's
 * profile. What the GPU is called may tell more than was assumed. A build without CUDA is no
 * surprise; a GPU that is not there may be. */
static const char *default_partition(const yoke_matrix *matrix, const yoke_plan_options *options,
                                     yk_choice *choice)
{
    int settled = yoke_has("cuda") ? is_settled(matrix, options) : 0;
    if (settled == 0) return "cpu";
    if (settled < 0 && strcmp(estimated_partition(matrix, options, -1, choice), "cpu") == 0)
        return "cpu";
    const char *reason = yk_gpu_reason();
    if (*reason) choice->declined = reason;
    if (*reason) return "cpu";
    choice->owners_were_compared = settled < 0;
    return settled < 0 ? estimated_partition(matrix, options, options->device, choice) : "gpu";
}

static const char *default_driver(const yoke_matrix *matrix, const yoke_plan_options *options,
                                  bool gpu)
{
    if (!gpu) return "team";
    return yk_planner_can_be_captured(matrix, options) ? "graph" : "stream";
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
    if (!choice->over_gpus) choice->partition_text[0] = '\0';
    choice->gpu_rows = 0;
    choice->gpus = gpu;
    choice->shared = choice->cut_is_measured = false;
    bool is_home =
        gpu && yk_is_named(options->home, "shared") && !yk_is_named(options->memory, "explicit");
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
    yk_estimate_owners(matrix, options, -1, -1.0, &estimate);
    return estimate.gpu / (estimate.cpu + estimate.gpu);
}

/* Which rows a GPU has beside the CPU. */
static yoke_status choose_shares(const yoke_matrix *matrix, yoke_plan_options *options,
                                 yk_cut_wish given, yk_choice *choice)
{
    const yk_partition *partition = choice->partition;
    yk_cut_wish *wish = &given;
    if (!partition->gpu_rows && !choice->over_gpus) return YOKE_OK;
    if (choice->gpus > 1)
        return yk_fail(YOKE_UNSUITABLE,
                       "partition %s gives the CPU rows, which does not go with several GPUs; use "
                       "gpu",
                       options->partition);
    bool given_share = !partition->measured || strchr(options->partition, ':');
    if (!partition->gpu_rows)
        wish->share = 0.0;
    else if (given_share)
        YK_TRY(read_share(options->partition, partition->form, &wish->share));
    else if (wish->share < 0.0 && !matrix->is_operator)
        wish->share = fmax(guessed_share(matrix, options), wish->least);
    if (yk_planner_has_callbacks(matrix, options))
        return yk_fail(YOKE_UNSUITABLE,
                       "partition %s does not take a user's operator or preconditioner; use cpu or "
                       "gpu",
                       options->partition);
    snprintf(choice->partition_text, sizeof choice->partition_text, "%s", options->partition);
    choice->shared = true;
    choice->cut_is_measured = !given_share;
    double row_bytes = yk_cg_row_bytes(false, yk_is_named(options->preconditioner, "jacobi"));
    choice->gpu_rows = partition->gpu_rows
                           ? partition->gpu_rows(&matrix->csr, row_bytes, wish->share)
                           : matrix->csr.rows;
    bool all = choice->gpu_rows == matrix->csr.rows && !choice->over_gpus;
    if (choice->gpu_rows == 0 || all)
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
    YK_TRY(yk_planner_find(YOKE_LIST_DRIVERS, options->driver, default_driver(matrix, options, gpu),
                           &name, &table));
    choice->driver = table;
    if (choice->shared) choice->driver = choice->driver->with_cpu;
    if (choice->gpus > 1) choice->driver = choice->driver->with_gpus;
    if (choice->driver && choice->shared && choice->over_gpus)
        choice->driver = choice->driver->over_ranks;
    if (choice->driver && gpu == (choice->driver->engine != &yk_engine_cpu)) return YOKE_OK;
    return yk_fail(YOKE_UNSUITABLE, "driver %s does not run partition %s%s", name,
                   choice->partition->name,
                   choice->gpus > 1 ? " on several GPUs; use graph or stream"
                   : choice->shared ? "; use graph or stream"
                                    : "");
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
    if (!choice->shared || !yk_is_auto(options->memory)) return YOKE_OK;
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
    YK_TRY(yk_planner_find(YOKE_LIST_MEMORY, options->memory, by_default, &name, &table));
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
    if (choice->partition->owner != YK_OWNER_CPU || !yk_is_auto(options->partition)) return;
    if (options->gpu_memory == 0 && options->gpu_sms == 0) return;
    const char *what = !options->gpu_sms      ? "gpu_memory"
                       : !options->gpu_memory ? "gpu_sms"
                                              : "gpu_memory and gpu_sms";
    snprintf(choice->notice, sizeof choice->notice, "%s: not used, as partition auto takes the CPU",
             what);
}

/* Once auto has chosen a share it is a partition like one that was named. */
static yoke_status choose_partition(const yoke_matrix *matrix, yoke_plan_options *options,
                                    yk_choice *choice)
{
    const char *name, *by_default = "cpu";
    const void *table;
    choice->owners_are_auto = yk_is_auto(options->partition);
    if (choice->owners_are_auto)
        by_default = choice->gpus > 1 ? "gpu" : default_partition(matrix, options, choice);
    YK_TRY(yk_planner_find(YOKE_LIST_PARTITIONS, options->partition, by_default, &name, &table));
    choice->partition = table;
    if (choice->partition->owner == YK_OWNER_CPU) choice->gpus = 0;
    note_unused_card(options, choice);
    if (choice->owners_are_auto && choice->partition->gpu_rows) options->partition = by_default;
    return YOKE_OK;
}

yoke_status yk_planner_choose_owners(const yoke_matrix *matrix, yoke_plan_options *options,
                                     yk_cut_wish wish, yk_choice *choice)
{
    YK_TRY(choose_partition(matrix, options, choice));
    YK_TRY(choose_shares(matrix, options, wish, choice));
    bool gpu = choice->partition->owner == YK_OWNER_GPU;
    choice->falls_back = gpu && choice->gpus == 1 && choice->owners_are_auto &&
                         yk_is_auto(options->driver) && options->device == 0 &&
                         !is_home_of_gpu(options->home) &&
                         (yk_is_auto(options->format) || yk_is_named(options->format, "csr"));
    YK_TRY(choose_driver(matrix, options, choice));
    return choose_memory(options, choice);
}
