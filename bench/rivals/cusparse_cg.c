/* SPDX-License-Identifier: BSD-3-Clause */
/* cusparse_cg.c: an iteration is a product, a sum, a scalar, one axpy for x and r together, a sum
 * and the next direction: with rows of r stored behind those of x and -A p behind p, cuBLAS needs
 * one call where two are usual, and beta is divided where it is used. */
#include "bench/rivals/cusparse_cg.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/rivals/cusparse_kernels.h"

/* What cuBLAS's documentation recommends from compute capability 9.0 on; its own workspace could
 * not be captured. */
enum { WORKSPACE = 32 << 20 };

static const double minus_one = -1.0, zero = 0.0, one = 1.0;

int cuda_failed(cudaError_t error, const char *call)
{
    if (error == cudaSuccess) return 0;
    fprintf(stderr, "%s: %s (%s)\n", call, cudaGetErrorString(error), cudaGetErrorName(error));
    return 1;
}

static int sparse_failed(const gpu_cg *cg, cusparseStatus_t status, const char *call)
{
    if (status == CUSPARSE_STATUS_SUCCESS) return 0;
    fprintf(stderr, "%s: %s\n", call, cg->call.cusparseGetErrorString(status));
    return 1;
}

static int blas_failed(const gpu_cg *cg, cublasStatus_t status, const char *call)
{
    if (status == CUBLAS_STATUS_SUCCESS) return 0;
    fprintf(stderr, "%s: %s\n", call, cg->call.cublasGetStatusString(status));
    return 1;
}

#define SPARSE(function, ...)                                                                      \
    do {                                                                                           \
        if (sparse_failed(cg, cg->call.function(__VA_ARGS__), #function)) return 1;                \
    } while (0)
#define BLAS(function, ...)                                                                        \
    do {                                                                                           \
        if (blas_failed(cg, cg->call.function(__VA_ARGS__), #function)) return 1;                  \
    } while (0)
#define TRY(call)                                                                                  \
    do {                                                                                           \
        if (call) return 1;                                                                        \
    } while (0)

/* ------------------------------------------------------------------- setup */

/* Zeroed. What the default stream does here, ours would not wait for. */
static int allocate(void *memory, size_t bytes)
{
    void **out = memory;
    CUDA(cudaMalloc(out, bytes > 0 ? bytes : 1));
    CUDA(cudaMemset(*out, 0, bytes > 0 ? bytes : 1));
    CUDA(cudaDeviceSynchronize());
    return 0;
}

static int upload(void *memory, const void *from, size_t bytes)
{
    void **out = memory;
    TRY(allocate(memory, bytes));
    CUDA(cudaMemcpy(*out, from, bytes, cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize());
    return 0;
}

static int open_handles(gpu_cg *cg)
{
    CUDA(cudaStreamCreateWithFlags(&cg->stream, cudaStreamNonBlocking));
    CUDA(cudaEventCreateWithFlags(&cg->seen, cudaEventDisableTiming));
    TRY(allocate(&cg->workspace, WORKSPACE));
    SPARSE(cusparseCreate, &cg->sparse);
    SPARSE(cusparseSetStream, cg->sparse, cg->stream);
    BLAS(cublasCreate_v2, &cg->blas);
    BLAS(cublasSetStream_v2, cg->blas, cg->stream); /* takes the workspace away: first */
    BLAS(cublasSetWorkspace_v2, cg->blas, cg->workspace, WORKSPACE);
    BLAS(cublasSetPointerMode_v2, cg->blas, CUBLAS_POINTER_MODE_DEVICE);
    return 0;
}

static int upload_system(gpu_cg *cg, const rival_share *share)
{
    size_t rows = (size_t)share->rows, nonzeros = (size_t)share->nonzeros;
    TRY(upload(&cg->start, share->row_start, (rows + 1) * sizeof *cg->start));
    TRY(upload(&cg->column, share->column, nonzeros * sizeof *cg->column));
    TRY(upload(&cg->value, share->value, nonzeros * sizeof *cg->value));
    return upload(&cg->b, share->b, rows * sizeof *cg->b);
}

static int make_vectors(gpu_cg *cg)
{
    size_t bytes = (size_t)cg->padded * sizeof(double);
    TRY(allocate(&cg->x, 2 * bytes));
    TRY(allocate(&cg->p, 2 * bytes));
    TRY(allocate(&cg->alpha, 4 * sizeof(double)));
    CUDA(cudaMallocHost((void **)&cg->host_rz, sizeof(double)));
    cg->z = cg->r = cg->x + cg->padded;
    cg->minus_q = cg->p + cg->padded;
    cg->minus_pq = cg->alpha + 1;
    cg->rz = cg->alpha + 2;
    SPARSE(cusparseCreateDnVec, &cg->p_vector, cg->rows, cg->p, CUDA_R_64F);
    SPARSE(cusparseCreateDnVec, &cg->minus_q_vector, cg->rows, cg->minus_q, CUDA_R_64F);
    SPARSE(cusparseCreateDnVec, &cg->x_vector, cg->rows, cg->x, CUDA_R_64F);
    return 0;
}

static int make_jacobi(gpu_cg *cg, const rival_share *share)
{
    size_t bytes = (size_t)cg->padded * sizeof(double);
    double *inverse = calloc((size_t)cg->padded, sizeof *inverse);
    if (!inverse) return 1;
    for (int64_t i = 0; i < share->rows; i++) inverse[i] = 1.0 / rival_share_diagonal(share, i);
    int bad = upload(&cg->inverse_diagonal, inverse, bytes) || allocate(&cg->z, bytes);
    free(inverse);
    return bad;
}

int gpu_cg_open(gpu_cg *cg, const rival_share *share, int jacobi)
{
    int64_t padded = (share->rows + 31) / 32 * 32;
    if (padded + share->rows > INT_MAX) {
        fprintf(stderr, "cuBLAS counts in 32 bits: %lld rows are too many\n",
                (long long)share->rows);
        return 1;
    }
    cg->rows = (int)share->rows;
    cg->nonzeros = (int)share->nonzeros;
    cg->padded = (int)padded;
    TRY(open_handles(cg));
    TRY(upload_system(cg, share));
    TRY(make_vectors(cg));
    return jacobi ? make_jacobi(cg, share) : 0;
}

int gpu_cg_make_product(gpu_cg *cg, product *made)
{
    size_t bytes = 0;
    SPARSE(cusparseCreateCsr, &made->matrix, cg->rows, cg->rows, cg->nonzeros, cg->start,
           cg->column, cg->value, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
           CUDA_R_64F);
    SPARSE(cusparseSpMV_bufferSize, cg->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &minus_one,
           made->matrix, cg->p_vector, &zero, cg->minus_q_vector, CUDA_R_64F, made->algorithm,
           &bytes);
    TRY(allocate(&made->buffer, bytes));
    SPARSE(cusparseSpMV_preprocess, cg->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &minus_one,
           made->matrix, cg->p_vector, &zero, cg->minus_q_vector, CUDA_R_64F, made->algorithm,
           made->buffer);
    CUDA(cudaStreamSynchronize(cg->stream));
    return 0;
}

void gpu_cg_drop_product(gpu_cg *cg, product *made)
{
    if (made->matrix) cg->call.cusparseDestroySpMat(made->matrix);
    cudaFree(made->buffer);
    made->matrix = NULL;
    made->buffer = NULL;
}

/* --------------------------------------------------------------- iteration */

int gpu_cg_multiply(gpu_cg *cg)
{
    SPARSE(cusparseSpMV, cg->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &minus_one,
           cg->chosen->matrix, cg->p_vector, &zero, cg->minus_q_vector, CUDA_R_64F,
           cg->chosen->algorithm, cg->chosen->buffer);
    return 0;
}

static int precondition(gpu_cg *cg, double *rz)
{
    if (cg->inverse_diagonal)
        CUDA(rival_launch_jacobi(cg->z, cg->r, cg->inverse_diagonal, cg->rows, cg->stream));
    BLAS(cublasDdot_v2, cg->blas, cg->rows, cg->r, 1, cg->z, 1, rz);
    return 0;
}

int gpu_cg_begin(gpu_cg *cg)
{
    size_t bytes = (size_t)cg->rows * sizeof(double), padded = (size_t)cg->padded * sizeof(double);
    CUDA(cudaMemsetAsync(cg->x, 0, padded, cg->stream));
    CUDA(cudaMemcpyAsync(cg->r, cg->b, bytes, cudaMemcpyDeviceToDevice, cg->stream));
    TRY(precondition(cg, &cg->rz[0]));
    CUDA(cudaMemcpyAsync(cg->p, cg->z, bytes, cudaMemcpyDeviceToDevice, cg->stream));
    return 0;
}

/* Up to r.z of iteration k. */
static int iterate(gpu_cg *cg, int k)
{
    double *rz = &cg->rz[k & 1], *next = &cg->rz[~k & 1];
    TRY(gpu_cg_multiply(cg));
    BLAS(cublasDdot_v2, cg->blas, cg->rows, cg->p, 1, cg->minus_q, 1, cg->minus_pq);
    CUDA(rival_launch_alpha(cg->alpha, rz, cg->minus_pq, cg->stream));
    BLAS(cublasDaxpy_v2, cg->blas, cg->padded + cg->rows, cg->alpha, cg->p, 1, cg->x, 1);
    TRY(precondition(cg, next));
    return 0;
}

static int next_direction(gpu_cg *cg, int k)
{
    CUDA(rival_launch_direction(cg->p, cg->z, &cg->rz[~k & 1], &cg->rz[k & 1], cg->rows,
                                cg->stream));
    return 0;
}

/* The host sees r.z of this iteration before it enqueues the next, as a test of convergence would;
 * meanwhile the device makes the next direction. */
static int run_synchronised(gpu_cg *cg, int iterations)
{
    for (int k = 0; k < iterations; k++) {
        TRY(iterate(cg, k));
        CUDA(cudaMemcpyAsync(cg->host_rz, &cg->rz[~k & 1], sizeof(double), cudaMemcpyDeviceToHost,
                             cg->stream));
        CUDA(cudaEventRecord(cg->seen, cg->stream));
        TRY(next_direction(cg, k));
        CUDA(cudaEventSynchronize(cg->seen));
    }
    return 0;
}

/* ------------------------------------------------------------------ graphs */

int gpu_cg_capture_begin(gpu_cg *cg)
{
    CUDA(cudaStreamBeginCapture(cg->stream, cudaStreamCaptureModeThreadLocal));
    return 0;
}

int gpu_cg_capture_end(gpu_cg *cg, cudaGraphExec_t *graph)
{
    cudaGraph_t captured = NULL;
    CUDA(cudaStreamEndCapture(cg->stream, &captured));
    CUDA(cudaGraphInstantiate(graph, captured, 0));
    CUDA(cudaGraphDestroy(captured));
    CUDA(cudaGraphUpload(*graph, cg->stream));
    return 0;
}

/* Of so many iterations, the first of which is even. */
static int graph_of(gpu_cg *cg, int iterations, cudaGraphExec_t *graph)
{
    for (int i = 0; i < cg->graphs; i++)
        if (cg->graph[i].count == iterations) {
            *graph = cg->graph[i].graph;
            return 0;
        }
    if (cg->graphs == MOST_GRAPHS) {
        fprintf(stderr, "more than %d graphs\n", MOST_GRAPHS);
        return 1;
    }
    TRY(gpu_cg_capture_begin(cg));
    int bad = 0;
    for (int k = 0; k < iterations && !bad; k++) bad = iterate(cg, k) || next_direction(cg, k);
    TRY(gpu_cg_capture_end(cg, graph) || bad);
    cg->graph[cg->graphs++] = (made_graph){iterations, *graph};
    return 0;
}

int gpu_cg_run(gpu_cg *cg, int unroll, int iterations)
{
    if (unroll == 0) return run_synchronised(cg, iterations);
    for (int left = iterations; left > 0; left -= unroll) {
        cudaGraphExec_t graph = NULL;
        TRY(graph_of(cg, left < unroll ? left : unroll, &graph));
        CUDA(cudaGraphLaunch(graph, cg->stream));
    }
    return 0;
}

/* ------------------------------------------------------------------- norms */

static int norm_of(gpu_cg *cg, const double *vector, double *norm)
{
    BLAS(cublasSetPointerMode_v2, cg->blas, CUBLAS_POINTER_MODE_HOST);
    BLAS(cublasDnrm2_v2, cg->blas, cg->rows, vector, 1, norm);
    BLAS(cublasSetPointerMode_v2, cg->blas, CUBLAS_POINTER_MODE_DEVICE);
    return 0;
}

int gpu_cg_norms(gpu_cg *cg, double *recursive, double *true_norm)
{
    size_t bytes = (size_t)cg->rows * sizeof(double);
    TRY(norm_of(cg, cg->r, recursive));
    CUDA(cudaMemcpyAsync(cg->minus_q, cg->b, bytes, cudaMemcpyDeviceToDevice, cg->stream));
    SPARSE(cusparseSpMV, cg->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &minus_one,
           cg->chosen->matrix, cg->x_vector, &one, cg->minus_q_vector, CUDA_R_64F,
           cg->chosen->algorithm, cg->chosen->buffer);
    TRY(norm_of(cg, cg->minus_q, true_norm));
    CUDA(cudaStreamSynchronize(cg->stream));
    return 0;
}
