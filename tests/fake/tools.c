/* SPDX-License-Identifier: BSD-3-Clause */
/* tools.c: what lies beside solving and needs real kernels or the vendor's libraries: the fake
 * runtime has none of it, and says so. */
#include <string.h>

#include "lib/cuda/calibrate.h"
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

/* What a profile's key and sizes are made of. */
static yoke_status describe(int number, yoke_gpu *gpu)
{
    yk_device device;
    YK_TRY(yk_device_open(number, &device));
    *gpu = (yoke_gpu){.number = number,
                      .multiprocessors = device.multiprocessors,
                      .l2_bytes = (int64_t)device.l2_bytes,
                      .memory_total = (int64_t)device.total_bytes,
                      .memory_free = (int64_t)device.free_bytes,
                      .cuda_driver = "12.4"};
    memcpy(gpu->name, device.name, sizeof gpu->name);
    yk_device_close(&device);
    return YOKE_OK;
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

/* Of a record nothing is measured that would look like a figure; a calibration is, for its calls.
 */
const yk_gpu_tools yk_gpu_tools_cuda = {
    .count = yk_device_count,
    .describe = describe,
    .measure = measure,
    .calibrate = yk_gpu_calibrate,
    .buffer_open = open_buffer,
    .energy_open = open_energy,
};
