/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_libraries.h: what the rival calls of cuSPARSE and cuBLAS, opened at run time, typed by their
 * own headers. */
#ifndef BENCH_RIVALS_CUDA_LIBRARIES_H
#define BENCH_RIVALS_CUDA_LIBRARIES_H

#include <cublas_v2.h>
#include <cusparse.h>

#define CUSPARSE_CALLS(X)                                                                          \
    X(cusparseCreate)                                                                              \
    X(cusparseGetErrorString)                                                                      \
    X(cusparseGetVersion)                                                                          \
    X(cusparseSetStream)                                                                           \
    X(cusparseCreateCsr)                                                                           \
    X(cusparseDestroySpMat)                                                                        \
    X(cusparseCreateDnVec)                                                                         \
    X(cusparseSpMV)                                                                                \
    X(cusparseSpMV_bufferSize)                                                                     \
    X(cusparseSpMV_preprocess)

#define CUBLAS_CALLS(X)                                                                            \
    X(cublasCreate_v2)                                                                             \
    X(cublasGetStatusString)                                                                       \
    X(cublasGetVersion_v2)                                                                         \
    X(cublasSetStream_v2)                                                                          \
    X(cublasSetWorkspace_v2)                                                                       \
    X(cublasSetPointerMode_v2)                                                                     \
    X(cublasDaxpy_v2)                                                                              \
    X(cublasDdot_v2)                                                                               \
    X(cublasDnrm2_v2)

typedef struct cuda_libraries {
#define CUDA_LIBRARY_MEMBER(name) __typeof__(name) *name;
    CUSPARSE_CALLS(CUDA_LIBRARY_MEMBER)
    CUBLAS_CALLS(CUDA_LIBRARY_MEMBER)
#undef CUDA_LIBRARY_MEMBER
} cuda_libraries;

/* NULL, or why not; the text stays. */
const char *cuda_libraries_open(cuda_libraries *libraries);

#endif
