/* SPDX-License-Identifier: BSD-3-Clause */
/* gather.h: kernels that read at random, or a single word. No CUDA header: a stream is a void *, an
 * error an int (cudaError_t). */
#ifndef YK_CUDA_GATHER_H
#define YK_CUDA_GATHER_H

#include <stdint.h>

enum {
    YK_GATHER_THREADS = 256,
    YK_GATHER_CHAINS = 4, /* reads of a thread that are under way at once */
    YK_GATHER_STEPS = 128,
    YK_GATHERS_OF_BLOCK = YK_GATHER_THREADS * YK_GATHER_CHAINS * YK_GATHER_STEPS
};

typedef struct yk_gpu_gathers {
    const double *vector; /* [mask + 1], a power of two */
    uint64_t mask;
    double *sums; /* [blocks]: what each block read */
    int blocks;
} yk_gpu_gathers;

#ifdef __cplusplus
extern "C" {
#endif

/* Loads both. */
int yk_gpu_gather_load(void);

int yk_gpu_gather_launch(const yk_gpu_gathers *gathers, void *stream);

/* Adds one to a word. */
int yk_gpu_touch_launch(unsigned *word, void *stream);

#ifdef __cplusplus
}
#endif

#endif
