/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.c: making and destroying plans. Making one is where all allocation happens. */
#include "solvers/plan.h"

#include <stdlib.h>
#include <string.h>

#include "lib/context.h"
#include "lib/status.h"

static void connect_state(yoke_plan *plan)
{
    yk_cg *cg = &plan->cg;
    cg->context = plan->matrix->context;
    cg->op = plan->matrix->is_operator ? &plan->matrix->op : NULL;
    cg->preconditioner = plan->preconditioner.apply ? &plan->preconditioner : NULL;
    cg->driver = plan->choice.driver;
    cg->jacobi = plan->choice.jacobi;
    cg->nullspace = plan->choice.nullspace;
    cg->passes = yk_cpu_passes_here();
    cg->stream_q = plan->choice.stream_q;
}

static yoke_status begin(yoke_matrix *matrix, const yoke_plan_options *options, yoke_plan *plan)
{
    yoke_plan_options defaults = yoke_plan_defaults();
    if (!options) options = &defaults;
    YK_TRY(yk_planner_choose(matrix, options, &plan->choice));
    if (options->apply_preconditioner) plan->preconditioner = *options->apply_preconditioner;
    connect_state(plan);
    return yk_parts_analyse(plan);
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

static yoke_status build(yoke_matrix *matrix, const yoke_plan_options *options, yoke_plan *plan)
{
    YK_TRY(begin(matrix, options, plan));
    YK_TRY(yk_parts_allocate(plan));
    yk_planner_measure(plan);
    if (plan->cg.driver->prepare) YK_TRY(plan->cg.driver->prepare(&plan->cg));
    memcpy(plan->notices, matrix->notice, sizeof matrix->notice);
    return YOKE_OK;
}

yoke_status yoke_plan_create(yoke_matrix *matrix, const yoke_plan_options *options,
                             yoke_plan **plan)
{
    double began = yoke_seconds();
    YK_TRY(check_matrix(matrix, plan));
    YK_TRY(hold_values(matrix));
    yoke_plan *made = empty_plan(matrix);
    yoke_status status =
        made ? build(matrix, options, made) : yk_fail(YOKE_NO_MEMORY, "no memory for a plan");
    atomic_fetch_sub(&matrix->solving, 1);
    if (status != YOKE_OK) {
        if (made) free_plan(made);
        return status;
    }
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
    yoke_matrix *matrix = plan->matrix;
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
    yoke_status status = begin(matrix, options, plan);
    if (status == YOKE_OK) {
        yk_parts_bytes(plan, &memory->host_bytes, &memory->device_bytes);
    }
    free_plan(plan);
    return status;
}
