/* SPDX-License-Identifier: BSD-3-Clause */
/* managed.c: a GPU and CPU parts whose halos are managed memory. Words that are polled lie in
 * mapped memory as in that mode: managed memory promises no order between a kernel and a host that
 * look at it meanwhile, on every GPU. */
#include <string.h>

#include "lib/cuda/shared.h"
#include "lib/status.h"
#include "memmodes/halos.h"

static void bytes(const yk_part *part, int parts, size_t *host, size_t *device)
{
    *host = yk_ports_bytes(parts) + yk_halos_bytes(part, parts);
    *device = 0;
}

static yoke_status connect(yoke_context *context, yk_part *part, int parts, int device,
                           yk_link *link)
{
    void *gpu;
    (void)context;
    link->mode = &yk_memmode_managed;
    YK_TRY(yk_shared_allocate_mapped(device, "slots of the parts", yk_ports_bytes(parts),
                                     &link->memory, &gpu));
    YK_TRY(yk_shared_allocate_managed(device, "halos of the parts", yk_halos_bytes(part, parts),
                                      &link->halos));
    yk_link_ports(part, parts, link->memory, link);
    yk_link_gpu_ports(parts, gpu, link);
    yk_link_halos(part, parts, link->halos, link->halos, link);
    return YOKE_OK;
}

static void disconnect(yoke_context *context, yk_link *link)
{
    (void)context;
    yk_shared_free_managed(link->halos);
    yk_shared_free_mapped(link->memory);
    memset(link, 0, sizeof *link);
}

const yk_memmode yk_memmode_managed = {
    .name = "managed",
    .text = "cudaMallocManaged with placement advice",
    .reason = yk_shared_no_managed,
    .bytes = bytes,
    .connect = connect,
    .disconnect = disconnect,
};
