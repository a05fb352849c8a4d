/* SPDX-License-Identifier: BSD-3-Clause */
/* scalars_one_sum.h: the scalars of the recurrences whose sums meet once an iteration, and when
 * what they keep has drifted so far that it must be made anew.
 *
 * As z is p - beta p_old and directions are conjugate, p.Ap = z.Az - beta^2 p_old.Ap_old: alpha
 * and beta follow from r.z and z.Az, which are known together.
 *
 * Round-off: r, s = A p, and with pipelining w = A z and t = A M^-1 s are kept by recurrences, so
 * each parts from what it stands for, by rounding of its own and by what those it is made from have
 * parted (Cools, Yetkin, Agullo, Giraud, Vanroose, SIAM J. Matrix Anal. Appl. 39, 2018; Carson,
 * Rozloznik, Strakos, Tichy, Tuma, SIAM J. Sci. Comput. 40, 2018):
 *     dt = beta dt + e |A| |w|     ds = beta ds + dw + e |A| |r|     dr += alpha ds
 *     dw += alpha dt
 * with e the unit round-off. Norms come from the scalars alone, so no further sum is needed:
 * alpha s = r_old - r, w = s - beta s_old, and |A| is the largest Rayleigh quotient z.Az / r.z so
 * far. Classical CG parts, too, by e |A| alpha |p| an iteration. What is kept is renewed, as van
 * der Vorst and Ye (SIAM J. Sci. Comput. 22, 2000) do with r, when dr is above both that and
 * YK_CG_DRIFT |r|. */
#ifndef YK_CG_SCALARS_ONE_SUM_H
#define YK_CG_SCALARS_ONE_SUM_H

#include "solvers/cg/scalars.h"

/* Which recurrence a plan runs. */
typedef enum yk_recurrence { YK_CLASSICAL, YK_SINGLE, YK_PIPELINED } yk_recurrence;

typedef struct yk_cg_drift {
    int pipelined;
    double t, w, s, r; /* how far these have parted, by the estimate above */
    double classical;  /* how far r of classical CG would have */
    double norm_a;     /* of A, or of M^-1 A */
    double norm_r, norm_s, norm_p;
    int64_t since; /* iterations since all was made anew */
} yk_cg_drift;

#define YK_CG_UNIT_ROUND_OFF 1.1e-16
#define YK_CG_DRIFT          1e-8

/* A curvature by recurrence that is below this share of z.Az has lost half its digits to
 * cancellation: it is taken from p itself then. */
#define YK_CG_TRUSTED_CURVATURE 1e-8

/* And one taken from p is negative by more than round-off beyond this share of its terms. */
#define YK_CG_NEGATIVE_FOR_SURE 1e-10

/* After the step by alpha and beta, as r.r is known: true where all is to be made anew. */
YK_INLINE int yk_cg_drifts(yk_cg_drift *d, double alpha, double beta, double rr, double rayleigh)
{
    double e = YK_CG_UNIT_ROUND_OFF * d->norm_a, norm_r = sqrt(rr);
    double norm_s = alpha > 0.0 ? (d->norm_r + norm_r) / alpha : d->norm_s;
    double norm_w = norm_s + beta * d->norm_s;
    d->norm_p = sqrt(d->norm_r * d->norm_r + beta * beta * d->norm_p * d->norm_p);
    d->classical += e * alpha * d->norm_p;
    d->t = beta * d->t + e * norm_w;
    d->s = beta * d->s + d->w + e * d->norm_r;
    d->r += alpha * d->s;
    if (d->pipelined) d->w += alpha * d->t;
    d->norm_s = norm_s;
    d->norm_r = norm_r;
    if (rayleigh > d->norm_a) d->norm_a = rayleigh;
    d->since++;
    return d->r > YK_CG_DRIFT * norm_r && d->r > d->classical;
}

/* After all was made anew, of which p is kept: pq of the direction z + beta p, from the vectors.
 * Where that direction is not conjugate to p any more, p is given up; not where its curvature is
 * negative beyond round-off, which ends the solve. */
YK_INLINE void yk_cg_after_renewal(yk_cg_scalars *s, yk_cg_drift *d, double zw, const double *of_s)
{
    double twice = 2.0 * s->beta * of_s[YK_DOT_ZS], square = s->beta * s->beta * of_s[YK_DOT_PS];
    double pq = zw + (twice + square), least = YK_CG_TRUSTED_CURVATURE * zw;
    double sizes = fabs(zw) + fabs(twice) + fabs(square);
    if (!(pq > least && zw - square > least) && !(pq < -YK_CG_NEGATIVE_FOR_SURE * sizes)) {
        s->beta = 0.0;
        pq = zw;
    }
    d->t = d->w = d->s = d->r = 0.0;
    d->norm_r = sqrt(s->rr);
    if (s->rz > 0.0 && zw / s->rz > d->norm_a) d->norm_a = zw / s->rz;
    d->since = 0;
    yk_cg_after_multiply(s, pq);
}

/* After the step and its sums, z.w among them: whether to stop, and the next step. */
YK_INLINE void yk_cg_after_sums(yk_cg_scalars *s, yk_cg_drift *d, const yk_cg_limits *limits,
                                const double *dot)
{
    double alpha = s->alpha, beta = s->beta, zw = dot[YK_DOT_ZW];
    yk_cg_after_update(s, limits, dot);
    if (s->stop == YK_CG_NOT_FINITE) return;
    int drifts = yk_cg_drifts(d, alpha, beta, s->rr, s->rz > 0.0 ? zw / s->rz : 0.0);
    if (s->stop) return;
    double pq = zw - s->beta * s->beta * s->pq;
    int doubtful = s->rr > YK_CG_NOTHING_LEFT && isfinite(pq) && pq <= YK_CG_TRUSTED_CURVATURE * zw;
    if (drifts || doubtful)
        s->stop = YK_CG_RENEW;
    else
        yk_cg_after_multiply(s, pq);
}

#endif
