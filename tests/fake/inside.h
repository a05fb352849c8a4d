/* SPDX-License-Identifier: BSD-3-Clause */
/* inside.h: what the files of the fake runtime share. One lock guards everything here; who waits
 * for work runs it, in the calling thread. A kernel that waits for the host is run by a thread of
 * its stream's, with the lock given back while it waits. */
#ifndef FAKE_INSIDE_H
#define FAKE_INSIDE_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/fake/fake.h"

/* ---------------------------------------------------------------- calls.c */

#define FAKE_CALLS(X)                                                                              \
    X(cudaDriverGetVersion)                                                                        \
    X(cudaRuntimeGetVersion)                                                                       \
    X(cudaGetDeviceCount)                                                                          \
    X(cudaGetDevice)                                                                               \
    X(cudaSetDevice)                                                                               \
    X(cudaGetDeviceProperties)                                                                     \
    X(cudaDeviceGetAttribute)                                                                      \
    X(cudaDeviceGetPCIBusId)                                                                       \
    X(cudaDeviceCanAccessPeer)                                                                     \
    X(cudaDeviceEnablePeerAccess)                                                                  \
    X(cudaDeviceSynchronize)                                                                       \
    X(cudaMalloc)                                                                                  \
    X(cudaFree)                                                                                    \
    X(cudaMallocHost)                                                                              \
    X(cudaFreeHost)                                                                                \
    X(cudaHostAlloc)                                                                               \
    X(cudaMallocManaged)                                                                           \
    X(cudaMemAdvise)                                                                               \
    X(cudaMemPrefetchAsync)                                                                        \
    X(cudaGetDriverEntryPoint)                                                                     \
    X(cuDeviceGet)                                                                                 \
    X(cuDeviceGetDevResource)                                                                      \
    X(cuDevSmResourceSplitByCount)                                                                 \
    X(cuDevResourceGenerateDesc)                                                                   \
    X(cuGreenCtxCreate)                                                                            \
    X(cuGreenCtxDestroy)                                                                           \
    X(cuGreenCtxStreamCreate)                                                                      \
    X(cudaHostRegister)                                                                            \
    X(cudaHostUnregister)                                                                          \
    X(cudaHostGetDevicePointer)                                                                    \
    X(cudaPointerGetAttributes)                                                                    \
    X(cudaMemGetInfo)                                                                              \
    X(cudaMemcpy)                                                                                  \
    X(cudaMemcpyAsync)                                                                             \
    X(cudaMemset)                                                                                  \
    X(cudaMemsetAsync)                                                                             \
    X(cudaLaunchHostFunc)                                                                          \
    X(cudaStreamCreateWithFlags)                                                                   \
    X(cudaStreamDestroy)                                                                           \
    X(cudaStreamSynchronize)                                                                       \
    X(cudaStreamQuery)                                                                             \
    X(cudaStreamWaitEvent)                                                                         \
    X(cudaEventCreateWithFlags)                                                                    \
    X(cudaEventDestroy)                                                                            \
    X(cudaEventRecord)                                                                             \
    X(cudaEventSynchronize)                                                                        \
    X(cudaEventQuery)                                                                              \
    X(cudaEventElapsedTime)                                                                        \
    X(cudaStreamBeginCapture)                                                                      \
    X(cudaStreamIsCapturing)                                                                       \
    X(cudaStreamEndCapture)                                                                        \
    X(cudaGraphInstantiate)                                                                        \
    X(cudaGraphUpload)                                                                             \
    X(cudaGraphLaunch)                                                                             \
    X(cudaGraphDestroy)                                                                            \
    X(cudaGraphExecDestroy)                                                                        \
    X(cudaFuncGetAttributes)                                                                       \
    X(cudaFuncSetAttribute)                                                                        \
    X(cudaOccupancyMaxActiveBlocksPerMultiprocessor)                                               \
    X(cudaOccupancyMaxActiveClusters)                                                              \
    X(launch)

typedef enum fake_call {
#define FAKE_CALL_ENUM(name) FAKE_##name,
    FAKE_CALLS(FAKE_CALL_ENUM)
#undef FAKE_CALL_ENUM
        FAKE_CALL_COUNT
} fake_call;

/* Takes the lock and counts the call; an error if it was told to fail or the device is lost. */
cudaError_t fake_enter(fake_call call);

/* Notes an error and gives the lock back. */
cudaError_t fake_leave(cudaError_t error);

/* Under the lock: gives it back until something has changed; says that something has. */
void fake_await(void);
void fake_changed(void);

/* The bare lock, in a thread that is inside. */
void fake_lock(void);
void fake_unlock(void);

/* Ends the process with a sentence, as no test may go on from here. */
_Noreturn void fake_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

enum { FAKE_MOST_DEVICES = 8 };

typedef struct fake_state {
    int devices; /* -1: not asked yet */
    size_t device_bytes;
    fake_chip chip;
    bool eager, reaches_all;
    bool alone;                                      /* no device reaches another's memory */
    bool peer[FAKE_MOST_DEVICES][FAKE_MOST_DEVICES]; /* was opened */
    int granule; /* multiprocessors of the smallest group; 0: there are no green contexts */
    cudaError_t lost[FAKE_MOST_DEVICES]; /* by work that failed; or cudaSuccess */
    long work_until_failure;
    cudaError_t work_error;
    fake_counts live, made;
    size_t bytes, peak, bytes_of[FAKE_MOST_DEVICES];
    long waiting;
    bool finishing; /* a call that frees memory waits for all work: other calls wait for it */
} fake_state;

extern fake_state fake;
int fake_current_device(void); /* of this thread */

/* --------------------------------------------------------------- memory.c */

typedef struct fake_block {
    char *first; /* what the caller has */
    size_t bytes;
    enum cudaMemoryType type;
    int device;
    bool registered; /* pinned, but not ours */
    char *mapped;
    size_t mapped_bytes; /* with what follows it */
    struct fake_block *next;
} fake_block;

/* The block that holds this address; NULL: pageable host memory. */
fake_block *fake_find(const void *address);

/* Whether managed memory may be advised so, or plain memory that the device reaches. */
cudaError_t fake_check_advice(const void *memory, size_t bytes, int device);

/* Device memory opens for work and closes behind it. */
void fake_open_memory(void);
void fake_close_memory(void);

/* -------------------------------------------------------------- streams.c */

typedef void (*fake_kernel)(const void *arguments);

/* Enqueues a kernel with a copy of its arguments. */
cudaError_t fake_launch(void *stream, fake_kernel kernel, const void *arguments, size_t bytes);

/* The same of one that waits for what the host does outside of the runtime: its stream's work goes
 * on, up to the last such kernel, though nobody waits for it. */
cudaError_t fake_launch_waiting(void *stream, fake_kernel kernel, const void *arguments,
                                size_t bytes);

/* In such a kernel: others go on from here, and device memory is closed, to there. */
int fake_pause(void);
void fake_resume(int paused);

/* In a kernel: dies unless the device reaches all of it. */
void fake_reach(const void *pointer, size_t bytes, const char *what);

/* Runs all work of a device, or waits for whoever does. */
void fake_finish(int device);

/* True in a thread that captures: it may not allocate, free or wait, and what it captures is lost.
 */
bool fake_capture_forbids(void);

#endif
