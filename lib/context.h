/* SPDX-License-Identifier: BSD-3-Clause */
/* context.h: what every object of one user shares: threads, log, memory. */
#ifndef YK_CONTEXT_H
#define YK_CONTEXT_H

#include <stdatomic.h>
#include <yoke.h>

struct yoke_context {
    yoke_context_options options;
    atomic_int references;    /* the user's, and one a matrix */
    atomic_llong live_bytes;  /* allocated and not yet released */
    atomic_llong allocations; /* ever made: tests prove that a solve makes none */
    _Atomic(void *) machine;  /* what planning knows of it, once asked: released with free() */
    struct yk_wisdom *wisdom; /* what measuring plans found; NULL: nothing yet */
};

void yk_context_retain(yoke_context *context);
void yk_context_release(yoke_context *context);

/* Hands one line to the log callback, if there is one. */
void yk_log(const yoke_context *context, yoke_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ------------------------------------------------------------------ memory */

/* Bytes of count items of size each, or YOKE_OVERFLOW naming what. */
yoke_status yk_bytes(const char *what, int64_t count, size_t size, size_t *bytes);

/* Memory for count items of size each, aligned to 64 bytes (2 MiB above 4 MiB, with huge pages
 * advised), NOT touched: its pages go to the NUMA node of the thread that writes first. A count
 * of 0 gives a valid pointer. *memory is NULL on failure. Released with the same count and size. */
yoke_status yk_alloc(yoke_context *context, const char *what, int64_t count, size_t size,
                     void *memory);
void yk_free(yoke_context *context, void *memory, int64_t count, size_t size);

/* Bytes that all contexts of this process hold by yk_alloc. */
int64_t yk_memory_taken(void);

/* Most bytes that this process may still take (cgroup limits, RLIMIT_AS); INT64_MAX: no limit.
 * Reads a few small files. */
int64_t yk_memory_limit(void);

#endif
