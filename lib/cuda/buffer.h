/* SPDX-License-Identifier: BSD-3-Clause */
/* buffer.h: a buffer on a GPU whose sweeps are timed by events. */
#ifndef YK_CUDA_BUFFER_H
#define YK_CUDA_BUFFER_H

#include <yoke_tools.h>

/* As the table in lib/iface/gpu_tools.h says. */
yoke_status yk_gpu_buffer_open(int number, size_t bytes, void **buffer);
int64_t yk_gpu_buffer_count(const void *buffer);
double yk_gpu_buffer_measure(void *buffer, int what);
double yk_gpu_buffer_sum(void *buffer);
void yk_gpu_buffer_close(void *buffer);

#endif
