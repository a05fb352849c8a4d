/* SPDX-License-Identifier: BSD-3-Clause */
/* tune.c: timing candidates on the matrix itself, through the driver's own advance. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "lib/context.h"
#include "lib/ranks.h"
#include "lib/status.h"
#include "solvers/cg/bytes.h"
#include "solvers/plan.h"
#include "solvers/registry.h"

/* ---------------------------------------------------------------- CPU: shape */

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

/* No tolerance ends it. */
static void begin_timing(yk_cg *cg, double rr)
{
    cg->s = (yk_cg_scalars){.rr = rr, .rz = rr};
    cg->limits = (yk_cg_limits){.bound = -1.0, .diverged = DBL_MAX, .check_every = 1};
    cg->history_capacity = 0;
    cg->newest_p = 0;
}

/* Seconds of an iteration in this shape: one to warm up, then the least of some. */
static double time_shape(yoke_plan *plan, bool folded, int64_t iterations, double seconds)
{
    yk_cg *cg = &plan->cg;
    double least = DBL_MAX, began = yoke_seconds();
    cg->folded = folded;
    yk_team_run(cg, clear_vectors, NULL);
    yk_team_run(cg, fill_r, NULL);
    begin_timing(cg, 1.0);
    for (int64_t done = 0; done < iterations; done++) {
        double before = yoke_seconds();
        cg->s.stop = YK_CG_GO_ON;
        plan->choice.driver->advance(cg, 1);
        double took = yoke_seconds() - before;
        if (done > 0 && took < least) least = took;
        if (done > 0 && yk_ranks_most(cg->context, yoke_seconds() - began) > seconds) break;
    }
    return yk_ranks_most(cg->context, least);
}

static const char *shape_of(bool folded)
{
    return folded ? "folded" : "unfolded";
}

static void note_wisdom(yoke_plan *plan, const char *driver)
{
    const yk_wise *wise = plan->wise;
    yk_plan_note(plan, "wisdom: driver %s, format %s, shape %s; nothing was timed", driver,
                 wise->format, shape_of(wise->folded));
}

static void tune_cpu(yoke_plan *plan)
{
    const yk_choice *choice = &plan->choice;
    plan->cg.folded = choice->folded;
    if (!choice->measure_shape) return;
    if (plan->wise) {
        plan->cg.folded = plan->wise->folded;
        note_wisdom(plan, choice->driver->name);
        return;
    }
    plan->timed = true;
    int64_t each = choice->measure_iterations / 2;
    double unfolded = time_shape(plan, false, each, choice->measure_seconds / 2);
    double folded = time_shape(plan, true, each, choice->measure_seconds / 2);
    plan->cg.folded = folded < unfolded;
    yk_log(plan->matrix->context, YOKE_LOG_DETAIL,
           "measured: unfolded %.3g us, folded %.3g us an iteration", 1e6 * unfolded, 1e6 * folded);
}

/* -------------------------------------------------- GPU: driver, format, shape */

typedef struct candidate {
    const yk_driver *driver;
    const char *format;
    bool folded;
} candidate;

enum { MOST_LOSERS = 4 };

typedef struct tuning {
    yoke_plan *plan;
    candidate best;
    bool accepted;  /* the best is one that runs */
    double seconds; /* of an iteration of the best; infinite: not timed */
    double deadline;
    int64_t warm, steps; /* iterations before timing, and in one timed advance */
    int repeats;
    double share;                       /* seconds that one candidate may take */
    const yk_driver *lost[MOST_LOSERS]; /* far behind in this format: not timed again in it */
    int losers;
    bool stopped; /* the matrix holds no numbers: nothing is timed on it */
} tuning;

/* Another must be so much faster to be taken: less is noise. */
#define CLEARLY 0.99

/* An iteration shorter than this is ruled by launches: a whole batch of the graph is timed, and
 * every combination; above it the times add up, and choices are made one by one. */
#define SMALL_SECONDS 40e-6

/* About what an H200 reads and writes a second in these passes; here only for sorting large from
 * small. */
#define DEVICE_BANDWIDTH 3.5e12

void yk_begin_timing(yk_cg *cg)
{
    begin_timing(cg, 0.0);
    if (cg->parts > 1) cg->driver->engine->exchange(cg, YK_BOUNDARY_Z); /* halos are 0 too */
}

static yoke_status use(yoke_plan *plan, const candidate *c, bool *accepted)
{
    yk_cg *cg = &plan->cg;
    plan->choice.driver = cg->driver = c->driver;
    plan->choice.format = c->format;
    cg->folded = c->folded;
    if (plan->choice.measure_format) YK_TRY(c->driver->engine->use_format(cg, c->format));
    yoke_status status = c->driver->accepts ? c->driver->accepts(cg) : YOKE_OK;
    *accepted = status == YOKE_OK;
    if (!*accepted)
        yk_log(cg->context, YOKE_LOG_DETAIL, "%s, %s, %s: %s", c->driver->name, c->format,
               shape_of(c->folded), yoke_error_text());
    return *accepted && c->driver->prepare ? c->driver->prepare(cg) : YOKE_OK;
}

/* All vectors are 0 and stay so: alpha and beta are 0 then, and the memory's time is the same. */
static yoke_status time_candidate(tuning *t, double *seconds)
{
    yk_cg *cg = &t->plan->cg;
    double began = yoke_seconds();
    *seconds = INFINITY;
    yk_begin_timing(cg);
    cg->driver->advance(cg, t->warm);
    for (int i = 0; i < t->repeats && cg->status == YOKE_OK; i++) {
        double before = yoke_seconds();
        cg->driver->advance(cg, t->steps);
        double now = yoke_seconds(), took = (now - before) / (double)t->steps;
        if (took < *seconds) *seconds = took;
        if (now - began > t->share) break;
    }
    t->stopped = cg->s.stop != YK_CG_GO_ON;
    return cg->status;
}

/* A driver so much slower than the best of a small system stays behind in the other shape: what an
 * iteration costs beside its bytes is the driver's own. Not in another format: on an H200
 * poisson3d7:100 took 133 us by graph in CSR, 42 in SELL. */
#define FAR_BEHIND 1.5

static bool has_lost(const tuning *t, const yk_driver *driver)
{
    for (int i = 0; i < t->losers; i++)
        if (t->lost[i] == driver) return true;
    return false;
}

static void note_loser(tuning *t, const yk_driver *driver, double seconds)
{
    if (seconds > FAR_BEHIND * t->seconds && t->losers < MOST_LOSERS) t->lost[t->losers++] = driver;
}

static yoke_status try(tuning *t, candidate c)
{
    bool accepted = false;
    double seconds = INFINITY;
    if (t->accepted && (t->stopped || yoke_seconds() > t->deadline)) return YOKE_OK;
    if (has_lost(t, c.driver)) return YOKE_OK;
    YK_TRY(use(t->plan, &c, &accepted));
    if (!accepted) return YOKE_OK;
    YK_TRY(time_candidate(t, &seconds));
    yk_log(t->plan->cg.context, YOKE_LOG_DETAIL, "measured: %s, %s, %s: %.3g us an iteration",
           c.driver->name, c.format, shape_of(c.folded), 1e6 * seconds);
    if (t->accepted) note_loser(t, c.driver, seconds);
    if (t->accepted && !(seconds < CLEARLY * t->seconds)) return YOKE_OK;
    t->best = c;
    t->seconds = seconds;
    t->accepted = true;
    return YOKE_OK;
}

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
        if (!driver || driver->engine != choice->driver->engine) continue;
        if (choice->foreign_product && !driver->takes_callbacks) continue;
        if (k-- == 0) return driver;
    }
    return NULL;
}

static yoke_status try_other_drivers(tuning *t, candidate c)
{
    const yk_driver *driver, *first = c.driver;
    if (!t->plan->choice.measure_driver) return YOKE_OK;
    for (int k = 0; (driver = driver_at(&t->plan->choice, k)); k++) {
        c.driver = driver;
        if (driver != first) YK_TRY(try(t, c));
    }
    return YOKE_OK;
}

static const char *other_format(const char *format)
{
    return strcmp(format, "csr") == 0 ? "sell" : "csr";
}

static yoke_status try_all(tuning *t)
{
    const yk_choice *choice = &t->plan->choice;
    const candidate first = t->best;
    int formats = choice->measure_format ? 2 : 1, shapes = choice->measure_shape ? 2 : 1;
    for (int f = 0; f < formats; f++) {
        t->losers = 0;
        for (int s = 0; s < shapes; s++) {
            candidate c = first;
            if (f) c.format = other_format(first.format);
            if (s) c.folded = !first.folded;
            if (f || s) YK_TRY(try(t, c));
            YK_TRY(try_other_drivers(t, c));
        }
    }
    return YOKE_OK;
}

static yoke_status try_one_by_one(tuning *t)
{
    const yk_choice *choice = &t->plan->choice;
    YK_TRY(try_other_drivers(t, t->best));
    candidate c = t->best;
    c.folded = !c.folded;
    if (choice->measure_shape) YK_TRY(try(t, c));
    c = t->best;
    c.format = other_format(c.format);
    if (choice->measure_format) YK_TRY(try(t, c));
    return YOKE_OK;
}

/* A large system's candidates, at most 6, take a fifth of the seconds or 6 iterations each,
 * whichever is longer: 30 or so of the 60, which leaves as many for the rest of the setup. A small
 * system's, at most 12, share three quarters of the seconds. */
static tuning tuning_of(yoke_plan *plan)
{
    const yk_choice *choice = &plan->choice;
    const yk_csr *csr = &plan->matrix->csr;
    double bytes =
        yk_csr_bytes(csr) + yk_cg_row_bytes(choice->folded, choice->jacobi) * (double)csr->rows;
    double guess = bytes / DEVICE_BANDWIDTH, iterations = (double)choice->measure_iterations;
    bool small = guess < SMALL_SECONDS;
    return (tuning){.plan = plan,
                    .best = {choice->driver, choice->format, choice->folded},
                    .seconds = INFINITY,
                    .deadline = yoke_seconds() +
                                fmax(choice->measure_seconds * 0.75, guess * iterations * 0.5),
                    .warm = small ? 16 : 2,
                    .steps = small ? 16 : 4,
                    .repeats = (int)(choice->measure_iterations / 20),
                    .share = choice->measure_seconds / (small ? 16 : 5)};
}

static yoke_status measure(tuning *t)
{
    YK_TRY(try(t, t->best));
    YK_TRY(t->steps == 16 ? try_all(t) : try_one_by_one(t));
    if (t->accepted)
        yk_log(t->plan->cg.context, YOKE_LOG_DETAIL, "measured, taken: %s, %s, %s",
               t->best.driver->name, t->best.format, shape_of(t->best.folded));
    return YOKE_OK;
}

/* Takes the candidate; another driver of the engine where auto's own declines. */
static yoke_status settle(yoke_plan *plan, candidate c)
{
    const yk_driver *driver, *first = c.driver;
    bool accepted = false;
    YK_TRY(use(plan, &c, &accepted));
    for (int k = 0;
         !accepted && plan->choice.driver_is_auto && (driver = driver_at(&plan->choice, k)); k++) {
        c.driver = driver;
        if (driver != first) YK_TRY(use(plan, &c, &accepted));
    }
    return accepted ? YOKE_OK : first->accepts(&plan->cg);
}

/* auto's estimate, now that the matrix is there: a driver that wins where it can run. */
static const yk_driver *estimated_driver(yoke_plan *plan)
{
    const yk_driver *driver;
    for (int k = 0; plan->choice.driver_is_auto && (driver = driver_at(&plan->choice, k)); k++)
        if (driver->wins && driver->accepts(&plan->cg) == YOKE_OK) return driver;
    return plan->choice.driver;
}

/* What is known of the plan, if it can be had of this choice and runs. */
static yoke_status take_wisdom(yoke_plan *plan, candidate *best, bool *taken)
{
    const yk_wise *wise = plan->wise;
    const yk_choice *choice = &plan->choice;
    candidate c = *best;
    *taken = false;
    if (!wise) return YOKE_OK;
    const yk_driver *driver;
    for (int k = 0; choice->measure_driver && (driver = driver_at(choice, k)); k++)
        if (strcmp(driver->name, wise->driver) == 0) c.driver = driver;
    if (choice->measure_format && strcmp(wise->format, c.format) != 0)
        c.format = other_format(c.format);
    if (choice->measure_shape) c.folded = wise->folded;
    bool same = strcmp(c.driver->name, wise->driver) == 0 && strcmp(c.format, wise->format) == 0 &&
                c.folded == wise->folded;
    if (same) YK_TRY(use(plan, &c, taken));
    if (*taken)
        *best = c;
    else
        yk_plan_note(plan, "wisdom not used: driver %s, format %s, shape %s cannot be had here",
                     wise->driver, wise->format, shape_of(wise->folded));
    return YOKE_OK;
}

static yoke_status measure_or_know(yoke_plan *plan, tuning *t)
{
    bool taken;
    YK_TRY(take_wisdom(plan, &t->best, &taken));
    if (taken) {
        note_wisdom(plan, t->best.driver->name);
        return YOKE_OK;
    }
    plan->timed = true;
    return measure(t);
}

static yoke_status tune_gpu(yoke_plan *plan)
{
    const yk_choice *choice = &plan->choice;
    yk_cg *cg = &plan->cg;
    plan->choice.driver = estimated_driver(plan);
    tuning t = tuning_of(plan);
    bool possible = plan->bad_diagonal_row < 0;
    if (possible && (choice->measure_driver || choice->measure_format || choice->measure_shape))
        YK_TRY(measure_or_know(plan, &t));
    YK_TRY(settle(plan, t.best));
    if (choice->measure_format) cg->driver->engine->keep_format(cg);
    cg->s = (yk_cg_scalars){0};
    return YOKE_OK;
}

yoke_status yk_tune(yoke_plan *plan)
{
    if (plan->choice.driver->engine->load_matrix) return tune_gpu(plan);
    tune_cpu(plan);
    return YOKE_OK;
}
