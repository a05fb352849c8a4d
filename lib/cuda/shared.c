/* SPDX-License-Identifier: BSD-3-Clause */
/* shared.c: pinned and managed memory for links, each in a form that costs the loop nothing. */
#include "lib/cuda/shared.h"

#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lib/cuda/device.h"
#include "lib/status.h"

#define CUDA_TRY(call) YK_TRY(yk_device_try(call, #call))

/* --------------------------------------------------------------- abilities */

/* "" if the attribute is set, else the sentence, which names the device. */
static const char *lacks(int device, enum cudaDeviceAttr attribute, const char *sentence)
{
    static _Thread_local char text[256];
    int has = 0;
    cudaError_t error = cudaDeviceGetAttribute(&has, attribute, device);
    text[0] = '\0';
    if (error != cudaSuccess) {
        cudaGetLastError();
        snprintf(text, sizeof text, "device %d does not answer: %s (%s)", device,
                 cudaGetErrorString(error), cudaGetErrorName(error));
    } else if (!has) {
        snprintf(text, sizeof text, "device %d %s", device, sentence);
    }
    return text;
}

const char *yk_shared_no_mapped(int device)
{
    return lacks(device, cudaDevAttrCanMapHostMemory, "cannot map host memory");
}

const char *yk_shared_no_managed(int device)
{
    return lacks(device, cudaDevAttrConcurrentManagedAccess,
                 "does not share managed memory with a host that works in it meanwhile");
}

const char *yk_shared_no_plain(int device)
{
    return lacks(device, cudaDevAttrPageableMemoryAccess,
                 "does not reach plain memory: the system has neither NVLink-C2C nor HMM");
}

/* ------------------------------------------------------------------ mapped */

static yoke_status refuse(cudaError_t error, const char *what, size_t bytes, const char *kind)
{
    cudaGetLastError();
    return yk_fail(error == cudaErrorMemoryAllocation ? YOKE_NO_MEMORY : YOKE_DEVICE,
                   "%s: asked %zu bytes of %s memory: %s (%s)", what, bytes, kind,
                   cudaGetErrorString(error), cudaGetErrorName(error));
}

static yoke_status allocate_mapped(const char *what, size_t bytes, void **host, void **gpu)
{
    yk_device_note_allocation();
    cudaError_t error = cudaHostAlloc(host, bytes, cudaHostAllocMapped | cudaHostAllocPortable);
    if (error != cudaSuccess) *host = NULL;
    if (error == cudaSuccess) error = cudaHostGetDevicePointer(gpu, *host, 0);
    if (error == cudaSuccess) return YOKE_OK;
    yk_shared_free_mapped(*host);
    *host = *gpu = NULL;
    return refuse(error, what, bytes, "pinned host");
}

yoke_status yk_shared_allocate_mapped(int device, const char *what, size_t bytes, void **host,
                                      void **gpu)
{
    int previous = yk_device_enter(&(yk_device){.number = device});
    *host = *gpu = NULL;
    yoke_status status = allocate_mapped(what, bytes > 0 ? bytes : 1, host, gpu);
    yk_device_leave(previous);
    return status;
}

void yk_shared_free_mapped(void *host)
{
    yk_device_free_pinned(host);
}

/* ----------------------------------------------------------------- managed */

/* CUDA 13 names places where CUDA 12 numbered them. */
static cudaError_t advise(void *memory, size_t bytes, enum cudaMemoryAdvise advice, int place)
{
#if CUDART_VERSION >= 13000
    struct cudaMemLocation at = {cudaMemLocationTypeDevice, place};
    if (place == cudaCpuDeviceId) at = (struct cudaMemLocation){cudaMemLocationTypeHost, 0};
    return cudaMemAdvise(memory, bytes, advice, at);
#else
    return cudaMemAdvise(memory, bytes, advice, place);
#endif
}

static cudaError_t settle_on_host(void *memory, size_t bytes, int device)
{
    cudaError_t error = advise(memory, bytes, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId);
    if (error == cudaSuccess) error = advise(memory, bytes, cudaMemAdviseSetAccessedBy, device);
    return error;
}

static cudaError_t touch_on_host(void *memory, size_t bytes, int device)
{
    cudaError_t error = settle_on_host(memory, bytes, device);
    /* The first touch is the host's, now: so no page is made in the loop. */
    if (error == cudaSuccess) memset(memory, 0, bytes);
    return error;
}

static yoke_status allocate_managed(int device, const char *what, size_t bytes, void **memory)
{
    YK_TRY(yk_device_reserve(&(yk_device){.number = device}, bytes));
    yk_device_note_allocation();
    cudaError_t error = cudaMallocManaged(memory, bytes, cudaMemAttachGlobal);
    if (error != cudaSuccess) *memory = NULL;
    if (error == cudaSuccess) error = touch_on_host(*memory, bytes, device);
    if (error == cudaSuccess) return YOKE_OK;
    yk_shared_free_managed(*memory);
    *memory = NULL;
    return refuse(error, what, bytes, "managed");
}

yoke_status yk_shared_allocate_managed(int device, const char *what, size_t bytes, void **memory)
{
    int previous = yk_device_enter(&(yk_device){.number = device});
    *memory = NULL;
    yoke_status status = allocate_managed(device, what, bytes > 0 ? bytes : 1, memory);
    yk_device_leave(previous);
    return status;
}

void yk_shared_free_managed(void *memory)
{
    yk_device_free(memory);
}

void yk_shared_keep_on_host(int device, void *memory, size_t bytes)
{
    int previous = yk_device_enter(&(yk_device){.number = device});
    if (bytes > 0 && settle_on_host(memory, bytes, device) != cudaSuccess) cudaGetLastError();
    yk_device_leave(previous);
}

/* ------------------------------------------------------------------ device */

yoke_status yk_shared_allocate_device(int device, const char *what, size_t bytes, void **memory)
{
    yk_device of = {.number = device};
    int previous = yk_device_enter(&of);
    yoke_status status = yk_device_allocate(&of, what, (int64_t)bytes, 1, memory);
    yk_device_leave(previous);
    return status;
}

void yk_shared_free_device(void *memory)
{
    yk_device_free(memory);
}
