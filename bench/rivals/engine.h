/* SPDX-License-Identifier: BSD-3-Clause */
/* engine.h: what child.c asks of a rival. Each of these is called by all ranks. */
#ifndef BENCH_RIVALS_ENGINE_H
#define BENCH_RIVALS_ENGINE_H

#include <mpi.h>

#include "bench/rivals/dump.h"

typedef struct rival_engine {
    const char *name;
    const char *(*version)(void);
    int (*start)(int *argc, char ***argv); /* MPI too; 0 on success, as all below */
    int (*setup)(const rival_share *share, int jacobi);
    /* From x = 0, exactly so many iterations. With norms, *recursive is the 2-norm of the residual
     * of the recurrence; without, the form that costs least runs. */
    int (*solve)(int iterations, int norms, int *done, double *recursive);
    int (*residual)(double *norm); /* ||b - A x||_2 by the rival's own product */
    void (*finish)(void);
} rival_engine;

extern const rival_engine rival;

#endif
