/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.h: the loop over ranks. Inside a rank the parts meet as ever; its first worker, which is
 * the thread that called the library, then meets the other ranks for all of them:
 *
 *   direction | gate | multiply what needs no halo | z of the halo has come | its direction | gate
 * | multiply the rest | meet, reduce | update, pack z | meet, send z, reduce
 *
 * (folded: without directions and gates). One reduction ends each half of an iteration: it carries
 * the nodes of the sums, in the order of the ranks, and the word of a rank that must give up. Of
 * recurrences with one sum there is one an iteration, with pipelining beside the product:
 *
 *   single     step, pack z | gate, send z | multiply what needs no halo | z of the halo has come
 * | multiply the rest | meet, reduce
 *   pipelined  step, pack m | meet, begin to reduce, send m | multiply what needs no halo | m of
 * the halo has come | multiply the rest | reduced
 *
 * Of a GPU beside the team the first worker enqueues what that has to do: together_ranks.c. Between
 * the parts and other ranks z and x then go through the link's memory: there is a port more than
 * parts, whose halo is what this rank sends. */
#ifndef YK_CG_RANKS_H
#define YK_CG_RANKS_H

#include <yoke_tools.h>

#include "lib/ranks.h"
#include "lib/spread.h"
#include "solvers/cg/cg.h"

/* Of a piece the longest run of chunks whose rows have no column of the halo, and its sums. */
typedef struct yk_inner {
    int64_t first, last;
    yk_tree sums;
} yk_inner;

/* Read by the first worker alone, and only where somebody asked. */
typedef struct yk_rank_clock {
    bool on;
    yoke_rank_times times;
    int64_t began; /* iteration of the advance */
} yk_rank_clock;

static inline double yk_rank_clock_read(const yk_rank_clock *clock)
{
    return clock->on ? yoke_seconds() : 0.0;
}

static inline void yk_rank_clock_add(const yk_rank_clock *clock, double since, double *to)
{
    if (clock->on) *to += yoke_seconds() - since;
}

enum { YK_RANK_CHANNELS = YK_BOUNDARY_M + 2 };

struct yk_cg_ranks {
    const yk_spread *spread;
    /* By yk_boundary: [spread->sent] on its way to the halos of others, [spread->halo] come from
     * them; where these are not a part's own, they are memory. */
    double *packed[YK_RANK_CHANNELS], *came[YK_RANK_CHANNELS], *memory;
    int64_t memory_count;
    void *channel[YK_RANK_CHANNELS]; /* by yk_boundary; NULL where the recurrence does without */
    yk_boundary flight;
    bool awaited;             /* that of others may come */
    bool flying;              /* that boundary is under way */
    bool reducing;            /* the message is */
    int64_t own_word;         /* in that message */
    bool has_halo;            /* some part has one */
    int64_t *inside;          /* [parts] of each part's halo, what parts of this rank own */
    yk_inner gpu_inner;       /* of a GPU's part, in whole chunks */
    yk_flag halo;             /* the meeting after which the halo came */
    yk_slot slot[2];          /* sums over all ranks, by the meeting's parity */
    yk_inner *inner;          /* [pieces] */
    yk_ranks_message message; /* of the first worker */
    bool told;                /* by another rank to give up */
    yk_rank_clock clock;
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

/* Outside the loop. A rank that has failed takes part; others hear of it in the next advance. */
void yk_cg_ranks_add(yk_cg *cg, yk_tree *all);
void yk_cg_ranks_send(yk_cg *cg, yk_boundary which);

/* Around an advance. agree: after it; what ended it on one rank ends it on all, in its words. In
 * one process: its status. */
void yk_cg_ranks_begin(yk_cg *cg);
void yk_cg_ranks_end(yk_cg *cg);
yoke_status yk_cg_ranks_agree(yk_cg *cg);

/* By the first worker. expect: from now on this boundary may come into the halo. meet: once it has
 * arrived itself; the sums of all ranks are then in the slot. finish_halo: what was sent has come,
 * and is where each part reads it. give_up: in place of what is left of a half. False: all ranks
 * leave the loop. */
bool yk_cg_ranks_expect(yk_cg *cg, yk_boundary which);
bool yk_cg_ranks_meet(yk_cg *cg, yk_half half, unsigned meeting, int dots);
bool yk_cg_ranks_finish_halo(yk_cg *cg, unsigned meeting);
void yk_cg_ranks_give_up(yk_cg *cg, yk_half half);

/* With one sum an iteration: sends the boundary that all workers have packed. A meeting in two
 * steps, which all ranks take whatever came of the first; and what moves both meanwhile. */
bool yk_cg_ranks_dispatch(yk_cg *cg, yk_boundary which);
bool yk_cg_ranks_begin_sums(yk_cg *cg, unsigned meeting, int dots);
bool yk_cg_ranks_finish_sums(yk_cg *cg, unsigned meeting);
void yk_cg_ranks_progress(yk_cg *cg);

#endif
