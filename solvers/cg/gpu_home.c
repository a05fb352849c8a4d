/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_home.c: where a GPU's matrix lies: in its own memory, in that of a memory mode, or, from some
 * chunk on, in host memory that is read over the link. What is larger than the device passes
 * through it in pieces. */
#include <string.h>

#include "lib/context.h"
#include "lib/status.h"
#include "solvers/cg/gpu_state.h"
#include "solvers/cg/row_shape.h"

static int64_t jump(const void *kept, const void *spilled, int64_t kept_bytes)
{
    return spilled ? (int64_t)((uintptr_t)spilled - (uintptr_t)kept) - kept_bytes : 0;
}

yk_sell yk_gpu_sell_of(const struct yk_gpu_state *gpu)
{
    return (yk_sell){
        .width = gpu->sell_width,
        .slice = gpu->slice,
        .column = gpu->sell_column,
        .order = gpu->sell_order,
        .kept = gpu->kept,
        .jump = jump(gpu->sell_column, gpu->spilled_sell, gpu->kept_columns * YK_SELL_BYTES)};
}

yk_csr_spill yk_gpu_spill_of(const struct yk_gpu_state *gpu)
{
    const int64_t entries = gpu->kept_entries;
    return (yk_csr_spill){
        gpu->kept * YK_CHUNK,
        jump(gpu->csr_column, gpu->spilled_column, entries * (int64_t)sizeof *gpu->csr_column),
        jump(gpu->csr_value, gpu->spilled_value, entries * (int64_t)sizeof *gpu->csr_value)};
}

/* --------------------------------------------------------------------- cut */

/* Entries before a chunk; behind the last one, all. */
static int64_t entries_before(const yk_csr *csr, int64_t chunk)
{
    int64_t row = chunk * YK_CHUNK;
    return yk_row_start(csr, row < csr->rows ? row : csr->rows);
}

/* The last chunk with no more entries before it than `most`. */
static int64_t chunk_at(const yk_csr *csr, int64_t most)
{
    int64_t low = 0, high = yk_chunks(csr->rows);
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        if (entries_before(csr, middle) <= most)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Of `all`, no more than this much is kept. */
static int64_t most_kept(const yk_cg *cg, int64_t all)
{
    return (int64_t)((1.0 - cg->home.spill) * (double)all);
}

static bool spills(const yk_cg *cg)
{
    return cg->home.kind == YK_HOME_SPILL;
}

/* --------------------------------------------------------------------- CSR */

static void cut_csr(yk_cg *cg, const yk_csr *csr)
{
    struct yk_gpu_state *gpu = cg->gpu;
    gpu->kept = spills(cg) ? chunk_at(csr, most_kept(cg, csr->nonzeros)) : yk_chunks(csr->rows);
    gpu->kept_entries = entries_before(csr, gpu->kept);
}

static yoke_status allocate_entries(yk_cg *cg, const yk_csr *csr)
{
    struct yk_gpu_state *gpu = cg->gpu;
    const yk_device *device = &gpu->device;
    const int64_t kept = gpu->kept_entries, spilled = csr->nonzeros - kept;
    YK_TRY(yk_device_allocate_in(device, cg->home.memory, "columns", kept, sizeof *gpu->csr_column,
                                 &gpu->csr_column));
    YK_TRY(yk_device_allocate_in(device, cg->home.memory, "values", kept, sizeof *gpu->csr_value,
                                 &gpu->csr_value));
    if (!spills(cg)) return YOKE_OK;
    YK_TRY(yk_device_allocate_in(device, YK_MEMORY_MAPPED, "spilled columns", spilled,
                                 sizeof *gpu->spilled_column, &gpu->spilled_column));
    return yk_device_allocate_in(device, YK_MEMORY_MAPPED, "spilled values", spilled,
                                 sizeof *gpu->spilled_value, &gpu->spilled_value);
}

/* Items of `size` before and behind the cut. */
static yoke_status copy_cut(const struct yk_gpu_state *gpu, void *kept, void *spilled,
                            const void *from, int64_t count, size_t size)
{
    const size_t first = (size_t)gpu->kept_entries * size;
    YK_TRY(yk_device_copy(&gpu->device, kept, from, first));
    if (!spilled) return YOKE_OK;
    return yk_device_copy(&gpu->device, spilled, (const char *)from + first,
                          (size_t)count * size - first);
}

yoke_status yk_gpu_copy_values(yk_cg *cg, const yk_csr *csr)
{
    struct yk_gpu_state *gpu = cg->gpu;
    return copy_cut(gpu, gpu->csr_value, gpu->spilled_value, csr->value, csr->nonzeros,
                    sizeof *csr->value);
}

yoke_status yk_gpu_load_entries(yk_cg *cg, const yk_csr *csr)
{
    struct yk_gpu_state *gpu = cg->gpu;
    cut_csr(cg, csr);
    YK_TRY(allocate_entries(cg, csr));
    YK_TRY(copy_cut(gpu, gpu->csr_column, gpu->spilled_column, csr->column, csr->nonzeros,
                    sizeof *csr->column));
    return yk_gpu_copy_values(cg, csr);
}

/* -------------------------------------------------------------------- SELL */

/* slice: [slices + 1] columns before each, where they differ. */
static void cut_sell(yk_cg *cg, const int64_t *slice)
{
    enum { OF_CHUNK = YK_CHUNK / YK_SELL_ROWS };
    struct yk_gpu_state *gpu = cg->gpu;
    const yk_sell sell = {.width = gpu->sell_width, .slice = slice};
    const int64_t slices = yk_sell_slices(yk_gpu_part(cg)->rows),
                  most = most_kept(cg, gpu->sell_columns);
    int64_t chunk = 0, before = 0;
    for (;; chunk++) {
        int64_t next = (chunk + 1) * OF_CHUNK;
        int64_t behind = yk_sell_before(&sell, next < slices ? next : slices);
        if (chunk == yk_chunks(yk_gpu_part(cg)->rows) || behind > most) break;
        before = behind;
    }
    gpu->kept = chunk;
    gpu->kept_columns = before;
}

yoke_status yk_gpu_allocate_sell(yk_cg *cg, const int64_t *slice)
{
    struct yk_gpu_state *gpu = cg->gpu;
    const yk_device *device = &gpu->device;
    gpu->kept = yk_chunks(yk_gpu_part(cg)->rows);
    gpu->kept_columns = gpu->sell_columns;
    if (spills(cg)) cut_sell(cg, slice);
    YK_TRY(yk_device_allocate_in(device, cg->home.memory, "SELL columns", gpu->kept_columns,
                                 YK_SELL_BYTES, &gpu->sell_column));
    if (!spills(cg)) return YOKE_OK;
    return yk_device_allocate_in(device, YK_MEMORY_MAPPED, "spilled SELL columns",
                                 gpu->sell_columns - gpu->kept_columns, YK_SELL_BYTES,
                                 &gpu->spilled_sell);
}

/* ------------------------------------------------------------------ pieces */

static yoke_status allocate_piece(struct yk_gpu_state *gpu, int64_t entries)
{
    YK_TRY(yk_device_allocate(&gpu->device, "columns on their way", entries,
                              sizeof *gpu->csr_column, &gpu->csr_column));
    return yk_device_allocate(&gpu->device, "values on their way", entries, sizeof *gpu->csr_value,
                              &gpu->csr_value);
}

/* Chunks [first, last): their entries up, and into SELL; the next piece's copies come after. */
static yoke_status fill_piece(yk_cg *cg, const yk_csr *csr, int64_t first, int64_t last)
{
    struct yk_gpu_state *gpu = cg->gpu;
    const yk_device *device = &gpu->device;
    const int64_t from = entries_before(csr, first), count = entries_before(csr, last) - from;
    const yk_gpu_view view = yk_gpu_view_of(cg, 0);
    YK_TRY(yk_device_copy(device, gpu->csr_column, csr->column + from,
                          (size_t)count * sizeof *csr->column));
    YK_TRY(yk_device_copy(device, gpu->csr_value, csr->value + from,
                          (size_t)count * sizeof *csr->value));
    return yk_device_try(
        yk_gpu_sell_fill(&view.rows.csr, &view.sell, first, last, from, device->stream),
        "SELL fill");
}

/* A chunk of rows that SELL takes has no more entries than a piece. */
yoke_status yk_gpu_fill_by_pieces(yk_cg *cg, const yk_csr *csr)
{
    const int64_t entries = yk_piece_entries(csr->nonzeros), chunks = yk_chunks(csr->rows);
    YK_TRY(allocate_piece(cg->gpu, entries));
    for (int64_t first = 0; first < chunks;) {
        int64_t last = chunk_at(csr, entries_before(csr, first) + entries);
        YK_TRY(fill_piece(cg, csr, first, last));
        first = last;
    }
    return yk_device_wait(&cg->gpu->device);
}
