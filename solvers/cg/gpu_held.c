/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_held.c: the driver `persistent` for systems whose vectors the chip holds and whose matrix it
 * does not: who gets which rows, whether they fit, and the one launch of an advance. */
#include "solvers/cg/gpu_held.h"

#include <stdio.h>
#include <string.h>

#include "lib/status.h"
#include "solvers/cg/gpu_state.h"

/* The fewest chunks a block, and of those the fewest messages: a sixteenth fewer chunks are worth
 * more of them. */
static void share_chunks(int64_t chunks, int blocks, yk_held *a)
{
    for (int of_node = YK_HELD_CHUNKS; of_node >= 2; of_node /= 2) {
        int64_t nodes = (chunks + of_node - 1) / of_node;
        int64_t of_block = (nodes + blocks - 1) / blocks * of_node;
        if (nodes > YK_HELD_NODES || of_block > YK_HELD_CHUNKS) continue;
        if (a->chunks > 0 && of_block > a->chunks - a->chunks / 16) continue;
        a->chunks = (int)of_block;
        a->node_chunks = of_node;
        a->nodes = (int)nodes;
        a->blocks = (int)((chunks + of_block - 1) / of_block);
    }
}

static int most_blocks(const yk_cg *cg)
{
    int multiprocessors = cg->gpu->device.multiprocessors;
    return multiprocessors < YK_RESIDENT_BLOCKS ? multiprocessors : YK_RESIDENT_BLOCKS;
}

/* What L2 is asked to hold of the matrix: on an H200, with 60 MB, 12 of them made poisson3d7:72 to
 * :100 5 % faster and poisson3d27:80 3 %; but 128^3, whose p, q and x are 50 MB, 5 % slower. So it
 * is what vectors leave of two fifths. */
static float share_to_keep(const yk_cg *cg, const yk_held *a, int64_t rows)
{
    const struct yk_gpu_state *gpu = cg->gpu;
    const int vectors = 1 + !a->holds_q + !a->holds_x;
    const double room = 0.4 * (double)gpu->device.l2_bytes - 8.0 * vectors * (double)rows;
    const double bytes = (double)gpu->sell_columns * YK_SELL_BYTES;
    return room <= 0.0 ? 0.0f : room < bytes ? (float)(room / bytes) : 1.0f;
}

static yoke_status choose_shape(yk_cg *cg, int64_t rows, size_t most)
{
    yk_held *a = &cg->gpu->held;
    const int blocks = most_blocks(cg);
    memset(a, 0, sizeof *a);
    if (rows > 0) share_chunks(yk_gpu_chunks(rows), blocks, a);
    if (a->chunks == 0)
        return yk_fail(YOKE_UNSUITABLE,
                       "driver persistent: %lld rows are not 1 to %d, whose vectors %d "
                       "multiprocessors hold; use graph",
                       (long long)rows, YK_HELD_CHUNKS * YK_CHUNK * blocks, blocks);
    a->jacobi = cg->jacobi;
    a->dots = yk_task_dots(yk_cg_update_task(cg));
    a->holds_q = 1;
    a->holds_q = yk_held_lay_out(a).bytes <= most;
    a->holds_x = a->holds_q;
    if (yk_held_lay_out(a).bytes > most) a->holds_x = 0;
    a->keep = share_to_keep(cg, a, rows);
    if (yk_held_lay_out(a).bytes > most)
        return yk_fail(YOKE_UNSUITABLE,
                       "driver persistent: a block needs %zu bytes of shared memory, %zu are "
                       "there; use graph",
                       yk_held_lay_out(a).bytes, most);
    return YOKE_OK;
}

static yoke_status allocate(struct yk_gpu_state *gpu)
{
    yk_held *a = &gpu->held;
    const yk_device *device = &gpu->device;
    const int64_t words = (int64_t)YK_HELD_KINDS * YK_RESIDENT_DOTS * a->nodes;
    YK_TRY(yk_device_allocate(device, "a flag", 1, sizeof *a->abandoned, &a->abandoned));
    YK_TRY(yk_device_clear(device, a->abandoned, sizeof *a->abandoned));
    YK_TRY(yk_device_allocate(device, "sums", words, sizeof *a->word, &a->word));
    return yk_device_clear(device, a->word, (size_t)words * sizeof *a->word);
}

static yoke_status make(yk_cg *cg)
{
    struct yk_gpu_state *gpu = cg->gpu;
    const yk_gpu_view view = yk_gpu_view_of(cg, 0);
    size_t most = 0;
    int cluster = 0, fits = 0;
    if (!gpu->walk.streams)
        return yk_fail(YOKE_UNSUITABLE, "driver persistent: what is built for this device has no "
                                        "bulk copies; use graph");
    YK_TRY(yk_device_try(yk_gpu_resident_limits(gpu->device.number, &most, &cluster),
                         "asking for a block's shared memory"));
    YK_TRY(choose_shape(cg, view.rows.csr.rows, most));
    YK_TRY(yk_device_try(yk_gpu_held_fits(&view, &gpu->held, gpu->device.multiprocessors, &fits),
                         "the persistent kernel's blocks"));
    if (!fits)
        return yk_fail(YOKE_UNSUITABLE,
                       "driver persistent: this device does not run %d blocks of %d threads at "
                       "once; use graph",
                       gpu->held.blocks, YK_HELD_THREADS);
    return allocate(gpu);
}

/* A system for all of which the chip was made. */
static bool is_small(const yk_cg *cg)
{
    return yk_gpu_chunks(yk_gpu_part(cg)->rows) / most_blocks(cg) <= YK_RESIDENT_AUTO_CHUNKS;
}

yoke_status yk_gpu_make_held(yk_cg *cg)
{
    struct yk_gpu_state *gpu = cg->gpu;
    if (cg->residency == YK_RESIDENT_NEVER || gpu->resident.word) return YOKE_OK;
    yoke_status status = make(cg);
    if (status == YOKE_OK) return YOKE_OK;
    yk_gpu_free_held(gpu);
    if (status != YOKE_UNSUITABLE) return status;
    if (is_small(cg) && *gpu->not_resident) return YOKE_OK; /* that reason is the one to tell */
    snprintf(gpu->not_resident, sizeof gpu->not_resident, "%s", yoke_error_text());
    return YOKE_OK;
}

void yk_gpu_free_held(struct yk_gpu_state *gpu)
{
    yk_device_free(gpu->held.word);
    yk_device_free(gpu->held.abandoned);
    memset(&gpu->held, 0, sizeof gpu->held);
}
