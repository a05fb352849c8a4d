/* SPDX-License-Identifier: BSD-3-Clause */
/* operations.c: the program of the rival operations; see protocol.h. The operations of an iteration
 * are shared, not the rows: cuSPARSE's product on the GPU, by the algorithm that is fastest on this
 * system; sums and vectors on the CPU's threads. p goes up and q comes down in each iteration, from
 * and to pinned memory. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/rivals/cusparse_cg.h"
#include "bench/rivals/protocol.h"
#include "bench/rivals/split_cg.h"

#ifdef _OPENMP
#include <omp.h>
#else
#define omp_get_max_threads() 1
#endif

enum { WARM_UP = 64 /* iterations, at most */ };

typedef struct shared_cg {
    gpu_cg gpu; /* its product, and its norms of what is handed to it */
    split_cg cpu;
    rival_share system;
    size_t bytes; /* of a vector */
} shared_cg;

static int multiply(void *user)
{
    shared_cg *cg = user;
    CUDA(cudaMemcpyAsync(cg->gpu.p, cg->cpu.p, cg->bytes, cudaMemcpyHostToDevice, cg->gpu.stream));
    if (gpu_cg_multiply(&cg->gpu)) return 1;
    CUDA(cudaMemcpyAsync(cg->cpu.minus_q, cg->gpu.minus_q, cg->bytes, cudaMemcpyDeviceToHost,
                         cg->gpu.stream));
    CUDA(cudaStreamSynchronize(cg->gpu.stream));
    return 0;
}

static double *inverse_diagonal(const rival_share *system)
{
    double *inverse = calloc((size_t)system->local + 1, sizeof *inverse);
    for (int64_t i = 0; inverse && i < system->local; i++)
        inverse[i] = 1.0 / rival_share_diagonal(system, i);
    return inverse;
}

static int open_vectors(shared_cg *cg, const rival_request *request)
{
    split_cg *cpu = &cg->cpu;
    cg->bytes = (size_t)cg->system.rows * sizeof(double);
    *cpu = (split_cg){.rows = cg->system.rows, .b = cg->system.b, .multiply = multiply, .user = cg};
    cpu->threads = request->threads > 0 ? request->threads : omp_get_max_threads();
    cpu->x = malloc(cg->bytes);
    cpu->r = malloc(cg->bytes);
    CUDA(cudaMallocHost((void **)&cpu->p, cg->bytes));
    CUDA(cudaMallocHost((void **)&cpu->minus_q, cg->bytes));
    if (request->jacobi && !(cpu->inverse_diagonal = inverse_diagonal(&cg->system))) return 1;
    return !cpu->x || !cpu->r;
}

/* The time is that of the iterations alone, as ours is. */
static int time_solve(shared_cg *cg, int iterations, double *seconds)
{
    split_cg_begin(&cg->cpu);
    double began = rival_now();
    if (split_cg_run(&cg->cpu, iterations)) return 1;
    *seconds = rival_now() - began;
    return 0;
}

static int verify(shared_cg *cg, int iterations, rival_answer *answer)
{
    double ignored = 0.0;
    if (time_solve(cg, iterations, &ignored)) return 1;
    answer->iterations = iterations;
    CUDA(cudaMemcpy(cg->gpu.x, cg->cpu.x, cg->bytes, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(cg->gpu.r, cg->cpu.r, cg->bytes, cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize());
    return gpu_cg_norms(&cg->gpu, &answer->residual_recursive, &answer->residual_true);
}

static int prepare(shared_cg *cg, const rival_request *request, rival_answer *answer)
{
    if (rival_share_read(request->dump, 0, 1, &cg->system)) return 1;
    CUDA(cudaSetDevice(request->device));
    CUDA(cudaFree(NULL)); /* the device's context is not our setup */
    double began = rival_now();
    if (gpu_cg_open(&cg->gpu, &cg->system, 0) || open_vectors(cg, request)) return 1;
    answer->setup = rival_now() - began;
    return gpu_cg_choose_product(&cg->gpu, &answer->setup) ||
           verify(cg, request->iterations, answer);
}

static int time_one(shared_cg *cg, int iterations)
{
    double seconds = 0.0;
    if (time_solve(cg, iterations < WARM_UP ? iterations : WARM_UP, &seconds) ||
        time_solve(cg, iterations, &seconds))
        return 1;
    rival_say_repeat(seconds * 1e6 / iterations, seconds);
    return 0;
}

int main(int argc, char **argv)
{
    static shared_cg cg;
    rival_request request;
    int refused = rival_request_read(argc, argv, &request), sparse = 0;
    if (refused) return refused;
    const char *why = gpu_cg_missing(&cg.gpu);
    if (why) {
        rival_say_cannot(why);
        return 1;
    }
    rival_answer answer = {.ranks = 1};
    if (prepare(&cg, &request, &answer)) return 1;
    rival_say_ready();
    while (rival_asked_to_go())
        if (time_one(&cg, request.iterations)) return 1;
    char version[32], how[128];
    if (cg.gpu.call.cusparseGetVersion(cg.gpu.sparse, &sparse) != CUSPARSE_STATUS_SUCCESS) return 1;
    snprintf(version, sizeof version, "%d.%d.%d", sparse / 1000, sparse / 100 % 10, sparse % 100);
    snprintf(how, sizeof how, "%s on the GPU, vectors on %d threads", cg.gpu.chosen->name,
             cg.cpu.threads);
    answer.version = version;
    answer.threads = cg.cpu.threads;
    answer.how = how;
    rival_say_end(&answer);
    return 0;
}
