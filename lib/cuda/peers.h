/* SPDX-License-Identifier: BSD-3-Clause */
/* peers.h: devices whose kernels reach each other's memory. No CUDA header is needed to use it. */
#ifndef YK_CUDA_PEERS_H
#define YK_CUDA_PEERS_H

#include <stdbool.h>
#include <yoke.h>

/* Opens the memory of each of these devices to the kernels of all others, for the rest of the
 * process, which others in it may rely on as well. *all: false, and nothing was opened, if some
 * pair cannot; a device reaches itself. The current device is what it was. */
yoke_status yk_peers_open(const int *device, int count, bool *all);

#endif
