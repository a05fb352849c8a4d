/* SPDX-License-Identifier: BSD-3-Clause */
/* calibrate_meetings.c: what it costs threads to begin together and to meet. Without OpenMP there
 * are no two threads, and the figures of meetings stay unknown. */
#include <stdlib.h>

#include "lib/calibrate.h"
#include "lib/flag.h"
#include "lib/status.h"
#include "lib/threads.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum { SAMPLES = 101 };
static const double SECONDS = 0.1;

/* ------------------------------------------------------------------ region */

static void nothing(void *user, int64_t first, int64_t last)
{
    atomic_int *came = user;
    if (first < last) atomic_fetch_add_explicit(came, 1, memory_order_relaxed);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure_region(yk_calibration *c)
{
    double seconds[SAMPLES], until = yoke_seconds() + SECONDS;
    atomic_int came = 0;
    int n = 0;
    yk_parallel_for(c->threads, c->threads, 1, nothing, &came);
    do {
        double start = yoke_seconds();
        yk_parallel_for(c->threads, c->threads, 1, nothing, &came);
        seconds[n++] = yoke_seconds() - start;
    } while (n < SAMPLES && yoke_seconds() < until);
    qsort(seconds, (size_t)n, sizeof *seconds, ascending);
    yk_calibration_set(c, &c->profile->cpu_region, seconds[n / 2]);
}

/* ---------------------------------------------------------------- meetings */

#ifdef _OPENMP

static const double DEADLINE = 1.0;

typedef struct meeting {
    yk_flag arrived, go;
    yk_abort abort;
    int rounds;
    double seconds; /* of all rounds; below 0: somebody did not come */
} meeting;

/* As the solver's threads meet: the last to arrive raises the flag. */
static bool meet(meeting *m, unsigned team, unsigned round)
{
    if (yk_flag_arrive(&m->arrived) == team * round) {
        yk_flag_set(&m->go, round);
        return true;
    }
    return yk_flag_wait(&m->go, round, &m->abort, DEADLINE);
}

static void meet_often(meeting *m, int team)
{
    double start = 0.0;
    unsigned round = 0;
    bool all = true;
    while (all && round <= (unsigned)m->rounds) {
        all = meet(m, (unsigned)team, ++round);
        if (round == 1) start = yoke_seconds(); /* all have begun */
    }
    if (omp_get_thread_num() == 0) m->seconds = all ? yoke_seconds() - start : -1.0;
}

static void ping_pong(meeting *m)
{
    int me = omp_get_thread_num();
    double start = 0.0;
    unsigned round = 0;
    bool answered = true;
    while (answered && round <= (unsigned)m->rounds) {
        round++;
        if (me == 0) yk_flag_set(&m->go, round);
        answered = yk_flag_wait(me == 0 ? &m->arrived : &m->go, round, &m->abort, DEADLINE);
        if (me != 0) yk_flag_set(&m->arrived, round);
        if (round == 1) start = yoke_seconds();
    }
    if (me == 0) m->seconds = answered ? yoke_seconds() - start : -1.0;
}

/* Seconds of a round; -1 where not all came. flags: two threads pass a flag to and fro. */
static double time_rounds(int threads, int rounds, bool flags)
{
    meeting *m = aligned_alloc(YK_LINE, (sizeof *m + YK_LINE - 1) / YK_LINE * YK_LINE);
    int team = yk_team_size(threads);
    double seconds = -1.0;
    if (!m) return seconds;
    *m = (meeting){.rounds = rounds, .seconds = -1.0};
#pragma omp parallel num_threads(team)
    if (omp_get_num_threads() == team && team == threads) {
        if (flags)
            ping_pong(m);
        else
            meet_often(m, team);
    }
    seconds = m->seconds < 0.0 ? -1.0 : m->seconds / rounds;
    free(m);
    return seconds;
}

/* A few rounds tell how many there is time for. */
static yoke_status measure_rounds(int threads, bool flags, double *seconds)
{
    *seconds = time_rounds(threads, 10, flags);
    if (*seconds > 0.0 && *seconds < SECONDS / 100.0) {
        int rounds = *seconds > 1e-6 ? (int)(SECONDS / *seconds) : 100000;
        *seconds = time_rounds(threads, rounds, flags);
    }
    if (*seconds > 0.0) return YOKE_OK;
    return yk_fail(YOKE_TIMEOUT, "%d threads did not meet within %g s", threads, DEADLINE);
}

static yoke_status measure_meetings(yk_calibration *c)
{
    double seconds;
    if (c->threads < 2) return YOKE_OK;
    YK_TRY(measure_rounds(c->threads, false, &seconds));
    yk_calibration_set(c, &c->profile->cpu_barrier, seconds);
    YK_TRY(measure_rounds(2, true, &seconds));
    yk_calibration_set(c, &c->profile->cpu_flag, seconds / 2.0);
    return YOKE_OK;
}

#else

static yoke_status measure_meetings(yk_calibration *c)
{
    (void)c;
    return YOKE_OK;
}

#endif

void yk_calibrate_meetings(yk_calibration *c)
{
    yk_calibration_step(c, "threads that meet");
    measure_region(c);
    yk_calibration_missed(c, "threads that meet", measure_meetings(c));
}
