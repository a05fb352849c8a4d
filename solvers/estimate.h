/* SPDX-License-Identifier: BSD-3-Clause */
/* estimate.h: what an iteration would take each owner alone, by the model and this machine's
 * profile: from the matrix's sizes, measuring nothing. */
#ifndef YK_ESTIMATE_H
#define YK_ESTIMATE_H

#include "lib/matrix.h"

typedef struct yk_estimate {
    double cpu, gpu;  /* seconds of an iteration */
    char notice[256]; /* what is to be said of the profile; "" */
} yk_estimate;

/* threads: as asked of the plan, 0 for the context's. device: a GPU whose name and sizes are asked,
 * -1: none is; then a kept profile's GPU stands for it, or the one that a shipped profile has. */
void yk_estimate_owners(const yoke_matrix *matrix, int threads, int device, yk_estimate *estimate);

/* So small that a GPU can win nothing that would pay for asking for it. Reads no profile. */
bool yk_is_surely_for_the_cpu(const yoke_matrix *matrix);

#endif
