/* SPDX-License-Identifier: BSD-3-Clause */
/* machine_gpu.h: the GPU's side of cgbench machine. */
#ifndef BENCH_MACHINE_GPU_H
#define BENCH_MACHINE_GPU_H

#include <stdio.h>

#include <yoke_tools.h>

typedef struct gpu_found {
    int count;         /* of this machine */
    int described;     /* gpu and speed are those of a device */
    char reason[1024]; /* why a figure is not known; "" if all are */
    yoke_gpu gpu;
    yoke_gpu_speed speed;
} gpu_found;

/* Describes and measures one, or finds out why not. */
void gpu_measure(int device, gpu_found *found);

void gpu_print(const gpu_found *found, FILE *stream);

/* The keys of an object, without its braces: gpus, gpu_reason, gpu_names and gpu{}, whose keys are
 * there without a GPU too. */
void gpu_write(const gpu_found *found, FILE *stream);

/* "  name   48 KiB", unless it is 0: in machine.c. */
void print_size(const char *name, int64_t bytes, FILE *stream);

#endif
