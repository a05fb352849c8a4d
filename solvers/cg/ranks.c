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

static double *halo_of(const yk_cg *cg, int part, yk_boundary which)
{
    const yk_port *port = &cg->link.port[part];
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
    for (int w = 0; w < 2; w++) {
        const yk_boundary which = w == 0 ? YK_BOUNDARY_Z : YK_BOUNDARY_X;
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
    YK_TRY(open_channel(cg, YK_BOUNDARY_Z));
    return open_channel(cg, YK_BOUNDARY_X);
}

void yk_cg_ranks_close(yk_cg *cg)
{
    struct yk_cg_ranks *ranks = cg->ranks;
    const yoke_comm *comm = cg->context->comm;
    if (!ranks) return;
    for (int i = 0; i < 2; i++)
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

/* What failed once is not tried again: the others are told in the next reduction, if it works. */
static bool done(yk_cg *cg, int code, const char *what)
{
    yoke_status status = yk_ranks_try(cg->context, code, what);
    if (status == YOKE_OK) return true;
    if (cg->status == YOKE_OK) cg->status = status;
    cg->ranks->lost = status;
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
static void hand_out(yk_cg *cg, yk_boundary which)
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
    if (receive(cg, which) && send(cg, which) && wait(cg, which)) hand_out(cg, which);
}

/* Another rank gives up: what it says is what all will say. */
static void be_told(yk_cg *cg)
{
    if (cg->status != YOKE_OK || cg->ranks->message.word == 0) return;
    cg->status = yk_fail(YOKE_COMMUNICATION, "another rank gave up");
    cg->ranks->told = true;
}

yoke_status yk_cg_ranks_agree(yk_cg *cg, yoke_status own)
{
    bool told = cg->ranks && cg->ranks->told;
    yoke_status status = yk_agree(cg->context, told ? YOKE_OK : own, 0.0);
    if (status != YOKE_OK && own == YOKE_OK && cg->ranks) cg->ranks->told = true;
    return status == YOKE_OK ? own : status;
}

/* In place of this rank's sums those of all. */
static bool reduce(yk_cg *cg, int64_t word)
{
    struct yk_cg_ranks *ranks = cg->ranks;
    ranks->message.word = word;
    ranks->message.most[0] = ranks->message.most[1] = 0.0;
    yoke_status status = yk_ranks_reduce(cg->context, &ranks->message, ranks->spread->nodes);
    if (status != YOKE_OK) cg->status = ranks->lost = status;
    return status == YOKE_OK && ranks->message.word == 0;
}

void yk_cg_ranks_add(yk_cg *cg, yk_tree *all)
{
    cg->ranks->message.tree = *all;
    if (!reduce(cg, cg->status == YOKE_OK ? 0 : YK_CG_ABORTED)) be_told(cg);
    *all = cg->ranks->message.tree;
}

/* ---------------------------------------------------------------- the loop */

void yk_cg_ranks_begin(yk_cg *cg)
{
    yk_flag_set(&cg->ranks->halo, cg->meetings);
}

/* Outside the loop z is where it belongs, whoever advances next. */
void yk_cg_ranks_end(yk_cg *cg)
{
    if (cg->ranks->flying && wait(cg, YK_BOUNDARY_Z)) hand_out(cg, YK_BOUNDARY_Z);
    cg->ranks->flying = cg->ranks->awaited = false;
}

bool yk_cg_ranks_begin_update(yk_cg *cg)
{
    cg->ranks->awaited = true;
    return receive(cg, YK_BOUNDARY_Z);
}

bool yk_cg_ranks_finish_halo(yk_cg *cg, unsigned meeting)
{
    struct yk_cg_ranks *ranks = cg->ranks;
    if (ranks->flying && !wait(cg, YK_BOUNDARY_Z)) return false;
    if (ranks->flying) hand_out(cg, YK_BOUNDARY_Z);
    ranks->flying = ranks->awaited = false;
    yk_flag_set(&ranks->halo, meeting);
    return true;
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

/* All workers have packed their z by then. What others wait for is sent even by a rank that gives
 * up. */
bool yk_cg_ranks_meet(yk_cg *cg, yk_half half, unsigned meeting, int dots)
{
    struct yk_cg_ranks *ranks = cg->ranks;
    yk_slot *slot = &ranks->slot[meeting & 1];
    bool good = collect(cg, meeting, dots);
    if (half == YK_HALF_UPDATE) {
        good = send(cg, YK_BOUNDARY_Z) && good;
        ranks->flying = true;
    }
    if (!reduce(cg, good ? 0 : YK_CG_ABORTED)) {
        if (good) be_told(cg);
        return false;
    }
    slot->sums = ranks->message.tree;
    yk_flag_set(&slot->flag, meeting);
    return true;
}

void yk_cg_ranks_give_up(yk_cg *cg, yk_half half)
{
    if (half == YK_HALF_UPDATE) {
        if (cg->ranks->awaited || yk_cg_ranks_begin_update(cg)) (void)send(cg, YK_BOUNDARY_Z);
        cg->ranks->flying = true;
    }
    yk_tree_begin(&cg->ranks->message.tree, cg->first_chunk, 1);
    (void)reduce(cg, YK_CG_ABORTED);
}
