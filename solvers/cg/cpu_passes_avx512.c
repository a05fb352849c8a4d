/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu_passes_avx512.c: the passes, compiled with -mavx512f, dq, vl, bw. */
#define CPU_PASSES      yk_cpu_passes_avx512
#define CPU_PASSES_NAME "avx512"
#include "solvers/cg/cpu_passes_body.h"
