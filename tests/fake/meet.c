/* SPDX-License-Identifier: BSD-3-Clause */
/* meet.c: the entry points of gpu_meet.h without a GPU: the part's tree by sum.h's own text, the
 * meeting by the flags that CPU workers use. What the device reads and writes is proved to be in
 * its reach. */
#include <sched.h>
#include <string.h>

#include "lib/flag.h"
#include "solvers/cg/gpu_meet.h"
#include "tests/fake/inside.h"
#include "tests/fake/kernels.h"

/* -------------------------------------------------------------------- tree */

typedef struct meet_arguments {
    yk_gpu_view view;
    int task, full; /* chunks of a full block */
    yk_gpu_loop *loop;
    yk_tree *tree;
    yk_gpu_link link;
} meet_arguments;

static bool has_ended(const yk_gpu_loop *loop)
{
    if (!loop) return false;
    fake_reach(loop, sizeof *loop, "the loop's state");
    return loop->halt;
}

static int level_of(int width)
{
    int level = 0;
    while (1 << level < width) level++;
    return level;
}

/* The nodes of full blocks, then the chunks of one that is not. */
static void make_tree(const meet_arguments *a, yk_tree *tree)
{
    int64_t chunks = yk_gpu_chunks(a->view.rows.csr.rows);
    int full = a->view.sums.apart > 1 ? 1 : a->full;
    int64_t blocks = chunks / full, all = blocks + chunks % full, first = a->view.sums.first_chunk;
    int dots = yk_task_dots(a->task);
    const double *node = a->view.sums.node[0];
    if (!a->view.sums.apart) fake_die("a tree is made of sums that were not left apart");
    fake_reach(node, (size_t)(all * dots) * sizeof *node, "nodes");
    if (first % full != 0) fake_die("blocks are no nodes of the tree");
    yk_tree_begin(tree, first, dots);
    for (int64_t i = 0; i < all; i++)
        yk_tree_add(tree, i < blocks ? level_of(full) : 0, node + i * dots);
}

static void run_tree(const void *arguments)
{
    const meet_arguments *a = arguments;
    if (has_ended(a->loop)) return;
    fake_reach(a->tree, sizeof *a->tree, "a tree");
    make_tree(a, a->tree);
}

int yk_gpu_launch_tree(const yk_gpu_view *view, int task, const yk_gpu_loop *loop, yk_tree *tree,
                       void *stream)
{
    meet_arguments arguments = {.view = *view,
                                .task = task,
                                .full = yk_gpu_block_chunks(view, task),
                                .loop = (yk_gpu_loop *)loop,
                                .tree = tree};
    if (yk_task_dots(task) == 0) return cudaErrorInvalidValue;
    return fake_launch(stream, run_tree, &arguments, sizeof arguments);
}

/* -------------------------------------------------------------------- meet */

/* At the slot itself or, in the solo form, beyond it. */
static bool has_met(yk_slot *slot, unsigned meeting)
{
    return (int)(yk_flag_get(&slot->flag) - meeting) >= 0;
}

/* Without the fake's lock: only what the host reaches as well is touched. */
static bool wait_for_parts(const yk_gpu_link *link, unsigned meeting)
{
    double began = yoke_seconds();
    for (int i = 0; i < link->parts; i++)
        while (i != link->me && !has_met(&link->port[i].slot[meeting & 1], meeting)) {
            if (yk_flag_get(link->abort)) return false;
            if (yoke_seconds() - began > link->deadline) {
                yk_flag_set(link->abort, 1);
                return false;
            }
            sched_yield();
        }
    return true;
}

static void total_of_parts(const yk_gpu_link *link, unsigned meeting, int dots, double *total)
{
    yk_tree all;
    yk_tree_begin(&all, 0, dots);
    for (int i = 0; i < link->parts; i++) {
        const yk_tree *tree = &link->port[i].slot[meeting & 1].sums;
        if (tree->count > link->nodes) fake_die("a part has more nodes than its link knows of");
        if (tree->dots != dots) fake_die("parts meet with different sums");
        yk_tree_append(&all, tree);
    }
    yk_tree_total(&all, total);
}

static void run_meet(const void *arguments)
{
    const meet_arguments *a = arguments;
    const yk_gpu_link *link = &a->link;
    double total[YK_DOTS] = {0.0, 0.0, 0.0, 0.0};
    if (has_ended(a->loop)) return;
    fake_reach(link->port, (size_t)link->parts * sizeof *link->port, "ports");
    fake_reach(link->abort, sizeof *link->abort, "the abort word");
    unsigned meeting = a->loop->meetings + 1;
    yk_slot *slot = &link->port[link->me].slot[meeting & 1];
    make_tree(a, &slot->sums);
    yk_flag_set(&slot->flag, meeting);
    int paused = fake_pause();
    bool met = wait_for_parts(link, meeting);
    fake_resume(paused);
    if (met) {
        total_of_parts(link, meeting, yk_task_dots(a->task), total);
        a->loop->meetings = meeting;
        fake_step(a->task, a->loop, total);
    } else {
        a->loop->s.stop = YK_CG_ABORTED;
        a->loop->halt = 1;
    }
}

int yk_gpu_launch_meet(const yk_gpu_view *view, int task, yk_gpu_loop *loop,
                       const yk_gpu_link *link, void *stream)
{
    meet_arguments arguments = {.view = *view,
                                .task = task,
                                .full = yk_gpu_block_chunks(view, task),
                                .loop = loop,
                                .link = *link};
    if (link->me != 0 || yk_task_dots(task) == 0) return cudaErrorInvalidValue;
    if (view->sums.first_chunk > 0 || view->sums.apart > 1) return cudaErrorInvalidValue;
    return fake_launch_waiting(stream, run_meet, &arguments, sizeof arguments);
}

/* ------------------------------------------------------------ what travels */

typedef struct travel_arguments {
    const double *from;
    const int32_t *row;
    int64_t count;
    double *to;
    const yk_gpu_loop *loop;
    int64_t rows; /* worked on */
} travel_arguments;

static void run_send(const void *arguments)
{
    const travel_arguments *a = arguments;
    if (has_ended(a->loop)) return;
    fake_reach(a->row, (size_t)a->count * sizeof *a->row, "rows to send");
    fake_reach(a->to, (size_t)a->count * sizeof *a->to, "a halo");
    for (int64_t k = 0; k < a->count; k++) {
        fake_reach(a->from + a->row[k], sizeof *a->from, "a row to send");
        a->to[k] = a->from[a->row[k]];
    }
}

int yk_gpu_launch_send(const yk_gpu_view *view, const double *from, const int32_t *row,
                       int64_t count, double *to, const yk_gpu_loop *loop, void *stream)
{
    travel_arguments arguments = {from, row, count, to, loop, 0};
    (void)view;
    return count > 0 ? fake_launch(stream, run_send, &arguments, sizeof arguments) : cudaSuccess;
}

static void run_halo(const void *arguments)
{
    const travel_arguments *a = arguments;
    const yk_gpu_loop *loop = a->loop;
    if (has_ended(loop)) return;
    fake_reach(a->from, (size_t)a->count * sizeof *a->from, "z of the halo");
    fake_reach(a->to, (size_t)a->count * sizeof *a->to, "p of the halo");
    for (int64_t k = 0; k < a->count; k++)
        a->to[k] = yk_fma(loop->s.beta, a->to[k], a->from[k] - loop->s.shift);
}

int yk_gpu_launch_halo(const yk_gpu_view *view, int64_t halo, const double *z,
                       const yk_gpu_loop *loop, void *stream)
{
    travel_arguments arguments = {
        .from = z, .count = halo, .to = view->rows.p + view->rows.csr.rows, .loop = loop};
    return halo > 0 ? fake_launch(stream, run_halo, &arguments, sizeof arguments) : cudaSuccess;
}

/* None is among the rows that the pass beside it writes. */
static void run_halo_at(const void *arguments)
{
    const travel_arguments *a = arguments;
    const yk_gpu_loop *loop = a->loop;
    if (has_ended(loop)) return;
    fake_reach(a->from, (size_t)a->count * sizeof *a->from, "z of the halo");
    fake_reach(a->row, (size_t)a->count * sizeof *a->row, "places of the halo");
    for (int64_t k = 0; k < a->count; k++) {
        double *p = a->to + a->row[k];
        if (a->row[k] < a->rows) fake_die("a halo is among the rows that are worked on");
        fake_reach(p, sizeof *p, "p of the halo");
        *p = yk_fma(loop->s.beta, *p, a->from[k] - loop->s.shift);
    }
}

int yk_gpu_launch_halo_at(const yk_gpu_view *view, const int32_t *at, int64_t halo, const double *z,
                          const yk_gpu_loop *loop, void *stream)
{
    travel_arguments arguments = {.from = z,
                                  .row = at,
                                  .count = halo,
                                  .to = view->rows.p,
                                  .loop = loop,
                                  .rows = view->rows.csr.rows};
    return halo > 0 ? fake_launch(stream, run_halo_at, &arguments, sizeof arguments) : cudaSuccess;
}

static void run_place(const void *arguments)
{
    const travel_arguments *a = arguments;
    fake_reach(a->from, (size_t)a->count * sizeof *a->from, "values of the halo");
    fake_reach(a->row, (size_t)a->count * sizeof *a->row, "places of the halo");
    for (int64_t k = 0; k < a->count; k++) {
        fake_reach(a->to + a->row[k], sizeof *a->to, "a place of the halo");
        a->to[a->row[k]] = a->from[k];
    }
}

int yk_gpu_launch_place(const yk_gpu_view *view, const double *from, const int32_t *at,
                        int64_t count, double *to, void *stream)
{
    travel_arguments arguments = {.from = from, .row = at, .count = count, .to = to};
    (void)view;
    return count > 0 ? fake_launch(stream, run_place, &arguments, sizeof arguments) : cudaSuccess;
}

int yk_gpu_load_meeting(void)
{
    return cudaSuccess; /* with the rest, by yk_gpu_load_kernels */
}
