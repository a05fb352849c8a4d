/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu_passes_portable.c: the passes, compiled for every processor of this architecture. */
#define CPU_PASSES      yk_cpu_passes_portable
#define CPU_PASSES_NAME "portable"
#include "solvers/cg/cpu_passes_body.h"
