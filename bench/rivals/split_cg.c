/* SPDX-License-Identifier: BSD-3-Clause */
/* split_cg.c: three passes an iteration beside the product: p.q; x and r with r.z; the direction. z
 * is never stored. */
#include "bench/rivals/split_cg.h"

#include <stddef.h>

static inline double z_of(const split_cg *cg, int64_t i)
{
    return cg->inverse_diagonal ? cg->inverse_diagonal[i] * cg->r[i] : cg->r[i];
}

void split_cg_begin(split_cg *cg)
{
    double rz = 0.0;
#pragma omp parallel for num_threads(cg->threads) schedule(static) reduction(+ : rz)
    for (int64_t i = 0; i < cg->rows; i++) {
        cg->x[i] = 0.0;
        cg->r[i] = cg->b[i];
        cg->p[i] = z_of(cg, i);
        cg->minus_q[i] = 0.0;
        rz += cg->r[i] * cg->p[i];
    }
    cg->rz = rz;
}

static double minus_pq(const split_cg *cg)
{
    double sum = 0.0;
#pragma omp parallel for simd num_threads(cg->threads) schedule(static) reduction(+ : sum)
    for (int64_t i = 0; i < cg->rows; i++) sum += cg->p[i] * cg->minus_q[i];
    return sum;
}

static double update(const split_cg *cg, double alpha)
{
    double sum = 0.0;
#pragma omp parallel for simd num_threads(cg->threads) schedule(static) reduction(+ : sum)
    for (int64_t i = 0; i < cg->rows; i++) {
        cg->x[i] += alpha * cg->p[i];
        cg->r[i] += alpha * cg->minus_q[i];
        sum += cg->r[i] * z_of(cg, i);
    }
    return sum;
}

static void next_direction(const split_cg *cg, double beta)
{
#pragma omp parallel for simd num_threads(cg->threads) schedule(static)
    for (int64_t i = 0; i < cg->rows; i++) cg->p[i] = z_of(cg, i) + beta * cg->p[i];
}

int split_cg_run(split_cg *cg, int iterations)
{
    for (int k = 0; k < iterations; k++) {
        if (cg->multiply(cg->user)) return 1;
        double curvature = -minus_pq(cg);
        double before = cg->rz, alpha = curvature != 0.0 ? before / curvature : 0.0;
        cg->rz = update(cg, alpha);
        next_direction(cg, before != 0.0 ? cg->rz / before : 0.0);
    }
    return 0;
}
