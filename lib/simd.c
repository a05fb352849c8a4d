/* SPDX-License-Identifier: BSD-3-Clause */
/* simd.c: detection of vector instructions at run time. */
#include "lib/simd.h"

#include <stdlib.h>
#include <string.h>

#include "config.h"

static const char *const names[] = {
    [YK_PORTABLE] = "portable", [YK_AVX2] = "avx2", [YK_AVX512] = "avx512", [YK_NEON] = "neon"};

#if HAVE_X86_64

/* The builtin also asks whether the system saves the wide registers. */
static enum yk_simd detect(void)
{
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return YK_PORTABLE;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        return YK_AVX512;
    return YK_AVX2;
}

#else

static enum yk_simd detect(void)
{
#ifdef __aarch64__
    return YK_NEON; /* part of the base architecture */
#else
    return YK_PORTABLE;
#endif
}

#endif

enum yk_simd yk_simd_choose(enum yk_simd detected, const char *asked)
{
    if (!asked) return detected;
    if (strcmp(asked, "portable") == 0) return YK_PORTABLE;
    if (detected == YK_AVX512 && strcmp(asked, "avx2") == 0) return YK_AVX2;
    return detected;
}

enum yk_simd yk_simd_level(void)
{
    return yk_simd_choose(detect(), getenv("YOKE_SIMD"));
}

const char *yk_simd_name(void)
{
    return names[yk_simd_level()];
}
