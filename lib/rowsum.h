/* SPDX-License-Identifier: BSD-3-Clause */
/* rowsum.h: the one order in which a row's entries are summed, by CPU and GPU alike.
 *
 * The order depends on the row's length alone:
 *   up to 8 entries     one chain of fma in column order, from +0.0;
 *   up to 256           8 lanes: lane j chains entries j, j + 8, j + 16, ... from +0.0; then the
 *                       lanes are added as (j, j + 4), (j, j + 2), (0, 1);
 *   longer              segments of 256 entries, each summed as a row of its own; the segments are
 *                       the leaves of sum.h's tree.
 * A thread, 8 threads, a warp or a SIMD register can each follow it: 8 lanes are one AVX-512
 * register, two of AVX2, or 1, 2, 4 or 8 GPU threads; segments let several warps share a row.
 *
 * With `fold`, the vector is z + beta p, made on the way: two gathers instead of a pass over
 * memory. */
#ifndef YK_ROWSUM_H
#define YK_ROWSUM_H

#include "lib/sum.h"

#if !defined(__CUDACC__) && (defined(__AVX512F__) || defined(__AVX2__))
#include <immintrin.h>
#endif

enum {
    YK_ROW_CHAIN = 8,
    YK_ROW_SEGMENT = 256,
    YK_ROW_LANES = 8,
    YK_ROW_AHEAD = 512 /* entries that a CPU asks for in advance: a core's own prefetcher stops at
                        * each page of 4 KiB */
};

YK_INLINE void yk_prefetch_entries(const int32_t *column, const double *value)
{
    (void)column, (void)value;
    YK_PREFETCH(value, YK_ROW_AHEAD * sizeof(double));
    YK_PREFETCH(column, YK_ROW_AHEAD * sizeof(int32_t));
}

/* The vector that a row is multiplied with: z, or with fold z + beta p. */
typedef struct yk_operand {
    const double *z, *p;
    double beta;
} yk_operand;

YK_INLINE double yk_operand_at(const yk_operand *v, int32_t column, int fold)
{
    return fold ? yk_fma(v->beta, v->p[column], v->z[column]) : v->z[column];
}

YK_INLINE double yk_sum_chain(const int32_t *column, const double *value, int64_t count,
                              const yk_operand *v, int fold)
{
    double sum = 0.0;
    yk_prefetch_entries(column, value);
    for (int64_t k = 0; k < count; k++)
        sum = yk_fma(value[k], yk_operand_at(v, column[k], fold), sum);
    return sum;
}

#if !defined(__CUDACC__) && defined(__AVX512F__)

YK_INLINE __m512d yk_gather8(const yk_operand *v, __mmask8 mask, __m256i at, int fold)
{
    __m512d zero = _mm512_setzero_pd();
    __m512d z = _mm512_mask_i32gather_pd(zero, mask, at, v->z, 8);
    if (!fold) return z;
    __m512d p = _mm512_mask_i32gather_pd(zero, mask, at, v->p, 8);
    return _mm512_fmadd_pd(_mm512_set1_pd(v->beta), p, z);
}

YK_INLINE double yk_sum_lanes(const int32_t *column, const double *value, int64_t count,
                              const yk_operand *v, int fold)
{
    __m512d lane = _mm512_setzero_pd();
    int64_t k = 0;
    for (; k + 8 <= count; k += 8) {
        __m256i at = _mm256_loadu_si256((const __m256i *)(column + k));
        yk_prefetch_entries(column + k, value + k);
        lane = _mm512_fmadd_pd(_mm512_loadu_pd(value + k), yk_gather8(v, 0xff, at, fold), lane);
    }
    if (k < count) {
        __mmask8 mask = (__mmask8)((1u << (count - k)) - 1);
        __m256i at = _mm256_maskz_loadu_epi32(mask, column + k);
        lane = _mm512_mask3_fmadd_pd(_mm512_maskz_loadu_pd(mask, value + k),
                                     yk_gather8(v, mask, at, fold), lane, mask);
    }
    __m256d four = _mm256_add_pd(_mm512_castpd512_pd256(lane), _mm512_extractf64x4_pd(lane, 1));
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

#else

/* The portable twin, and the definition. */
YK_INLINE double yk_sum_lanes(const int32_t *column, const double *value, int64_t count,
                              const yk_operand *v, int fold)
{
    double lane[YK_ROW_LANES] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    int64_t k = 0;
    for (; k + YK_ROW_LANES <= count; k += YK_ROW_LANES) {
        yk_prefetch_entries(column + k, value + k);
        for (int j = 0; j < YK_ROW_LANES; j++)
            lane[j] = yk_fma(value[k + j], yk_operand_at(v, column[k + j], fold), lane[j]);
    }
    for (int j = 0; k + j < count; j++)
        lane[j] = yk_fma(value[k + j], yk_operand_at(v, column[k + j], fold), lane[j]);
    for (int j = 0; j < 4; j++) lane[j] += lane[j + 4];
    return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

#endif

YK_INLINE double yk_sum_segment(const int32_t *column, const double *value, int64_t count,
                                const yk_operand *v, int fold)
{
    if (count <= YK_ROW_CHAIN) return yk_sum_chain(column, value, count, v, fold);
    return yk_sum_lanes(column, value, count, v, fold);
}

YK_INLINE double yk_sum_long(const int32_t *column, const double *value, int64_t count,
                             const yk_operand *v, int fold)
{
    yk_tree tree;
    double total;
    yk_tree_begin(&tree, 0, 1);
    for (int64_t k = 0; k < count; k += YK_ROW_SEGMENT) {
        int64_t length = count - k < YK_ROW_SEGMENT ? count - k : YK_ROW_SEGMENT;
        double sum = yk_sum_segment(column + k, value + k, length, v, fold);
        yk_tree_add(&tree, 0, &sum);
    }
    yk_tree_total(&tree, &total);
    return total;
}

/* sum over k of value[k] * operand[column[k]], k in [0, count). */
YK_INLINE double yk_row_sum(const int32_t *column, const double *value, int64_t count,
                            const yk_operand *v, int fold)
{
    if (count <= YK_ROW_SEGMENT) return yk_sum_segment(column, value, count, v, fold);
    return yk_sum_long(column, value, count, v, fold);
}

#endif
