/* SPDX-License-Identifier: BSD-3-Clause */
/* row_shape.h: what the lengths of a matrix's rows say about its formats on a GPU. */
#ifndef YK_CG_ROW_SHAPE_H
#define YK_CG_ROW_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "solvers/cg/gpu.h"

typedef struct yk_row_shape {
    int64_t longest; /* row */
    int64_t slices;
    int64_t sell_columns; /* of all slices, 32 entries each, padding included */
    int64_t sell_order;   /* bytes of the order of sorted rows; 0: they lie in place */
    double sell_padding;  /* entries of SELL for each that is there; 1 without any */
} yk_row_shape;

yk_row_shape yk_shape_of_rows(const yk_csr *csr, int threads);

/* Up to this much more padding buys slices of one width, so that no entry's address waits for a
 * load; columns: without it. */
#define YK_ONE_WIDTH_PADDING 1.05

static inline bool yk_sell_takes_one_width(int64_t widest, int64_t slices, int64_t columns)
{
    return widest > 0 && (double)(widest * slices) <= YK_ONE_WIDTH_PADDING * (double)columns;
}

/* Rows are sorted where that saves at least this much: their order costs a byte a row. */
#define YK_SORTING_SAVES 0.05

/* Columns of rows in place, and of sorted ones. */
static inline bool yk_sell_takes_sorting(int64_t widest, int64_t slices, int64_t in_place,
                                         int64_t sorted)
{
    return widest > 0 && !yk_sell_takes_one_width(widest, slices, in_place) &&
           (double)sorted <= (1.0 - YK_SORTING_SAVES) * (double)in_place;
}

/* Of the slices' widths and offsets, until the format is made. */
static inline size_t yk_sell_slice_bytes(int64_t slices)
{
    return (size_t)(2 * slices + 1) * sizeof(int64_t);
}

/* Bytes in memory of the matrix as CSR beside its row starts, and as SELL. */
static inline size_t yk_csr_entry_bytes(const yk_csr *csr)
{
    return (size_t)csr->nonzeros * (sizeof *csr->column + sizeof *csr->value);
}

/* Entries that are on a device at a time on their way into SELL, where CSR is not there as a whole:
 * those of several chunks, which have 256 rows of up to 256. */
enum { YK_PIECE_ENTRIES = 1 << 19 };

static inline int64_t yk_piece_entries(int64_t nonzeros)
{
    return nonzeros < YK_PIECE_ENTRIES ? nonzeros : YK_PIECE_ENTRIES;
}

static inline size_t yk_sell_memory(const yk_row_shape *shape)
{
    return (size_t)shape->sell_columns * YK_SELL_BYTES + yk_sell_slice_bytes(shape->slices) +
           (size_t)shape->sell_order;
}

#endif
