/* SPDX-License-Identifier: BSD-3-Clause */
/* parts.c: making the parts of a plan: the cut, the halos, the pieces of each thread, memory.
 * Whatever is large is written first by the thread that will work on it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/context.h"
#include "lib/status.h"
#include "partition/balance.h"
#include "solvers/cg/bytes.h"
#include "solvers/homes.h"
#include "solvers/plan.h"

static bool has_entries(const yoke_plan *plan)
{
    return !plan->matrix->is_operator;
}

static double row_bytes(const yoke_plan *plan)
{
    return yk_cg_row_bytes(plan->choice.folded, plan->choice.jacobi);
}

/* The part of a GPU, with or without others beside it; NULL without a GPU. */
static yk_part *gpu_part(const yoke_plan *plan)
{
    yk_part *first = plan->cg.parts > 0 ? &plan->cg.part[0] : NULL;
    return first && first->owner == YK_OWNER_GPU ? first : NULL;
}

/* Whether a GPU and the CPU both own rows. */
static bool is_shared(const yoke_plan *plan)
{
    return gpu_part(plan) && plan->cg.parts > 1;
}

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

static yoke_status find_halo(yoke_context *context, const yk_csr *csr, yk_part *part)
{
    int64_t words = csr->rows / 64 + 1;
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

/* Position of the first halo column >= global. */
static int64_t halo_position(const yk_part *part, int64_t global)
{
    int64_t low = 0, high = part->halo;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (part->halo_column[middle] < global)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ------------------------------------------------------------------- sends */

static yoke_status add_send(yoke_context *context, yk_part *from, const yk_part *to, int receiver)
{
    int64_t at = halo_position(to, from->first);
    int64_t count = halo_position(to, from->first + from->rows) - at;
    if (count == 0) return YOKE_OK;
    yk_send *send = &from->send[from->sends];
    YK_TRY(yk_alloc(context, "rows to send", count, sizeof(int32_t), &send->row));
    *send = (yk_send){.to = receiver, .count = count, .at = at, .row = send->row};
    from->sends++;
    for (int64_t k = 0; k < count; k++)
        send->row[k] = (int32_t)(to->halo_column[at + k] - from->first);
    return YOKE_OK;
}

static yoke_status find_sends(yoke_context *context, yk_cg *cg)
{
    for (int i = 0; i < cg->parts; i++) {
        YK_TRY(yk_alloc(context, "send lists", cg->parts, sizeof(yk_send), &cg->part[i].send));
        for (int j = 0; j < cg->parts; j++)
            if (j != i) YK_TRY(add_send(context, &cg->part[i], &cg->part[j], j));
    }
    return YOKE_OK;
}

/* ------------------------------------------------------------------ pieces */

/* A GPU's part has pieces for all threads, who fill what the GPU is given. */
static int threads_of_part(const yoke_plan *plan, int part)
{
    const yk_choice *choice = &plan->choice;
    if (gpu_part(plan) == &plan->cg.part[part]) return choice->threads;
    int parts = choice->parts, number = part;
    if (gpu_part(plan)) parts--, number--;
    int share = choice->threads / parts + (number < choice->threads % parts);
    return share > 0 ? share : 1;
}

/* Empty parts and parts of few chunks have fewer pieces than threads, but at least one. */
static int pieces_of_part(const yoke_plan *plan, int part)
{
    int64_t chunks = yk_chunks(plan->cg.part[part].rows), threads = threads_of_part(plan, part);
    return chunks < 1 ? 1 : (int)(chunks < threads ? chunks : threads);
}

static int64_t first_row_at(const yk_send *send, int64_t row)
{
    int64_t low = 0, high = send->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (send->row[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static yoke_status make_piece(const yoke_plan *plan, int part, int share, int shares,
                              yk_piece *piece)
{
    const yk_part *p = &plan->cg.part[part];
    const yk_csr *csr = &plan->matrix->csr;
    int64_t last = p->first + p->rows;
    piece->part = part;
    piece->first = yk_cut_at_share(csr, row_bytes(plan), p->first, last, (double)share / shares);
    piece->last = yk_cut_at_share(csr, row_bytes(plan), p->first, last, (share + 1.0) / shares);
    if (share == 0) piece->first = p->first;
    if (share == shares - 1) piece->last = last;
    piece->first -= p->first;
    piece->last -= p->first;
    piece->halo_first = p->halo * share / shares;
    piece->halo_last = p->halo * (share + 1) / shares;
    YK_TRY(yk_alloc(plan->cg.context, "send ranges", 2 * (int64_t)p->sends, sizeof(int64_t),
                    &piece->send_first));
    for (int i = 0; i < p->sends; i++) {
        piece->send_first[2 * i] = first_row_at(&p->send[i], piece->first);
        piece->send_first[2 * i + 1] = first_row_at(&p->send[i], piece->last);
    }
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
    cg->pieces = count;
    for (int i = 0; i < cg->parts; i++)
        for (int share = 0; share < cg->pieces_of[i]; share++)
            YK_TRY(make_piece(plan, i, share, cg->pieces_of[i], &cg->piece[done++]));
    if (gpu_part(plan)) cg->gpu_pieces = cg->pieces_of[0];
    int worked_on = is_shared(plan) ? count - cg->gpu_pieces : count;
    cg->threads = plan->choice.threads < worked_on ? plan->choice.threads : worked_on;
    return YOKE_OK;
}

/* ----------------------------------------------------------------- analyse */

yoke_status yk_parts_analyse(yoke_plan *plan)
{
    yk_cg *cg = &plan->cg;
    const yk_csr *csr = &plan->matrix->csr;
    int64_t *first;
    cg->rows = csr->rows;
    YK_TRY(yk_alloc(cg->context, "parts", plan->choice.parts, sizeof(yk_part), &cg->part));
    memset(cg->part, 0, (size_t)plan->choice.parts * sizeof(yk_part));
    cg->parts = plan->choice.parts;
    YK_TRY(yk_alloc(cg->context, "cuts", cg->parts + 1, sizeof *first, &first));
    plan->choice.partition->cut(
        &(yk_cut_request){csr, cg->parts, plan->choice.gpu_rows, row_bytes(plan)}, first);
    for (int i = 0; i < cg->parts; i++) {
        cg->part[i].owner = i == 0 ? plan->choice.partition->owner : YK_OWNER_CPU;
        cg->part[i].first = first[i];
        cg->part[i].rows = first[i + 1] - first[i];
    }
    yk_free(cg->context, first, cg->parts + 1, sizeof *first);
    if (cg->parts > 1 && has_entries(plan)) {
        for (int i = 0; i < cg->parts; i++) YK_TRY(find_halo(cg->context, csr, &cg->part[i]));
    }
    YK_TRY(find_sends(cg->context, cg));
    return make_pieces(plan);
}

/* ------------------------------------------------------------------ memory */

static const yk_engine *engine_of(const yoke_plan *plan)
{
    return plan->choice.driver->engine;
}

static bool copies_matrix(const yoke_plan *plan)
{
    return plan->cg.parts > 1 && has_entries(plan);
}

static bool needs_staging(const yoke_plan *plan)
{
    return plan->cg.parts > 1 && (plan->preconditioner.apply || plan->matrix->is_operator);
}

static bool needs_z(const yoke_plan *plan)
{
    return plan->choice.jacobi || plan->preconditioner.apply;
}

static bool may_fold(const yoke_plan *plan)
{
    return plan->choice.folded || plan->choice.measure_shape;
}

/* The vectors of a part: where each goes and how long it is. */
typedef struct vector_slot {
    double **vector;
    int64_t length;
    const char *what;
} vector_slot;

enum { MOST_VECTORS = 10 };

static int list_vectors(const yoke_plan *plan, yk_part *part, vector_slot *slot)
{
    int64_t all = part->rows + part->halo;
    int count = 0;
    slot[count++] = (vector_slot){&part->x, all, "vector x"};
    slot[count++] = (vector_slot){&part->r, all, "vector r"};
    slot[count++] = (vector_slot){&part->p, all, "vector p"};
    if (needs_z(plan)) slot[count++] = (vector_slot){&part->z, all, "vector z"};
    if (may_fold(plan)) slot[count++] = (vector_slot){&part->p_old, all, "second vector p"};
    slot[count++] = (vector_slot){&part->q, part->rows, "vector q"};
    slot[count++] = (vector_slot){&part->b, part->rows, "vector b"};
    slot[count++] = (vector_slot){&part->best, part->rows, "snapshot of x"};
    if (plan->choice.jacobi)
        slot[count++] = (vector_slot){&part->inverse_diagonal, part->rows, "inverse diagonal"};
    return count;
}

static int64_t part_nonzeros(const yoke_plan *plan, const yk_part *part)
{
    const yk_csr *csr = &plan->matrix->csr;
    return yk_row_start(csr, part->first + part->rows) - yk_row_start(csr, part->first);
}

static size_t start_size(int64_t nonzeros)
{
    return nonzeros <= INT32_MAX ? sizeof(int32_t) : sizeof(int64_t);
}

static size_t vector_bytes(const yoke_plan *plan, const yk_part *of)
{
    yk_part part = *of;
    vector_slot slot[MOST_VECTORS];
    int count = list_vectors(plan, &part, slot);
    size_t bytes = 0;
    for (int v = 0; v < count; v++) bytes += (size_t)slot[v].length * sizeof(double);
    return bytes;
}

/* Of the matrix as it lies on the host for this part alone. */
static size_t csr_copy_bytes(const yoke_plan *plan, const yk_part *part)
{
    int64_t nonzeros = part_nonzeros(plan, part);
    return (size_t)nonzeros * 12 + (size_t)(part->rows + 1) * start_size(nonzeros);
}

/* Of the link, on a device or on the host. */
static size_t link_bytes(const yoke_plan *plan, bool on_device)
{
    size_t host, device;
    if (!plan->choice.memmode) return 0;
    plan->choice.memmode->bytes(plan->cg.part, plan->cg.parts, &host, &device);
    return on_device ? device : host;
}

static size_t host_bytes(const yoke_plan *plan)
{
    const yk_cg *cg = &plan->cg;
    size_t bytes = sizeof *plan + (size_t)cg->pieces * sizeof(yk_piece);
    for (int i = 0; i < cg->parts; i++) {
        const yk_part *part = &cg->part[i];
        if (part->owner == YK_OWNER_CPU) bytes += vector_bytes(plan, part);
        bytes += (size_t)part->halo * sizeof(int64_t);
        for (int s = 0; s < part->sends; s++)
            bytes += (size_t)part->send[s].count * sizeof(int32_t);
        if (copies_matrix(plan) && part->owner == YK_OWNER_CPU) bytes += csr_copy_bytes(plan, part);
    }
    bytes += link_bytes(plan, false);
    if (needs_staging(plan)) bytes += 2 * (size_t)cg->rows * sizeof(double);
    return bytes;
}

static bool makes_sell(const yk_choice *choice)
{
    return choice->measure_format || strcmp(choice->format, "sell") == 0;
}

/* cuSPARSE's own row starts, where the matrix's are wide; its buffer is told by the library alone,
 * once the matrix lies there. */
static size_t foreign_bytes(const yoke_plan *plan)
{
    const yk_csr *csr = &plan->matrix->csr;
    bool narrows = plan->choice.foreign_product && csr->start64;
    return narrows ? (size_t)(csr->rows + 1) * sizeof(int32_t) : 0;
}

/* Whether the persistent driver may take the system, as far as it can be told without a device. */
static bool may_be_resident(const yoke_plan *plan)
{
    const yk_csr *csr = &plan->matrix->csr;
    bool asked = plan->choice.residency == YK_RESIDENT_ASKED;
    int64_t chunks = asked ? YK_RESIDENT_CHUNKS : YK_RESIDENT_AUTO_CHUNKS;
    return plan->choice.residency != YK_RESIDENT_NEVER &&
           yk_chunks(csr->rows) <= chunks * YK_RESIDENT_BLOCKS;
}

/* What it keeps beside the matrix, at most: the entries again, with padding of a slice a block, and
 * of three entries a row where four threads share one; some bytes a row; halos. */
static size_t resident_bytes(const yoke_plan *plan)
{
    const yk_csr *csr = &plan->matrix->csr;
    if (!may_be_resident(plan)) return 0;
    size_t rows = (size_t)csr->rows, nonzeros = (size_t)csr->nonzeros;
    size_t blocks = (size_t)yk_chunks(csr->rows);
    if (blocks > YK_RESIDENT_BLOCKS) blocks = YK_RESIDENT_BLOCKS;
    size_t entries = nonzeros + 3 * rows + blocks * 32 * (size_t)plan->choice.row_shape.longest;
    size_t halo = blocks * rows < nonzeros ? blocks * rows : nonzeros;
    return YK_RESIDENT_ENTRY * entries + 4 * halo + 32 * (rows + YK_CHUNK * blocks) + 65536;
}

/* How long the GPU part's matrix is. */
static yk_home_matrix gpu_lengths(const yoke_plan *plan)
{
    const yk_part *part = gpu_part(plan);
    const int64_t nonzeros = has_entries(plan) ? part_nonzeros(plan, part) : 0;
    return (yk_home_matrix){part->rows, nonzeros,
                            plan->matrix->csr.start32 ? sizeof(int32_t) : sizeof(int64_t)};
}

/* The matrix at most at a time on a device: SELL is made from CSR there. */
static size_t matrix_bytes(const yoke_plan *plan)
{
    const yk_home_matrix lengths = gpu_lengths(plan);
    if (!has_entries(plan)) return 0;
    return (size_t)(lengths.rows + 1) * lengths.start + 12 * (size_t)lengths.nonzeros +
           foreign_bytes(plan) + resident_bytes(plan) +
           (makes_sell(&plan->choice) ? yk_sell_memory(&plan->choice.row_shape) : 0);
}

/* What a GPU's part takes of whom. */
static yk_home_bytes home_bytes(const yoke_plan *plan)
{
    size_t vectors = vector_bytes(plan, gpu_part(plan)), link = link_bytes(plan, true);
    yk_home_bytes bytes = {.device = vectors + matrix_bytes(plan)};
    const yk_home_matrix lengths = gpu_lengths(plan);
    if (plan->choice.place.kind != YK_HOME_OWNER) bytes = yk_home_take(plan, &lengths, vectors);
    bytes.device += link;
    return bytes;
}

/* Beside a device's: what the host needs to fill it. */
static size_t host_bytes_with_device(const yoke_plan *plan)
{
    size_t bytes = 0;
    const yk_part *part = gpu_part(plan);
    if (plan->choice.jacobi) bytes += (size_t)part->rows * sizeof(double);
    if (is_shared(plan)) bytes += (size_t)part_nonzeros(plan, part) * sizeof(int32_t);
    if (has_entries(plan) && makes_sell(&plan->choice))
        bytes += yk_sell_slice_bytes(plan->choice.row_shape.slices);
    return bytes;
}

void yk_parts_bytes(const yoke_plan *plan, size_t *host, size_t *device)
{
    *host = *device = 0;
    if (engine_of(plan)->state_bytes) engine_of(plan)->state_bytes(&plan->cg, host, device);
    *host += host_bytes(plan);
    if (!gpu_part(plan)) return;
    const yk_home_bytes bytes = home_bytes(plan);
    *device += bytes.device + bytes.managed;
    *host += host_bytes_with_device(plan) + bytes.host;
}

static yoke_status reserve_now(yoke_plan *plan)
{
    const yk_home_bytes bytes = home_bytes(plan);
    return engine_of(plan)->reserve(&plan->cg, bytes.device, bytes.managed);
}

/* The last share of the matrix goes to host memory, by name as if it had been asked for. */
static yoke_status spill(yoke_plan *plan)
{
    const yk_home_matrix lengths = gpu_lengths(plan);
    size_t available = 0;
    char why[512];
    snprintf(why, sizeof why, "%s", yoke_error_text());
    YK_TRY(engine_of(plan)->available(&plan->cg, &available));
    yk_home_spill(plan, &lengths, vector_bytes(plan, gpu_part(plan)) + link_bytes(plan, true),
                  available);
    YK_TRY(reserve_now(plan));
    yk_plan_note(plan, "home auto takes %s: %s", plan->choice.home, why);
    return YOKE_OK;
}

/* Where there is no room for what auto would add, less may do: no image for the persistent driver;
 * CSR in place of SELL; then a share of the matrix in host memory. */
static yoke_status reserve(yoke_plan *plan)
{
    yk_choice *choice = &plan->choice;
    if (!engine_of(plan)->reserve) return YOKE_OK;
    const char *format = choice->format;
    yoke_status status = reserve_now(plan);
    if (status == YOKE_NO_MEMORY && choice->residency == YK_RESIDENT_IF_FASTER) {
        choice->residency = plan->cg.residency = YK_RESIDENT_NEVER;
        status = reserve_now(plan);
    }
    if (status == YOKE_NO_MEMORY && choice->format_is_auto && makes_sell(choice)) {
        choice->format = "csr";
        choice->measure_format = false;
        status = reserve_now(plan);
    }
    if (status != YOKE_NO_MEMORY || !yk_home_may_spill(plan)) return status;
    choice->format = format;
    choice->measure_format = false;
    return spill(plan);
}

/* The part's matrix, empty, in local columns. */
static yoke_status allocate_csr(yoke_plan *plan, yk_part *part)
{
    void *start = NULL, *column = NULL, *value = NULL;
    int64_t nonzeros = part_nonzeros(plan, part);
    part->own_csr = true;
    part->csr = (yk_csr){.rows = part->rows, .nonzeros = nonzeros};
    YK_TRY(yk_alloc(plan->cg.context, "row starts of a part", part->rows + 1, start_size(nonzeros),
                    &start));
    if (start_size(nonzeros) == sizeof(int32_t)) {
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
    vector_slot slot[MOST_VECTORS];
    int count = list_vectors(plan, part, slot);
    for (int v = 0; v < count; v++)
        YK_TRY(engine_of(plan)->allocate(&plan->cg, part, slot[v].what, slot[v].length,
                                         slot[v].vector));
    if (!needs_z(plan)) part->z = part->r;
    return YOKE_OK;
}

static void free_csr(yoke_plan *plan, yk_part *part)
{
    yoke_context *context = plan->cg.context;
    const yk_csr *csr = &part->csr;
    void *start = csr->start32 ? (void *)csr->start32 : (void *)csr->start64;
    if (!part->own_csr) return;
    yk_free(context, start, csr->rows + 1, start_size(csr->nonzeros));
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
    vector_slot slot[MOST_VECTORS];
    int count = list_vectors(plan, &part, slot);
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
    return (int32_t)(part->rows + halo_position(part, global));
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

static void fill_pattern(yk_cg *cg, yk_piece *piece, void *user)
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

/* The diagonal of a global row; 0 if it has no entry. */
static double diagonal_of(const yoke_matrix *matrix, int64_t row)
{
    const yk_csr *csr = &matrix->csr;
    if (matrix->is_operator) return matrix->op.diagonal[row];
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
    double *inverse = gpu ? plan->host_diagonal : part->inverse_diagonal;
    piece->bad_row = -1;
    for (int64_t i = piece->first; i < piece->last; i++) {
        double diagonal = diagonal_of(plan->matrix, part->first + i);
        inverse[i] = 1.0 / diagonal;
        if (!(diagonal <= 0.0) || piece->bad_row >= 0) continue;
        piece->bad_row = part->first + i;
        piece->largest = diagonal;
    }
}

static void note_bad_diagonal(yoke_plan *plan)
{
    plan->bad_diagonal_row = -1;
    for (int i = plan->cg.pieces - 1; i >= 0; i--) {
        if (plan->cg.piece[i].bad_row < 0) continue;
        plan->bad_diagonal_row = plan->cg.piece[i].bad_row;
        plan->bad_diagonal = plan->cg.piece[i].largest;
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
    const yk_part *part = gpu_part(plan);
    if (!part) return YOKE_OK;
    return engine_of(plan)->load_vector(cg, part->inverse_diagonal, plan->host_diagonal,
                                        part->rows);
}

/* What the others are made from comes first. */
static const char *first_format(const yk_choice *choice)
{
    return choice->measure_format ? "csr" : choice->format;
}

static yoke_status give_gpu(yoke_plan *plan, const yk_csr *csr)
{
    const yk_engine *engine = engine_of(plan);
    if (plan->loaded) return engine->load_values(&plan->cg, csr);
    return engine->load_matrix(&plan->cg, csr, first_format(&plan->choice));
}

/* In CSR new values are all that a GPU is given, and those of the first rows lie together. */
static yoke_status give_values(yoke_plan *plan)
{
    const yk_csr *whole = &plan->matrix->csr;
    const yk_part *part = gpu_part(plan);
    const yk_csr csr = {.rows = part->rows,
                        .nonzeros = part_nonzeros(plan, part),
                        .value = whole->value + yk_row_start(whole, part->first)};
    return give_gpu(plan, &csr);
}

/* Beside other parts a GPU's has columns of its own, which are here as long as the GPU is given
 * them; as its rows are the first, their starts and values are the matrix's own. */
static yoke_status load_gpu(yoke_plan *plan)
{
    yk_cg *cg = &plan->cg;
    yk_csr *whole = &plan->matrix->csr;
    yk_part *part = gpu_part(plan);
    int32_t *column;
    if (!part || !has_entries(plan)) return YOKE_OK;
    if (!is_shared(plan)) return give_gpu(plan, whole);
    if (plan->loaded && strcmp(plan->choice.format, "csr") == 0) return give_values(plan);
    int64_t nonzeros = part_nonzeros(plan, part);
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
    if (copies_matrix(plan))
        yk_team_run(cg, fill_values, (void *)csr);
    else
        for (int i = 0; i < cg->parts; i++) cg->part[i].csr = *csr;
    YK_TRY(load_gpu(plan));
    plan->loaded = has_entries(plan); /* from now on values are refreshed */
    YK_TRY(fill_diagonal(plan));
    plan->version = atomic_load(&plan->matrix->version);
    return YOKE_OK;
}

/* Written first by the threads that will work on it; a GPU's is cleared as it is allocated. */
static yoke_status allocate_more(yoke_plan *plan)
{
    yk_cg *cg = &plan->cg;
    if (needs_staging(plan))
        for (int i = 0; i < 2; i++)
            YK_TRY(yk_alloc(cg->context, "vectors for callbacks", cg->rows, sizeof(double),
                            &cg->staging[i]));
    yk_team_run(cg, touch_vectors, plan);
    const yk_part *part = gpu_part(plan);
    if (!part || !plan->choice.jacobi) return YOKE_OK;
    return yk_alloc(cg->context, "diagonal", part->rows, sizeof(double), &plan->host_diagonal);
}

/* The matrix's own arrays where one owner has all of it; a GPU's part is filled when it is loaded.
 */
static yoke_status allocate_matrix(yoke_plan *plan, yk_part *part)
{
    const yk_csr *whole = &plan->matrix->csr;
    part->csr = *whole;
    if (!copies_matrix(plan)) return YOKE_OK;
    part->csr = (yk_csr){.rows = part->rows, .nonzeros = part_nonzeros(plan, part)};
    return part->owner == YK_OWNER_CPU ? allocate_csr(plan, part) : YOKE_OK;
}

yoke_status yk_parts_allocate(yoke_plan *plan)
{
    yk_cg *cg = &plan->cg;
    if (engine_of(plan)->open) YK_TRY(engine_of(plan)->open(cg));
    if (cg->gpu_sms > 0 && cg->multiprocessors > 0)
        yk_plan_note(plan, "gpu_sms %d: this device works with %d multiprocessors", cg->gpu_sms,
                     cg->multiprocessors);
    YK_TRY(reserve(plan));
    for (int i = 0; i < cg->parts; i++) {
        YK_TRY(allocate_matrix(plan, &cg->part[i]));
        YK_TRY(allocate_vectors(plan, &cg->part[i]));
    }
    YK_TRY(allocate_more(plan));
    if (copies_matrix(plan)) yk_team_run(cg, fill_pattern, &plan->matrix->csr);
    YK_TRY(yk_parts_fill_values(plan));
    return (plan->choice.memmode ? plan->choice.memmode : &yk_memmode_host)
        ->connect(cg->context, cg->part, cg->parts, cg->device, &cg->link);
}

/* -------------------------------------------------------------------- free */

static void free_part(yoke_plan *plan, yk_part *part)
{
    yoke_context *context = plan->cg.context;
    vector_slot slot[MOST_VECTORS];
    if (part->z == part->r) part->z = NULL;
    int count = list_vectors(plan, part, slot);
    for (int v = 0; v < count; v++)
        engine_of(plan)->release(&plan->cg, part, *slot[v].vector, slot[v].length);
    for (int s = 0; s < part->sends; s++)
        yk_free(context, part->send[s].row, part->send[s].count, sizeof(int32_t));
    yk_free(context, part->send, plan->cg.parts, sizeof(yk_send));
    yk_free(context, part->halo_column, part->halo, sizeof(int64_t));
    free_csr(plan, part);
}

void yk_parts_free(yoke_plan *plan)
{
    yk_cg *cg = &plan->cg;
    if (cg->link.mode) cg->link.mode->disconnect(cg->context, &cg->link);
    for (int i = 0; i < cg->pieces; i++)
        yk_free(cg->context, cg->piece[i].send_first,
                2 * (int64_t)cg->part[cg->piece[i].part].sends, sizeof(int64_t));
    yk_free(cg->context, cg->piece, cg->pieces, sizeof(yk_piece));
    yk_free(cg->context, cg->pieces_of, cg->parts, sizeof(int));
    for (int i = 0; i < 2; i++) yk_free(cg->context, cg->staging[i], cg->rows, sizeof(double));
    for (int i = 0; i < cg->parts; i++) free_part(plan, &cg->part[i]);
    if (gpu_part(plan))
        yk_free(cg->context, plan->host_diagonal, gpu_part(plan)->rows, sizeof(double));
    if (plan->choice.driver && engine_of(plan)->close) engine_of(plan)->close(cg);
    yk_free(cg->context, cg->part, cg->parts, sizeof(yk_part));
}
