/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_matrix.c: a part's matrix on a GPU: its format, its arrays, new values. */
#include <string.h>

#include "lib/context.h"
#include "lib/status.h"
#include "solvers/cg/bytes.h"
#include "solvers/cg/gpu_state.h"
#include "solvers/cg/row_shape.h"

static yoke_status upload_starts(yk_cg *cg, const yk_csr *csr, yk_memory kind)
{
    struct yk_gpu_state *gpu = cg->gpu;
    size_t size = csr->start32 ? sizeof(int32_t) : sizeof(int64_t);
    const void *start = csr->start32 ? (const void *)csr->start32 : (const void *)csr->start64;
    gpu->wide_start = !csr->start32;
    gpu->csr_bytes = yk_csr_bytes(csr);
    YK_TRY(
        yk_device_allocate_in(&gpu->device, kind, "row starts", csr->rows + 1, size, &gpu->start));
    return yk_device_copy(&gpu->device, gpu->start, start, (size_t)(csr->rows + 1) * size);
}

static yoke_status upload_csr(yk_cg *cg, const yk_csr *csr)
{
    YK_TRY(upload_starts(cg, csr, cg->home.memory));
    return yk_gpu_load_entries(cg, csr);
}

/* From the slices' widths, which are few enough for the host: one width, or the columns before each
 * slice and, behind the last, in all; of rows in place, or of sorted ones (true). slice: [slices]
 * widths in place, [slices] sorted, then one more; the offsets lie at its beginning. */
static bool place_slices(struct yk_gpu_state *gpu, int64_t *slice, int64_t slices)
{
    int64_t in_place = 0, sorted = 0, widest = 0, columns = 0;
    for (int64_t i = 0; i < slices; i++) {
        if (slice[i] > widest) widest = slice[i];
        in_place += slice[i];
        sorted += slice[slices + i];
    }
    bool sorts = yk_sell_takes_sorting(widest, slices, in_place, sorted);
    const int64_t *width = sorts ? slice + slices : slice;
    for (int64_t i = 0; i < slices; i++) {
        int64_t own = width[i];
        slice[i] = columns;
        columns += own;
    }
    slice[slices] = columns;
    gpu->sell_columns = columns;
    gpu->sell_width = 0;
    if (!yk_sell_takes_one_width(widest, slices, in_place)) return sorts;
    gpu->sell_width = (int)widest;
    gpu->sell_columns = widest * slices;
    if (widest <= YK_ROW_CHAIN) gpu->format = YK_GPU_SELL8;
    return false;
}

static yoke_status find_order(yk_cg *cg, const yk_csr *on_device)
{
    struct yk_gpu_state *gpu = cg->gpu;
    const yk_device *device = &gpu->device;
    int64_t length = yk_sell_order_length(on_device->rows);
    YK_TRY(yk_device_allocate_in(device, cg->home.memory, "order of rows", length, 1,
                                 &gpu->sell_order));
    return yk_device_try(yk_gpu_sell_order(on_device, gpu->sell_order, device->stream),
                         "SELL order");
}

/* And the columns' memory. */
static yoke_status find_slices(yk_cg *cg, const yk_csr *on_device)
{
    struct yk_gpu_state *gpu = cg->gpu;
    const yk_device *device = &gpu->device;
    const int64_t slices = yk_sell_slices(on_device->rows), length = 2 * slices + 1;
    int64_t *slice;
    size_t bytes = (size_t)slices * sizeof *slice;
    bool sorts = false;
    YK_TRY(yk_device_allocate_in(device, cg->home.memory, "slices", length, sizeof *slice,
                                 &gpu->slice));
    YK_TRY(yk_device_try(
        yk_gpu_sell_widths(on_device, gpu->slice, gpu->slice + slices, device->stream),
        "SELL widths"));
    YK_TRY(yk_alloc(cg->context, "slices", length, sizeof *slice, &slice));
    yoke_status status = yk_device_copy(device, slice, gpu->slice, 2 * bytes);
    if (status == YOKE_OK) status = yk_device_wait(device);
    if (status == YOKE_OK) {
        sorts = place_slices(gpu, slice, slices);
        status = yk_device_copy(device, gpu->slice, slice, bytes + sizeof *slice);
    }
    if (status == YOKE_OK && sorts) status = find_order(cg, on_device);
    if (status == YOKE_OK) status = yk_gpu_allocate_sell(cg, slice);
    if (status == YOKE_OK) status = yk_device_wait(device);
    yk_free(cg->context, slice, length, sizeof *slice);
    return status;
}

static void drop_csr(struct yk_gpu_state *gpu)
{
    yk_device_free(gpu->start);
    yk_device_free(gpu->csr_column);
    yk_device_free(gpu->csr_value);
    yk_device_free(gpu->spilled_column);
    yk_device_free(gpu->spilled_value);
    gpu->start = NULL;
    gpu->csr_column = gpu->spilled_column = NULL;
    gpu->csr_value = gpu->spilled_value = NULL;
}

/* All rows that the part holds, where a view's are those that it works on. */
static yk_csr held_csr(const yk_cg *cg)
{
    yk_csr csr = yk_gpu_view_of(cg, 0).rows.csr;
    csr.rows = yk_gpu_part(cg)->rows;
    return csr;
}

/* SELL from the CSR that is on the device. */
static yoke_status fill_sell(yk_cg *cg)
{
    struct yk_gpu_state *gpu = cg->gpu;
    const yk_csr csr = held_csr(cg);
    yk_gpu_view view = yk_gpu_view_of(cg, 0);
    YK_TRY(yk_device_try(yk_gpu_sell_fill(&csr, &view.sell, 0, yk_chunks(yk_gpu_part(cg)->rows), 0,
                                          gpu->device.stream),
                         "SELL fill"));
    return yk_device_wait(&gpu->device);
}

static void count_bytes(yk_cg *cg)
{
    const struct yk_gpu_state *gpu = cg->gpu;
    bool sell = gpu->format != YK_GPU_CSR;
    cg->matrix_bytes = sell ? yk_sell_bytes(YK_SELL_ROWS * gpu->sell_columns) : gpu->csr_bytes;
    if (sell && gpu->sell_order) cg->matrix_bytes += (double)yk_gpu_part(cg)->rows;
}

static yoke_status make_sell(yk_cg *cg)
{
    struct yk_gpu_state *gpu = cg->gpu;
    yk_csr on_device = held_csr(cg);
    YK_TRY(find_slices(cg, &on_device));
    YK_TRY(fill_sell(cg));
    gpu->has_sell = true;
    gpu->sell_format = gpu->format;
    return yk_gpu_make_held(cg);
}

/* From the host's CSR, of which the device has the row starts for a while, and never all entries:
 * there may be no room for them. */
static yoke_status make_sell_by_pieces(yk_cg *cg, const yk_csr *csr)
{
    struct yk_gpu_state *gpu = cg->gpu;
    YK_TRY(upload_starts(cg, csr, YK_MEMORY_DEVICE));
    if (!gpu->slice) {
        yk_csr starts = yk_gpu_view_of(cg, 0).rows.csr;
        YK_TRY(find_slices(cg, &starts));
    }
    YK_TRY(yk_gpu_fill_by_pieces(cg, csr));
    drop_csr(gpu);
    return YOKE_OK;
}

static bool is_by_pieces(const yk_cg *cg)
{
    return cg->home.kind != YK_HOME_OWNER && cg->gpu->format != YK_GPU_CSR;
}

static yoke_status make_resident(yk_cg *cg, const yk_csr *csr)
{
    yk_csr on_device = yk_gpu_view_of(cg, 0).rows.csr;
    on_device.nonzeros = csr->nonzeros;
    return yk_gpu_make_resident(cg, csr, &on_device);
}

static yoke_status load_here(yk_cg *cg, const yk_csr *csr, const char *format)
{
    struct yk_gpu_state *gpu = cg->gpu;
    gpu->format = strcmp(format, "sell") == 0 ? YK_GPU_SELL : YK_GPU_CSR;
    if (is_by_pieces(cg)) {
        YK_TRY(make_sell_by_pieces(cg, csr));
    } else {
        double began = yoke_seconds();
        YK_TRY(upload_csr(cg, csr));
        YK_TRY(yk_device_wait(&gpu->device));
        cg->upload_seconds = yoke_seconds() - began;
        YK_TRY(make_resident(cg, csr));
        if (gpu->format != YK_GPU_CSR) {
            YK_TRY(make_sell(cg));
            drop_csr(gpu);
        }
    }
    count_bytes(cg);
    if (strcmp(format, "cusparse") == 0) YK_TRY(yk_gpu_cusparse_open(cg, csr));
    return yk_device_wait(&gpu->device);
}

yoke_status yk_gpu_load_matrix(yk_cg *cg, const yk_part *part, const yk_csr *csr,
                               const char *format)
{
    (void)part;
    int previous = yk_device_enter(&cg->gpu->device);
    yoke_status status = load_here(cg, csr, format);
    yk_device_leave(previous);
    return status;
}

yoke_status yk_gpu_use_format(yk_cg *cg, const char *format)
{
    struct yk_gpu_state *gpu = cg->gpu;
    bool sell = strcmp(format, "sell") == 0;
    gpu->format = !sell ? YK_GPU_CSR : gpu->has_sell ? gpu->sell_format : YK_GPU_SELL;
    int previous = yk_device_enter(&gpu->device);
    yoke_status status = sell && !gpu->has_sell ? make_sell(cg) : YOKE_OK;
    yk_device_leave(previous);
    count_bytes(cg);
    return status;
}

static void drop_sell(struct yk_gpu_state *gpu)
{
    yk_device_free(gpu->sell_column);
    yk_device_free(gpu->spilled_sell);
    yk_device_free(gpu->slice);
    yk_device_free(gpu->sell_order);
    gpu->sell_order = NULL;
    gpu->sell_column = gpu->spilled_sell = NULL;
    gpu->slice = NULL;
    gpu->has_sell = false;
}

void yk_gpu_keep_format(yk_cg *cg)
{
    int previous = yk_device_enter(&cg->gpu->device);
    if (cg->gpu->format == YK_GPU_CSR)
        drop_sell(cg->gpu);
    else
        drop_csr(cg->gpu);
    yk_device_leave(previous);
}

static yoke_status renew_resident(yk_cg *cg)
{
    yk_csr on_device = yk_gpu_view_of(cg, 0).rows.csr;
    return yk_gpu_renew_resident(cg, &on_device);
}

/* With SELL the new values pass through a CSR that lives only here. */
static yoke_status load_values_here(yk_cg *cg, const yk_csr *csr)
{
    struct yk_gpu_state *gpu = cg->gpu;
    if (is_by_pieces(cg)) return make_sell_by_pieces(cg, csr);
    if (gpu->format == YK_GPU_CSR) {
        YK_TRY(yk_gpu_copy_values(cg, csr));
        YK_TRY(renew_resident(cg));
        YK_TRY(yk_gpu_cusparse_renew(cg));
        return yk_device_wait(&gpu->device);
    }
    drop_csr(gpu);
    YK_TRY(upload_csr(cg, csr));
    YK_TRY(renew_resident(cg));
    YK_TRY(fill_sell(cg));
    drop_csr(gpu);
    return YOKE_OK;
}

yoke_status yk_gpu_load_values(yk_cg *cg, const yk_part *part, const yk_csr *csr)
{
    (void)part;
    int previous = yk_device_enter(&cg->gpu->device);
    yoke_status status = load_values_here(cg, csr);
    yk_device_leave(previous);
    return status;
}

void yk_gpu_free_matrix(struct yk_gpu_state *gpu)
{
    yk_gpu_cusparse_close(gpu);
    yk_gpu_free_resident(gpu);
    yk_gpu_free_held(gpu);
    drop_csr(gpu);
    drop_sell(gpu);
}
