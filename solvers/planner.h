/* SPDX-License-Identifier: BSD-3-Clause */
/* planner.h: what the files of the planner share. */
#ifndef YK_PLANNER_H
#define YK_PLANNER_H

#include <string.h>

#include "solvers/plan.h"

static inline bool yk_is_auto(const char *name)
{
    return !name || strcmp(name, "auto") == 0;
}

static inline bool yk_is_named(const char *given, const char *name)
{
    return !yk_is_auto(given) && strcmp(given, name) == 0;
}

/* Whether the effort lets a plan be measured. */
static inline bool yk_may_take_time(const yoke_plan_options *options)
{
    return !yk_is_auto(options->effort) && strcmp(options->effort, "estimate") != 0;
}

/* planner.c: an item's static name, and its table, by a given name or, for "auto", the default. */
yoke_status yk_planner_find(yoke_list_kind kind, const char *given, const char *by_default,
                            const char **name, const void **implementation);

/* Whether there is a user's operator or preconditioner; whether all that there are have all of
 * these flags; and whether a graph, which replays what was enqueued once, can have them. */
bool yk_planner_has_callbacks(const yoke_matrix *matrix, const yoke_plan_options *options);
bool yk_planner_callbacks_have(const yoke_matrix *matrix, const yoke_plan_options *options,
                               unsigned flags);
bool yk_planner_can_be_captured(const yoke_matrix *matrix, const yoke_plan_options *options);

bool yk_planner_may_measure(const yoke_matrix *matrix, const yk_choice *choice);

/* planner_gpus.c: which devices; once owners are chosen, what does not run with several is refused
 * by name, and how they meet. */
yoke_status yk_planner_choose_devices(const yoke_plan_options *options, yk_choice *choice);
yoke_status yk_planner_check_gpus(const yoke_matrix *matrix, const yoke_plan_options *options,
                                  yk_choice *choice);

/* planner_owners.c: partition, shares, driver and memory mode. Where one owner is left with all
 * rows, the options become those of a plan for it alone. */
yoke_status yk_planner_choose_owners(const yoke_matrix *matrix, yoke_plan_options *options,
                                     yk_cut_wish wish, yk_choice *choice);

/* Whether a GPU that has no room for that share of the rows and the CPU are together faster than
 * the CPU alone, by the model; then text is the partition. */
bool yk_planner_share_by_model(const yoke_matrix *matrix, const yoke_plan_options *options,
                               double least_share, char *text, size_t size);

/* planner_formats.c: in this order. */
yoke_status yk_planner_choose_format(const yoke_matrix *matrix, yk_choice *choice);
yoke_status yk_planner_choose_residency(const yoke_matrix *matrix, const yoke_plan_options *options,
                                        yk_choice *choice);
void yk_planner_choose_measuring(const yoke_matrix *matrix, const yoke_plan_options *options,
                                 yk_choice *choice);

#endif
