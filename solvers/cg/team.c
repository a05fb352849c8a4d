/* SPDX-License-Identifier: BSD-3-Clause */
/* team.c: the driver of CPU threads: one parallel region an advance; inside it the threads meet at
 * the link's slots, and nothing else synchronises them. */
#include <math.h>

#include "lib/threads.h"
#include "solvers/cg/cuts.h"
#include "solvers/cg/ranks.h"
#include "solvers/cg/team.h"
#include "solvers/cg/timing.h"

#ifdef _OPENMP
#include <omp.h>
#endif

typedef yk_worker worker;

#define FOR_MY_PIECES YK_FOR_MY_PIECES

void yk_team_run_task(const yk_cg *cg, yk_piece *piece, const yk_cg_rows *rows, yk_task task)
{
    yk_tree_begin(&piece->sums, yk_team_first_chunk(cg, piece), yk_task_dots(task));
    piece->largest = cg->passes->pass[task](rows, piece->first, piece->last, &piece->sums);
}

/* -------------------------------------------------------------------- meet */

/* The last worker of a part to arrive publishes its sums. */
static void publish(const yk_cg *cg, int part, unsigned meeting)
{
    yk_port *port = &cg->link.port[part];
    yk_slot *slot = &port->slot[meeting & 1];
    bool begun = false;
    for (int i = 0; i < cg->pieces; i++) {
        const yk_piece *piece = &cg->piece[i];
        if (piece->part != part) continue;
        if (!begun) yk_tree_begin(&slot->sums, yk_team_first_chunk(cg, piece), piece->sums.dots);
        begun = true;
        yk_tree_append(&slot->sums, &piece->sums);
    }
    atomic_store_explicit(&port->arrived.value, 0, memory_order_relaxed);
    yk_flag_set(&slot->flag, meeting);
}

/* Beside a cut that moves: when this worker was done with its pieces; by the first one, how long
 * all of them took. Whoever reads the time of another has seen its part's flag. */
static void note_end(worker *w)
{
    double now = yoke_seconds();
    FOR_MY_PIECES(w, i) w->cg->piece[i].ended[w->meetings & 1] = now;
}

static void note_half(const worker *w)
{
    yk_clock *clock = &w->cg->cuts->clock;
    double ended = clock->half_began;
    for (int i = w->cg->gpu_pieces; i < w->cg->pieces; i++)
        ended = fmax(ended, w->cg->piece[i].ended[w->meetings & 1]);
    clock->half_busy += ended - clock->half_began;
}

/* What the companion could not do ends the loop for all. */
bool yk_team_go_on(worker *w, bool done)
{
    if (done) return true;
    yk_flag_set(w->cg->link.abort, 1);
    w->s.stop = YK_CG_ABORTED;
    return false;
}

bool yk_team_begin(worker *w, yk_half half)
{
    if (w->cg->cuts && w->index == 0) w->cg->cuts->clock.half_began = yoke_seconds();
    return !w->with || !w->with->begin || yk_team_go_on(w, w->with->begin(w->cg, half, &w->s));
}

static bool finish(worker *w, yk_half half, unsigned meeting)
{
    return !w->with || !w->with->finish || yk_team_go_on(w, w->with->finish(w->cg, half, meeting));
}

static bool arrived(worker *w, yk_half half, unsigned meeting)
{
    return !w->with || !w->with->arrived ||
           yk_team_go_on(w, w->with->arrived(w->cg, half, meeting, w->left));
}

/* The sums are known here; of other parts, where their owners have come as far. */
bool yk_team_publish(worker *w, yk_half half)
{
    yk_cg *cg = w->cg;
    unsigned meeting = ++w->meetings;
    if (cg->cuts) note_end(w);
    if (!finish(w, half, meeting)) return false;
    FOR_MY_PIECES(w, i)
    {
        int part = cg->piece[i].part;
        if ((int)yk_flag_arrive(&cg->link.port[part].arrived) == cg->pieces_of[part])
            publish(cg, part, meeting);
    }
    return cg->ranks || arrived(w, half, meeting);
}

bool yk_team_wait(worker *w, yk_flag *flag, unsigned value)
{
    const yk_link *link = &w->cg->link;
    if (yk_flag_wait(flag, value, link->abort, link->deadline)) return true;
    w->s.stop = YK_CG_ABORTED;
    return false;
}

bool yk_team_total(worker *w, int dots, double *total)
{
    yk_cg *cg = w->cg;
    yk_link *link = &cg->link;
    yk_tree all;
    yk_tree_begin(&all, 0, dots);
    for (int part = 0; part < link->parts; part++) {
        yk_slot *slot = &link->port[part].slot[w->meetings & 1];
        if (!yk_team_wait(w, &slot->flag, w->meetings)) return false;
        yk_tree_append(&all, &slot->sums);
    }
    yk_tree_total(&all, total);
    if (cg->cuts && w->index == 0) note_half(w);
    return true;
}

/* Other ranks count on this one's sums, and on its z: who has none says so. */
static bool give_up(worker *w, yk_half half)
{
    if (w->cg->ranks && w->index == 0) yk_cg_ranks_give_up(w->cg, half);
    return false;
}

/* All workers of all parts meet; total holds the sums over all rows. False after an abort. */
static bool meet(worker *w, yk_half half, int dots, double *total)
{
    if (!yk_team_publish(w, half)) return give_up(w, half);
    if (w->cg->ranks) return yk_team_meet_over_ranks(w, half, dots, total);
    return yk_team_total(w, dots, total);
}

/* The last worker of each part to arrive opens its gate. */
void yk_team_open_gates(worker *w, unsigned number)
{
    yk_cg *cg = w->cg;
    FOR_MY_PIECES(w, i)
    {
        int part = cg->piece[i].part;
        yk_port *port = &cg->link.port[part];
        if ((int)yk_flag_arrive(&port->arrived) < cg->pieces_of[part]) continue;
        atomic_store_explicit(&port->arrived.value, 0, memory_order_relaxed);
        yk_flag_set(&port->gate, number);
    }
}

/* The workers of each part wait for each other: its p is written before it is gathered. */
bool yk_team_gate(worker *w, unsigned number)
{
    yk_team_open_gates(w, number);
    FOR_MY_PIECES(w, i)
    {
        if (!yk_team_wait(w, &w->cg->link.port[w->cg->piece[i].part].gate, number)) return false;
    }
    return true;
}

/* ------------------------------------------------------------------ passes */

yk_cg_rows yk_cg_view(const yk_cg *cg, const yk_part *part, const yk_cg_scalars *s, int newest_p)
{
    double *newest = cg->folded && newest_p ? part->p_old : part->p;
    double *other = cg->folded && newest_p ? part->p : part->p_old;
    double *m = part->m[newest_p], *p = part->p;
    bool lends = cg->factor == YK_VECTOR_P, to_s = cg->product == YK_VECTOR_S;
    bool to_t = cg->product == YK_VECTOR_T;
    return (yk_cg_rows){.csr = part->csr,
                        .x = part->x,
                        .r = part->r,
                        .z = part->z,
                        .p = newest,
                        .p_old = other,
                        .q = to_s   ? part->s
                             : to_t ? part->t
                                    : part->q,
                        .w = part->w,
                        .s = part->s,
                        .t = part->t,
                        .m = lends ? p : m,
                        .m_next = part->m[newest_p ^ 1],
                        .b = part->b,
                        .best = part->best,
                        .inverse_diagonal = part->inverse_diagonal,
                        .alpha = s->alpha,
                        .beta = s->beta,
                        .shift = s->shift,
                        .stream_q = cg->stream_q};
}

yk_cg_rows yk_team_view(const worker *w, const yk_piece *piece)
{
    return yk_cg_view(w->cg, &w->cg->part[piece->part], &w->s, w->newest_p);
}

static bool multiply_unfolded(worker *w, unsigned number)
{
    yk_cg *cg = w->cg;
    FOR_MY_PIECES(w, i)
    {
        yk_cg_rows c = yk_team_view(w, &cg->piece[i]);
        yk_team_run_task(cg, &cg->piece[i], &c, YK_TASK_DIRECTION);
        yk_team_direct_halo(cg, &c, &cg->piece[i], c.p);
    }
    if (!yk_team_gate(w, number)) return false;
    FOR_MY_PIECES(w, i)
    {
        yk_cg_rows c = yk_team_view(w, &cg->piece[i]);
        yk_team_run_task(cg, &cg->piece[i], &c, YK_TASK_MULTIPLY);
    }
    return true;
}

static void multiply_folded(worker *w)
{
    yk_cg *cg = w->cg;
    w->newest_p ^= 1;
    FOR_MY_PIECES(w, i)
    {
        yk_cg_rows c = yk_team_view(w, &cg->piece[i]);
        yk_team_run_task(cg, &cg->piece[i], &c, YK_TASK_FOLD);
        yk_team_direct_halo(cg, &c, &cg->piece[i], c.p_old);
    }
}

/* ------------------------------------------------------------------ update */

yk_task yk_cg_update_task(const yk_cg *cg)
{
    if (cg->nullspace) return cg->jacobi ? YK_TASK_UPDATE_JACOBI_SHIFT : YK_TASK_UPDATE_NONE_SHIFT;
    return cg->jacobi ? YK_TASK_UPDATE_JACOBI : YK_TASK_UPDATE_NONE;
}

static void update(worker *w, yk_task task)
{
    yk_cg *cg = w->cg;
    FOR_MY_PIECES(w, i)
    {
        yk_cg_rows c = yk_team_view(w, &cg->piece[i]);
        yk_team_run_task(cg, &cg->piece[i], &c, task);
        yk_send_boundary(cg, &cg->piece[i], YK_BOUNDARY_Z);
    }
}

void yk_team_record(yk_cg *cg, const yk_cg_scalars *s)
{
    if (s->iteration < cg->history_capacity)
        cg->history[s->iteration] = ldexp(sqrt(s->rr), cg->exponent);
}

/* ----------------------------------------------------------------- advance */

static bool multiply(worker *w)
{
    unsigned number = w->meetings + 1;
    bool done = yk_team_begin(w, YK_HALF_MULTIPLY);
    if (!done)
        ;
    else if (w->cg->ranks)
        done = yk_team_multiply_over_ranks(w, number);
    else if (w->cg->folded)
        multiply_folded(w);
    else
        done = multiply_unfolded(w, number);
    return done || give_up(w, YK_HALF_MULTIPLY);
}

static void iterate(worker *w, int64_t at_most)
{
    yk_cg *cg = w->cg;
    yk_task task = yk_cg_update_task(cg);
    yk_clock *clock = cg->cuts && w->index == 0 ? &cg->cuts->clock : NULL;
    if (clock) yk_clock_begin(clock, at_most);
    for (w->left = at_most; w->left > 0 && !w->s.stop; w->left--) {
        double total[YK_DOTS] = {0.0};
        if (!multiply(w)) return;
        if (!meet(w, YK_HALF_MULTIPLY, 1, total)) return;
        yk_cg_after_multiply(&w->s, total[YK_DOT_PQ]);
        if (w->s.stop) return;
        if (!yk_team_begin(w, YK_HALF_UPDATE)) {
            give_up(w, YK_HALF_UPDATE);
            return;
        }
        if (cg->ranks && w->index == 0) (void)yk_cg_ranks_expect(cg, YK_BOUNDARY_Z);
        update(w, task);
        if (!meet(w, YK_HALF_UPDATE, yk_task_dots(task), total)) return;
        if (!cg->jacobi) total[YK_DOT_RZ] = total[YK_DOT_RR];
        yk_cg_after_update(&w->s, &cg->limits, total);
        if (w->index == 0) yk_team_record(cg, &w->s);
        if (clock) yk_clock_lap(clock);
    }
}

static void work(yk_cg *cg, const yk_companion *with, int index, int count, int64_t at_most,
                 worker *left)
{
    worker w = {.cg = cg,
                .with = index == 0 ? with : NULL,
                .index = index,
                .count = count,
                .s = cg->s,
                .drift = cg->drift,
                .meetings = cg->meetings,
                .newest_p = cg->newest_p};
    if (cg->recurrence == YK_CLASSICAL)
        iterate(&w, at_most);
    else
        yk_team_iterate_one_sum(&w, at_most);
    if (index == 0) *left = w;
}

void yk_team_advance(yk_cg *cg, const yk_companion *with, int64_t at_most)
{
    worker left;
    if (cg->ranks) yk_cg_ranks_begin(cg);
#ifdef _OPENMP
    int team = yk_team_size(cg->threads);
    if (team > 1) {
#pragma omp parallel num_threads(team)
        work(cg, with, omp_get_thread_num(), omp_get_num_threads(), at_most, &left);
    } else
#endif
        work(cg, with, 0, 1, at_most, &left);
    cg->s = left.s;
    cg->drift = left.drift;
    cg->meetings = left.meetings;
    cg->newest_p = left.newest_p;
    cg->came = left.count;
    if (cg->ranks) yk_cg_ranks_end(cg);
}

static void advance(yk_cg *cg, int64_t at_most)
{
    if (cg->op || cg->preconditioner)
        yk_team_advance_by_steps(cg, at_most);
    else
        yk_team_advance(cg, NULL, at_most);
}

const yk_driver yk_driver_team = {
    .name = "team",
    .text = "CPU threads in one parallel region, meeting at flags in memory",
    .engine = &yk_engine_cpu,
    .takes_callbacks = true,
    .advance = advance,
};
