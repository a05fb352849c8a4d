/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: host memory for whatever grows with the system, counted, never touched here. */
#include <stdlib.h>
#include <sys/mman.h>

#include "lib/context.h"
#include "lib/status.h"

enum { LINE = 64, HUGE_PAGE = 2 << 20, SMALL = 1 << 20 };

/* Of all contexts. Memory that was taken and not yet written is in no figure of the system's. */
static atomic_llong process_bytes;

yoke_status yk_bytes(const char *what, int64_t count, size_t size, size_t *bytes)
{
    if (count < 0 || (size > 0 && (uint64_t)count > (uint64_t)PTRDIFF_MAX / size))
        return yk_fail(YOKE_OVERFLOW, "%s: %lld items of %zu bytes exceed what an index can hold",
                       what, (long long)count, size);
    *bytes = (size_t)count * size;
    return YOKE_OK;
}

static size_t alignment_of(size_t bytes)
{
    return bytes >= 2 * (size_t)HUGE_PAGE ? HUGE_PAGE : LINE;
}

static size_t padded(size_t bytes)
{
    size_t alignment = alignment_of(bytes);
    return bytes ? (bytes + alignment - 1) / alignment * alignment : LINE;
}

/* Straight from the system: a heap would keep what is released, in pieces that fit nothing later.
 * More is mapped and what lies before and behind the aligned part given back. */
static void *map(size_t bytes)
{
    size_t room = bytes + HUGE_PAGE;
    char *first = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (first == MAP_FAILED) return NULL;
    size_t before = -(uintptr_t)first % HUGE_PAGE, behind = HUGE_PAGE - before;
    if (before > 0) munmap(first, before);
    if (behind > 0) munmap(first + before + bytes, behind);
    /* Gathers over a long vector miss the TLB without huge pages; a refusal does no harm. */
    madvise(first + before, bytes, MADV_HUGEPAGE);
    return first + before;
}

static void *default_allocate(size_t bytes)
{
    return alignment_of(bytes) == HUGE_PAGE ? map(bytes) : aligned_alloc(LINE, bytes);
}

static void default_release(void *memory, size_t bytes)
{
    if (alignment_of(bytes) == HUGE_PAGE)
        munmap(memory, bytes);
    else
        free(memory);
}

static void *allocate(const yoke_context_options *options, size_t bytes)
{
    if (options->allocate)
        return options->allocate(options->memory_user, alignment_of(bytes), bytes);
    return default_allocate(bytes);
}

static void count(yoke_context *context, long long bytes)
{
    atomic_fetch_add_explicit(&context->live_bytes, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&process_bytes, bytes, memory_order_relaxed);
}

static yoke_status refuse(const char *what, size_t bytes, int64_t available)
{
    if (available == INT64_MAX)
        return yk_fail(YOKE_NO_MEMORY, "%s: asked %zu bytes, which the system does not give", what,
                       bytes);
    return yk_fail(YOKE_NO_MEMORY,
                   "%s: asked %zu bytes, available %lld within this process's limit", what, bytes,
                   (long long)available);
}

yoke_status yk_alloc(yoke_context *context, const char *what, int64_t items, size_t size,
                     void *memory)
{
    void **out = memory;
    size_t bytes = 0;
    *out = NULL;
    YK_TRY(yk_bytes(what, items, size, &bytes));
    if (bytes > (size_t)PTRDIFF_MAX - 2 * (size_t)HUGE_PAGE)
        return yk_fail(YOKE_OVERFLOW, "%s: %zu bytes exceed what an index can hold", what, bytes);
    bytes = padded(bytes);
    /* The limits are read from files: not worth it for what cannot matter. */
    int64_t available = bytes >= SMALL ? yk_memory_limit() : INT64_MAX;
    if ((int64_t)bytes > available) return refuse(what, bytes, available);
    void *made = allocate(&context->options, bytes);
    if (!made) return refuse(what, bytes, yk_memory_limit());
    count(context, (long long)bytes);
    atomic_fetch_add_explicit(&context->allocations, 1, memory_order_relaxed);
    *out = made;
    return YOKE_OK;
}

void yk_free(yoke_context *context, void *memory, int64_t items, size_t size)
{
    if (!memory) return;
    size_t bytes = padded((size_t)items * size);
    count(context, -(long long)bytes);
    if (context->options.release)
        context->options.release(context->options.memory_user, memory, bytes);
    else
        default_release(memory, bytes);
}

int64_t yk_memory_taken(void)
{
    return (int64_t)atomic_load_explicit(&process_bytes, memory_order_relaxed);
}
