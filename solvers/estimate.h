/* SPDX-License-Identifier: BSD-3-Clause */
/* estimate.h: what an iteration would take each owner alone, and both, by the model and this
 * machine's profile: from the matrix's sizes, measuring nothing. */
#ifndef YK_ESTIMATE_H
#define YK_ESTIMATE_H

#include "lib/matrix.h"
#include "solvers/candidates.h"

typedef struct yk_estimate {
    double cpu, gpu, both; /* seconds of an iteration; both: infinite where not asked for */
    double share;          /* of the rows on the CPU, then */
    char notice[256];      /* what is to be said of the profile; "" */
} yk_estimate;

/* device: a GPU whose name and sizes are asked, -1: none is; then a kept profile's GPU stands for
 * it, or the one that a shipped profile has. least_share: what the GPU has no room for; negative:
 * both together are not asked for. */
void yk_estimate_owners(const yoke_matrix *matrix, const yoke_plan_options *options, int device,
                        double least_share, yk_estimate *estimate);

/* So small that a GPU can win nothing that would pay for asking for it. Reads no profile. */
bool yk_is_surely_for_the_cpu(const yoke_matrix *matrix);

/* Predicts a list by what is known of this machine; unchanged without memory. */
void yk_estimate_candidates(const yoke_matrix *matrix, const yk_space *space, yk_candidates *list);

#endif
