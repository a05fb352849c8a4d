/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_matrix.c: a part's matrix on a GPU: its format, its arrays, new values. */
#include <string.h>

#include "lib/context.h"
#include "lib/status.h"
#include "solvers/cg/gpu_state.h"

/* SELL pays where its padding is small, which it never reads but keeps apart, and no row is so long
 * that several threads should share it. */
static bool prefers_sell(const yk_csr *csr)
{
    int64_t entries = 0;
    for (int64_t i = 0; i < csr->rows; i += 32) {
        int64_t width = 0, last = i + 32 < csr->rows ? i + 32 : csr->rows;
        for (int64_t k = i; k < last; k++) {
            int64_t length = yk_row_start(csr, k + 1) - yk_row_start(csr, k);
            if (length > width) width = length;
        }
        if (width > YK_ROW_SEGMENT) return false;
        entries += 32 * width;
    }
    return (double)entries <= 1.5 * (double)csr->nonzeros;
}

static bool may_be_sell(const yk_csr *csr)
{
    for (int64_t i = 0; i < csr->rows; i++)
        if (yk_row_start(csr, i + 1) - yk_row_start(csr, i) > YK_ROW_SEGMENT) return false;
    return true;
}

static yoke_status choose_format(struct yk_gpu_state *gpu, const yk_csr *csr, const char *format)
{
    if (format && strcmp(format, "sell") == 0 && !may_be_sell(csr))
        return yk_fail(YOKE_UNSUITABLE, "format sell: a row has more than %d entries; use csr",
                       YK_ROW_SEGMENT);
    bool sell = format ? strcmp(format, "sell") == 0 : prefers_sell(csr);
    gpu->format = sell ? YK_GPU_SELL : YK_GPU_CSR;
    return YOKE_OK;
}

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

/* Up to this much padding buys slices of one width. */
#define ONE_WIDTH_PADDING 1.05

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
    if ((double)(32 * widest * slices) <= ONE_WIDTH_PADDING * (double)entries) {
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
    drop_csr_entries(gpu);
    return YOKE_OK;
}

static yoke_status load_here(yk_cg *cg, const yk_csr *csr, const char *format)
{
    struct yk_gpu_state *gpu = cg->gpu;
    YK_TRY(choose_format(gpu, csr, format));
    cg->format = gpu->format == YK_GPU_CSR ? "csr" : "sell";
    YK_TRY(upload_csr(gpu, csr));
    if (gpu->format != YK_GPU_CSR) YK_TRY(make_sell(cg));
    if (format && strcmp(format, "cusparse") == 0) {
        cg->format = "cusparse";
        YK_TRY(yk_gpu_cusparse_open(cg, csr));
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

/* With SELL the new values pass through a CSR that lives only here. */
static yoke_status load_values_here(yk_cg *cg, const yk_csr *csr)
{
    struct yk_gpu_state *gpu = cg->gpu;
    size_t bytes = (size_t)csr->nonzeros * sizeof(double);
    if (gpu->format == YK_GPU_CSR) {
        YK_TRY(yk_device_copy(&gpu->device, gpu->csr_value, csr->value, bytes));
        YK_TRY(yk_gpu_cusparse_renew(cg));
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
    yk_gpu_cusparse_close(gpu);
    drop_csr_entries(gpu);
    yk_device_free(gpu->start);
    yk_device_free(gpu->sell_column);
    yk_device_free(gpu->sell_value);
    yk_device_free(gpu->slice);
}
