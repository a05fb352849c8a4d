/* SPDX-License-Identifier: BSD-3-Clause */
/* team.c: the driver of CPU threads: one parallel region an advance; inside it the threads meet at
 * the link's slots, and nothing else synchronises them. */
#include <string.h>

#include "lib/context.h"
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

static int64_t first_chunk(const yk_cg *cg, const yk_piece *piece)
{
    return cg->first_chunk + (cg->part[piece->part].first + piece->first) / YK_CHUNK;
}

void yk_team_run_task(const yk_cg *cg, yk_piece *piece, const yk_cg_rows *rows, yk_task task)
{
    yk_tree_begin(&piece->sums, first_chunk(cg, piece), yk_task_dots(task));
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
        if (!begun) yk_tree_begin(&slot->sums, first_chunk(cg, piece), piece->sums.dots);
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
static bool go_on(worker *w, bool done)
{
    if (done) return true;
    yk_flag_set(w->cg->link.abort, 1);
    w->s.stop = YK_CG_ABORTED;
    return false;
}

bool yk_team_begin(worker *w, yk_half half)
{
    if (w->cg->cuts && w->index == 0) w->cg->cuts->clock.half_began = yoke_seconds();
    return !w->with || !w->with->begin || go_on(w, w->with->begin(w->cg, half, &w->s));
}

static bool finish(worker *w, yk_half half, unsigned meeting)
{
    return !w->with || !w->with->finish || go_on(w, w->with->finish(w->cg, half, meeting));
}

static bool arrived(worker *w, yk_half half, unsigned meeting)
{
    return !w->with || !w->with->arrived ||
           go_on(w, w->with->arrived(w->cg, half, meeting, w->left));
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

/* The first worker meets the other ranks, the others wait for what it brings. */
static bool meet_over_ranks(worker *w, yk_half half, int dots, double *total)
{
    unsigned meeting = w->meetings;
    yk_slot *slot = &w->cg->ranks->slot[meeting & 1];
    if (w->index == 0 && !go_on(w, yk_cg_ranks_meet(w->cg, half, meeting, dots))) return false;
    if (!yk_team_wait(w, &slot->flag, meeting)) return false;
    yk_tree_total(&slot->sums, total);
    return true;
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

/* All workers of all parts meet; total holds the sums over all rows. False after an abort. */
static bool meet(worker *w, yk_half half, int dots, double *total)
{
    if (!yk_team_publish(w, half)) return false;
    if (w->cg->ranks) return meet_over_ranks(w, half, dots, total);
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
static bool gate(worker *w, unsigned number)
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

/* Where it goes: to another part, or with others' to another rank. What only CPU parts send goes
 * straight behind the receiver's rows. */
static double *halo_of(const yk_cg *cg, const yk_send *send, yk_boundary which)
{
    if (cg->ranks) return cg->ranks->packed;
    const yk_port *port = &cg->link.port[send->to];
    const yk_part *to = &cg->part[send->to];
    if (which == YK_BOUNDARY_Z) return port->halo_z;
    if (which == YK_BOUNDARY_X || cg->cuts) return port->halo_x;
    return yk_boundary_vector(to, which) + to->rows;
}

void yk_send_boundary(const yk_cg *cg, const yk_piece *piece, yk_boundary which)
{
    const yk_part *part = &cg->part[piece->part];
    const double *from = yk_boundary_vector(part, which);
    if (cg->whole_z && which == YK_BOUNDARY_Z && piece->first < piece->last)
        memcpy(cg->whole_z + part->first + piece->first, from + piece->first,
               (size_t)(piece->last - piece->first) * sizeof *from);
    for (int i = 0; i < part->sends; i++) {
        const yk_send *send = &part->send[i];
        double *to = halo_of(cg, send, which) + send->at;
        for (int64_t k = piece->send_first[2 * i]; k < piece->send_first[2 * i + 1]; k++)
            to[k] = from[send->row[k]];
    }
}

/* p of the halo is updated by its reader: only z travels, to where the link says. */
static void direction_of_halo(const yk_cg *cg, const yk_cg_rows *c, const yk_piece *piece,
                              const double *p_old)
{
    const double *z = cg->link.port[piece->part].halo_z;
    const int64_t rows = cg->part[piece->part].rows;
    const yk_moving *moving = &cg->part[piece->part].moving;
    if (moving->on) {
        for (int64_t k = piece->halo_first; k < piece->halo_last; k++) {
            int32_t i = moving->at[k];
            c->p[i] = yk_fma(c->beta, p_old[i], z[k] - c->shift);
        }
        return;
    }
    for (int64_t k = piece->halo_first; k < piece->halo_last; k++)
        c->p[rows + k] = yk_fma(c->beta, p_old[rows + k], z[k] - c->shift);
}

static bool multiply_unfolded(worker *w, unsigned number)
{
    yk_cg *cg = w->cg;
    FOR_MY_PIECES(w, i)
    {
        yk_cg_rows c = yk_team_view(w, &cg->piece[i]);
        yk_team_run_task(cg, &cg->piece[i], &c, YK_TASK_DIRECTION);
        direction_of_halo(cg, &c, &cg->piece[i], c.p);
    }
    if (!gate(w, number)) return false;
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
        direction_of_halo(cg, &c, &cg->piece[i], c.p_old);
    }
}

/* ------------------------------------------------------ passes, over ranks */

static void multiply_inner(const worker *w, int i, yk_task task)
{
    yk_cg *cg = w->cg;
    yk_inner *inner = &cg->ranks->inner[i];
    yk_cg_rows c = yk_team_view(w, &cg->piece[i]);
    yk_tree_begin(&inner->sums, cg->first_chunk + inner->first / YK_CHUNK, yk_task_dots(task));
    cg->passes->pass[task](&c, inner->first, inner->last, &inner->sums);
}

/* The rows before and behind; the sums as if all had been taken in order. */
static void multiply_rest(const worker *w, int i, yk_task task)
{
    yk_cg *cg = w->cg;
    yk_piece *piece = &cg->piece[i];
    const yk_inner *inner = &cg->ranks->inner[i];
    yk_cg_rows c = yk_team_view(w, piece);
    yk_tree_begin(&piece->sums, first_chunk(cg, piece), yk_task_dots(task));
    cg->passes->pass[task](&c, piece->first, inner->first, &piece->sums);
    yk_tree_append(&piece->sums, &inner->sums);
    cg->passes->pass[task](&c, inner->last, piece->last, &piece->sums);
}

static void direct_halo(const worker *w)
{
    const yk_cg *cg = w->cg;
    FOR_MY_PIECES(w, i)
    {
        yk_cg_rows c = yk_team_view(w, &cg->piece[i]);
        direction_of_halo(cg, &c, &cg->piece[i], cg->folded ? c.p_old : c.p);
    }
}

static bool halo_has_come(worker *w, unsigned meeting)
{
    if (w->index == 0 && !go_on(w, yk_cg_ranks_finish_halo(w->cg, meeting))) return false;
    return w->cg->ranks->spread->halo == 0 || yk_team_wait(w, &w->cg->ranks->halo, meeting);
}

static bool multiply_over_ranks(worker *w, unsigned number)
{
    yk_cg *cg = w->cg;
    yk_task task = cg->folded ? YK_TASK_FOLD : YK_TASK_MULTIPLY;
    bool gates = !cg->folded;
    if (cg->folded) w->newest_p ^= 1;
    FOR_MY_PIECES(w, i)
    {
        yk_cg_rows c = yk_team_view(w, &cg->piece[i]);
        if (!cg->folded) yk_team_run_task(cg, &cg->piece[i], &c, YK_TASK_DIRECTION);
    }
    if (gates && !gate(w, number)) return false;
    FOR_MY_PIECES(w, i) multiply_inner(w, i, task);
    if (!halo_has_come(w, number - 1)) return false;
    if (gates) direct_halo(w);
    if (gates && cg->ranks->spread->halo > 0 && !gate(w, number + 1)) return false;
    FOR_MY_PIECES(w, i) multiply_rest(w, i, task);
    if (cg->folded) direct_halo(w);
    return true;
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

/* Other ranks count on this one's sums: who has none says so. */
static bool multiply(worker *w)
{
    unsigned number = w->meetings + 1;
    bool done = true;
    if (w->cg->ranks)
        done = multiply_over_ranks(w, number);
    else if (w->cg->folded)
        multiply_folded(w);
    else
        done = multiply_unfolded(w, number);
    if (!done && w->cg->ranks && w->index == 0) yk_cg_ranks_give_up(w->cg);
    return done;
}

static void iterate(worker *w, int64_t at_most)
{
    yk_cg *cg = w->cg;
    yk_task task = yk_cg_update_task(cg);
    yk_clock *clock = cg->cuts && w->index == 0 ? &cg->cuts->clock : NULL;
    if (clock) yk_clock_begin(clock, at_most);
    for (w->left = at_most; w->left > 0 && !w->s.stop; w->left--) {
        double total[YK_DOTS] = {0.0};
        if (!yk_team_begin(w, YK_HALF_MULTIPLY) || !multiply(w)) return;
        if (!meet(w, YK_HALF_MULTIPLY, 1, total)) return;
        yk_cg_after_multiply(&w->s, total[YK_DOT_PQ]);
        if (w->s.stop || !yk_team_begin(w, YK_HALF_UPDATE)) return;
        if (cg->ranks && w->index == 0) (void)yk_cg_ranks_begin_update(cg);
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

/* ---------------------------------------------------------------- by steps */

typedef struct task_call {
    yk_task task;
    double argument;
} task_call;

static void one_task(yk_cg *cg, yk_piece *piece, void *user)
{
    const task_call *call = user;
    yk_cg_rows c = yk_cg_view(cg, &cg->part[piece->part], &cg->s, cg->newest_p);
    c.argument = call->argument;
    yk_team_run_task(cg, piece, &c, call->task);
}

void yk_team_task(yk_cg *cg, yk_task task, double argument)
{
    yk_team_run(cg, one_task, &(task_call){task, argument});
}

void yk_team_append_sums(const yk_cg *cg, yk_tree *all)
{
    for (int i = cg->gpu_pieces; i < cg->pieces; i++) yk_tree_append(all, &cg->piece[i].sums);
}

double yk_team_largest(const yk_cg *cg)
{
    double largest = 0.0;
    for (int i = cg->gpu_pieces; i < cg->pieces; i++) largest = fmax(largest, cg->piece[i].largest);
    return largest;
}

static void run(yk_cg *cg, yk_task task, double argument, double *total)
{
    yk_tree all;
    yk_team_task(cg, task, argument);
    if (yk_task_is_largest(task)) {
        *total = yk_ranks_most(cg->context, yk_team_largest(cg));
    } else if (total && yk_task_dots(task) > 0) {
        yk_tree_begin(&all, cg->first_chunk, yk_task_dots(task));
        yk_team_append_sums(cg, &all);
        if (cg->ranks) yk_cg_ranks_add(cg, &all);
        yk_tree_total(&all, total);
    }
}

static void halo_direction(yk_cg *cg, yk_piece *piece, void *user)
{
    const yk_part *part = &cg->part[piece->part];
    yk_cg_rows c = yk_cg_view(cg, part, &cg->s, cg->newest_p);
    (void)user;
    direction_of_halo(cg, &c, piece, c.p);
}

static void send_piece(yk_cg *cg, yk_piece *piece, void *user)
{
    const yk_boundary *which = user;
    yk_send_boundary(cg, piece, *which);
}

/* A callback may use threads of its own, so it runs between parallel regions. */
static bool multiply_by_steps(yk_cg *cg, double *total)
{
    run(cg, YK_TASK_DIRECTION, 0.0, NULL);
    yk_team_run(cg, halo_direction, NULL);
    if (cg->op && !yk_cg_callback(cg, cg->op, YK_VECTOR_P, YK_VECTOR_Q)) return false;
    run(cg, cg->op ? YK_TASK_DOT_PQ : YK_TASK_MULTIPLY, 0.0, total);
    if (cg->op && !isfinite(total[YK_DOT_PQ])) cg->not_finite_from = "operator";
    return true;
}

static bool update_by_steps(yk_cg *cg, double *total)
{
    if (!cg->preconditioner) {
        run(cg, yk_cg_update_task(cg), 0.0, total);
        if (!cg->jacobi) total[YK_DOT_RZ] = total[YK_DOT_RR];
    } else {
        run(cg, YK_TASK_UPDATE_R, 0.0, NULL);
        if (!yk_cg_callback(cg, cg->preconditioner, YK_VECTOR_R, YK_VECTOR_Z)) return false;
        run(cg, YK_TASK_DOTS_Z, 0.0, total);
        if (isfinite(total[YK_DOT_RR]) && !isfinite(total[YK_DOT_RZ]))
            cg->not_finite_from = "preconditioner";
    }
    yk_team_run(cg, send_piece, &(yk_boundary){YK_BOUNDARY_Z});
    return true;
}

static void advance_by_steps(yk_cg *cg, int64_t at_most)
{
    for (int64_t done = 0; done < at_most && !cg->s.stop; done++) {
        double total[YK_DOTS] = {0.0};
        if (!multiply_by_steps(cg, total)) {
            cg->s.alpha = 0.0; /* the direction took the step that x lacked */
            cg->s.stop = YK_CG_CALLBACK;
            return;
        }
        yk_cg_after_multiply(&cg->s, total[YK_DOT_PQ]);
        if (cg->s.stop) return;
        if (!update_by_steps(cg, total)) {
            cg->s.stop = YK_CG_CALLBACK;
            return;
        }
        yk_cg_after_update(&cg->s, &cg->limits, total);
        yk_team_record(cg, &cg->s);
    }
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
        advance_by_steps(cg, at_most);
    else
        yk_team_advance(cg, NULL, at_most);
}

static void run_pieces(yk_cg *cg, int first, int end, yk_piece_fn body, void *user)
{
#ifdef _OPENMP
    int team = end > first ? yk_team_size(cg->threads) : 1;
#pragma omp parallel for num_threads(team) schedule(static, 1) if (team > 1)
#endif
    for (int i = first; i < end; i++) body(cg, &cg->piece[i], user);
}

void yk_team_run(yk_cg *cg, yk_piece_fn body, void *user)
{
    run_pieces(cg, cg->gpu_pieces, cg->pieces, body, user);
}

void yk_team_run_for_gpu(yk_cg *cg, yk_piece_fn body, void *user)
{
    run_pieces(cg, 0, cg->gpu_pieces, body, user);
}

/* ---------------------------------------------------------- in and out */

typedef struct vectors {
    const double *b, *x0;
    double *x, factor;
} vectors;

static void copy_rows(double *to, const double *from, int64_t first, int64_t last)
{
    if (first < last) memcpy(to + first, from + first, (size_t)(last - first) * sizeof *to);
}

static void clear_rows(double *to, int64_t first, int64_t last)
{
    if (first < last) memset(to + first, 0, (size_t)(last - first) * sizeof *to);
}

static void import_piece(yk_cg *cg, yk_piece *piece, void *user)
{
    const vectors *v = user;
    yk_part *part = &cg->part[piece->part];
    double *p[2] = {part->p, cg->folded ? part->p_old : part->p};
    if (v->b && piece->first < piece->last)
        copy_rows(part->b, v->b + part->first, piece->first, piece->last);
    if (v->x0 && piece->first < piece->last)
        copy_rows(part->x, v->x0 + part->first, piece->first, piece->last);
    else
        clear_rows(part->x, piece->first, piece->last);
    for (int i = 0; i < 2; i++) {
        clear_rows(p[i], piece->first, piece->last);
        if (part->moving.on) continue; /* the engine clears what the part only holds */
        clear_rows(p[i] + part->rows, piece->halo_first, piece->halo_last);
    }
}

/* Memory that the host does not touch is copied part by part, straight between the caller's vector
 * and the part's. */
static void fetch(yk_cg *cg, const yk_place *at, const double *from, bool is_b)
{
    for (int i = 0; from && i < cg->parts && cg->status == YOKE_OK; i++) {
        const yk_part *part = &cg->part[i];
        if (part->owner != YK_OWNER_CPU) continue;
        cg->status = yk_place_copy(at, is_b ? part->b : part->x, from + part->first,
                                   (size_t)part->rows * sizeof *from);
    }
}

static void import(yk_cg *cg, const double *b, const double *x0)
{
    bool fetch_b = cg->b_at.foreign, fetch_x = cg->x_at.foreign;
    yk_team_run(cg, import_piece, &(vectors){.b = fetch_b ? NULL : b, .x0 = fetch_x ? NULL : x0});
    if (fetch_b) fetch(cg, &cg->b_at, b, true);
    if (fetch_x) fetch(cg, &cg->x_at, x0, false);
}

static void export_piece(yk_cg *cg, yk_piece *piece, void *user)
{
    const vectors *v = user;
    const yk_part *part = &cg->part[piece->part];
    double *to = v->x ? v->x + part->first : part->x;
    for (int64_t i = piece->first; i < piece->last; i++) to[i] = part->x[i] * v->factor;
}

static void hand_over(yk_cg *cg, double *x)
{
    for (int i = 0; i < cg->parts && cg->status == YOKE_OK; i++) {
        const yk_part *part = &cg->part[i];
        if (part->owner != YK_OWNER_CPU) continue;
        const int64_t begin = yk_part_begin(part);
        cg->status = yk_place_copy(&cg->x_at, x + part->first + begin, part->x + begin,
                                   (size_t)yk_part_working(part) * sizeof *x);
    }
}

static void export(yk_cg *cg, double *x, double factor)
{
    bool foreign = cg->x_at.foreign;
    yk_team_run(cg, export_piece, &(vectors){.x = foreign ? NULL : x, .factor = factor});
    if (foreign) hand_over(cg, x);
}

static yoke_status allocate(yk_cg *cg, const yk_part *part, const char *what, int64_t count,
                            double **vector)
{
    (void)part;
    return yk_alloc(cg->context, what, count, sizeof(double), vector);
}

static void release(yk_cg *cg, const yk_part *part, double *vector, int64_t count)
{
    (void)part;
    yk_free(cg->context, vector, count, sizeof(double));
}

static void exchange(yk_cg *cg, yk_boundary which)
{
    yk_team_run(cg, send_piece, &which);
    if (cg->ranks) yk_cg_ranks_send(cg, which);
}

const yk_engine yk_engine_cpu = {
    .name = "cpu",
    .allocate = allocate,
    .release = release,
    .run = run,
    .apply = yk_cpu_apply,
    .clear = yk_cpu_clear,
    .time_tasks = yk_cpu_time_tasks,
    .exchange = exchange,
    .import = import,
    .export = export,
};

const yk_driver yk_driver_team = {
    .name = "team",
    .text = "CPU threads in one parallel region, meeting at flags in memory",
    .engine = &yk_engine_cpu,
    .takes_callbacks = true,
    .advance = advance,
};
