/* SPDX-License-Identifier: BSD-3-Clause */
/* rival.h: other people's CG on the same system and cores, or GPU, each in a program of its own
 * that is asked for one timed solve at a time, in turn with ours, so that what else the machine
 * does meets both alike. */
#ifndef BENCH_RIVAL_H
#define BENCH_RIVAL_H

#include "bench/row.h"
#include "bench/source.h"

typedef struct rival rival;

/* What it is asked to do. */
typedef struct rival_terms {
    const char *precond;
    int64_t iterations;
    int ranks;   /* of one over MPI */
    int threads; /* of one with threads; 0: OMP_NUM_THREADS, else the affinity mask */
    int device;  /* of one on a GPU */
} rival_terms;

/* Where a function returns a text, NULL is success and the text says why there is no figure; it is
 * valid until the next call. */

/* Why it cannot run in this build or on this machine, as far as that is known before it is handed a
 * system; NULL if nothing is. */
const char *rival_refusal(const char *name);

/* Hands over the system and waits until the rival has verified its answer after exactly so many
 * iterations. *r is NULL on failure. */
const char *rival_start(const char *name, const source *s, const rival_terms *terms, rival **r);

/* Times one solve. */
const char *rival_repeat(rival *r);

/* Ends the program and fills result, whose matrix is set. Releases r, on failure too. */
const char *rival_finish(rival *r, row *result);

const char *rival_name(const rival *r);

#endif
