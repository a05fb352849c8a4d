/* SPDX-License-Identifier: BSD-3-Clause */
/* row_shape.c: one walk over the row starts, by all threads: a large matrix has millions. */
#include "solvers/cg/row_shape.h"

#include <stdatomic.h>

#include "lib/threads.h"

typedef struct walk {
    const yk_csr *csr;
    _Atomic int64_t longest, columns;
} walk;

static int64_t width_of_slice(const yk_csr *csr, int64_t slice)
{
    int64_t first = slice * YK_SELL_ROWS, last = first + YK_SELL_ROWS, width = 0;
    if (last > csr->rows) last = csr->rows;
    for (int64_t i = first; i < last; i++) {
        int64_t length = yk_row_start(csr, i + 1) - yk_row_start(csr, i);
        if (length > width) width = length;
    }
    return width;
}

static void keep_largest(_Atomic int64_t *largest, int64_t value)
{
    int64_t seen = atomic_load(largest);
    while (value > seen && !atomic_compare_exchange_weak(largest, &seen, value)) continue;
}

static void walk_slices(void *user, int64_t first, int64_t last)
{
    walk *w = user;
    int64_t longest = 0, columns = 0;
    for (int64_t slice = first; slice < last; slice++) {
        int64_t width = width_of_slice(w->csr, slice);
        if (width > longest) longest = width;
        columns += width;
    }
    keep_largest(&w->longest, longest);
    atomic_fetch_add(&w->columns, columns);
}

yk_row_shape yk_shape_of_rows(const yk_csr *csr, int threads)
{
    walk w = {csr, 0, 0};
    int64_t slices = yk_sell_slices(csr->rows);
    yk_parallel_for(threads, slices, 4096, walk_slices, &w);
    yk_row_shape shape = {.longest = w.longest, .slices = slices, .sell_columns = w.columns};
    if (yk_sell_takes_one_width(shape.longest, slices, shape.sell_columns))
        shape.sell_columns = shape.longest * slices;
    shape.sell_padding = csr->nonzeros > 0
                             ? (double)(YK_SELL_ROWS * shape.sell_columns) / (double)csr->nonzeros
                             : 1.0;
    return shape;
}
