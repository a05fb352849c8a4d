/* SPDX-License-Identifier: BSD-3-Clause */
/* gpus_inbox.c: where several GPUs put what they have for each other, and who reaches it. */
#include <stdlib.h>
#include <string.h>

#include "lib/context.h"
#include "lib/cuda/peers.h"
#include "lib/cuda/shared.h"
#include "lib/status.h"
#include "memmodes/halos.h"
#include "solvers/cg/gpus_state.h"

/* -------------------------------------------------------------------- sizes */

static size_t ports_bytes(const yk_cg *cg)
{
    return (size_t)cg->gpus * sizeof(yk_port);
}

static size_t halo_bytes(const yk_part *part)
{
    return (size_t)part->halo * sizeof(double);
}

static int64_t count_sent(const yk_part *part)
{
    int64_t count = 0;
    for (int i = 0; i < part->sends; i++) count += part->send[i].count;
    return count;
}

size_t yk_gpus_inbox_bytes(const yk_cg *cg, int i)
{
    const yk_part *part = &cg->part[i];
    return ports_bytes(cg) + 2 * halo_bytes(part) + (size_t)count_sent(part) * sizeof(int32_t);
}

/* ------------------------------------------------------------------ how to */

static bool are_distinct(const yk_cg *cg)
{
    for (int i = 0; i < cg->gpus; i++)
        for (int k = 0; k < i; k++)
            if (cg->gpu_device[i] == cg->gpu_device[k]) return false;
    return true;
}

/* Kernels that wait for each other on one device may not both have room there; and nobody launches
 * the second while the first is waited for. */
static bool may_wait(const yk_cg *cg)
{
    const char *blocks = getenv("CUDA_LAUNCH_BLOCKING");
    bool launches_block = blocks && *blocks && strcmp(blocks, "0") != 0;
    return are_distinct(cg) && !launches_block;
}

static yoke_status choose_way(yk_cg *cg)
{
    struct yk_gpus *all = cg->several;
    if (cg->gpus_way != YK_GPUS_MAPPED)
        YK_TRY(yk_peers_open(cg->gpu_device, cg->gpus, &all->in_peers));
    bool best = all->in_peers || cg->gpus_way == YK_GPUS_MAPPED;
    all->by_flags = best && cg->gpus_way != YK_GPUS_BY_EVENTS && may_wait(cg);
    cg->met_by = all->by_flags
                     ? all->in_peers ? "flags in peer memory" : "flags in pinned host memory"
                 : all->in_peers ? "events, through peer memory"
                                 : "events, through pinned host memory";
    for (int i = 0; i < cg->gpus && !all->in_peers; i++) {
        const char *reason = yk_shared_no_mapped(cg->gpu_device[i]);
        if (*reason)
            return yk_fail(YOKE_UNUSABLE,
                           "device %d: several GPUs without peer access meet in pinned host "
                           "memory: %s",
                           cg->gpu_device[i], reason);
    }
    return YOKE_OK;
}

/* ------------------------------------------------------------------- memory */

static yoke_status upload_sends(const yk_cg *cg, int i)
{
    struct yk_gpu_state *gpu = yk_gpus_gpu(cg, i);
    const yk_part *part = &cg->part[i];
    int32_t **row = &gpu->beside.send_row;
    int64_t at = 0;
    YK_TRY(yk_device_allocate(&gpu->device, "rows to send", count_sent(part), sizeof **row, row));
    for (int s = 0; s < part->sends; at += part->send[s++].count)
        YK_TRY(yk_device_copy(&gpu->device, *row + at, part->send[s].row,
                              (size_t)part->send[s].count * sizeof **row));
    return yk_device_wait(&gpu->device);
}

static yoke_status allocate_inbox(const yk_cg *cg, int i)
{
    yk_gpus_one *one = &cg->several->one[i];
    const yk_device *device = &one->gpu->device;
    size_t halo = halo_bytes(&cg->part[i]), bytes = ports_bytes(cg) + 2 * halo;
    yk_memory kind = cg->several->in_peers ? YK_MEMORY_DEVICE : YK_MEMORY_MAPPED;
    char *memory;
    YK_TRY(yk_device_allocate_in(device, kind, "inbox of a part", (int64_t)bytes, 1, &memory));
    one->port = (yk_port *)memory;
    void *behind_ports = memory + ports_bytes(cg);
    one->z = behind_ports;
    one->x = one->z + cg->part[i].halo;
    YK_TRY(yk_device_clear(device, memory, bytes));
    return yk_device_wait(device);
}

static yoke_status open_one(const yk_cg *cg, int i)
{
    struct yk_gpu_state *gpu = yk_gpus_gpu(cg, i);
    int previous = yk_device_enter(&gpu->device);
    yoke_status status = yk_device_try(yk_gpus_load_meeting(), "loading the kernels");
    if (status == YOKE_OK) status = upload_sends(cg, i);
    if (status == YOKE_OK) status = allocate_inbox(cg, i);
    if (status == YOKE_OK)
        status = yk_device_allocate_pinned("sums of a part", sizeof(yk_tree), &gpu->beside.seen);
    yk_device_leave(previous);
    gpu->sums.apart = 1;
    return status;
}

static void link_one(const yk_cg *cg, int i, int nodes)
{
    struct yk_gpus *all = cg->several;
    yk_gpus_link *link = &all->one[i].link;
    link->own = (yk_gpu_link){.port = all->one[i].port,
                              .abort = all->abort,
                              .parts = cg->gpus,
                              .me = i,
                              .nodes = nodes,
                              .deadline = cg->link.deadline};
    for (int k = 0; k < cg->gpus; k++) link->inbox[k] = all->one[k].port;
    link->first_chunk = cg->part[i].first / YK_CHUNK;
}

/* Of the parts' trees, the most nodes. */
static int widest(const yk_cg *cg)
{
    int most = 0;
    for (int i = 0; i < cg->gpus; i++) {
        int64_t first = cg->part[i].first / YK_CHUNK;
        int nodes = yk_link_nodes(first, first + yk_chunks(cg->part[i].rows));
        if (nodes > most) most = nodes;
    }
    return most;
}

/* Pinned memory is taken with a device of ours current: the caller's may be one that is not used.
 */
static yoke_status open_abort(yk_cg *cg)
{
    yk_abort **word = &cg->several->abort;
    int previous = yk_device_enter(&yk_gpus_gpu(cg, 0)->device);
    yoke_status status = yk_device_allocate_pinned("the abort word", sizeof **word, word);
    yk_device_leave(previous);
    if (status == YOKE_OK) memset(*word, 0, sizeof **word);
    return status;
}

yoke_status yk_gpus_open_inboxes(yk_cg *cg)
{
    YK_TRY(choose_way(cg));
    YK_TRY(open_abort(cg));
    for (int i = 0; i < cg->gpus; i++) YK_TRY(open_one(cg, i));
    cg->link.deadline = 600.0;
    for (int i = 0; i < cg->gpus; i++) link_one(cg, i, widest(cg));
    return YOKE_OK;
}

void yk_gpus_close_inboxes(yk_cg *cg)
{
    struct yk_gpus *all = cg->several;
    for (int i = 0; i < cg->gpus; i++) {
        struct yk_gpu_state *gpu = all->one[i].gpu;
        if (!gpu) continue;
        int previous = yk_device_enter(&gpu->device);
        yk_device_free(gpu->beside.send_row);
        yk_device_free_pinned(gpu->beside.seen);
        yk_device_free(all->one[i].port);
        if (i == 0) yk_device_free_pinned(all->abort);
        yk_device_leave(previous);
    }
}

/* -------------------------------------------------------------------- send */

yoke_status yk_gpus_send(const yk_cg *cg, int i, yk_boundary which, const yk_gpu_loop *loop)
{
    const yk_part *part = &cg->part[i];
    const yk_cg one = yk_gpus_cg(cg, i);
    const yk_gpu_view view = yk_gpu_view_of(&one, 0);
    const double *from = yk_boundary_vector(part, which);
    const int32_t *row = one.gpu->beside.send_row;
    for (int s = 0; s < part->sends; row += part->send[s++].count) {
        const yk_send *send = &part->send[s];
        const yk_gpus_one *to = &cg->several->one[send->to];
        double *at = (which == YK_BOUNDARY_Z ? to->z : to->x) + send->at;
        YK_TRY(yk_device_try(
            yk_gpu_launch_send(&view, from, row, send->count, at, loop, one.gpu->device.stream),
            "sending the boundary"));
    }
    return YOKE_OK;
}
