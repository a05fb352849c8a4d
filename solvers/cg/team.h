/* SPDX-License-Identifier: BSD-3-Clause */
/* team.h: a worker of the driver `team`, and what its loops are made of. */
#ifndef YK_CG_TEAM_H
#define YK_CG_TEAM_H

#include "solvers/cg/cg.h"

typedef struct yk_worker {
    yk_cg *cg;
    const yk_companion *with; /* of worker 0, if there is one; else NULL */
    int index, count;         /* this worker does pieces index, index + count, ... of the CPU's */
    yk_cg_scalars s;
    yk_cg_drift drift;
    unsigned meetings;
    int newest_p;
    int64_t left; /* iterations, this one included */
} yk_worker;

#define YK_FOR_MY_PIECES(w, i)                                                                     \
    for (int i = (w)->cg->gpu_pieces + (w)->index; i < (w)->cg->pieces; i += (w)->count)

/* Of the system, in which a piece's rows begin. */
static inline int64_t yk_team_first_chunk(const yk_cg *cg, const yk_piece *piece)
{
    return cg->first_chunk + (cg->part[piece->part].first + piece->first) / YK_CHUNK;
}

yk_cg_rows yk_team_view(const yk_worker *w, const yk_piece *piece);
void yk_team_run_task(const yk_cg *cg, yk_piece *piece, const yk_cg_rows *rows, yk_task task);
void yk_team_record(yk_cg *cg, const yk_cg_scalars *s);

/* team_boundary.c: p of a piece's halo from its z that came and its p_old; and the boundaries of
 * all pieces, outside the loop. */
void yk_team_direct_halo(const yk_cg *cg, const yk_cg_rows *c, const yk_piece *piece,
                         const double *p_old);
void yk_team_send(yk_cg *cg, yk_boundary which);

/* team_steps.c: the loop with a user's operator or preconditioner. */
void yk_team_advance_by_steps(yk_cg *cg, int64_t at_most);

/* All that follow return false where the loop is to be left. */

/* Before a half's own pieces: the companion begins. */
bool yk_team_begin(yk_worker *w, yk_half half);

/* What is done for all by one worker; where it failed, all leave. */
bool yk_team_go_on(yk_worker *w, bool done);

/* A meeting in two steps, between which a worker may do what needs no sums: it arrives, and of
 * each part the last to arrive publishes the part's sums, and with them that its boundary is sent;
 * then it waits for the sums of all parts. Where other processes have parts, the first is where an
 * all-reduce begins and the second where it ends; there is one message of sums an iteration. */
bool yk_team_publish(yk_worker *w, yk_half half);
bool yk_team_total(yk_worker *w, int dots, double *total);

/* A part's gate says that its rows, and what it sent, are written; no sums. */
void yk_team_open_gates(yk_worker *w, unsigned number);
bool yk_team_gate(yk_worker *w, unsigned number);
bool yk_team_wait(yk_worker *w, yk_flag *flag, unsigned value);

/* team_ranks.c: the product, and the meeting after a publication, where other ranks have rows. Of
 * cg-single the product, of cg-pipelined with it the meeting. */
bool yk_team_multiply_over_ranks(yk_worker *w, unsigned number);
bool yk_team_meet_over_ranks(yk_worker *w, yk_half half, int dots, double *total);
bool yk_team_single_over_ranks(yk_worker *w, unsigned number);
bool yk_team_pipelined_over_ranks(yk_worker *w, int dots, double *total);

/* team_one_sum.c: the loop of the recurrences whose sums meet once an iteration; and the wait for a
 * part's own rows and its neighbours': nobody else holds up a product. */
bool yk_team_wait_for_rows(yk_worker *w, unsigned number);
void yk_team_iterate_one_sum(yk_worker *w, int64_t at_most);

#endif
