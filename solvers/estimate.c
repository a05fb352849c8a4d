/* SPDX-License-Identifier: BSD-3-Clause */
/* estimate.c: what is known of this machine, and owners compared by it. */
#include "solvers/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/context.h"
#include "lib/threads.h"
#include "solvers/cg/bytes.h"

/* Whose GPU is taken where no profile has one: the one whose figures were measured. */
static const char assumed_machine[] = "h200-16cores";

/* A core reads them in less time than a GPU needs for the passes of an iteration without a row. */
#define SURELY_SMALL 131072.0

static double iteration_bytes(const yoke_matrix *matrix)
{
    return yk_csr_bytes(&matrix->csr) + yk_cg_row_bytes(false, false) * (double)matrix->csr.rows;
}

bool yk_is_surely_for_the_cpu(const yoke_matrix *matrix)
{
    return iteration_bytes(matrix) < SURELY_SMALL;
}

/* Of those that it may have, the threads that are worth waking. */
static int threads_for(const yoke_matrix *matrix, int asked)
{
    const double of_thread = 65536.0, /* bytes: see planner.c */
        bytes = iteration_bytes(matrix);
    int most = yk_threads(matrix->context, asked);
    if (asked > 0 || bytes / of_thread >= most) return most;
    return bytes < of_thread ? 1 : (int)(bytes / of_thread);
}

/* ---------------------------------------------------------- what is known */

typedef struct known {
    yk_profile profile;
    yk_profile otherwise; /* for what this one lacks */
    bool kept, has_otherwise;
    char notice[256];
} known;

static bool lacks(const yk_profile *p)
{
    bool of_gpu = !yk_known(&p->gpu_grid_barrier) || !yk_known(&p->gpu_graph_node) ||
                  !yk_known(&p->gpu_reads_host) || p->gpu_read.points == 0;
    return p->cpu_read.points == 0 || !yk_known(&p->cpu_barrier) || (yoke_has("cuda") && of_gpu);
}

static void ask(int device, known *of)
{
    yk_profile_here(device, &of->profile, &of->kept, of->notice, sizeof of->notice);
    of->has_otherwise =
        lacks(&of->profile) && yk_profile_shipped(assumed_machine, &of->otherwise) == YOKE_OK;
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

static void predict(const known *machine, const yk_space *space, yk_candidates *list)
{
    yk_candidates_predict(space, &machine->profile,
                          machine->has_otherwise ? &machine->otherwise : NULL, list);
}

void yk_estimate_candidates(const yoke_matrix *matrix, const yk_space *space, yk_candidates *list)
{
    const known *machine = machine_of(matrix->context);
    if (machine) predict(machine, space, list);
}

/* ------------------------------------------------------- owners compared */

/* SELL without padding and by graph: rows have not been looked at. */
static yk_space space_of(const yoke_matrix *matrix, const yoke_plan_options *options,
                         double least_share)
{
    const yk_csr *csr = &matrix->csr;
    return (yk_space){.cpu = true,
                      .gpu = true,
                      .shared = least_share >= 0.0,
                      .unfolded = true,
                      .driver = {"graph"},
                      .format = {"sell"},
                      .memory = {"mapped"},
                      .home = "owner",
                      .share = -1.0,
                      .least_share = least_share,
                      .matrix = {.rows = (double)csr->rows,
                                 .nonzeros = (double)csr->nonzeros,
                                 .sell_entries = (double)csr->nonzeros,
                                 .start_bytes = csr->start32 ? 4.0 : 8.0},
                      .threads = threads_for(matrix, options->threads),
                      .gpu_sms = options->gpu_sms};
}

static double time_of(const yk_candidate *c)
{
    return c ? c->predicted : INFINITY;
}

void yk_estimate_owners(const yoke_matrix *matrix, const yoke_plan_options *options, int device,
                        double least_share, yk_estimate *estimate)
{
    const yk_space space = space_of(matrix, options, least_share);
    const known *kept = device < 0 ? machine_of(matrix->context) : NULL;
    known machine;
    yk_candidates list;
    if (kept)
        machine = *kept;
    else
        ask(device, &machine);
    /* Whether others on a machine leave its caches to a solve is not known. */
    machine.profile.cpu_read_set.points = machine.otherwise.cpu_read_set.points = 0;
    yk_candidates_list(&space, &list);
    predict(&machine, &space, &list);
    const yk_candidate *both = yk_candidates_best(&list, true, true);
    estimate->cpu = time_of(yk_candidates_best(&list, true, false));
    estimate->gpu = time_of(yk_candidates_best(&list, false, true));
    estimate->both = time_of(both);
    estimate->share = both ? both->cpu_share : 0.0;
    memcpy(estimate->notice, machine.notice, sizeof estimate->notice);
    yk_log(matrix->context, YOKE_LOG_DETAIL,
           "estimated: the CPU alone %.3g us, a GPU alone %.3g us an iteration",
           1e6 * estimate->cpu, 1e6 * estimate->gpu);
}
