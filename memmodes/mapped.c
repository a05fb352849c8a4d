/* SPDX-License-Identifier: BSD-3-Clause */
/* mapped.c: a GPU and CPU parts through pinned host memory that the GPU maps: everything that
 * crosses lies on the host, and whoever sends writes it straight to where it is read. */
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
    size_t ports = yk_ports_bytes(parts), halos = yk_halos_bytes(part, parts);
    void *gpu;
    (void)context;
    link->mode = &yk_memmode_mapped;
    YK_TRY(yk_shared_allocate_mapped(device, "slots and halos of the parts", ports + halos,
                                     &link->memory, &gpu));
    yk_link_ports(part, parts, link->memory, link);
    yk_link_gpu_ports(parts, gpu, link);
    yk_link_halos(part, parts, (char *)link->memory + ports, (char *)gpu + ports, link);
    return YOKE_OK;
}

static void disconnect(yoke_context *context, yk_link *link)
{
    (void)context;
    yk_shared_free_mapped(link->memory);
    memset(link, 0, sizeof *link);
}

const yk_memmode yk_memmode_mapped = {
    .name = "mapped",
    .text = "pinned host memory mapped into the GPU",
    .reason = yk_shared_no_mapped,
    .bytes = bytes,
    .connect = connect,
    .disconnect = disconnect,
};
