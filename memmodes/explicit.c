/* SPDX-License-Identifier: BSD-3-Clause */
/* explicit.c: a GPU and CPU parts with copies of their own of every halo: the host copies between
 * them and meets in the GPU's name. Needs nothing of a GPU but asynchronous copies. */
#include <string.h>

#include "lib/cuda/shared.h"
#include "lib/status.h"
#include "memmodes/halos.h"

static const char *reason(int device)
{
    (void)device;
    return "";
}

static void bytes(const yk_part *part, int parts, size_t *host, size_t *device)
{
    *device = yk_halos_bytes(part, parts);
    *host = yk_ports_bytes(parts) + *device;
}

/* The host's halos are pinned, so that copies run while the host goes on. */
static yoke_status connect(yoke_context *context, yk_part *part, int parts, int device,
                           yk_link *link)
{
    size_t ports = yk_ports_bytes(parts), halos = yk_halos_bytes(part, parts);
    void *unused;
    (void)context;
    link->mode = &yk_memmode_explicit;
    YK_TRY(yk_shared_allocate_mapped(device, "slots and halos of the parts", ports + halos,
                                     &link->memory, &unused));
    YK_TRY(yk_shared_allocate_device(device, "halos of the parts", halos, &link->device_halos));
    yk_link_ports(part, parts, link->memory, link);
    yk_link_halos(part, parts, (char *)link->memory + ports, link->device_halos, link);
    link->meeting = YK_MEET_BY_EVENTS;
    return YOKE_OK;
}

static void disconnect(yoke_context *context, yk_link *link)
{
    (void)context;
    yk_shared_free_device(link->device_halos);
    yk_shared_free_mapped(link->memory);
    memset(link, 0, sizeof *link);
}

const yk_memmode yk_memmode_explicit = {
    .name = "explicit",
    .text = "separate host and device copies, moved by asynchronous copies",
    .reason = reason,
    .bytes = bytes,
    .connect = connect,
    .disconnect = disconnect,
};
