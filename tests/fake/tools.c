/* SPDX-License-Identifier: BSD-3-Clause */
/* tools.c: what lies beside solving and needs real kernels or the vendor's libraries: the fake
 * runtime has none of it, and says so. */
#include "lib/cuda/cusparse.h"
#include "lib/cuda/device.h"
#include "lib/iface/gpu_tools.h"
#include "lib/status.h"

static const char none[] = "the fake runtime has no cuSPARSE";

const yk_cusparse *yk_cusparse_library(void)
{
    return NULL;
}

const char *yk_cusparse_reason(void)
{
    return none;
}

static yoke_status refuse(const char *what)
{
    return yk_fail(YOKE_UNUSABLE, "the fake runtime %s", what);
}

static yoke_status describe(int number, yoke_gpu *gpu)
{
    (void)number, (void)gpu;
    return refuse("describes no GPU");
}

static yoke_status measure(int number, yoke_gpu_speed *speed)
{
    (void)number, (void)speed;
    return refuse("measures no GPU");
}

static yoke_status open_buffer(int number, size_t bytes, void **buffer)
{
    (void)number, (void)bytes;
    *buffer = NULL;
    return refuse("has no buffer to measure");
}

static yoke_status open_energy(int number, void **counter)
{
    (void)number;
    *counter = NULL;
    return refuse("counts no joules");
}

/* Nothing can be opened, so nothing else is ever called. */
const yk_gpu_tools yk_gpu_tools_cuda = {
    .count = yk_device_count,
    .describe = describe,
    .measure = measure,
    .buffer_open = open_buffer,
    .energy_open = open_energy,
};
