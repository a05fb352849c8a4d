/* SPDX-License-Identifier: BSD-3-Clause */
/* model_cpu.c: the CPU's terms. */
#include <math.h>

#include "lib/model.h"

/* Times as fast as from memory, as it is for reading a set of that size over and over: of what half
 * of the last caches hold. Of more, reading alone gains and a pass that writes does not. */
static double cache_gain(const yk_model *m)
{
    const yk_curve *set = &m->machine->cpu_read_set;
    double cache = yk_figure_or(&m->machine->cpu_cache_bytes, 0.0);
    if (set->points < 2 || m->cpu_set > 0.5 * cache) return 1.0;
    return fmax(1.0, yk_curve_at(set, m->cpu_set) / set->value[set->points - 1]);
}

static double read_speed(const yk_model *m)
{
    double memory = yk_curve_at(&m->machine->cpu_read, m->threads);
    if (yk_model_reads_host_memory(m))
        memory = fmin(memory, yk_figure_or(&m->machine->cpu_reads_host_shared, memory));
    return memory * cache_gain(m);
}

static double vector_speed(const yk_model *m)
{
    bool cached = cache_gain(m) > 1.0;
    return read_speed(m) * (cached ? m->c->cpu_cached_vector_share : m->c->cpu_vector_share);
}

/* Where a vector does not stay in the caches, a gather waits for memory. */
static double gather_seconds(const yk_model *m)
{
    const yk_curve *set = &m->machine->cpu_gather_set;
    double all = yk_figure_or(&m->machine->cpu_threads, 1.0), lonely = yk_model_lonely(m->matrix);
    double vectors = m->plan->folded ? 2.0 : 1.0; /* z and the last p */
    double gathers = vectors * lonely * m->nonzeros * m->cpu_rows / m->rows;
    if (!(lonely > 0.0)) return 0.0;
    if (set->points == 0) return gathers * m->c->cpu_lonely / m->threads;
    return gathers / (yk_curve_at(set, 8.0 * m->rows) * m->threads / all);
}

static void product(const yk_model *m, double speed, double *term)
{
    double nonzeros = m->nonzeros * m->cpu_rows / m->rows;
    double reading = m->cpu_bytes / (m->c->cpu_share * speed);
    double entry = m->c->cpu_entry + (m->plan->folded ? m->c->cpu_fold_entry : 0.0);
    double computing = (m->c->cpu_row * m->cpu_rows + entry * nonzeros) / m->threads;
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
    if (half >= yk_model_halves(m)) return 0;
    return gate + (m->gpu_rows > 0.0 ? 0 : 1);
}

void yk_model_cpu_terms(const yk_model *m, yk_model_times *times)
{
    product(m, read_speed(m), times->at[0]);
    for (int half = 0; half < YK_HALVES; half++) {
        double bytes = yk_model_row_bytes(m, half) * m->cpu_rows;
        times->at[half][YK_TERM_cpu_vectors] += bytes / vector_speed(m);
        times->at[half][YK_TERM_cpu_barriers] += barriers_in(m, half) * yk_model_cpu_barrier(m);
    }
}
