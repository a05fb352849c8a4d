/* SPDX-License-Identifier: BSD-3-Clause */
/* scalars.h: the scalars of classical preconditioned CG (Hestenes and Stiefel 1952; Saad, Iterative
 * Methods for Sparse Linear Systems, 2nd ed., algorithm 9.1), and when to leave the loop.
 *
 * Every worker of every owner keeps a copy and derives it from the same sums by these functions,
 * so that all take the same turn at the same iteration. */
#ifndef YK_CG_SCALARS_H
#define YK_CG_SCALARS_H

#include <math.h>
#include <stdint.h>

#include "lib/subset.h"

/* Which sums a pass delivers, by index. */
enum { YK_DOT_PQ = 0 };
enum { YK_DOT_RR = 0, YK_DOT_RZ = 1, YK_DOT_Z = 2, YK_DOT_ZQ = 3, YK_DOT_BB = 3, YK_DOT_ZW = 3 };
enum { YK_DOT_PS = 0, YK_DOT_ZS = 1 };

/* Why advance returned. */
typedef enum yk_cg_stop {
    YK_CG_GO_ON = 0, /* at_most iterations done */
    YK_CG_CANDIDATE, /* the recursive residual meets the bound */
    YK_CG_DIVERGED,
    YK_CG_NEGATIVE, /* p.Ap < 0 */
    YK_CG_ZERO,     /* p.Ap = 0 with a residual that is not */
    YK_CG_NOT_FINITE,
    YK_CG_PRECONDITIONER, /* r.z <= 0 with a residual that is not zero */
    YK_CG_CALLBACK,       /* an operator or preconditioner returned non-zero */
    YK_CG_RENEW,          /* what is kept by recurrences has drifted: to be made anew */
    YK_CG_ABORTED         /* an owner did not answer */
} yk_cg_stop;

/* What does not change during a solve. Norms are those of the scaled system. */
typedef struct yk_cg_limits {
    double bound;    /* stop at ||r|| <= bound; negative: never tested */
    double diverged; /* leave above this ||r|| */
    int64_t check_every;
    double rows_inverse; /* 1 / rows with a constant nullspace, else 0 */
    int flexible;        /* beta by Polak-Ribiere: the preconditioner may change */
} yk_cg_limits;

typedef struct yk_cg_scalars {
    double alpha;  /* of the step that x still lacks */
    double beta;   /* of the next direction */
    double shift;  /* mean of z, projected out of the next direction */
    double rr, rz; /* of the last iterate */
    double pq;
    int64_t iteration; /* completed */
    int stop;          /* yk_cg_stop */
} yk_cg_scalars;

/* Below this r.r (of a system scaled to about 1) nothing is left to gain and p.q underflows. */
#define YK_CG_NOTHING_LEFT 1e-280

/* A recursive r.r below the first, 30 digits in r, moves no digit of x any more; a curvature below
 * the second has lost its digits to underflow. */
#define YK_CG_ROUND_OFF       1e-60
#define YK_CG_LEAST_CURVATURE 1e-290

/* After q = A p: the step length. */
YK_INLINE void yk_cg_after_multiply(yk_cg_scalars *s, double pq)
{
    s->pq = pq;
    s->alpha = 0.0;
    if (!isfinite(pq))
        s->stop = YK_CG_NOT_FINITE;
    else if (s->rr <= YK_CG_NOTHING_LEFT ||
             (s->rr <= YK_CG_ROUND_OFF && pq <= YK_CG_LEAST_CURVATURE))
        s->stop = YK_CG_GO_ON;
    else if (pq <= 0.0)
        s->stop = pq < 0.0 ? YK_CG_NEGATIVE : YK_CG_ZERO;
    else
        s->alpha = s->rz / pq;
}

/* Whether no root is needed to see that ||r|| is within neither limit: on a GPU it would take as
 * long as all the rest. The margins are far above round-off. */
YK_INLINE int yk_cg_far_from_limits(const yk_cg_limits *limits, double rr)
{
    double bound = limits->bound > 0.0 ? limits->bound : 0.0;
    return rr > YK_CG_NOTHING_LEFT && rr > 1.001 * bound * bound &&
           rr < 0.999 * limits->diverged * limits->diverged;
}

/* After r -= alpha q and z = M^-1 r: the next direction's coefficient, and whether to stop. */
YK_INLINE void yk_cg_after_update(yk_cg_scalars *s, const yk_cg_limits *limits, const double *dot)
{
    double rz = dot[YK_DOT_RZ], old = s->rz;
    s->shift = dot[YK_DOT_Z] * limits->rows_inverse;
    s->rr = dot[YK_DOT_RR];
    s->iteration++;
    if (!isfinite(s->rr) || !isfinite(rz)) {
        s->stop = YK_CG_NOT_FINITE;
        return;
    }
    double change = limits->flexible ? -s->alpha * dot[YK_DOT_ZQ] : rz;
    s->beta = change / old;
    if (!isfinite(s->beta)) s->beta = 0.0; /* old is 0: nothing was left before */
    s->rz = rz;
    if (yk_cg_far_from_limits(limits, s->rr) && rz > 0.0) return;
    double norm = sqrt(s->rr);
    if (norm <= limits->bound && s->iteration % limits->check_every == 0)
        s->stop = YK_CG_CANDIDATE;
    else if (norm > limits->diverged)
        s->stop = YK_CG_DIVERGED;
    else if (rz <= 0.0 && s->rr > YK_CG_NOTHING_LEFT)
        s->stop = YK_CG_PRECONDITIONER;
}

#endif
