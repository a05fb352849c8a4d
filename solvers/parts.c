/* SPDX-License-Identifier: BSD-3-Clause */
/* parts.c: making the parts of a plan: the cut, the halos, the pieces of each thread. */
#include "solvers/parts.h"

#include <string.h>

#include "lib/context.h"
#include "lib/status.h"
#include "solvers/cg/cuts.h"
#include "solvers/cg/pieces.h"
#include "solvers/ranks.h"

/* ------------------------------------------------------------------- halos */

/* Marks the columns of rows [first, last) that lie outside. */
static int64_t mark_outside(const yk_csr *csr, int64_t first, int64_t last, uint64_t *marks)
{
    int64_t count = 0;
    for (int64_t k = yk_row_start(csr, first); k < yk_row_start(csr, last); k++) {
        int64_t column = csr->column[k];
        uint64_t bit = (uint64_t)1 << (column & 63);
        if ((column >= first && column < last) || (marks[column >> 6] & bit)) continue;
        marks[column >> 6] |= bit;
        count++;
    }
    return count;
}

static void list_marks(const uint64_t *marks, int64_t words, int64_t *column)
{
    int64_t count = 0;
    for (int64_t w = 0; w < words; w++)
        for (uint64_t left = marks[w]; left; left &= left - 1)
            column[count++] = w * 64 + __builtin_ctzll(left);
}

/* columns: of the matrix, which over ranks has more than rows. */
static yoke_status find_halo(yoke_context *context, const yk_csr *csr, int64_t columns,
                             yk_part *part)
{
    int64_t words = columns / 64 + 1;
    uint64_t *marks;
    YK_TRY(yk_alloc(context, "marks of the halo", words, sizeof *marks, &marks));
    memset(marks, 0, (size_t)words * sizeof *marks);
    int64_t count = mark_outside(csr, part->first, part->first + part->rows, marks);
    yoke_status status =
        yk_alloc(context, "halo columns", count, sizeof(int64_t), &part->halo_column);
    if (status == YOKE_OK) {
        part->halo = count;
        list_marks(marks, words, part->halo_column);
        if (part->rows + count > INT32_MAX)
            status =
                yk_fail(YOKE_OVERFLOW, "a part has %lld rows and %lld halo columns, beyond 32 bits",
                        (long long)part->rows, (long long)count);
    }
    yk_free(context, marks, words, sizeof *marks);
    return status;
}

/* ------------------------------------------------------------------- sends */

static yoke_status add_send(yoke_context *context, yk_part *from, const yk_part *to, int receiver)
{
    int64_t at = yk_part_halo_position(to, from->first);
    int64_t count = yk_part_halo_position(to, from->first + from->rows) - at;
    if (count == 0) return YOKE_OK;
    yk_send *send = &from->send[from->sends];
    YK_TRY(yk_alloc(context, "rows to send", count, sizeof(int32_t), &send->row));
    *send = (yk_send){.to = receiver, .count = count, .at = at, .row = send->row};
    from->sends++;
    for (int64_t k = 0; k < count; k++)
        send->row[k] = (int32_t)(to->halo_column[at + k] - from->first);
    return YOKE_OK;
}

static yoke_status find_sends(yoke_plan *plan)
{
    yk_cg *cg = &plan->cg;
    for (int i = 0; i < cg->parts; i++) {
        YK_TRY(yk_alloc(cg->context, "send lists", yk_parts_lists(plan), sizeof(yk_send),
                        &cg->part[i].send));
        for (int j = 0; j < cg->parts; j++)
            if (j != i) YK_TRY(add_send(cg->context, &cg->part[i], &cg->part[j], j));
    }
    return YOKE_OK;
}

/* ------------------------------------------------------------------ pieces */

/* A GPU's part has pieces for all threads, who fill what the GPU is given. */
static int threads_of_part(const yoke_plan *plan, int part)
{
    const yk_choice *choice = &plan->choice;
    if (part < choice->gpus) return choice->threads;
    int parts = choice->parts - choice->gpus, number = part - choice->gpus;
    int share = choice->threads / parts + (number < choice->threads % parts);
    return share > 0 ? share : 1;
}

/* Empty parts and parts of few chunks have fewer pieces than threads, but at least one. */
static int pieces_of_part(const yoke_plan *plan, int part)
{
    int64_t chunks = yk_chunks(plan->cg.part[part].rows), threads = threads_of_part(plan, part);
    return chunks < 1 ? 1 : (int)(chunks < threads ? chunks : threads);
}

static yoke_status make_piece(const yoke_plan *plan, int part, int share, yk_piece *piece)
{
    const yk_part *p = &plan->cg.part[part];
    const yk_shares shares = {.part = p,
                              .csr = &plan->matrix->csr,
                              .base = p->first,
                              .last = p->rows,
                              .halo = p->halo,
                              .row_bytes = yk_parts_row_bytes(plan),
                              .count = plan->cg.pieces_of[part]};
    piece->part = part;
    YK_TRY(yk_alloc(plan->cg.context, "send ranges", 2 * (int64_t)p->sends, sizeof(int64_t),
                    &piece->send_first));
    yk_piece_lay(&shares, share, piece);
    return YOKE_OK;
}

static yoke_status make_pieces(yoke_plan *plan)
{
    yk_cg *cg = &plan->cg;
    int count = 0, done = 0;
    YK_TRY(yk_alloc(cg->context, "pieces of the parts", cg->parts, sizeof(int), &cg->pieces_of));
    for (int i = 0; i < cg->parts; i++) count += cg->pieces_of[i] = pieces_of_part(plan, i);
    YK_TRY(yk_alloc(cg->context, "pieces", count, sizeof(yk_piece), &cg->piece));
    memset(cg->piece, 0, (size_t)count * sizeof(yk_piece));
    cg->pieces = cg->pieces_made = count;
    for (int i = 0; i < cg->parts; i++)
        for (int share = 0; share < cg->pieces_of[i]; share++)
            YK_TRY(make_piece(plan, i, share, &cg->piece[done++]));
    for (int i = 0; i < cg->gpus; i++) cg->gpu_pieces += cg->pieces_of[i];
    int worked_on = yk_parts_are_shared(plan) ? count - cg->gpu_pieces : count;
    cg->turns_m = cg->recurrence == YK_PIPELINED && !yk_parts_gpu(plan) && count > 1;
    cg->threads = plan->choice.threads < worked_on ? plan->choice.threads : worked_on;
    if (cg->cuts) cg->cuts->pieces = cg->pieces_of[1], cg->cuts->threads = cg->threads;
    return YOKE_OK;
}

/* ----------------------------------------------------------------- analyse */

/* Beside a cut that moves each part holds what any cut may give it. */
static void hold_window(yoke_plan *plan)
{
    const yk_window *window = &plan->choice.window;
    yk_part *gpu = &plan->cg.part[0], *cpu = &plan->cg.part[1];
    gpu->rows = window->row[window->count - 1];
    cpu->first = window->row[0];
    cpu->rows = plan->cg.rows - cpu->first;
    gpu->moving.on = cpu->moving.on = true;
}

yoke_status yk_parts_analyse(yoke_plan *plan)
{
    yk_cg *cg = &plan->cg;
    const yk_csr *csr = &plan->matrix->csr;
    int64_t *first;
    const yk_spread *spread = plan->matrix->spread;
    cg->rows = csr->rows;
    cg->all_rows = spread ? spread->all_rows : csr->rows;
    cg->first_chunk = spread ? spread->first_chunk : 0;
    YK_TRY(yk_alloc(cg->context, "parts", plan->choice.parts + 1, sizeof(yk_part), &cg->part));
    memset(cg->part, 0, (size_t)(plan->choice.parts + 1) * sizeof(yk_part));
    cg->parts = plan->choice.parts;
    YK_TRY(yk_alloc(cg->context, "cuts", cg->parts + 1, sizeof *first, &first));
    plan->choice.partition->cut(&(yk_cut_request){csr, cg->parts, plan->choice.gpu_rows,
                                                  yk_parts_row_bytes(plan), cg->gpus},
                                first);
    for (int i = 0; i < cg->parts; i++) {
        cg->part[i].owner = i < cg->gpus ? YK_OWNER_GPU : YK_OWNER_CPU;
        cg->part[i].first = first[i];
        cg->part[i].rows = first[i + 1] - first[i];
    }
    yk_free(cg->context, first, cg->parts + 1, sizeof *first);
    if (plan->choice.window.count > 0) hold_window(plan);
    if (cg->parts > 1 && yk_parts_have_entries(plan)) {
        int64_t columns = csr->rows + (spread ? spread->halo : 0);
        for (int i = 0; i < cg->parts; i++)
            YK_TRY(find_halo(cg->context, csr, columns, &cg->part[i]));
    }
    if (plan->choice.window.count > 0)
        YK_TRY(yk_plan_cuts(plan));
    else
        YK_TRY(find_sends(plan));
    if (spread) YK_TRY(yk_ranks_analyse(plan));
    return make_pieces(plan);
}
