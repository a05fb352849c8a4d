/* SPDX-License-Identifier: BSD-3-Clause */
/* gpus_state.h: what a plan holds of several GPUs. Each is a yk_gpu_state as that of a plan with
 * one, and is worked with through a yk_cg of its part alone. */
#ifndef YK_CG_GPUS_STATE_H
#define YK_CG_GPUS_STATE_H

#include "solvers/cg/gpu_state.h"
#include "solvers/cg/gpus.h"

typedef struct yk_gpus_one {
    struct yk_gpu_state *gpu; /* NULL: not open */
    double matrix_bytes;      /* see yk_cg */
    size_t wanted;            /* bytes that its part is to take, once that is asked */
    yk_port *port;            /* its inbox: [parts], */
    double *z, *x;            /* and [halo] each */
    yk_gpus_link link;
} yk_gpus_one;

struct yk_gpus {
    yk_gpus_one one[YK_MOST_GPUS];
    bool by_flags;   /* else by events */
    bool in_peers;   /* inboxes lie in their owners' memory, else in pinned host memory */
    yk_abort *abort; /* pinned */
};

/* The state as if part i were all: its engine's calls work on that, and leave the loop's scalars
 * and the status there. */
yk_cg yk_gpus_cg(const yk_cg *cg, int i);

static inline struct yk_gpu_state *yk_gpus_gpu(const yk_cg *cg, int i)
{
    return cg->several->one[i].gpu;
}

/* gpus_inbox.c: once all are open, how they meet, and the memory for it; its end; bytes of part
 * i's inbox, wherever it lies, and beside it on the device. */
yoke_status yk_gpus_open_inboxes(yk_cg *cg);
void yk_gpus_close_inboxes(yk_cg *cg);
size_t yk_gpus_inbox_bytes(const yk_cg *cg, int i);

/* gpus_inbox.c: part i's boundary into the inboxes of those that need it, enqueued; loop NULL:
 * outside of it. */
yoke_status yk_gpus_send(const yk_cg *cg, int i, yk_boundary which, const yk_gpu_loop *loop);

#endif
