/* SPDX-License-Identifier: BSD-3-Clause */
/* homes.c: where the arrays of a GPU's rows lie: in its own memory, in that of a memory mode, or a
 * share of the matrix in host memory that the GPU reads over the link. */
#include "solvers/homes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/status.h"
#include "solvers/cg/row_shape.h"
#include "solvers/planner.h"

/* ------------------------------------------------------------------- names */

static const struct {
    const char *name;
    yk_memory memory;
} memories[] = {
    {"mapped", YK_MEMORY_MAPPED}, {"managed", YK_MEMORY_MANAGED}, {"system", YK_MEMORY_SYSTEM}};

static bool is_usable(const char *memory)
{
    yoke_list_item item;
    for (int k = 0; yoke_list(YOKE_LIST_MEMORY, k, &item); k++)
        if (strcmp(item.name, memory) == 0) return item.usable;
    return false;
}

/* Managed memory lies on the device, mapped memory is read over the link. */
static yoke_status choose_shared(const char *memory, yk_choice *choice)
{
    if (yk_is_auto(memory)) memory = is_usable("managed") ? "managed" : "mapped";
    choice->place.kind = YK_HOME_SHARED;
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++) {
        if (strcmp(memories[i].name, memory) != 0) continue;
        choice->place.memory = memories[i].memory;
        choice->place_name = memories[i].name;
        return YOKE_OK;
    }
    if (choice->window.count > 0 && strcmp(memory, "explicit") == 0)
        return yk_fail(YOKE_UNSUITABLE,
                       "partition %s does not take home shared with memory explicit: all of z "
                       "travels there, and the halo's places in it are those of one cut; use home "
                       "owner",
                       choice->partition->name);
    if (choice->shared && strcmp(memory, "explicit") == 0) {
        choice->place.kind = YK_HOME_OWNER; /* each has a copy of its own */
        choice->whole_copies = true;
        return YOKE_OK;
    }
    return yk_fail(YOKE_UNSUITABLE, "%s",
                   strcmp(memory, "explicit") == 0
                       ? "home shared and memory explicit mean copies between owners, and "
                         "partition gpu has one; use mapped, managed or system"
                       : "home shared on a GPU needs memory that it reaches; use mapped, managed "
                         "or system");
}

/* Written as a plain number, 0 to 1. */
static yoke_status read_share(const char *home, double *share)
{
    const char *text = strchr(home, ':');
    char *end = NULL;
    size_t length = text ? strspn(text + 1, "0123456789.eE+-") : 0;
    if (length > 0) *share = strtod(text + 1, &end);
    if (length > 0 && end == text + 1 + length && !*end && *share >= 0.0 && *share <= 1.0)
        return YOKE_OK;
    return yk_fail(YOKE_INVALID, "home %s: expected spill:R with a share R from 0 to 1", home);
}

static void set_spill(yk_choice *choice, double share)
{
    choice->place = (yk_home){.kind = YK_HOME_SPILL, .spill = share};
    choice->place_name = "mapped";
    snprintf(choice->home_text, sizeof choice->home_text, "spill:%.6g", share);
    choice->home = choice->home_text;
}

static yoke_status choose_spill(const yoke_matrix *matrix, const yoke_plan_options *options,
                                yk_choice *choice)
{
    double share = 0.0;
    YK_TRY(read_share(options->home, &share));
    if (matrix->is_operator)
        return yk_fail(YOKE_UNSUITABLE, "home %s needs entries to spill, which an operator has not",
                       options->home);
    if (!choice->shared && !yk_is_auto(options->memory) && strcmp(options->memory, "mapped") != 0)
        return yk_fail(
            YOKE_UNSUITABLE,
            "home spill lies in mapped memory, and with one owner memory %s has no other "
            "use; use mapped",
            options->memory);
    if (choice->foreign_product)
        return yk_fail(YOKE_UNSUITABLE, "format cusparse takes a matrix from one place; home spill "
                                        "needs csr or sell");
    set_spill(choice, share);
    return YOKE_OK;
}

/* Where auto took the CPU, nothing is shared with a GPU. */
static yoke_status refuse_without_gpu(const yoke_plan_options *options, yk_choice *choice)
{
    if (yk_is_auto(options->partition)) choice->memmode = &yk_memmode_host;
    if (strcmp(choice->home, "owner") != 0)
        return yk_fail(YOKE_UNSUITABLE, "home %s is for a GPU's rows, and partition %s has no GPU",
                       options->home, choice->partition->name);
    if (choice->memmode != &yk_memmode_host)
        return yk_fail(YOKE_UNSUITABLE,
                       "memory %s is shared with a GPU, and partition %s has none; use host",
                       options->memory, choice->partition->name);
    return YOKE_OK;
}

/* The persistent driver keeps the system on the chip, and meets by blocks that all run at once. */
static yoke_status check_persistent(const yoke_plan_options *options, const yk_choice *choice)
{
    if (yk_is_auto(options->driver) || strcmp(options->driver, "persistent") != 0) return YOKE_OK;
    if (choice->place.kind != YK_HOME_OWNER)
        return yk_fail(YOKE_UNSUITABLE,
                       "driver persistent keeps the system on the chip and does "
                       "not take home %s; use graph",
                       choice->home);
    if (options->gpu_sms > 0)
        return yk_fail(YOKE_UNSUITABLE, "driver persistent takes all multiprocessors and does not "
                                        "take gpu_sms; use graph");
    return YOKE_OK;
}

yoke_status yk_home_choose(const yoke_matrix *matrix, const yoke_plan_options *options,
                           yk_choice *choice)
{
    choice->home_is_auto = yk_is_auto(options->home);
    choice->gpu_memory = options->gpu_memory;
    choice->gpu_sms = options->gpu_sms;
    if (choice->partition->owner != YK_OWNER_GPU) return refuse_without_gpu(options, choice);
    const char *memory = choice->shared ? choice->memmode->name : options->memory;
    if (!choice->shared) choice->memmode = NULL; /* one owner */
    if (strcmp(choice->home, "shared") == 0) YK_TRY(choose_shared(memory, choice));
    if (strcmp(choice->home, "spill") == 0) YK_TRY(choose_spill(matrix, options, choice));
    return check_persistent(options, choice);
}

/* ------------------------------------------------------------------- bytes */

/* What the matrix takes: what the device has while it is loaded and keeps, whatever lies where;
 * what lies at home; and what of that may be spilled. */
typedef struct matrix_bytes {
    size_t passing, beside, entries;
} matrix_bytes;

static matrix_bytes bytes_of(const yoke_plan *plan, const yk_home_matrix *matrix)
{
    const yk_row_shape *shape = &plan->choice.row_shape;
    const size_t entry = sizeof(int32_t) + sizeof(double);
    size_t start = (size_t)(matrix->rows + 1) * matrix->start;
    if (plan->matrix->is_operator) return (matrix_bytes){0, 0, 0};
    if (strcmp(plan->choice.format, "sell") != 0)
        return (matrix_bytes){0, start, (size_t)matrix->nonzeros * entry};
    size_t columns = (size_t)shape->sell_columns * YK_SELL_BYTES;
    return (matrix_bytes){start + (size_t)yk_piece_entries(matrix->nonzeros) * entry,
                          yk_sell_memory(shape) - columns, columns};
}

yk_home_bytes yk_home_take(const yoke_plan *plan, const yk_home_matrix *lengths, size_t vectors)
{
    const yk_home *home = &plan->choice.place;
    const matrix_bytes matrix = bytes_of(plan, lengths);
    if (home->kind == YK_HOME_SPILL) {
        size_t kept = (size_t)((1.0 - home->spill) * (double)matrix.entries);
        return (yk_home_bytes){.device = vectors + matrix.passing + matrix.beside + kept,
                               .host = matrix.entries - kept};
    }
    size_t all = vectors + matrix.beside + matrix.entries;
    yk_home_bytes bytes = {.device = matrix.passing};
    if (home->memory == YK_MEMORY_MANAGED)
        bytes.managed = all;
    else
        bytes.host = all;
    return bytes;
}

bool yk_home_may_change(const yoke_plan *plan)
{
    const yk_choice *choice = &plan->choice;
    if (choice->window.count > 0 && !plan->narrow) return false; /* it may hold less instead */
    if (choice->gpus > 1) return false;
    return choice->home_is_auto && choice->place.kind == YK_HOME_OWNER &&
           choice->residency != YK_RESIDENT_ASKED && !choice->foreign_product &&
           !plan->matrix->is_operator && plan->matrix->csr.nonzeros > 0;
}

double yk_home_least_spill(const yoke_plan *plan, const yk_home_matrix *lengths, size_t vectors,
                           size_t available)
{
    const matrix_bytes matrix = bytes_of(plan, lengths);
    const size_t fixed = vectors + matrix.passing + matrix.beside;
    double kept = available > fixed ? (double)(available - fixed) / (double)matrix.entries : 0.0;
    return fmax(0.0, fmin(1.0, ceil(1e4 * (1.0 - kept)) / 1e4));
}

void yk_home_spill(yoke_plan *plan, double share)
{
    set_spill(&plan->choice, share);
    plan->cg.home = plan->choice.place;
}
