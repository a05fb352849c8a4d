/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_persistent.c: the driver `persistent`: who gets which rows, whether they fit on the chip, and
 * the one launch of an advance. */
#include <stdio.h>
#include <string.h>

#include "lib/context.h"
#include "lib/status.h"
#include "solvers/cg/gpu_resident_layout.h"
#include "solvers/cg/gpu_state.h"

enum {
    WORTH_SHARING = 32, /* entries a row: at 25 a thread of its own was faster, at 42 four were */
    MOST_NODES = 256,
    MOST_CHUNKS = 16,         /* of a block */
    MOST_ITERATIONS = 1 << 30 /* of a launch: half of a tag counts meetings */
};

/* ------------------------------------------------------------------- shape */

/* The fewest chunks a block, with the fewest messages; a block's chunks are whole nodes. */
static void share_chunks(int64_t chunks, int blocks, yk_resident_shape *shape)
{
    int64_t best = INT64_MAX;
    for (int of_node = 1; of_node <= MOST_CHUNKS; of_node *= 2) {
        int64_t nodes = (chunks + of_node - 1) / of_node;
        int64_t of_block = (nodes + blocks - 1) / blocks * of_node;
        if (nodes > MOST_NODES || of_block > best) continue;
        best = of_block;
        shape->node_chunks = of_node;
        shape->nodes = (int)nodes;
        shape->chunks = of_block <= MOST_CHUNKS ? (int)of_block : 0;
        shape->blocks = (int)((chunks + of_block - 1) / of_block);
    }
    shape->stride = 1;
}

/* Four threads a row where rows are long and there are threads for it. */
static void share_rows(const yk_csr *csr, yk_resident_shape *shape)
{
    bool shared = csr->nonzeros > WORTH_SHARING * csr->rows && shape->chunks <= 2;
    shape->sharers = shared ? 4 : 1;
    int rows = shape->chunks * YK_CHUNK * shape->sharers;
    shape->passes = 1;
    while (rows / shape->passes > 512) shape->passes *= 2;
    shape->threads = rows / shape->passes;
}

static int most_blocks(const yk_cg *cg)
{
    int multiprocessors = cg->gpu->device.multiprocessors;
    return multiprocessors < YK_RESIDENT_BLOCKS ? multiprocessors : YK_RESIDENT_BLOCKS;
}

/* What is better held: see gpu_held.h. Known before any kernel is loaded. */
static yoke_status check_speed(const yk_cg *cg, int64_t chunks_of_block)
{
    const bool asked = cg->residency != YK_RESIDENT_IF_FASTER;
    if (chunks_of_block <= YK_RESIDENT_AUTO_CHUNKS || (asked && !cg->gpu->walk.streams))
        return YOKE_OK;
    return yk_fail(YOKE_UNSUITABLE,
                   "driver persistent: of %lld rows a multiprocessor the chip holds the vectors "
                   "alone, and the matrix comes in format sell",
                   (long long)chunks_of_block * YK_CHUNK);
}

static yoke_status choose_shape(const yk_cg *cg, const yk_csr *csr, size_t most, int cluster)
{
    const int multiprocessors = most_blocks(cg);
    yk_resident_shape *shape = &cg->gpu->resident.shape;
    int64_t chunks = yk_chunks(csr->rows);
    shape->cluster = chunks <= cluster;
    if (chunks > 0) share_chunks(chunks, shape->cluster ? cluster : multiprocessors, shape);
    if (shape->chunks == 0)
        return yk_fail(YOKE_UNSUITABLE,
                       "driver persistent: %lld rows are not 1 to %d, which %d multiprocessors "
                       "hold; use graph",
                       (long long)csr->rows, MOST_CHUNKS * YK_CHUNK * multiprocessors,
                       multiprocessors);
    if (yk_resident_analysis_bytes(csr->rows) > most)
        return yk_fail(
            YOKE_UNSUITABLE,
            "driver persistent: to find the halos of %lld rows takes %zu bytes of shared "
            "memory, %zu are there; use graph",
            (long long)csr->rows, yk_resident_analysis_bytes(csr->rows), most);
    YK_TRY(check_speed(cg, shape->chunks));
    share_rows(csr, shape);
    return YOKE_OK;
}

/* How far most rows reach: to their last column; of some rows all over the matrix. */
static int64_t usual_reach(const yk_csr *csr)
{
    enum { SOME = 15 };
    int64_t reach[SOME];
    for (int i = 0; i < SOME; i++) {
        int64_t row = (2 * i + 1) * csr->rows / (2 * SOME), end = yk_row_start(csr, row + 1),
                at = i;
        int64_t own = end > yk_row_start(csr, row) ? csr->column[end - 1] - row : 0;
        for (; at > 0 && reach[at - 1] > own; at--) reach[at] = reach[at - 1];
        reach[at] = own;
    }
    return reach[SOME / 2];
}

/* Two nodes or more of a block that lie as far apart as rows reach, so that they are each other's
 * neighbours: planes of a grid. The same shape where that is not possible. Every node is a message
 * to all, so there are as few as may be. */
static yk_resident_shape spread(const yk_csr *csr, int blocks, yk_resident_shape shape)
{
    yk_resident_shape wide = shape;
    if (shape.cluster || shape.passes < 2 || shape.chunks < 2) return shape;
    if (wide.node_chunks == wide.chunks) {
        wide.node_chunks /= 2;
        wide.nodes = (int)((yk_chunks(csr->rows) + wide.node_chunks - 1) / wide.node_chunks);
    }
    int64_t of_node = (int64_t)wide.node_chunks * YK_CHUNK;
    wide.stride = (int)((usual_reach(csr) + of_node / 2) / of_node);
    int64_t group = (int64_t)wide.stride * (wide.chunks / wide.node_chunks);
    if (wide.stride < 2 || wide.nodes > MOST_NODES || group > wide.nodes) return shape;
    wide.blocks = (int)((wide.nodes + group - 1) / group * wide.stride);
    return wide.blocks <= blocks && 8 * (wide.blocks - shape.blocks) <= shape.blocks ? wide : shape;
}

/* ------------------------------------------------------------------ memory */

static yoke_status allocate_analysis(struct yk_gpu_state *gpu, int64_t rows)
{
    yk_resident *a = &gpu->resident;
    const yk_device *device = &gpu->device;
    const int64_t blocks = a->shape.blocks;
    int64_t words = (int64_t)YK_RESIDENT_KINDS * YK_DOTS * a->shape.nodes;
    a->slices = a->shape.chunks * YK_CHUNK / 32 * a->shape.sharers;
    YK_TRY(yk_device_allocate(device, "blocks' entries", blocks + 1, sizeof *a->first, &a->first));
    YK_TRY(yk_device_allocate(device, "blocks' slices", blocks * (a->slices + 1), sizeof *a->slice,
                              &a->slice));
    YK_TRY(yk_device_allocate(device, "blocks' rows", blocks * a->shape.chunks,
                              YK_CHUNK * sizeof *a->place, &a->place));
    YK_TRY(yk_device_allocate(device, "blocks' halos", blocks + 1, sizeof *a->halo_first,
                              &a->halo_first));
    YK_TRY(yk_device_allocate(device, "rows to send", rows, 1, &a->sent));
    YK_TRY(yk_device_allocate(device, "boundary", blocks * a->shape.chunks * YK_CHUNK,
                              sizeof *a->boundary, &a->boundary));
    YK_TRY(yk_device_allocate(device, "sums", words, sizeof *a->word, &a->word));
    YK_TRY(yk_device_allocate(device, "a flag", 1, sizeof *a->abandoned, &a->abandoned));
    YK_TRY(yk_device_clear(device, a->first, (size_t)(blocks + 1) * sizeof *a->first));
    YK_TRY(yk_device_clear(device, a->halo_first, (size_t)(blocks + 1) * sizeof *a->halo_first));
    YK_TRY(yk_device_clear(device, a->sent, (size_t)rows));
    YK_TRY(yk_device_clear(device, a->boundary,
                           (size_t)(blocks * a->shape.chunks * YK_CHUNK) * sizeof *a->boundary));
    YK_TRY(yk_device_clear(device, a->word, (size_t)words * sizeof *a->word));
    return yk_device_clear(device, a->abandoned, sizeof *a->abandoned);
}

/* Offsets from lengths, on the host: two numbers a block. */
static yoke_status place_blocks(struct yk_gpu_state *gpu, int64_t *first, int32_t *halo_first)
{
    yk_resident *a = &gpu->resident;
    const yk_device *device = &gpu->device;
    size_t count = (size_t)a->shape.blocks + 1;
    YK_TRY(yk_device_copy(device, first, a->first, count * sizeof *first));
    YK_TRY(yk_device_copy(device, halo_first, a->halo_first, count * sizeof *halo_first));
    YK_TRY(yk_device_wait(device));
    first[0] = 0;
    halo_first[0] = 0;
    for (int b = 0; b < a->shape.blocks; b++) {
        if (halo_first[b + 1] > a->halo_max) a->halo_max = halo_first[b + 1];
        if (first[b + 1] > a->resident) a->resident = (int)first[b + 1];
        halo_first[b + 1] += halo_first[b];
        first[b + 1] += first[b];
    }
    YK_TRY(yk_device_copy(device, a->first, first, count * sizeof *first));
    YK_TRY(yk_device_copy(device, a->halo_first, halo_first, count * sizeof *halo_first));
    return yk_device_wait(device);
}

/* None where all of the matrix fits; the more the better, as long as vectors have room. */
static void choose_stages(yk_resident *a, size_t most)
{
    a->stages = 0;
    if (yk_gpu_resident_bytes(a, a->resident) <= most) return;
    a->stages = YK_RESIDENT_STAGES;
    while (a->stages > 1 && yk_gpu_resident_bytes(a, 0) > most) a->stages--;
}

/* Vectors must fit beside each other; of the matrix, as much as there is room for, whole slices of
 * 32 entries a step. The rest comes anew for every product. */
static yoke_status fit(const yk_cg *cg, size_t most)
{
    const struct yk_gpu_state *gpu = cg->gpu;
    yk_resident *a = &cg->gpu->resident;
    int fits = 0;
    if (yk_gpu_resident_bytes(a, a->resident) > most && !gpu->walk.streams)
        return yk_fail(
            YOKE_UNSUITABLE,
            "driver persistent: a block's %d entries and its vectors need %zu bytes of shared "
            "memory, %zu are there, and what is built for this device has no bulk "
            "copies; use graph",
            a->resident, yk_gpu_resident_bytes(a, a->resident), most);
    choose_stages(a, most);
    size_t without = yk_gpu_resident_bytes(a, 0);
    if (without > most)
        return yk_fail(YOKE_UNSUITABLE,
                       "driver persistent: the vectors of a block and its halo of %d rows need %zu "
                       "bytes of shared memory, %zu are there; use graph",
                       a->halo_max, without, most);
    int room = (int)((most - without) / YK_RESIDENT_ENTRY / 32 * 32);
    if (a->resident > room) a->resident = room;
    YK_TRY(yk_device_try(yk_gpu_resident_fits(a, most, gpu->device.multiprocessors, &fits),
                         "the persistent kernel's blocks"));
    if (!fits)
        return yk_fail(YOKE_UNSUITABLE,
                       "driver persistent: this device does not run %d blocks of %d threads at "
                       "once; use graph",
                       a->shape.blocks, a->shape.threads);
    return YOKE_OK;
}

/* Of what comes anew, L2 is asked to hold this share until the next product: on an H200, with 60 MB
 * of L2, 25 MB were best of poisson3d27:64 (19.7 us an iteration; 20.4 with 12 MB, 23.6 with none,
 * 25.5 with 43 MB), and of elasticity3d:32. */
static float share_to_keep(const yk_device *device, int64_t entries)
{
    const double most = 0.4, bytes = (double)entries * YK_RESIDENT_ENTRY;
    return (float)(bytes > (double)device->l2_bytes ? most * (double)device->l2_bytes / bytes
                                                    : most);
}

static yoke_status allocate_image(struct yk_gpu_state *gpu, int64_t entries, int64_t halo)
{
    yk_resident *a = &gpu->resident;
    const yk_device *device = &gpu->device;
    YK_TRY(yk_device_allocate(device, "blocks' columns", entries, sizeof *a->column, &a->column));
    YK_TRY(yk_device_allocate(device, "blocks' values", entries, sizeof *a->value, &a->value));
    YK_TRY(yk_device_allocate(device, "halo rows", halo, sizeof *a->halo_place, &a->halo_place));
    YK_TRY(yk_device_clear(device, a->column, (size_t)entries * sizeof *a->column));
    return yk_device_clear(device, a->value, (size_t)entries * sizeof *a->value);
}

static yoke_status fill(struct yk_gpu_state *gpu, const yk_csr *on_device)
{
    return yk_device_try(yk_gpu_resident_fill(on_device, &gpu->resident, gpu->device.stream),
                         "filling the blocks");
}

/* Blocks' halos, in all. */
static yoke_status count_halos(struct yk_gpu_state *gpu, const yk_csr *csr, int32_t *halo_first,
                               int64_t *all)
{
    const yk_resident *a = &gpu->resident;
    size_t bytes = ((size_t)a->shape.blocks + 1) * sizeof *halo_first;
    YK_TRY(yk_device_try(yk_gpu_resident_count(csr, a, gpu->device.stream), "counting the halos"));
    YK_TRY(yk_device_copy(&gpu->device, halo_first, a->halo_first, bytes));
    YK_TRY(yk_device_wait(&gpu->device));
    *all = 0;
    for (int b = 1; b <= a->shape.blocks; b++) *all += halo_first[b];
    return YOKE_OK;
}

/* Twice the messages cost what this share of a halo does: poisson3d7:64, with 0.55 of its halo,
 * took 7.9 us instead of 8.6 on an H200, poisson3d7:48, with 0.8 of it, 5.6 instead of 6.2. */
#define WORTH_SPREADING 0.85

/* Counts the halos of the shape that is set, which is spread; or of the other, if it is no worse.
 */
static yoke_status choose_stride(struct yk_gpu_state *gpu, const yk_csr *csr,
                                 yk_resident_shape close, int32_t *halo_first)
{
    yk_resident *a = &gpu->resident;
    const yk_resident_shape wide = a->shape;
    int64_t of_wide = 0, of_close = 0;
    if (wide.stride > 1) YK_TRY(count_halos(gpu, csr, halo_first, &of_wide));
    a->shape = close;
    YK_TRY(count_halos(gpu, csr, halo_first, &of_close));
    if (wide.stride == 1 || (double)of_wide > WORTH_SPREADING * (double)of_close) return YOKE_OK;
    a->shape = wide;
    return count_halos(gpu, csr, halo_first, &of_wide);
}

/* close: the shape in which all rows are in place. */
static yoke_status analyse(yk_cg *cg, const yk_csr *csr, size_t most, yk_resident_shape close,
                           int64_t *first, int32_t *halo_first)
{
    struct yk_gpu_state *gpu = cg->gpu;
    gpu->resident.jacobi = cg->jacobi;
    gpu->resident.dots = yk_task_dots(yk_cg_update_task(cg));
    YK_TRY(allocate_analysis(gpu, csr->rows));
    YK_TRY(choose_stride(gpu, csr, close, halo_first));
    const int blocks = gpu->resident.shape.blocks;
    YK_TRY(place_blocks(gpu, first, halo_first));
    YK_TRY(fit(cg, most));
    gpu->resident.keep = share_to_keep(&gpu->device, first[blocks]);
    YK_TRY(allocate_image(gpu, first[blocks], halo_first[blocks]));
    return fill(gpu, csr);
}

static yoke_status make(yk_cg *cg, const yk_csr *csr, const yk_csr *on_device)
{
    struct yk_gpu_state *gpu = cg->gpu;
    size_t most = 0;
    int cluster = 0;
    int64_t *first = NULL;
    int32_t *halo_first = NULL;
    YK_TRY(check_speed(cg, yk_chunks(on_device->rows) / most_blocks(cg)));
    YK_TRY(yk_device_try(yk_gpu_resident_limits(gpu->device.number, &most, &cluster),
                         "asking for a block's shared memory"));
    if (most > YK_RESIDENT_SHARED) most = YK_RESIDENT_SHARED;
    YK_TRY(choose_shape(cg, on_device, most, cluster));
    const yk_resident_shape close = gpu->resident.shape;
    gpu->resident.shape = spread(csr, most_blocks(cg), close);
    int64_t count = gpu->resident.shape.blocks + 1;
    yoke_status status = yk_alloc(cg->context, "blocks", count, sizeof *first, &first);
    if (status == YOKE_OK)
        status = yk_alloc(cg->context, "halos", count, sizeof *halo_first, &halo_first);
    if (status == YOKE_OK) status = analyse(cg, on_device, most, close, first, halo_first);
    if (first) yk_free(cg->context, first, count, sizeof *first);
    if (halo_first) yk_free(cg->context, halo_first, count, sizeof *halo_first);
    return status;
}

/* That a system does not fit is no failure here: `accepts` tells it to whoever asks. */
yoke_status yk_gpu_make_resident(yk_cg *cg, const yk_csr *csr, const yk_csr *on_device)
{
    struct yk_gpu_state *gpu = cg->gpu;
    if (cg->residency == YK_RESIDENT_NEVER) return YOKE_OK;
    yoke_status status = make(cg, csr, on_device);
    if (status == YOKE_OK) return YOKE_OK;
    yk_gpu_free_resident(gpu);
    if (status != YOKE_UNSUITABLE) return status;
    snprintf(gpu->not_resident, sizeof gpu->not_resident, "%s", yoke_error_text());
    return YOKE_OK;
}

yoke_status yk_gpu_renew_resident(yk_cg *cg, const yk_csr *on_device)
{
    return cg->gpu->resident.word ? fill(cg->gpu, on_device) : YOKE_OK;
}

void yk_gpu_free_resident(struct yk_gpu_state *gpu)
{
    yk_resident *a = &gpu->resident;
    void *memory[] = {a->first,      a->slice, a->place,    a->column, a->value,    a->halo_first,
                      a->halo_place, a->sent,  a->boundary, a->word,   a->abandoned};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) yk_device_free(memory[i]);
    memset(a, 0, sizeof *a);
}

/* ------------------------------------------------------------------ driver */

static bool is_ready(const struct yk_gpu_state *gpu)
{
    return gpu->resident.word || (gpu->held.word && gpu->format != YK_GPU_CSR);
}

static yoke_status accepts(const yk_cg *cg)
{
    if (is_ready(cg->gpu) && !cg->folded) return YOKE_OK;
    return yk_fail(YOKE_UNSUITABLE, "%s",
                   cg->folded               ? "driver persistent does not take shape folded"
                   : *cg->gpu->not_resident ? cg->gpu->not_resident
                                            : "driver persistent was not asked for at planning");
}

static int launch(const yk_cg *cg, const yk_gpu_view *view)
{
    struct yk_gpu_state *gpu = cg->gpu;
    const unsigned long long epoch = ++gpu->launches << 32;
    const int update = yk_cg_update_task(cg);
    void *stream = gpu->device.stream;
    if (gpu->resident.word)
        return yk_gpu_resident_run(view, &gpu->resident, update, gpu->loop, epoch, stream);
    return yk_gpu_held_run(view, &gpu->held, update, gpu->loop, epoch, stream);
}

static yoke_status advance_once(yk_cg *cg, int64_t at_most)
{
    yk_gpu_view view = yk_gpu_view_of(cg, cg->newest_p);
    int64_t now = at_most < MOST_ITERATIONS ? at_most : MOST_ITERATIONS;
    YK_TRY(yk_gpu_begin_advance(cg, now));
    YK_TRY(yk_device_try(launch(cg, &view), "the persistent kernel"));
    return yk_gpu_end_advance(cg);
}

static void advance(yk_cg *cg, int64_t at_most)
{
    yk_gpu_advance(cg, at_most, advance_once);
}

const yk_driver yk_driver_persistent = {
    .name = "persistent",
    .text = "one kernel, the vectors on the chip",
    .engine = &yk_engine_gpu,
    .wins = true,
    .accepts = accepts,
    .advance = advance,
};
