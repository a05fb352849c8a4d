/* SPDX-License-Identifier: BSD-3-Clause */
/* parts_gpus.c: several GPUs are given the matrix, each that of its part: its row starts and its
 * columns, which are its own, are on the host only meanwhile; values are the matrix's. */
#include "lib/context.h"
#include "lib/status.h"
#include "solvers/parts.h"

static size_t copied_bytes(const yoke_plan *plan, const yk_part *part)
{
    int64_t nonzeros = yk_part_nonzeros(plan, part);
    return (size_t)(part->rows + 1) * yk_start_size(nonzeros) + (size_t)nonzeros * sizeof(int32_t);
}

size_t yk_parts_gpus_bytes(const yoke_plan *plan)
{
    size_t most = 0;
    for (int i = 0; i < plan->cg.gpus && yk_parts_have_entries(plan); i++) {
        size_t bytes = copied_bytes(plan, &plan->cg.part[i]);
        if (bytes > most) most = bytes;
    }
    return most;
}

/* Of the one part that has a CSR just now. */
static void fill_this(yk_cg *cg, yk_piece *piece, void *user)
{
    if (cg->part[piece->part].csr.column) yk_parts_fill_pattern(cg, piece, user);
}

static yoke_status give(yoke_plan *plan, const yk_part *part)
{
    const yk_engine *engine = yk_parts_engine(plan);
    if (plan->loaded) return engine->load_values(&plan->cg, part, &part->csr);
    return engine->load_matrix(&plan->cg, part, &part->csr, yk_parts_first_format(&plan->choice));
}

/* In memory of the caller's. */
static yoke_status fill_and_give(yoke_plan *plan, yk_part *part, void *start, int32_t *column)
{
    yk_csr *whole = &plan->matrix->csr;
    int64_t nonzeros = yk_part_nonzeros(plan, part);
    bool narrow = yk_start_size(nonzeros) == sizeof(int32_t);
    part->csr = (yk_csr){.rows = part->rows,
                         .nonzeros = nonzeros,
                         .start32 = narrow ? start : NULL,
                         .start64 = narrow ? NULL : start,
                         .column = column,
                         .value = whole->value + yk_row_start(whole, part->first)};
    if (narrow)
        ((int32_t *)start)[part->rows] = (int32_t)nonzeros;
    else
        ((int64_t *)start)[part->rows] = nonzeros;
    yk_team_run_for_gpu(&plan->cg, fill_this, whole);
    yoke_status status = give(plan, part);
    part->csr = (yk_csr){.rows = part->rows, .nonzeros = nonzeros};
    return status;
}

static yoke_status load(yoke_plan *plan, yk_part *part)
{
    yoke_context *context = plan->cg.context;
    int64_t nonzeros = yk_part_nonzeros(plan, part);
    size_t size = yk_start_size(nonzeros);
    void *start;
    int32_t *column;
    YK_TRY(yk_alloc(context, "row starts of a GPU's part", part->rows + 1, size, &start));
    yoke_status status =
        yk_alloc(context, "columns of a GPU's part", nonzeros, sizeof *column, &column);
    if (status == YOKE_OK) {
        status = fill_and_give(plan, part, start, column);
        yk_free(context, column, nonzeros, sizeof *column);
    }
    yk_free(context, start, part->rows + 1, size);
    return status;
}

yoke_status yk_parts_load_gpus(yoke_plan *plan)
{
    for (int i = 0; i < plan->cg.gpus; i++) YK_TRY(load(plan, &plan->cg.part[i]));
    return YOKE_OK;
}
