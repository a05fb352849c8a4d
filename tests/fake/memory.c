/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: the fake runtime's memory: device, pinned, managed and registered blocks. All device
 * memory lies in one arena, so that one call opens or closes it. What follows a block of ours, up
 * to a page and more, is looked at when it goes: pinned and managed blocks end at a closed page. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fake/inside.h"

enum { ALIGNMENT = 256 /* as cudaMalloc */, FRESH = 0xff /* NaN, and -1 */ };

static fake_block *blocks; /* by address; under the lock */
static char *arena;
static size_t arena_used; /* at most so far */
static bool is_open;

#define ARENA_BYTES ((size_t)1 << 32) /* of addresses; valgrind gives no 64 GiB */

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t rounded(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

fake_block *fake_find(const void *address)
{
    uintptr_t at = (uintptr_t)address;
    for (fake_block *b = blocks; b; b = b->next)
        if (at >= (uintptr_t)b->first && at < (uintptr_t)b->first + b->bytes) return b;
    return NULL;
}

static void protect(void *memory, size_t bytes, int protection)
{
    if (bytes > 0 && mprotect(memory, bytes, protection) != 0) fake_die("mprotect refused");
}

void fake_open_memory(void)
{
    if (!is_open) protect(arena, arena_used, PROT_READ | PROT_WRITE);
    is_open = true;
}

void fake_close_memory(void)
{
    if (is_open) protect(arena, arena_used, PROT_NONE);
    is_open = false;
}

/* -------------------------------------------------------------- accounting */

static long *count_of(fake_counts *counts, const fake_block *b)
{
    if (b->registered) return &counts->registered;
    if (b->type == cudaMemoryTypeHost) return &counts->pinned;
    return b->type == cudaMemoryTypeManaged ? &counts->managed : &counts->device;
}

static void note_made(fake_block *b)
{
    ++*count_of(&fake.live, b);
    ++*count_of(&fake.made, b);
    fake_block **link = &blocks;
    while (*link && (*link)->first < b->first) link = &(*link)->next;
    b->next = *link;
    *link = b;
    if (b->type == cudaMemoryTypeHost) return;
    fake.bytes_of[b->device] += b->bytes;
    fake.bytes += b->bytes;
    if (fake.bytes > fake.peak) fake.peak = fake.bytes;
}

static void note_gone(fake_block *b)
{
    fake_block **link = &blocks;
    while (*link != b) link = &(*link)->next;
    *link = b->next;
    --*count_of(&fake.live, b);
    if (b->type == cudaMemoryTypeHost) return;
    fake.bytes_of[b->device] -= b->bytes;
    fake.bytes -= b->bytes;
}

/* ------------------------------------------------------------------ blocks */

static void *map(size_t bytes, int protection)
{
    void *memory =
        mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) fake_die("no memory");
    return memory;
}

/* The first gap of the arena that is wide enough. */
static char *place_in_arena(size_t bytes)
{
    if (!arena) arena = map(ARENA_BYTES, PROT_NONE);
    char *at = arena;
    for (const fake_block *b = blocks; b; b = b->next) {
        if (b->type != cudaMemoryTypeDevice) continue;
        if ((size_t)(b->mapped - at) >= bytes) break;
        at = b->mapped + b->mapped_bytes;
    }
    size_t end = (size_t)(at - arena) + bytes;
    if (end > ARENA_BYTES) fake_die("no addresses");
    fake_close_memory();
    if (end > arena_used) arena_used = end;
    return at;
}

/* With a page behind it that is never used. */
static char *place(size_t room, enum cudaMemoryType type)
{
    size_t page = page_bytes();
    if (type == cudaMemoryTypeDevice) return place_in_arena(room);
    char *memory = map(room, PROT_READ | PROT_WRITE);
    protect(memory + room - page, page, PROT_NONE);
    return memory;
}

/* The bytes that may be looked at. */
static size_t usable(const fake_block *b)
{
    return b->type == cudaMemoryTypeDevice ? b->mapped_bytes : b->mapped_bytes - page_bytes();
}

static cudaError_t make(void **memory, size_t bytes, enum cudaMemoryType type)
{
    size_t page = page_bytes(), room = rounded(bytes, page) + page;
    int device = fake_current_device();
    *memory = NULL;
    if (bytes == 0) return cudaSuccess;
    if (type != cudaMemoryTypeHost && bytes > fake.device_bytes - fake.bytes_of[device])
        return cudaErrorMemoryAllocation;
    fake_block *b = malloc(sizeof *b);
    if (!b) fake_die("no memory");
    *b = (fake_block){.bytes = bytes, .type = type, .device = device};
    b->mapped = place(room, type);
    b->mapped_bytes = room;
    b->first = b->mapped + room - page - rounded(bytes, ALIGNMENT);
    protect(b->mapped, usable(b), PROT_READ | PROT_WRITE);
    memset(b->mapped, FRESH, usable(b));
    if (type == cudaMemoryTypeDevice) protect(b->mapped, usable(b), PROT_NONE);
    note_made(b);
    *memory = b->first;
    return cudaSuccess;
}

static void check_end(const fake_block *b)
{
    const unsigned char *end = (unsigned char *)b->mapped + usable(b);
    for (const unsigned char *at = (unsigned char *)b->first + b->bytes; at < end; at++)
        if (*at != FRESH) fake_die("a block of %zu bytes was written beyond its end", b->bytes);
}

static void forget(fake_block *b)
{
    fake_open_memory();
    check_end(b);
    if (b->type == cudaMemoryTypeDevice)
        madvise(b->mapped, b->mapped_bytes, MADV_DONTNEED);
    else
        munmap(b->mapped, b->mapped_bytes);
    fake_close_memory();
    note_gone(b);
    free(b);
}

/* Meanwhile other threads' calls wait, as they may for a lock of the driver's. */
static void finish_alone(int device)
{
    fake.finishing = true;
    fake_finish(device);
    fake.finishing = false;
    fake_changed();
}

/* All work is done before memory goes, as cudaFree does; an error from before is told, but does
 * not keep the memory. */
static cudaError_t drop(cudaError_t error, void *memory, enum cudaMemoryType type)
{
    if (!memory) return error;
    if (fake_capture_forbids()) return cudaErrorStreamCaptureUnsupported;
    fake_block *b = fake_find(memory);
    if (!b || b->first != memory || b->registered) return cudaErrorInvalidValue;
    if ((b->type == cudaMemoryTypeHost) != (type == cudaMemoryTypeHost))
        return cudaErrorInvalidValue;
    finish_alone(b->device);
    forget(b);
    return error;
}

static cudaError_t made_by(fake_call call, void **memory, size_t bytes, enum cudaMemoryType type)
{
    cudaError_t error = fake_enter(call);
    if (error == cudaSuccess && fake_capture_forbids()) error = cudaErrorStreamCaptureUnsupported;
    if (error == cudaSuccess) error = make(memory, bytes, type);
    return fake_leave(error);
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    return made_by(FAKE_cudaMalloc, memory, bytes, cudaMemoryTypeDevice);
}

cudaError_t cudaMallocHost(void **memory, size_t bytes)
{
    return made_by(FAKE_cudaMallocHost, memory, bytes, cudaMemoryTypeHost);
}

cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    (void)flags;
    return made_by(FAKE_cudaHostAlloc, memory, bytes, cudaMemoryTypeHost);
}

cudaError_t cudaMallocManaged(void **memory, size_t bytes, unsigned flags)
{
    (void)flags;
    return made_by(FAKE_cudaMallocManaged, memory, bytes, cudaMemoryTypeManaged);
}

/* Real hardware may move pages as advised; what is checked here is that the advice is for managed
 * memory, or for any where devices reach it, and a device that there is. */
cudaError_t fake_check_advice(const void *memory, size_t bytes, int device)
{
    const fake_block *b = fake_find(memory);
    bool plain = !b && fake.reaches_all;
    if (!plain && (!b || b->type != cudaMemoryTypeManaged)) return cudaErrorInvalidValue;
    if (b && (const char *)memory + bytes > b->first + b->bytes) return cudaErrorInvalidValue;
    return device < cudaCpuDeviceId || device >= fake.devices ? cudaErrorInvalidDevice
                                                              : cudaSuccess;
}

#if CUDART_VERSION >= 13000
cudaError_t cudaMemAdvise(const void *memory, size_t bytes, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation at)
{
    int device = at.type == cudaMemLocationTypeHost ? cudaCpuDeviceId : at.id;
#else
cudaError_t cudaMemAdvise(const void *memory, size_t bytes, enum cudaMemoryAdvise advice,
                          int device)
{
#endif
    cudaError_t error = fake_enter(FAKE_cudaMemAdvise);
    (void)advice;
    if (error == cudaSuccess) error = fake_check_advice(memory, bytes, device);
    return fake_leave(error);
}

cudaError_t cudaFree(void *memory)
{
    return fake_leave(drop(fake_enter(FAKE_cudaFree), memory, cudaMemoryTypeDevice));
}

cudaError_t cudaFreeHost(void *memory)
{
    return fake_leave(drop(fake_enter(FAKE_cudaFreeHost), memory, cudaMemoryTypeHost));
}

/* ------------------------------------------------------------ registration */

static cudaError_t enroll(char *memory, size_t bytes)
{
    if (!memory || bytes == 0) return cudaErrorInvalidValue;
    if (fake_capture_forbids()) return cudaErrorStreamCaptureUnsupported;
    if (fake_find(memory) || fake_find(memory + bytes - 1))
        return cudaErrorHostMemoryAlreadyRegistered;
    fake_block *b = malloc(sizeof *b);
    if (!b) fake_die("no memory");
    *b = (fake_block){.first = memory,
                      .bytes = bytes,
                      .type = cudaMemoryTypeHost,
                      .device = fake_current_device(),
                      .registered = true};
    note_made(b);
    return cudaSuccess;
}

cudaError_t cudaHostRegister(void *memory, size_t bytes, unsigned flags)
{
    cudaError_t error = fake_enter(FAKE_cudaHostRegister);
    (void)flags;
    if (error == cudaSuccess) error = enroll(memory, bytes);
    return fake_leave(error);
}

static cudaError_t strike_off(cudaError_t error, void *memory)
{
    fake_block *b = fake_find(memory);
    if (fake_capture_forbids()) return cudaErrorStreamCaptureUnsupported;
    if (!b || b->first != memory || !b->registered) return cudaErrorHostMemoryNotRegistered;
    finish_alone(b->device);
    note_gone(b);
    free(b);
    return error;
}

cudaError_t cudaHostUnregister(void *memory)
{
    return fake_leave(strike_off(fake_enter(FAKE_cudaHostUnregister), memory));
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    cudaError_t error = fake_enter(FAKE_cudaHostGetDevicePointer);
    fake_block *b = fake_find(host);
    (void)flags;
    if (error == cudaSuccess && (!b || b->type != cudaMemoryTypeHost))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess) *device = host;
    return fake_leave(error);
}

/* ----------------------------------------------------------------- figures */

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer)
{
    cudaError_t error = fake_enter(FAKE_cudaPointerGetAttributes);
    if (error == cudaSuccess) {
        fake_block *b = fake_find(pointer);
        void *at = (void *)pointer;
        memset(attributes, 0, sizeof *attributes);
        attributes->type = b ? b->type : cudaMemoryTypeUnregistered;
        attributes->device = b ? b->device : -2; /* cudaInvalidDeviceId */
        attributes->devicePointer = b ? at : NULL;
        attributes->hostPointer = b && b->type == cudaMemoryTypeDevice ? NULL : at;
    }
    return fake_leave(error);
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    cudaError_t error = fake_enter(FAKE_cudaMemGetInfo);
    if (error == cudaSuccess) {
        *total = fake.device_bytes;
        *available = fake.device_bytes - fake.bytes_of[fake_current_device()];
    }
    return fake_leave(error);
}
