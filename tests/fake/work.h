/* SPDX-License-Identifier: BSD-3-Clause */
/* work.h: work of the fake runtime on its way: streams, what waits in them, and captures. */
#ifndef FAKE_WORK_H
#define FAKE_WORK_H

#include "tests/fake/inside.h"

typedef enum fake_kind {
    FAKE_COPY,
    FAKE_SET,
    FAKE_KERNEL,
    FAKE_HOST,
    FAKE_RECORD,
    FAKE_WAIT
} fake_kind;

typedef struct fake_work {
    struct fake_work *next;
    fake_kind kind;
    long number;      /* in its stream, from 1 */
    void *to;         /* also a host function's argument */
    const void *from; /* also a kernel's arguments; our own copy where owned is set */
    size_t bytes;
    void *owned;
    int value; /* of a set */
    fake_kernel kernel;
    cudaHostFn_t host;
    bool waits; /* a kernel, for the host */
    int device; /* that does it; of a graph's, where it was captured */
    cudaEvent_t event;
    long stream, until; /* a wait: for that work of that stream */
} fake_work;

typedef struct fake_list {
    fake_work *first, *last;
} fake_list;

typedef struct fake_capture {
    fake_list work;
    bool invalid;
    enum cudaStreamCaptureMode mode;
} fake_capture;

struct CUstream_st {
    long id;
    int device;
    bool blocking, destroyed;
    long enqueued, done; /* numbers */
    long last_waiting;   /* number of the last kernel that waits for the host */
    bool served;         /* by a thread of its own, which runs those */
    bool running;        /* one piece of work, in some thread, maybe without the lock */
    int users;           /* threads that are about its work: until then it is not freed */
    fake_list work;
    fake_capture *capture;
    struct CUstream_st *next;
};

struct CUevent_st {
    int device;
    bool timing, destroyed;
    long stream, number; /* of the last record; 0: none */
    int records;         /* on their way */
    double milliseconds;
    fake_capture *capture; /* recorded in it */
};

/* A stream by its handle, of the default ones too; NULL: none of ours. */
cudaStream_t fake_stream(cudaStream_t handle);
cudaStream_t fake_stream_by_id(long id); /* NULL: it is gone, and so is its work */

/* For the legacy default stream, a blocking stream of its device that is captured. */
cudaStream_t fake_in_capture(cudaStream_t stream);

/* Work with a copy of bytes at `owned`, if any. */
fake_work *fake_new_work(fake_kind kind, const void *owned, size_t bytes);
void fake_append(fake_list *list, fake_work *work);
void fake_free_list(fake_list *list);

/* Puts work into a stream, or into its capture; takes it in any case. */
cudaError_t fake_enqueue(cudaStream_t stream, fake_work *work);

/* The same of work that another device does, as part of a graph. */
cudaError_t fake_enqueue_on(cudaStream_t stream, fake_work *work, int device);

/* Runs a stream's work up to a number, and what that waits for; the device's error, if it is lost.
 */
cudaError_t fake_run(cudaStream_t stream, long until);

/* Whether its work goes on by itself. */
bool fake_goes_on(const struct CUstream_st *stream);

/* All streams leave a capture. */
void fake_end_captures(fake_capture *capture);

#endif
