/* SPDX-License-Identifier: BSD-3-Clause */
/* cut.c: which share of the rows the CPU should have beside a GPU: each owner's passes are timed on
 * its own rows of this matrix, and whole iterations with their meetings by the driver's own
 * advance.
 *
 * With B the bytes of an iteration, c and g what the CPU and the GPU move in a second, and m the
 * seconds that an iteration takes beyond the slower of them, a share s costs max(s B / c,
 * (1 - s) B / g) + m: least at s = c / (c + g). One of them alone costs B / g or B / c. */
#include <math.h>

#include "lib/context.h"
#include "lib/status.h"
#include "partition/balance.h"
#include "solvers/cg/bytes.h"
#include "solvers/plan.h"

/* Each is timed as long as this, or once. */
#define ENOUGH_SECONDS 1e-3

enum { MOST_REPEATS = 64 };

static double bytes_of(const yoke_plan *plan, int64_t first, int64_t last)
{
    const yk_csr *csr = &plan->matrix->csr;
    double row_bytes = yk_cg_row_bytes(plan->cg.folded, plan->cg.jacobi);
    return yk_bytes_before(csr, row_bytes, last) - yk_bytes_before(csr, row_bytes, first);
}

/* Seconds of the passes of an iteration over the rows of each owner, the least of some. */
static yoke_status time_owners(yoke_plan *plan, double *cpu, double *gpu)
{
    yk_cg *cg = &plan->cg;
    double began = yoke_seconds();
    *cpu = *gpu = INFINITY;
    for (int i = 0; i < MOST_REPEATS; i++) {
        double of_cpu, of_gpu;
        plan->choice.driver->engine->time_passes(cg, &of_cpu, &of_gpu);
        YK_TRY(cg->status);
        if (i > 0 || of_cpu + of_gpu > ENOUGH_SECONDS) { /* the first warms up */
            *cpu = fmin(*cpu, of_cpu);
            *gpu = fmin(*gpu, of_gpu);
        }
        if (*cpu < INFINITY && yoke_seconds() - began > 2 * ENOUGH_SECONDS) break;
    }
    return YOKE_OK;
}

/* Seconds of a whole iteration; infinite where the matrix holds no numbers. */
static yoke_status time_iterations(yoke_plan *plan, double *seconds)
{
    enum { STEPS = 16 };
    yk_cg *cg = &plan->cg;
    double began = yoke_seconds();
    *seconds = INFINITY;
    yk_begin_timing(cg);
    for (int i = 0; i < MOST_REPEATS && cg->s.stop == YK_CG_GO_ON; i++) {
        double before = yoke_seconds();
        cg->driver->advance(cg, STEPS);
        YK_TRY(cg->status);
        double now = yoke_seconds();
        if (i > 0 && cg->s.stop == YK_CG_GO_ON) *seconds = fmin(*seconds, (now - before) / STEPS);
        if (i > 0 && now - began > 4 * ENOUGH_SECONDS) break;
    }
    return YOKE_OK;
}

/* A cut that moves may yet gain what it does not cost at first. */
#define ALLOWED_TO_MOVE 1.01

/* The share that costs least; 0 or 1 where one of them alone costs less, by a factor. */
static double best_share(double bytes, const yk_rates *r, double allowed)
{
    double share = r->cpu / (r->cpu + r->gpu);
    double together = share * bytes / r->cpu + r->meetings;
    double on_gpu = bytes / r->gpu, on_cpu = bytes / r->cpu;
    if (together < allowed * on_gpu && together < allowed * on_cpu) return share;
    return on_cpu < on_gpu ? 1.0 : 0.0;
}

yoke_status yk_cut_measure(yoke_plan *plan, double *share, yk_rates *rates)
{
    double of_cpu, of_gpu, iteration;
    int64_t rows = plan->cg.rows, cut = plan->choice.gpu_rows;
    YK_TRY(time_iterations(plan, &iteration));
    if (iteration < INFINITY) {
        YK_TRY(time_owners(plan, &of_cpu, &of_gpu));
        *rates = (yk_rates){.cpu = bytes_of(plan, cut, rows) / of_cpu,
                            .gpu = bytes_of(plan, 0, cut) / of_gpu,
                            .meetings = fmax(0.0, iteration - fmax(of_cpu, of_gpu))};
        *share = best_share(bytes_of(plan, 0, rows), rates,
                            plan->choice.partition->moves ? ALLOWED_TO_MOVE : 1.0);
        yk_log(plan->cg.context, YOKE_LOG_DETAIL,
               "measured: CPU %.3g GB/s, GPU %.3g GB/s, meetings %.3g us: a share of %.4f to the "
               "CPU",
               1e-9 * rates->cpu, 1e-9 * rates->gpu, 1e6 * rates->meetings, *share);
    }
    plan->cg.s = (yk_cg_scalars){0};
    return YOKE_OK;
}
