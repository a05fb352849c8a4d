/* SPDX-License-Identifier: BSD-3-Clause */
/* cuts.c: which rows each owner works on beside a cut that moves, and when it does. Nothing here
 * takes memory: a cut is addresses and counts, made ready at planning. */
#include "solvers/cg/cuts.h"

#include "lib/context.h"
#include "partition/balance.h"
#include "solvers/cg/bytes.h"
#include "solvers/cg/pieces.h"

/* ------------------------------------------------------------------ pieces */

static void lay_pieces(yk_cg *cg, int part, int64_t first, int64_t last, int64_t halo)
{
    const yk_part *p = &cg->part[part];
    const yk_shares shares = {.part = p,
                              .csr = &p->csr,
                              .first = first,
                              .last = last,
                              .halo = halo,
                              .row_bytes = yk_cg_row_bytes(cg->folded, cg->jacobi),
                              .count = cg->pieces_of[part]};
    yk_piece *piece = cg->piece + (part > 0 ? cg->gpu_pieces : 0);
    for (int share = 0; share < shares.count; share++) yk_piece_lay(&shares, share, &piece[share]);
}

/* Few rows are for few threads, as each costs the others a wait. */
static int pieces_for(const yk_cuts *cuts, int64_t rows)
{
    enum { CHUNKS = 2 };
    int64_t worth = (yk_chunks(rows) + CHUNKS - 1) / CHUNKS;
    return worth < cuts->pieces ? (int)worth : cuts->pieces;
}

static void use_pieces(yk_cg *cg, int pieces)
{
    const yk_cuts *cuts = cg->cuts;
    cg->pieces_of[1] = pieces;
    cg->pieces = cg->gpu_pieces + pieces;
    cg->threads = pieces < cuts->threads ? pieces : cuts->threads;
}

void yk_cuts_hold(yk_cg *cg)
{
    yk_part *cpu = &cg->part[1];
    use_pieces(cg, cg->cuts->pieces);
    cpu->send[0].count = 0;
    lay_pieces(cg, 1, 0, cpu->rows, cpu->halo);
}

/* -------------------------------------------------------------------- take */

static int64_t boundary_of(const int64_t *first, int cut)
{
    return first[cut + 1] - first[cut];
}

static void take_gpu(yk_cg *cg, int cut)
{
    const yk_cuts *cuts = cg->cuts;
    yk_part *gpu = &cg->part[0];
    gpu->csr.rows = cuts->row[cut];
    gpu->moving.rows = cuts->row[cut];
    gpu->moving.arriving = boundary_of(cuts->cpu_first, cut);
    gpu->send[0].count = boundary_of(cuts->gpu_first, cut);
    gpu->send[0].row = cuts->gpu_row + cuts->gpu_first[cut];
}

static void take_cpu(yk_cg *cg, int cut)
{
    const yk_cuts *cuts = cg->cuts;
    yk_part *cpu = &cg->part[1];
    cpu->moving.first = cuts->row[cut] - cpu->first;
    cpu->moving.rows = cg->rows - cuts->row[cut];
    cpu->moving.arriving = boundary_of(cuts->gpu_first, cut);
    cpu->moving.at = cuts->cpu_place + cuts->gpu_first[cut];
    cpu->send[0].count = boundary_of(cuts->cpu_first, cut);
    cpu->send[0].row = cuts->cpu_row + cuts->cpu_first[cut];
}

void yk_cuts_take(yk_cg *cg, int cut)
{
    const yk_part *cpu = &cg->part[1];
    cg->cuts->at = cut;
    take_gpu(cg, cut);
    take_cpu(cg, cut);
    use_pieces(cg, pieces_for(cg->cuts, cpu->moving.rows));
    lay_pieces(cg, 1, cpu->moving.first, cpu->rows, cpu->moving.arriving);
    cg->driver->engine->take_cut(cg, cut);
}

/* ------------------------------------------------------------------- adapt */

static void reset_clock(yk_cuts *cuts)
{
    cuts->clock.seconds = cuts->clock.busy = 0.0;
    cuts->clock.iterations = 0;
}

void yk_cuts_begin(yk_cg *cg, yk_rates rates)
{
    yk_cuts *cuts = cg->cuts;
    const yk_part *part = &cg->part[1]; /* holds all rows behind the first cut */
    double cpu[YK_MOST_CUTS], gpu[YK_MOST_CUTS];
    double row_bytes = yk_cg_row_bytes(cg->folded, cg->jacobi);
    double held = yk_bytes_before(&part->csr, row_bytes, part->rows);
    for (int k = 0; k < cuts->count; k++) {
        int pieces = pieces_for(cuts, cg->rows - cuts->row[k]);
        cpu[k] = held - yk_bytes_before(&part->csr, row_bytes, cuts->row[k] - part->first);
        gpu[k] = cuts->bytes - cpu[k];
        cpu[k] *= (double)cuts->pieces / pieces;
    }
    reset_clock(cuts); /* of what planning tried */
    yk_adaptive_begin(&cuts->policy, cuts->count, cuts->at, cpu, gpu, rates);
}

static int next_cut(yk_cg *cg)
{
    yk_cuts *cuts = cg->cuts;
    const yk_clock *clock = &cuts->clock;
    const double iterations = (double)clock->iterations;
    const yk_times times = {clock->seconds / iterations, clock->busy / iterations};
    if (cuts->forced) return cuts->forced < cuts->forced_end ? *cuts->forced++ : cuts->at;
    int cut = yk_adaptive_next(&cuts->policy, times);
    yk_log(cg->context, YOKE_LOG_DETAIL,
           "iteration %lld: %lld rows on the CPU, %.4g us an iteration, %.4g us by the CPU; next "
           "%lld rows",
           (long long)cg->s.iteration, (long long)(cg->rows - cuts->row[cuts->at]),
           1e6 * times.seconds, 1e6 * times.busy, (long long)(cg->rows - cuts->row[cut]));
    return cut;
}

static int64_t wish(const yk_cuts *cuts)
{
    if (!cuts->forced) return yk_adaptive_wish(&cuts->policy);
    return cuts->forced < cuts->forced_end ? 1 + cuts->at % 3 : INT64_MAX;
}

static int64_t limited(const yk_cuts *cuts, int64_t steps)
{
    int64_t most = wish(cuts);
    return steps < most ? steps : most;
}

/* Where advances are shorter than wished for, as under a monitor or in short solves, several are
 * taken together. */
int64_t yk_cuts_adapt(yk_cg *cg, int64_t steps)
{
    yk_cuts *cuts = cg->cuts;
    if (!cuts->forced && (cuts->clock.iterations < 1 || 2 * cuts->clock.iterations < wish(cuts)))
        return limited(cuts, steps);
    int cut = next_cut(cg);
    reset_clock(cuts);
    if (cut != cuts->at) {
        cg->driver->engine->move_cut(cg, cut);
        cuts->moved++;
    }
    return limited(cuts, steps);
}
