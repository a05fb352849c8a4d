/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: host memory for whatever grows with the system, counted, never touched here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "lib/context.h"
#include "lib/status.h"

enum { LINE = 64, HUGE_PAGE = 2 << 20 };

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

static void *default_allocate(size_t bytes)
{
    void *memory = aligned_alloc(alignment_of(bytes), bytes);
    /* Gathers over a long vector miss the TLB without huge pages; a refusal does no harm. */
    if (memory && alignment_of(bytes) == HUGE_PAGE) madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

yoke_status yk_alloc(yoke_context *context, const char *what, int64_t count, size_t size,
                     void *memory)
{
    const yoke_context_options *options = &context->options;
    void **out = memory;
    size_t bytes = 0;
    *out = NULL;
    YK_TRY(yk_bytes(what, count, size, &bytes));
    if (bytes > (size_t)PTRDIFF_MAX - 2 * (size_t)HUGE_PAGE)
        return yk_fail(YOKE_OVERFLOW, "%s: %zu bytes exceed what an index can hold", what, bytes);
    bytes = padded(bytes);
    int64_t limit = yk_memory_limit();
    void *made = NULL;
    if ((int64_t)bytes <= limit)
        made = options->allocate ? options->allocate(options->memory_user, alignment_of(bytes), bytes)
                                 : default_allocate(bytes);
    if (!made && limit != INT64_MAX)
        return yk_fail(YOKE_NO_MEMORY, "%s: asked %zu bytes, available %lld within this process's limit",
                       what, bytes, (long long)limit);
    if (!made) return yk_fail(YOKE_NO_MEMORY, "%s: asked %zu bytes, not available", what, bytes);
    atomic_fetch_add_explicit(&context->live_bytes, (long long)bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&context->allocations, 1, memory_order_relaxed);
    *out = made;
    return YOKE_OK;
}

void yk_free(yoke_context *context, void *memory, int64_t count, size_t size)
{
    if (!memory) return;
    size_t bytes = padded((size_t)count * size);
    atomic_fetch_sub_explicit(&context->live_bytes, (long long)bytes, memory_order_relaxed);
    if (context->options.release)
        context->options.release(context->options.memory_user, memory, bytes);
    else
        free(memory);
}

/* The number in a one-number file, -1 if there is none ("max" is none). */
static int64_t number_in(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) return -1;
    long long value;
    int found = fscanf(file, "%lld", &value);
    fclose(file);
    return found == 1 && value >= 0 ? (int64_t)value : -1;
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Inside a container the own group is mounted at the root, so its files are read there. */
static int64_t cgroup_limit(void)
{
    static const char *const pairs[][2] = {
        {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
        {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        int64_t most = number_in(pairs[i][0]), used = number_in(pairs[i][1]);
        if (most >= 0 && used >= 0 && most < (INT64_MAX >> 1)) return most > used ? most - used : 0;
    }
    return INT64_MAX;
}

static int64_t address_space_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return INT64_MAX;
    FILE *file = fopen("/proc/self/statm", "r");
    long long pages = 0;
    if (file) {
        if (fscanf(file, "%lld", &pages) != 1) pages = 0;
        fclose(file);
    }
    int64_t used = (int64_t)pages * 4096;
    return (int64_t)limit.rlim_cur > used ? (int64_t)limit.rlim_cur - used : 0;
}

int64_t yk_memory_limit(void)
{
    return lesser(cgroup_limit(), address_space_limit());
}
