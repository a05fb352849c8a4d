/* SPDX-License-Identifier: BSD-3-Clause */
/* cusparse.c: the program of the rival cusparse; see protocol.h. It takes what is fastest on this
 * system of cuSPARSE's CSR algorithms and of two ways to iterate: one host synchronisation an
 * iteration, and graphs of several lengths. Choosing is not counted as its setup. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench/rivals/cusparse_cg.h"
#include "bench/rivals/protocol.h"

/* Graphs of these many iterations; 0: none, the host synchronises. Even, see cusparse_cg.c. */
static const int unrolls[] = {0, 16, 64, 256};
enum {
    WAYS = sizeof unrolls / sizeof unrolls[0],
    TRIED = 256, /* iterations, at most, that choosing and warming up take each time */
    TRIALS = 3,  /* the first warms up */
    PRODUCTS_TRIED = 20
};

typedef struct choice {
    int unroll;
    double us[WAYS];
    char version[32], how[512];
} choice;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ------------------------------------------------------------------ choice */

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
        double began = now();
        CUDA(cudaGraphLaunch(graph, cg->stream));
        CUDA(cudaStreamSynchronize(cg->stream));
        double took = now() - began;
        if (trial > 0 && took < *seconds) *seconds = took;
    }
    CUDA(cudaGraphExecDestroy(graph));
    return 0;
}

static int choose_product(gpu_cg *cg, double *setup)
{
    static const product known[PRODUCTS] = {
        {.name = "SPMV_ALG_DEFAULT", .algorithm = CUSPARSE_SPMV_ALG_DEFAULT},
        {.name = "SPMV_CSR_ALG1", .algorithm = CUSPARSE_SPMV_CSR_ALG1},
        {.name = "SPMV_CSR_ALG2", .algorithm = CUSPARSE_SPMV_CSR_ALG2},
    };
    double least = 1e30, made = 0.0;
    int best = 0;
    for (int i = 0; i < PRODUCTS; i++) {
        double began = now(), seconds = 0.0;
        cg->product[i] = known[i];
        if (gpu_cg_make_product(cg, &cg->product[i])) return 1;
        double took = now() - began;
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

/* From x = 0; the time is that of the iterations alone, as ours is. */
static int time_solve(gpu_cg *cg, int unroll, int iterations, double *seconds)
{
    if (gpu_cg_begin(cg)) return 1;
    CUDA(cudaStreamSynchronize(cg->stream));
    double began = now();
    if (gpu_cg_run(cg, unroll, iterations)) return 1;
    CUDA(cudaStreamSynchronize(cg->stream));
    *seconds = now() - began;
    return 0;
}

static int choose_way(gpu_cg *cg, int iterations, choice *c)
{
    int tried = iterations < TRIED ? iterations : TRIED;
    double least = 1e30;
    for (int way = 0; way < WAYS; way++) {
        c->us[way] = 1e30;
        for (int trial = 0; trial < TRIALS; trial++) {
            double seconds = 0.0;
            if (time_solve(cg, unrolls[way], tried, &seconds)) return 1;
            if (trial > 0 && seconds * 1e6 / tried < c->us[way]) c->us[way] = seconds * 1e6 / tried;
        }
        if (c->us[way] >= least) continue;
        least = c->us[way];
        c->unroll = unrolls[way];
    }
    return 0;
}

static int describe(const gpu_cg *cg, int iterations, choice *c)
{
    int sparse = 0, blas = 0, used = 0;
    if (cg->call.cusparseGetVersion(cg->sparse, &sparse) != CUSPARSE_STATUS_SUCCESS ||
        cg->call.cublasGetVersion_v2(cg->blas, &blas) != CUBLAS_STATUS_SUCCESS)
        return 1;
    snprintf(c->version, sizeof c->version, "%d.%d.%d", sparse / 1000, sparse / 100 % 10,
             sparse % 100);
    used = snprintf(c->how, sizeof c->how, "%s and cuBLAS %d.%d.%d, ", cg->chosen->name,
                    blas / 10000, blas / 100 % 100, blas % 100);
    if (c->unroll)
        used += snprintf(c->how + used, sizeof c->how - (size_t)used, "graphs of %d iterations",
                         c->unroll < iterations ? c->unroll : iterations);
    else
        used += snprintf(c->how + used, sizeof c->how - (size_t)used,
                         "a host synchronisation an iteration");
    snprintf(c->how + used, sizeof c->how - (size_t)used,
             "; tried, us an iteration: synchronised %.4g, graphs of %d %.4g, of %d %.4g, of %d "
             "%.4g",
             c->us[0], unrolls[1], c->us[1], unrolls[2], c->us[2], unrolls[3], c->us[3]);
    return 0;
}

/* --------------------------------------------------------------------- run */

static int verify(gpu_cg *cg, int iterations, const choice *c, rival_answer *answer)
{
    double ignored = 0.0;
    if (time_solve(cg, c->unroll, iterations, &ignored)) return 1;
    answer->iterations = iterations;
    return gpu_cg_norms(cg, &answer->residual_recursive, &answer->residual_true);
}

static int prepare(gpu_cg *cg, const rival_request *request, choice *c, rival_answer *answer)
{
    rival_share share;
    if (rival_share_read(request->dump, 0, 1, &share)) return 1;
    CUDA(cudaSetDevice(request->device));
    CUDA(cudaFree(NULL)); /* the device's context is not our setup */
    double began = now();
    int bad = gpu_cg_open(cg, &share, request->jacobi);
    answer->setup = now() - began;
    rival_share_free(&share);
    return bad || choose_product(cg, &answer->setup) || choose_way(cg, request->iterations, c) ||
           describe(cg, request->iterations, c) || verify(cg, request->iterations, c, answer);
}

/* It has slept: clocks and caches are warmed first. */
static int time_one(gpu_cg *cg, int iterations, int unroll)
{
    double seconds = 0.0;
    if (time_solve(cg, unroll, iterations < TRIED ? iterations : TRIED, &seconds) ||
        time_solve(cg, unroll, iterations, &seconds))
        return 1;
    rival_say_repeat(seconds * 1e6 / iterations, seconds);
    return 0;
}

/* Why there is no figure on this machine; NULL if there can be one. */
static const char *missing(gpu_cg *cg)
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

int main(int argc, char **argv)
{
    static gpu_cg cg;
    static choice c;
    rival_request request;
    int refused = rival_request_read(argc, argv, &request);
    if (refused) return refused;
    const char *why = missing(&cg);
    if (why) {
        rival_say_cannot(why);
        return 1;
    }
    rival_answer answer = {.ranks = 1};
    if (prepare(&cg, &request, &c, &answer)) return 1;
    rival_say_ready();
    while (rival_asked_to_go())
        if (time_one(&cg, request.iterations, c.unroll)) return 1;
    answer.version = c.version;
    answer.driver = c.unroll ? "graph" : "stream";
    answer.how = c.how;
    rival_say_end(&answer);
    return 0;
}
