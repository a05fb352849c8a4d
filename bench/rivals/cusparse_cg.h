/* SPDX-License-Identifier: BSD-3-Clause */
/* cusparse_cg.h: CG on one GPU by cuSPARSE's product and cuBLAS's sums, its scalars on the device.
 * Where a function returns an int, 0 is success; else a sentence is on stderr. */
#ifndef BENCH_RIVALS_CUSPARSE_CG_H
#define BENCH_RIVALS_CUSPARSE_CG_H

#include <cuda_runtime_api.h>

#include "bench/rivals/cuda_libraries.h"
#include "bench/rivals/dump.h"

/* -A p by one of cuSPARSE's algorithms, preprocessed. */
typedef struct product {
    const char *name;
    cusparseSpMVAlg_t algorithm;
    cusparseSpMatDescr_t matrix;
    void *buffer;
} product;

enum { PRODUCTS = 3, MOST_GRAPHS = 12 };

/* A number of iterations, or of products, made a graph. */
typedef struct made_graph {
    int count;
    cudaGraphExec_t graph;
} made_graph;

typedef struct gpu_cg {
    cuda_libraries call;
    cudaStream_t stream;
    cudaEvent_t seen; /* the sum has reached the host */
    cusparseHandle_t sparse;
    cublasHandle_t blas;
    void *workspace;

    int rows, nonzeros, padded; /* padded: rows up to a multiple of 32 */
    int *start, *column;
    double *value;
    /* x above r and p above -A p, so that one axpy updates both. z is r without a preconditioner.
     */
    double *x, *r, *p, *minus_q;
    double *z, *b, *inverse_diagonal;
    double *alpha, *minus_pq, *rz; /* of one allocation; rz: [2], this iteration's and the next's */
    double *host_rz;               /* pinned */
    cusparseDnVecDescr_t p_vector, minus_q_vector, x_vector;
    product product[PRODUCTS];
    const product *chosen;
    made_graph graph[MOST_GRAPHS];
    int graphs;
} gpu_cg;

/* Prints what failed in CUDA's words; returns whether it did. */
int cuda_failed(cudaError_t error, const char *call);
#define CUDA(call)                                                                                 \
    do {                                                                                           \
        if (cuda_failed(call, #call)) return 1;                                                    \
    } while (0)

/* Fills call. Why there can be no figure on this machine; NULL if there can be one. */
const char *gpu_cg_missing(gpu_cg *cg);

/* On the current device, call being filled. */
int gpu_cg_open(gpu_cg *cg, const rival_share *share, int jacobi);
int gpu_cg_make_product(gpu_cg *cg, product *made);
void gpu_cg_drop_product(gpu_cg *cg, product *made);

/* Times each on the system and keeps the fastest, whose own setup is added to *setup. */
int gpu_cg_choose_product(gpu_cg *cg, double *setup);

/* Enqueued on the stream: -A p by the chosen algorithm; x = 0, r = b, p = z. */
int gpu_cg_multiply(gpu_cg *cg);
int gpu_cg_begin(gpu_cg *cg);

/* Exactly so many iterations, enqueued: with a host synchronisation in each, or as graphs of
 * `unroll` iterations (0: the former). Graphs are made at their first use. */
int gpu_cg_run(gpu_cg *cg, int unroll, int iterations);

/* ||r||_2, and ||b - A x||_2 by the library's own product. */
int gpu_cg_norms(gpu_cg *cg, double *recursive, double *true_norm);

/* What is enqueued between the two becomes a graph. */
int gpu_cg_capture_begin(gpu_cg *cg);
int gpu_cg_capture_end(gpu_cg *cg, cudaGraphExec_t *graph);

#endif
