/* SPDX-License-Identifier: BSD-3-Clause */
/* features.c: what was compiled into this build, by name. */
#include <string.h>

#include <yoke.h>

#include "config.h"
#include "lib/iface/gpu_tools.h"
#include "lib/place.h"

#ifdef _OPENMP
#define WITH_OPENMP 1
#else
#define WITH_OPENMP 0
#endif

#ifdef HAVE_X86_64
#define WITH_X86_64 1
#else
#define WITH_X86_64 0
#endif

#ifdef HAVE_CUDA
#define WITH_CUDA      1
#define FOREIGN_MEMORY &yk_foreign_cuda
#else
#define WITH_CUDA      0
#define FOREIGN_MEMORY NULL
#endif

#ifdef HAVE_MPI
#define WITH_MPI 1
#else
#define WITH_MPI 0
#endif

#ifdef __aarch64__
#define WITH_NEON 1
#else
#define WITH_NEON 0
#endif

static const struct feature {
    const char *name;
    int present;
} features[] = {
    {"openmp", WITH_OPENMP}, {"zlib", 1},           {"cuda", WITH_CUDA},
    {"mpi", WITH_MPI},       {"avx2", WITH_X86_64}, {"avx512", WITH_X86_64},
    {"neon", WITH_NEON},
};

const yk_foreign *yk_foreign_memory(void)
{
    return FOREIGN_MEMORY;
}

int yoke_has(const char *feature)
{
    if (!feature) return 0;
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        if (strcmp(features[i].name, feature) == 0) return features[i].present;
    return 0;
}

const yk_gpu_tools *yk_gpu_tools_built(void)
{
#if HAVE_CUDA
    return &yk_gpu_tools_cuda;
#else
    return NULL;
#endif
}
