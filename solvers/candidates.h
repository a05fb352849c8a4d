/* SPDX-License-Identifier: BSD-3-Clause */
/* candidates.h: the plans that could be had of a matrix: every combination of owners, memory mode,
 * format, driver and shape that was left free, each with the time that the model predicts. auto
 * takes the first of the ranked list, measuring times its best few, --explain shows it. */
#ifndef YK_CANDIDATES_H
#define YK_CANDIDATES_H

#include <stdbool.h>

#include "lib/model.h"

typedef struct yk_candidate {
    /* Static. memory: NULL with one owner. */
    const char *partition, *memory, *home, *driver, *format;
    bool folded;
    double cpu_share;           /* of the rows */
    double predicted, measured; /* seconds of an iteration; NaN: not known, not measured */
} yk_candidate;

enum { YK_CANDIDATES = 40 };

typedef struct yk_candidates {
    int count;
    yk_candidate of[YK_CANDIDATES];
} yk_candidates;

/* What is left free. Lists end with NULL and are of a GPU's rows; a name in the place of auto is
 * the only one of its list. */
typedef struct yk_space {
    bool cpu, gpu, shared; /* owners */
    bool unfolded, folded;
    const char *driver[8], *format[3], *memory[4];
    const char *home;
    double spill;       /* of that home, where it is spill */
    double share;       /* the CPU's beside a GPU; negative: what the model finds the best */
    double least_share; /* then: no less, as the GPU has no room for the rest */
    double chip_rows;   /* that driver persistent takes at most, in a format of its own */
    double held_rows;   /* the same, in SELL: of the system only vectors are on the chip */
    yoke_shape matrix;
    bool jacobi;
    int threads, gpu_sms; /* as in yk_model_plan */
} yk_space;

/* All of a space, in its order; nothing is predicted yet. */
void yk_candidates_list(const yk_space *space, yk_candidates *list);

/* By a machine's figures; what it lacks of them, by those of another; NULL: none. */
void yk_candidates_predict(const yk_space *space, const yk_profile *machine,
                           const yk_profile *otherwise, yk_candidates *list);

/* By what is measured, then by what is predicted: the fastest first. What is not known stays behind
 * what is, in its order. */
void yk_candidates_rank(yk_candidates *list);

/* The fastest by the model of those with such owners; NULL: none. */
const yk_candidate *yk_candidates_best(const yk_candidates *list, bool on_cpu, bool on_gpu);

#endif
