/* SPDX-License-Identifier: BSD-3-Clause */
/* calibrate_cpu.c: how fast the CPU's threads read their memory and caches, in order and at random.
 */
#include <math.h>
#include <stdlib.h>

#include "lib/calibrate.h"
#include "lib/context.h"
#include "lib/status.h"
#include "lib/sweep.h"
#include "lib/threads.h"

#define MIB ((int64_t)1 << 20)

/* Of each point, and of all counts of threads beside the first. */
static const double SECONDS = 0.05, BUDGET = 1.5;

/* Twice the last caches, so that memory is measured, within what there is and is soon touched. */
static size_t buffer_bytes(const yk_profile *p)
{
    double bytes = 2.0 * yk_figure_or(&p->cpu_cache_bytes, 32e6);
    double room = yk_figure_or(&p->host_memory_bytes, 1e9) / 8.0, limit = (double)yk_memory_limit();
    bytes = fmin(fmax(bytes, (double)(128 * MIB)), (double)(512 * MIB));
    return (size_t)fmin(bytes, fmin(room, limit / 4.0));
}

static double best_of(yoke_bandwidth *buffer, yoke_stream what)
{
    double until = yoke_seconds() + SECONDS, best = NAN;
    do best = fmax(best, yoke_bandwidth_measure(buffer, what));
    while (yoke_seconds() < until);
    return best > 0.0 ? best : NAN;
}

/* ----------------------------------------------------------------- threads */

enum { MOST_COUNTS = 20 };

/* 1, 2, 4, ... and all of them; at most as many as a curve has points. */
static int counts_of(int most, int *count)
{
    int n = 0;
    for (int threads = 1; threads < most && n < YK_CURVE_POINTS - 1; threads *= 2)
        count[n++] = threads;
    count[n++] = most;
    return n;
}

static yoke_status measure_count(yk_calibration *c, int threads, double *read, double *triad)
{
    yoke_bandwidth *buffer = NULL;
    YK_TRY(yoke_bandwidth_create(c->context, threads, buffer_bytes(c->profile), &buffer));
    *read = best_of(buffer, YOKE_STREAM_READ);
    *triad = best_of(buffer, YOKE_STREAM_TRIAD);
    yoke_bandwidth_destroy(buffer);
    return YOKE_OK;
}

/* All threads first, as these count most; of others what there is time for. */
static yoke_status measure_threads(yk_calibration *c)
{
    int count[MOST_COUNTS], n = counts_of(c->threads, count);
    double read[MOST_COUNTS], triad[MOST_COUNTS];
    YK_TRY(measure_count(c, count[n - 1], &read[n - 1], &triad[n - 1]));
    double until = yoke_seconds() + BUDGET;
    for (int k = 0; k < n - 1; k++) {
        read[k] = triad[k] = NAN;
        if (yoke_seconds() < until) YK_TRY(measure_count(c, count[k], &read[k], &triad[k]));
    }
    for (int k = 0; k < n; k++) {
        yk_calibration_add(c, &c->profile->cpu_read, count[k], read[k]);
        yk_calibration_add(c, &c->profile->cpu_triad, count[k], triad[k]);
    }
    return YOKE_OK;
}

/* ------------------------------------------------------------ working sets */

static yoke_status measure_sets(yk_calibration *c)
{
    int64_t most = (int64_t)buffer_bytes(c->profile);
    for (int64_t bytes = MIB; bytes <= most; bytes *= 4) {
        yoke_bandwidth *buffer = NULL;
        YK_TRY(yoke_bandwidth_create(c->context, c->threads, (size_t)bytes, &buffer));
        yk_calibration_add(c, &c->profile->cpu_read_set, (double)bytes,
                           best_of(buffer, YOKE_STREAM_READ));
        yoke_bandwidth_destroy(buffer);
    }
    return YOKE_OK;
}

/* ----------------------------------------------------------------- gathers */

enum { GATHERS = 1 << 16 /* of a thread, between two looks at the clock */, CHAINS = 4 };

typedef struct gathers {
    const double *vector;
    double *sums; /* [threads * a line] */
    uint64_t mask;
} gathers;

/* Places by linear congruences (Knuth's MMIX), independent of each other and of what was read: as
 * many reads are under way as the core allows, as when columns are known. */
static void gather(void *user, int64_t first, int64_t last)
{
    const gathers *g = user;
    for (int64_t t = first; t < last; t++) {
        uint64_t state[CHAINS];
        double sum[CHAINS] = {0.0};
        for (int i = 0; i < CHAINS; i++)
            state[i] = (uint64_t)(t * CHAINS + i + 1) * 0x9e3779b97f4a7c15u;
        for (int k = 0; k < GATHERS / CHAINS; k++)
            for (int i = 0; i < CHAINS; i++) {
                state[i] = state[i] * 6364136223846793005u + 1442695040888963407u;
                sum[i] += g->vector[(state[i] >> 24) & g->mask];
            }
        g->sums[t * YK_LINE] = sum[0] + sum[1] + sum[2] + sum[3];
    }
}

static void touch(void *user, int64_t first, int64_t last)
{
    double *vector = user;
    for (int64_t i = first; i < last; i++) vector[i] = 1.0;
}

static double gathers_a_second(const yk_calibration *c, gathers *g)
{
    double best = NAN, until = yoke_seconds() + SECONDS;
    do {
        double start = yoke_seconds();
        yk_parallel_for(c->threads, c->threads, 1, gather, g);
        best = fmin(best, yoke_seconds() - start);
    } while (yoke_seconds() < until);
    return best > 0.0 ? (double)GATHERS * c->threads / best : NAN;
}

static yoke_status measure_gathers_in(yk_calibration *c, double *vector, double *sums, int64_t most)
{
    for (int64_t bytes = MIB; bytes <= most; bytes *= 4) {
        gathers g = {vector, sums, (uint64_t)bytes / sizeof(double) - 1};
        yk_calibration_add(c, &c->profile->cpu_gather_set, (double)bytes, gathers_a_second(c, &g));
    }
    return YOKE_OK;
}

static yoke_status measure_gathers(yk_calibration *c)
{
    int64_t most = MIB;
    double *vector = NULL, *sums = NULL;
    while (4 * most <= (int64_t)buffer_bytes(c->profile)) most *= 4;
    int64_t count = most / (int64_t)sizeof(double);
    YK_TRY(yk_alloc(c->context, "vector to gather from", count, sizeof(double), &vector));
    yoke_status status = yk_alloc(c->context, "sums of gathers", (int64_t)c->threads * YK_LINE,
                                  sizeof(double), &sums);
    if (status == YOKE_OK) {
        yk_parallel_for(c->threads, count, YK_LINE, touch, vector);
        status = measure_gathers_in(c, vector, sums, most);
        yk_free(c->context, sums, (int64_t)c->threads * YK_LINE, sizeof(double));
    }
    yk_free(c->context, vector, count, sizeof(double));
    const yk_curve *curve = &c->profile->cpu_gather_set;
    if (curve->points)
        yk_calibration_set(c, &c->profile->cpu_gather, curve->value[curve->points - 1]);
    return status;
}

static const struct {
    const char *what;
    yoke_status (*measure)(yk_calibration *c);
} steps[] = {{"the CPU's memory by threads", measure_threads},
             {"the CPU's caches", measure_sets},
             {"gathers of the CPU", measure_gathers}};

void yk_calibrate_cpu(yk_calibration *c)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        yk_calibration_step(c, steps[i].what);
        yk_calibration_missed(c, steps[i].what, steps[i].measure(c));
    }
}
