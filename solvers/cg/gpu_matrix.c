/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_matrix.c: a part's matrix on a GPU: its format, its arrays, new values. */
#include <string.h>

#include "lib/context.h"
#include "lib/status.h"
#include "solvers/cg/gpu_state.h"
#include "solvers/cg/row_shape.h"

static yoke_status upload_csr(struct yk_gpu_state *gpu, const yk_csr *csr)
{
    const yk_device *device = &gpu->device;
    size_t size = csr->start32 ? sizeof(int32_t) : sizeof(int64_t);
    const void *start = csr->start32 ? (const void *)csr->start32 : (const void *)csr->start64;
    YK_TRY(yk_device_allocate(device, "row starts", csr->rows + 1, size, &gpu->start));
    YK_TRY(yk_device_copy(device, gpu->start, start, (size_t)(csr->rows + 1) * size));
    YK_TRY(yk_device_allocate(device, "columns", csr->nonzeros, sizeof(int32_t), &gpu->csr_column));
    YK_TRY(yk_device_copy(device, gpu->csr_column, csr->column,
                          (size_t)csr->nonzeros * sizeof(int32_t)));
    YK_TRY(yk_device_allocate(device, "values", csr->nonzeros, sizeof(double), &gpu->csr_value));
    return yk_device_copy(device, gpu->csr_value, csr->value,
                          (size_t)csr->nonzeros * sizeof(double));
}

/* From the slices' widths, which are few enough for the host: one width, or their offsets. */
static void place_slices(struct yk_gpu_state *gpu, int64_t *width, int64_t slices)
{
    int64_t entries = 0, widest = 0;
    for (int64_t i = 0; i < slices; i++) {
        if (width[i] > widest) widest = width[i];
        entries += 32 * width[i];
    }
    gpu->sell_entries = entries;
    gpu->sell_width = 0;
    if (yk_sell_takes_one_width(widest, slices, entries)) {
        gpu->sell_width = (int)widest;
        gpu->sell_entries = 32 * widest * slices;
        if (widest <= YK_ROW_CHAIN) gpu->format = YK_GPU_SELL8;
    }
    int64_t offset = 0;
    for (int64_t i = 0; i < slices; i++) {
        int64_t own = width[i];
        width[i] = offset;
        offset += 32 * own;
    }
}

static yoke_status find_slices(yk_cg *cg, const yk_csr *on_device)
{
    struct yk_gpu_state *gpu = cg->gpu;
    const yk_device *device = &gpu->device;
    int64_t slices = (on_device->rows + 31) / 32, *width;
    size_t bytes = (size_t)slices * sizeof *width;
    YK_TRY(yk_device_allocate(device, "slices", slices, sizeof *width, &gpu->slice));
    YK_TRY(yk_device_try(yk_gpu_sell_widths(on_device, gpu->slice, device->stream), "SELL widths"));
    YK_TRY(yk_alloc(cg->context, "slices", slices, sizeof *width, &width));
    yoke_status status = yk_device_copy(device, width, gpu->slice, bytes);
    if (status == YOKE_OK) status = yk_device_wait(device);
    if (status == YOKE_OK) {
        place_slices(gpu, width, slices);
        status = yk_device_copy(device, gpu->slice, width, bytes);
    }
    if (status == YOKE_OK) status = yk_device_wait(device);
    yk_free(cg->context, width, slices, sizeof *width);
    return status;
}

static yoke_status fill_sell(yk_cg *cg)
{
    struct yk_gpu_state *gpu = cg->gpu;
    yk_gpu_view view = yk_gpu_view_of(cg, 0);
    return yk_device_try(yk_gpu_sell_fill(&view.rows.csr, &view.sell, gpu->device.stream),
                         "SELL fill");
}

static void drop_csr_entries(struct yk_gpu_state *gpu)
{
    yk_device_free(gpu->csr_column);
    yk_device_free(gpu->csr_value);
    gpu->csr_column = NULL;
    gpu->csr_value = NULL;
}

static yoke_status make_sell(yk_cg *cg)
{
    struct yk_gpu_state *gpu = cg->gpu;
    yk_csr on_device = yk_gpu_view_of(cg, 0).rows.csr;
    YK_TRY(find_slices(cg, &on_device));
    YK_TRY(yk_device_allocate(&gpu->device, "SELL columns", gpu->sell_entries, sizeof(int32_t),
                              &gpu->sell_column));
    YK_TRY(yk_device_allocate(&gpu->device, "SELL values", gpu->sell_entries, sizeof(double),
                              &gpu->sell_value));
    YK_TRY(yk_device_clear(&gpu->device, gpu->sell_column,
                           (size_t)gpu->sell_entries * sizeof(int32_t)));
    YK_TRY(
        yk_device_clear(&gpu->device, gpu->sell_value, (size_t)gpu->sell_entries * sizeof(double)));
    YK_TRY(fill_sell(cg));
    YK_TRY(yk_device_wait(&gpu->device));
    gpu->has_sell = true;
    gpu->sell_format = gpu->format;
    return YOKE_OK;
}

static yoke_status load_here(yk_cg *cg, const yk_csr *csr, const char *format)
{
    struct yk_gpu_state *gpu = cg->gpu;
    gpu->format = strcmp(format, "sell") == 0 ? YK_GPU_SELL : YK_GPU_CSR;
    YK_TRY(upload_csr(gpu, csr));
    if (gpu->format != YK_GPU_CSR) {
        YK_TRY(make_sell(cg));
        drop_csr_entries(gpu);
    }
    return yk_device_wait(&gpu->device);
}

yoke_status yk_gpu_load_matrix(yk_cg *cg, const yk_csr *csr, const char *format)
{
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
    if (!sell || gpu->has_sell) return YOKE_OK;
    int previous = yk_device_enter(&gpu->device);
    yoke_status status = make_sell(cg);
    yk_device_leave(previous);
    return status;
}

static void drop_sell(struct yk_gpu_state *gpu)
{
    yk_device_free(gpu->sell_column);
    yk_device_free(gpu->sell_value);
    yk_device_free(gpu->slice);
    gpu->sell_column = NULL;
    gpu->sell_value = NULL;
    gpu->slice = NULL;
    gpu->has_sell = false;
}

void yk_gpu_keep_format(yk_cg *cg)
{
    int previous = yk_device_enter(&cg->gpu->device);
    if (cg->gpu->format == YK_GPU_CSR)
        drop_sell(cg->gpu);
    else
        drop_csr_entries(cg->gpu);
    yk_device_leave(previous);
}

/* With SELL the new values pass through a CSR that lives only here. */
static yoke_status load_values_here(yk_cg *cg, const yk_csr *csr)
{
    struct yk_gpu_state *gpu = cg->gpu;
    size_t bytes = (size_t)csr->nonzeros * sizeof(double);
    if (gpu->format == YK_GPU_CSR) {
        YK_TRY(yk_device_copy(&gpu->device, gpu->csr_value, csr->value, bytes));
        return yk_device_wait(&gpu->device);
    }
    drop_csr_entries(gpu);
    YK_TRY(yk_device_allocate(&gpu->device, "columns", csr->nonzeros, sizeof(int32_t),
                              &gpu->csr_column));
    YK_TRY(
        yk_device_allocate(&gpu->device, "values", csr->nonzeros, sizeof(double), &gpu->csr_value));
    YK_TRY(yk_device_copy(&gpu->device, gpu->csr_column, csr->column,
                          (size_t)csr->nonzeros * sizeof(int32_t)));
    YK_TRY(yk_device_copy(&gpu->device, gpu->csr_value, csr->value, bytes));
    YK_TRY(fill_sell(cg));
    YK_TRY(yk_device_wait(&gpu->device));
    drop_csr_entries(gpu);
    return YOKE_OK;
}

yoke_status yk_gpu_load_values(yk_cg *cg, const yk_csr *csr)
{
    int previous = yk_device_enter(&cg->gpu->device);
    yoke_status status = load_values_here(cg, csr);
    yk_device_leave(previous);
    return status;
}

void yk_gpu_free_matrix(struct yk_gpu_state *gpu)
{
    drop_csr_entries(gpu);
    yk_device_free(gpu->start);
    drop_sell(gpu);
}
