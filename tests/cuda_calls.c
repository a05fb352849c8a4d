/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_calls.c: what a caller of the library does with the CUDA runtime. */
#include "tests/cuda_calls.h"

#include <criterion/criterion.h>
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

const char *const memory_name[MEMORY_KINDS] = {"pageable", "pinned", "device", "managed"};
const char *const stream_name[STREAM_KINDS] = {"non-blocking", "blocking", "NULL", "legacy",
                                               "per-thread"};

#define CUDA(call) must(call, #call)

static void must(cudaError_t error, const char *call)
{
    cr_assert_eq(error, cudaSuccess, "%s: %s", call, cudaGetErrorName(error));
}

/* A copy between pageable and device memory may return before it ends. */
static void copy_now(void *to, const void *from, size_t bytes)
{
    CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, cudaStreamPerThread));
    CUDA(cudaStreamSynchronize(cudaStreamPerThread));
}

void *placed(memory_kind kind, const void *from, size_t bytes)
{
    void *memory = NULL, *nans = NULL;
    switch (kind) {
    case PAGEABLE: memory = malloc(bytes); break;
    case PINNED: CUDA(cudaMallocHost(&memory, bytes)); break;
    case DEVICE: CUDA(cudaMalloc(&memory, bytes)); break;
    default: CUDA(cudaMallocManaged(&memory, bytes, cudaMemAttachGlobal)); break;
    }
    if (!from) {
        from = nans = malloc(bytes);
        memset(nans, 0xff, bytes);
    }
    if (kind == PAGEABLE)
        memcpy(memory, from, bytes);
    else
        copy_now(memory, from, bytes);
    free(nans);
    return memory;
}

void fetch(void *to, const void *from, size_t bytes)
{
    copy_now(to, from, bytes);
}

void unplace(memory_kind kind, void *memory)
{
    if (kind == PAGEABLE)
        free(memory);
    else
        CUDA(kind == PINNED ? cudaFreeHost(memory) : cudaFree(memory));
}

void *new_stream(stream_kind kind)
{
    cudaStream_t stream = NULL;
    switch (kind) {
    case NON_BLOCKING:
        CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        return stream;
    case BLOCKING: CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamDefault)); return stream;
    case LEGACY: return cudaStreamLegacy;
    case PER_THREAD: return cudaStreamPerThread;
    default: return NULL;
    }
}

void end_stream(stream_kind kind, void *stream)
{
    if (kind == NON_BLOCKING || kind == BLOCKING) CUDA(cudaStreamDestroy(stream));
}

void enqueue_copy(void *stream, void *to, const void *from, size_t bytes)
{
    CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
}

void enqueue_call(void *stream, void (*function)(void *user), void *user)
{
    CUDA(cudaLaunchHostFunc(stream, function, user));
}

void finish(void *stream)
{
    CUDA(cudaStreamSynchronize(stream));
}

void begin_capture(void *stream)
{
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
}

bool end_capture(void *stream)
{
    cudaGraph_t graph = NULL;
    bool whole = cudaStreamEndCapture(stream, &graph) == cudaSuccess && graph;
    if (graph) CUDA(cudaGraphDestroy(graph));
    cudaGetLastError();
    return whole;
}

int devices(void)
{
    int count = 0;
    CUDA(cudaGetDeviceCount(&count));
    return count;
}

int current_device(void)
{
    int device = -1;
    CUDA(cudaGetDevice(&device));
    return device;
}

void use_device(int device)
{
    CUDA(cudaSetDevice(device));
}

size_t free_bytes(void)
{
    size_t available = 0, total = 0;
    CUDA(cudaMemGetInfo(&available, &total));
    return available;
}

void *try_allocate(size_t bytes)
{
    void *memory = NULL;
    return cudaMalloc(&memory, bytes) == cudaSuccess ? memory : NULL;
}

void forget_error(void)
{
    cudaGetLastError();
}
