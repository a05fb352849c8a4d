/* SPDX-License-Identifier: BSD-3-Clause */
/* copies.c: copies and fills of the fake runtime. Pageable memory is read at the call, and is
 * written before the call returns; pinned and device memory when the work runs. */
#include "tests/fake/work.h"

static bool is_pageable(const void *pointer)
{
    return fake_find(pointer) == NULL;
}

static bool is_device(const void *pointer)
{
    const fake_block *b = fake_find(pointer);
    return b && b->type != cudaMemoryTypeHost;
}

/* In one block, or in none. */
static bool holds_together(const void *pointer, size_t bytes)
{
    const fake_block *b = fake_find(pointer);
    const char *last = (const char *)pointer + bytes - 1;
    if (!pointer) return false;
    return fake_find(last) == b && (!b || last < b->first + b->bytes);
}

static bool may_be(enum cudaMemcpyKind kind, const void *to, const void *from)
{
    switch (kind) {
    case cudaMemcpyHostToHost: return !is_device(to) && !is_device(from);
    case cudaMemcpyHostToDevice: return is_device(to) && !is_device(from);
    case cudaMemcpyDeviceToHost: return !is_device(to) && is_device(from);
    case cudaMemcpyDeviceToDevice: return is_device(to) && is_device(from);
    default: return true;
    }
}

static cudaError_t copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                        cudaStream_t s)
{
    if (!s) return cudaErrorInvalidResourceHandle;
    if (bytes == 0) return cudaSuccess;
    if (!holds_together(to, bytes) || !holds_together(from, bytes)) return cudaErrorInvalidValue;
    if (!may_be(kind, to, from)) return cudaErrorInvalidMemcpyDirection;
    if (s->capture && (is_pageable(to) || is_pageable(from))) {
        s->capture->invalid = true;
        return cudaErrorStreamCaptureUnsupported;
    }
    fake_work *w = fake_new_work(FAKE_COPY, is_pageable(from) ? from : NULL, bytes);
    if (!w->owned) w->from = from;
    w->to = to;
    cudaError_t error = fake_enqueue(s, w);
    if (error == cudaSuccess && is_pageable(to)) error = fake_run(s, s->enqueued);
    return error;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    cudaError_t error = fake_enter(FAKE_cudaMemcpyAsync);
    if (error == cudaSuccess) error = copy(to, from, bytes, kind, fake_stream(stream));
    return fake_leave(error);
}

/* Returns before a copy within the device, or from pageable memory, is done: so does CUDA's. */
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    cudaError_t error = fake_enter(FAKE_cudaMemcpy);
    cudaStream_t s = fake_stream(cudaStreamLegacy);
    if (error == cudaSuccess && fake_capture_forbids()) error = cudaErrorStreamCaptureUnsupported;
    if (error == cudaSuccess) error = copy(to, from, bytes, kind, s);
    bool on_its_way = is_device(to) && (is_device(from) || is_pageable(from));
    if (error == cudaSuccess && !on_its_way) error = fake_run(s, s->enqueued);
    return fake_leave(error);
}

static cudaError_t set(void *to, int value, size_t bytes, cudaStream_t s)
{
    if (!s) return cudaErrorInvalidResourceHandle;
    if (bytes == 0) return cudaSuccess;
    if (!holds_together(to, bytes) || (is_pageable(to) && !fake.reaches_all))
        return cudaErrorInvalidValue;
    fake_work *w = fake_new_work(FAKE_SET, NULL, bytes);
    w->to = to;
    w->value = value;
    return fake_enqueue(s, w);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    cudaError_t error = fake_enter(FAKE_cudaMemsetAsync);
    if (error == cudaSuccess) error = set(to, value, bytes, fake_stream(stream));
    return fake_leave(error);
}

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    cudaError_t error = fake_enter(FAKE_cudaMemset);
    if (error == cudaSuccess && fake_capture_forbids()) error = cudaErrorStreamCaptureUnsupported;
    if (error == cudaSuccess) error = set(to, value, bytes, fake_stream(cudaStreamLegacy));
    return fake_leave(error);
}
