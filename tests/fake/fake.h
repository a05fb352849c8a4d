/* SPDX-License-Identifier: BSD-3-Clause */
/* fake.h: a CUDA runtime without a GPU, and what tests ask of it.
 *
 * It takes no liberty that a GPU would not: device memory is closed to the host whenever no device
 * work runs (a touch ends the process), begins as NaN, and has its end guarded; work waits in its
 * stream until something waits for it, as late as CUDA's rules allow, or with fake_eager as early;
 * streams are ordered by events (and the legacy default stream) alone; a stream that is captured
 * runs nothing and refuses what CUDA refuses. What real kernels would do wrongly and silently ends
 * the process with a sentence: memory that the device cannot reach, ends of arrays, bad columns. */
#ifndef FAKE_H
#define FAKE_H

#include <stdbool.h>
#include <stddef.h>

/* ----------------------------------------------------------------- machine */

/* Devices: $FAKE_CUDA_DEVICES, by default 2; and the memory of each, by default 1 GiB. */
void fake_devices(int count);
void fake_device_bytes(size_t bytes);

/* The chip: by default few multiprocessors, so that small systems too give a block more than one
 * chunk, and as much of the rest as an H200 has. */
typedef struct fake_chip {
    int multiprocessors;
    size_t shared_bytes; /* of a block */
    int cluster;         /* blocks of one, at most; 0: there are none */
} fake_chip;

#define FAKE_CHIP ((fake_chip){2, 232448, 16})
void fake_set_chip(fake_chip chip);

/* Devices reach all host memory, as on a GH200 or by HMM. */
void fake_reaches_all(bool all);

/* Whether devices may open their memory to each other: by default they do. */
void fake_peers(bool may);

/* Multiprocessors are set apart by so many, by default 1; 0: the driver does not know how. */
void fake_green_contexts(int granule);

/* Work runs as it is enqueued: the earliest moment that is allowed instead of the latest. */
void fake_eager(bool eager);

/* ---------------------------------------------------------------- failures */

/* Names of the calls that can be counted and made to fail: cudaMalloc, ..., and "launch" for
 * kernels; NULL past the end. */
const char *fake_call_name(int k);

/* Calls of that name so far; of all names for NULL. */
long fake_calls(const char *name);

/* The nth call (1: the next) of that name fails with a CUDA error; 0: none does. A call that gives
 * something back does so all the same. */
void fake_fail(const char *name, long nth, int error);

/* The nth piece of device work fails as it runs, and with it all that follows on that device. */
void fake_fail_work(long nth, int error);

/* -------------------------------------------------------------- accounting */

typedef struct fake_counts {
    long device, pinned, managed, registered; /* pieces of memory */
    long streams, events, graphs, execs, greens;
} fake_counts;

/* What lives now, and what was ever made. */
fake_counts fake_live(void);
fake_counts fake_made(void);
long fake_total(fake_counts counts);

/* Bytes of device memory in use, and the most that ever was. */
size_t fake_bytes(void);
size_t fake_peak(void);

/* Pieces of work that wait in streams. */
long fake_waiting(void);

/* True in a thread that is in a call of the runtime, whose own bookkeeping is no allocation of the
 * library's. */
bool fake_inside(void);

#endif
