/* SPDX-License-Identifier: BSD-3-Clause */
/* test_adaptive.c: the cuts that a moving one may take, and where it goes: beside simulated owners
 * whose speeds are known, it finds the best cut, leaves it when they change, and is not led astray
 * by noise. */
#include "partition/adaptive.h"
#include "lib/iface/partition.h"
#include "lib/sum.h"
#include "tests/systems.h"

TestSuite(adaptive);

enum { ROWS = 2000000, ENTRIES = 7 };
#define ROW_BYTES 80.0
#define ALL_BYTES (ROWS * (12.0 * ENTRIES + ROW_BYTES))

/* A matrix of so many entries a row: the starts alone are looked at. */
static const yk_csr *long_matrix(void)
{
    static int64_t start[ROWS + 1];
    static yk_csr csr = {.rows = ROWS, .nonzeros = (int64_t)ROWS * ENTRIES, .start64 = start};
    for (int64_t i = 0; i <= ROWS; i++) start[i] = ENTRIES * i;
    return &csr;
}

/* ------------------------------------------------------------------ window */

static void is_in_order(const yk_window *w, int64_t rows)
{
    cr_assert(w->count >= 1 && w->count <= YK_MOST_CUTS && w->at < w->count);
    for (int i = 0; i < w->count; i++) {
        cr_assert_eq(w->row[i] % YK_CHUNK, 0);
        cr_assert(w->row[i] > 0 && w->row[i] < rows, "%lld rows", (long long)w->row[i]);
        if (i) cr_assert_gt(w->row[i], w->row[i - 1]);
    }
}

static double share_of(const yk_window *w, int i)
{
    return 1.0 - (double)w->row[i] / ROWS;
}

Test(adaptive, some_cut_is_within_3_percent_of_the_best_near_the_first_and_12_further_away)
{
    static const double firsts[] = {0.01, 0.04, 0.1, 0.25, 0.5, 0.8};
    const yk_csr *csr = long_matrix();
    for (int f = 0; f < 6; f++) {
        int64_t row = yk_partition_adaptive.gpu_rows(csr, ROW_BYTES, firsts[f]);
        yk_window w = yk_window_around(csr, ROW_BYTES, row, false);
        is_in_order(&w, ROWS);
        cr_assert_eq(w.row[w.at], row);
        cr_assert_lt(w.row[w.count - 1], ROWS);
        cr_assert_geq(w.row[w.count - 1], (ROWS - 1) / YK_CHUNK * YK_CHUNK, "down to a chunk");
        double widest = fmin(2.0 * firsts[f], 0.99);
        for (double best = firsts[f] / 8.0; best < widest; best *= 1.01) {
            double least = INFINITY; /* time at a cut, by that at the best one */
            for (int i = 0; i < w.count; i++) {
                double s = share_of(&w, i);
                least = fmin(least, fmax(s / best, (1.0 - s) / (1.0 - best)));
            }
            bool near = best > firsts[f] / 1.4 && best < firsts[f] * 1.4;
            cr_assert_leq(least, near ? 1.05 : 1.12, "first %g, best %g: %g", firsts[f], best,
                          least);
        }
    }
}

Test(adaptive, a_narrow_window_gives_the_gpu_no_more_rows)
{
    const yk_csr *csr = long_matrix();
    int64_t row = yk_partition_adaptive.gpu_rows(csr, ROW_BYTES, 0.3);
    yk_window w = yk_window_around(csr, ROW_BYTES, row, true);
    is_in_order(&w, ROWS);
    cr_assert_eq(w.at, w.count - 1);
    cr_assert_gt(w.count, 5);
}

Test(adaptive, a_thinned_window_keeps_its_ends_and_where_it_begins)
{
    const yk_csr *csr = long_matrix();
    int64_t row = yk_partition_adaptive.gpu_rows(csr, ROW_BYTES, 0.2);
    yk_window w = yk_window_around(csr, ROW_BYTES, row, false), thin = w;
    for (int most = w.count; most > 3; most--) {
        yk_window_thin(&thin, most);
        is_in_order(&thin, ROWS);
        cr_assert_leq(thin.count, most);
        cr_assert_eq(thin.row[0], w.row[0]);
        cr_assert_eq(thin.row[thin.at], row);
        cr_assert_eq(thin.row[thin.count - 1], w.row[w.count - 1]);
    }
}

Test(adaptive, the_fewest_chunks_have_the_fewest_cuts)
{
    const yk_csr *csr = long_matrix();
    yk_csr few = *csr;
    for (int64_t chunks = 2; chunks < 8; chunks++) {
        few.rows = chunks * YK_CHUNK - 17;
        for (int64_t cut = 1; cut < chunks; cut++) {
            yk_window w = yk_window_around(&few, ROW_BYTES, cut * YK_CHUNK, false);
            is_in_order(&w, few.rows);
            cr_assert_leq(w.count, (int)chunks - 1);
            cr_assert_eq(w.row[w.at], cut * YK_CHUNK);
        }
    }
}

/* ------------------------------------------------------------------ owners */

/* What an iteration takes: bytes a second, seconds of the meetings; seconds that the CPU's threads
 * wait for a processor that others have, unless a single one has all of its few rows; with noise,
 * of one in so many times a large one. */
typedef struct owners {
    double cpu, gpu, meetings, held_up, noise;
    int outlier_every;
    uint64_t seed;
} owners;

static double random_up_to(owners *o, double most)
{
    o->seed = o->seed * 6364136223846793005u + 1442695040888963407u;
    return most * (double)(o->seed >> 11) / 9007199254740992.0;
}

static double busy_of(const owners *o, double gpu_bytes)
{
    double bytes = ALL_BYTES - gpu_bytes;
    bool alone = bytes <= YK_CHUNK * (12.0 * ENTRIES + ROW_BYTES);
    return bytes / o->cpu + (alone ? 0.1 : 1.0) * o->held_up;
}

static double seconds_of(const owners *o, double gpu_bytes)
{
    return fmax(busy_of(o, gpu_bytes), gpu_bytes / o->gpu) + o->meetings;
}

static yk_times measure(owners *o, double gpu_bytes)
{
    yk_times t = {seconds_of(o, gpu_bytes), busy_of(o, gpu_bytes)};
    double noise = 1.0 + random_up_to(o, o->noise);
    if (o->outlier_every && random_up_to(o, 1.0) * o->outlier_every < 1.0) noise *= 3.0;
    return (yk_times){t.seconds * noise, t.busy * noise};
}

/* A plan: its candidates, and what it has done so far. */
typedef struct plan {
    yk_adaptive a;
    yk_window w;
    int64_t iterations, moved;
} plan;

static double best_seconds(const plan *p, const owners *o)
{
    double best = INFINITY;
    for (int i = 0; i < p->w.count; i++) best = fmin(best, seconds_of(o, p->a.gpu[i]));
    return best;
}

static plan new_plan(double share, yk_rates rates)
{
    const yk_csr *csr = long_matrix();
    plan p = {.iterations = 0};
    double cpu[YK_MOST_CUTS], gpu[YK_MOST_CUTS];
    p.w = yk_window_around(csr, ROW_BYTES, yk_partition_adaptive.gpu_rows(csr, ROW_BYTES, share),
                           false);
    for (int i = 0; i < p.w.count; i++) {
        gpu[i] = (double)p.w.row[i] * (12.0 * ENTRIES + ROW_BYTES);
        cpu[i] = ALL_BYTES - gpu[i];
    }
    yk_adaptive_begin(&p.a, p.w.count, p.w.at, cpu, gpu, rates);
    return p;
}

static double by_best(const plan *p, const owners *o)
{
    return seconds_of(o, p->a.gpu[p->a.at]) / best_seconds(p, o);
}

static void go_on(plan *p, owners *o, int64_t iterations)
{
    for (int64_t until = p->iterations + iterations; p->iterations < until;) {
        int from = p->a.at;
        p->iterations += yk_adaptive_wish(&p->a);
        p->moved += yk_adaptive_next(&p->a, measure(o, p->a.gpu[from])) != from;
        cr_assert(p->a.at >= 0 && p->a.at < p->w.count);
    }
}

static const yk_rates unknown = {0.0, 0.0, 0.0};

/* Iterations until it stays within a factor of the best, for a hundred more. */
static int64_t until_within(plan *p, owners *o, double factor)
{
    int64_t began = p->iterations, since = began;
    while (p->iterations < began + 400) {
        go_on(p, o, 1);
        if (by_best(p, o) > factor) since = p->iterations;
    }
    return since - began;
}

static const double speeds[] = {2e10, 1e11, 5e11};

Test(adaptive, the_best_cut_is_found_wherever_it_begins)
{
    static const double firsts[] = {0.02, 0.1, 0.4, 0.7};
    for (int c = 0; c < 3; c++)
        for (int f = 0; f < 4; f++) {
            owners o = {.cpu = speeds[c], .gpu = 1e12, .meetings = 2e-5, .noise = 0.01, .seed = 1};
            double best = o.cpu / (o.cpu + o.gpu);
            if (best > 2.0 * firsts[f] || best < firsts[f] / 30.0) continue;
            plan p = new_plan(firsts[f], unknown);
            go_on(&p, &o, 300);
            cr_assert_leq(by_best(&p, &o), 1.03, "CPU %g, from %g: %g times the best", speeds[c],
                          firsts[f], by_best(&p, &o));
            cr_assert_leq(p.moved, 20);
        }
}

Test(adaptive, where_nothing_changes_nothing_moves_for_long)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        owners o = {.cpu = 1e11, .gpu = 1e12, .meetings = 2e-5, .noise = 0.03, .seed = seed};
        plan p = new_plan(o.cpu / (o.cpu + o.gpu), (yk_rates){o.cpu, o.gpu, o.meetings});
        go_on(&p, &o, 200);
        int64_t moved = p.moved;
        cr_assert_leq(by_best(&p, &o), 1.06, "seed %d: %g", (int)seed, by_best(&p, &o));
        go_on(&p, &o, 20000);
        cr_assert_eq(p.moved, moved, "seed %d: %d moves later", (int)seed, (int)(p.moved - moved));
    }
}

/* The CPU loses most of its speed in the middle, and gets it back. */
Test(adaptive, a_disturbed_cpu_is_left_and_returned_to_in_less_than_100_iterations)
{
    static const double slower[] = {1.5, 2.0, 4.0, 10.0, 50.0};
    for (int k = 0; k < 5; k++)
        for (uint64_t seed = 1; seed <= 10; seed++) {
            owners o = {.cpu = 1.5e11, .gpu = 1e12, .meetings = 2e-5, .noise = 0.02, .seed = seed};
            plan p = new_plan(o.cpu / (o.cpu + o.gpu), (yk_rates){o.cpu, o.gpu, o.meetings});
            go_on(&p, &o, 500 + 7 * (int)seed);
            o.cpu /= slower[k];
            int64_t took = until_within(&p, &o, 1.10);
            cr_assert_lt(took, 100, "%g times slower, seed %d: %d iterations", slower[k], (int)seed,
                         (int)took);
            cr_assert_leq(by_best(&p, &o), 1.06);
            go_on(&p, &o, 500);
            o.cpu *= slower[k];
            took = until_within(&p, &o, 1.10);
            cr_assert_lt(took, 100, "%g times faster again, seed %d: %d iterations", slower[k],
                         (int)seed, (int)took);
            cr_assert_leq(by_best(&p, &o), 1.06, "%g", by_best(&p, &o));
        }
}

/* As when as many threads spin as there are processors: an iteration takes three times as long,
 * whatever rows the CPU has. */
Test(adaptive, a_cpu_that_is_held_up_is_left_and_returned_to_in_less_than_100_iterations)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        owners o = {.cpu = 1.5e11, .gpu = 1e12, .meetings = 2e-5, .noise = 0.02, .seed = seed};
        plan p = new_plan(o.cpu / (o.cpu + o.gpu), (yk_rates){o.cpu, o.gpu, o.meetings});
        go_on(&p, &o, 500 + 7 * (int)seed);
        o.held_up = 3.0 * best_seconds(&p, &o);
        int64_t took = until_within(&p, &o, 1.10);
        cr_assert_lt(took, 100, "held up, seed %d: %d iterations", (int)seed, (int)took);
        o.held_up = 0.0;
        took = until_within(&p, &o, 1.10);
        cr_assert_lt(took, 100, "free again, seed %d: %d iterations", (int)seed, (int)took);
    }
}

/* A GPU that others use too. */
Test(adaptive, a_slower_gpu_is_noticed_as_well)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        owners o = {.cpu = 1e11, .gpu = 1e12, .meetings = 2e-5, .noise = 0.02, .seed = seed};
        plan p = new_plan(o.cpu / (o.cpu + o.gpu), (yk_rates){o.cpu, o.gpu, o.meetings});
        go_on(&p, &o, 300);
        o.gpu *= 0.6;
        int64_t took = until_within(&p, &o, 1.10);
        cr_assert_lt(took, 100, "slower, seed %d: %d iterations", (int)seed, (int)took);
        cr_assert_leq(by_best(&p, &o), 1.06, "%g", by_best(&p, &o));
    }
}

Test(adaptive, a_single_outlier_moves_nothing_that_is_frozen)
{
    owners o = {.cpu = 1e11, .gpu = 1e12, .meetings = 2e-5, .noise = 0.01, .seed = 3};
    plan p = new_plan(o.cpu / (o.cpu + o.gpu), (yk_rates){o.cpu, o.gpu, o.meetings});
    go_on(&p, &o, 400);
    int64_t moved = p.moved;
    for (int i = 0; i < 50; i++) {
        yk_times t = measure(&o, p.a.gpu[p.a.at]);
        yk_adaptive_next(&p.a, (yk_times){4.0 * t.seconds, 4.0 * t.busy});
        go_on(&p, &o, 33);
    }
    cr_assert_eq(p.moved, moved);
}

Test(adaptive, outliers_at_random_cost_little)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        owners o = {.cpu = 1e11,
                    .gpu = 1e12,
                    .meetings = 2e-5,
                    .noise = 0.02,
                    .outlier_every = 20,
                    .seed = seed};
        plan p = new_plan(0.04, unknown);
        double sum = 0.0;
        go_on(&p, &o, 300);
        for (int i = 0; i < 100; i++) {
            go_on(&p, &o, 1);
            sum += by_best(&p, &o);
        }
        cr_assert_leq(sum / 100.0, 1.10, "seed %d: %g", (int)seed, sum / 100.0);
    }
}

Test(adaptive, times_that_are_none_change_nothing)
{
    plan p = new_plan(0.1, unknown);
    int at = p.a.at;
    cr_assert_eq(yk_adaptive_next(&p.a, (yk_times){0.0, 0.0}), at);
    cr_assert_eq(yk_adaptive_next(&p.a, (yk_times){NAN, 1.0}), at);
    cr_assert_eq(yk_adaptive_next(&p.a, (yk_times){INFINITY, 1.0}), at);
    cr_assert_eq(p.a.state, YK_ADAPT_SEEKS);
}

Test(adaptive, a_short_iteration_is_measured_by_many)
{
    plan p = new_plan(0.1, unknown);
    cr_assert_eq(yk_adaptive_wish(&p.a), 8);
    p.a.last = 30e-6;
    cr_assert_eq(yk_adaptive_wish(&p.a), 40);
    p.a.last = 1e-6;
    cr_assert_eq(yk_adaptive_wish(&p.a), 64);
    p.a.last = 0.1;
    cr_assert_eq(yk_adaptive_wish(&p.a), 8);
    p.a.state = YK_ADAPT_FROZEN;
    cr_assert_eq(yk_adaptive_wish(&p.a), 16);
    p.a.last = 30e-6;
    cr_assert_eq(yk_adaptive_wish(&p.a), 112);
}
