/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.c: what the first worker says to other ranks. */
#include "solvers/cg/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "lib/context.h"
#include "lib/status.h"

/* ---------------------------------------------------------------- planning */

/* Of a part's rows a range, by a matrix of its columns or, of the first part, of the rank's. */
static bool has_halo(const yk_csr *csr, int64_t rows, int64_t first, int64_t last)
{
    for (int64_t k = yk_row_start(csr, first); k < yk_row_start(csr, last); k++)
        if (csr->column[k] >= rows) return true;
    return false;
}

static yk_inner longest_inner(const yk_csr *csr, int64_t rows, int64_t first, int64_t last)
{
    yk_inner inner = {.first = first, .last = first};
    for (int64_t chunk = first, begin = first; chunk < last; chunk += YK_CHUNK) {
        int64_t end = chunk + YK_CHUNK < last ? chunk + YK_CHUNK : last;
        if (has_halo(csr, rows, chunk, end)) begin = end;
        if (end - begin <= inner.last - inner.first) continue;
        inner.first = begin;
        inner.last = end;
    }
    return inner;
}

static void find_inner(yk_cg *cg, yk_piece *piece, void *user)
{
    const yk_part *part = &cg->part[piece->part];
    yk_inner *inner = &cg->ranks->inner[piece - cg->piece];
    (void)user;
    *inner = longest_inner(&part->csr, part->rows, piece->first, piece->last);
}

static yoke_status open_channel(yk_cg *cg, yk_boundary which)
{
    const yk_spread *spread = cg->ranks->spread;
    const yoke_comm *comm = cg->context->comm;
    yoke_lane send[spread->sends + 1], receive[spread->receives + 1];
    for (int l = 0; l < spread->sends; l++) {
        const yk_lane *lane = &spread->send[l];
        send[l] = (yoke_lane){lane->rank, (size_t)lane->count * sizeof(double),
                              cg->ranks->packed[which] + lane->at};
    }
    for (int l = 0; l < spread->receives; l++) {
        const yk_lane *lane = &spread->receive[l];
        receive[l] = (yoke_lane){lane->rank, (size_t)lane->count * sizeof(double),
                                 cg->ranks->came[which] + lane->at};
    }
    return yk_ranks_try(cg->context,
                        comm->open(comm->self, send, spread->sends, receive, spread->receives,
                                   &cg->ranks->channel[which]),
                        "a halo between ranks");
}

/* Without turns there is one m. */
static bool sends(const yk_cg *cg, yk_boundary which)
{
    switch (which) {
    case YK_BOUNDARY_Z:
    case YK_BOUNDARY_X: return true;
    case YK_BOUNDARY_P: return cg->planned != YK_CLASSICAL;
    case YK_BOUNDARY_M: return cg->planned == YK_PIPELINED;
    default: return cg->planned == YK_PIPELINED && cg->turns_m;
    }
}

/* Where a part, or the port behind them, has it; beside a GPU the link says. */
static double *halo_of(const yk_cg *cg, int part, yk_boundary which)
{
    const yk_port *port = &cg->link.port[part];
    if (cg->link.gpu < 0) return yk_boundary_vector(&cg->part[part], which) + cg->part[part].rows;
    return which == YK_BOUNDARY_Z ? port->halo_z : port->halo_x;
}

/* Columns of a part's halo that other parts of this rank own come first. */
static int64_t count_inside(const yk_cg *cg, const yk_part *part)
{
    int64_t low = 0, high = part->halo_column ? part->halo : 0;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (part->halo_column[middle] < cg->rows)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether what comes from other ranks is the end of this part's halo. */
static bool takes_all(const yk_cg *cg, int part)
{
    return cg->part[part].halo - cg->ranks->inside[part] == cg->ranks->spread->halo;
}

/* Into the halo of a part that takes all of it, if there is one. */
static yoke_status choose_memory(yk_cg *cg)
{
    struct yk_cg_ranks *ranks = cg->ranks;
    const yk_spread *spread = ranks->spread;
    const bool port = yk_cg_ranks_have_port(cg, spread);
    int taker = 0;
    while (taker < cg->parts && !takes_all(cg, taker)) taker++;
    const int64_t sent = port ? 0 : spread->sent, halo = taker < cg->parts ? 0 : spread->halo;
    ranks->memory_count = sent + halo;
    YK_TRY(yk_alloc(cg->context, "halo between ranks", ranks->memory_count, sizeof(double),
                    &ranks->memory));
    memset(ranks->memory, 0, (size_t)ranks->memory_count * sizeof(double));
    for (int w = 0; w < YK_RANK_CHANNELS; w++) {
        const yk_boundary which = (yk_boundary)w;
        if (!sends(cg, which)) continue;
        ranks->packed[which] = port ? halo_of(cg, cg->parts, which) : ranks->memory;
        ranks->came[which] = taker < cg->parts ? halo_of(cg, taker, which) + ranks->inside[taker]
                                               : ranks->memory + sent;
    }
    return YOKE_OK;
}

/* csr: the rank's, of which the first part has the first rows. */
yoke_status yk_cg_ranks_open(yk_cg *cg, const yk_spread *spread, const yk_csr *csr)
{
    struct yk_cg_ranks *ranks;
    YK_TRY(yk_alloc(cg->context, "meeting of ranks", 1, sizeof *ranks, &ranks));
    memset(ranks, 0, sizeof *ranks);
    cg->ranks = ranks;
    ranks->spread = spread;
    YK_TRY(yk_alloc(cg->context, "inner rows", cg->pieces, sizeof(yk_inner), &ranks->inner));
    YK_TRY(yk_alloc(cg->context, "halos inside", cg->parts, sizeof(int64_t), &ranks->inside));
    for (int i = 0; i < cg->parts; i++) {
        ranks->inside[i] = count_inside(cg, &cg->part[i]);
        ranks->has_halo = ranks->has_halo || cg->part[i].halo > 0;
    }
    cg->link.parts = cg->parts; /* the port behind them meets nobody */
    if (yk_cg_ranks_have_port(cg, spread)) cg->link.meeting = YK_MEET_BY_EVENTS;
    YK_TRY(choose_memory(cg));
    yk_team_run(cg, find_inner, NULL);
    if (yk_cg_ranks_have_port(cg, spread))
        ranks->gpu_inner = longest_inner(csr, cg->part[0].rows, 0, cg->part[0].rows);
    for (int which = 0; which < YK_RANK_CHANNELS; which++)
        if (sends(cg, (yk_boundary)which)) YK_TRY(open_channel(cg, (yk_boundary)which));
    return YOKE_OK;
}

void yk_cg_ranks_close(yk_cg *cg)
{
    struct yk_cg_ranks *ranks = cg->ranks;
    const yoke_comm *comm = cg->context->comm;
    if (!ranks) return;
    for (int i = 0; i < YK_RANK_CHANNELS; i++)
        if (ranks->channel[i]) comm->close(comm->self, ranks->channel[i]);
    yk_free(cg->context, ranks->memory, ranks->memory_count, sizeof(double));
    yk_free(cg->context, ranks->inner, cg->pieces, sizeof(yk_inner));
    yk_free(cg->context, ranks->inside, cg->parts, sizeof(int64_t));
    yk_free(cg->context, ranks, 1, sizeof *ranks);
    cg->ranks = NULL;
}

void yk_cg_ranks_bytes(const yk_cg *cg, const yk_spread *spread, size_t *host)
{
    *host += sizeof(struct yk_cg_ranks) + (size_t)cg->pieces * sizeof(yk_inner) +
             (size_t)cg->parts * sizeof(int64_t);
    if (!yk_cg_ranks_have_port(cg, spread)) *host += (size_t)spread->sent * sizeof(double);
}

/* -------------------------------------------------------------- exchanging */

/* The others are told in the next reduction, if it works; what they wait for is sent all the same.
 */
static bool done(yk_cg *cg, int code, const char *what)
{
    yoke_status status = yk_ranks_try(cg->context, code, what);
    if (status == YOKE_OK) return true;
    if (cg->status == YOKE_OK) cg->status = status;
    return false;
}

static bool receive(yk_cg *cg, yk_boundary which)
{
    const yoke_comm *comm = cg->context->comm;
    return done(cg, comm->receive(comm->self, cg->ranks->channel[which]), "receiving a halo");
}

static bool send(yk_cg *cg, yk_boundary which)
{
    const yoke_comm *comm = cg->context->comm;
    return done(cg, comm->send(comm->self, cg->ranks->channel[which]), "sending a halo");
}

static bool wait(yk_cg *cg, yk_boundary which)
{
    const yoke_comm *comm = cg->context->comm;
    return done(cg, comm->wait(comm->self, cg->ranks->channel[which]), "waiting for a halo");
}

/* To the parts that do not have it by its coming. */
static void scatter(yk_cg *cg, yk_boundary which)
{
    const struct yk_cg_ranks *ranks = cg->ranks;
    for (int i = 0; i < cg->parts; i++) {
        const yk_part *part = &cg->part[i];
        double *to = halo_of(cg, i, which);
        if (!part->halo_column || to + ranks->inside[i] == ranks->came[which]) continue;
        for (int64_t k = ranks->inside[i]; k < part->halo; k++)
            to[k] = ranks->came[which][part->halo_column[k] - cg->rows];
    }
}

void yk_cg_ranks_send(yk_cg *cg, yk_boundary which)
{
    (void)receive(cg, which);
    (void)send(cg, which);
    if (wait(cg, which)) scatter(cg, which);
}

/* For the next reduction, the word with which this rank goes into it. */
static yk_ranks_message *message_with(yk_cg *cg, int64_t word)
{
    yk_ranks_message *message = &cg->ranks->message;
    message->word = word;
    message->most[0] = message->most[1] = 0.0;
    return message;
}

static bool reduced(yk_cg *cg, yoke_status status, bool own_word)
{
    struct yk_cg_ranks *ranks = cg->ranks;
    if (status != YOKE_OK && cg->status == YOKE_OK) cg->status = status;
    if (status == YOKE_OK && ranks->message.word && !own_word) ranks->told = true;
    return status == YOKE_OK && ranks->message.word == 0;
}

/* In place of this rank's sums those of all. */
static bool reduce(yk_cg *cg, int64_t word)
{
    yk_ranks_message *message = message_with(cg, word);
    yoke_status status = yk_ranks_reduce(cg->context, message, cg->ranks->spread->nodes);
    return reduced(cg, status, word != 0);
}

void yk_cg_ranks_add(yk_cg *cg, yk_tree *all)
{
    cg->ranks->message.tree = *all;
    (void)reduce(cg, 0);
    *all = cg->ranks->message.tree;
}

/* ---------------------------------------------------------------- the loop */

void yk_cg_ranks_begin(yk_cg *cg)
{
    yk_flag_set(&cg->ranks->halo, cg->meetings);
    cg->ranks->clock.began = cg->s.iteration;
}

static void land(yk_cg *cg)
{
    struct yk_cg_ranks *ranks = cg->ranks;
    if (ranks->flying && wait(cg, ranks->flight)) scatter(cg, ranks->flight);
    ranks->flying = false;
}

/* Outside the loop every boundary is where it belongs, whoever advances next. With pipelining a
 * worker may have been lost after the last sums. */
void yk_cg_ranks_end(yk_cg *cg)
{
    struct yk_cg_ranks *ranks = cg->ranks;
    land(cg);
    ranks->awaited = false;
    if (yk_flag_get(cg->link.abort)) cg->s.stop = YK_CG_ABORTED;
    ranks->clock.times.iterations += cg->s.iteration - ranks->clock.began;
}

yoke_status yk_cg_ranks_agree(yk_cg *cg)
{
    yoke_status status = cg->status;
    bool aborted = cg->s.stop == YK_CG_ABORTED, told = cg->ranks && cg->ranks->told;
    if (status == YOKE_OK && aborted && !told)
        status = yk_fail(YOKE_TIMEOUT, "iteration %lld: an owner of rows did not answer for %g s",
                         (long long)cg->s.iteration + 1, cg->link.deadline);
    YK_TRY(yk_agree(cg->context, status, 0.0));
    return aborted ? yk_fail(YOKE_TIMEOUT, "another rank gave up") : YOKE_OK;
}

bool yk_cg_ranks_expect(yk_cg *cg, yk_boundary which)
{
    land(cg); /* what a product that failed did not wait for */
    cg->ranks->awaited = true;
    return receive(cg, which);
}

bool yk_cg_ranks_dispatch(yk_cg *cg, yk_boundary which)
{
    cg->ranks->flight = which;
    cg->ranks->flying = true;
    return send(cg, which);
}

bool yk_cg_ranks_finish_halo(yk_cg *cg, unsigned meeting)
{
    struct yk_cg_ranks *ranks = cg->ranks;
    double began = yk_rank_clock_read(&ranks->clock);
    if (ranks->flying && !wait(cg, ranks->flight)) return false;
    yk_rank_clock_add(&ranks->clock, began, &ranks->clock.times.halo);
    if (ranks->flying) scatter(cg, ranks->flight);
    ranks->flying = ranks->awaited = false;
    yk_flag_set(&ranks->halo, meeting);
    return true;
}

void yk_cg_ranks_progress(yk_cg *cg)
{
    const struct yk_cg_ranks *ranks = cg->ranks;
    const yoke_comm *comm = cg->context->comm;
    if (!comm->progress || (!ranks->flying && !ranks->reducing)) return;
    void *channel = ranks->flying ? ranks->channel[ranks->flight] : NULL;
    (void)comm->progress(comm->self, channel); /* a failure comes again where it is waited for */
}

/* The sums of this rank's parts, in their order; false if one of its workers is lost. */
static bool collect(yk_cg *cg, unsigned meeting, int dots)
{
    yk_link *link = &cg->link;
    yk_tree *tree = &cg->ranks->message.tree;
    yk_tree_begin(tree, cg->first_chunk, dots);
    for (int part = 0; part < cg->parts; part++) {
        yk_slot *slot = &link->port[part].slot[meeting & 1];
        if (!yk_flag_wait(&slot->flag, meeting, link->abort, link->deadline)) return false;
        yk_tree_append(tree, &slot->sums);
    }
    return true;
}

/* Whatever failed since the last sums is told with the next. */
static int64_t word_of(const yk_cg *cg, bool good)
{
    return good && cg->status == YOKE_OK ? 0 : YK_CG_ABORTED;
}

static void hand_out(yk_cg *cg, unsigned meeting)
{
    yk_slot *slot = &cg->ranks->slot[meeting & 1];
    slot->sums = cg->ranks->message.tree;
    yk_flag_set(&slot->flag, meeting);
}

/* All workers have packed their z by then. What others wait for is sent even by a rank that gives
 * up. */
bool yk_cg_ranks_meet(yk_cg *cg, yk_half half, unsigned meeting, int dots)
{
    struct yk_cg_ranks *ranks = cg->ranks;
    bool good = collect(cg, meeting, dots);
    if (half == YK_HALF_UPDATE) good = yk_cg_ranks_dispatch(cg, YK_BOUNDARY_Z) && good;
    double began = yk_rank_clock_read(&ranks->clock);
    if (!reduce(cg, word_of(cg, good))) return false;
    yk_rank_clock_add(&ranks->clock, began, &ranks->clock.times.sums);
    hand_out(cg, meeting);
    return true;
}

/* A worker that was lost since the last meeting is told of here. */
bool yk_cg_ranks_begin_sums(yk_cg *cg, unsigned meeting, int dots)
{
    struct yk_cg_ranks *ranks = cg->ranks;
    bool good = collect(cg, meeting, dots) && !yk_flag_get(cg->link.abort);
    ranks->own_word = word_of(cg, good);
    yk_ranks_message *message = message_with(cg, ranks->own_word);
    yoke_status status = yk_ranks_begin_reduce(cg->context, message, ranks->spread->nodes);
    ranks->reducing = status == YOKE_OK;
    return ranks->reducing ? good : reduced(cg, status, true);
}

bool yk_cg_ranks_finish_sums(yk_cg *cg, unsigned meeting)
{
    struct yk_cg_ranks *ranks = cg->ranks;
    if (!ranks->reducing) return false;
    ranks->reducing = false;
    double began = yk_rank_clock_read(&ranks->clock);
    if (!reduced(cg, yk_ranks_end_reduce(cg->context), ranks->own_word != 0)) return false;
    yk_rank_clock_add(&ranks->clock, began, &ranks->clock.times.sums);
    hand_out(cg, meeting);
    return true;
}

void yk_cg_ranks_give_up(yk_cg *cg, yk_half half)
{
    if (half == YK_HALF_UPDATE) {
        if (!cg->ranks->awaited) (void)yk_cg_ranks_expect(cg, YK_BOUNDARY_Z);
        (void)yk_cg_ranks_dispatch(cg, YK_BOUNDARY_Z);
    }
    yk_tree_begin(&cg->ranks->message.tree, cg->first_chunk, 1);
    (void)reduce(cg, YK_CG_ABORTED);
}
