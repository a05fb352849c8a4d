/* SPDX-License-Identifier: BSD-3-Clause */
/* flag.cuh: the GPU's side of lib/flag.h: words that cross owners, with release and acquire over
 * the whole system. An address is the word's, a yk_flag's first four bytes. */
#ifndef YK_CUDA_FLAG_CUH
#define YK_CUDA_FLAG_CUH

static __device__ __forceinline__ void yk_flag_set(unsigned *word, unsigned value)
{
    asm volatile("st.release.sys.global.u32 [%0], %1;"
                 :
                 : "l"(__cvta_generic_to_global(word)), "r"(value)
                 : "memory");
}

static __device__ __forceinline__ unsigned yk_flag_get(const unsigned *word)
{
    unsigned value;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];"
                 : "=r"(value)
                 : "l"(__cvta_generic_to_global(word))
                 : "memory");
    return value;
}

/* Nanoseconds since some time, the same on all multiprocessors. */
static __device__ __forceinline__ unsigned long long yk_nanoseconds(void)
{
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

#endif
