/* SPDX-License-Identifier: BSD-3-Clause */
/* gpus.c: the entry points of gpus.h without a GPU. What lies in a device's memory is looked at
 * with the fake's lock alone, as others close that memory meanwhile. */
#include <sched.h>
#include <string.h>

#include "lib/flag.h"
#include "solvers/cg/gpus.h"
#include "tests/fake/inside.h"
#include "tests/fake/kernels.h"

typedef struct meet_arguments {
    yk_gpu_view view;
    int task, full; /* chunks of a full block */
    yk_gpu_loop *loop;
    yk_gpus_link link;
    int phases;
} meet_arguments;

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
    int64_t blocks = chunks / a->full, all = blocks + chunks % a->full;
    int dots = yk_task_dots(a->task);
    const double *node = a->view.sums.node[0];
    if (!a->view.sums.apart) fake_die("a tree is made of sums that were not left apart");
    fake_reach(node, (size_t)(all * dots) * sizeof *node, "nodes");
    yk_tree_begin(tree, a->link.first_chunk, dots);
    for (int64_t i = 0; i < all; i++)
        yk_tree_add(tree, i < blocks ? level_of(a->full) : 0, node + i * dots);
}

static yk_slot *slot_of(yk_port *inbox, int part, unsigned meeting)
{
    fake_reach(inbox, (size_t)(part + 1) * sizeof *inbox, "an inbox");
    return &inbox[part].slot[meeting & 1];
}

static void publish(const meet_arguments *a, unsigned meeting)
{
    const yk_gpus_link *link = &a->link;
    yk_tree tree;
    memset(&tree, 0, sizeof tree);
    make_tree(a, &tree);
    for (int i = 0; i < link->own.parts; i++)
        if (a->loop || i == link->own.me)
            slot_of(link->inbox[i], link->own.me, meeting)->sums = tree;
    for (int i = 0; i < link->own.parts && a->phases & YK_GPUS_WAIT; i++)
        yk_flag_set(&slot_of(link->inbox[i], link->own.me, meeting)->flag, meeting);
}

static bool all_are_there(const yk_gpu_link *own, unsigned meeting)
{
    for (int i = 0; i < own->parts; i++) {
        yk_slot *slot = slot_of(own->port, i, meeting);
        if (i != own->me && (int)(yk_flag_get(&slot->flag) - meeting) < 0) return false;
    }
    return true;
}

static bool wait_for_parts(const yk_gpu_link *own, unsigned meeting)
{
    double began = yoke_seconds();
    while (!all_are_there(own, meeting)) {
        if (yk_flag_get(own->abort)) return false;
        if (yoke_seconds() - began > own->deadline) {
            yk_flag_set(own->abort, 1);
            return false;
        }
        int paused = fake_pause();
        sched_yield();
        fake_resume(paused);
    }
    return true;
}

static void conclude(const meet_arguments *a, unsigned meeting)
{
    double total[YK_DOTS] = {0.0, 0.0, 0.0, 0.0};
    yk_tree all;
    yk_tree_begin(&all, 0, yk_task_dots(a->task));
    for (int i = 0; i < a->link.own.parts; i++) {
        const yk_tree *tree = &slot_of(a->link.own.port, i, meeting)->sums;
        if (tree->count > a->link.own.nodes) fake_die("a part has more nodes than its link knows");
        if (tree->dots != all.dots) fake_die("parts meet with different sums");
        yk_tree_append(&all, tree);
    }
    yk_tree_total(&all, total);
    a->loop->meetings = meeting;
    fake_step(a->task, a->loop, total);
}

static void run_meet(const void *arguments)
{
    const meet_arguments *a = arguments;
    yk_gpu_loop *loop = a->loop;
    if (loop) fake_reach(loop, sizeof *loop, "the loop's state");
    if (loop && loop->halt) return;
    unsigned meeting = loop ? loop->meetings + 1 : 0;
    if (a->phases & YK_GPUS_PUBLISH) publish(a, meeting);
    if (!loop) return;
    if (a->phases & YK_GPUS_WAIT && !wait_for_parts(&a->link.own, meeting)) {
        loop->s.stop = YK_CG_ABORTED;
        loop->halt = 1;
    } else if (a->phases & YK_GPUS_CONCLUDE) {
        conclude(a, meeting);
    }
}

int yk_gpus_launch_meet(const yk_gpu_view *view, int task, yk_gpu_loop *loop,
                        const yk_gpus_link *link, int phases, void *stream)
{
    meet_arguments arguments = {.view = *view,
                                .task = task,
                                .full = yk_gpu_block_chunks(view, task),
                                .loop = loop,
                                .link = *link,
                                .phases = phases};
    if (yk_task_dots(task) == 0 || link->first_chunk % arguments.full != 0)
        return cudaErrorInvalidValue;
    return (phases & YK_GPUS_WAIT ? fake_launch_waiting : fake_launch)(stream, run_meet, &arguments,
                                                                       sizeof arguments);
}

int yk_gpus_load_meeting(void)
{
    return cudaSuccess; /* with the rest, by yk_gpu_load_kernels */
}
