/* SPDX-License-Identifier: BSD-3-Clause */
/* host.c: CPU parts of one process, joined by plain memory: senders write straight into the
 * receivers' halos. The protocol of every mode, without a GPU. */
#include <string.h>

#include "lib/context.h"
#include "lib/status.h"
#include "memmodes/halos.h"

static void bytes(const yk_part *part, int parts, size_t *host, size_t *device)
{
    (void)part;
    *host = yk_ports_bytes(parts);
    *device = 0;
}

static yoke_status connect(yoke_context *context, yk_part *part, int parts, int device,
                           yk_link *link)
{
    (void)device;
    link->mode = &yk_memmode_host;
    link->memory_bytes = yk_ports_bytes(parts);
    YK_TRY(yk_alloc(context, "slots of the parts", (int64_t)link->memory_bytes, 1, &link->memory));
    yk_link_ports(part, parts, link->memory, link);
    for (int i = 0; i < parts; i++) {
        link->port[i].halo_z = part[i].z + part[i].rows;
        link->port[i].halo_x = part[i].x + part[i].rows;
    }
    return YOKE_OK;
}

static void disconnect(yoke_context *context, yk_link *link)
{
    yk_free(context, link->memory, (int64_t)link->memory_bytes, 1);
    memset(link, 0, sizeof *link);
}

const yk_memmode yk_memmode_host = {
    .name = "host",
    .text = "CPU parts of one process, through plain memory",
    .bytes = bytes,
    .connect = connect,
    .disconnect = disconnect,
};
