/* SPDX-License-Identifier: BSD-3-Clause */
/* planner_gpus.c: which GPUs a plan has, how several meet, and what does not run with them yet. */
#include <string.h>

#include "lib/status.h"
#include "solvers/planner.h"

yoke_status yk_planner_choose_devices(const yoke_plan_options *options, yk_choice *choice)
{
    const int count = options->device_count;
    choice->device = options->device < 0 ? 0 : options->device;
    choice->gpus = 1;
    if (count < 0 || count > YK_MOST_GPUS || (count > 0 && !options->devices))
        return yk_fail(YOKE_INVALID, "device_count is %d%s, expected 0 to %d and as many devices",
                       count, options->devices ? "" : " without devices", (int)YK_MOST_GPUS);
    if (count == 0) return YOKE_OK;
    for (int i = 0; i < count; i++) {
        choice->gpu_device[i] = options->devices[i];
        if (options->devices[i] < 0)
            return yk_fail(YOKE_INVALID, "devices[%d] is %d, expected 0 or more", i,
                           options->devices[i]);
    }
    choice->device = choice->gpu_device[0];
    choice->gpus = count;
    return YOKE_OK;
}

/* What is asked for that several GPUs do not run; NULL: nothing. */
static const char *unsuitable(const yoke_matrix *matrix, const yoke_plan_options *options,
                              const yk_choice *choice)
{
    if (yk_planner_has_callbacks(matrix, options))
        return "a user's operator or preconditioner; use one device";
    if (choice->recurrence != YK_CLASSICAL)
        return "a recurrence with one sum, whose passes leave no sums apart; use solver cg";
    if (choice->foreign_product)
        return "format cusparse, which has the whole matrix; use sell or csr";
    if (yk_is_named(options->shape, "folded"))
        return "shape folded, as the halo's p is updated between two passes; use unfolded";
    if (choice->place.kind != YK_HOME_OWNER) return "homes other than owner";
    if (options->parts > 1) return "parts: each device has one";
    return NULL;
}

/* The modes that say something here: how they meet, or where they put what they have for each
 * other. */
static yoke_status choose_way(const yoke_plan_options *options, yk_choice *choice)
{
    choice->gpus_way = YK_GPUS_BEST;
    if (yk_is_auto(options->memory)) return YOKE_OK;
    if (strcmp(options->memory, "explicit") == 0) {
        choice->gpus_way = YK_GPUS_BY_EVENTS;
        choice->place_name = "explicit";
    } else if (strcmp(options->memory, "mapped") == 0) {
        choice->gpus_way = YK_GPUS_MAPPED;
        choice->place_name = "mapped";
    } else {
        return yk_fail(YOKE_UNSUITABLE,
                       "several GPUs do not meet through memory %s; use auto, explicit (by events) "
                       "or mapped (in pinned host memory)",
                       options->memory);
    }
    return YOKE_OK;
}

yoke_status yk_planner_check_gpus(const yoke_matrix *matrix, const yoke_plan_options *options,
                                  yk_choice *choice)
{
    if (choice->gpus < 2) return YOKE_OK;
    const char *what = unsuitable(matrix, options, choice);
    if (what) return yk_fail(YOKE_UNSUITABLE, "several GPUs do not take %s", what);
    return choose_way(options, choice);
}
