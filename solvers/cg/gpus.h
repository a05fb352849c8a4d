/* SPDX-License-Identifier: BSD-3-Clause */
/* gpus.h: how several GPUs of one process meet. Each has an inbox, in which the others put what it
 * needs by kernels that store there: the sums of their parts, a slot a part as CPU parts have them,
 * and z of its halo. It lies in the GPU's own memory where all others reach that, else in pinned
 * host memory. All take the scalars' next step from the same slots in the same order.
 *
 * By flags the kernel that published waits for the others: one launch a meeting. By events it ends
 * there, the stream waits for those of the others, and a second kernel takes the step. No CUDA
 * header: a stream is a void *, an error an int (cudaError_t). */
#ifndef YK_CG_GPUS_H
#define YK_CG_GPUS_H

#include "solvers/cg/gpu_meet.h"

/* Where one of them meets the others: addresses as it sees them. */
typedef struct yk_gpus_link {
    yk_gpu_link own;              /* its inbox's slots: port[i] is for part i */
    yk_port *inbox[YK_MOST_GPUS]; /* of each part; [own.me] is own.port */
    int64_t first_chunk;          /* of its rows */
} yk_gpus_link;

/* What a launch does of a meeting. */
enum { YK_GPUS_PUBLISH = 1, YK_GPUS_WAIT = 2, YK_GPUS_CONCLUDE = 4 };

/* A part's first chunk is a multiple of this where its passes go by warps or by several chunks a
 * block: then what a block leaves is a node of the system's tree. */
enum { YK_GPUS_CHUNKS = 16 };

#ifdef __cplusplus
extern "C" {
#endif

/* Phases of the meeting after a task with sums: number loop->meetings + 1, which is then
 * loop->meetings. After an abort or the deadline, which raises it, the loop ends with
 * YK_CG_ABORTED. With a loop it does nothing once that has ended; loop NULL: outside of one, the
 * part's sums go to its own inbox alone, to slot 0. Waits for nobody whose flag is at that number
 * or beyond: its solo form. cudaErrorInvalidValue where the first chunk is not of whole blocks. */
int yk_gpus_launch_meet(const yk_gpu_view *view, int task, yk_gpu_loop *loop,
                        const yk_gpus_link *link, int phases, void *stream);

/* Loads these kernels: nothing is when one that waits is running. */
int yk_gpus_load_meeting(void);

#ifdef __cplusplus
}
#endif

#endif
