/* SPDX-License-Identifier: BSD-3-Clause */
/* plan_candidates.c: what a plan's owners could do, as a list: which of it is free follows from the
 * choice that was made. */
#include <math.h>
#include <string.h>

#include "lib/status.h"
#include "solvers/cg/gpu_held.h"
#include "solvers/estimate.h"
#include "solvers/planner.h"
#include "solvers/registry.h"
#include "solvers/shape.h"

/* ----------------------------------------------------------------- drivers */

/* The k-th driver that is usable here and of the choice's engine; NULL at the end. */
static const yk_driver *driver_at(const yk_choice *choice, int k)
{
    yoke_list_item item;
    for (int i = 0; yoke_list(YOKE_LIST_DRIVERS, i, &item); i++) {
        const void *found = NULL;
        if (!item.usable) continue;
        if (yk_registry_find(YOKE_LIST_DRIVERS, item.name, &item, &found) != YOKE_OK) continue;
        const yk_driver *driver = found;
        if (choice->shared) driver = driver->with_cpu;
        if (choice->gpus > 1) driver = driver->with_gpus;
        if (driver && choice->shared && choice->over_gpus) driver = driver->over_ranks;
        if (!driver || driver->engine != choice->driver->engine) continue;
        if (choice->foreign_product && !driver->takes_callbacks) continue;
        if (k-- == 0) return driver;
    }
    return NULL;
}

const yk_driver *yk_plan_driver(const yoke_plan *plan, const char *name)
{
    const yk_driver *driver;
    for (int k = 0; (driver = driver_at(&plan->choice, k)); k++)
        if (strcmp(driver->name, name) == 0) return driver;
    return plan->choice.driver;
}

/* ------------------------------------------------------------------- space */

/* Halos as the parts have them; sectors where shapes compete. */
static yoke_shape shape_of(const yoke_plan *plan, bool folds)
{
    const yk_csr *csr = &plan->matrix->csr;
    const yk_row_shape *rows = &plan->choice.row_shape;
    const yk_cg *cg = &plan->cg;
    yoke_shape shape = {.rows = (double)csr->rows,
                        .nonzeros = (double)csr->nonzeros,
                        .sell_entries = (double)csr->nonzeros * fmax(1.0, rows->sell_padding),
                        .sell_sorted = rows->sell_order > 0,
                        .start_bytes = csr->start32 ? 4.0 : 8.0};
    if (folds) shape.sectors = plan->sectors;
    for (int k = 0; plan->choice.shared && k < YOKE_HALOS; k++) {
        shape.halo_of_first[k] = (double)cg->part[0].halo;
        for (int i = 1; i < cg->parts; i++) shape.halo_of_last[k] += (double)cg->part[i].halo;
    }
    return shape;
}

static const char *other_format(const char *format)
{
    return strcmp(format, "csr") == 0 ? "sell" : "csr";
}

/* A user's callbacks decide which driver can have them. The choice's own comes first: it is taken
 * where nothing is predicted. */
static void list_drivers(const yoke_plan *plan, yk_space *space)
{
    enum { MOST = sizeof space->driver / sizeof *space->driver - 1 };
    const yk_choice *choice = &plan->choice;
    const yk_driver *driver;
    int count = 0;
    space->driver[count++] = choice->driver->name;
    if (!choice->driver_is_auto || plan->cg.op || plan->cg.preconditioner) return;
    for (int k = 0; count < MOST && (driver = driver_at(choice, k)); k++)
        if (driver != choice->driver) space->driver[count++] = driver->name;
}

static void free_on_gpu(const yoke_plan *plan, yk_space *space)
{
    const yk_choice *choice = &plan->choice;
    const double chip = YK_RESIDENT_BLOCKS * YK_CHUNK;
    list_drivers(plan, space);
    space->format[0] = choice->format;
    if (choice->measure_format) space->format[1] = other_format(choice->format);
    if (choice->residency != YK_RESIDENT_NEVER) {
        space->chip_rows = YK_RESIDENT_AUTO_CHUNKS * chip;
        space->held_rows = YK_HELD_CHUNKS * chip;
    }
    if (!choice->shared) return;
    space->memory[0] = choice->memmode->name;
    space->share = 1.0 - (double)choice->gpu_rows / (double)plan->matrix->csr.rows;
}

static bool is_on_gpu(const yk_choice *choice)
{
    return choice->partition->owner == YK_OWNER_GPU;
}

static yk_space space_of(const yoke_plan *plan)
{
    static const char *const homes[] = {
        [YK_HOME_OWNER] = "owner", [YK_HOME_SHARED] = "shared", [YK_HOME_SPILL] = "spill"};
    const yk_choice *choice = &plan->choice;
    bool gpu = is_on_gpu(choice), both_shapes = choice->shape_is_free;
    yk_space space = {.cpu = !gpu,
                      .gpu = gpu && !choice->shared,
                      .shared = choice->shared,
                      .unfolded = both_shapes || !choice->folded,
                      .folded = both_shapes || choice->folded,
                      .home = homes[choice->place.kind],
                      .spill = choice->place.spill,
                      .jacobi = choice->jacobi,
                      .threads = choice->threads,
                      .gpu_sms = choice->gpu_sms};
    if (gpu) free_on_gpu(plan, &space);
    space.matrix = shape_of(plan, gpu && both_shapes);
    return space;
}

/* -------------------------------------------------------------------- list */

/* The model is of the classical recurrence, of entries, and in one process of at most one GPU. */
static bool is_known_to_the_model(const yoke_plan *plan)
{
    return plan->choice.recurrence == YK_CLASSICAL && !plan->cg.op && !plan->cg.preconditioner &&
           !plan->matrix->spread && plan->choice.gpus < 2 && plan->matrix->csr.rows > 0;
}

/* Folding is taken untimed only where it saves so much: with an odd pattern it may cost a lot. */
#define FOLDING_MUST_SAVE 0.97

/* Where the rows stay on the chip that was the fastest wherever it is taken at all
 * (YK_RESIDENT_AUTO_CHUNKS); of systems below 30 000 rows the model knows less. */
#define ON_THE_CHIP 0.5

static double weight_of(const yoke_plan *plan, const yk_candidate *c)
{
    double weight = yk_plan_driver(plan, c->driver)->wins ? ON_THE_CHIP : 1.0;
    return c->folded ? weight / FOLDING_MUST_SAVE : weight;
}

static void rank_by_estimate(const yoke_plan *plan, yk_candidates *list)
{
    for (int k = 0; k < list->count; k++) list->of[k].predicted *= weight_of(plan, &list->of[k]);
    yk_candidates_rank(list);
    for (int k = 0; k < list->count; k++) list->of[k].predicted /= weight_of(plan, &list->of[k]);
}

/* The choice itself, where the list has nothing: it will say why it cannot be. */
static void add_the_choice(const yoke_plan *plan, const yk_space *space, yk_candidates *list)
{
    const yk_choice *choice = &plan->choice;
    list->of[0] = (yk_candidate){.partition = choice->partition->name,
                                 .memory = space->memory[0],
                                 .home = space->home,
                                 .driver = choice->driver->name,
                                 .format = choice->format,
                                 .folded = choice->folded,
                                 .cpu_share = space->cpu ? 1.0 : space->share,
                                 .predicted = NAN,
                                 .measured = NAN};
    list->count = 1;
}

/* On the CPU nothing follows from what is predicted, and reading a profile takes time. */
void yk_plan_list_candidates(yoke_plan *plan)
{
    enum { CHUNKS = 2 };
    if (is_on_gpu(&plan->choice) && plan->choice.shape_is_free && !(plan->sectors > 0.0))
        plan->sectors = yk_shape_sectors(&plan->matrix->csr, CHUNKS);
    const yk_space space = space_of(plan);
    yk_candidates *list = &plan->candidates;
    yk_candidates_list(&space, list);
    if (list->count == 0) add_the_choice(plan, &space, list);
    for (int k = 0; k < list->count; k++) list->of[k].partition = plan->choice.partition->name;
    if (!is_on_gpu(&plan->choice) || list->count < 2 || !is_known_to_the_model(plan)) return;
    yk_estimate_candidates(plan->matrix, &space, list);
    if (plan->choice.measure_shape)
        yk_candidates_rank(list);
    else
        rank_by_estimate(plan, list);
}

/* Before memory is taken, of which folding needs more. What stays on the chip does not fold, and
 * may turn out not to fit. */
void yk_plan_choose_shape(yoke_plan *plan)
{
    yk_choice *choice = &plan->choice;
    if (!choice->shape_is_free || choice->measure_shape || !is_on_gpu(choice)) return;
    choice->folded = false;
    yk_plan_list_candidates(plan);
    const yk_candidates *list = &plan->candidates;
    int k = 0;
    while (k < list->count - 1 && strcmp(list->of[k].driver, "persistent") == 0) k++;
    choice->folded = list->of[k].folded;
}

/* ------------------------------------------------------------------ shown */

/* Those of other owners, where auto compared them. */
static void add_others(const yoke_plan *plan, yk_space space, yk_candidates *list)
{
    yk_candidates others;
    if (!plan->choice.owners_were_compared) return;
    space.cpu = !space.cpu;
    space.gpu = !space.gpu;
    space.shared = !space.shared;
    space.share = -1.0;
    space.home = "owner";
    static const char *const memories[] = {"mapped", "explicit"};
    memcpy(space.memory, memories, sizeof memories);
    if (!space.format[0]) space.format[0] = "sell";
    if (!space.driver[0]) space.driver[0] = "graph";
    yk_candidates_list(&space, &others);
    yk_estimate_candidates(plan->matrix, &space, &others);
    for (int k = 0; k < others.count && list->count < YK_CANDIDATES; k++)
        list->of[list->count++] = others.of[k];
}

/* Once a plan, when first asked: predicting what is not needed takes time. */
static void complete(yoke_plan *plan)
{
    yk_candidates *list = &plan->candidates;
    const yk_space space = space_of(plan);
    if (plan->candidates_are_complete) return;
    plan->candidates_are_complete = true;
    if (!is_known_to_the_model(plan)) return;
    yk_estimate_candidates(plan->matrix, &space, list);
    add_others(plan, space, list);
    yk_candidates_rank(list);
}

static bool is_taken(const yoke_plan *plan, const yk_candidate *c)
{
    const yk_choice *choice = &plan->choice;
    return strcmp(c->partition, choice->partition->name) == 0 &&
           strcmp(c->driver, choice->driver->name) == 0 && strcmp(c->format, choice->format) == 0 &&
           c->folded == plan->cg.folded;
}

int yoke_plan_candidate(yoke_plan *plan, int k, yoke_candidate *candidate)
{
    if (!plan || !candidate || k < 0) return 0;
    complete(plan);
    if (k >= plan->candidates.count) return 0;
    const yk_candidate *c = &plan->candidates.of[k];
    *candidate = (yoke_candidate){.partition = c->partition,
                                  .memory = c->memory,
                                  .home = c->home,
                                  .driver = c->driver,
                                  .format = c->format,
                                  .shape = c->folded ? "folded" : "unfolded",
                                  .cpu_share = c->cpu_share,
                                  .predicted = c->predicted,
                                  .measured = c->measured,
                                  .taken = is_taken(plan, c)};
    return 1;
}
