/* SPDX-License-Identifier: BSD-3-Clause */
/* estimate.c: each owner alone, by the model and this machine's profile. */
#include "solvers/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/context.h"
#include "lib/model.h"
#include "lib/threads.h"
#include "solvers/cg/bytes.h"

/* Whose GPU is taken where no profile has one: the one whose figures were measured. */
static const char assumed_machine[] = "h200-16cores";

/* A core reads them in less time than a GPU needs for the passes of an iteration without a row. */
#define SURELY_SMALL 131072.0

bool yk_is_surely_for_the_cpu(const yoke_matrix *matrix)
{
    double bytes =
        yk_csr_bytes(&matrix->csr) + yk_cg_row_bytes(false, false) * (double)matrix->csr.rows;
    return bytes < SURELY_SMALL;
}

/* SELL without padding: what the rows' lengths add is not known before they are walked over. */
static yoke_shape shape_of(const yk_csr *csr)
{
    return (yoke_shape){.rows = (double)csr->rows,
                        .nonzeros = (double)csr->nonzeros,
                        .sell_entries = (double)csr->nonzeros,
                        .start_bytes = csr->start32 ? 4.0 : 8.0};
}

static double seconds(const yk_profile *machine, const yoke_shape *shape, double cpu_share,
                      int threads)
{
    const yk_model_plan plan = {
        .cpu_share = cpu_share, .driver = YK_MODEL_GRAPH, .sell = true, .threads = threads};
    yk_model_result result;
    yk_model_predict(machine, NULL, shape, &plan, &result);
    return result.seconds;
}

/* What this machine's profile lacks another's stands for. */
static double or_assumed(double known, const yoke_shape *shape, double cpu_share, int threads)
{
    yk_profile machine;
    if (!isnan(known) || yk_profile_shipped(assumed_machine, &machine) != YOKE_OK) return known;
    return seconds(&machine, shape, cpu_share, threads);
}

/* Of those that it may have, the threads that are worth waking. */
static int threads_for(const yoke_matrix *matrix, int asked)
{
    const double of_thread = 65536.0; /* bytes: see planner.c */
    double bytes =
        yk_csr_bytes(&matrix->csr) + yk_cg_row_bytes(false, false) * (double)matrix->csr.rows;
    int most = yk_threads(matrix->context, asked);
    if (asked > 0 || bytes / of_thread >= most) return most;
    return bytes < of_thread ? 1 : (int)(bytes / of_thread);
}

typedef struct known {
    yk_profile profile;
    char notice[256];
} known;

/* Without caches: whether others on a machine leave them to a solve is not known, and a GPU must be
 * twice as fast in any case. */
static void ask(int device, known *of)
{
    bool kept;
    yk_profile_here(device, &of->profile, &kept, of->notice, sizeof of->notice);
    of->profile.cpu_read_set.points = 0;
}

/* Reading it takes as long as some iterations of a small system, so a context does it once; of two
 * threads that both did, one's stays. NULL without memory. */
static const known *machine_of(yoke_context *context)
{
    void *before = atomic_load(&context->machine);
    if (before) return before;
    known *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    ask(-1, made);
    if (atomic_compare_exchange_strong(&context->machine, &before, made)) return made;
    free(made);
    return before;
}

void yk_estimate_owners(const yoke_matrix *matrix, int threads, int device, yk_estimate *estimate)
{
    const yoke_shape shape = shape_of(&matrix->csr);
    const known *machine = device < 0 ? machine_of(matrix->context) : NULL;
    known here;
    if (!machine) {
        ask(device, &here);
        machine = &here;
    }
    threads = threads_for(matrix, threads);
    const yk_profile *p = &machine->profile;
    estimate->cpu = or_assumed(seconds(p, &shape, 1.0, threads), &shape, 1.0, threads);
    estimate->gpu = or_assumed(seconds(p, &shape, 0.0, threads), &shape, 0.0, threads);
    memcpy(estimate->notice, machine->notice, sizeof estimate->notice);
    yk_log(matrix->context, YOKE_LOG_DETAIL,
           "estimated: the CPU alone %.3g us, a GPU alone %.3g us an iteration",
           1e6 * estimate->cpu, 1e6 * estimate->gpu);
}
