/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu_passes.h: the tasks of passes.h over a range of a part's rows, compiled once for each
 * instruction set. Same bits from each, where there is a hardware fma. */
#ifndef YK_CG_CPU_PASSES_H
#define YK_CG_CPU_PASSES_H

#include "solvers/cg/passes.h"

/* Rows [first, last) of a part, first a multiple of YK_CHUNK; their sums go to the tree, which
 * was begun at the range's first global chunk. Tasks for the largest magnitude return it. */
typedef double (*yk_cpu_pass)(const yk_cg_rows *rows, int64_t first, int64_t last, yk_tree *tree);

typedef struct yk_cpu_passes {
    const char *name;
    yk_cpu_pass pass[YK_TASKS];
} yk_cpu_passes;

extern const yk_cpu_passes yk_cpu_passes_portable, yk_cpu_passes_avx2, yk_cpu_passes_avx512;

/* The best that this processor runs. */
const yk_cpu_passes *yk_cpu_passes_here(void);

#endif
