/* SPDX-License-Identifier: BSD-3-Clause */
/* sweep.c: read, copy and triad (McCalpin, "Memory bandwidth and machine balance in current high
 * performance computers", 1995), compiled once for each level of vector instructions. */
#include "lib/sweep.h"

#include "config.h"
#include "lib/simd.h"

enum { AHEAD = 4096 }; /* bytes from a load to its prefetch */

/* may_alias: they are laid over arrays of double. */
typedef double vector2 __attribute__((vector_size(16), may_alias));
typedef double vector4 __attribute__((vector_size(32), may_alias));
typedef double vector8 __attribute__((vector_size(64), may_alias));

typedef struct sweeps {
    double (*read)(const double *, size_t);
    void (*copy)(double *restrict, const double *restrict, size_t);
    void (*triad)(double *restrict, const double *restrict, const double *restrict, double, size_t);
} sweeps;

#define VECTOR vector2 /* SSE2, NEON */
#define TARGET
#define NAME(x) x##_portable
#include "lib/sweep_passes.h"

#if HAVE_X86_64
#define VECTOR  vector4
#define TARGET  __attribute__((target("avx2")))
#define NAME(x) x##_avx2
#include "lib/sweep_passes.h"

#define VECTOR  vector8
#define TARGET  __attribute__((target("avx512f")))
#define NAME(x) x##_avx512
#include "lib/sweep_passes.h"
#endif

static const sweeps *chosen(void)
{
    switch (yk_simd_level()) {
#if HAVE_X86_64
    case YK_AVX512: return &sweeps_avx512;
    case YK_AVX2: return &sweeps_avx2;
#endif
    default: return &sweeps_portable;
    }
}

double yk_sweep_read(const double *a, size_t lines)
{
    return chosen()->read(a, lines);
}

void yk_sweep_copy(double *restrict c, const double *restrict a, size_t lines)
{
    chosen()->copy(c, a, lines);
}

void yk_sweep_triad(double *restrict a, const double *restrict b, const double *restrict c,
                    double scale, size_t lines)
{
    chosen()->triad(a, b, c, scale, lines);
}
