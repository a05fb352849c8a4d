/* SPDX-License-Identifier: BSD-3-Clause */
/* split_cg.h: CG whose sums and vectors are the CPU's and whose product is somebody else's, who
 * gets the whole direction and gives back the whole product in every iteration. */
#ifndef BENCH_RIVALS_SPLIT_CG_H
#define BENCH_RIVALS_SPLIT_CG_H

#include <stdint.h>

typedef struct split_cg {
    int64_t rows;
    int threads;
    const double *b, *inverse_diagonal; /* [rows]; the latter NULL: no preconditioner */
    double *x, *r, *p, *minus_q;        /* [rows], the caller's */
    double rz;
    /* minus_q = -A p; 0 on success. */
    int (*multiply)(void *user);
    void *user;
} split_cg;

/* x = 0, r = b, p = z. Vectors that nobody has touched yet then lie where their threads run. */
void split_cg_begin(split_cg *cg);

/* Exactly so many iterations; those after a zero residual change nothing. 0 on success. */
int split_cg_run(split_cg *cg, int iterations);

#endif
