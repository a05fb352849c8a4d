/* SPDX-License-Identifier: BSD-3-Clause */
/* verify.c: the residual again, by a plain product over the canonical matrix. */
#include "bench/verify.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/take.h"

const double RESIDUALS_AGREE = 1e-10;

double relative_to(double norm, double base)
{
    if (norm == 0.0) return 0.0;
    return base > 0.0 && isfinite(base) ? norm / base : NAN;
}

void csr_multiply(const yoke_csr *csr, const double *x, double *y)
{
    for (int64_t i = 0; i < csr->rows; i++) {
        double sum = 0.0;
        for (int64_t k = csr_start(csr, i); k < csr_start(csr, i + 1); k++)
            sum += csr->value[k] * x[csr_column(csr, k)];
        y[i] = sum;
    }
}

double norm_outside(const double *v, int64_t rows, int project)
{
    /* Of millions of terms: a plain double sum would err by more than what is verified. */
    long double total = 0.0L, sum = 0.0L;
    double mean = 0.0, largest = 0.0;
    if (project) {
        for (int64_t i = 0; i < rows; i++) total += v[i];
        mean = (double)(total / rows);
    }
    for (int64_t i = 0; i < rows; i++) {
        double size = fabs(v[i] - mean);
        if (!isfinite(size)) return NAN;
        if (size > largest) largest = size;
    }
    if (largest == 0.0) return 0.0;
    for (int64_t i = 0; i < rows; i++) {
        long double part = (v[i] - mean) / largest;
        sum += part * part;
    }
    return largest * (double)sqrtl(sum);
}

/* The residual, and how far rounding may move each of its elements: a sum of m products errs by at
 * most m u / (1 - m u) of the sum of their sizes (Higham, Accuracy and Stability of Numerical
 * Algorithms, 2nd ed., (3.5)). threads: that the solve had, so they are there. */
static void residual(const source *s, int threads, const double *x, double *r, double *rounding)
{
    const yoke_csr *csr = &s->csr;
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(static) if (csr->rows > 4096)
    for (int64_t i = 0; i < csr->rows; i++) {
        int64_t first = csr_start(csr, i), end = csr_start(csr, i + 1);
        double sum = s->b[i], sizes = fabs(s->b[i]);
        for (int64_t k = first; k < end; k++) {
            double product = csr->value[k] * x[csr_column(csr, k)];
            sum -= product;
            sizes += fabs(product);
        }
        r[i] = sum;
        rounding[i] = (double)(end - first + 2) * (DBL_EPSILON * sizes + DBL_TRUE_MIN);
    }
}

const char *verify(const source *s, const double *x, const yoke_report *report, int project,
                   int fixed)
{
    static char text[256];
    if (report->outcome != YOKE_CONVERGED && !isfinite(report->residual_true)) return NULL;
    double *r = take("the residual", s->rows, sizeof *r);
    double *rounding = take("the residual", s->rows, sizeof *rounding);
    residual(s, report->threads, x, r, rounding);
    double ours = norm_outside(r, s->rows, project), theirs = report->residual_true;
    /* Two computed residuals, each within the rounding of the exact one, and two norms. */
    double allowed = 2.0 * norm_outside(rounding, s->rows, 0) + 1e-12 * theirs;
    free(r);
    free(rounding);
    text[0] = '\0';
    double base = s->b_norm > 0.0 ? s->b_norm : 1.0; /* as records tell residuals */
    if (!(fabs(ours - theirs) <= allowed))
        snprintf(text, sizeof text, "the true residual is %.3e ||b||, reported as %.3e ||b||",
                 ours / base, theirs / base);
    else if (report->outcome == YOKE_CONVERGED && !(ours <= report->bound + allowed))
        snprintf(text, sizeof text,
                 "converged at a true residual of %.3e ||b||, above the bound %.3e ||b||",
                 ours / base, report->bound / base);
    else if (fixed && !(fabs(theirs - report->residual_recursive) <= RESIDUALS_AGREE * s->b_norm))
        snprintf(
            text, sizeof text,
            "true and recursive residual, %.3e ||b|| and %.3e ||b||, differ by more than 1e-10 "
            "||b||",
            theirs / base, report->residual_recursive / base);
    return *text ? text : NULL;
}
