/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu.c: what GPUs there are, for tools: through the table of the CUDA engine, where it was built.
 */
#include <math.h>
#include <stdio.h>

#include "lib/iface/gpu_tools.h"
#include "lib/status.h"

static const char not_built[] = "this build has no CUDA engine";

int yoke_gpu_count(const char **reason)
{
    static _Thread_local char text[256];
    const yk_gpu_tools *tools = yk_gpu_tools_built();
    int count = 0;
    snprintf(text, sizeof text, "%s", tools ? "" : not_built);
    if (tools) count = tools->count(text, sizeof text);
    if (reason) *reason = text;
    return count;
}

yoke_status yoke_gpu_describe(int number, yoke_gpu *gpu)
{
    const yk_gpu_tools *tools = yk_gpu_tools_built();
    if (!gpu) return yk_fail(YOKE_INVALID, "gpu is NULL");
    if (!tools) return yk_fail(YOKE_NOT_BUILT, "device %d: %s", number, not_built);
    return tools->describe(number, gpu);
}

yoke_status yoke_gpu_measure(int number, yoke_gpu_speed *speed)
{
    const yk_gpu_tools *tools = yk_gpu_tools_built();
    if (!speed) return yk_fail(YOKE_INVALID, "speed is NULL");
    *speed = (yoke_gpu_speed){NAN, NAN, NAN, NAN, NAN, 0,   NAN, NAN,
                              NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    if (!tools) return yk_fail(YOKE_NOT_BUILT, "device %d: %s", number, not_built);
    return tools->measure(number, speed);
}
