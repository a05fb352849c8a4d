/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_tools.h: what is asked of a GPU beside solving: what it is, how fast it is, what it draws.
 * The CUDA engine has one table of it; a build without CUDA has none. */
#ifndef YK_IFACE_GPU_TOOLS_H
#define YK_IFACE_GPU_TOOLS_H

#include <stddef.h>
#include <yoke_tools.h>

/* Beyond yoke_stream: every byte written, none read. */
enum { YK_STREAM_WRITE = YOKE_STREAM_TRIAD + 1 };

struct yk_calibration;

typedef struct yk_gpu_tools {
    int (*count)(char *reason, size_t size);
    yoke_status (*describe)(int number, yoke_gpu *gpu);
    yoke_status (*measure)(int number, yoke_gpu_speed *speed);

    /* Measures a profile's figures of a GPU (lib/calibrate.h), in some 5 s. */
    void (*calibrate)(struct yk_calibration *c, int number);

    /* A buffer of that many bytes, rounded up, or of what the device has free if that is less; all
     * ones at first. Its measure is in bytes a second, 0 if it could not be taken; its sum is that
     * of all that the last reading pass read. */
    yoke_status (*buffer_open)(int number, size_t bytes, void **buffer);
    int64_t (*buffer_count)(const void *buffer); /* doubles */
    double (*buffer_measure)(void *buffer, int what);
    double (*buffer_sum)(void *buffer);
    void (*buffer_close)(void *buffer);

    /* The board's counter of energy, to be read as joules; NaN if it cannot be read. */
    yoke_status (*energy_open)(int number, void **counter);
    double (*energy_joules)(void *counter);
} yk_gpu_tools;

/* NULL where the build has none. */
const yk_gpu_tools *yk_gpu_tools_built(void);

extern const yk_gpu_tools yk_gpu_tools_cuda;

#endif
