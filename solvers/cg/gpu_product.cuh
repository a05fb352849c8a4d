/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_product.cuh: a row times the operand, in the order of rowsum.h, by one thread a row of SELL
 * or by eight threads a row of CSR. */
#ifndef YK_GPU_PRODUCT_CUH
#define YK_GPU_PRODUCT_CUH

#include "solvers/cg/gpu_ring.cuh"

enum { BLOCK = YK_CHUNK };

/* ------------------------------------------------------------------- SELL */

/* SELL columns where they lie. What a ring of gpu_ring.cuh also is: the next columns, of which
 * `need` says how many must be there, and `next` how many were read. */
struct columns_in_place {
    const char *at;
    int lane;

    __device__ __forceinline__ int32_t column(int j) const
    {
        return __ldcs((const int32_t *)(at + j * YK_SELL_BYTES) + lane);
    }

    __device__ __forceinline__ double value(int j) const
    {
        return __ldcs((const double *)(at + j * YK_SELL_BYTES + YK_SELL_VALUES) + lane);
    }

    __device__ __forceinline__ void need(int) const
    {
    }

    __device__ __forceinline__ void next(int count)
    {
        at += count * YK_SELL_BYTES;
    }
};

/* The row's entries in the next columns, N or (SOME) fewer: column numbers, -1 where it has none,
 * the operand there, and values. No load hangs on a condition, so that all are under way before one
 * is used: where there is no entry, row 0's operand is read and not added. */
template <int N> struct entries {
    int32_t at[N];
    double x[N], a[N];

    template <int FOLD, bool SOME, class COLUMNS, class OPERAND>
    __device__ __forceinline__ void load(const COLUMNS &columns, int count, const OPERAND &v)
    {
#pragma unroll
        for (int j = 0; j < N; j++) {
            at[j] = columns.column(SOME && j >= count ? 0 : j);
            if (SOME && j >= count) at[j] = -1;
        }
#pragma unroll
        for (int j = 0; j < N; j++) x[j] = yk_operand_at(&v, at[j] < 0 ? 0 : at[j], FOLD);
#pragma unroll
        for (int j = 0; j < N; j++) a[j] = columns.value(SOME && j >= count ? 0 : j);
    }

    __device__ __forceinline__ double add(int j, double sum) const
    {
        if (at[j] >= 0) sum = yk_fma(a[j], x[j], sum);
        return sum;
    }

    __device__ __forceinline__ double chain() const
    {
        double sum = 0.0;
#pragma unroll
        for (int j = 0; j < N && j < YK_ROW_CHAIN; j++) sum = add(j, sum);
        return sum;
    }

    /* k: the first one's place in the row. */
    __device__ __forceinline__ void add_to(double *lane, int k) const
    {
#pragma unroll
        for (int j = 0; j < N; j++)
            lane[(k + j) % YK_ROW_LANES] = add(j, lane[(k + j) % YK_ROW_LANES]);
    }
};

static __device__ __forceinline__ double lanes_total(double *lane)
{
#pragma unroll
    for (int j = 0; j < 4; j++) lane[j] += lane[j + 4];
    return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

/* What was lane 1 is lane 0. */
static __device__ __forceinline__ void turn_lanes(double *lane)
{
    const double first = lane[0];
#pragma unroll
    for (int j = 0; j + 1 < YK_ROW_LANES; j++) lane[j] = lane[j + 1];
    lane[YK_ROW_LANES - 1] = first;
}

/* A slice of up to 8 columns, exactly WIDTH if that is less: every row is a chain. */
template <int FOLD, int WIDTH, class COLUMNS, class OPERAND>
static __device__ __forceinline__ double narrow_product(COLUMNS &columns, int width,
                                                        const OPERAND &v)
{
    entries<WIDTH> e;
    columns.need(width);
    e.template load<FOLD, WIDTH == YK_ROW_CHAIN>(columns, width, v);
    double sum = e.chain();
    columns.next(width);
    return sum;
}

/* The last columns of a slice, fewer than 8. */
template <int FOLD, int N, class COLUMNS, class OPERAND>
static __device__ __forceinline__ void add_rest(COLUMNS &columns, int count, const OPERAND &v,
                                                double *lane)
{
    entries<N> e;
    columns.need(count);
    e.template load<FOLD, true>(columns, count, v);
    e.add_to(lane, 0);
    columns.next(count);
}

/* A slice of 9 to 256 columns. A row that has no entry in column 8 is a chain all the same. */
template <int FOLD, class COLUMNS, class OPERAND>
static __device__ __forceinline__ double wide_product(COLUMNS &columns, int width, const OPERAND &v)
{
    double lane[YK_ROW_LANES] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}, chain = 0.0;
    bool is_chain = false;
    int k = 0;
    for (; k + YK_ROW_LANES <= width; k += YK_ROW_LANES) {
        entries<YK_ROW_LANES> e;
        columns.need(k == 0 ? YK_ROW_CHAIN + 1 : YK_ROW_LANES);
        if (k == 0) is_chain = columns.column(YK_ROW_CHAIN) < 0;
        e.template load<FOLD, false>(columns, YK_ROW_LANES, v);
        if (k == 0 && is_chain) chain = e.chain();
        e.add_to(lane, 0);
        columns.next(YK_ROW_LANES);
    }
    if (width - k > 4)
        add_rest<FOLD, YK_ROW_LANES>(columns, width - k, v, lane);
    else if (width > k)
        add_rest<FOLD, 4>(columns, width - k, v, lane);
    return is_chain ? chain : lanes_total(lane);
}

/* A slice of exactly WIDTH columns, 9 or a few times 9, in parts of 9. */
template <int FOLD, int WIDTH, class COLUMNS, class OPERAND>
static __device__ __forceinline__ double nines_product(COLUMNS &columns, const OPERAND &v)
{
    constexpr int part = part_of<WIDTH>;
    double lane[YK_ROW_LANES] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}, chain = 0.0;
    bool is_chain = false;
#pragma unroll
    for (int k = 0; k < WIDTH; k += part) {
        entries<part> e;
        columns.need(part);
        e.template load<FOLD, false>(columns, part, v);
        if (k == 0) is_chain = e.at[YK_ROW_CHAIN] < 0;
        if (k == 0 && is_chain) chain = e.chain();
        e.add_to(lane, k);
        columns.next(part);
    }
    return is_chain ? chain : lanes_total(lane);
}

/* The same of any multiple of 9. Part by part the next entry's lane is one further: the lanes turn
 * instead, so that each is a register. Their total is the same, bit by bit, wherever they end: it
 * adds opposite lanes, then those at right angles, then the two. */
template <int FOLD, class COLUMNS, class OPERAND>
static __device__ __forceinline__ double any_nines_product(COLUMNS &columns, int width,
                                                           const OPERAND &v)
{
    constexpr int part = part_of<NINES>;
    static_assert(part % YK_ROW_LANES == 1, "a part turns the lanes by one");
    double lane[YK_ROW_LANES] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}, chain = 0.0;
    bool is_chain = false;
#pragma unroll 1
    for (int k = 0; k < width; k += part) {
        entries<part> e;
        columns.need(part);
        if (k == 0) is_chain = columns.column(YK_ROW_CHAIN) < 0;
        e.template load<FOLD, false>(columns, part, v);
        if (k == 0 && is_chain) chain = e.chain();
        e.add_to(lane, 0);
        columns.next(part);
        turn_lanes(lane);
    }
    return is_chain ? chain : lanes_total(lane);
}

/* WIDTH: 0, slices as wide as `width` says, each its own; else all of one width, as gpu_ring.cuh
 * has it. */
template <int FOLD, int WIDTH, class COLUMNS, class OPERAND>
static __device__ __forceinline__ double sell_product(COLUMNS &columns, int width, const OPERAND &v)
{
    if constexpr (WIDTH == NINES)
        return any_nines_product<FOLD>(columns, width, v);
    else if constexpr (WIDTH > YK_ROW_CHAIN)
        return nines_product<FOLD, WIDTH>(columns, v);
    else if constexpr (WIDTH > 0)
        return narrow_product<FOLD, WIDTH>(columns, width, v);
    else if (width > YK_ROW_CHAIN)
        return wide_product<FOLD>(columns, width, v);
    else if (width > 0)
        return narrow_product<FOLD, YK_ROW_CHAIN>(columns, width, v);
    return 0.0;
}

/* -------------------------------------------------------------------- CSR */

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

/* Entries of a row that is kept or, as its whole chunk, is not. */
template <class T> static __device__ __forceinline__ const T *moved(const T *entries, int64_t jump)
{
    return (const T *)((const char *)entries + jump);
}

/* Products of the chunk's rows, row threadIdx.x's for each thread; every thread calls. */
template <int FOLD>
static __device__ double csr_products(const yk_csr *csr, const yk_csr_spill &spill, int64_t first,
                                      int rows, yk_operand v)
{
    const bool kept = first < spill.kept;
    const int32_t *column = moved(csr->column, kept ? 0 : spill.column_jump);
    const double *value = moved(csr->value, kept ? 0 : spill.value_jump);
    __shared__ double product[BLOCK];
    const int group = threadIdx.x / YK_ROW_LANES, groups = BLOCK / YK_ROW_LANES;
    int any_long = 0;
    for (int i = group; i < rows; i += groups) {
        int64_t from = yk_row_start(csr, first + i), to = yk_row_start(csr, first + i + 1);
        if (to - from > YK_ROW_SEGMENT) {
            any_long = 1;
            continue;
        }
        double sum = group_product<FOLD>(column + from, value + from, to - from, v);
        if (threadIdx.x % YK_ROW_LANES == 0) product[i] = sum;
    }
    if (__syncthreads_or(any_long)) {
        for (int i = 0; i < rows; i++) {
            int64_t from = yk_row_start(csr, first + i), to = yk_row_start(csr, first + i + 1);
            if (to - from <= YK_ROW_SEGMENT) continue;
            double sum = block_product<FOLD>(column + from, value + from, to - from, v);
            if (threadIdx.x == 0) product[i] = sum;
        }
        __syncthreads();
    }
    return product[threadIdx.x];
}

/* The chunk's products, each from the thread at whose place the row lies to the row's own. */
static __device__ __forceinline__ double exchanged(const yk_sell &sell, int64_t first,
                                                   double product_here)
{
    __shared__ double product[BLOCK];
    product[sell.order[first + threadIdx.x]] = product_here;
    __syncthreads();
    return product[threadIdx.x];
}

template <int FORMAT> static constexpr int width_known = FORMAT == YK_GPU_SELL8 ? YK_ROW_CHAIN : 0;

/* The product of row first + threadIdx.x; rows: of the chunk, 1 to 256; every thread calls, and
 * meets the others before it calls again. */
template <int TASK, int FORMAT>
static __device__ __forceinline__ double chunk_product(const yk_cg_rows &c, const yk_gpu_view &view,
                                                       int64_t first, int rows)
{
    const yk_sell &sell = view.sell;
    constexpr int fold = TASK == YK_TASK_FOLD;
    yk_operand v = yk_task_operand(TASK, &c);
    if (FORMAT == YK_GPU_CSR) return csr_products<fold>(&c.csr, view.spill, first, rows, v);
    double product = 0.0;
    if ((int)threadIdx.x < rows) {
        int64_t slice = (first + threadIdx.x) / YK_SELL_ROWS, before = yk_sell_before(&sell, slice);
        columns_in_place columns = {yk_sell_at(&sell, first / YK_CHUNK, before),
                                    (int)threadIdx.x % WARP};
        int width = sell.width > 0 ? sell.width : (int)(yk_sell_before(&sell, slice + 1) - before);
        product = sell_product<fold, width_known<FORMAT>>(columns, width, v);
    }
    if constexpr (FORMAT == YK_GPU_SELL)
        if (sell.order) product = exchanged(sell, first, product);
    return product;
}

#endif
