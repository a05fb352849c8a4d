/* SPDX-License-Identifier: BSD-3-Clause */
/* simd.h: which vector instructions this build and this processor have together. */
#ifndef YK_SIMD_H
#define YK_SIMD_H

/* Ordered: on x86-64 each level has those before it. */
enum yk_simd { YK_PORTABLE, YK_AVX2, YK_AVX512, YK_NEON };

/* The level to use: the best that runs here, or a lower one that YOKE_SIMD names (portable, avx2,
 * avx512); other values of YOKE_SIMD are ignored. AVX2 means avx2 and fma; AVX512 means f, dq, vl,
 * bw and fma. */
enum yk_simd yk_simd_level(void);

/* "portable", "avx2", "avx512", "neon". Static. */
const char *yk_simd_name(void);

/* The level for what was detected and what the environment says (NULL: nothing). */
enum yk_simd yk_simd_choose(enum yk_simd detected, const char *asked);

#endif
