/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.h: the loop over ranks. Inside a rank the parts meet as ever; its first worker, which is
 * the thread that called the library, then meets the other ranks for all of them:
 *
 *   direction | gate | multiply what needs no halo | z of the halo has come | its direction | gate
 * | multiply the rest | meet, reduce | update, pack z | meet, send z, reduce
 *
 * (folded: without directions and gates). Of a GPU beside the team the first worker enqueues what
 * that has to do: together_ranks.c. Between the parts and other ranks z and x go through host
 * memory, of a plan with a GPU the link's: there is a port more than parts, whose halo is what this
 * rank sends. One reduction ends each half of an iteration: it carries
 * the nodes of the sums, in the order of the ranks, and the word of a rank that must give up. */
#ifndef YK_CG_RANKS_H
#define YK_CG_RANKS_H

#include "lib/ranks.h"
#include "lib/spread.h"
#include "solvers/cg/cg.h"

/* Of a piece the longest run of chunks whose rows have no column of the halo, and its sums. */
typedef struct yk_inner {
    int64_t first, last;
    yk_tree sums;
} yk_inner;

struct yk_cg_ranks {
    const yk_spread *spread;
    /* By yk_boundary: [spread->sent] on its way to the halos of others, [spread->halo] come from
     * them; where these are not a part's own, they are memory. */
    double *packed[2], *came[2], *memory;
    int64_t memory_count;
    void *channel[2];         /* by yk_boundary */
    bool awaited;             /* z of others may come */
    bool flying;              /* z is under way */
    bool has_halo;            /* some part has one */
    int64_t *inside;          /* [parts] of each part's halo, what parts of this rank own */
    yk_inner gpu_inner;       /* of a GPU's part, in whole chunks */
    bool told;                /* another rank has failed, whose words count */
    yk_flag halo;             /* the meeting after which z of the halo came */
    yk_slot slot[2];          /* sums over all ranks, by the meeting's parity */
    yk_inner *inner;          /* [pieces] */
    yk_ranks_message message; /* of the first worker */
    yoke_status lost;         /* of the first exchange that failed */
};

/* Planning: once the parts have their vectors. */
yoke_status yk_cg_ranks_open(yk_cg *cg, const yk_spread *spread, const yk_csr *csr);
void yk_cg_ranks_close(yk_cg *cg);
void yk_cg_ranks_bytes(const yk_cg *cg, const yk_spread *spread, size_t *host);

/* Whether a plan has a port more than parts. */
static inline bool yk_cg_ranks_have_port(const yk_cg *cg, const yk_spread *spread)
{
    return spread && cg->parts > 0 && cg->part[0].owner == YK_OWNER_GPU;
}

/* As yk_agree, of a solve that may have ended early because another rank said that it failed. */
yoke_status yk_cg_ranks_agree(yk_cg *cg, yoke_status own);

/* Outside the loop. A rank that has failed takes part, and by the next sums all know. */
void yk_cg_ranks_add(yk_cg *cg, yk_tree *all);
void yk_cg_ranks_send(yk_cg *cg, yk_boundary which);

/* Around an advance. */
void yk_cg_ranks_begin(yk_cg *cg);
void yk_cg_ranks_end(yk_cg *cg);

/* By the first worker. begin_update: from now on z of the halo may come. meet: once it has arrived
 * itself; the sums of all ranks are then in the slot. finish_halo: z of the halo has come, and is
 * where each part reads it. give_up: in place of what is left of a half. False: all ranks leave the
 * loop. */
bool yk_cg_ranks_begin_update(yk_cg *cg);
bool yk_cg_ranks_meet(yk_cg *cg, yk_half half, unsigned meeting, int dots);
bool yk_cg_ranks_finish_halo(yk_cg *cg, unsigned meeting);
void yk_cg_ranks_give_up(yk_cg *cg, yk_half half);

#endif
