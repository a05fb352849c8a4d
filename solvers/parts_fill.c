/* SPDX-License-Identifier: BSD-3-Clause */
/* parts_fill.c: the memory of a plan's parts, and what is in it: vectors, matrices, new values.
 * Whatever is large is written first by the thread that will work on it. */
#include <string.h>

#include "lib/context.h"
#include "lib/spread.h"
#include "lib/status.h"
#include "solvers/cg/cuts.h"
#include "solvers/cg/ranks.h"
#include "solvers/homes.h"
#include "solvers/parts.h"
#include "solvers/reorder.h"

static yoke_status allocate_csr(yoke_plan *plan, yk_part *part)
{
    void *start = NULL, *column = NULL, *value = NULL;
    int64_t nonzeros = yk_part_nonzeros(plan, part);
    part->own_csr = true;
    part->csr = (yk_csr){.rows = part->rows, .nonzeros = nonzeros};
    YK_TRY(yk_alloc(plan->cg.context, "row starts of a part", part->rows + 1,
                    yk_start_size(nonzeros), &start));
    if (yk_start_size(nonzeros) == sizeof(int32_t)) {
        part->csr.start32 = start;
        ((int32_t *)start)[part->rows] = (int32_t)nonzeros;
    } else {
        part->csr.start64 = start;
        ((int64_t *)start)[part->rows] = nonzeros;
    }
    YK_TRY(yk_alloc(plan->cg.context, "columns of a part", nonzeros, sizeof(int32_t), &column));
    part->csr.column = column;
    YK_TRY(yk_alloc(plan->cg.context, "values of a part", nonzeros, sizeof(double), &value));
    part->csr.value = value;
    return YOKE_OK;
}

static yoke_status allocate_vectors(yoke_plan *plan, yk_part *part)
{
    yk_vector_slot slot[YK_MOST_VECTORS];
    int count = yk_part_vectors(plan, part, slot);
    for (int v = 0; v < count; v++)
        YK_TRY(yk_parts_engine(plan)->allocate(&plan->cg, part, slot[v].what, slot[v].length,
                                               slot[v].vector));
    if (!yk_parts_need_z(plan)) part->z = part->r;
    if (!part->q) part->q = part->w;
    if (!part->m[0]) part->m[0] = part->w;
    if (!part->m[1]) part->m[1] = part->m[0];
    return YOKE_OK;
}

/* What is another vector by alias is not given back twice. */
static void forget_aliases(yk_part *part)
{
    if (part->z == part->r) part->z = NULL;
    if (part->q == part->w) part->q = NULL;
    if (part->m[1] == part->m[0]) part->m[1] = NULL;
    if (part->m[0] == part->w) part->m[0] = NULL;
}

static void free_csr(yoke_plan *plan, yk_part *part)
{
    yoke_context *context = plan->cg.context;
    const yk_csr *csr = &part->csr;
    void *start = csr->start32 ? (void *)csr->start32 : (void *)csr->start64;
    if (!part->own_csr) return;
    yk_free(context, start, csr->rows + 1, yk_start_size(csr->nonzeros));
    yk_free(context, (void *)csr->column, csr->nonzeros, sizeof(int32_t));
    yk_free(context, (void *)csr->value, csr->nonzeros, sizeof(double));
    part->csr = (yk_csr){.rows = csr->rows, .nonzeros = csr->nonzeros};
    part->own_csr = false;
}

/* -------------------------------------------------------------------- fill */

static void touch_vectors(yk_cg *cg, yk_piece *piece, void *user)
{
    const yoke_plan *plan = user;
    yk_part part = cg->part[piece->part];
    yk_vector_slot slot[YK_MOST_VECTORS];
    int count = yk_part_vectors(plan, &part, slot);
    for (int v = 0; v < count; v++) {
        double *vector = *slot[v].vector;
        memset(vector + piece->first, 0, (size_t)(piece->last - piece->first) * sizeof(double));
        if (slot[v].length > part.rows)
            memset(vector + part.rows + piece->halo_first, 0,
                   (size_t)(piece->halo_last - piece->halo_first) * sizeof(double));
    }
}

static int32_t local_column(const yk_part *part, int64_t global)
{
    if (global >= part->first && global < part->first + part->rows)
        return (int32_t)(global - part->first);
    return (int32_t)(part->rows + yk_part_halo_position(part, global));
}

static void fill_columns(yk_cg *cg, yk_piece *piece, void *user)
{
    const yk_csr *whole = user;
    yk_part *part = &cg->part[piece->part];
    int64_t base = yk_row_start(whole, part->first);
    int64_t from = yk_row_start(whole, part->first + piece->first);
    int64_t to = yk_row_start(whole, part->first + piece->last);
    int32_t *column = (int32_t *)part->csr.column;
    for (int64_t k = from; k < to; k++) column[k - base] = local_column(part, whole->column[k]);
}

void yk_parts_fill_pattern(yk_cg *cg, yk_piece *piece, void *user)
{
    const yk_csr *whole = user;
    yk_part *part = &cg->part[piece->part];
    int64_t base = yk_row_start(whole, part->first);
    for (int64_t i = piece->first; i < piece->last; i++) {
        int64_t start = yk_row_start(whole, part->first + i) - base;
        if (part->csr.start32)
            ((int32_t *)part->csr.start32)[i] = (int32_t)start;
        else
            ((int64_t *)part->csr.start64)[i] = start;
    }
    fill_columns(cg, piece, user);
}

static void fill_values(yk_cg *cg, yk_piece *piece, void *user)
{
    const yk_csr *whole = user;
    yk_part *part = &cg->part[piece->part];
    int64_t base = yk_row_start(whole, part->first);
    int64_t from = yk_row_start(whole, part->first + piece->first);
    int64_t to = yk_row_start(whole, part->first + piece->last);
    memcpy((double *)part->csr.value + (from - base), whole->value + from,
           (size_t)(to - from) * sizeof(double));
}

/* Over ranks columns are local, in the order of others. */
static double diagonal_over_ranks(const yk_csr *csr, int64_t row)
{
    for (int64_t k = yk_row_start(csr, row); k < yk_row_start(csr, row + 1); k++)
        if (csr->column[k] == row) return csr->value[k];
    return 0.0;
}

/* The diagonal of a row of the matrix; 0 if it has no entry. */
static double diagonal_of(const yoke_matrix *matrix, int64_t row)
{
    const yk_csr *csr = &matrix->csr;
    if (matrix->is_operator) return matrix->op.diagonal[row];
    if (matrix->spread) return diagonal_over_ranks(csr, row);
    int64_t low = yk_row_start(csr, row), high = yk_row_start(csr, row + 1);
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (csr->column[middle] == row) return csr->value[middle];
        if (csr->column[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return 0.0;
}

/* Rows whose diagonal is not positive make the solve end as indefinite: see solve.c. */
static void fill_inverse_diagonal(yk_cg *cg, yk_piece *piece, void *user)
{
    const yoke_plan *plan = user;
    const yk_part *part = &cg->part[piece->part];
    bool gpu = part->owner == YK_OWNER_GPU;
    double *inverse = gpu ? plan->host_diagonal + part->first : part->inverse_diagonal;
    piece->bad_row = -1;
    for (int64_t i = piece->first; i < piece->last; i++) {
        double diagonal = diagonal_of(plan->matrix, part->first + i);
        int64_t given = yk_plan_given_row(plan, part->first + i);
        inverse[i] = 1.0 / diagonal;
        if (!(diagonal <= 0.0) || (piece->bad_row >= 0 && piece->bad_row < given)) continue;
        piece->bad_row = given;
        piece->largest = diagonal;
    }
}

static void note_bad_diagonal(yoke_plan *plan)
{
    plan->bad_diagonal_row = -1;
    for (int i = 0; i < plan->cg.pieces; i++) {
        const yk_piece *piece = &plan->cg.piece[i];
        int64_t first = plan->bad_diagonal_row;
        if (piece->bad_row < 0 || (first >= 0 && first < piece->bad_row)) continue;
        plan->bad_diagonal_row = piece->bad_row;
        plan->bad_diagonal = piece->largest;
    }
}

static yoke_status fill_diagonal(yoke_plan *plan)
{
    yk_cg *cg = &plan->cg;
    plan->bad_diagonal_row = -1;
    if (!plan->choice.jacobi) return YOKE_OK;
    yk_team_run_for_gpu(cg, fill_inverse_diagonal, plan);
    yk_team_run(cg, fill_inverse_diagonal, plan);
    note_bad_diagonal(plan);
    for (int i = 0; i < cg->gpus; i++) {
        const yk_part *part = &cg->part[i];
        YK_TRY(yk_parts_engine(plan)->load_vector(cg, part, part->inverse_diagonal,
                                                  plan->host_diagonal + part->first, part->rows));
    }
    return YOKE_OK;
}

/* What the others are made from comes first. */
const char *yk_parts_first_format(const yk_choice *choice)
{
    return choice->measure_format ? "csr" : choice->format;
}

static yoke_status give_gpu(yoke_plan *plan, const yk_csr *csr)
{
    const yk_engine *engine = yk_parts_engine(plan);
    const yk_part *part = yk_parts_gpu(plan);
    if (plan->loaded) return engine->load_values(&plan->cg, part, csr);
    return engine->load_matrix(&plan->cg, part, csr, yk_parts_first_format(&plan->choice));
}

/* In CSR new values are all that a GPU is given, and those of the first rows lie together. */
static yoke_status give_values(yoke_plan *plan)
{
    const yk_csr *whole = &plan->matrix->csr;
    const yk_part *part = yk_parts_gpu(plan);
    const yk_csr csr = {.rows = part->rows,
                        .nonzeros = yk_part_nonzeros(plan, part),
                        .value = whole->value + yk_row_start(whole, part->first)};
    return give_gpu(plan, &csr);
}

/* Over ranks, where it has all rows of this one: nothing is to be numbered anew. */
static bool has_columns_of_rank(const yoke_plan *plan, const yk_part *part)
{
    const yk_spread *spread = plan->matrix->spread;
    return spread && part->rows == plan->cg.rows && part->halo == spread->halo;
}

/* Beside other parts a GPU's has columns of its own, which are here as long as the GPU is given
 * them; as its rows are the first, their starts and values are the matrix's own. */
static yoke_status load_gpu(yoke_plan *plan)
{
    yk_cg *cg = &plan->cg;
    yk_csr *whole = &plan->matrix->csr;
    yk_part *part = yk_parts_gpu(plan);
    int32_t *column;
    if (!part || !yk_parts_have_entries(plan)) return YOKE_OK;
    if (cg->gpus > 1) return yk_parts_load_gpus(plan);
    if (!yk_parts_are_shared(plan) || has_columns_of_rank(plan, part)) return give_gpu(plan, whole);
    if (plan->loaded && strcmp(plan->choice.format, "csr") == 0) return give_values(plan);
    int64_t nonzeros = yk_part_nonzeros(plan, part);
    YK_TRY(yk_alloc(cg->context, "columns of a GPU's part", nonzeros, sizeof *column, &column));
    part->csr = *whole;
    part->csr.rows = part->rows;
    part->csr.nonzeros = nonzeros;
    part->csr.column = column;
    yk_team_run_for_gpu(cg, fill_columns, whole);
    yoke_status status = give_gpu(plan, &part->csr);
    yk_free(cg->context, column, nonzeros, sizeof *column);
    part->csr = (yk_csr){.rows = part->rows, .nonzeros = nonzeros};
    return status;
}

yoke_status yk_parts_fill_values(yoke_plan *plan)
{
    yk_cg *cg = &plan->cg;
    const yk_csr *csr = &plan->matrix->csr;
    if (cg->cuts) yk_cuts_hold(cg);
    if (yk_parts_copy_matrix(plan))
        yk_team_run(cg, fill_values, (void *)csr);
    else
        for (int i = 0; i < cg->parts; i++) cg->part[i].csr = *csr;
    YK_TRY(load_gpu(plan));
    plan->loaded = yk_parts_have_entries(plan); /* from now on values are refreshed */
    YK_TRY(fill_diagonal(plan));
    if (cg->cuts) yk_cuts_take(cg, cg->cuts->at);
    plan->version = atomic_load(&plan->matrix->version);
    return YOKE_OK;
}

/* Written first by the threads that will work on it; a GPU's is cleared as it is allocated. */
static yoke_status allocate_more(yoke_plan *plan)
{
    yk_cg *cg = &plan->cg;
    if (yk_parts_need_staging(plan))
        for (int i = 0; i < 2; i++)
            YK_TRY(yk_alloc(cg->context, "vectors for callbacks", cg->rows, sizeof(double),
                            &cg->staging[i]));
    yk_team_run(cg, touch_vectors, plan);
    if (cg->gpus == 0 || !plan->choice.jacobi) return YOKE_OK;
    return yk_alloc(cg->context, "diagonal", yk_parts_gpu_rows(plan), sizeof(double),
                    &plan->host_diagonal);
}

/* The matrix's own arrays where one owner has all of it; a GPU's part is filled when it is loaded.
 */
static yoke_status allocate_matrix(yoke_plan *plan, yk_part *part)
{
    const yk_csr *whole = &plan->matrix->csr;
    part->csr = *whole;
    if (!yk_parts_copy_matrix(plan)) return YOKE_OK;
    part->csr = (yk_csr){.rows = part->rows, .nonzeros = yk_part_nonzeros(plan, part)};
    return part->owner == YK_OWNER_CPU ? allocate_csr(plan, part) : YOKE_OK;
}

yoke_status yk_parts_allocate(yoke_plan *plan)
{
    yk_cg *cg = &plan->cg;
    if (yk_parts_engine(plan)->open) YK_TRY(yk_parts_engine(plan)->open(cg));
    if (cg->gpu_sms > 0 && cg->multiprocessors > 0)
        yk_plan_note(plan, "gpu_sms %d: this device works with %d multiprocessors", cg->gpu_sms,
                     cg->multiprocessors);
    YK_TRY(yk_parts_reserve(plan));
    for (int i = 0; i < cg->parts; i++) {
        YK_TRY(allocate_matrix(plan, &cg->part[i]));
        YK_TRY(allocate_vectors(plan, &cg->part[i]));
    }
    YK_TRY(allocate_more(plan));
    if (yk_parts_copy_matrix(plan)) yk_team_run(cg, yk_parts_fill_pattern, &plan->matrix->csr);
    YK_TRY(yk_parts_fill_values(plan));
    if (cg->gpus > 1) return YOKE_OK; /* whose engine has joined them */
    YK_TRY((plan->choice.memmode ? plan->choice.memmode : &yk_memmode_host)
               ->connect(cg->context, cg->part, yk_parts_ports(plan), cg->device, &cg->link));
    if (cg->cuts) yk_plan_widen_link(plan);
    if (!plan->matrix->spread) return YOKE_OK;
    return yk_cg_ranks_open(cg, plan->matrix->spread, &plan->matrix->csr);
}

/* -------------------------------------------------------------------- free */

static void free_part(yoke_plan *plan, yk_part *part)
{
    yoke_context *context = plan->cg.context;
    yk_vector_slot slot[YK_MOST_VECTORS];
    forget_aliases(part);
    int count = yk_part_vectors(plan, part, slot);
    for (int v = 0; v < count; v++)
        yk_parts_engine(plan)->release(&plan->cg, part, *slot[v].vector, slot[v].length);
    for (int s = 0; s < part->sends; s++)
        yk_free(context, part->send[s].row, part->send[s].count, sizeof(int32_t));
    yk_free(context, part->send, yk_parts_lists(plan), sizeof(yk_send));
    yk_free(context, part->halo_column, part->halo, sizeof(int64_t)); /* NULL over ranks */
    free_csr(plan, part);
}

void yk_parts_free(yoke_plan *plan)
{
    yk_cg *cg = &plan->cg;
    yk_cg_ranks_close(cg);
    if (cg->link.mode) cg->link.mode->disconnect(cg->context, &cg->link);
    for (int i = 0; i < cg->pieces_made; i++)
        yk_free(cg->context, cg->piece[i].send_first,
                2 * (int64_t)cg->part[cg->piece[i].part].sends, sizeof(int64_t));
    yk_free(cg->context, cg->piece, cg->pieces_made, sizeof(yk_piece));
    yk_free(cg->context, cg->pieces_of, cg->parts, sizeof(int));
    for (int i = 0; i < 2; i++) yk_free(cg->context, cg->staging[i], cg->rows, sizeof(double));
    yk_plan_free_cuts(plan); /* whose boundaries parts send */
    for (int i = 0; i < cg->parts; i++) free_part(plan, &cg->part[i]);
    yk_free(cg->context, plan->host_diagonal, yk_parts_gpu_rows(plan), sizeof(double));
    if (plan->choice.driver && yk_parts_engine(plan)->close) yk_parts_engine(plan)->close(cg);
    yk_free(cg->context, cg->part, cg->parts + 1, sizeof(yk_part));
}
