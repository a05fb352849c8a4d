/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.c: seconds. */
#include <time.h>

#include <yoke_tools.h>

double yoke_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
