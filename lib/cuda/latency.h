/* SPDX-License-Identifier: BSD-3-Clause */
/* latency.h: kernels whose only cost is that of starting and meeting. No CUDA header: a stream is a
 * void *, an error an int (cudaError_t). */
#ifndef YK_CUDA_LATENCY_H
#define YK_CUDA_LATENCY_H

#ifdef __cplusplus
extern "C" {
#endif

/* Loads them all, so that nothing is loaded while one waits. */
int yk_latency_load(void);

int yk_latency_nothing(void *stream);

/* Cooperative: `blocks` blocks of 256 threads meet `count` times. */
int yk_latency_barriers(int blocks, int count, void *stream);

/* For i = 1, 2, ... rounds: waits until *ping is at least i, sets *pong to i. Ends early when
 * *abort is raised, or `deadline` nanoseconds after it began. Device addresses. Its solo form is
 * *ping = rounds beforehand: then it waits for nobody. */
int yk_latency_answer(const unsigned *ping, unsigned *pong, const unsigned *abort, unsigned rounds,
                      unsigned long long deadline, void *stream);

#ifdef __cplusplus
}
#endif

#endif
