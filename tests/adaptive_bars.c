/* SPDX-License-Identifier: BSD-3-Clause */
/* adaptive_bars.c: adaptive_bars MATRIX [MULTIPROCESSORS [LOAD [PARTITION]]]: what partition
 * adaptive is held to, on a GPU. First: the iteration's time at the cut that it settles on, beside
 * those at all cuts of its window. Then LOAD threads (by default one a processor) begin to spin in
 * the middle of a solve: how many iterations later it is, and stays, within 10 % of the best cut of
 * the new state.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <yoke_io.h>

#include "lib/threads.h"
#include "solvers/cg/cuts.h"
#include "solvers/plan.h"

enum { SETTLING = 600, TIMED = 64, DISTURBED = 3000, MOST_WINDOWS = 2000, MOST_LOAD = 512 };

/* What the plan told of each window of iterations, and when. */
typedef struct window {
    double at, us;
    int64_t iteration, rows;
} window;

static window told[MOST_WINDOWS];
static int windows;

static void listen(void *user, yoke_log_level level, const char *text)
{
    window w = {.at = yoke_seconds()};
    (void)user, (void)level;
    if (windows < MOST_WINDOWS &&
        sscanf(text, "iteration %" SCNd64 ": %" SCNd64 " rows on the CPU, %lf us", &w.iteration,
               &w.rows, &w.us) == 3)
        told[windows++] = w;
}

static void must(yoke_status status)
{
    if (status == YOKE_OK) return;
    fprintf(stderr, "adaptive_bars: %s\n", yoke_error_text());
    exit(2);
}

typedef struct bench {
    yoke_plan *plan;
    double *b, *x;
    yk_rates rates; /* as planning measured them */
} bench;

/* Microseconds of an iteration of one solve. */
static double solve(const bench *s, int64_t iterations)
{
    yoke_solve_options options = yoke_solve_defaults();
    options.fixed_iterations = 1;
    options.maxit = iterations;
    must(yoke_solve(s->plan, s->b, s->x, &options));
    const yoke_report *report = yoke_plan_report(s->plan);
    return 1e6 * report->solve_seconds / (double)report->iterations;
}

/* One cut, as long as wanted; the least of three, or of one where others disturb. */
static double time_cut(const bench *s, int cut, int repeats)
{
    yk_cuts *cuts = s->plan->cg.cuts;
    const int to[] = {cut};
    double least = INFINITY;
    cuts->forced = to;
    cuts->forced_end = to + 1;
    solve(s, 8);
    for (int i = 0; i < repeats; i++) least = fmin(least, solve(s, TIMED));
    cuts->forced = NULL;
    return least;
}

/* The least time at any cut, and where. */
static double best_of_cuts(const bench *s, int repeats, int *best)
{
    const yk_cuts *cuts = s->plan->cg.cuts;
    double least = INFINITY;
    for (int cut = 0; cut < cuts->count; cut++) {
        double us = time_cut(s, cut, repeats);
        printf("  %10" PRId64 " rows on the CPU: %.2f us\n", s->plan->cg.rows - cuts->row[cut], us);
        if (us < least) *best = cut, least = us;
    }
    return least;
}

static int settles_on_the_best(const bench *s)
{
    const yk_cuts *cuts = s->plan->cg.cuts;
    int best = 0;
    solve(s, SETTLING);
    int settled = cuts->at;
    double least = best_of_cuts(s, 3, &best), here = time_cut(s, settled, 3);
    printf("settled on %" PRId64 " rows: %.2f us; best of %d cuts %.2f us: %.3f times (bar 1.03)\n",
           s->plan->cg.rows - cuts->row[settled], here, cuts->count, least, here / least);
    time_cut(s, settled, 1);
    yk_cuts_begin(&s->plan->cg, s->rates);
    return here <= 1.03 * least;
}

/* -------------------------------------------------------------------- load */

static atomic_int spinning, ended;
static double began_at, delay;
static int load;

static void *spin(void *user)
{
    (void)user;
    while (!atomic_load(&ended)) atomic_fetch_add(&spinning, 0);
    return NULL;
}

static void *disturb(void *user)
{
    pthread_t *threads = user;
    struct timespec wait = {(time_t)delay, (long)(1e9 * (delay - (double)(time_t)delay))};
    nanosleep(&wait, NULL);
    for (int i = 0; i < load; i++)
        if (pthread_create(&threads[i], NULL, spin, NULL) != 0) exit(2);
    began_at = yoke_seconds();
    return NULL;
}

/* Iterations from the first window that ended after the load began to the last one that took too
 * long before five in a row that did not; negative: none did. */
static int64_t recovery(double least)
{
    int64_t first = -1, back = -1;
    int good = 0;
    for (int i = 0; i < windows; i++) {
        if (told[i].at < began_at) continue;
        if (first < 0) first = i > 0 ? told[i - 1].iteration : 0;
        bool is_good = told[i].us <= 1.10 * least;
        if (is_good && good++ == 0) back = i > 0 ? told[i - 1].iteration : 0;
        if (!is_good) good = 0;
        if (good == 5) return back - first;
    }
    return good > 0 ? back - first : -1;
}

static int recovers(const bench *s)
{
    static pthread_t threads[MOST_LOAD];
    pthread_t disturber;
    int best = 0;
    double us = solve(s, SETTLING);
    delay = 1e-6 * us * DISTURBED / 4;
    windows = 0;
    if (pthread_create(&disturber, NULL, disturb, threads) != 0) exit(2);
    solve(s, DISTURBED);
    pthread_join(disturber, NULL);
    int heard = windows;
    for (int i = 0; i < heard; i++)
        if (told[i].at > began_at - 0.02 && told[i].at < began_at + 0.2)
            printf("  %+8.1f ms: iteration %" PRId64 ", %" PRId64 " rows on the CPU, %.1f us\n",
                   1e3 * (told[i].at - began_at), told[i].iteration, told[i].rows, told[i].us);
    printf("with %d threads that spin:\n", load);
    double least = best_of_cuts(s, 2, &best);
    atomic_store(&ended, 1);
    for (int i = 0; i < load; i++) pthread_join(threads[i], NULL);
    windows = heard;
    int64_t took = recovery(least);
    printf("best %.1f us with %" PRId64 " rows; within 1.10 of it after %" PRId64
           " iterations (bar 100)\n",
           least, s->plan->cg.rows - s->plan->cg.cuts->row[best], took);
    return took >= 0 && took < 100;
}

int main(int count, char **arguments)
{
    yoke_context_options logged = yoke_context_defaults();
    yoke_plan_options planning = yoke_plan_defaults();
    yoke_context *context;
    yoke_matrix *matrix;
    bench s = {.rates = {0.0, 0.0, 0.0}};
    if (count < 2)
        return fprintf(stderr, "adaptive_bars MATRIX [MULTIPROCESSORS [LOAD [PARTITION]]]\n"), 2;
    logged.log = listen;
    planning.partition = count > 4 ? arguments[4] : "adaptive";
    planning.gpu_sms = count > 2 ? atoi(arguments[2]) : 0;
    load = count > 3 ? atoi(arguments[3]) : yk_processors();
    if (load > MOST_LOAD) load = MOST_LOAD;
    must(yoke_context_create(&logged, &context));
    must(yoke_matrix_generate(context, arguments[1], &matrix));
    must(yoke_plan_create(matrix, &planning, &s.plan));
    if (!s.plan->cg.cuts) return printf("no cut: %s\n", s.plan->notices), 1;
    size_t rows = (size_t)s.plan->cg.rows;
    s.b = malloc((rows + 1) * sizeof *s.b);
    s.x = malloc((rows + 1) * sizeof *s.x);
    for (size_t i = 0; i < rows; i++) s.b[i] = 1.0 + (double)(i % 17);
    s.rates = s.plan->cg.cuts->policy.rates;
    int good = settles_on_the_best(&s);
    good &= recovers(&s);
    printf("%s\n", good ? "both bars are met" : "NOT met");
    yoke_plan_destroy(s.plan);
    yoke_matrix_destroy(matrix);
    yoke_context_destroy(context);
    free(s.b);
    free(s.x);
    return good ? 0 : 1;
}
