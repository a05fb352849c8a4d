/* SPDX-License-Identifier: BSD-3-Clause */
/* bandwidth.h: kernels that sweep over device memory. No CUDA header: a stream is a void *, an
 * error an int (cudaError_t). */
#ifndef YK_CUDA_BANDWIDTH_H
#define YK_CUDA_BANDWIDTH_H

#include <stdint.h>

/* Doubles that a block takes at a time. A buffer is a multiple of six tiles, so that halves and
 * thirds of it are tiles. */
enum { YK_TILE = 2048, YK_GRAIN_TILES = 6, YK_SWEEP_WARPS = 8 /* of a block */ };

typedef struct yk_gpu_sweep {
    double *memory; /* [tiles * YK_TILE] */
    int64_t tiles;
    double *sums; /* [blocks * YK_SWEEP_WARPS]: what each warp read */
    int blocks;
} yk_gpu_sweep;

#ifdef __cplusplus
extern "C" {
#endif

/* what: a yoke_stream or YK_STREAM_WRITE (COPY in halves, TRIAD in thirds), `passes` times. */
int yk_gpu_sweep_launch(const yk_gpu_sweep *sweep, int what, int64_t passes, void *stream);

#ifdef __cplusplus
}
#endif

#endif
