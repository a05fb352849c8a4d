/* SPDX-License-Identifier: BSD-3-Clause */
/* fall_back.c: what is made where the plan that auto chose cannot be. */
#include <stdio.h>
#include <string.h>

#include "lib/status.h"
#include "solvers/planner.h"

/* The GPU has what it has room for, the CPU the rest: by the model, or as both are measured to move
 * them. */
static yoke_status share_somehow(yoke_matrix *matrix, const yoke_plan_options *options,
                                 double least, const char *why, yoke_plan **plan)
{
    yoke_plan_options instead = *options;
    yk_plan_failure failed;
    char text[24];
    bool measures = yk_may_take_time(options);
    instead.partition = measures ? "model" : text;
    if (!measures && !yk_planner_share_by_model(matrix, options, least, text, sizeof text))
        return YOKE_UNSUITABLE;
    yoke_status status = yk_plan_make(matrix, &instead, least, plan, &failed);
    if (status == YOKE_OK)
        yk_plan_note(*plan, "partition auto %s who has which rows: %s",
                     measures ? "measures" : "estimates", why);
    return status;
}

/* Where auto took a GPU that then is full, it and the CPU share the rows; else, and where the GPU
 * fails, the CPU solves. */
static yoke_status fall_back(yoke_matrix *matrix, const yoke_plan_options *options,
                             const yk_plan_failure *failed, yoke_plan **plan)
{
    yoke_plan_options instead = options ? *options : yoke_plan_defaults();
    char why[512];
    yk_plan_failure again;
    snprintf(why, sizeof why, "%s", yoke_error_text());
    if (failed->is_full && share_somehow(matrix, &instead, failed->least, why, plan) == YOKE_OK)
        return YOKE_OK;
    instead.partition = "cpu";
    YK_TRY(yk_plan_make(matrix, &instead, 0.0, plan, &again));
    yk_plan_note_cpu(*plan, why);
    return YOKE_OK;
}

yoke_status yk_plan_make_or_fall_back(yoke_matrix *matrix, const yoke_plan_options *options,
                                      yoke_plan **plan)
{
    yk_plan_failure failed;
    yoke_status status = yk_plan_make(matrix, options, 0.0, plan, &failed);
    bool of_gpu = status == YOKE_NO_MEMORY || status == YOKE_DEVICE || status == YOKE_UNUSABLE;
    if (!of_gpu || !failed.falls_back) return status;
    return fall_back(matrix, options, &failed, plan);
}
