/* SPDX-License-Identifier: BSD-3-Clause */
/* subset.h: what lets one text compile as C11 and as CUDA C++ (the passes and sums that CPU and
 * GPU share). */
#ifndef YK_SUBSET_H
#define YK_SUBSET_H

#include <stdint.h>

#ifdef __CUDACC__
#define YK_INLINE static __host__ __device__ __forceinline__
#else
#define YK_INLINE static inline __attribute__((always_inline))
#endif

#ifdef __cplusplus
#define YK_RESTRICT __restrict__
#define YK_CONSTANT constexpr /* a function of constants that a template may ask */
#else
#define YK_RESTRICT restrict
#define YK_CONSTANT
#endif

/* One rounding, always: the hardware's where it has one, libm's elsewhere. Contraction is off
 * (-ffp-contract=off, -fmad=false), so every fused operation is one of these. */
#ifdef __CUDACC__
#define yk_fma(a, b, c) fma(a, b, c)
#else
#define yk_fma(a, b, c) __builtin_fma(a, b, c)
#endif

/* Asks for the line at `bytes` after the address; any address will do, so loops may ask beyond the
 * end of an array. */
#ifdef __CUDACC__
#define YK_PREFETCH(address, bytes) ((void)0)
#else
#define YK_PREFETCH(address, bytes)                                                                \
    __builtin_prefetch((const void *)((uintptr_t)(address) + (bytes)), 0, 3)
#endif

/* The iterations of the next loop do not depend on each other through memory. */
#if defined(__CUDACC__)
#define YK_IVDEP
#elif defined(__clang__)
#define YK_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define YK_IVDEP _Pragma("GCC ivdep")
#else
#define YK_IVDEP
#endif

#endif
