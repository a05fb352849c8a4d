/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.c: making and destroying plans. Making one is where all allocation happens. */
#include "solvers/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/context.h"
#include "lib/status.h"
#include "solvers/cg/bytes.h"
#include "solvers/cg/cuts.h"
#include "solvers/ranks.h"
#include "solvers/reorder.h"

static void connect_state(yoke_plan *plan)
{
    yk_cg *cg = &plan->cg;
    cg->context = plan->matrix->context;
    cg->op = plan->matrix->is_operator ? &plan->matrix->op : NULL;
    cg->preconditioner = plan->preconditioner.apply ? &plan->preconditioner : NULL;
    cg->driver = plan->choice.driver;
    cg->residency = plan->choice.residency;
    cg->device = plan->choice.device;
    cg->gpus = plan->choice.gpus;
    memcpy(cg->gpu_device, plan->choice.gpu_device, sizeof cg->gpu_device);
    cg->gpus_way = plan->choice.gpus_way;
    cg->whole_copies = plan->choice.whole_copies;
    cg->home = plan->choice.place;
    cg->gpu_memory = plan->choice.gpu_memory;
    cg->gpu_sms = plan->choice.gpu_sms;
    cg->jacobi = plan->choice.jacobi;
    cg->nullspace = plan->choice.nullspace;
    cg->recurrence = cg->planned = plan->choice.recurrence;
    cg->factor = YK_VECTOR_M;
    cg->product = YK_VECTOR_Q;
    cg->passes = yk_cpu_passes_here();
    cg->stream_q = plan->choice.stream_q;
}

static yoke_status analyse(yoke_plan *plan, const yoke_plan_options *options, yk_cut_wish wish)
{
    plan->narrow = wish.narrow;
    YK_TRY(yk_planner_choose(plan->matrix, options, wish, &plan->choice));
    if (options->apply_preconditioner) plan->preconditioner = *options->apply_preconditioner;
    connect_state(plan);
    YK_TRY(yk_parts_analyse(plan));
    yk_plan_choose_shape(plan);
    return YOKE_OK;
}

static yoke_status analyse_again(yoke_plan *plan, const yoke_plan_options *options,
                                 yk_cut_wish wish)
{
    yoke_context *context = plan->cg.context;
    yk_parts_free(plan);
    plan->cg = (yk_cg){.context = context};
    return analyse(plan, options, wish);
}

/* In another order, if that was asked for or has half the columns travel. */
static yoke_status reorder(yoke_plan *plan, const yoke_plan_options *options, yk_cut_wish wish)
{
    int64_t before = yk_reorder_halo(plan);
    bool asked = plan->choice.reorder == YK_REORDER_ASKED;
    yoke_status status = yk_reorder_begin(plan);
    if (status == YOKE_NO_MEMORY && !asked) return YOKE_OK;
    YK_TRY(status);
    YK_TRY(analyse_again(plan, options, wish));
    plan->reordering->halo_before = before;
    if (asked || 2 * yk_reorder_halo(plan) <= before) return YOKE_OK;
    yk_reorder_undo(plan);
    return analyse_again(plan, options, wish);
}

static yoke_status begin(yoke_plan *plan, const yoke_plan_options *options, yk_cut_wish wish)
{
    yoke_plan_options defaults = yoke_plan_defaults();
    if (!options) options = &defaults;
    YK_TRY(analyse(plan, options, wish));
    if (plan->reordering && plan->choice.reorder == YK_REORDER_NEVER) { /* one owner is left */
        yk_reorder_undo(plan);
        return analyse_again(plan, options, wish);
    }
    return yk_reorder_is_wanted(plan) ? reorder(plan, options, wish) : YOKE_OK;
}

/* Reads the matrix while no values are being updated. */
static yoke_status hold_values(yoke_matrix *matrix)
{
    int solving = atomic_load(&matrix->solving);
    do {
        if (solving < 0) return yk_fail(YOKE_BUSY, "the matrix's values are being updated");
    } while (!atomic_compare_exchange_weak(&matrix->solving, &solving, solving + 1));
    return YOKE_OK;
}

static void free_plan(yoke_plan *plan)
{
    yk_parts_free(plan);
    yk_reorder_undo(plan);
    free(plan->result);
    free(plan);
}

static yoke_status check_matrix(const yoke_matrix *matrix, const void *output)
{
    if (!matrix || !output) return yk_fail(YOKE_INVALID, "matrix or output is NULL");
    if (!matrix->usable)
        return yk_fail(YOKE_SPOILED, "the matrix did not survive an earlier failure");
    return YOKE_OK;
}

static yoke_plan *empty_plan(yoke_matrix *matrix)
{
    yoke_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return NULL;
    plan->result = calloc(1, sizeof *plan->result);
    if (!plan->result) {
        free(plan);
        return NULL;
    }
    plan->result_capacity = 1;
    plan->matrix = matrix;
    plan->cg.context = matrix->context;
    plan->usable = true;
    return plan;
}

static yoke_status build(yoke_matrix *matrix, const yoke_plan_options *options, yk_cut_wish wish,
                         yoke_plan *plan)
{
    memcpy(plan->notices, matrix->notice, sizeof matrix->notice);
    yoke_status status = begin(plan, options, wish);
    if (status == YOKE_OK) status = yk_parts_allocate(plan);
    YK_TRY(yk_agree(matrix->context, status, yk_ranks_mark_plan(&plan->choice)));
    status = yk_ranks_meet_devices(plan);
    if (status == YOKE_OK) status = yk_tune(plan);
    return yk_agree(matrix->context, status, 0.0);
}

void yk_plan_note(yoke_plan *plan, const char *format, ...)
{
    char text[640];
    size_t used = strlen(plan->notices);
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    snprintf(plan->notices + used, sizeof plan->notices - used, "%s%s", used ? "\n" : "", text);
    yk_log(plan->cg.context, YOKE_LOG_NOTICE, "%s", text);
}

void yk_plan_note_cpu(yoke_plan *plan, const char *why)
{
    yk_plan_note(plan, "partition auto takes the CPU: %s", why);
}

/* Whether a measured share is another cut: a few chunks of many are not worth a plan. */
static bool is_another_cut(const yoke_plan *plan, double share)
{
    const yk_csr *csr = &plan->matrix->csr;
    const yk_choice *choice = &plan->choice;
    int64_t cut =
        choice->partition->gpu_rows(csr, yk_cg_row_bytes(choice->folded, choice->jacobi), share);
    int64_t before = csr->rows - choice->gpu_rows, after = csr->rows - cut;
    int64_t moved = after > before ? after - before : before - after;
    return 10 * moved > (after < before ? after : before);
}

/* Everything that the cuts of a window need, once it is known where it lies. */
static yoke_status make_cuts_ready(yoke_plan *plan, yk_rates rates)
{
    yk_cg *cg = &plan->cg;
    if (!cg->cuts) return YOKE_OK;
    yk_cuts_begin(cg, rates);
    return cg->driver->prepare_cuts ? cg->driver->prepare_cuts(cg) : YOKE_OK;
}

/* An empty plan in place of one, or of none, whose order of rows it takes over. */
static yoke_plan *plan_after(yoke_matrix *matrix, yoke_plan *before)
{
    yoke_plan *plan = empty_plan(matrix);
    if (plan && before && before->reordering) {
        plan->reordering = before->reordering;
        plan->matrix = before->matrix;
        before->reordering = NULL;
    }
    if (before) free_plan(before);
    return plan;
}

/* A window whose rows the GPU has no room for is made again without those that a moving cut might
 * give it. */
static yoke_status build_somehow(yoke_matrix *matrix, const yoke_plan_options *options,
                                 const yk_wise *known, yk_cut_wish *wish, yoke_plan **made)
{
    *made = plan_after(matrix, *made);
    if (!*made)
        return yk_agree(matrix->context, yk_fail(YOKE_NO_MEMORY, "no memory for a plan"), 0.0);
    (*made)->wise = known;
    yoke_status status = build(matrix, options, *wish, *made);
    if (status != YOKE_NO_MEMORY || wish->narrow || (*made)->choice.window.count == 0)
        return status;
    wish->narrow = true;
    return build_somehow(matrix, options, known, wish, made);
}

/* A plan, or none; where it measures which share the CPU should have, made again with that one:
 * speeds change with it, as less or more lies in caches. known: or NULL; *share: that of the plan,
 * or negative. */
static yoke_status make_with_best_cut(yoke_matrix *matrix, const yoke_plan_options *options,
                                      double least, const yk_wise *known, double *share,
                                      yoke_plan **made)
{
    enum { ROUNDS = 3 };
    yoke_plan_options in_given_order;
    bool knows_share = known && known->share >= 0.0;
    yk_cut_wish wish = {.share = knows_share ? known->share : -1.0, .least = least};
    yk_rates rates = {0.0, 0.0, 0.0};
    *share = wish.share;
    *made = NULL;
    for (int round = 0;; round++) {
        YK_TRY(build_somehow(matrix, options, known, &wish, made));
        if (!*made) return YOKE_NO_MEMORY; /* never: that was agreed on */
        bool measures = (*made)->choice.cut_is_measured && (*made)->bad_diagonal_row < 0 &&
                        round < ROUNDS && !knows_share;
        if (measures) YK_TRY(yk_cut_measure(*made, &wish.share, &rates));
        if (measures && wish.share < least) wish.share = least;
        *share = wish.share;
        if (!measures || !is_another_cut(*made, wish.share)) return make_cuts_ready(*made, rates);
        if ((*made)->reordering) continue;
        in_given_order = options ? *options : yoke_plan_defaults();
        in_given_order.reorder = "none"; /* another is not looked for again */
        options = &in_given_order;
    }
}

/* The same by wisdom, where there is some, and kept as wisdom where it was measured. */
static yoke_status make_wisely(yoke_matrix *matrix, const yoke_plan_options *options, double least,
                               yoke_plan **made)
{
    yk_wise wise;
    bool known;
    double share;
    bool keep = yk_wise_ask(matrix, options, &wise, &known);
    yoke_status status =
        make_with_best_cut(matrix, options, least, known ? &wise : NULL, &share, made);
    if (!*made) return status;
    (*made)->wise = NULL;
    if (status == YOKE_OK && known && share >= 0.0)
        yk_plan_note(*made, "wisdom: a share of %.4f of the rows on the CPU; it was not measured",
                     share);
    if (status == YOKE_OK && keep && ((*made)->timed || (share >= 0.0 && !known))) {
        wise.patient = strcmp((*made)->choice.effort, "patient") == 0;
        yk_wise_keep(*made, &wise, share);
    }
    return status;
}

static void note_choices(yoke_plan *plan)
{
    const yk_choice *choice = &plan->choice;
    if (plan->cg.met_by) yk_plan_note(plan, "%d GPUs meet by %s", plan->cg.gpus, plan->cg.met_by);
    if (choice->declined) yk_plan_note_cpu(plan, choice->declined);
    if (choice->reorder == YK_REORDER_IF_LESS && plan->reordering)
        yk_plan_note(plan, "reorder auto takes rcm: %lld columns travel between parts, not %lld",
                     (long long)yk_reorder_halo(plan), (long long)plan->reordering->halo_before);
    if (*choice->notice) yk_plan_note(plan, "%s", choice->notice);
}

/* A tenth more than what there is no room for: halos, slots and lists come to it. */
static double least_share(yoke_plan *plan)
{
    const yk_engine *engine = plan->choice.driver->engine;
    size_t host, device, available;
    if (!engine->available || engine->available(&plan->cg, &available) != YOKE_OK) return 0.5;
    yk_parts_bytes(plan, &host, &device);
    double kept = device > 0 ? 0.9 * (double)available / (double)device : 0.0;
    return kept < 1.0 ? 1.0 - kept : 0.1;
}

yoke_status yk_plan_make(yoke_matrix *matrix, const yoke_plan_options *options, double least,
                         yoke_plan **plan, yk_plan_failure *failed)
{
    yoke_plan *made = NULL;
    yoke_status status = make_wisely(matrix, options, least, &made);
    *failed = (yk_plan_failure){false, false, 0.0};
    if (!made) return YOKE_NO_MEMORY;
    if (status == YOKE_OK) {
        note_choices(made);
        *plan = made;
        return YOKE_OK;
    }
    failed->falls_back = made->choice.falls_back;
    failed->is_full = status == YOKE_NO_MEMORY && failed->falls_back;
    if (failed->is_full) failed->least = least_share(made);
    free_plan(made);
    return status;
}

yoke_status yoke_plan_create(yoke_matrix *matrix, const yoke_plan_options *options,
                             yoke_plan **plan)
{
    double began = yoke_seconds();
    yoke_plan *made = NULL;
    if (!matrix) return check_matrix(matrix, plan);
    yoke_status status = check_matrix(matrix, plan);
    if (status == YOKE_OK) status = hold_values(matrix);
    bool held = status == YOKE_OK;
    status = yk_agree(matrix->context, status, 0.0);
    if (status == YOKE_OK) status = yk_plan_make_or_fall_back(matrix, options, &made);
    if (held) atomic_fetch_sub(&matrix->solving, 1);
    if (status != YOKE_OK) return status;
    yk_matrix_retain(matrix);
    made->plan_seconds = yoke_seconds() - began;
    *plan = made;
    return YOKE_OK;
}

int yoke_plan_usable(const yoke_plan *plan)
{
    return plan && plan->usable;
}

void yoke_plan_destroy(yoke_plan *plan)
{
    if (!plan) return;
    yoke_matrix *matrix = yk_plan_given(plan);
    free_plan(plan);
    yk_matrix_release(matrix);
}

yoke_status yoke_plan_memory(yoke_matrix *matrix, const yoke_plan_options *options,
                             yoke_memory *memory)
{
    YK_TRY(check_matrix(matrix, memory));
    YK_TRY(yk_check_struct("yoke_memory", memory->struct_size, sizeof *memory));
    yoke_plan *plan = empty_plan(matrix);
    if (!plan) return yk_fail(YOKE_NO_MEMORY, "no memory for a plan");
    yoke_status status = begin(plan, options, (yk_cut_wish){.share = -1.0});
    if (status == YOKE_OK) {
        yk_parts_bytes(plan, &memory->host_bytes, &memory->device_bytes);
    }
    free_plan(plan);
    return status;
}
