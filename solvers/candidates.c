/* SPDX-License-Identifier: BSD-3-Clause */
/* candidates.c: the list of plans that could be had, and their times by the model. */
#include "solvers/candidates.h"

#include <math.h>
#include <string.h>

/* -------------------------------------------------------------------- list */

static void add(yk_candidates *list, yk_candidate c)
{
    c.predicted = c.measured = NAN;
    if (list->count < YK_CANDIDATES) list->of[list->count++] = c;
}

static bool is_persistent(const yk_candidate *c)
{
    return strcmp(c->driver, "persistent") == 0;
}

/* What stays on the chip whole has a format of its own, which goes by the first; a larger system is
 * in SELL. */
static bool goes_on_chip(const yk_space *space, const yk_candidate *c)
{
    if (c->cpu_share != 0.0) return false;
    if (space->matrix.rows <= space->chip_rows) return space->format[0] == c->format;
    return space->matrix.rows <= space->held_rows && strcmp(c->format, "sell") == 0;
}

/* p stays there. */
static void add_shapes(const yk_space *space, yk_candidate c, yk_candidates *list)
{
    bool on_chip = is_persistent(&c);
    if (on_chip && !goes_on_chip(space, &c)) return;
    for (int folded = 0; folded < 2; folded++) {
        if (!(folded ? space->folded : space->unfolded)) continue;
        if (folded && (on_chip || c.memory)) continue;
        c.folded = folded;
        add(list, c);
    }
}

static void add_of_gpu(const yk_space *space, yk_candidate c, yk_candidates *list)
{
    for (int f = 0; space->format[f]; f++)
        for (int d = 0; space->driver[d]; d++) {
            c.format = space->format[f];
            c.driver = space->driver[d];
            add_shapes(space, c, list);
        }
}

void yk_candidates_list(const yk_space *space, yk_candidates *list)
{
    const yk_candidate on_cpu = {.partition = "cpu",
                                 .home = "owner",
                                 .driver = "team",
                                 .format = "csr",
                                 .cpu_share = 1.0},
                       on_gpu = {.partition = "gpu", .home = space->home};
    list->count = 0;
    if (space->cpu) add_shapes(space, on_cpu, list);
    if (space->gpu) add_of_gpu(space, on_gpu, list);
    for (int m = 0; space->shared && space->memory[m]; m++) {
        yk_candidate both = on_gpu;
        both.partition = "model";
        both.memory = space->memory[m];
        both.cpu_share = space->share;
        add_of_gpu(space, both, list);
    }
}

/* -------------------------------------------------------------- prediction */

static int place_of(const char *name, const char *const *names)
{
    for (int k = 0; names[k]; k++)
        if (name && strcmp(name, names[k]) == 0) return k;
    return 0;
}

static double seconds(const yk_space *space, const yk_profile *machine, const yk_candidate *c,
                      double share)
{
    static const char *const drivers[] = {"team", "stream", "graph", "persistent", NULL};
    static const char *const memories[] = {"mapped", "explicit", "managed", "system", NULL};
    static const char *const homes[] = {"owner", "shared", "spill", NULL};
    const yk_model_plan plan = {.cpu_share = share,
                                .driver = (yk_model_driver)place_of(c->driver, drivers),
                                .memory = (yk_model_memory)place_of(c->memory, memories),
                                .home = (yk_model_home)place_of(c->home, homes),
                                .spill = space->spill,
                                .sell = strcmp(c->format, "sell") == 0,
                                .folded = c->folded,
                                .jacobi = space->jacobi,
                                .threads = space->threads,
                                .gpu_sms = space->gpu_sms};
    yk_model_result result;
    yk_model_predict(machine, NULL, &space->matrix, &plan, &result);
    return result.seconds;
}

/* Golden section (Kiefer, 1953) over the logarithm: the time falls until the CPU is the slower one,
 * then rises. At least a chunk on either side. */
static double best_share(const yk_space *space, const yk_profile *machine, const yk_candidate *c)
{
    const double golden = 0.6180339887498949, rows = space->matrix.rows;
    double low = log(fmax(256.0 / rows, space->least_share)), high = log(1.0 - 256.0 / rows);
    if (!(rows >= 512.0) || low > high) return 0.0;
    for (int i = 0; i < 24; i++) {
        double left = high - golden * (high - low), right = low + golden * (high - low);
        if (seconds(space, machine, c, exp(left)) <= seconds(space, machine, c, exp(right)))
            high = right;
        else
            low = left;
    }
    return exp(0.5 * (low + high));
}

static void predict(const yk_space *space, const yk_profile *machine, yk_candidate *c)
{
    double share = c->cpu_share;
    if (c->memory && space->share < 0.0) share = best_share(space, machine, c);
    c->predicted = seconds(space, machine, c, share);
    if (!isnan(c->predicted)) c->cpu_share = share;
}

void yk_candidates_predict(const yk_space *space, const yk_profile *machine,
                           const yk_profile *otherwise, yk_candidates *list)
{
    for (int i = 0; i < list->count; i++) {
        predict(space, machine, &list->of[i]);
        if (otherwise && isnan(list->of[i].predicted)) predict(space, otherwise, &list->of[i]);
    }
}

/* ----------------------------------------------------------------- ranking */

/* Infinite: neither is known. */
static double key_of(const yk_candidate *c)
{
    if (!isnan(c->measured)) return c->measured;
    return isnan(c->predicted) ? INFINITY : c->predicted;
}

static bool is_before(const yk_candidate *a, const yk_candidate *b)
{
    if (isnan(a->measured) != isnan(b->measured)) return isnan(b->measured);
    return key_of(a) < key_of(b);
}

/* By insertion: there are few, and equals keep their order. */
void yk_candidates_rank(yk_candidates *list)
{
    for (int i = 1; i < list->count; i++) {
        const yk_candidate c = list->of[i];
        int k = i;
        for (; k > 0 && is_before(&c, &list->of[k - 1]); k--) list->of[k] = list->of[k - 1];
        list->of[k] = c;
    }
}

const yk_candidate *yk_candidates_best(const yk_candidates *list, bool on_cpu, bool on_gpu)
{
    const yk_candidate *best = NULL;
    for (int i = 0; i < list->count; i++) {
        const yk_candidate *c = &list->of[i];
        bool has_cpu = strcmp(c->partition, "gpu") != 0, has_gpu = strcmp(c->partition, "cpu") != 0;
        if (has_cpu != on_cpu || has_gpu != on_gpu || isnan(c->predicted)) continue;
        if (!best || c->predicted < best->predicted) best = c;
    }
    return best;
}
