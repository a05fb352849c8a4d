/* SPDX-License-Identifier: BSD-3-Clause */
/* planner_formats.c: how a GPU is to hold its rows of the matrix, by their lengths, and what of
 * that is to be timed. */
#include <string.h>

#include "lib/status.h"
#include "solvers/planner.h"

/* SELL's padding is read but not multiplied; a row that is too long for one thread belongs to CSR,
 * which gives it eight or a block. */
#define SELL_PADDING 1.5

/* More than this is not even timed. */
#define SELL_PADDING_TIMED 3.0

static bool sell_is_possible(const yk_row_shape *shape)
{
    return shape->longest <= YK_ROW_SEGMENT;
}

static const char *estimated_format(const yk_row_shape *shape)
{
    return sell_is_possible(shape) && shape->sell_padding <= SELL_PADDING ? "sell" : "csr";
}

/* By name, or for auto to see once it has the matrix. */
yoke_status yk_planner_choose_residency(const yoke_matrix *matrix, const yoke_plan_options *options,
                                        yk_choice *choice)
{
    bool gpu = choice->partition->owner == YK_OWNER_GPU;
    bool asked = yk_is_named(options->driver, "persistent");
    bool possible = sell_is_possible(&choice->row_shape);
    bool free = gpu && !choice->shared && choice->gpus == 1 && yk_is_auto(options->driver);
    if (choice->place.kind != YK_HOME_OWNER || choice->gpu_sms > 0) free = false;
    if (choice->recurrence != YK_CLASSICAL) free = false;
    if (asked && choice->folded)
        return yk_fail(YOKE_UNSUITABLE, "driver persistent keeps p on the chip and does not take "
                                        "shape folded; use unfolded");
    if (asked && !possible)
        return yk_fail(YOKE_UNSUITABLE,
                       "driver persistent: a row has %lld entries, more than %d; use graph",
                       (long long)choice->row_shape.longest, YK_ROW_SEGMENT);
    choice->residency = YK_RESIDENT_NEVER;
    if (asked) choice->residency = YK_RESIDENT_ASKED;
    if (free && possible && !yk_planner_has_callbacks(matrix, options) &&
        !choice->foreign_product && !yk_is_named(options->shape, "folded"))
        choice->residency = YK_RESIDENT_IF_FASTER;
    return YOKE_OK;
}

/* A user's callbacks are not called before the first solve, so they are not timed. */
void yk_planner_choose_measuring(const yoke_matrix *matrix, const yoke_plan_options *options,
                                 yk_choice *choice)
{
    const yk_row_shape *shape = &choice->row_shape;
    bool gpu = choice->partition->owner == YK_OWNER_GPU;
    choice->driver_is_auto = yk_is_auto(options->driver);
    if (!gpu || yk_planner_has_callbacks(matrix, options) ||
        !yk_planner_may_measure(matrix, choice))
        return;
    choice->measure_driver = choice->driver_is_auto;
    if (choice->place.kind != YK_HOME_OWNER) return; /* both formats are not there at once */
    choice->measure_format = choice->format_is_auto && sell_is_possible(shape) &&
                             shape->sell_padding <= SELL_PADDING_TIMED;
}

yoke_status yk_planner_choose_format(const yoke_matrix *matrix, yk_choice *choice)
{
    if (choice->partition->owner != YK_OWNER_GPU || matrix->is_operator) return YOKE_OK;
    const yk_row_shape *shape = &choice->row_shape;
    yk_csr of_gpu = matrix->csr;
    if (choice->shared) {
        const yk_window *window = &choice->window;
        of_gpu.rows = window->count > 0 ? window->row[window->count - 1] : choice->gpu_rows;
        of_gpu.nonzeros = yk_row_start(&matrix->csr, of_gpu.rows);
    }
    choice->row_shape = yk_shape_of_rows(&of_gpu, choice->threads);
    if (choice->format_is_auto) choice->format = estimated_format(shape);
    if (strcmp(choice->format, "sell") == 0 && !sell_is_possible(shape))
        return yk_fail(YOKE_UNSUITABLE,
                       "format sell: a row has %lld entries, more than %d; use csr",
                       (long long)shape->longest, YK_ROW_SEGMENT);
    return YOKE_OK;
}
