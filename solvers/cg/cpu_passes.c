/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu_passes.c: which compilation of the passes this processor runs. */
#include "solvers/cg/cpu_passes.h"

#include "config.h"
#include "lib/simd.h"

const yk_cpu_passes *yk_cpu_passes_here(void)
{
#if HAVE_X86_64
    if (yk_simd_level() == YK_AVX512) return &yk_cpu_passes_avx512;
    if (yk_simd_level() == YK_AVX2) return &yk_cpu_passes_avx2;
#endif
    return &yk_cpu_passes_portable;
}
