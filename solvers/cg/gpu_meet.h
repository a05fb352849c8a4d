/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_meet.h: how a GPU's part meets the others. It is the first part, so that its chunks are those
 * of the system from 0 on, or from view.sums.first_chunk on. Its passes leave their blocks' nodes
 * (view.sums.apart); a kernel of one block makes the part's tree of them, and by flags also
 * publishes it, waits for the other parts and takes the scalars' next step. No CUDA header: a
 * stream is a void *, an error an int (cudaError_t).
 *
 * All are enqueued on the stream and return at once. With a loop they do nothing once it has ended;
 * loop NULL (tree, send): outside of one. */
#ifndef YK_CG_GPU_MEET_H
#define YK_CG_GPU_MEET_H

#include "lib/iface/memmode.h"
#include "solvers/cg/gpu.h"

/* A link as the kernel that meets has it: addresses are the device's. */
typedef struct yk_gpu_link {
    yk_port *port; /* [parts] */
    yk_abort *abort;
    int parts, me;
    int nodes;       /* of a part's tree, at most */
    double deadline; /* seconds that a wait may last */
} yk_gpu_link;

/* Of a link by flags. */
YK_INLINE yk_gpu_link yk_gpu_link_of(const yk_link *link)
{
    yk_gpu_link of = {link->gpu_port, link->gpu_abort, link->parts,
                      link->gpu,      link->nodes,     link->deadline};
    return of;
}

#ifdef __cplusplus
extern "C" {
#endif

/* The tree of the pass before, a task with sums: into device memory, or any that the device
 * reaches. */
int yk_gpu_launch_tree(const yk_gpu_view *view, int task, const yk_gpu_loop *loop, yk_tree *tree,
                       void *stream);

/* The same of rows that begin with any chunk, or whose chunks were left: gpu_tree_at.cu. */
int yk_gpu_launch_tree_at(const yk_gpu_view *view, int task, const yk_gpu_loop *loop, yk_tree *tree,
                          void *stream);
int yk_gpu_load_tree_at(void);

/* The meeting after a task: number loop->meetings + 1, which is then loop->meetings. After an abort
 * or the deadline, which raises it, the loop ends with YK_CG_ABORTED. Waits for nobody where the
 * flags of the others' slots are at that number or beyond: its solo form, for sanitizers and
 * profilers. The link's ports are the device's addresses. */
int yk_gpu_launch_meet(const yk_gpu_view *view, int task, yk_gpu_loop *loop,
                       const yk_gpu_link *link, void *stream);

/* to[k] = from[row[k]] for k < count: the boundary on its way to a neighbour, or to where the host
 * fetches it. row is device memory; to is anything that the device reaches, and is in its reader's
 * view by the next meeting, or once the stream has been waited for. The view says whether it may
 * begin while the pass before ends. */
int yk_gpu_launch_send(const yk_gpu_view *view, const double *from, const int32_t *row,
                       int64_t count, double *to, const yk_gpu_loop *loop, void *stream);

/* p of the halo from its z, which the neighbours sent: p[rows + k] = beta p[rows + k] + (z[k] -
 * shift) for k < halo, as team_boundary.c does for its own. */
int yk_gpu_launch_halo(const yk_gpu_view *view, int64_t halo, const double *z,
                       const yk_gpu_loop *loop, void *stream);

/* The same beside a cut that moves: p[at[k]], of rows that the part holds without working on them
 * or behind those, at in device memory. */
int yk_gpu_launch_halo_at(const yk_gpu_view *view, const int32_t *at, int64_t halo, const double *z,
                          const yk_gpu_loop *loop, void *stream);

/* to[at[k]] = from[k] for k < count, outside of a loop; at in device memory. */
int yk_gpu_launch_place(const yk_gpu_view *view, const double *from, const int32_t *at,
                        int64_t count, double *to, void *stream);

/* Loads these kernels; by yk_gpu_load_kernels. */
int yk_gpu_load_meeting(void);

#ifdef __cplusplus
}
#endif

#endif
