/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu.h: what the GPU engine's C files and its kernels share. No CUDA header: a stream is a
 * void *, an error an int (cudaError_t). */
#ifndef YK_CG_GPU_H
#define YK_CG_GPU_H

#include <stddef.h>

#include "solvers/cg/passes.h"
#include "solvers/cg/scalars_one_sum.h"

/* Slices of 32 rows, column by column (SELL-32-256; Kreutzer et al., SIAM J. Sci. Comput. 36,
 * 2014). A column is 384 bytes, aligned to 128: 32 column numbers, then 32 values, one a row;
 * column k of slice s is at 384 (columns of the slices before s, and k). So any run of columns is
 * one copy, and what a warp of one row a thread reads is lines. Padding is column -1, value 0, and
 * is never added: no row's length is needed. Where it saves enough, rows lie by length, longest
 * first, within their chunk alone, so that a chunk's sums do not notice. */
typedef struct yk_sell {
    int width;            /* of all slices; 0: they differ */
    const int64_t *slice; /* [slices + 1] columns before each slice, where width is 0 */
    const char *column;   /* [columns][384] */
    /* [rows, up to whole chunks] order[256 c + t]: which row of chunk c lies at lane t % 32 of its
     * slice t / 32; rows behind the last lie last. NULL: rows lie in place */
    const unsigned char *order;
    int64_t kept; /* chunks from this one on lie elsewhere: */
    int64_t jump; /* bytes from where their columns would lie; 0: they lie there */
} yk_sell;

/* A CSR whose rows from `kept` on, a multiple of 256, have their entries elsewhere: bytes from
 * where their columns and values would lie. */
typedef struct yk_csr_spill {
    int64_t kept, column_jump, value_jump;
} yk_csr_spill;

enum { YK_SELL_ROWS = 32, YK_SELL_BYTES = 384, YK_SELL_VALUES = 128 /* where a column's begin */ };

YK_INLINE int64_t yk_sell_slices(int64_t rows)
{
    return (rows + YK_SELL_ROWS - 1) / YK_SELL_ROWS;
}

/* The row that lies at a place; a place is 32 slice + lane. */
YK_INLINE int64_t yk_sell_row(const yk_sell *sell, int64_t place)
{
    return sell->order ? place - place % YK_CHUNK + sell->order[place] : place;
}

/* Of yk_sell's order. */
YK_INLINE int64_t yk_sell_order_length(int64_t rows)
{
    return (rows + YK_CHUNK - 1) / YK_CHUNK * YK_CHUNK;
}

/* Columns before a slice. */
YK_INLINE int64_t yk_sell_before(const yk_sell *sell, int64_t slice)
{
    return sell->width > 0 ? slice * sell->width : sell->slice[slice];
}

/* Column `at`, by its number in all, which is of a chunk. */
YK_INLINE const char *yk_sell_at(const yk_sell *sell, int64_t chunk, int64_t at)
{
    const char *column = sell->column + at * YK_SELL_BYTES;
    return chunk < sell->kept ? column : column + sell->jump;
}

/* SELL8: SELL of one width up to 8, so that every row is a chain and needs few registers. */
typedef enum yk_gpu_format { YK_GPU_CSR, YK_GPU_SELL, YK_GPU_SELL8 } yk_gpu_format;

/* Partial sums on their way to one total. Level 0 has a node a block, which takes a power of two of
 * chunks; a node of level l + 1 is a group of 2048 of level l; whoever completes a group goes on
 * with it. Three levels are enough for 2^31 rows. */
enum { YK_SUM_LEVELS = 3, YK_SUM_GROUP = 2048, YK_BLOCK_CHUNKS = 64 /* at most */ };

typedef struct yk_gpu_sums {
    int apart; /* sums of a pass stay nodes of level 0, and of a last block that has fewer chunks
                * than the others the sums of its chunks: see gpu_meet.h; 2: chunks of all blocks */
    int64_t first_chunk; /* of the system, that the rows begin with; other than 0 only apart, and
                          * where it is no multiple of every block's chunks only in way 2 */
    double *node[YK_SUM_LEVELS];      /* [nodes][dots of the task] */
    unsigned *arrived[YK_SUM_LEVELS]; /* [groups], 0 between passes */
    double *total;                    /* [YK_DOTS], of tasks outside the loop */
    unsigned long long *largest;      /* bits of the largest magnitude */
} yk_gpu_sums;

/* How a pass goes over the chunks. */
typedef struct yk_gpu_walk {
    int by_warps; /* a warp takes a chunk, 8 rows a lane: where there are chunks for all warps; else
                   * a block does, a row a thread */
    int streams;  /* what was compiled for this device has bulk copies: SELL comes by them */
    int overlaps; /* a pass may begin while the one before ends; only where it streams */
    int chunks;   /* that a block takes one after another, by blocks: a power of two up to 8 */
    int backwards;           /* last rows first: over what the pass before left in the L2 cache */
    int first_block, blocks; /* of all blocks these; blocks 0: all. Only apart */
    int multiprocessors;
    int one_sum; /* the recurrence is one of those with one sum: their kernels are needed */
} yk_gpu_walk;

enum { YK_GPU_HISTORY = 4096 /* iterations whose residual one advance can record */ };

/* The loop's state on the device: derived by the thread that completes a sum. */
typedef struct yk_gpu_loop {
    yk_cg_scalars s;
    yk_cg_drift drift; /* of recurrences with one sum */
    int64_t left;      /* iterations still to do in this advance */
    int halt;          /* s.stop, or none left: passes do nothing */
    int folds;         /* done in this advance: each swaps p and p_old */
    unsigned meetings; /* with other parts, held so far: the number of the last */
    yk_cg_limits limits;
    int64_t recorded;
    double rr[YK_GPU_HISTORY];
} yk_gpu_loop;

/* Its first fields, which the host looks at. */
#define YK_GPU_LOOP_HEAD offsetof(yk_gpu_loop, limits)

typedef struct yk_gpu_view {
    yk_cg_rows rows; /* device pointers */
    yk_sell sell;
    yk_gpu_format format;
    yk_gpu_sums sums;
    yk_gpu_walk walk;
    yk_csr_spill spill; /* of rows.csr */
} yk_gpu_view;

YK_INLINE int64_t yk_gpu_chunks(int64_t rows)
{
    return (rows + YK_CHUNK - 1) / YK_CHUNK;
}

#ifdef __cplusplus
extern "C" {
#endif

/* Chunks that a full block of the task takes. */
int yk_gpu_block_chunks(const yk_gpu_view *view, int task);

/* Launches one task on the stream; loop: its scalars and end, or NULL outside the loop. */
int yk_gpu_launch(const yk_gpu_view *view, int task, yk_gpu_loop *loop, void *stream);

/* SELL from CSR, on the device: first the widths of the slices, of rows in place into in_place[]
 * and of sorted ones into sorted[], from which the host makes their offsets; the order, if rows
 * shall be sorted; then the columns, padding included, of the chunks [first, last), whose entries
 * alone csr's arrays need to hold, from `entry` on. */
int yk_gpu_sell_widths(const yk_csr *csr, int64_t *in_place, int64_t *sorted, void *stream);
int yk_gpu_sell_order(const yk_csr *csr, unsigned char *order, void *stream);
int yk_gpu_sell_fill(const yk_csr *csr, const yk_sell *sell, int64_t first, int64_t last,
                     int64_t entry, void *stream);

/* Whether what was compiled for this device has bulk copies and overlapping passes (sm_90). */
int yk_gpu_has_streams(int *streams);

/* All kernels of passes that go this way are loaded, in any format, and those that meet: nothing is
 * when a kernel that waits is running. */
int yk_gpu_load_kernels(const yk_gpu_walk *walk);

#ifdef __cplusplus
}
#endif

#endif
