/* SPDX-License-Identifier: BSD-3-Clause */
/* cuts.c: planning a cut that moves: the boundaries of all cuts of a window. Row i before a cut is
 * read from behind it where some row at or behind the cut has column i; so all that is asked of the
 * matrix is, for each column, the first and the last row that have it. */
#include "solvers/cg/cuts.h"

#include <stdlib.h>
#include <string.h>

#include "lib/context.h"
#include "lib/status.h"
#include "lib/threads.h"
#include "memmodes/halos.h"
#include "partition/balance.h"
#include "solvers/parts.h"

/* Rows by which each column is had. */
typedef struct reach {
    const yk_csr *csr;
    int32_t *first, *last; /* [rows] */
    yk_cuts *cuts;
    const yk_part *gpu, *cpu;
} reach;

/* ------------------------------------------------------------------- reach */

static void clear_reach(void *user, int64_t first, int64_t last)
{
    reach *r = user;
    for (int64_t i = first; i < last; i++) r->first[i] = r->last[i] = (int32_t)i;
}

static void lower(int32_t *value, int32_t to)
{
    int32_t seen = __atomic_load_n(value, __ATOMIC_RELAXED);
    while (to < seen &&
           !__atomic_compare_exchange_n(value, &seen, to, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

static void raise(int32_t *value, int32_t to)
{
    int32_t seen = __atomic_load_n(value, __ATOMIC_RELAXED);
    while (to > seen &&
           !__atomic_compare_exchange_n(value, &seen, to, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

static void note_rows(void *user, int64_t first, int64_t last)
{
    reach *r = user;
    for (int64_t i = first; i < last; i++)
        for (int64_t k = yk_row_start(r->csr, i); k < yk_row_start(r->csr, i + 1); k++) {
            int32_t column = r->csr->column[k];
            if (column > i) lower(&r->first[column], (int32_t)i);
            if (column < i) raise(&r->last[column], (int32_t)i);
        }
}

/* -------------------------------------------------------------- boundaries */

static void count_boundaries(void *user, int64_t first, int64_t last)
{
    reach *r = user;
    yk_cuts *cuts = r->cuts;
    for (int64_t k = first; k < last; k++) {
        int64_t cut = cuts->row[k], of_gpu = 0, of_cpu = 0;
        for (int64_t i = 0; i < cut; i++) of_gpu += r->last[i] >= cut;
        for (int64_t i = cut; i < r->csr->rows; i++) of_cpu += r->first[i] < cut;
        cuts->gpu_first[k + 1] = of_gpu;
        cuts->cpu_first[k + 1] = of_cpu;
    }
}

/* Where a part has a row in its vectors: its own, or a halo's. */
static int32_t place_in(const yk_part *part, int64_t row)
{
    if (row >= part->first && row < part->first + part->rows) return (int32_t)(row - part->first);
    return (int32_t)(part->rows + yk_part_halo_position(part, row));
}

static void list_boundaries(void *user, int64_t first, int64_t last)
{
    reach *r = user;
    const yk_cuts *cuts = r->cuts;
    for (int64_t k = first; k < last; k++) {
        int64_t cut = cuts->row[k], at = cuts->gpu_first[k];
        for (int64_t i = 0; i < cut; i++) {
            if (r->last[i] < cut) continue;
            cuts->gpu_row[at] = (int32_t)i;
            cuts->cpu_place[at++] = place_in(r->cpu, i);
        }
        at = cuts->cpu_first[k];
        for (int64_t i = cut; i < r->csr->rows; i++) {
            if (r->first[i] >= cut) continue;
            cuts->cpu_row[at] = place_in(r->cpu, i);
            cuts->gpu_place[at++] = place_in(r->gpu, i);
        }
    }
}

/* Entries of the lists, from counts to beginnings. */
static int64_t sum_up(yk_cuts *cuts)
{
    for (int k = 0; k < cuts->count; k++) {
        cuts->gpu_first[k + 1] += cuts->gpu_first[k];
        cuts->cpu_first[k + 1] += cuts->cpu_first[k];
    }
    return cuts->gpu_first[cuts->count] + cuts->cpu_first[cuts->count];
}

static void use_window(yk_cuts *cuts, const yk_window *window)
{
    cuts->count = window->count;
    cuts->at = window->at;
    memcpy(cuts->row, window->row, sizeof cuts->row);
    memset(cuts->gpu_first, 0, sizeof cuts->gpu_first);
    memset(cuts->cpu_first, 0, sizeof cuts->cpu_first);
}

/* Where a row has columns everywhere, each cut's boundary is all rows: then there are fewer cuts.
 * A row of a boundary takes 8 bytes on the host and as many on the device, an entry of the matrix
 * 12: all lists together are to be shorter than half of the entries. */
static void choose_cuts(yoke_plan *plan, reach *r)
{
    yk_window window = plan->choice.window;
    for (;;) {
        use_window(r->cuts, &window);
        yk_parallel_for(plan->choice.threads, window.count, 1, count_boundaries, r);
        int before = window.count;
        if (sum_up(r->cuts) <= r->csr->nonzeros / 2) return;
        yk_window_thin(&window, window.count - 1);
        if (window.count == before) return;
    }
}

static yoke_status allocate_lists(yoke_context *context, yk_cuts *cuts)
{
    const int64_t of_gpu = cuts->gpu_first[cuts->count], of_cpu = cuts->cpu_first[cuts->count];
    YK_TRY(yk_alloc(context, "boundaries", of_gpu, sizeof(int32_t), &cuts->gpu_row));
    YK_TRY(yk_alloc(context, "boundaries", of_gpu, sizeof(int32_t), &cuts->cpu_place));
    YK_TRY(yk_alloc(context, "boundaries", of_cpu, sizeof(int32_t), &cuts->cpu_row));
    return yk_alloc(context, "boundaries", of_cpu, sizeof(int32_t), &cuts->gpu_place);
}

static int64_t longest(const int64_t *first, int count)
{
    int64_t most = 0;
    for (int k = 0; k < count; k++)
        if (first[k + 1] - first[k] > most) most = first[k + 1] - first[k];
    return most;
}

static yoke_status find_boundaries(yoke_plan *plan, reach *r)
{
    const int threads = plan->choice.threads;
    yk_cuts *cuts = r->cuts;
    yk_parallel_for(threads, r->csr->rows, 512, clear_reach, r);
    yk_parallel_for(threads, r->csr->rows, 512, note_rows, r);
    choose_cuts(plan, r);
    YK_TRY(allocate_lists(plan->cg.context, cuts));
    yk_parallel_for(threads, cuts->count, 1, list_boundaries, r);
    plan->cg.part[0].moving.most = longest(cuts->cpu_first, cuts->count);
    plan->cg.part[1].moving.most = longest(cuts->gpu_first, cuts->count);
    return YOKE_OK;
}

/* -------------------------------------------------------------------- plan */

/* One neighbour each, to whom what is sent changes with the cut. */
static yoke_status make_sends(yk_cg *cg)
{
    for (int i = 0; i < 2; i++) {
        yk_part *part = &cg->part[i];
        YK_TRY(yk_alloc(cg->context, "send lists", cg->parts, sizeof(yk_send), &part->send));
        part->send[0] = (yk_send){.to = 1 - i};
        part->sends = 1;
    }
    return YOKE_OK;
}

yoke_status yk_plan_cuts(yoke_plan *plan)
{
    yk_cg *cg = &plan->cg;
    const int64_t rows = cg->rows;
    reach r = {.csr = &plan->matrix->csr, .gpu = &cg->part[0], .cpu = &cg->part[1]};
    cg->cuts = r.cuts = calloc(1, sizeof *cg->cuts);
    if (!cg->cuts) return yk_fail(YOKE_NO_MEMORY, "no memory for the cuts of a plan");
    cg->cuts->bytes = yk_bytes_before(r.csr, yk_parts_row_bytes(plan), rows);
    yoke_status status = yk_alloc(cg->context, "reach of rows", rows, sizeof(int32_t), &r.first);
    if (status == YOKE_OK)
        status = yk_alloc(cg->context, "reach of rows", rows, sizeof(int32_t), &r.last);
    if (status == YOKE_OK) status = find_boundaries(plan, &r);
    yk_free(cg->context, r.first, rows, sizeof(int32_t));
    yk_free(cg->context, r.last, rows, sizeof(int32_t));
    return status == YOKE_OK ? make_sends(cg) : status;
}

/* The widest tree of a part is not that of the most rows. */
void yk_plan_widen_link(yoke_plan *plan)
{
    const yk_cuts *cuts = plan->cg.cuts;
    int64_t end = yk_chunks(plan->cg.rows);
    int *nodes = &plan->cg.link.nodes;
    for (int k = 0; k < cuts->count; k++) {
        int64_t cut = cuts->row[k] / YK_CHUNK;
        int of_gpu = yk_link_nodes(0, cut), of_cpu = yk_link_nodes(cut, end);
        if (of_gpu > *nodes) *nodes = of_gpu;
        if (of_cpu > *nodes) *nodes = of_cpu;
    }
}

size_t yk_plan_cuts_bytes(const yoke_plan *plan)
{
    const yk_cuts *cuts = plan->cg.cuts;
    if (!cuts) return 0;
    size_t listed = (size_t)(cuts->gpu_first[cuts->count] + cuts->cpu_first[cuts->count]);
    return sizeof *cuts + 2 * listed * sizeof(int32_t);
}

void yk_plan_free_cuts(yoke_plan *plan)
{
    yoke_context *context = plan->cg.context;
    yk_cuts *cuts = plan->cg.cuts;
    if (!cuts) return;
    const int64_t of_gpu = cuts->gpu_first[cuts->count], of_cpu = cuts->cpu_first[cuts->count];
    yk_free(context, cuts->gpu_row, of_gpu, sizeof(int32_t));
    yk_free(context, cuts->cpu_place, of_gpu, sizeof(int32_t));
    yk_free(context, cuts->cpu_row, of_cpu, sizeof(int32_t));
    yk_free(context, cuts->gpu_place, of_cpu, sizeof(int32_t));
    for (int i = 0; i < plan->cg.parts; i++)
        if (plan->cg.part[i].sends > 0) plan->cg.part[i].send[0] = (yk_send){0};
    free(cuts);
    plan->cg.cuts = NULL;
}
