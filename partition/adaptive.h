/* SPDX-License-Identifier: BSD-3-Clause */
/* adaptive.h: where a moving cut goes, from the times of whole iterations and of the CPU's share of
 * them. It knows no clock and no owner: times in, a cut out. */
#ifndef YK_ADAPTIVE_H
#define YK_ADAPTIVE_H

#include <stdbool.h>

#include "partition/window.h"

/* What owners are known to do before the first iteration: bytes a second, and seconds that an
 * iteration takes beyond the slower of them. 0: not known. */
typedef struct yk_rates {
    double cpu, gpu, meetings;
} yk_rates;

/* Of some iterations with one cut, per iteration: all of it, and what of it the CPU worked. */
typedef struct yk_times {
    double seconds, busy;
} yk_times;

typedef enum yk_adapting {
    YK_ADAPT_SEEKS,   /* goes where the speeds say */
    YK_ADAPT_LOOKS,   /* tries the cuts beside the best one */
    YK_ADAPT_FROZEN,  /* stays, and watches */
    YK_ADAPT_SUSPECTS /* frozen, and the last times were others than before */
} yk_adapting;

typedef struct yk_adaptive {
    int cuts, at;                                /* candidates; in force */
    double cpu[YK_MOST_CUTS], gpu[YK_MOST_CUTS]; /* bytes of an iteration, of each owner */
    double seconds[YK_MOST_CUTS];                /* measured since it last froze; 0: not */
    yk_rates rates;
    yk_adapting state;
    int moves;            /* since it last froze */
    int looked;           /* cuts beside the best one that were tried */
    int froze_at;         /* the cut before it thawed */
    int doubts, patience; /* times in a row that were others; how many it takes to thaw */
    bool gpu_waited;      /* when last measured */
    yk_times expected;    /* seconds of an iteration, frozen; 0: the next ones say */
    double last;          /* seconds of an iteration, as last measured */
    double promised;      /* by the speeds, of the cut that it went to; 0: nothing */
} yk_adaptive;

/* [cuts] bytes of an iteration, of each owner at each cut: of the CPU as if all its threads worked,
 * so more where few have all of them to do. */
void yk_adaptive_begin(yk_adaptive *a, int cuts, int at, const double *cpu, const double *gpu,
                       yk_rates rates);

/* Iterations that the next times should be of: enough for a sound one. */
int64_t yk_adaptive_wish(const yk_adaptive *a);

/* Takes the times of the cut in force; returns the next one, which is in force from now on. */
int yk_adaptive_next(yk_adaptive *a, yk_times times);

#endif
