/* SPDX-License-Identifier: BSD-3-Clause */
/* device.h: one GPU: memory, copies, order, graphs, as statuses with CUDA's own words for what went
 * wrong. No CUDA header is needed to use it. */
#ifndef YK_DEVICE_H
#define YK_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yoke.h>

#include "lib/home.h"

/* Two for the host to wait for; and one for the streams of other devices. */
enum { YK_MARKS = 3, YK_MARK_OF_MEETINGS = 2 };

typedef struct yk_device {
    int number;
    void *stream;                   /* of ours: work is ordered on it */
    void *mark[YK_MARKS];           /* events */
    int multiprocessors;            /* that the stream's work may run on */
    size_t free_bytes, total_bytes; /* at opening */
    size_t l2_bytes;
    char name[64];
    unsigned long long id; /* of this opening, in the process */
    size_t limit;          /* bytes that it is taken to have for this opening; 0: all */
    void *green;           /* what keeps the stream to some of the multiprocessors; or NULL */
    yoke_context *context; /* whose host memory is taken as YK_MEMORY_SYSTEM */
    bool plain;            /* some is */
} yk_device;

/* How many there are; 0 with the reason, in CUDA's words, where there is none. */
int yk_device_count(char *reason, size_t size);

/* The current device is what it was before, after each of these calls. */
yoke_status yk_device_open(int number, yk_device *device);
void yk_device_close(yk_device *device);

/* Whether one was ever opened: then the runtime is initialised, whoever asks. */
bool yk_device_opened(void);

/* Makes the device current for the calls below, and back. */
int yk_device_enter(const yk_device *device);
void yk_device_leave(int previous);

/* YOKE_OK for 0, else YOKE_DEVICE with the call, the name and the words of the error. */
yoke_status yk_device_try(int error, const char *call);

/* From now on work is done, and counted on, by at least `count` multiprocessors, as few more as the
 * device allows: device->multiprocessors. YOKE_UNUSABLE, with the reason, where the driver cannot.
 * Right after opening: what was enqueued is not waited for. */
yoke_status yk_device_limit_multiprocessors(yk_device *device, int count);

/* YOKE_NO_MEMORY, with asked and free, if the device has not as much free now, of what
 * device->limit leaves; for managed memory, with a margin: more than is free can hang a GPU for
 * everyone. */
yoke_status yk_device_reserve(const yk_device *device, size_t bytes);
yoke_status yk_device_reserve_managed(const yk_device *device, size_t bytes);

/* Bytes of its own that the device has free now, of what device->limit leaves. */
yoke_status yk_device_free_now(const yk_device *device, size_t *bytes);

/* Of the device's own, or of a kind; at least 128 bytes aligned; managed memory lies on the device
 * at return. *memory is NULL on failure, which tells asked and free. */
yoke_status yk_device_allocate(const yk_device *device, const char *what, int64_t count,
                               size_t size, void *memory);
yoke_status yk_device_allocate_in(const yk_device *device, yk_memory kind, const char *what,
                                  int64_t count, size_t size, void *memory);
void yk_device_free(void *memory);
/* How often memory was asked for here, of any kind: tests prove that a solve never does. What is
 * asked for elsewhere is noted. */
int64_t yk_device_allocations(void);
void yk_device_note_allocation(void);
yoke_status yk_device_allocate_pinned(const char *what, size_t bytes, void *memory);
void yk_device_free_pinned(void *memory);

/* Between these two no thread frees memory here: of launches on several devices whose kernels wait
 * for each other. */
void yk_device_begin_launches(void);
void yk_device_end_launches(void);

/* Whether an address is of memory that was taken as YK_MEMORY_SYSTEM. */
bool yk_device_is_plain(const void *address);

/* In the order of the stream; pageable host memory may be reused at return. */
yoke_status yk_device_copy(const yk_device *device, void *to, const void *from, size_t bytes);
yoke_status yk_device_clear(const yk_device *device, void *to, size_t bytes);
yoke_status yk_device_wait(const yk_device *device);
/* Whether the stream holds no more work; does not wait. */
yoke_status yk_device_look(const yk_device *device, bool *idle);

/* A mark in the stream; waiting until it is reached; whether it is, without waiting. */
yoke_status yk_device_set_mark(const yk_device *device, int mark);
yoke_status yk_device_wait_mark(const yk_device *device, int mark);
yoke_status yk_device_look_mark(const yk_device *device, int mark, bool *reached);

/* What is enqueued from now on waits for the mark of another stream, of this device or another, as
 * it was last set. The host does not wait. */
yoke_status yk_device_follow(const yk_device *device, const yk_device *other, int mark);

/* A place in the stream with the time at which it is reached, and the seconds between two that were
 * reached. */
yoke_status yk_device_timer_create(void **timer);
yoke_status yk_device_timer_set(const yk_device *device, void *timer);
yoke_status yk_device_timer_seconds(void *from, void *to, double *seconds);
void yk_device_timer_destroy(void *timer);

/* What is enqueued between begin and end becomes a graph instead of running. */
yoke_status yk_device_capture_begin(const yk_device *device);
yoke_status yk_device_capture_end(const yk_device *device, void **graph);
yoke_status yk_device_graph_launch(const yk_device *device, void *graph);
void yk_device_graph_destroy(void *graph);

#endif
