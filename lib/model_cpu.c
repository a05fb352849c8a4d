/* SPDX-License-Identifier: BSD-3-Clause */
/* model_cpu.c: the CPU's terms. */
#include <math.h>

#include "lib/model.h"

/* The caches count as they do for reading a set of that size over and over. */
static double read_speed(const yk_model *m, double bytes)
{
    const yk_profile *p = m->machine;
    double memory = yk_curve_at(&p->cpu_read, m->threads);
    const yk_curve *set = &p->cpu_read_set;
    if (set->points < 2) return memory;
    double gain = yk_curve_at(set, bytes) / set->value[set->points - 1];
    return memory * fmax(1.0, gain);
}

/* Where a vector does not stay in the caches, a gather waits for memory. */
static double gather_seconds(const yk_model *m)
{
    const yk_curve *set = &m->machine->cpu_gather_set;
    double all = yk_figure_or(&m->machine->cpu_threads, 1.0), lonely = yk_model_lonely(m->matrix);
    double gathers = lonely * m->nonzeros * m->cpu_rows / m->rows;
    if (!(lonely > 0.0)) return 0.0;
    if (set->points == 0) return gathers * m->c->cpu_lonely / m->threads;
    return gathers / (yk_curve_at(set, 8.0 * m->rows) * m->threads / all);
}

static void product(const yk_model *m, double speed, double *term)
{
    double nonzeros = m->nonzeros * m->cpu_rows / m->rows;
    double reading = m->cpu_bytes / (m->c->cpu_share * speed);
    double computing = (m->c->cpu_row * m->cpu_rows + m->c->cpu_entry * nonzeros) / m->threads;
    double longest = fmax(computing, gather_seconds(m));
    term[YK_TERM_cpu_matrix] += reading;
    term[YK_TERM_cpu_products] += fmax(0.0, longest - reading);
}

/* The barrier of all threads, of which fewer cost in proportion. */
double yk_model_cpu_barrier(const yk_model *m)
{
    double all = yk_figure_or(&m->machine->cpu_threads, 1.0);
    if (m->threads < 2 || all < 2.0) return 0.0;
    return yk_figure_or(&m->machine->cpu_barrier, NAN) * (m->threads - 1.0) / (all - 1.0);
}

/* A meeting ends each half; unfolded, p is complete before it is gathered. Beside a GPU the meeting
 * itself is the link's. */
static int barriers_in(const yk_model *m, int half)
{
    int gate = half == 0 && !m->plan->folded;
    return gate + (m->gpu_rows > 0.0 ? 0 : 1);
}

void yk_model_cpu_terms(const yk_model *m, yk_model_times *times)
{
    double speed = read_speed(m, m->cpu_set);
    double vectors = read_speed(m, 8.0 * 5.0 * m->cpu_rows); /* x, r, p, q, z lie together */
    vectors = fmax(speed, vectors);
    product(m, speed, times->at[0]);
    for (int half = 0; half < YK_HALVES; half++) {
        double bytes = yk_model_row_bytes(m, half) * m->cpu_rows;
        times->at[half][YK_TERM_cpu_vectors] += bytes / (m->c->cpu_vector_share * speed);
        times->at[half][YK_TERM_cpu_barriers] += barriers_in(m, half) * yk_model_cpu_barrier(m);
    }
}
