/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.h: the loop over ranks. Inside a rank the parts meet as ever; its first worker, which is
 * the thread that called the library, then meets the other ranks for all of them:
 *
 *   direction | gate | multiply what needs no halo | z of the halo has come | its direction | gate
 * | multiply the rest | meet, reduce | update, pack z | meet, send z, reduce
 *
 * (folded: without directions and gates). One reduction ends each half of an iteration: it carries
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
    double *packed;     /* [spread->sent] z or x on its way to the halos of others */
    void *channel[2];   /* by yk_boundary */
    bool flying;        /* z is under way */
    yk_flag halo;       /* the meeting after which z of the halo came */
    yk_slot slot[2];    /* sums over all ranks, by the meeting's parity */
    yk_inner *inner;    /* [pieces] */
    yk_message message; /* of the first worker */
    yoke_status lost;   /* of the first exchange that failed */
};

/* Planning: once the parts have their vectors. */
yoke_status yk_cg_ranks_open(yk_cg *cg, const yk_spread *spread);
void yk_cg_ranks_close(yk_cg *cg);
void yk_cg_ranks_bytes(const yk_cg *cg, const yk_spread *spread, size_t *host);

/* Outside the loop. */
void yk_cg_ranks_add(yk_cg *cg, yk_tree *all);
void yk_cg_ranks_send(yk_cg *cg, yk_boundary which);

/* Around an advance. */
void yk_cg_ranks_begin(yk_cg *cg);
void yk_cg_ranks_end(yk_cg *cg);

/* By the first worker. begin_update: from now on z of the halo may come. meet: once it has arrived
 * itself; the sums of all ranks are then in the slot. finish_halo: z of the halo has come. give_up:
 * in place of meet. False: all ranks leave the loop. */
bool yk_cg_ranks_begin_update(yk_cg *cg);
bool yk_cg_ranks_meet(yk_cg *cg, yk_half half, unsigned meeting, int dots);
bool yk_cg_ranks_finish_halo(yk_cg *cg, unsigned meeting);
void yk_cg_ranks_give_up(yk_cg *cg);

#endif
