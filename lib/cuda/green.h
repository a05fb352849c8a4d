/* SPDX-License-Identifier: BSD-3-Clause */
/* green.h: a stream whose work runs on some of a device's multiprocessors: a green context (CUDA
 * 12.4), by the driver's own entry points. */
#ifndef YK_GREEN_H
#define YK_GREEN_H

#include <yoke.h>

/* A context of at least `count` multiprocessors, fewer than the device's, and a non-blocking stream
 * in it; *multiprocessors: those it really has. The stream is destroyed first. YOKE_UNUSABLE, with
 * the reason, where the driver has none. */
yoke_status yk_green_open(int device, int count, void **green, void **stream, int *multiprocessors);
void yk_green_close(void *green);

#endif
