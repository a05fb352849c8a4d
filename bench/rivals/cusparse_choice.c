/* SPDX-License-Identifier: BSD-3-Clause */
/* cusparse_choice.c: whether cuSPARSE can be had here, and which of its algorithms for CSR is the
 * fastest on a system. */
#include <stdio.h>

#include "bench/rivals/cusparse_cg.h"
#include "bench/rivals/protocol.h"

enum {
    TRIALS = 3, /* the first warms up */
    PRODUCTS_TRIED = 20
};

const char *gpu_cg_missing(gpu_cg *cg)
{
    static char text[400];
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count > 0) return cuda_libraries_open(&cg->call);
    if (error == cudaErrorInsufficientDriver)
        return "no GPU here: no NVIDIA driver, or one too old for this CUDA runtime";
    snprintf(text, sizeof text, "no GPU here: %s",
             error == cudaSuccess ? "no device" : cudaGetErrorString(error));
    return text;
}

/* In a graph, since a launch may cost more than a small product. */
static int time_product(gpu_cg *cg, double *seconds)
{
    cudaGraphExec_t graph = NULL;
    *seconds = 1e30;
    if (gpu_cg_multiply(cg) || gpu_cg_capture_begin(cg)) return 1; /* once before: it loads */
    int bad = 0;
    for (int i = 0; i < PRODUCTS_TRIED && !bad; i++) bad = gpu_cg_multiply(cg);
    if (gpu_cg_capture_end(cg, &graph) || bad) return 1;
    for (int trial = 0; trial < TRIALS; trial++) {
        CUDA(cudaStreamSynchronize(cg->stream));
        double began = rival_now();
        CUDA(cudaGraphLaunch(graph, cg->stream));
        CUDA(cudaStreamSynchronize(cg->stream));
        double took = rival_now() - began;
        if (trial > 0 && took < *seconds) *seconds = took;
    }
    CUDA(cudaGraphExecDestroy(graph));
    return 0;
}

int gpu_cg_choose_product(gpu_cg *cg, double *setup)
{
    static const product known[PRODUCTS] = {
        {.name = "SPMV_ALG_DEFAULT", .algorithm = CUSPARSE_SPMV_ALG_DEFAULT},
        {.name = "SPMV_CSR_ALG1", .algorithm = CUSPARSE_SPMV_CSR_ALG1},
        {.name = "SPMV_CSR_ALG2", .algorithm = CUSPARSE_SPMV_CSR_ALG2},
    };
    double least = 1e30, made = 0.0;
    int best = 0;
    for (int i = 0; i < PRODUCTS; i++) {
        double began = rival_now(), seconds = 0.0;
        cg->product[i] = known[i];
        if (gpu_cg_make_product(cg, &cg->product[i])) return 1;
        double took = rival_now() - began;
        cg->chosen = &cg->product[i];
        if (time_product(cg, &seconds)) return 1;
        if (seconds >= least) continue;
        least = seconds;
        best = i;
        made = took;
    }
    for (int i = 0; i < PRODUCTS; i++)
        if (i != best) gpu_cg_drop_product(cg, &cg->product[i]);
    cg->chosen = &cg->product[best];
    *setup += made;
    return 0;
}
