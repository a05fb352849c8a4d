/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu_engine.c: what the CPU, as an owner of rows, does outside the loop: tasks over its pieces by
 * the threads of the team, and vectors in and out. */
#include <math.h>
#include <string.h>

#include "lib/context.h"
#include "lib/threads.h"
#include "solvers/cg/ranks.h"
#include "solvers/cg/team.h"
#include "solvers/cg/timing.h"

static void run_pieces(yk_cg *cg, int first, int end, yk_piece_fn body, void *user)
{
#ifdef _OPENMP
    int team = end > first ? yk_team_size(cg->threads) : 1;
#pragma omp parallel for num_threads(team) schedule(static, 1) if (team > 1)
#endif
    for (int i = first; i < end; i++) body(cg, &cg->piece[i], user);
}

void yk_team_run(yk_cg *cg, yk_piece_fn body, void *user)
{
    run_pieces(cg, cg->gpu_pieces, cg->pieces, body, user);
}

void yk_team_run_for_gpu(yk_cg *cg, yk_piece_fn body, void *user)
{
    run_pieces(cg, 0, cg->gpu_pieces, body, user);
}

/* ------------------------------------------------------------------- tasks */

typedef struct task_call {
    yk_task task;
    double argument;
} task_call;

static void one_task(yk_cg *cg, yk_piece *piece, void *user)
{
    const task_call *call = user;
    yk_cg_rows c = yk_cg_view(cg, &cg->part[piece->part], &cg->s, cg->newest_p);
    c.argument = call->argument;
    yk_team_run_task(cg, piece, &c, call->task);
}

void yk_team_task(yk_cg *cg, yk_task task, double argument)
{
    yk_team_run(cg, one_task, &(task_call){task, argument});
}

void yk_team_append_sums(const yk_cg *cg, yk_tree *all)
{
    for (int i = cg->gpu_pieces; i < cg->pieces; i++) yk_tree_append(all, &cg->piece[i].sums);
}

double yk_team_largest(const yk_cg *cg)
{
    double largest = 0.0;
    for (int i = cg->gpu_pieces; i < cg->pieces; i++) largest = fmax(largest, cg->piece[i].largest);
    return largest;
}

static void run(yk_cg *cg, yk_task task, double argument, double *total)
{
    yk_tree all;
    yk_team_task(cg, task, argument);
    if (yk_task_is_largest(task)) {
        *total = yk_ranks_most(cg->context, yk_team_largest(cg));
    } else if (total && yk_task_dots(task) > 0) {
        yk_tree_begin(&all, cg->first_chunk, yk_task_dots(task));
        yk_team_append_sums(cg, &all);
        if (cg->ranks) yk_cg_ranks_add(cg, &all);
        yk_tree_total(&all, total);
    }
}

/* -------------------------------------------------------------- in and out */

typedef struct vectors {
    const double *b, *x0;
    double *x, factor;
} vectors;

static void copy_rows(double *to, const double *from, int64_t first, int64_t last)
{
    if (first < last) memcpy(to + first, from + first, (size_t)(last - first) * sizeof *to);
}

static void clear_rows(double *to, int64_t first, int64_t last)
{
    if (first < last) memset(to + first, 0, (size_t)(last - first) * sizeof *to);
}

static void import_piece(yk_cg *cg, yk_piece *piece, void *user)
{
    const vectors *v = user;
    yk_part *part = &cg->part[piece->part];
    double *p[2] = {part->p, cg->folded ? part->p_old : part->p};
    if (v->b && piece->first < piece->last)
        copy_rows(part->b, v->b + part->first, piece->first, piece->last);
    if (v->x0 && piece->first < piece->last)
        copy_rows(part->x, v->x0 + part->first, piece->first, piece->last);
    else
        clear_rows(part->x, piece->first, piece->last);
    for (int i = 0; i < 2; i++) {
        clear_rows(p[i], piece->first, piece->last);
        if (part->moving.on) continue; /* the engine clears what the part only holds */
        clear_rows(p[i] + part->rows, piece->halo_first, piece->halo_last);
    }
}

/* Memory that the host does not touch is copied part by part, straight between the caller's vector
 * and the part's. */
static void fetch(yk_cg *cg, const yk_place *at, const double *from, bool is_b)
{
    for (int i = 0; from && i < cg->parts && cg->status == YOKE_OK; i++) {
        const yk_part *part = &cg->part[i];
        if (part->owner != YK_OWNER_CPU) continue;
        cg->status = yk_place_copy(at, is_b ? part->b : part->x, from + part->first,
                                   (size_t)part->rows * sizeof *from);
    }
}

static void import(yk_cg *cg, const double *b, const double *x0)
{
    bool fetch_b = cg->b_at.foreign, fetch_x = cg->x_at.foreign;
    yk_team_run(cg, import_piece, &(vectors){.b = fetch_b ? NULL : b, .x0 = fetch_x ? NULL : x0});
    if (fetch_b) fetch(cg, &cg->b_at, b, true);
    if (fetch_x) fetch(cg, &cg->x_at, x0, false);
}

static void export_piece(yk_cg *cg, yk_piece *piece, void *user)
{
    const vectors *v = user;
    const yk_part *part = &cg->part[piece->part];
    double *to = v->x ? v->x + part->first : part->x;
    for (int64_t i = piece->first; i < piece->last; i++) to[i] = part->x[i] * v->factor;
}

static void hand_over(yk_cg *cg, double *x)
{
    for (int i = 0; i < cg->parts && cg->status == YOKE_OK; i++) {
        const yk_part *part = &cg->part[i];
        if (part->owner != YK_OWNER_CPU) continue;
        const int64_t begin = yk_part_begin(part);
        cg->status = yk_place_copy(&cg->x_at, x + part->first + begin, part->x + begin,
                                   (size_t)yk_part_working(part) * sizeof *x);
    }
}

static void export(yk_cg *cg, double *x, double factor)
{
    bool foreign = cg->x_at.foreign;
    yk_team_run(cg, export_piece, &(vectors){.x = foreign ? NULL : x, .factor = factor});
    if (foreign) hand_over(cg, x);
}

static yoke_status allocate(yk_cg *cg, const yk_part *part, const char *what, int64_t count,
                            double **vector)
{
    (void)part;
    return yk_alloc(cg->context, what, count, sizeof(double), vector);
}

static void release(yk_cg *cg, const yk_part *part, double *vector, int64_t count)
{
    (void)part;
    yk_free(cg->context, vector, count, sizeof(double));
}

static void exchange(yk_cg *cg, yk_boundary which)
{
    yk_team_send(cg, which);
    if (cg->ranks) yk_cg_ranks_send(cg, which);
}

const yk_engine yk_engine_cpu = {
    .name = "cpu",
    .allocate = allocate,
    .release = release,
    .run = run,
    .apply = yk_cpu_apply,
    .clear = yk_cpu_clear,
    .time_tasks = yk_cpu_time_tasks,
    .exchange = exchange,
    .import = import,
    .export = export,
};
