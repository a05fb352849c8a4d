/* SPDX-License-Identifier: BSD-3-Clause */
/* device.c: calls of the CUDA runtime, as statuses. Runtime calls newer than CUDA 12.4: none. */
#include "lib/cuda/device.h"

#include <cuda_runtime_api.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "lib/cuda/green.h"
#include "lib/status.h"

yoke_status yk_device_try(int error, const char *call)
{
    if (error == cudaSuccess) return YOKE_OK;
    cudaGetLastError(); /* told once */
    return yk_fail(YOKE_DEVICE, "%s: %s (%s)", call, cudaGetErrorString((cudaError_t)error),
                   cudaGetErrorName((cudaError_t)error));
}

/* Of what must go on whatever it meets, as destroying: a failure is not told, nor left to be taken
 * for that of a later call. */
static void ignore(cudaError_t error)
{
    if (error != cudaSuccess) cudaGetLastError();
}

#define CUDA_TRY(call) YK_TRY(yk_device_try(call, #call))

int yk_device_count(char *reason, size_t size)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count > 0) return count;
    cudaGetLastError();
    if (error == cudaErrorInsufficientDriver)
        snprintf(reason, size, "no NVIDIA driver, or one too old for this CUDA runtime");
    else
        snprintf(reason, size, "%s",
                 error == cudaSuccess ? "no device" : cudaGetErrorString(error));
    return 0;
}

/* Statically linked, this library shares the runtime with its caller: an error that the caller has
 * left unread would be taken for that of our next launch. */
int yk_device_enter(const yk_device *device)
{
    int previous = 0;
    cudaGetLastError();
    cudaGetDevice(&previous);
    if (previous != device->number) cudaSetDevice(device->number);
    return previous;
}

void yk_device_leave(int previous)
{
    int now = previous;
    cudaGetDevice(&now);
    if (now != previous) cudaSetDevice(previous);
}

static atomic_bool opened;
static atomic_ullong ids;

bool yk_device_opened(void)
{
    return atomic_load_explicit(&opened, memory_order_relaxed);
}

static yoke_status open_here(yk_device *device)
{
    struct cudaDeviceProp properties;
    cudaStream_t stream;
    cudaEvent_t mark;
    CUDA_TRY(cudaSetDevice(device->number)); /* makes its context, and may fail at that */
    CUDA_TRY(cudaGetDeviceProperties(&properties, device->number));
    snprintf(device->name, sizeof device->name, "%.63s", properties.name);
    device->multiprocessors = properties.multiProcessorCount;
    device->l2_bytes = (size_t)properties.l2CacheSize;
    if (properties.major < 8)
        return yk_fail(YOKE_UNUSABLE,
                       "device %d, %s, has compute capability %d.%d; this build needs 8.0",
                       device->number, properties.name, properties.major, properties.minor);
    CUDA_TRY(cudaMemGetInfo(&device->free_bytes, &device->total_bytes));
    CUDA_TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    device->stream = stream;
    for (int i = 0; i < YK_MARKS; i++) {
        CUDA_TRY(cudaEventCreateWithFlags(&mark, cudaEventDisableTiming));
        device->mark[i] = mark;
    }
    return YOKE_OK;
}

yoke_status yk_device_open(int number, yk_device *device)
{
    char reason[256];
    int count = yk_device_count(reason, sizeof reason);
    if (count == 0) return yk_fail(YOKE_UNUSABLE, "no GPU: %s", reason);
    if (number < 0 || number >= count)
        return yk_fail(YOKE_UNUSABLE, "device %d: this machine has %d, counted from 0", number,
                       count);
    memset(device, 0, sizeof *device);
    device->number = number;
    device->id = atomic_fetch_add_explicit(&ids, 1, memory_order_relaxed) + 1;
    int previous = yk_device_enter(device);
    yoke_status status = open_here(device);
    if (status != YOKE_OK)
        yk_device_close(device);
    else
        atomic_store_explicit(&opened, true, memory_order_relaxed);
    yk_device_leave(previous);
    return status;
}

yoke_status yk_device_limit_multiprocessors(yk_device *device, int count)
{
    void *green = NULL, *stream = NULL;
    if (count >= device->multiprocessors) return YOKE_OK;
    YK_TRY(yk_green_open(device->number, count, &green, &stream, &device->multiprocessors));
    ignore(cudaStreamDestroy(device->stream));
    device->green = green;
    device->stream = stream;
    return YOKE_OK;
}

void yk_device_close(yk_device *device)
{
    int previous = yk_device_enter(device);
    for (int i = 0; i < YK_MARKS; i++)
        if (device->mark[i]) ignore(cudaEventDestroy(device->mark[i]));
    if (device->stream) ignore(cudaStreamDestroy(device->stream));
    yk_green_close(device->green);
    memset(device->mark, 0, sizeof device->mark);
    device->stream = device->green = NULL;
    yk_device_leave(previous);
}

yoke_status yk_device_copy(const yk_device *device, void *to, const void *from, size_t bytes)
{
    if (bytes == 0) return YOKE_OK;
    /* It may be read at the call, as any plain memory, before kernels have written it. */
    if (device->plain && yk_device_is_plain(from)) YK_TRY(yk_device_wait(device));
    CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, device->stream));
    return YOKE_OK;
}

yoke_status yk_device_clear(const yk_device *device, void *to, size_t bytes)
{
    if (bytes == 0) return YOKE_OK;
    CUDA_TRY(cudaMemsetAsync(to, 0, bytes, device->stream));
    return YOKE_OK;
}

yoke_status yk_device_wait(const yk_device *device)
{
    CUDA_TRY(cudaStreamSynchronize(device->stream));
    return YOKE_OK;
}

yoke_status yk_device_look(const yk_device *device, bool *idle)
{
    cudaError_t error = cudaStreamQuery(device->stream);
    *idle = error == cudaSuccess;
    return error == cudaErrorNotReady ? YOKE_OK : yk_device_try(error, "cudaStreamQuery");
}

yoke_status yk_device_set_mark(const yk_device *device, int mark)
{
    CUDA_TRY(cudaEventRecord(device->mark[mark], device->stream));
    return YOKE_OK;
}

yoke_status yk_device_wait_mark(const yk_device *device, int mark)
{
    CUDA_TRY(cudaEventSynchronize(device->mark[mark]));
    return YOKE_OK;
}

yoke_status yk_device_look_mark(const yk_device *device, int mark, bool *reached)
{
    cudaError_t error = cudaEventQuery(device->mark[mark]);
    *reached = error == cudaSuccess;
    return error == cudaErrorNotReady ? YOKE_OK : yk_device_try(error, "cudaEventQuery");
}

yoke_status yk_device_follow(const yk_device *device, const yk_device *other, int mark)
{
    CUDA_TRY(cudaStreamWaitEvent(device->stream, other->mark[mark], 0));
    return YOKE_OK;
}

yoke_status yk_device_timer_create(void **timer)
{
    cudaEvent_t event;
    CUDA_TRY(cudaEventCreate(&event));
    *timer = event;
    return YOKE_OK;
}

yoke_status yk_device_timer_set(const yk_device *device, void *timer)
{
    CUDA_TRY(cudaEventRecord(timer, device->stream));
    return YOKE_OK;
}

yoke_status yk_device_timer_seconds(void *from, void *to, double *seconds)
{
    float milliseconds = 0.0F;
    CUDA_TRY(cudaEventElapsedTime(&milliseconds, from, to));
    *seconds = 1e-3 * (double)milliseconds;
    return YOKE_OK;
}

void yk_device_timer_destroy(void *timer)
{
    if (timer) ignore(cudaEventDestroy(timer));
}

yoke_status yk_device_capture_begin(const yk_device *device)
{
    CUDA_TRY(cudaStreamBeginCapture(device->stream, cudaStreamCaptureModeThreadLocal));
    return YOKE_OK;
}

yoke_status yk_device_capture_end(const yk_device *device, void **graph)
{
    cudaGraph_t captured = NULL;
    cudaGraphExec_t made = NULL;
    CUDA_TRY(cudaStreamEndCapture(device->stream, &captured));
    cudaError_t error = cudaGraphInstantiate(&made, captured, 0);
    cudaGraphDestroy(captured);
    YK_TRY(yk_device_try(error, "cudaGraphInstantiate"));
    error = cudaGraphUpload(made, device->stream);
    if (error != cudaSuccess) cudaGraphExecDestroy(made);
    YK_TRY(yk_device_try(error, "cudaGraphUpload"));
    *graph = made;
    return YOKE_OK;
}

yoke_status yk_device_graph_launch(const yk_device *device, void *graph)
{
    CUDA_TRY(cudaGraphLaunch((cudaGraphExec_t)graph, device->stream));
    return YOKE_OK;
}

void yk_device_graph_destroy(void *graph)
{
    if (graph) ignore(cudaGraphExecDestroy((cudaGraphExec_t)graph));
}
