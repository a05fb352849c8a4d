/* SPDX-License-Identifier: BSD-3-Clause */
/* model_gpu.c: the GPU's terms. */
#include <math.h>

#include "lib/model.h"

enum { SECTOR = 32, CHUNK = 256 };

/* Chunks of a block: with more its matrix is not on the chip, nor are x, and q. */
enum { RESIDENT = 8, HOLDS_X = 20, HOLDS_Q = 32 };

/* Share of the gathers whose sector no other row near by wants: none where a sector's four numbers
 * serve a row each, all where each entry has a sector of its own. */
double yk_model_lonely(const yoke_shape *a)
{
    double a_row = a->rows > 0.0 ? a->nonzeros / a->rows : 0.0;
    double share = a_row > 0.0 ? a->sectors / a_row : 0.0;
    return fmin(1.0, fmax(0.0, (share - 0.25) / 0.75));
}

/* From memory, of the multiprocessors that work: no more than plain reads by so many reach, and no
 * more than these passes draw each. */
static double memory_speed(const yk_model *m)
{
    const yk_curve *read = &m->machine->gpu_read, *sms = &m->machine->gpu_read_sms;
    double all = read->points > 0 ? read->value[read->points - 1] : NAN;
    double has = yk_figure_or(&m->machine->gpu_sms, 1.0);
    if (m->plan->gpu_sms <= 0 || m->plan->gpu_sms >= has) return all;
    double share = fmin(1.0, m->c->sms_alone * m->plan->gpu_sms / has);
    if (sms->points > 1)
        share = fmin(share, yk_curve_at(sms, m->plan->gpu_sms) / yk_curve_at(sms, has));
    return all * share;
}

/* What of the iteration's bytes the level 2 cache still has when they are wanted again. */
static double speed_of(const yk_model *m)
{
    double memory = memory_speed(m), l2 = yk_figure_or(&m->machine->gpu_l2_bytes, 0.0);
    double kept = m->gpu_set > 0.0 ? fmin(1.0, m->c->l2_kept * l2 / m->gpu_set) : 1.0;
    return memory / (1.0 - kept + kept / m->c->l2_speed);
}

static double gather_seconds(const yk_model *m)
{
    double l2 = yk_figure_or(&m->machine->gpu_l2_bytes, INFINITY);
    double rate = m->c->gather_share * m->c->l2_speed * memory_speed(m) / SECTOR;
    double lonely = yk_model_lonely(m->matrix);
    double vectors = m->plan->folded ? 2.0 : 1.0; /* z and the last p */
    double crowding = 1.0 + lonely * m->c->gather_crowding * 8.0 * vectors * m->rows / l2;
    return vectors * m->matrix->sectors * m->gpu_rows * crowding / rate;
}

/* Less while the CPU reads its memory too. */
static double host_speed(const yk_model *m)
{
    double alone = yk_figure_or(&m->machine->gpu_reads_host, NAN);
    double beside = yk_figure_or(&m->machine->gpu_reads_host_shared, alone);
    return m->c->host_share * (m->cpu_rows > 0.0 ? fmin(alone, beside) : alone);
}

/* ------------------------------------------------------------------ the loop */

static double folded_or(const yk_model *m, double folded, double unfolded)
{
    return m->plan->folded ? folded : unfolded;
}

double yk_model_gpu_tail(const yk_model *m)
{
    double barrier = yk_figure_or(&m->machine->gpu_grid_barrier, NAN);
    return barrier * folded_or(m, m->c->fold_tail_barriers, m->c->tail_barriers);
}

/* Launches by a stream overlap with the work of those before: they count where they are longer. */
static void steps(const yk_model *m, double work, int passes, double *term)
{
    double node = yk_figure_or(&m->machine->gpu_graph_node, NAN),
           tails = passes * yk_model_gpu_tail(m);
    double launches = passes * node;
    if (m->plan->driver == YK_MODEL_STREAM) {
        double enqueuing = passes * yk_figure_or(&m->machine->gpu_launch, NAN);
        launches += passes * m->c->stream_overhead;
        launches = fmax(launches, enqueuing - work - tails);
    }
    term[YK_TERM_gpu_launches] += launches;
    term[YK_TERM_gpu_tails] += tails;
}

/* What CSR's threads take for the rows, however fast entries come. */
static double walk_seconds(const yk_model *m)
{
    double sms = yk_figure_or(&m->machine->gpu_sms, 132.0);
    double steps = ceil(m->nonzeros / m->rows / 8.0);
    if (m->plan->sell || !(m->rows > 0.0)) return 0.0;
    if (m->plan->gpu_sms > 0) sms = fmin(sms, m->plan->gpu_sms);
    return m->gpu_rows * (m->c->csr_row + m->c->csr_step * steps) / sms;
}

/* Rows in the memory of the GPU, but for the share of the matrix that is read over the link
 * meanwhile. */
static void in_memory(const yk_model *m, yk_model_times *times)
{
    double *first = times->at[0], speed = speed_of(m);
    double spilled = m->plan->home == YK_MODEL_SPILL ? m->plan->spill * m->gpu_bytes : 0.0;
    double share = m->plan->sell ? m->c->gpu_sell_share : m->c->gpu_csr_share;
    double matrix = (m->gpu_bytes - spilled) / (share * speed);
    double vectors = yk_model_row_bytes(m, 0) * m->gpu_rows / (m->c->gpu_vector_share * speed);
    double of_product = yk_model_product_bytes(m) / yk_model_row_bytes(m, 0);
    double own = matrix + vectors * of_product; /* of the product's pass */
    double gathers = fmax(0.0, gather_seconds(m) - own);
    double host = spilled > 0.0 ? spilled / host_speed(m) : 0.0;
    matrix += fmax(0.0, walk_seconds(m) - own - gathers);
    first[YK_TERM_gpu_matrix] += matrix;
    first[YK_TERM_gpu_gathers] += gathers;
    first[YK_TERM_gpu_vectors] += vectors;
    first[YK_TERM_gpu_host] += fmax(0.0, host - own - gathers);
    steps(m, matrix + vectors + gathers, m->plan->folded ? 1 : 2, first);
    if (yk_model_halves(m) == 1) return;
    vectors = yk_model_row_bytes(m, 1) * m->gpu_rows / (m->c->gpu_vector_share * speed);
    times->at[1][YK_TERM_gpu_vectors] += vectors;
    steps(m, vectors, 1, times->at[1]);
}

/* Everything lies in host memory and nothing of it stays in the caches. */
static void over_the_link(const yk_model *m, yk_model_times *times)
{
    double lonely = yk_model_lonely(m->matrix) * m->nonzeros * m->gpu_rows / m->rows;
    double bytes =
        m->gpu_bytes + yk_model_row_bytes(m, 0) * m->gpu_rows + lonely * m->c->lonely_sector;
    times->at[0][YK_TERM_gpu_host] += bytes / host_speed(m);
    times->at[1][YK_TERM_gpu_host] += yk_model_row_bytes(m, 1) * m->gpu_rows / host_speed(m);
    steps(m, 0.0, m->plan->folded ? 1 : 2, times->at[0]);
    if (yk_model_halves(m) > 1) steps(m, 0.0, 1, times->at[1]);
}

/* A block's chunks of rows. */
static double chunks_of_block(const yk_model *m)
{
    return ceil(ceil(m->gpu_rows / CHUNK) / yk_figure_or(&m->machine->gpu_sms, NAN));
}

/* Vectors on the chip, the matrix not: p goes to memory, too, and what a block has no room for: x,
 * then q. */
static void held(const yk_model *m, yk_model_times *times)
{
    double of_block = chunks_of_block(m), speed = memory_speed(m);
    double barriers = m->c->held_barriers * yk_figure_or(&m->machine->gpu_grid_barrier, NAN);
    double matrix = m->gpu_bytes / (m->c->held_share * speed);
    double p = 12.0 + (of_block > HOLDS_Q ? 8.0 : 0.0); /* written, and half of it read */
    double rest = (of_block > HOLDS_Q ? 8.0 : 0.0) + (of_block > HOLDS_X ? 16.0 : 0.0);
    times->at[0][YK_TERM_gpu_matrix] += matrix;
    times->at[0][YK_TERM_gpu_gathers] += fmax(0.0, gather_seconds(m) - matrix);
    times->at[0][YK_TERM_gpu_vectors] += p * m->gpu_rows / (m->c->held_vector_share * speed);
    times->at[1][YK_TERM_gpu_vectors] += rest * m->gpu_rows / (m->c->held_vector_share * speed);
    times->at[0][YK_TERM_gpu_tails] += 0.6 * barriers;
    times->at[1][YK_TERM_gpu_tails] += 0.4 * barriers;
}

/* Blocks have whole chunks; the longest-running one counts. */
static void on_the_chip(const yk_model *m, yk_model_times *times)
{
    double rows = chunks_of_block(m) * CHUNK, entries = rows * m->nonzeros / m->rows;
    double barriers = m->c->resident_barriers * yk_figure_or(&m->machine->gpu_grid_barrier, NAN);
    times->at[0][YK_TERM_gpu_matrix] += m->c->resident_entry * entries;
    times->at[0][YK_TERM_gpu_vectors] += m->c->resident_row * rows;
    times->at[0][YK_TERM_gpu_tails] += 0.5 * barriers;
    times->at[1][YK_TERM_gpu_tails] += 0.5 * barriers;
}

/* Managed memory that the GPU owns lies there; explicit copies too. */
static bool lies_in_host_memory(const yk_model_plan *plan)
{
    return plan->home == YK_MODEL_SHARED &&
           (plan->memory == YK_MODEL_MAPPED || plan->memory == YK_MODEL_SYSTEM);
}

bool yk_model_reads_host_memory(const yk_model *m)
{
    const yk_model_plan *plan = m->plan;
    return m->gpu_rows > 0.0 &&
           (lies_in_host_memory(plan) || (plan->home == YK_MODEL_SPILL && plan->spill > 0.0));
}

void yk_model_gpu_terms(const yk_model *m, yk_model_times *times)
{
    if (m->plan->driver == YK_MODEL_PERSISTENT && chunks_of_block(m) > RESIDENT)
        held(m, times);
    else if (m->plan->driver == YK_MODEL_PERSISTENT)
        on_the_chip(m, times);
    else if (lies_in_host_memory(m->plan))
        over_the_link(m, times);
    else
        in_memory(m, times);
}
