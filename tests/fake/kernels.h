/* SPDX-License-Identifier: BSD-3-Clause */
/* kernels.h: what the kernels without a GPU share. */
#ifndef FAKE_KERNELS_H
#define FAKE_KERNELS_H

#include "solvers/cg/gpu.h"

/* In a kernel: die unless the device reaches a CSR's row starts; so many of its entries. */
void fake_reach_starts(const yk_csr *csr);
void fake_reach_entries(const int32_t *column, const double *value, int64_t count);

/* In a kernel: the task, as a launch of its own would do it. */
void fake_run_task(const yk_gpu_view *view, int task, yk_gpu_loop *loop);

/* What follows from a task's sums in the loop. */
void fake_step(int task, yk_gpu_loop *loop, double *dot);

#endif
