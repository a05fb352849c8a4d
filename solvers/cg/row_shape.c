/* SPDX-License-Identifier: BSD-3-Clause */
/* row_shape.c: one walk over the row starts, by all threads: a large matrix has millions. */
#include "solvers/cg/row_shape.h"

#include <stdatomic.h>

#include "lib/threads.h"

typedef struct walk {
    const yk_csr *csr;
    _Atomic int64_t longest, columns,
        sorted; /* columns: of rows in place; sorted: of sorted ones */
} walk;

/* Rows of a chunk by their length; a longer one than these is in no SELL. */
typedef struct lengths {
    int rows[YK_ROW_SEGMENT + 1];
} lengths;

static int64_t width_of_slice(const yk_csr *csr, int64_t slice, lengths *of_chunk)
{
    int64_t first = slice * YK_SELL_ROWS, last = first + YK_SELL_ROWS, width = 0;
    if (last > csr->rows) last = csr->rows;
    for (int64_t i = first; i < last; i++) {
        int64_t length = yk_row_start(csr, i + 1) - yk_row_start(csr, i);
        if (length > width) width = length;
        of_chunk->rows[length < YK_ROW_SEGMENT ? length : YK_ROW_SEGMENT]++;
    }
    return width;
}

/* Columns of the chunk's slices once its rows are sorted: each is as wide as its first row. */
static int64_t sorted_columns(const lengths *of_chunk, int64_t longest)
{
    int64_t columns = 0, before = 0;
    for (int64_t length = longest; length > 0; length--) {
        int64_t behind = before + of_chunk->rows[length];
        columns += length * (yk_sell_slices(behind) - yk_sell_slices(before));
        before = behind;
    }
    return columns;
}

static void keep_largest(_Atomic int64_t *largest, int64_t value)
{
    int64_t seen = atomic_load(largest);
    while (value > seen && !atomic_compare_exchange_weak(largest, &seen, value)) continue;
}

static void walk_chunks(void *user, int64_t first, int64_t last)
{
    enum { OF_CHUNK = YK_CHUNK / YK_SELL_ROWS };
    walk *w = user;
    int64_t longest = 0, columns = 0, sorted = 0, slices = yk_sell_slices(w->csr->rows);
    for (int64_t chunk = first; chunk < last; chunk++) {
        lengths of_chunk = {{0}};
        int64_t widest = 0;
        for (int64_t s = chunk * OF_CHUNK; s < (chunk + 1) * OF_CHUNK && s < slices; s++) {
            int64_t width = width_of_slice(w->csr, s, &of_chunk);
            if (width > widest) widest = width;
            columns += width;
        }
        if (widest > longest) longest = widest;
        sorted += sorted_columns(&of_chunk, widest < YK_ROW_SEGMENT ? widest : YK_ROW_SEGMENT);
    }
    keep_largest(&w->longest, longest);
    atomic_fetch_add(&w->columns, columns);
    atomic_fetch_add(&w->sorted, sorted);
}

yk_row_shape yk_shape_of_rows(const yk_csr *csr, int threads)
{
    walk w = {csr, 0, 0, 0};
    int64_t slices = yk_sell_slices(csr->rows);
    yk_parallel_for(threads, (csr->rows + YK_CHUNK - 1) / YK_CHUNK, 512, walk_chunks, &w);
    yk_row_shape shape = {.longest = w.longest, .slices = slices, .sell_columns = w.columns};
    if (yk_sell_takes_one_width(shape.longest, slices, w.columns)) {
        shape.sell_columns = shape.longest * slices;
    } else if (shape.longest <= YK_ROW_SEGMENT &&
               yk_sell_takes_sorting(shape.longest, slices, w.columns, w.sorted)) {
        shape.sell_columns = w.sorted;
        shape.sell_order = yk_sell_order_length(csr->rows);
    }
    shape.sell_padding = csr->nonzeros > 0
                             ? (double)(YK_SELL_ROWS * shape.sell_columns) / (double)csr->nonzeros
                             : 1.0;
    return shape;
}
