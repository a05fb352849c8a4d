/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu_passes_avx2.c: the passes, compiled with -mavx2 -mfma. */
#define CPU_PASSES      yk_cpu_passes_avx2
#define CPU_PASSES_NAME "avx2"
#include "solvers/cg/cpu_passes_body.h"
