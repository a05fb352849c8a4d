/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu.h: what the GPU engine's C files and its kernels share. No CUDA header: a stream is a
 * void *, an error an int (cudaError_t). */
#ifndef YK_CG_GPU_H
#define YK_CG_GPU_H

#include <stddef.h>

#include "solvers/cg/passes.h"

/* Slices of 32 rows, column by column, so that a warp of one row a thread reads lines
 * (SELL-32; Kreutzer et al., SIAM J. Sci. Comput. 36, 2014; no sorting, so rows keep their order).
 * Entry k of row i is at slice[i / 32] + 32 k + i % 32. Where nearly all slices are as wide as the
 * widest, all are made so: then no entry's address waits for a load. Padding is column 0, value 0;
 * it may be read but is never added. */
typedef struct yk_sell {
    int width;             /* of all slices; 0: they differ */
    const int64_t *slice;  /* [slices], where width is 0 */
    const int32_t *column; /* [entries], padding included */
    const double *value;   /* [entries] */
} yk_sell;

/* SELL8: SELL of one width up to 8, so that every row is a chain and needs few registers. */
typedef enum yk_gpu_format { YK_GPU_CSR, YK_GPU_SELL, YK_GPU_SELL8 } yk_gpu_format;

/* Partial sums on their way to one total. Level 0 has a node a block, which takes `chunks` chunks,
 * a power of two; a node of level l + 1 is a group of 64 of level l; whoever completes a group goes
 * on with it. */
enum { YK_SUM_LEVELS = 5, YK_SUM_GROUP = 64, YK_BLOCK_CHUNKS = 8 /* at most */ };

typedef struct yk_gpu_sums {
    double *node[YK_SUM_LEVELS];      /* [count[level]][YK_DOTS] */
    unsigned *arrived[YK_SUM_LEVELS]; /* [count[level + 1]], 0 between passes */
    unsigned count[YK_SUM_LEVELS];
    int chunks;                  /* of a block */
    double *total;               /* [YK_DOTS], of tasks outside the loop */
    unsigned long long *largest; /* bits of the largest magnitude */
} yk_gpu_sums;

enum { YK_GPU_HISTORY = 4096 /* iterations whose residual one advance can record */ };

/* The loop's state on the device: derived by the thread that completes a sum. */
typedef struct yk_gpu_loop {
    yk_cg_scalars s;
    int64_t left; /* iterations still to do in this advance */
    int halt;     /* s.stop, or none left: passes do nothing */
    int folds;    /* done in this advance: each swaps p and p_old */
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
} yk_gpu_view;

#ifdef __cplusplus
extern "C" {
#endif

/* Launches one task on the stream; loop: its scalars and end, or NULL outside the loop. */
int yk_gpu_launch(const yk_gpu_view *view, int task, yk_gpu_loop *loop, void *stream);

/* SELL from CSR, on the device: first the widths of the slices into slice[], from which the host
 * makes their offsets; then the entries. */
int yk_gpu_sell_widths(const yk_csr *csr, int64_t *slice, void *stream);
int yk_gpu_sell_fill(const yk_csr *csr, const yk_sell *sell, void *stream);

/* All kernels are loaded: nothing is when a kernel that waits is running. */
int yk_gpu_load_kernels(void);

#ifdef __cplusplus
}
#endif

#endif
