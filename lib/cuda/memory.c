/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: memory that kernels reach: the device's own, pinned, managed, and plain host memory. */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/context.h"
#include "lib/cuda/device.h"
#include "lib/status.h"

static atomic_llong allocations;

int64_t yk_device_allocations(void)
{
    return atomic_load_explicit(&allocations, memory_order_relaxed);
}

void yk_device_note_allocation(void)
{
    atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
}

/* ----------------------------------------------------------------- ledger */

/* Blocks that do not go by cudaFree alone: of other kinds than the device's own, and of a device
 * that is taken to be smaller than it is. Whoever frees need not say which. */
typedef struct block {
    void *memory, *base; /* what the caller has, what is given back */
    size_t bytes;
    yk_memory kind;
    unsigned long long opening; /* of which device */
    yoke_context *context;      /* whose host memory it is */
    struct block *next;
} block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static block *blocks; /* under the lock */

static yoke_status note(const block *made)
{
    block *b = malloc(sizeof *b);
    if (!b) return yk_fail(YOKE_NO_MEMORY, "no memory for %zu bytes", sizeof *b);
    *b = *made;
    pthread_mutex_lock(&lock);
    b->next = blocks;
    blocks = b;
    pthread_mutex_unlock(&lock);
    return YOKE_OK;
}

static bool forget(void *memory, block *out)
{
    pthread_mutex_lock(&lock);
    block **link = &blocks;
    while (*link && (*link)->memory != memory) link = &(*link)->next;
    block *found = *link;
    if (found) {
        *link = found->next;
        *out = *found;
    }
    pthread_mutex_unlock(&lock);
    free(found);
    return found;
}

bool yk_device_is_plain(const void *address)
{
    const uintptr_t at = (uintptr_t)address;
    bool found = false;
    pthread_mutex_lock(&lock);
    for (const block *b = blocks; b && !found; b = b->next)
        found = b->kind == YK_MEMORY_SYSTEM && at >= (uintptr_t)b->memory &&
                at < (uintptr_t)b->memory + b->bytes;
    pthread_mutex_unlock(&lock);
    return found;
}

/* Bytes of its own, or placed there, that an opening of a device holds. */
static size_t held_by(const yk_device *device)
{
    size_t bytes = 0;
    pthread_mutex_lock(&lock);
    for (const block *b = blocks; b; b = b->next)
        if (b->opening == device->id &&
            (b->kind == YK_MEMORY_DEVICE || b->kind == YK_MEMORY_MANAGED))
            bytes += b->bytes;
    pthread_mutex_unlock(&lock);
    return bytes;
}

/* ------------------------------------------------------------------- room */

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

typedef struct room {
    size_t available, total;
} room;

static yoke_status look(const yk_device *device, room *r)
{
    YK_TRY(yk_device_try(cudaMemGetInfo(&r->available, &r->total), "cudaMemGetInfo"));
    if (device->limit == 0 || device->limit >= r->total) return YOKE_OK;
    size_t held = held_by(device), left = device->limit > held ? device->limit - held : 0;
    r->total = device->limit;
    if (left < r->available) r->available = left;
    return YOKE_OK;
}

yoke_status yk_device_free_now(const yk_device *device, size_t *bytes)
{
    room r;
    YK_TRY(look(device, &r));
    *bytes = r.available;
    return YOKE_OK;
}

static const char *pretended(const yk_device *device)
{
    return device->limit > 0 ? ", which gpu_memory gives it" : "";
}

yoke_status yk_device_reserve(const yk_device *device, size_t bytes)
{
    room r;
    YK_TRY(look(device, &r));
    if (bytes <= r.available) return YOKE_OK;
    return yk_fail(YOKE_NO_MEMORY, "needs %s of device %d, %s free of %s%s", text_of(bytes).text,
                   device->number, text_of(r.available).text, text_of(r.total).text,
                   pretended(device));
}

yoke_status yk_device_reserve_managed(const yk_device *device, size_t bytes)
{
    room r;
    YK_TRY(look(device, &r));
    size_t margin = r.total / YK_MANAGED_MARGIN;
    if (r.available >= margin && bytes <= r.available - margin) return YOKE_OK;
    return yk_fail(YOKE_NO_MEMORY,
                   "needs %s of managed memory on device %d, %s free of %s%s, of which %s are left "
                   "alone",
                   text_of(bytes).text, device->number, text_of(r.available).text,
                   text_of(r.total).text, pretended(device), text_of(margin).text);
}

/* ------------------------------------------------------------------ kinds */

static yoke_status refuse(const yk_device *device, const char *what, const char *of, size_t bytes,
                          cudaError_t error)
{
    room r = {0, 0};
    cudaGetLastError();
    look(device, &r);
    return yk_fail(error == cudaErrorMemoryAllocation ? YOKE_NO_MEMORY : YOKE_DEVICE,
                   "%s: asked %zu bytes of %s %d, %zu free%s: %s (%s)", what, bytes, of,
                   device->number, r.available, pretended(device), cudaGetErrorString(error),
                   cudaGetErrorName(error));
}

/* The smaller card that is pretended is full where it would be. */
static yoke_status take_own(const yk_device *device, const char *what, size_t bytes, block *made)
{
    room r = {0, 0};
    cudaError_t error = cudaSuccess;
    if (device->limit > 0) YK_TRY(look(device, &r));
    if (device->limit > 0 && made->bytes > r.available) error = cudaErrorMemoryAllocation;
    if (error == cudaSuccess) error = cudaMalloc(&made->base, bytes);
    return error == cudaSuccess ? YOKE_OK : refuse(device, what, "device", bytes, error);
}

/* Of the process's limits too: pinned pages cannot be swapped, and a cgroup ends who has too many.
 */
static yoke_status take_mapped(const char *what, size_t bytes, block *made)
{
    int64_t available = yk_memory_limit();
    if ((int64_t)bytes > available)
        return yk_fail(YOKE_NO_MEMORY,
                       "%s: asked %zu bytes of pinned host memory, available %lld within this "
                       "process's limit",
                       what, bytes, (long long)available);
    cudaError_t error =
        cudaHostAlloc(&made->base, bytes, cudaHostAllocMapped | cudaHostAllocPortable);
    if (error == cudaSuccess) return YOKE_OK;
    cudaGetLastError();
    return yk_fail(error == cudaErrorMemoryAllocation ? YOKE_NO_MEMORY : YOKE_DEVICE,
                   "%s: asked %zu bytes of pinned host memory: %s (%s)", what, bytes,
                   cudaGetErrorString(error), cudaGetErrorName(error));
}

/* Placed on the device and kept there. Not read-mostly: nobody else reads it, and that advice would
 * take the place of the preferred location. */
static cudaError_t place(const yk_device *device, void *memory, size_t bytes)
{
#if CUDART_VERSION >= 13000
    const struct cudaMemLocation where = {.type = cudaMemLocationTypeDevice, .id = device->number};
    cudaError_t error = cudaMemAdvise(memory, bytes, cudaMemAdviseSetPreferredLocation, where);
    if (error == cudaSuccess) error = cudaMemPrefetchAsync(memory, bytes, where, 0, device->stream);
#else
    cudaError_t error =
        cudaMemAdvise(memory, bytes, cudaMemAdviseSetPreferredLocation, device->number);
    if (error == cudaSuccess)
        error = cudaMemPrefetchAsync(memory, bytes, device->number, device->stream);
#endif
    return error == cudaSuccess ? cudaStreamSynchronize(device->stream) : error;
}

/* Waits until it lies there, so that what is free next is known. */
static yoke_status take_managed(const yk_device *device, const char *what, size_t bytes,
                                block *made)
{
    YK_TRY(yk_device_reserve_managed(device, made->bytes));
    cudaError_t error = cudaMallocManaged(&made->base, bytes, cudaMemAttachGlobal);
    if (error == cudaSuccess) {
        error = place(device, made->base, bytes);
        if (error != cudaSuccess) cudaFree(made->base);
    }
    return error == cudaSuccess ? YOKE_OK
                                : refuse(device, what, "managed memory on device", bytes, error);
}

enum { LINE = 128 /* SELL's alignment */ };

static yoke_status take_system(const yk_device *device, const char *what, size_t bytes, block *made)
{
    made->context = device->context;
    YK_TRY(yk_alloc(device->context, what, (int64_t)bytes + LINE, 1, &made->base));
    made->memory = (void *)(((uintptr_t)made->base + LINE - 1) / LINE * LINE);
    return YOKE_OK;
}

/* Who frees waits for the device's work, maybe with a lock of the driver's. That work may wait for
 * what another device has not been given yet: so nothing of ours is freed while it is. */
static pthread_mutex_t launching = PTHREAD_MUTEX_INITIALIZER;

void yk_device_begin_launches(void)
{
    pthread_mutex_lock(&launching);
}

void yk_device_end_launches(void)
{
    pthread_mutex_unlock(&launching);
}

static void free_block(const block *b)
{
    cudaError_t error;
    pthread_mutex_lock(&launching);
    error = b->kind == YK_MEMORY_MAPPED ? cudaFreeHost(b->base) : cudaFree(b->base);
    if (error != cudaSuccess) cudaGetLastError();
    pthread_mutex_unlock(&launching);
}

static void give_back(const block *b)
{
    if (b->kind == YK_MEMORY_SYSTEM)
        yk_free(b->context, b->base, (int64_t)b->bytes + LINE, 1);
    else
        free_block(b);
}

/* An empty block has an address, and is none of the bytes that a smaller card is pretended by. */
static yoke_status take(const yk_device *device, const char *what, block *made)
{
    size_t bytes = made->bytes > 0 ? made->bytes : 1;
    switch (made->kind) {
    case YK_MEMORY_MAPPED: return take_mapped(what, bytes, made);
    case YK_MEMORY_MANAGED: return take_managed(device, what, bytes, made);
    case YK_MEMORY_SYSTEM: return take_system(device, what, made->bytes, made);
    default: return take_own(device, what, bytes, made);
    }
}

yoke_status yk_device_allocate_in(const yk_device *device, yk_memory kind, const char *what,
                                  int64_t count, size_t size, void *memory)
{
    block made = {.kind = kind, .opening = device->id};
    void **out = memory;
    *out = NULL;
    YK_TRY(yk_bytes(what, count, size, &made.bytes));
    yk_device_note_allocation();
    YK_TRY(take(device, what, &made));
    if (!made.memory) made.memory = made.base;
    yoke_status status = YOKE_OK;
    if (kind != YK_MEMORY_DEVICE || device->limit > 0) status = note(&made);
    if (status == YOKE_OK)
        *out = made.memory;
    else
        give_back(&made);
    return status;
}

yoke_status yk_device_allocate(const yk_device *device, const char *what, int64_t count,
                               size_t size, void *memory)
{
    return yk_device_allocate_in(device, YK_MEMORY_DEVICE, what, count, size, memory);
}

void yk_device_free(void *memory)
{
    block b = {.base = memory, .kind = YK_MEMORY_DEVICE};
    if (!memory) return;
    forget(memory, &b);
    give_back(&b);
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
    if (memory) free_block(&(block){.base = memory, .kind = YK_MEMORY_MAPPED});
}
