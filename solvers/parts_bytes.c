/* SPDX-License-Identifier: BSD-3-Clause */
/* parts_bytes.c: what the parts of a plan take, told and reserved before anything is taken. */
#include <stdio.h>
#include <string.h>

#include "lib/context.h"
#include "lib/status.h"
#include "solvers/cg/gpu_held.h"
#include "solvers/cg/ranks.h"
#include "solvers/homes.h"
#include "solvers/parts.h"
#include "solvers/reorder.h"

static size_t vector_bytes(const yoke_plan *plan, const yk_part *of)
{
    yk_part part = *of;
    yk_vector_slot slot[YK_MOST_VECTORS];
    int count = yk_part_vectors(plan, &part, slot);
    size_t bytes = 0;
    for (int v = 0; v < count; v++) bytes += (size_t)slot[v].length * sizeof(double);
    return bytes;
}

/* Of the matrix as it lies on the host for this part alone. */
static size_t csr_copy_bytes(const yoke_plan *plan, const yk_part *part)
{
    int64_t nonzeros = yk_part_nonzeros(plan, part);
    return (size_t)nonzeros * 12 + (size_t)(part->rows + 1) * yk_start_size(nonzeros);
}

/* Of the link, on a device or on the host. */
static size_t link_bytes(const yoke_plan *plan, bool on_device)
{
    size_t host, device;
    if (!plan->choice.memmode) return 0;
    plan->choice.memmode->bytes(plan->cg.part, yk_parts_ports(plan), &host, &device);
    return on_device ? device : host;
}

static size_t host_bytes(const yoke_plan *plan)
{
    const yk_cg *cg = &plan->cg;
    size_t bytes = sizeof *plan + (size_t)cg->pieces_made * sizeof(yk_piece);
    for (int i = 0; i < cg->parts; i++) {
        const yk_part *part = &cg->part[i];
        if (part->owner == YK_OWNER_CPU) bytes += vector_bytes(plan, part);
        bytes += (size_t)part->halo * sizeof(int64_t);
        for (int s = 0; s < part->sends && !cg->cuts; s++)
            bytes += (size_t)part->send[s].count * sizeof(int32_t);
        if (yk_parts_copy_matrix(plan) && part->owner == YK_OWNER_CPU)
            bytes += csr_copy_bytes(plan, part);
    }
    bytes += link_bytes(plan, false) + yk_plan_cuts_bytes(plan) + yk_reorder_bytes(plan);
    if (plan->matrix->spread) yk_cg_ranks_bytes(cg, plan->matrix->spread, &bytes);
    if (yk_parts_need_staging(plan)) bytes += 2 * (size_t)cg->rows * sizeof(double);
    return bytes;
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

/* Beside a matrix that comes anew for every product: messages. */
static size_t held_bytes(const yoke_plan *plan)
{
    bool may = plan->choice.residency != YK_RESIDENT_NEVER && yk_choice_makes_sell(&plan->choice);
    return may ? yk_held_memory() : 0;
}

/* How long a GPU part's matrix is. */
static yk_home_matrix gpu_lengths(const yoke_plan *plan, const yk_part *part)
{
    const int64_t nonzeros = yk_parts_have_entries(plan) ? yk_part_nonzeros(plan, part) : 0;
    return (yk_home_matrix){part->rows, nonzeros,
                            plan->matrix->csr.start32 ? sizeof(int32_t) : sizeof(int64_t)};
}

/* SELL of a part; the choice knows that of all rows which one GPU has. */
static size_t sell_bytes(const yoke_plan *plan, const yk_part *part)
{
    const yk_csr *whole = &plan->matrix->csr;
    if (!yk_choice_makes_sell(&plan->choice)) return 0;
    if (plan->cg.gpus == 1) return yk_sell_memory(&plan->choice.row_shape);
    yk_csr rows = {.rows = part->rows, .nonzeros = yk_part_nonzeros(plan, part)};
    if (whole->start32)
        rows.start32 = whole->start32 + part->first;
    else
        rows.start64 = whole->start64 + part->first;
    const yk_row_shape shape = yk_shape_of_rows(&rows, plan->choice.threads);
    return yk_sell_memory(&shape);
}

/* The matrix at most at a time on a device: SELL is made from CSR there. */
static size_t matrix_bytes(const yoke_plan *plan, const yk_part *part)
{
    const yk_home_matrix lengths = gpu_lengths(plan, part);
    if (!yk_parts_have_entries(plan)) return 0;
    return (size_t)(lengths.rows + 1) * lengths.start + 12 * (size_t)lengths.nonzeros +
           foreign_bytes(plan) + resident_bytes(plan) + held_bytes(plan) + sell_bytes(plan, part);
}

/* What a GPU's part takes of whom. */
static yk_home_bytes home_bytes(const yoke_plan *plan, const yk_part *part)
{
    size_t vectors = vector_bytes(plan, part), link = link_bytes(plan, true);
    yk_home_bytes bytes = {.device = vectors + matrix_bytes(plan, part)};
    const yk_home_matrix lengths = gpu_lengths(plan, part);
    if (plan->choice.place.kind != YK_HOME_OWNER) bytes = yk_home_take(plan, &lengths, vectors);
    bytes.device += link;
    return bytes;
}

/* Beside a device's: what the host needs to fill it. */
static size_t host_bytes_with_device(const yoke_plan *plan)
{
    size_t bytes = 0;
    const yk_part *part = yk_parts_gpu(plan);
    if (plan->choice.jacobi) bytes += (size_t)yk_parts_gpu_rows(plan) * sizeof(double);
    if (yk_parts_are_shared(plan)) bytes += (size_t)yk_part_nonzeros(plan, part) * sizeof(int32_t);
    if (plan->cg.gpus > 1) bytes += yk_parts_gpus_bytes(plan);
    if (yk_parts_have_entries(plan) && yk_choice_makes_sell(&plan->choice))
        bytes += yk_sell_slice_bytes(plan->choice.row_shape.slices);
    return bytes;
}

void yk_parts_bytes(const yoke_plan *plan, size_t *host, size_t *device)
{
    *host = *device = 0;
    if (yk_parts_engine(plan)->state_bytes)
        yk_parts_engine(plan)->state_bytes(&plan->cg, host, device);
    *host += host_bytes(plan);
    if (!yk_parts_gpu(plan)) return;
    for (int i = 0; i < plan->cg.gpus; i++) {
        const yk_home_bytes bytes = home_bytes(plan, &plan->cg.part[i]);
        *device += bytes.device + bytes.managed;
        /* What is then left alone of a card that has just enough. */
        if (bytes.managed > 0) *device += *device / (YK_MANAGED_MARGIN - 1) + 1;
        *host += bytes.host;
    }
    *host += host_bytes_with_device(plan);
}

static yoke_status reserve_now(yoke_plan *plan)
{
    for (int i = 0; i < plan->cg.gpus; i++) {
        const yk_part *part = &plan->cg.part[i];
        const yk_home_bytes bytes = home_bytes(plan, part);
        YK_TRY(yk_parts_engine(plan)->reserve(&plan->cg, part, bytes.device, bytes.managed));
    }
    return YOKE_OK;
}

/* The last share of the matrix goes to host memory, by name as if it had been asked for; and the
 * rest comes by pieces. */
static yoke_status spill(yoke_plan *plan, double share, const char *why)
{
    yk_home_spill(plan, share);
    YK_TRY(reserve_now(plan));
    yk_plan_note(plan, "home auto takes %s: %s", plan->choice.home, why);
    return YOKE_OK;
}

/* 1: the device cannot tell what it has. */
static double least_spill(yoke_plan *plan)
{
    const yk_home_matrix lengths = gpu_lengths(plan, yk_parts_gpu(plan));
    size_t available = 0, vectors = vector_bytes(plan, yk_parts_gpu(plan)) + link_bytes(plan, true);
    if (yk_parts_engine(plan)->available(&plan->cg, &available) != YOKE_OK) return 1.0;
    return yk_home_least_spill(plan, &lengths, vectors, available);
}

/* SELL alone, made by pieces, where there is no room for CSR beside it. */
static yoke_status take_by_pieces(yoke_plan *plan, bool *taken)
{
    yk_choice *choice = &plan->choice;
    const char *format = choice->format;
    char why[512];
    snprintf(why, sizeof why, "%s", yoke_error_text());
    *taken = false;
    if (!yk_choice_makes_sell(choice) || !yk_home_may_change(plan)) return YOKE_OK;
    choice->format = "sell";
    *taken = least_spill(plan) == 0.0;
    if (!*taken) {
        choice->format = format;
        return YOKE_OK;
    }
    choice->measure_format = false;
    return spill(plan, 0.0, why);
}

/* Where there is no room for what auto would add, less may do: no image for the persistent driver;
 * SELL without CSR beside it; CSR in place of SELL; then a share of the matrix in host memory, but
 * only where the rows were asked to be the GPU's: where that was auto's choice, the CPU may have
 * them. */
yoke_status yk_parts_reserve(yoke_plan *plan)
{
    yk_choice *choice = &plan->choice;
    if (!yk_parts_engine(plan)->reserve) return YOKE_OK;
    const char *format = choice->format;
    char why[512];
    bool taken;
    yoke_status status = reserve_now(plan);
    if (status == YOKE_NO_MEMORY && choice->residency == YK_RESIDENT_IF_FASTER) {
        choice->residency = plan->cg.residency = YK_RESIDENT_NEVER;
        status = reserve_now(plan);
    }
    if (status == YOKE_NO_MEMORY) {
        yoke_status by_pieces = take_by_pieces(plan, &taken);
        if (taken) return by_pieces;
    }
    if (status == YOKE_NO_MEMORY && choice->format_is_auto && yk_choice_makes_sell(choice)) {
        choice->format = "csr";
        choice->measure_format = false;
        status = reserve_now(plan);
    }
    if (status != YOKE_NO_MEMORY || choice->falls_back || !yk_home_may_change(plan)) return status;
    snprintf(why, sizeof why, "%s", yoke_error_text());
    choice->format = format;
    choice->measure_format = false;
    return spill(plan, least_spill(plan), why);
}
