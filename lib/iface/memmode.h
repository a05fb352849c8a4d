/* SPDX-License-Identifier: BSD-3-Clause */
/* memmode.h: what a memory mode gives the loop: a link. In the subset of C11 and CUDA.
 *
 * A link is plain data: for each part the slots in which it publishes its sums, and where the
 * halo of each part lands. A meeting is: every worker of a part arrives; the last one writes the
 * part's sums into its slot and raises the slot's flag; everyone reads the slots of all parts, in
 * order. Slots alternate between two by the meeting's parity: a slot is written again only after
 * its writer passed the next meeting, which all readers of this one have then reached.
 *
 * A GPU meets the CPU in one of two ways. By flags: slots, flags and the abort word lie where both
 * reach them, and a kernel publishes and waits as a CPU worker does. By events: a CPU worker waits
 * for the GPU's sums to have come down, publishes them in its name, and sends up what follows. */
#ifndef YK_IFACE_MEMMODE_H
#define YK_IFACE_MEMMODE_H

#include <stddef.h>
#include <yoke.h>

#include "lib/flag.h"
#include "lib/sum.h"

typedef struct yk_slot {
    yk_flag flag; /* number of the meeting whose sums are here */
    yk_tree sums;
} yk_slot;

/* Of one part. Halos are [halo] of the part, in its order.
 *
 * halo_z is where CPU workers send z; a CPU part reads it there. gpu_z is the same for a GPU: it
 * sends to a CPU part's and reads its own. By flags both are one memory; by events gpu_z is the
 * device's and the host copies: a CPU part's gpu_z into its halo_z, the GPU's halo_z into its
 * gpu_z.
 *
 * x travels outside the loop alone, and the host copies for the GPU in any case, once the device
 * has been waited for: a CPU part's halo_x is the end of its x, and what the GPU sends it comes by
 * its gpu_x; the GPU's halo_x is host memory, to be copied behind its x. Where the cut moves x of a
 * halo has its places among the part's rows, so there all of these are slots as those of z are, to
 * be taken from in the part's order, and the GPU's own gpu_x is its view of them. */
typedef struct yk_port {
    yk_slot slot[2];
    yk_flag arrived; /* workers of the part, in this meeting */
    yk_flag gate;    /* meetings of the part's own team */
    double *halo_z, *halo_x;
    double *gpu_z, *gpu_x; /* as the GPU sees them; NULL without one, and its own gpu_x */
} yk_port;

/* What crosses between C and CUDA lies alike in both. */
static_assert(sizeof(yk_tree) == 2128 && offsetof(yk_tree, sum) == 80, "yk_tree, to C and to CUDA");
static_assert(sizeof(yk_slot) == 2240 && offsetof(yk_slot, sums) == 64,
              "yk_slot, to C and to CUDA");
static_assert(sizeof(yk_port) == 4672, "yk_port, to C and to CUDA");

/* GPUs of one process that meet, at most. */
enum { YK_MOST_GPUS = 8 };

typedef enum yk_meeting { YK_MEET_BY_FLAGS, YK_MEET_BY_EVENTS } yk_meeting;

typedef struct yk_memmode yk_memmode;

typedef struct yk_link {
    const yk_memmode *mode; /* that made it; NULL: there is none */
    int parts;
    yk_port *port; /* [parts] */
    yk_abort *abort;
    double deadline; /* seconds that a wait may last */

    int gpu; /* which part a GPU owns; -1: none, and what follows means nothing */
    yk_meeting meeting;
    int nodes;         /* of a part's tree, at most */
    yk_port *gpu_port; /* by flags, as the GPU sees them; else NULL */
    yk_abort *gpu_abort;

    void *memory, *halos; /* the mode's: ports and abort word; halos, where they lie apart */
    void *device_halos;
    size_t memory_bytes, halo_bytes;
} yk_link;

typedef struct yk_part yk_part; /* lib/part.h */

struct yk_memmode {
    const char *name, *text;
    /* Why it cannot join that GPU and the CPU on this machine; "" if it can. NULL: it joins CPU
     * parts alone. */
    const char *(*reason)(int device);
    /* That connect takes for these parts. */
    void (*bytes)(const yk_part *part, int parts, size_t *host, size_t *device);
    /* device: of the GPU's part, if there is one. After a failure too, disconnect gives back what
     * was taken. The parts' vectors are there. */
    yoke_status (*connect)(yoke_context *context, yk_part *part, int parts, int device,
                           yk_link *link);
    void (*disconnect)(yoke_context *context, yk_link *link);
};

extern const yk_memmode yk_memmode_host;
/* Of a build with CUDA. */
extern const yk_memmode yk_memmode_explicit, yk_memmode_mapped, yk_memmode_managed,
    yk_memmode_system;

#endif
