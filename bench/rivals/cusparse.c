/* SPDX-License-Identifier: BSD-3-Clause */
/* cusparse.c: the program of the rival cusparse; see protocol.h. It takes what is fastest on this
 * system of cuSPARSE's CSR algorithms and of two ways to iterate: one host synchronisation an
 * iteration, and graphs of several lengths. Choosing is not counted as its setup. */
#include <stdio.h>

#include "bench/rivals/cusparse_cg.h"
#include "bench/rivals/protocol.h"

/* Graphs of these many iterations; 0: none, the host synchronises. Even, see cusparse_cg.c. */
static const int unrolls[] = {0, 16, 64, 256};
enum {
    WAYS = sizeof unrolls / sizeof unrolls[0],
    TRIED = 256, /* iterations, at most, that choosing and warming up take each time */
    TRIALS = 3   /* the first warms up */
};

typedef struct choice {
    int unroll;
    double us[WAYS];
    char version[32], how[512];
} choice;

/* ------------------------------------------------------------------ choice */

/* From x = 0; the time is that of the iterations alone, as ours is. */
static int time_solve(gpu_cg *cg, int unroll, int iterations, double *seconds)
{
    if (gpu_cg_begin(cg)) return 1;
    CUDA(cudaStreamSynchronize(cg->stream));
    double began = rival_now();
    if (gpu_cg_run(cg, unroll, iterations)) return 1;
    CUDA(cudaStreamSynchronize(cg->stream));
    *seconds = rival_now() - began;
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
    double began = rival_now();
    int bad = gpu_cg_open(cg, &share, request->jacobi);
    answer->setup = rival_now() - began;
    rival_share_free(&share);
    return bad || gpu_cg_choose_product(cg, &answer->setup) ||
           choose_way(cg, request->iterations, c) || describe(cg, request->iterations, c) ||
           verify(cg, request->iterations, c, answer);
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

int main(int argc, char **argv)
{
    static gpu_cg cg;
    static choice c;
    rival_request request;
    int refused = rival_request_read(argc, argv, &request);
    if (refused) return refused;
    const char *why = gpu_cg_missing(&cg);
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
