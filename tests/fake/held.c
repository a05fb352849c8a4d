/* SPDX-License-Identifier: BSD-3-Clause */
/* held.c: the entry points of gpu_held.h without a GPU: the same tasks in the same order, one after
 * the other, once the shape and all that the kernel reaches were looked at. */
#include "solvers/cg/gpu_held.h"

#include "tests/fake/fake.h"
#include "tests/fake/inside.h"
#include "tests/fake/kernels.h"
#include "tests/fake/work.h"

typedef struct run_arguments {
    yk_gpu_view view;
    yk_held a;
    int update;
    yk_gpu_loop *loop;
    unsigned long long epoch;
} run_arguments;

/* Blocks have all chunks, none twice, and the last has some; nodes are of one block each. */
static void check_shape(const yk_held *a, int64_t rows)
{
    const int64_t chunks = yk_gpu_chunks(rows);
    if (a->chunks < 1 || a->chunks > YK_HELD_CHUNKS) fake_die("%d chunks a block", a->chunks);
    if (a->node_chunks < 2 || a->chunks % a->node_chunks != 0)
        fake_die("%d chunks a node", a->node_chunks);
    if ((int64_t)a->blocks * a->chunks < chunks || (int64_t)(a->blocks - 1) * a->chunks >= chunks)
        fake_die("%d blocks", a->blocks);
    if (a->nodes != (chunks + a->node_chunks - 1) / a->node_chunks || a->nodes > YK_HELD_NODES)
        fake_die("%d nodes", a->nodes);
    if (a->nodes < a->blocks) fake_die("%d nodes of %d blocks", a->nodes, a->blocks);
    if (yk_held_lay_out(a).bytes > fake.chip.shared_bytes) fake_die("too much shared memory");
}

static void reach_run(const run_arguments *at)
{
    const yk_held *a = &at->a;
    const size_t words = (size_t)(YK_HELD_KINDS * YK_RESIDENT_DOTS * a->nodes);
    check_shape(a, at->view.rows.csr.rows);
    fake_reach(at->loop, sizeof *at->loop, "the loop's state");
    fake_reach(a->abandoned, sizeof *a->abandoned, "a flag");
    fake_reach(a->word, words * sizeof *a->word, "sums");
    if (*a->abandoned) fake_die("the blocks abandoned an earlier launch");
    for (size_t i = 0; i < words; i++)
        if (a->word[i].tag >= at->epoch) fake_die("a message of this launch before it begins");
    a->word[0].tag = at->epoch;
    if (at->view.format == YK_GPU_CSR) fake_die("held systems are in SELL");
    if (a->dots != yk_task_dots(at->update)) fake_die("%d sums", a->dots);
    if (!a->jacobi && at->view.rows.z != at->view.rows.r) fake_die("z is not r");
}

/* x takes its step, whether or not the loop goes on. */
static void step(const run_arguments *at)
{
    const int halt = at->loop->halt;
    at->loop->halt = 0;
    fake_run_task(&at->view, YK_TASK_FLUSH, at->loop);
    at->loop->halt = halt;
    at->loop->s.alpha = 0.0;
}

static void run_held(const void *arguments)
{
    const run_arguments *at = arguments;
    reach_run(at);
    step(at);
    while (!at->loop->halt) {
        fake_run_task(&at->view, YK_TASK_DIRECTION, at->loop);
        fake_run_task(&at->view, YK_TASK_MULTIPLY, at->loop);
        fake_run_task(&at->view, at->update, at->loop);
        step(at);
    }
    at->loop->halt = 1;
}

int yk_gpu_held_fits(const yk_gpu_view *view, const yk_held *a, int multiprocessors, int *fits)
{
    cudaError_t error = fake_leave(fake_enter(FAKE_cudaFuncSetAttribute));
    (void)view;
    if (error != cudaSuccess) return error;
    error = fake_enter(FAKE_cudaOccupancyMaxActiveBlocksPerMultiprocessor);
    *fits = multiprocessors >= a->blocks && yk_held_lay_out(a).bytes <= fake.chip.shared_bytes;
    return fake_leave(error);
}

int yk_gpu_held_run(const yk_gpu_view *view, const yk_held *a, int update, yk_gpu_loop *loop,
                    unsigned long long epoch, void *stream)
{
    run_arguments arguments = {*view, *a, update, loop, epoch};
    return fake_launch(stream, run_held, &arguments, sizeof arguments);
}
