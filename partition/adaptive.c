/* SPDX-License-Identifier: BSD-3-Clause */
/* adaptive.c: the cut that moves while a plan solves: it begins where `model` leaves it, goes where
 * the owners' speeds say, tries what lies beside, and freezes at the best that was measured.
 *
 * The CPU's speed is always known, from the time that its threads worked. Where it waited, the GPU
 * was the slower one and the whole time gives the GPU's speed; where the GPU waited, its speed is
 * at least that: the last one known stands, and grows a little, so that a GPU which has become
 * faster is found out. */
#include "partition/adaptive.h"

#include <math.h>
#include <string.h>

#include "lib/iface/partition.h"
#include "partition/balance.h"
#include "partition/waist.h"

/* A cut must be so much faster, measured or by the model, to be gone to. */
#define CLEARLY 0.99

/* Frozen, times that are further from the expected ones are a doubt. */
#define LASTING 0.10

/* Or would take so much less at another cut. */
#define WORTHWHILE 0.96

/* Of a GPU that waited: it may be so much faster than it was seen to be. */
#define OPTIMISM 1.10

/* A cut that takes so much longer than promised says that speeds do not explain what holds the CPU
 * up, as when other threads have its cores. */
#define HELD_UP 1.15

/* A cut beside the best one that would take so much longer is not tried. */
#define HOPELESS 1.5

/* Seconds that times should be of. */
#define SOUND 1e-3

enum { MOST_MOVES = 12, DOUBTS = 2, MOST_DOUBTS = 6 };

/* Iterations of an advance: while it seeks, in halves of a graph; frozen, in whole ones. */
enum { FEWEST = 8, MOST = 64, GRAPH = 16, WATCHED = 16, MOST_WATCHED = 128 };

/* ------------------------------------------------------------------- model */

/* Seconds of an iteration by the speeds. */
static double by_speeds(const yk_adaptive *a, int cut, double optimism)
{
    const yk_rates *r = &a->rates;
    return fmax(a->cpu[cut] / r->cpu, a->gpu[cut] / (optimism * r->gpu)) + r->meetings;
}

/* As measured, else by the speeds. */
static double seconds_at(const yk_adaptive *a, int cut)
{
    if (a->seconds[cut] > 0.0) return a->seconds[cut];
    return by_speeds(a, cut, a->gpu_waited ? OPTIMISM : 1.0);
}

static int best_of(const yk_adaptive *a, bool measured)
{
    int best = a->at;
    for (int cut = 0; cut < a->cuts; cut++)
        if ((!measured || a->seconds[cut] > 0.0) && seconds_at(a, cut) < seconds_at(a, best))
            best = cut;
    return best;
}

/* Where the CPU waited for longer than a meeting takes, it was the GPU that took the time. */
static void learn(yk_adaptive *a, yk_times t)
{
    yk_rates *r = &a->rates;
    double waited = t.seconds - t.busy, known = fmax(0.0, t.seconds - r->meetings);
    double gpu_rate = known > 0.0 ? a->gpu[a->at] / known : 0.0;
    bool cpu_waited = waited > 2.0 * r->meetings + 0.05 * t.seconds;
    if (t.busy > 0.0) r->cpu = a->cpu[a->at] / t.busy;
    a->gpu_waited = !cpu_waited;
    if (cpu_waited) {
        r->gpu = gpu_rate;
        return;
    }
    r->meetings = fmin(waited, 1.25 * r->meetings + 0.01 * t.seconds);
    r->gpu = r->gpu > 0.0 ? fmax(r->gpu, gpu_rate) : INFINITY; /* known once it is waited for */
}

/* ------------------------------------------------------------------- seek */

static int freeze(yk_adaptive *a)
{
    int best = best_of(a, true);
    bool in_vain = best == a->froze_at;
    a->state = YK_ADAPT_FROZEN;
    a->patience = in_vain ? (int)fmin(2 * a->patience, MOST_DOUBTS) : DOUBTS;
    a->froze_at = best;
    a->doubts = 0;
    a->expected = (yk_times){0.0, 0.0};
    return a->at = best;
}

/* The cut on one side of the best, then that on the other: what no model knows, such as caches. */
static int look_beside(yk_adaptive *a)
{
    int best = best_of(a, true);
    a->state = YK_ADAPT_LOOKS;
    while (a->looked < 2) {
        int beside = best + (a->looked++ == 0 ? 1 : -1);
        if (beside < 0 || beside >= a->cuts || a->seconds[beside] > 0.0) continue;
        if (by_speeds(a, beside, 1.0) > HOPELESS * a->seconds[best]) continue;
        return a->at = beside;
    }
    return freeze(a);
}

static int go_to(yk_adaptive *a, int cut)
{
    a->state = YK_ADAPT_SEEKS;
    a->looked = 0;
    a->moves++;
    a->promised = seconds_at(a, cut);
    return a->at = cut;
}

/* The cut that gives the CPU least. */
static int least(const yk_adaptive *a)
{
    int cut = 0;
    for (int i = 1; i < a->cuts; i++)
        if (a->cpu[i] < a->cpu[cut]) cut = i;
    return cut;
}

/* Where fewer rows do not help as they should, the CPU is held up whatever it has. */
static bool is_held_up(const yk_adaptive *a)
{
    return a->gpu_waited && a->promised > 0.0 && a->last > HELD_UP * a->promised &&
           !(a->seconds[least(a)] > 0.0);
}

/* Cuts that were measured are known as such: one that disappoints is not gone to again. */
static int seek(yk_adaptive *a)
{
    int measured = best_of(a, true), best = best_of(a, false);
    if (is_held_up(a)) return go_to(a, least(a));
    bool better = seconds_at(a, best) < CLEARLY * seconds_at(a, measured);
    if (better && a->moves < MOST_MOVES) return go_to(a, best);
    return look_beside(a);
}

static void note(yk_adaptive *a, double seconds)
{
    double *known = &a->seconds[a->at];
    *known = *known > 0.0 ? fmin(*known, seconds) : seconds;
}

/* A cut beside the best that is better: on from there. */
static int look(yk_adaptive *a, int from)
{
    bool better = a->seconds[from] > 0.0 && best_of(a, true) == from && a->moves < MOST_MOVES;
    if (!better) return look_beside(a);
    a->looked = 0;
    a->moves++;
    return seek(a);
}

/* ------------------------------------------------------------------- watch */

static int thaw(yk_adaptive *a, double seconds)
{
    memset(a->seconds, 0, sizeof a->seconds);
    a->seconds[a->at] = seconds;
    a->moves = a->looked = 0;
    a->promised = 0.0;
    return seek(a);
}

static bool is_other(double value, double expected)
{
    return fabs(value - expected) > LASTING * expected;
}

/* Whether the CPU's speed has changed so that another cut would be better, though this one takes as
 * long as before, because the GPU does. */
static bool would_gain(const yk_adaptive *a, yk_times t)
{
    double best = INFINITY;
    if (!is_other(t.busy, a->expected.busy)) return false;
    for (int cut = 0; cut < a->cuts; cut++) best = fmin(best, by_speeds(a, cut, 1.0));
    return best < WORTHWHILE * t.seconds;
}

static int watch(yk_adaptive *a, yk_times t)
{
    if (!(a->expected.seconds > 0.0)) a->expected = t;
    bool other = is_other(t.seconds, a->expected.seconds) || would_gain(a, t);
    a->doubts = other ? a->doubts + 1 : 0;
    a->state = other ? YK_ADAPT_SUSPECTS : YK_ADAPT_FROZEN;
    return a->doubts >= a->patience ? thaw(a, t.seconds) : a->at;
}

/* ---------------------------------------------------------------- interface */

void yk_adaptive_begin(yk_adaptive *a, int cuts, int at, const double *cpu, const double *gpu,
                       yk_rates rates)
{
    memset(a, 0, sizeof *a);
    a->cuts = cuts;
    a->at = at;
    a->rates = rates;
    a->froze_at = -1;
    a->patience = DOUBTS;
    memcpy(a->cpu, cpu, (size_t)cuts * sizeof *cpu);
    memcpy(a->gpu, gpu, (size_t)cuts * sizeof *gpu);
}

/* So many that they take as long, in whole `step`s. */
static int64_t iterations_of(const yk_adaptive *a, double seconds, int64_t most, int64_t step)
{
    double enough = a->last > 0.0 ? ceil(seconds / a->last) : 1.0;
    int64_t count = enough < (double)most ? (int64_t)enough : most;
    return (count + step - 1) / step * step;
}

int64_t yk_adaptive_wish(const yk_adaptive *a)
{
    if (a->state != YK_ADAPT_FROZEN) return iterations_of(a, SOUND, MOST, FEWEST);
    int64_t watched = iterations_of(a, 3.0 * SOUND, MOST_WATCHED, GRAPH);
    return watched < WATCHED ? WATCHED : watched;
}

int yk_adaptive_next(yk_adaptive *a, yk_times times)
{
    int from = a->at;
    if (!(times.seconds > 0.0) || !isfinite(times.seconds)) return from;
    a->last = times.seconds;
    learn(a, times);
    if (a->state == YK_ADAPT_FROZEN || a->state == YK_ADAPT_SUSPECTS) return watch(a, times);
    note(a, times.seconds);
    return a->state == YK_ADAPT_LOOKS ? look(a, from) : seek(a);
}

/* -------------------------------------------------------------------- cut */

const yk_partition yk_partition_adaptive = {
    .name = "adaptive",
    .form = "adaptive[:R]",
    .text = "as model, or from a share R, then the cut moves by measured times and freezes",
    .owner = YK_OWNER_GPU,
    .measured = true,
    .moves = true,
    .gpu_rows = yk_gpu_rows_at_waist,
    .cut = yk_cut_beside_gpu,
};
