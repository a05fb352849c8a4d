/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_message.cuh: a value and the number of its meeting, read and written as one: between blocks
 * through L2, and in a cluster through shared memory. */
#ifndef YK_GPU_MESSAGE_CUH
#define YK_GPU_MESSAGE_CUH

#include "solvers/cg/gpu_resident.h"

/* 16 bytes are read and written as one (PTX ISA 8.3, .b128). */
static __device__ __forceinline__ void put(yk_message *message, double value,
                                           unsigned long long tag)
{
    asm volatile("{ .reg .b128 both; mov.b128 both, {%1, %2};"
                 "  st.relaxed.gpu.global.b128 [%0], both; }" ::"l"(message),
                 "d"(value), "l"(tag)
                 : "memory");
}

static __device__ __forceinline__ unsigned long long get(const yk_message *message, double *value)
{
    unsigned long long tag;
    asm volatile("{ .reg .b128 both; ld.relaxed.gpu.global.b128 both, [%2];"
                 "  mov.b128 {%0, %1}, both; }"
                 : "=d"(*value), "=l"(tag)
                 : "l"(message)
                 : "memory");
    return tag;
}

static __device__ __forceinline__ unsigned shared_address(const void *memory)
{
    return (unsigned)__cvta_generic_to_shared(memory);
}

/* The same in a cluster: `at` is an address in shared memory, `block` whose. */
static __device__ __forceinline__ void put_in_cluster(unsigned at, int block, double value,
                                                      unsigned long long tag)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("{ .reg .b128 both; .reg .u32 there; mapa.shared::cluster.u32 there, %0, %1;"
                 "  mov.b128 both, {%2, %3};"
                 "  st.relaxed.cluster.shared::cluster.b128 [there], both; }" ::"r"(at),
                 "r"(block), "d"(value), "l"(tag)
                 : "memory");
#endif
}

static __device__ __forceinline__ unsigned long long get_in_cluster(unsigned at, int block,
                                                                    double *value)
{
    unsigned long long tag = 0;
#if __CUDA_ARCH__ >= 900
    asm volatile("{ .reg .b128 both; .reg .u32 there; mapa.shared::cluster.u32 there, %2, %3;"
                 "  ld.relaxed.cluster.shared::cluster.b128 both, [there];"
                 "  mov.b128 {%0, %1}, both; }"
                 : "=d"(*value), "=l"(tag)
                 : "r"(at), "r"(block)
                 : "memory");
#endif
    return tag;
}

static __device__ __forceinline__ unsigned long long get_own(unsigned at, double *value)
{
    unsigned long long tag = 0;
#if __CUDA_ARCH__ >= 900
    asm volatile("{ .reg .b128 both; ld.relaxed.cluster.shared.b128 both, [%2];"
                 "  mov.b128 {%0, %1}, both; }"
                 : "=d"(*value), "=l"(tag)
                 : "r"(at)
                 : "memory");
#endif
    return tag;
}

static __device__ __forceinline__ void cluster_barrier()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release.aligned;\n"
                 "barrier.cluster.wait.acquire.aligned;" ::
                     : "memory");
#endif
}

#endif
