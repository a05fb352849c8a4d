/* SPDX-License-Identifier: BSD-3-Clause */
/* bandwidth.h: the buffer of a bandwidth measurement, for tests that look at what a pass did. */
#ifndef YK_BANDWIDTH_H
#define YK_BANDWIDTH_H

#include <stdint.h>
#include <yoke_tools.h>

/* Each thread's contiguous share is divided into halves or thirds within itself, so that every
 * pass touches only pages that the same thread touched first. */
struct yoke_bandwidth {
    yoke_context *context;
    int threads;
    int64_t count;  /* doubles, a multiple of the grain; all 1 at first */
    double *buffer; /* [count] */
    double *sums;   /* [threads * a line]: what each thread read; keeps the loads alive */
    void *on_gpu;   /* or NULL: of lib/iface/gpu_tools.h, instead of the two arrays */
};

#endif
