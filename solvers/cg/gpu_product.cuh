/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_product.cuh: a row times the operand, in the order of rowsum.h, by one thread a row of SELL
 * or by eight threads a row of CSR. */
#ifndef YK_GPU_PRODUCT_CUH
#define YK_GPU_PRODUCT_CUH

#include <cuda_runtime.h>

#include "solvers/cg/gpu.h"

enum { BLOCK = YK_CHUNK, WARP = 32, ALL = ~0 };

/* Eight entries at stride 32, loaded before any is used, so that their latencies overlap. Those
 * from `count` on are not read. */
template <int FOLD, bool FULL>
static __device__ __forceinline__ void load_eight(const int32_t *__restrict__ column,
                                                  const double *__restrict__ value, int count,
                                                  const yk_operand &v, double *a, double *x)
{
    int32_t at[YK_ROW_LANES];
#pragma unroll
    for (int j = 0; j < YK_ROW_LANES; j++)
        if (FULL || j < count) at[j] = __ldcs(column + WARP * j);
#pragma unroll
    for (int j = 0; j < YK_ROW_LANES; j++)
        if (FULL || j < count) a[j] = __ldcs(value + WARP * j);
#pragma unroll
    for (int j = 0; j < YK_ROW_LANES; j++)
        if (FULL || j < count) x[j] = yk_operand_at(&v, at[j], FOLD);
}

template <int FOLD>
static __device__ __forceinline__ double sell_chain(const int32_t *__restrict__ column,
                                                    const double *__restrict__ value, int readable,
                                                    int length, const yk_operand &v)
{
    double a[YK_ROW_LANES], x[YK_ROW_LANES], sum = 0.0;
    load_eight<FOLD, false>(column, value, readable, v, a, x);
#pragma unroll
    for (int j = 0; j < YK_ROW_CHAIN; j++)
        if (j < length) sum = yk_fma(a[j], x[j], sum);
    return sum;
}

/* Up to 256 entries at stride 32 by one thread: a chain, or the 8 lanes. `readable` entries, at
 * least the row's length, may be read: where that is known before the length, loads start sooner.
 */
template <int FOLD>
static __device__ __forceinline__ double sell_product(const int32_t *__restrict__ column,
                                                      const double *__restrict__ value,
                                                      int readable, int length, const yk_operand &v)
{
    if (length <= YK_ROW_CHAIN)
        return sell_chain<FOLD>(column, value, readable < YK_ROW_CHAIN ? readable : YK_ROW_CHAIN,
                                length, v);
    double lane[YK_ROW_LANES] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    double a[YK_ROW_LANES], x[YK_ROW_LANES];
    int k = 0;
    for (; k + YK_ROW_LANES <= readable; k += YK_ROW_LANES) {
        load_eight<FOLD, true>(column + WARP * k, value + WARP * k, 0, v, a, x);
#pragma unroll
        for (int j = 0; j < YK_ROW_LANES; j++)
            if (k + j < length) lane[j] = yk_fma(a[j], x[j], lane[j]);
    }
    load_eight<FOLD, false>(column + WARP * k, value + WARP * k, readable - k, v, a, x);
#pragma unroll
    for (int j = 0; j < YK_ROW_LANES; j++)
        if (k + j < length) lane[j] = yk_fma(a[j], x[j], lane[j]);
#pragma unroll
    for (int j = 0; j < 4; j++) lane[j] += lane[j + 4];
    return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

/* Up to 256 entries by the eight threads of a group: all get the sum. */
template <int FOLD>
static __device__ __forceinline__ double group_product(const int32_t *__restrict__ column,
                                                       const double *__restrict__ value,
                                                       int64_t length, yk_operand v)
{
    const unsigned lane = threadIdx.x % YK_ROW_LANES;
    const unsigned mask = 0xffu << (threadIdx.x % WARP - lane);
    if (length <= YK_ROW_CHAIN) {
        double a = 0.0, x = 0.0, sum = 0.0;
        if (lane < length) {
            a = value[lane];
            x = yk_operand_at(&v, column[lane], FOLD);
        }
        for (int k = 0; k < length; k++) {
            double ak = __shfl_sync(mask, a, k, YK_ROW_LANES);
            double xk = __shfl_sync(mask, x, k, YK_ROW_LANES);
            sum = yk_fma(ak, xk, sum);
        }
        return sum;
    }
    double sum = 0.0;
#pragma unroll 4
    for (int64_t k = lane; k < length; k += YK_ROW_LANES)
        sum = yk_fma(value[k], yk_operand_at(&v, column[k], FOLD), sum);
    sum += __shfl_xor_sync(mask, sum, 4, YK_ROW_LANES);
    sum += __shfl_xor_sync(mask, sum, 2, YK_ROW_LANES);
    return sum + __shfl_xor_sync(mask, sum, 1, YK_ROW_LANES);
}

/* A row of several segments by the whole block: each group takes a segment of a round of 32, whose
 * sums are a node of level 5. */
template <int FOLD>
static __device__ double block_product(const int32_t *column, const double *value, int64_t length,
                                       yk_operand v)
{
    __shared__ double segment[BLOCK / YK_ROW_LANES];
    __shared__ double total;
    __shared__ yk_tree tree;
    const int group = threadIdx.x / YK_ROW_LANES, groups = BLOCK / YK_ROW_LANES;
    const int64_t segments = (length + YK_ROW_SEGMENT - 1) / YK_ROW_SEGMENT;
    if (threadIdx.x == 0) yk_tree_begin(&tree, 0, 1);
    for (int64_t round = 0; round < segments; round += groups) {
        int64_t from = (round + group) * YK_ROW_SEGMENT;
        int64_t count = length - from < YK_ROW_SEGMENT ? length - from : YK_ROW_SEGMENT;
        if (count > 0) {
            double sum = group_product<FOLD>(column + from, value + from, count, v);
            if (threadIdx.x % YK_ROW_LANES == 0) segment[group] = sum;
        }
        __syncthreads();
        if (threadIdx.x == 0)
            for (int s = 0; s < groups && round + s < segments; s++)
                yk_tree_add(&tree, 0, &segment[s]);
        __syncthreads();
    }
    if (threadIdx.x == 0) yk_tree_total(&tree, &total);
    __syncthreads();
    double result = total;
    __syncthreads();
    return result;
}

/* Products of the chunk's rows, row threadIdx.x's for each thread; every thread calls. */
template <int FOLD>
static __device__ double csr_products(const yk_csr *csr, int64_t first, int rows, yk_operand v)
{
    __shared__ double product[BLOCK];
    const int group = threadIdx.x / YK_ROW_LANES, groups = BLOCK / YK_ROW_LANES;
    int any_long = 0;
    for (int i = group; i < rows; i += groups) {
        int64_t from = yk_row_start(csr, first + i), to = yk_row_start(csr, first + i + 1);
        if (to - from > YK_ROW_SEGMENT) {
            any_long = 1;
            continue;
        }
        double sum = group_product<FOLD>(csr->column + from, csr->value + from, to - from, v);
        if (threadIdx.x % YK_ROW_LANES == 0) product[i] = sum;
    }
    if (__syncthreads_or(any_long)) {
        for (int i = 0; i < rows; i++) {
            int64_t from = yk_row_start(csr, first + i), to = yk_row_start(csr, first + i + 1);
            if (to - from <= YK_ROW_SEGMENT) continue;
            double sum = block_product<FOLD>(csr->column + from, csr->value + from, to - from, v);
            if (threadIdx.x == 0) product[i] = sum;
        }
        __syncthreads();
    }
    return product[threadIdx.x];
}

/* The product of row first + threadIdx.x; rows: of the chunk, 1 to 256; every thread calls. */
template <int TASK, int FORMAT>
static __device__ __forceinline__ double chunk_product(const yk_cg_rows &c, const yk_sell &sell,
                                                       int64_t first, int rows)
{
    constexpr int fold = TASK == YK_TASK_FOLD;
    yk_operand v = yk_task_operand(TASK, &c);
    if (FORMAT == YK_GPU_CSR) return csr_products<fold>(&c.csr, first, rows, v);
    int64_t i = first + threadIdx.x;
    if ((int)threadIdx.x >= rows) return 0.0;
    int length = (int)(yk_row_start(&c.csr, i + 1) - yk_row_start(&c.csr, i));
    int64_t slice = sell.width > 0 ? i / WARP * WARP * sell.width : sell.slice[i / WARP];
    int readable = sell.width > 0 ? sell.width : length;
    const int32_t *column = sell.column + slice + i % WARP;
    const double *value = sell.value + slice + i % WARP;
    if (fold) asm volatile("prefetch.global.L1 [%0];" ::"l"(c.x + i));
    if (FORMAT == YK_GPU_SELL8) return sell_chain<fold>(column, value, readable, length, v);
    return sell_product<fold>(column, value, readable, length, v);
}

#endif
