/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_cusparse.c: format cusparse: q = A p by the vendor's SpMV on the CSR that our kernels would
 * read. Handle, descriptors and buffer are made here, at planning, and the first product too, which
 * loads its kernels; a solve only enqueues. The true residual stays with our CSR kernel, so what
 * cuSPARSE computed is checked by other means.
 *
 * CSR_ALG2 is the algorithm whose bits do not change from run to run (CUDA documentation, cuSPARSE,
 * cusparseSpMV); they are not those of our own kernels. */
#include <stdlib.h>

#include "lib/context.h"
#include "lib/cuda/cusparse.h"
#include "lib/status.h"
#include "solvers/cg/gpu_state.h"

struct yk_gpu_cusparse {
    const yk_cusparse *library;
    void *handle, *matrix, *p, *q;
    int32_t *start; /* [rows + 1], where the matrix came with 64-bit ones */
    void *buffer;
};

/* q = one A p + zero q: read when enqueued. */
static const double one = 1.0, zero = 0.0;

static yoke_status try(const yk_cusparse *library, int error, const char *call)
{
    if (error == YK_CUSPARSE_SUCCESS) return YOKE_OK;
    yoke_status status = YOKE_DEVICE;
    if (error == YK_CUSPARSE_ALLOC_FAILED || error == YK_CUSPARSE_INSUFFICIENT_RESOURCES)
        status = YOKE_NO_MEMORY;
    if (error == YK_CUSPARSE_NOT_SUPPORTED) status = YOKE_UNSUITABLE;
    return yk_fail(status, "format cusparse: %s: %s (%s)", call, library->error_string(error),
                   library->error_name(error));
}

#define CUSPARSE_TRY(library, function, ...)                                                       \
    YK_TRY(try(library, (library)->function(__VA_ARGS__), "cuSPARSE's " #function))

/* ---------------------------------------------------------------- planning */

/* Its indices are all of 32 bits or all of 64, and our columns have 32. */
static yoke_status narrow_start(yk_cg *cg, const yk_csr *csr, struct yk_gpu_cusparse *vendor)
{
    const yk_device *device = &cg->gpu->device;
    int64_t count = csr->rows + 1;
    size_t bytes = (size_t)count * sizeof(int32_t);
    int32_t *narrow;
    YK_TRY(yk_device_allocate(device, "row starts", count, sizeof *narrow, &vendor->start));
    YK_TRY(yk_alloc(cg->context, "row starts", count, sizeof *narrow, &narrow));
    for (int64_t i = 0; i < count; i++) narrow[i] = (int32_t)csr->start64[i];
    yoke_status status = yk_device_copy(device, vendor->start, narrow, bytes);
    if (status == YOKE_OK) status = yk_device_wait(device);
    yk_free(cg->context, narrow, count, sizeof *narrow);
    return status;
}

static yoke_status describe(yk_cg *cg, const yk_csr *csr, struct yk_gpu_cusparse *vendor)
{
    const yk_cusparse *library = vendor->library;
    struct yk_gpu_state *gpu = cg->gpu;
    const yk_part *part = yk_gpu_part(cg);
    void *start = vendor->start ? vendor->start : gpu->start;
    CUSPARSE_TRY(library, create, &vendor->handle);
    CUSPARSE_TRY(library, set_stream, vendor->handle, gpu->device.stream);
    CUSPARSE_TRY(library, create_csr, &vendor->matrix, csr->rows, csr->rows, csr->nonzeros, start,
                 gpu->csr_column, gpu->csr_value, YK_CUSPARSE_INDEX_32I, YK_CUSPARSE_INDEX_32I,
                 YK_CUSPARSE_BASE_ZERO, YK_CUSPARSE_R_64F);
    CUSPARSE_TRY(library, create_vector, &vendor->p, csr->rows, part->p, YK_CUSPARSE_R_64F);
    CUSPARSE_TRY(library, create_vector, &vendor->q, csr->rows, part->q, YK_CUSPARSE_R_64F);
    return YOKE_OK;
}

static yoke_status preprocess(const struct yk_gpu_cusparse *vendor)
{
    CUSPARSE_TRY(vendor->library, spmv_preprocess, vendor->handle, YK_CUSPARSE_NON_TRANSPOSE, &one,
                 vendor->matrix, vendor->p, &zero, vendor->q, YK_CUSPARSE_R_64F,
                 YK_CUSPARSE_CSR_ALG2, vendor->buffer);
    return YOKE_OK;
}

static yoke_status make(yk_cg *cg, const yk_csr *csr, struct yk_gpu_cusparse *vendor)
{
    const yk_device *device = &cg->gpu->device;
    size_t bytes = 0;
    if (csr->start64) YK_TRY(narrow_start(cg, csr, vendor));
    YK_TRY(describe(cg, csr, vendor));
    CUSPARSE_TRY(vendor->library, spmv_buffer_size, vendor->handle, YK_CUSPARSE_NON_TRANSPOSE, &one,
                 vendor->matrix, vendor->p, &zero, vendor->q, YK_CUSPARSE_R_64F,
                 YK_CUSPARSE_CSR_ALG2, &bytes);
    YK_TRY(yk_device_allocate(device, "cuSPARSE's buffer", (int64_t)bytes, 1, &vendor->buffer));
    YK_TRY(preprocess(vendor));
    YK_TRY(yk_gpu_cusparse_multiply(cg));
    return yk_device_wait(device);
}

yoke_status yk_gpu_cusparse_open(yk_cg *cg, const yk_csr *csr)
{
    const yk_cusparse *library = yk_cusparse_library();
    if (!library) return yk_fail(YOKE_UNUSABLE, "format cusparse: %s", yk_cusparse_reason());
    if (csr->nonzeros > INT32_MAX)
        return yk_fail(
            YOKE_UNSUITABLE,
            "format cusparse: %lld nonzeros need 64-bit row starts, which cuSPARSE takes "
            "with 64-bit columns alone; use csr or sell",
            (long long)csr->nonzeros);
    struct yk_gpu_cusparse *vendor = calloc(1, sizeof *vendor);
    if (!vendor) return yk_fail(YOKE_NO_MEMORY, "no memory for cuSPARSE's descriptors");
    vendor->library = library;
    cg->gpu->cusparse = vendor;
    /* A matrix without entries is not described to it: its product is 0. */
    return csr->nonzeros > 0 ? make(cg, csr, vendor) : YOKE_OK;
}

yoke_status yk_gpu_cusparse_renew(yk_cg *cg)
{
    const struct yk_gpu_cusparse *vendor = cg->gpu->cusparse;
    return vendor && vendor->matrix ? preprocess(vendor) : YOKE_OK;
}

void yk_gpu_cusparse_close(struct yk_gpu_state *gpu)
{
    struct yk_gpu_cusparse *vendor = gpu->cusparse;
    if (!vendor) return;
    if (vendor->matrix) vendor->library->destroy_matrix(vendor->matrix);
    if (vendor->p) vendor->library->destroy_vector(vendor->p);
    if (vendor->q) vendor->library->destroy_vector(vendor->q);
    if (vendor->handle) vendor->library->destroy(vendor->handle);
    yk_device_free(vendor->start);
    yk_device_free(vendor->buffer);
    free(vendor);
    gpu->cusparse = NULL;
}

/* ----------------------------------------------------------------- solving */

yoke_status yk_gpu_cusparse_multiply(yk_cg *cg)
{
    struct yk_gpu_state *gpu = cg->gpu;
    const struct yk_gpu_cusparse *vendor = gpu->cusparse;
    if (!vendor->matrix)
        return yk_device_clear(&gpu->device, yk_gpu_part(cg)->q, (size_t)cg->rows * sizeof(double));
    CUSPARSE_TRY(vendor->library, spmv, vendor->handle, YK_CUSPARSE_NON_TRANSPOSE, &one,
                 vendor->matrix, vendor->p, &zero, vendor->q, YK_CUSPARSE_R_64F,
                 YK_CUSPARSE_CSR_ALG2, vendor->buffer);
    return YOKE_OK;
}
