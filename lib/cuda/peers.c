/* SPDX-License-Identifier: BSD-3-Clause */
/* peers.c: peer access between devices (CUDA Runtime API, "Peer Device Memory Access"). */
#include "lib/cuda/peers.h"

#include <cuda_runtime_api.h>

#include "lib/cuda/device.h"
#include "lib/status.h"

static yoke_status look(int from, int to, bool *reaches)
{
    int can = 1;
    if (from != to)
        YK_TRY(yk_device_try(cudaDeviceCanAccessPeer(&can, from, to), "cudaDeviceCanAccessPeer"));
    *reaches = can != 0;
    return YOKE_OK;
}

/* Somebody else in the process may have opened it before. */
static yoke_status open_pair(int from, int to)
{
    const yk_device device = {.number = from};
    if (from == to) return YOKE_OK;
    int previous = yk_device_enter(&device);
    cudaError_t error = cudaDeviceEnablePeerAccess(to, 0);
    if (error == cudaErrorPeerAccessAlreadyEnabled) {
        cudaGetLastError();
        error = cudaSuccess;
    }
    yoke_status status = yk_device_try(error, "cudaDeviceEnablePeerAccess");
    yk_device_leave(previous);
    return status;
}

yoke_status yk_peers_open(const int *device, int count, bool *all)
{
    *all = true;
    for (int i = 0; i < count && *all; i++)
        for (int k = 0; k < count && *all; k++) YK_TRY(look(device[i], device[k], all));
    for (int i = 0; i < count && *all; i++)
        for (int k = 0; k < count; k++) YK_TRY(open_pair(device[i], device[k]));
    return YOKE_OK;
}
