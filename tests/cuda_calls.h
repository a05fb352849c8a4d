/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_calls.h: what a caller of the library does with the CUDA runtime, each failure a failed
 * test. Streams are void *, as in the library's options. */
#ifndef YK_TESTS_CUDA_CALLS_H
#define YK_TESTS_CUDA_CALLS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum memory_kind { PAGEABLE, PINNED, DEVICE, MANAGED, MEMORY_KINDS } memory_kind;

extern const char *const memory_name[MEMORY_KINDS];

/* Memory of a kind, filled from the host's (NULL: with NaNs), complete at return; and back. */
void *placed(memory_kind kind, const void *from, size_t bytes);
void fetch(void *to, const void *from, size_t bytes);
void unplace(memory_kind kind, void *memory);

typedef enum stream_kind {
    NON_BLOCKING,
    BLOCKING,
    NO_STREAM, /* NULL: the default one */
    LEGACY,
    PER_THREAD,
    STREAM_KINDS
} stream_kind;

extern const char *const stream_name[STREAM_KINDS];

void *new_stream(stream_kind kind);
void end_stream(stream_kind kind, void *stream);
void enqueue_copy(void *stream, void *to, const void *from, size_t bytes);
void enqueue_call(void *stream, void (*function)(void *user), void *user);
void finish(void *stream);

/* A capture that a call in between did not spoil is true at its end. */
void begin_capture(void *stream);
bool end_capture(void *stream);

int devices(void);
int current_device(void);
void use_device(int device);
size_t free_bytes(void);

/* Device memory, or NULL; the runtime keeps the error as its last one. */
void *try_allocate(size_t bytes);
void forget_error(void);

#endif
