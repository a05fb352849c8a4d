/* SPDX-License-Identifier: BSD-3-Clause */
/* buffer.h: a buffer on a GPU whose sweeps are timed by events. */
#ifndef YK_CUDA_BUFFER_H
#define YK_CUDA_BUFFER_H

#include <stdbool.h>
#include <yoke_tools.h>

#include "lib/home.h"

/* As the table in lib/iface/gpu_tools.h says. */
yoke_status yk_gpu_buffer_open(int number, size_t bytes, void **buffer);
int64_t yk_gpu_buffer_count(const void *buffer);
double yk_gpu_buffer_measure(void *buffer, int what);
double yk_gpu_buffer_sum(void *buffer);
void yk_gpu_buffer_close(void *buffer);

/* The same in the device's own memory or in mapped memory of the host, and swept by at least so
 * many multiprocessors, 0 for all: how many those are tells the second. */
yoke_status yk_gpu_buffer_open_as(int number, size_t bytes, yk_memory kind, int multiprocessors,
                                  void **buffer);
int yk_gpu_buffer_multiprocessors(const void *buffer);

/* Random reads of 8 bytes a second from its first bytes, a power of two; 0 if they failed. */
double yk_gpu_buffer_gather(void *buffer, size_t bytes);

/* Begins to read all of it so many times; whether that goes on; its bytes a second, 0 if it failed.
 */
yoke_status yk_gpu_buffer_begin(void *buffer, int64_t passes);
bool yk_gpu_buffer_runs(void *buffer);
double yk_gpu_buffer_end(void *buffer);

#endif
