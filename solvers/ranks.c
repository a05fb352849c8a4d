/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.c: plans over ranks, beside what any plan is. */
#include "solvers/ranks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/iface/gpu_tools.h"
#include "lib/status.h"
#include "solvers/planner.h"

/* ------------------------------------------------------------------ choice */

static yoke_status refuse(const char *what, const char *name, const char *instead)
{
    return yk_fail(YOKE_UNSUITABLE, "%s %s does not go over ranks in this version; use %s", what,
                   name, instead);
}

/* What no rank does with its rows. */
static yoke_status check(const yoke_plan_options *options)
{
    if (options->device_count > 1)
        return yk_fail(YOKE_UNSUITABLE,
                       "several GPUs do not take several ranks; give each rank one device");
    if (options->parts > 1)
        return yk_fail(YOKE_UNSUITABLE,
                       "a rank is one part in this version, %d were asked for: start a rank for "
                       "each NUMA node",
                       options->parts);
    if (options->apply_preconditioner)
        return refuse("preconditioner", "of the caller's", "none or jacobi");
    if (!yk_is_auto(options->reorder) && strcmp(options->reorder, "none") != 0)
        return refuse("reorder", options->reorder, "none");
    return YOKE_OK;
}

/* The rank's own, of its machine's, unless the caller names one. */
static int device_of(const yoke_context *context, int given)
{
    const yk_gpu_tools *tools = yk_gpu_tools_built();
    char why[256];
    int count = given < 0 && tools ? tools->count(why, sizeof why) : 0;
    if (given >= 0) return given;
    return count > 0 ? context->comm->local_rank % count : 0;
}

/* With rows on GPUs. Candidates would be timed by advances, which all ranks make together, and a
 * rank may have none to time. */
static yoke_status choose_gpus(const yoke_matrix *matrix, const yk_partition *partition,
                               yoke_plan_options *options, yk_choice *choice)
{
    if (partition->measured || partition->moves)
        return refuse("partition", partition->name, "gpu, ratio:R or nonzeros:R");
    if (yk_is_named(options->home, "shared") && yk_is_named(options->memory, "explicit"))
        return refuse("home shared with memory", "explicit", "home owner");
    if (!yk_is_auto(options->effort) && strcmp(options->effort, "estimate") != 0)
        snprintf(choice->notice, sizeof choice->notice,
                 "effort %s: with GPUs over ranks nothing is timed", options->effort);
    options->effort = "estimate";
    options->device = device_of(matrix->context, options->device);
    choice->over_gpus = true;
    return YOKE_OK;
}

yoke_status yk_ranks_choose(const yoke_matrix *matrix, yoke_plan_options *options,
                            yk_choice *choice)
{
    const char *name;
    const void *table;
    if (!matrix->spread) return YOKE_OK;
    YK_TRY(yk_planner_find(YOKE_LIST_PARTITIONS, options->partition, "cpu", &name, &table));
    if (yk_is_auto(options->partition)) options->partition = "cpu";
    YK_TRY(check(options));
    options->parts = 1;
    const yk_partition *partition = table;
    return partition->owner == YK_OWNER_GPU ? choose_gpus(matrix, partition, options, choice)
                                            : YOKE_OK;
}

/* Drivers are a rank's own where GPUs have rows. */
double yk_ranks_mark_plan(const yk_choice *choice)
{
    const char *driver = choice->driver && !choice->over_gpus ? choice->driver->name : "";
    const char *const name[] = {choice->solver, choice->preconditioner, choice->effort, driver,
                                choice->partition_text};
    const bool flag[] = {choice->folded, choice->measure_shape, choice->nullspace};
    double mark = yk_ranks_mark(flag, sizeof flag, 0.0);
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        if (name[i]) mark = yk_ranks_mark(name[i], strlen(name[i]) + 1, mark);
    return mark;
}

double yk_ranks_mark_solve(const yoke_solve_options *o, int n)
{
    const double number[] = {o->rtol,
                             o->atol,
                             o->base,
                             o->initial_guess != 0,
                             (double)o->maxit,
                             o->fixed_iterations != 0,
                             o->max_seconds,
                             (double)o->check_every,
                             o->diverged_factor,
                             o->monitor != NULL,
                             n};
    return yk_ranks_mark(number, sizeof number, 0.0);
}

/* ---------------------------------------------------------------- analysis */

static int64_t first_at(const yk_lane *lane, int64_t row)
{
    int64_t low = 0, high = lane->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (lane->row[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What of a lane this part has; to: that of the port which stands for other ranks. */
static yoke_status copy_lane(const yk_cg *cg, yk_part *part, const yk_lane *lane)
{
    const int64_t from = first_at(lane, part->first);
    const int64_t count = first_at(lane, part->first + part->rows) - from;
    int32_t *row;
    if (count == 0) return YOKE_OK;
    YK_TRY(yk_alloc(cg->context, "rows to send", count, sizeof *row, &row));
    for (int64_t k = 0; k < count; k++) row[k] = (int32_t)(lane->row[from + k] - part->first);
    part->send[part->sends++] =
        (yk_send){.to = cg->parts, .count = count, .at = lane->at + from, .row = row};
    return YOKE_OK;
}

/* A part that is alone has the rank's columns, and so its halo. */
yoke_status yk_ranks_analyse(yoke_plan *plan)
{
    yk_cg *cg = &plan->cg;
    const yk_spread *spread = plan->matrix->spread;
    if (cg->parts == 1) cg->part[0].halo = spread->halo;
    for (int i = 0; i < cg->parts; i++)
        for (int l = 0; l < spread->sends; l++)
            YK_TRY(copy_lane(cg, &cg->part[i], &spread->send[l]));
    yk_part *others = &cg->part[cg->parts]; /* behind the parts: see yk_parts_ports */
    others->first = cg->rows;
    others->halo = spread->sent;
    others->moving = (yk_moving){.on = true, .most = spread->sent};
    return YOKE_OK;
}

/* ----------------------------------------------------------------- sharing */

typedef struct known {
    int64_t bad_row;
    double bad_diagonal, bytes, due;
    int64_t sent;
} known;

static double due_of(const known *one, int ranks)
{
    return one->due > 0.0 ? one->due : 1.0 / ranks;
}

/* "; contiguous shares would send 5678", of rows that METIS dealt out. */
static void tell_contiguous(const yk_spread *spread, char *text, size_t size)
{
    *text = '\0';
    if (spread->contiguous_sent > 0)
        snprintf(text, size, " (contiguous shares would send %lld)",
                 (long long)spread->contiguous_sent);
}

/* "; by the profiles of their machines ranks are due 10.0 to 30.0 % of the rows" */
static void tell_dues(const known *all, int ranks, char *text, size_t size)
{
    double least = INFINITY, most = 0.0;
    *text = '\0';
    for (int r = 0; r < ranks; r++) {
        if (all[r].due < least) least = all[r].due;
        if (all[r].due > most) most = all[r].due;
    }
    if (most > 0.0)
        snprintf(text, size, "; by the profiles of their machines ranks are due %.1f to %.1f %%",
                 100.0 * least, 100.0 * most);
}

/* What travels, and whether the shares are alike: once a plan. */
static void note_shares(yoke_plan *plan, const known *all, int ranks)
{
    int64_t sent = 0;
    double most = 0.0;
    char contiguous[80], dues[120];
    if (plan->ranks_told || ranks == 1) return;
    plan->ranks_told = true;
    for (int r = 0; r < ranks; r++) {
        sent += all[r].sent;
        double of_due = all[r].bytes / due_of(&all[r], ranks);
        if (of_due > most) most = of_due;
    }
    tell_contiguous(plan->matrix->spread, contiguous, sizeof contiguous);
    tell_dues(all, ranks, dues, sizeof dues);
    yk_plan_note(plan,
                 "%d ranks send each other %lld numbers an iteration%s; the largest share is %.3f "
                 "times %s%s",
                 ranks, (long long)sent, contiguous,
                 plan->all_bytes > 0.0 ? most / plan->all_bytes : 1.0,
                 *dues ? "its due" : "the mean", dues);
}

/* ----------------------------------------------------------------- devices */

/* A rank's GPU, alike on ranks that share one; device 0: it has none. */
typedef struct place {
    double host, device;
    int64_t cpu_rows;
} place;

static place place_of(const yoke_plan *plan)
{
    const yk_gpu_tools *tools = yk_gpu_tools_built();
    char host[256] = "";
    yoke_gpu gpu = {0};
    place here = {0};
    const yk_cg *cg = &plan->cg;
    for (int i = 0; i < cg->parts; i++)
        if (cg->part[i].owner == YK_OWNER_CPU) here.cpu_rows += cg->part[i].rows;
    if (cg->parts < 2 || !tools) return here;
    gethostname(host, sizeof host - 1);
    here.host = yk_ranks_mark(host, strlen(host), 0.0);
    if (tools->describe(cg->device, &gpu) != YOKE_OK) gpu.bus_id[0] = '\0';
    here.device = 1.0 + yk_ranks_mark(gpu.bus_id, strlen(gpu.bus_id), (double)cg->device);
    return here;
}

static bool is_same(const place *a, const place *b)
{
    return a->device > 0.0 && a->device == b->device && a->host == b->host;
}

static int count_gpus(const place *all, int ranks)
{
    int count = 0;
    for (int r = 0; r < ranks; r++) {
        bool counts = all[r].device > 0.0;
        for (int q = 0; q < r && counts; q++) counts = !is_same(&all[q], &all[r]);
        count += counts;
    }
    return count;
}

/* The driver for a GPU that others use as well: of what is enqueued each piece is short. */
static yoke_status take_stream(yoke_plan *plan)
{
    const char *name;
    const void *table;
    YK_TRY(yk_planner_find(YOKE_LIST_DRIVERS, "stream", "stream", &name, &table));
    plan->choice.driver = plan->cg.driver = ((const yk_driver *)table)->with_cpu->over_ranks;
    return YOKE_OK;
}

static void note_gpus(yoke_plan *plan, int ranks, int with_gpu)
{
    bool shared = with_gpu > plan->all_gpus;
    yk_plan_note(plan, "%d ranks with %d GPUs%s: exchange staged, through host memory and MPI",
                 ranks, plan->all_gpus,
                 shared ? ", of which ranks share one, by driver stream unless another is asked for"
                        : "");
}

yoke_status yk_ranks_meet_devices(yoke_plan *plan)
{
    const yoke_context *context = plan->cg.context;
    if (!plan->choice.over_gpus) return YOKE_OK;
    int ranks = context->comm->ranks, with_gpu = 0, sharing = 0;
    place mine = place_of(plan), all[(size_t)ranks];
    YK_TRY(yk_ranks_gather(context, &mine, sizeof mine, all));
    plan->all_gpus = count_gpus(all, ranks);
    plan->all_cpu_rows = 0;
    for (int r = 0; r < ranks; r++) {
        plan->all_cpu_rows += all[r].cpu_rows;
        with_gpu += all[r].device > 0.0;
        sharing += is_same(&all[r], &mine);
    }
    note_gpus(plan, ranks, with_gpu);
    return sharing > 1 && plan->choice.driver_is_auto ? take_stream(plan) : YOKE_OK;
}

int64_t yk_ranks_row(const yoke_matrix *matrix, int64_t row)
{
    return matrix->spread && row >= 0 ? matrix->spread->row_of[row] : row;
}

yoke_status yk_ranks_share(yoke_plan *plan, double bytes)
{
    const yoke_context *context = plan->cg.context;
    int ranks = context->comm->ranks;
    const yk_spread *spread = plan->matrix->spread;
    known mine = {-1, plan->bad_diagonal, bytes, spread->due, spread->sent}, all[(size_t)ranks];
    if (plan->bad_diagonal_row >= 0)
        mine.bad_row = yk_ranks_row(plan->matrix, plan->bad_diagonal_row);
    YK_TRY(yk_ranks_gather(context, &mine, sizeof mine, all));
    plan->all_bytes = 0.0;
    plan->bad_diagonal_row = -1;
    for (int r = ranks - 1; r >= 0; r--) {
        plan->all_bytes += all[r].bytes;
        if (all[r].bad_row < 0) continue;
        plan->bad_diagonal_row = all[r].bad_row;
        plan->bad_diagonal = all[r].bad_diagonal;
    }
    plan->ranks_know = true;
    note_shares(plan, all, ranks);
    return YOKE_OK;
}

void yk_ranks_tell(const yoke_context *context, int level, int64_t *row, char *text, size_t size)
{
    if (!yk_over_ranks(context)) return;
    int ranks = context->comm->ranks, first = 0, levels[(size_t)ranks];
    if (yk_ranks_gather(context, &level, sizeof level, levels) != YOKE_OK) return;
    for (int r = ranks - 1; r >= 0; r--)
        if (levels[r] <= levels[first]) first = r;
    (void)yk_ranks_broadcast(context, first, text, size);
    (void)yk_ranks_broadcast(context, first, row, sizeof *row);
}
