/* SPDX-License-Identifier: BSD-3-Clause */
/* tune.c: timing candidates on the matrix itself, through the driver's own advance. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "lib/context.h"
#include "lib/ranks.h"
#include "lib/status.h"
#include "solvers/cg/bytes.h"
#include "solvers/parts.h"
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

/* Rounds in which the candidates take turns, so that what disturbs a while disturbs all. */
enum { ROUNDS = 3 };

/* Seconds of an iteration in this shape: one to warm up, then the least of some, two at least. */
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
        if (done > 1 && yk_ranks_most(cg->context, yoke_seconds() - began) > seconds) break;
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

static void log_measured(const yoke_plan *plan, const yk_candidate *c)
{
    yk_log(plan->matrix->context, YOKE_LOG_DETAIL, "measured: %s, %s, %s: %.3g us an iteration",
           c->driver, c->format, shape_of(c->folded), 1e6 * c->measured);
}

/* Another must be so much faster to be taken: less is noise. */
#define CLEARLY 0.99

/* Folding is the exception on a CPU: it has to save as much as the effort may lose. */
#define FOLDING_MUST_SAVE 0.97

/* Where a busy machine makes each region wait, a round has to do. */
static bool is_enough(const yoke_plan *plan, double began)
{
    const yk_choice *choice = &plan->choice;
    double least = INFINITY;
    for (int k = 0; k < plan->candidates.count; k++)
        least = fmin(least, plan->candidates.of[k].measured);
    double may_take = choice->measure_seconds + 0.5 * (double)choice->measure_iterations * least;
    return yk_ranks_most(plan->cg.context, yoke_seconds() - began) > may_take;
}

static void time_shapes(yoke_plan *plan)
{
    yk_candidates *list = &plan->candidates;
    const yk_choice *choice = &plan->choice;
    int64_t each = choice->measure_iterations / (2 * ROUNDS);
    double seconds = choice->measure_seconds / (2 * ROUNDS), began = yoke_seconds();
    for (int round = 0; round < ROUNDS && (round == 0 || !is_enough(plan, began)); round++)
        for (int k = 0; k < list->count; k++) {
            yk_candidate *c = &list->of[k];
            double took = time_shape(plan, c->folded, each, seconds);
            if (!(c->measured <= took)) c->measured = took;
        }
    for (int k = 0; k < list->count; k++) log_measured(plan, &list->of[k]);
}

/* Untimed it does not fold: what that saves in reading it costs in gathers of two vectors. */
static void tune_cpu(yoke_plan *plan)
{
    const yk_choice *choice = &plan->choice;
    plan->cg.folded = choice->folded;
    yk_plan_list_candidates(plan);
    if (!choice->measure_shape) return;
    if (plan->wise) {
        plan->cg.folded = plan->wise->folded;
        note_wisdom(plan, choice->driver->name);
        return;
    }
    plan->timed = true;
    time_shapes(plan);
    double least[2] = {INFINITY, INFINITY};
    for (int k = 0; k < plan->candidates.count; k++)
        least[plan->candidates.of[k].folded] = plan->candidates.of[k].measured;
    plan->cg.folded = least[1] < FOLDING_MUST_SAVE * least[0];
}

/* -------------------------------------------------- GPU: driver, format, shape */

typedef struct tuning {
    yoke_plan *plan;
    int best;       /* of the plan's candidates; -1: none runs so far */
    double seconds; /* of an iteration of the best; infinite: not timed */
    double deadline;
    int64_t warm, steps; /* iterations before timing, and in one timed advance */
    int repeats;
    double share; /* seconds that one candidate may take */
    bool stopped; /* the matrix holds no numbers: nothing is timed on it */
} tuning;

/* An iteration shorter than this is ruled by launches: a whole batch of the graph is timed. */
#define SMALL_SECONDS 40e-6

/* About what an H200 reads and writes a second in these passes; here only for sorting large from
 * small. */
#define DEVICE_BANDWIDTH 3.5e12

void yk_begin_timing(yk_cg *cg)
{
    begin_timing(cg, 0.0);
    if (cg->parts > 1) cg->driver->engine->exchange(cg, YK_BOUNDARY_Z); /* halos are 0 too */
}

static yoke_status use(yoke_plan *plan, const yk_candidate *c, bool *accepted)
{
    yk_cg *cg = &plan->cg;
    plan->choice.driver = cg->driver = yk_plan_driver(plan, c->driver);
    plan->choice.format = c->format;
    cg->folded = c->folded;
    if (plan->choice.measure_format) YK_TRY(cg->driver->engine->use_format(cg, c->format));
    yoke_status status = cg->driver->accepts ? cg->driver->accepts(cg) : YOKE_OK;
    *accepted = status == YOKE_OK;
    if (!*accepted)
        yk_log(cg->context, YOKE_LOG_DETAIL, "%s, %s, %s: %s", c->driver, c->format,
               shape_of(c->folded), yoke_error_text());
    return *accepted && cg->driver->prepare ? cg->driver->prepare(cg) : YOKE_OK;
}

/* A launch of the persistent driver brings the vectors on the chip and back, which an iteration of
 * a solve does not: with 4 a launch poisson3d7:128 seemed slower than by graph. */
enum { LAUNCH_OF_PERSISTENT = 16 };

/* All vectors are 0 and stay so: alpha and beta are 0 then, and the memory's time is the same. */
static yoke_status time_candidate(tuning *t, double *seconds)
{
    yk_cg *cg = &t->plan->cg;
    const int64_t steps =
        cg->driver->wins && t->steps < LAUNCH_OF_PERSISTENT ? LAUNCH_OF_PERSISTENT : t->steps;
    double began = yoke_seconds();
    *seconds = INFINITY;
    yk_begin_timing(cg);
    cg->driver->advance(cg, t->warm);
    for (int i = 0; i < t->repeats && cg->status == YOKE_OK; i++) {
        double before = yoke_seconds();
        cg->driver->advance(cg, steps);
        double now = yoke_seconds(), took = (now - before) / (double)steps;
        if (took < *seconds) *seconds = took;
        if (now - began > t->share) break;
    }
    t->stopped = cg->s.stop != YK_CG_GO_ON;
    return cg->status;
}

static yoke_status try(tuning *t, int k)
{
    yk_candidate *c = &t->plan->candidates.of[k];
    bool accepted = false;
    double seconds = INFINITY;
    if (t->best >= 0 && (t->stopped || yoke_seconds() > t->deadline)) return YOKE_OK;
    YK_TRY(use(t->plan, c, &accepted));
    if (!accepted) return YOKE_OK;
    YK_TRY(time_candidate(t, &seconds));
    if (seconds < INFINITY) c->measured = seconds;
    log_measured(t->plan, c);
    if (t->best >= 0 && !(seconds < CLEARLY * t->seconds)) return YOKE_OK;
    t->best = k;
    t->seconds = seconds;
    return YOKE_OK;
}

/* What the model sees so far behind the best is not worth timing, but to the patient: its largest
 * error on one GPU is a quarter. Of what declines nothing follows for the others. */
#define FAR_BEHIND 2.0

static bool is_worth_timing(const tuning *t, int k)
{
    const yk_candidate *c = t->plan->candidates.of;
    bool is_patient = strcmp(t->plan->choice.effort, "patient") == 0;
    return is_patient || t->best < 0 || !(c[k].predicted > FAR_BEHIND * c[t->best].predicted);
}

/* Whether another driver of its format and shape stands before it and ran: between drivers the
 * model knows well, so other formats and shapes come first. */
static bool is_another_driver(const yk_candidates *list, int k)
{
    for (int i = 0; i < k; i++)
        if (!isnan(list->of[i].measured) && list->of[i].format == list->of[k].format &&
            list->of[i].folded == list->of[k].folded)
            return true;
    return false;
}

/* In the order of the model, as far as there is time. */
static yoke_status measure(tuning *t)
{
    const yk_candidates *list = &t->plan->candidates;
    for (int late = 0; late < 2; late++)
        for (int k = 0; k < list->count; k++)
            if (is_another_driver(list, k) == late && is_worth_timing(t, k)) YK_TRY(try(t, k));
    if (t->best < 0) return YOKE_OK;
    const yk_candidate *best = &list->of[t->best];
    yk_log(t->plan->cg.context, YOKE_LOG_DETAIL, "measured, taken: %s, %s, %s", best->driver,
           best->format, shape_of(best->folded));
    return YOKE_OK;
}

/* A large system's candidates take a fifth of the seconds or 6 iterations each, whichever is
 * longer, together half of what the effort allows, as the rest of the setup takes time too. A small
 * system's share three quarters of the seconds. */
static tuning tuning_of(yoke_plan *plan)
{
    const yk_choice *choice = &plan->choice;
    const yk_csr *csr = &plan->matrix->csr;
    double bytes =
        yk_csr_bytes(csr) + yk_cg_row_bytes(choice->folded, choice->jacobi) * (double)csr->rows;
    double guess = bytes / DEVICE_BANDWIDTH, iterations = (double)choice->measure_iterations;
    bool small = guess < SMALL_SECONDS;
    return (tuning){.plan = plan,
                    .best = -1,
                    .seconds = INFINITY,
                    .deadline = yoke_seconds() +
                                fmax(choice->measure_seconds * 0.75, guess * iterations * 0.5),
                    .warm = small ? 16 : 2,
                    .steps = small ? 16 : 4,
                    .repeats = (int)(choice->measure_iterations / 20),
                    .share = choice->measure_seconds / (small ? 16 : 5)};
}

/* What is known of the plan, if it can be had of this choice and runs. */
static yoke_status take_wisdom(tuning *t, bool *taken)
{
    yoke_plan *plan = t->plan;
    const yk_wise *wise = plan->wise;
    const yk_candidates *list = &plan->candidates;
    *taken = false;
    if (!wise) return YOKE_OK;
    for (int k = 0; k < list->count && !*taken; k++) {
        const yk_candidate *c = &list->of[k];
        if (strcmp(c->driver, wise->driver) != 0 || strcmp(c->format, wise->format) != 0 ||
            c->folded != wise->folded)
            continue;
        YK_TRY(use(plan, c, taken));
        if (*taken) t->best = k;
    }
    if (*taken)
        note_wisdom(plan, list->of[t->best].driver);
    else
        yk_plan_note(plan, "wisdom not used: driver %s, format %s, shape %s cannot be had here",
                     wise->driver, wise->format, shape_of(wise->folded));
    return YOKE_OK;
}

static yoke_status measure_or_know(tuning *t)
{
    bool taken;
    YK_TRY(take_wisdom(t, &taken));
    if (taken) return YOKE_OK;
    t->plan->timed = true;
    return measure(t);
}

/* Takes the best that was measured, else the first of the list that runs here. */
static yoke_status settle(const tuning *t)
{
    yoke_plan *plan = t->plan;
    const yk_candidates *list = &plan->candidates;
    bool accepted = false;
    if (t->best >= 0) YK_TRY(use(plan, &list->of[t->best], &accepted));
    for (int k = 0; k < list->count && !accepted; k++)
        if (!list->of[k].folded || yk_parts_may_fold(plan))
            YK_TRY(use(plan, &list->of[k], &accepted));
    return accepted ? YOKE_OK : plan->choice.driver->accepts(&plan->cg);
}

static yoke_status tune_gpu(yoke_plan *plan)
{
    const yk_choice *choice = &plan->choice;
    yk_cg *cg = &plan->cg;
    tuning t = tuning_of(plan);
    bool possible = plan->bad_diagonal_row < 0;
    yk_plan_list_candidates(plan);
    if (possible && (choice->measure_driver || choice->measure_format || choice->measure_shape))
        YK_TRY(measure_or_know(&t));
    YK_TRY(settle(&t));
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
