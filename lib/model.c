/* SPDX-License-Identifier: BSD-3-Clause */
/* model.c: the terms put together. Owners work side by side within a half of an iteration and meet
 * at its end, so a half takes as long as the slower of them, and what they do one after the other.
 */
#include "lib/model.h"

#include <math.h>
#include <string.h>

const yk_model_constants yk_model_defaults = {
#define CONSTANT(name, value, text) .name = (value),
    YK_MODEL_CONSTANTS(CONSTANT)
#undef CONSTANT
};

const yk_model_term yk_model_terms[YK_MODEL_TERM_COUNT] = {
#define TERM(name, owner, text) {#name, text, owner},
    YK_MODEL_TERMS(TERM)
#undef TERM
};

/* A thread is worth waking for about this many bytes an iteration; the planner has the same. */
#define BYTES_A_THREAD 65536.0

double yk_model_row_bytes(const yk_model *m, int half)
{
    bool jacobi = m->plan->jacobi;
    if (half >= yk_model_halves(m)) return 0.0;
    if (half == 1) return jacobi ? 40.0 : 24.0;
    if (m->plan->solver == YK_MODEL_SINGLE) return jacobi ? 112.0 : 88.0;
    if (m->plan->solver == YK_MODEL_PIPELINED) return jacobi ? 136.0 : 120.0;
    return m->plan->folded ? 48.0 : 56.0;
}

double yk_model_product_bytes(const yk_model *m)
{
    if (m->plan->folded) return yk_model_row_bytes(m, 0);
    return m->plan->solver == YK_MODEL_SINGLE && m->plan->jacobi ? 24.0 : 16.0;
}

static double matrix_bytes(const yk_model *m, double rows, bool sell)
{
    const yoke_shape *a = m->matrix;
    if (a->rows <= 0.0) return 0.0;
    double share = rows / a->rows;
    if (!sell) return share * (12.0 * a->nonzeros + a->start_bytes * a->rows);
    return share * (12.0 * a->sell_entries + (a->sell_sorted ? a->rows : 0.0));
}

static int threads_of(const yk_model *m, double bytes)
{
    double has = yk_figure_or(&m->machine->cpu_threads, 1.0);
    double worth = floor(bytes / BYTES_A_THREAD);
    if (m->plan->threads > 0) return m->plan->threads;
    return (int)fmax(1.0, fmin(has, worth));
}

static yk_model prepare(const yk_profile *machine, const yk_model_constants *constants,
                        const yoke_shape *matrix, const yk_model_plan *plan)
{
    yk_model m = {.machine = machine,
                  .c = constants ? constants : &yk_model_defaults,
                  .matrix = matrix,
                  .plan = plan};
    double ranks = plan->ranks > 1 ? plan->ranks : 1.0;
    m.rows = matrix->rows / ranks;
    m.nonzeros = matrix->nonzeros / ranks;
    m.cpu_rows = plan->cpu_share * m.rows;
    m.gpu_rows = m.rows - m.cpu_rows;
    m.cpu_bytes = matrix_bytes(&m, m.cpu_rows, false);
    m.gpu_bytes = matrix_bytes(&m, m.gpu_rows, plan->sell);
    double a_row = yk_model_row_bytes(&m, 0) + yk_model_row_bytes(&m, 1);
    m.cpu_set = m.cpu_bytes + a_row * m.cpu_rows;
    m.gpu_set = m.gpu_bytes + a_row * m.gpu_rows;
    m.threads = threads_of(&m, m.cpu_set);
    return m;
}

/* x, r, p, q, b and a snapshot, with Jacobi z and the inverse diagonal, folded a second p; w and s
 * in place of q, pipelined t and q too. */
static double gpu_memory(const yk_model *m)
{
    int vectors = 6 + (m->plan->jacobi ? 2 : 0) + (m->plan->folded ? 1 : 0) +
                  (m->plan->solver == YK_MODEL_SINGLE      ? 1
                   : m->plan->solver == YK_MODEL_PIPELINED ? 3
                                                           : 0);
    double kept = m->plan->home == YK_MODEL_SPILL ? 1.0 - m->plan->spill : 1.0;
    bool away = m->plan->home == YK_MODEL_SHARED && m->plan->memory != YK_MODEL_EXPLICIT &&
                m->plan->memory != YK_MODEL_MANAGED;
    return away ? 0.0 : kept * m->gpu_bytes + 8.0 * vectors * m->gpu_rows;
}

static double sum_of(const double *term, char owner)
{
    double sum = 0.0;
    for (int t = 0; t < YK_MODEL_TERM_COUNT; t++)
        if (yk_model_terms[t].owner == owner) sum += term[t];
    return sum;
}

static void put_together(const yk_model_times *times, yk_model_result *result)
{
    for (int half = 0; half < YK_HALVES; half++) {
        const double *term = times->at[half];
        double cpu = sum_of(term, 'c'), gpu = sum_of(term, 'g');
        char hidden = cpu < gpu ? 'c' : 'g';
        result->cpu += cpu;
        result->gpu += gpu;
        for (int t = 0; t < YK_MODEL_TERM_COUNT; t++) {
            result->work[t] += term[t];
            if (yk_model_terms[t].owner != hidden) result->counted[t] += term[t];
        }
    }
    for (int t = 0; t < YK_MODEL_TERM_COUNT; t++) result->counted[t] -= times->hidden[t];
    for (int t = 0; t < YK_MODEL_TERM_COUNT; t++) result->seconds += result->counted[t];
    if (isnan(result->cpu) || isnan(result->gpu)) result->seconds = NAN;
}

void yk_model_predict(const yk_profile *machine, const yk_model_constants *constants,
                      const yoke_shape *matrix, const yk_model_plan *plan, yk_model_result *result)
{
    const yk_model m = prepare(machine, constants, matrix, plan);
    yk_model_times times;
    memset(&times, 0, sizeof times);
    *result = (yk_model_result){0};
    if (m.rows > 0.0) {
        if (m.cpu_rows > 0.0) yk_model_cpu_terms(&m, &times);
        if (m.gpu_rows > 0.0) yk_model_gpu_terms(&m, &times);
        if (m.cpu_rows > 0.0 && m.gpu_rows > 0.0) yk_model_link_terms(&m, &times);
        if (plan->ranks > 1) yk_model_rank_terms(&m, &times);
    }
    put_together(&times, result);
    if (m.gpu_rows > 0.0) result->gpu_bytes = gpu_memory(&m);
}
