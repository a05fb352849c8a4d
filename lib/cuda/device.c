/* SPDX-License-Identifier: BSD-3-Clause */
/* device.c: calls of the CUDA runtime, as statuses. Runtime calls newer than CUDA 12.4: none. */
#include "lib/cuda/device.h"

#include <cuda_runtime_api.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "lib/context.h"
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
    if (properties.major < 8)
        return yk_fail(YOKE_UNUSABLE,
                       "device %d, %s, has compute capability %d.%d; this build needs 8.0",
                       device->number, properties.name, properties.major, properties.minor);
    CUDA_TRY(cudaMemGetInfo(&device->free_bytes, &device->total_bytes));
    CUDA_TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    device->stream = stream;
    for (int i = 0; i < 2; i++) {
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
    int previous = yk_device_enter(device);
    yoke_status status = open_here(device);
    if (status != YOKE_OK)
        yk_device_close(device);
    else
        atomic_store_explicit(&opened, true, memory_order_relaxed);
    yk_device_leave(previous);
    return status;
}

void yk_device_close(yk_device *device)
{
    int previous = yk_device_enter(device);
    for (int i = 0; i < 2; i++)
        if (device->mark[i]) ignore(cudaEventDestroy(device->mark[i]));
    if (device->stream) ignore(cudaStreamDestroy(device->stream));
    memset(device->mark, 0, sizeof device->mark);
    device->stream = NULL;
    yk_device_leave(previous);
}

static atomic_llong allocations;

int64_t yk_device_allocations(void)
{
    return atomic_load_explicit(&allocations, memory_order_relaxed);
}

void yk_device_note_allocation(void)
{
    atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
}

typedef struct size_text {
    char text[32];
} size_text;

static size_text text_of(size_t bytes)
{
    size_text s;
    if (bytes >= 1000000000)
        snprintf(s.text, sizeof s.text, "%.1f GB", 1e-9 * (double)bytes);
    else
        snprintf(s.text, sizeof s.text, "%.1f MB", 1e-6 * (double)bytes);
    return s;
}

yoke_status yk_device_reserve(const yk_device *device, size_t bytes)
{
    size_t available = 0, total = 0;
    CUDA_TRY(cudaMemGetInfo(&available, &total));
    if (bytes <= available) return YOKE_OK;
    return yk_fail(YOKE_NO_MEMORY, "needs %s of device %d, %s free of %s", text_of(bytes).text,
                   device->number, text_of(available).text, text_of(total).text);
}

yoke_status yk_device_allocate(const yk_device *device, const char *what, int64_t count,
                               size_t size, void *memory)
{
    void **out = memory;
    size_t bytes = 0, available = 0, total = 0;
    *out = NULL;
    YK_TRY(yk_bytes(what, count, size, &bytes));
    yk_device_note_allocation();
    cudaError_t error = cudaMalloc(out, bytes > 0 ? bytes : 1);
    if (error == cudaSuccess) return YOKE_OK;
    cudaGetLastError();
    *out = NULL;
    cudaMemGetInfo(&available, &total);
    return yk_fail(error == cudaErrorMemoryAllocation ? YOKE_NO_MEMORY : YOKE_DEVICE,
                   "%s: asked %zu bytes of device %d, %zu free: %s (%s)", what, bytes,
                   device->number, available, cudaGetErrorString(error), cudaGetErrorName(error));
}

void yk_device_free(void *memory)
{
    if (memory) ignore(cudaFree(memory));
}

yoke_status yk_device_allocate_pinned(const char *what, size_t bytes, void *memory)
{
    void **out = memory;
    *out = NULL;
    yk_device_note_allocation();
    cudaError_t error = cudaMallocHost(out, bytes);
    if (error == cudaSuccess) return YOKE_OK;
    cudaGetLastError();
    *out = NULL;
    return yk_fail(error == cudaErrorMemoryAllocation ? YOKE_NO_MEMORY : YOKE_DEVICE,
                   "%s: asked %zu bytes of pinned host memory: %s (%s)", what, bytes,
                   cudaGetErrorString(error), cudaGetErrorName(error));
}

void yk_device_free_pinned(void *memory)
{
    if (memory) ignore(cudaFreeHost(memory));
}

yoke_status yk_device_copy(const yk_device *device, void *to, const void *from, size_t bytes)
{
    if (bytes == 0) return YOKE_OK;
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
