/* SPDX-License-Identifier: BSD-3-Clause */
/* parts.h: what parts.c, parts_bytes.c and parts_fill.c all ask of a plan. */
#ifndef YK_PARTS_H
#define YK_PARTS_H

#include <string.h>

#include "solvers/cg/bytes.h"
#include "solvers/cg/ranks.h"
#include "solvers/plan.h"

static inline bool yk_parts_have_entries(const yoke_plan *plan)
{
    return !plan->matrix->is_operator;
}

static inline double yk_parts_row_bytes(const yoke_plan *plan)
{
    return yk_recurrence_row_bytes(plan->choice.recurrence, plan->choice.folded,
                                   plan->choice.jacobi);
}

/* Of send lists: to other parts, and over ranks to those. */
static inline int64_t yk_parts_lists(const yoke_plan *plan)
{
    const yk_spread *spread = plan->matrix->spread;
    return plan->cg.parts + (spread ? spread->sends : 0);
}

/* Parts, and over ranks, beside a GPU, what stands for other ranks: it has no rows, and for a halo
 * what this rank sends. */
static inline int yk_parts_ports(const yoke_plan *plan)
{
    return plan->cg.parts + yk_cg_ranks_have_port(&plan->cg, plan->matrix->spread);
}

/* The part of a GPU, with or without others beside it, of several the first; NULL without a GPU. */
static inline yk_part *yk_parts_gpu(const yoke_plan *plan)
{
    yk_part *first = plan->cg.parts > 0 ? &plan->cg.part[0] : NULL;
    return first && first->owner == YK_OWNER_GPU ? first : NULL;
}

/* Whether a GPU and the CPU both own rows. */
static inline bool yk_parts_are_shared(const yoke_plan *plan)
{
    return yk_parts_gpu(plan) && plan->cg.parts > plan->cg.gpus;
}

/* Of all GPUs, which come first. */
static inline int64_t yk_parts_gpu_rows(const yoke_plan *plan)
{
    int64_t rows = 0;
    for (int i = 0; i < plan->cg.gpus && i < plan->cg.parts; i++) rows += plan->cg.part[i].rows;
    return rows;
}

/* Position of the first halo column >= global. */
static inline int64_t yk_part_halo_position(const yk_part *part, int64_t global)
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

static inline const yk_engine *yk_parts_engine(const yoke_plan *plan)
{
    return plan->choice.driver->engine;
}

static inline bool yk_parts_copy_matrix(const yoke_plan *plan)
{
    return plan->cg.parts > 1 && yk_parts_have_entries(plan);
}

static inline bool yk_parts_need_staging(const yoke_plan *plan)
{
    return plan->cg.parts > 1 && (plan->preconditioner.apply || plan->matrix->is_operator);
}

static inline bool yk_parts_need_z(const yoke_plan *plan)
{
    return plan->choice.jacobi || plan->preconditioner.apply;
}

static inline bool yk_parts_may_fold(const yoke_plan *plan)
{
    return plan->choice.folded || plan->choice.measure_shape;
}

/* The vectors of a part: where each goes and how long it is. */
typedef struct yk_vector_slot {
    double **vector;
    int64_t length;
    const char *what;
} yk_vector_slot;

enum { YK_MOST_VECTORS = 13 };

/* Of the recurrences with one sum, beside those of all: into slot; returns how many. */
static inline int yk_part_more_vectors(const yoke_plan *plan, yk_part *part, yk_vector_slot *slot)
{
    int64_t all = part->rows + part->halo;
    int count = 0;
    if (plan->choice.recurrence == YK_CLASSICAL) return 0;
    bool w_is_m = plan->choice.recurrence == YK_PIPELINED && !plan->choice.jacobi &&
                  !plan->cg.turns_m; /* over ranks with a halo, else without */
    slot[count++] = (yk_vector_slot){&part->w, w_is_m ? all : part->rows, "vector w"};
    slot[count++] = (yk_vector_slot){&part->s, part->rows, "vector s"};
    if (plan->choice.recurrence == YK_SINGLE) return count;
    slot[count++] = (yk_vector_slot){&part->t, part->rows, "vector t"};
    if (plan->choice.jacobi || plan->cg.turns_m)
        slot[count++] = (yk_vector_slot){&part->m[0], all, "vector m"};
    if (plan->cg.turns_m) slot[count++] = (yk_vector_slot){&part->m[1], all, "second vector m"};
    return count;
}

/* Lists them into slot; returns how many. */
static inline int yk_part_vectors(const yoke_plan *plan, yk_part *part, yk_vector_slot *slot)
{
    int64_t all = part->rows + part->halo;
    int count = 0;
    slot[count++] = (yk_vector_slot){&part->x, all, "vector x"};
    slot[count++] = (yk_vector_slot){&part->r, all, "vector r"};
    slot[count++] = (yk_vector_slot){&part->p, all, "vector p"};
    if (yk_parts_need_z(plan)) slot[count++] = (yk_vector_slot){&part->z, all, "vector z"};
    if (yk_parts_may_fold(plan))
        slot[count++] = (yk_vector_slot){&part->p_old, all, "second vector p"};
    if (plan->choice.recurrence != YK_SINGLE)
        slot[count++] = (yk_vector_slot){&part->q, part->rows, "vector q"};
    slot[count++] = (yk_vector_slot){&part->b, part->rows, "vector b"};
    slot[count++] = (yk_vector_slot){&part->best, part->rows, "snapshot of x"};
    if (plan->choice.jacobi)
        slot[count++] = (yk_vector_slot){&part->inverse_diagonal, part->rows, "inverse diagonal"};
    return count + yk_part_more_vectors(plan, part, slot + count);
}

static inline int64_t yk_part_nonzeros(const yoke_plan *plan, const yk_part *part)
{
    const yk_csr *csr = &plan->matrix->csr;
    return yk_row_start(csr, part->first + part->rows) - yk_row_start(csr, part->first);
}

/* Of a row start, for so many nonzeros. */
static inline size_t yk_start_size(int64_t nonzeros)
{
    return nonzeros <= INT32_MAX ? sizeof(int32_t) : sizeof(int64_t);
}

static inline bool yk_choice_makes_sell(const yk_choice *choice)
{
    return choice->measure_format || strcmp(choice->format, "sell") == 0;
}

/* cuts.c: the cuts that a moving one may take, with the boundaries of each, from the parts' halos;
 * what its link must have room for, once it is there; bytes on the host; their end. */
yoke_status yk_plan_cuts(yoke_plan *plan);
void yk_plan_widen_link(yoke_plan *plan);
size_t yk_plan_cuts_bytes(const yoke_plan *plan);
void yk_plan_free_cuts(yoke_plan *plan);

/* parts_gpus.c: of several GPUs, each is given the matrix of its part, or new values of it. */
yoke_status yk_parts_load_gpus(yoke_plan *plan);
size_t yk_parts_gpus_bytes(const yoke_plan *plan); /* on the host, while that lasts */

/* parts_fill.c: a piece's columns, and its row starts as well, of a part's own CSR from the whole
 * one, which is the user's argument; and the format that a GPU is first given. */
void yk_parts_fill_pattern(yk_cg *cg, yk_piece *piece, void *user);
const char *yk_parts_first_format(const yk_choice *choice);

/* parts_bytes.c: refuses what is more than is free; where auto may, something that takes less. */
yoke_status yk_parts_reserve(yoke_plan *plan);

#endif
