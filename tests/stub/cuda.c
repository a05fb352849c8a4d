/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda.c: under a rival's program, the little of CUDA, cuSPARSE and cuBLAS that it calls, done at
 * once and in plain memory, so that what it hands over and asks for is seen without a GPU. Device
 * memory is apart from the host's, as nothing but the copies below moves between them; it begins as
 * NaN. */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/rivals/cuda_libraries.h"
#include "bench/rivals/cusparse_kernels.h"

/* ------------------------------------------------------------------ runtime */

static cudaError_t allocate(void **memory, size_t bytes)
{
    *memory = malloc(bytes);
    if (!*memory) return cudaErrorMemoryAllocation;
    memset(*memory, 0xff, bytes); /* doubles that are not numbers */
    return cudaSuccess;
}

#define SUCCEEDS(name, ...)                                                                        \
    cudaError_t name(__VA_ARGS__)                                                                  \
    {                                                                                              \
        return cudaSuccess;                                                                        \
    }
SUCCEEDS(cudaSetDevice, int device)
SUCCEEDS(cudaDeviceSynchronize, void)
SUCCEEDS(cudaStreamSynchronize, cudaStream_t stream)
SUCCEEDS(cudaEventRecord, cudaEvent_t event, cudaStream_t stream)
SUCCEEDS(cudaEventSynchronize, cudaEvent_t event)
SUCCEEDS(cudaStreamBeginCapture, cudaStream_t stream, enum cudaStreamCaptureMode mode)
SUCCEEDS(cudaStreamEndCapture, cudaStream_t stream, cudaGraph_t *graph)
SUCCEEDS(cudaGraphInstantiate, cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
SUCCEEDS(cudaGraphDestroy, cudaGraph_t graph)
SUCCEEDS(cudaGraphExecDestroy, cudaGraphExec_t exec)
SUCCEEDS(cudaGraphUpload, cudaGraphExec_t exec, cudaStream_t stream)
SUCCEEDS(cudaGraphLaunch, cudaGraphExec_t exec, cudaStream_t stream)
SUCCEEDS(cudaStreamCreateWithFlags, cudaStream_t *stream, unsigned flags)
SUCCEEDS(cudaEventCreateWithFlags, cudaEvent_t *event, unsigned flags)

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    return allocate(memory, bytes);
}

cudaError_t cudaMallocHost(void **memory, size_t bytes)
{
    return allocate(memory, bytes);
}

cudaError_t cudaFree(void *memory)
{
    free(memory);
    return cudaSuccess;
}

cudaError_t cudaMemset(void *memory, int value, size_t bytes)
{
    memset(memory, value, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream)
{
    (void)stream;
    return cudaMemset(memory, value, bytes);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    (void)kind;
    memcpy(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    (void)stream;
    return cudaMemcpy(to, from, bytes, kind);
}

const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaSuccess ? "no error" : "an error";
}

const char *cudaGetErrorName(cudaError_t error)
{
    return cudaGetErrorString(error);
}

/* Kernels of the rival cusparse, which is not run here. */
int rival_launch_alpha(double *alpha, const double *rz, const double *minus_pq, void *stream)
{
    return cudaErrorNotSupported;
}

int rival_launch_direction(double *p, const double *z, const double *rz, const double *rz_before,
                           int rows, void *stream)
{
    return cudaErrorNotSupported;
}

int rival_launch_jacobi(double *z, const double *r, const double *inverse_diagonal, int rows,
                        void *stream)
{
    return cudaErrorNotSupported;
}

/* ---------------------------------------------------------------- libraries */

typedef struct matrix {
    int64_t rows;
    const int *start, *column;
    const double *value;
} matrix;

static cusparseStatus_t create(cusparseHandle_t *handle)
{
    *handle = NULL;
    return CUSPARSE_STATUS_SUCCESS;
}

static cusparseStatus_t get_version(cusparseHandle_t handle, int *version)
{
    *version = 12345;
    return CUSPARSE_STATUS_SUCCESS;
}

static cusparseStatus_t set_stream(cusparseHandle_t handle, cudaStream_t stream)
{
    return CUSPARSE_STATUS_SUCCESS;
}

static cusparseStatus_t create_csr(cusparseSpMatDescr_t *made, int64_t rows, int64_t columns,
                                   int64_t nonzeros, void *start, void *column, void *value,
                                   cusparseIndexType_t start_type, cusparseIndexType_t column_type,
                                   cusparseIndexBase_t base, cudaDataType type)
{
    matrix *m = malloc(sizeof *m);
    if (!m) return CUSPARSE_STATUS_ALLOC_FAILED;
    *m = (matrix){rows, start, column, value};
    *made = (cusparseSpMatDescr_t)(void *)m;
    return CUSPARSE_STATUS_SUCCESS;
}

static cusparseStatus_t destroy_matrix(cusparseConstSpMatDescr_t made)
{
    free((void *)(uintptr_t)made);
    return CUSPARSE_STATUS_SUCCESS;
}

static cusparseStatus_t create_vector(cusparseDnVecDescr_t *made, int64_t rows, void *values,
                                      cudaDataType type)
{
    *made = values;
    return CUSPARSE_STATUS_SUCCESS;
}

static cusparseStatus_t buffer_size(cusparseHandle_t handle, cusparseOperation_t operation,
                                    const void *alpha, cusparseConstSpMatDescr_t a,
                                    cusparseConstDnVecDescr_t x, const void *beta,
                                    cusparseDnVecDescr_t y, cudaDataType type,
                                    cusparseSpMVAlg_t algorithm, size_t *bytes)
{
    *bytes = 8;
    return CUSPARSE_STATUS_SUCCESS;
}

static cusparseStatus_t preprocess(cusparseHandle_t handle, cusparseOperation_t operation,
                                   const void *alpha, cusparseConstSpMatDescr_t a,
                                   cusparseConstDnVecDescr_t x, const void *beta,
                                   cusparseDnVecDescr_t y, cudaDataType type,
                                   cusparseSpMVAlg_t algorithm, void *buffer)
{
    return CUSPARSE_STATUS_SUCCESS;
}

static cusparseStatus_t multiply(cusparseHandle_t handle, cusparseOperation_t operation,
                                 const void *alpha, cusparseConstSpMatDescr_t a,
                                 cusparseConstDnVecDescr_t x, const void *beta,
                                 cusparseDnVecDescr_t y, cudaDataType type,
                                 cusparseSpMVAlg_t algorithm, void *buffer)
{
    const matrix *m = (const void *)a;
    const double *from = (const void *)x, scale = *(const double *)alpha;
    double *to = (void *)y, keep = *(const double *)beta;
    for (int64_t i = 0; i < m->rows; i++) {
        double sum = 0.0;
        for (int k = m->start[i]; k < m->start[i + 1]; k++) sum += m->value[k] * from[m->column[k]];
        to[i] = scale * sum + (keep != 0.0 ? keep * to[i] : 0.0);
    }
    return CUSPARSE_STATUS_SUCCESS;
}

static cublasStatus_t blas_create(cublasHandle_t *handle)
{
    *handle = NULL;
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t blas_set_stream(cublasHandle_t handle, cudaStream_t stream)
{
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t blas_set_workspace(cublasHandle_t handle, void *workspace, size_t bytes)
{
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t blas_set_mode(cublasHandle_t handle, cublasPointerMode_t mode)
{
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t blas_norm(cublasHandle_t handle, int count, const double *x, int stride,
                                double *norm)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++) sum += x[i * stride] * x[i * stride];
    *norm = sqrt(sum);
    return CUBLAS_STATUS_SUCCESS;
}

const char *cuda_libraries_open(cuda_libraries *libraries)
{
    *libraries = (cuda_libraries){
        .cusparseCreate = create,
        .cusparseGetVersion = get_version,
        .cusparseSetStream = set_stream,
        .cusparseCreateCsr = create_csr,
        .cusparseDestroySpMat = destroy_matrix,
        .cusparseCreateDnVec = create_vector,
        .cusparseSpMV = multiply,
        .cusparseSpMV_bufferSize = buffer_size,
        .cusparseSpMV_preprocess = preprocess,
        .cublasCreate_v2 = blas_create,
        .cublasSetStream_v2 = blas_set_stream,
        .cublasSetWorkspace_v2 = blas_set_workspace,
        .cublasSetPointerMode_v2 = blas_set_mode,
        .cublasDnrm2_v2 = blas_norm,
    };
    return NULL;
}
