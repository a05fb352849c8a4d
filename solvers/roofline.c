/* SPDX-License-Identifier: BSD-3-Clause */
/* roofline.c: what each pass of an iteration moves and how long it takes, alone. All vectors are 0
 * meanwhile, which no memory notices. */
#include <math.h>
#include <string.h>

#include "lib/status.h"
#include "solvers/cg/bytes.h"
#include "solvers/cg/timing.h"
#include "solvers/plan.h"

/* The least of at least so many, and of no more than fit into the seconds. */
enum { LEAST_REPEATS = 3, MOST_REPEATS = 64 };
#define ENOUGH_SECONDS 0.05

/* Of a system on the chip whole iterations are timed, of which so many are one launch. */
enum { ITERATIONS = 256 };

/* What an owner's rows take. */
typedef struct owned {
    double rows, nonzeros, matrix_bytes;
} owned;

static owned owned_by(const yoke_plan *plan, yk_owner owner)
{
    owned all = {0.0, 0.0, owner == YK_OWNER_GPU ? plan->cg.matrix_bytes : 0.0};
    for (int i = 0; i < plan->cg.parts; i++) {
        const yk_part *part = &plan->cg.part[i];
        if (part->owner != owner) continue;
        const yk_csr *csr = &plan->matrix->csr;
        all.rows += (double)part->rows;
        all.nonzeros +=
            (double)(yk_row_start(csr, part->first + part->rows) - yk_row_start(csr, part->first));
        if (owner == YK_OWNER_CPU) all.matrix_bytes += yk_csr_bytes(&part->csr);
    }
    return all;
}

/* ------------------------------------------------------------------- passes */

static bool multiplies(const char *name)
{
    return strcmp(name, "multiply") == 0 || strcmp(name, "fold") == 0;
}

/* A multiplication and an addition a nonzero; of each vector updated, and each dot product, the
 * same a row. */
static double flops_of(const char *name, const owned *of, bool jacobi)
{
    double a_row = 4.0;                             /* direction: p and x; update: r and r.r */
    if (strcmp(name, "multiply") == 0) a_row = 2.0; /* p.q */
    if (strcmp(name, "fold") == 0) a_row = 6.0;
    if (strcmp(name, "update") == 0 && jacobi) a_row += 3.0; /* z and r.z */
    return a_row * of->rows + (multiplies(name) ? 2.0 * of->nonzeros : 0.0);
}

static double bytes_of(const yoke_plan *plan, const yk_pass_traffic *pass, const owned *of)
{
    double bytes = 8.0 * (pass->reads + pass->writes) * of->rows;
    if (!multiplies(pass->name)) return bytes;
    if (plan->choice.foreign_product) bytes += YK_CG_DOT_ROW_BYTES * of->rows;
    return bytes + of->matrix_bytes;
}

static yk_task task_of(const yoke_plan *plan, const char *name)
{
    if (strcmp(name, "direction") == 0) return YK_TASK_DIRECTION;
    if (strcmp(name, "multiply") == 0) return YK_TASK_MULTIPLY;
    if (strcmp(name, "fold") == 0) return YK_TASK_FOLD;
    return yk_cg_update_task(&plan->cg);
}

static int count_passes(const yk_pass_traffic *pass)
{
    int count = 0;
    while (pass[count].name) count++;
    return count;
}

static double flops_of_all(const yoke_plan *plan, const owned *of)
{
    double flops = 0.0;
    for (const yk_pass_traffic *p = yk_cg_traffic(plan->cg.folded, plan->cg.jacobi); p->name; p++)
        flops += flops_of(p->name, of, plan->cg.jacobi);
    return flops;
}

/* ------------------------------------------------------------------- timing */

typedef struct timing {
    int count;
    yk_task task[YK_MOST_TIMED];
    double cpu[YK_MOST_TIMED], gpu[YK_MOST_TIMED]; /* least so far; infinite: none */
} timing;

static void keep_least(int count, const double *seconds, double *least)
{
    for (int i = 0; i < count; i++)
        if (seconds[i] > 0.0) least[i] = fmin(least[i], seconds[i]); /* not if it is NaN */
}

static yoke_status time_tasks(yoke_plan *plan, timing *t)
{
    yk_cg *cg = &plan->cg;
    double began = yoke_seconds(), cpu[YK_MOST_TIMED], gpu[YK_MOST_TIMED];
    for (int i = 0; i < t->count; i++) t->cpu[i] = t->gpu[i] = INFINITY;
    for (int i = 0; i < MOST_REPEATS; i++) {
        cg->driver->engine->time_tasks(cg, t->task, t->count, cpu, gpu);
        YK_TRY(cg->status);
        if (i == 0) continue; /* warms up */
        keep_least(t->count, cpu, t->cpu);
        keep_least(t->count, gpu, t->gpu);
        if (i >= LEAST_REPEATS && yoke_seconds() - began > ENOUGH_SECONDS) break;
    }
    return YOKE_OK;
}

static void add(yoke_pass *pass, int *count, const yoke_pass *one)
{
    if (isfinite(one->seconds) && *count < YOKE_PASSES) pass[(*count)++] = *one;
}

static yoke_status time_passes(yoke_plan *plan, yoke_pass *pass, int *count)
{
    const yk_pass_traffic *traffic = yk_cg_traffic(plan->cg.folded, plan->cg.jacobi);
    const owned of_gpu = owned_by(plan, YK_OWNER_GPU), of_cpu = owned_by(plan, YK_OWNER_CPU);
    timing t = {.count = count_passes(traffic)};
    for (int i = 0; i < t.count; i++) t.task[i] = task_of(plan, traffic[i].name);
    YK_TRY(time_tasks(plan, &t));
    for (int i = 0; i < t.count && traffic[i].name; i++) {
        const yk_pass_traffic *p = &traffic[i];
        bool jacobi = plan->cg.jacobi;
        add(pass, count,
            &(yoke_pass){p->name, "gpu", bytes_of(plan, p, &of_gpu),
                         flops_of(p->name, &of_gpu, jacobi), t.gpu[i]});
        add(pass, count,
            &(yoke_pass){p->name, "cpu", bytes_of(plan, p, &of_cpu),
                         flops_of(p->name, &of_cpu, jacobi), t.cpu[i]});
    }
    return YOKE_OK;
}

/* What stays on the chip has no passes to be timed alone: an iteration is one. */
static yoke_status time_whole(yoke_plan *plan, yoke_pass *pass, int *count)
{
    yk_cg *cg = &plan->cg;
    const owned of = owned_by(plan, YK_OWNER_GPU);
    double least = INFINITY, row_bytes = yk_cg_row_bytes(cg->folded, cg->jacobi);
    for (int i = 0; i <= LEAST_REPEATS; i++) {
        yk_begin_timing(cg);
        double before = yoke_seconds();
        cg->driver->advance(cg, ITERATIONS);
        double seconds = (yoke_seconds() - before) / ITERATIONS;
        YK_TRY(cg->status);
        if (i > 0) least = fmin(least, seconds);
    }
    add(pass, count,
        &(yoke_pass){"iteration", "gpu", of.matrix_bytes + row_bytes * of.rows,
                     flops_of_all(plan, &of), least});
    return YOKE_OK;
}

static yoke_status measure(yoke_plan *plan, yoke_pass *pass, int *count)
{
    yk_cg *cg = &plan->cg;
    if (cg->op || cg->preconditioner)
        return yk_fail(YOKE_UNSUITABLE,
                       "what a user's operator or preconditioner moves is not known");
    if (cg->rows == 0) return YOKE_OK;
    cg->status = YOKE_OK;
    cg->s = (yk_cg_scalars){0};
    cg->driver->engine->clear(cg);
    YK_TRY(cg->status);
    yoke_status status = strcmp(cg->driver->name, "persistent") == 0
                             ? time_whole(plan, pass, count)
                             : time_passes(plan, pass, count);
    cg->s = (yk_cg_scalars){0};
    return status;
}

yoke_status yoke_plan_time_passes(yoke_plan *plan, yoke_pass *pass, int *count)
{
    if (!pass || !count) return yk_fail(YOKE_INVALID, "pass or count is NULL");
    *count = 0;
    if (!plan) return yk_fail(YOKE_INVALID, "plan is NULL");
    if (plan->matrix->spread)
        return yk_fail(YOKE_UNSUITABLE, "passes are not timed over ranks in this version");
    YK_TRY(yk_plan_enter(plan));
    yoke_status status = measure(plan, pass, count);
    yk_plan_leave(plan);
    return status;
}
