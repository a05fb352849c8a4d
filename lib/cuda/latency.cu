/* SPDX-License-Identifier: BSD-3-Clause */
/* latency.cu: nothing, barriers, and an answer to the CPU. */
#include "lib/cuda/latency.h"

#include <cooperative_groups.h>

#include "lib/cuda/flag.cuh"

static __global__ void nothing()
{
}

static __global__ void barriers(int count)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    for (int i = 0; i < count; i++) grid.sync();
}

/* The abort word is another read over the link: it is looked at now and then. */
static __device__ bool wait_for(const unsigned *ping, unsigned value, const unsigned *abort,
                                unsigned long long until)
{
    for (unsigned looks = 1; yk_flag_get(ping) < value; looks++)
        if (looks % 64 == 0 && (yk_flag_get(abort) || yk_nanoseconds() > until)) return false;
    return true;
}

static __global__ void answer(const unsigned *ping, unsigned *pong, const unsigned *abort,
                              unsigned rounds, unsigned long long deadline)
{
    unsigned long long until = yk_nanoseconds() + deadline;
    for (unsigned i = 1; i <= rounds && wait_for(ping, i, abort, until); i++) yk_flag_set(pong, i);
}

extern "C" int yk_latency_load(void)
{
    cudaFuncAttributes attributes;
    cudaError_t error = cudaFuncGetAttributes(&attributes, nothing);
    if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, barriers);
    if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, answer);
    return error;
}

extern "C" int yk_latency_nothing(void *stream)
{
    nothing<<<1, 32, 0, (cudaStream_t)stream>>>();
    return cudaGetLastError();
}

extern "C" int yk_latency_barriers(int blocks, int count, void *stream)
{
    void *arguments[] = {&count};
    return cudaLaunchCooperativeKernel((const void *)barriers, dim3((unsigned)blocks), dim3(256),
                                       arguments, 0, (cudaStream_t)stream);
}

extern "C" int yk_latency_answer(const unsigned *ping, unsigned *pong, const unsigned *abort,
                                 unsigned rounds, unsigned long long deadline, void *stream)
{
    answer<<<1, 1, 0, (cudaStream_t)stream>>>(ping, pong, abort, rounds, deadline);
    return cudaGetLastError();
}
