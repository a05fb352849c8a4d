/* SPDX-License-Identifier: BSD-3-Clause */
/* host.c: CPU parts of one process, joined by plain memory: senders write straight into the
 * receivers' halos. The protocol of every mode, without a GPU. */
#include <string.h>

#include "lib/context.h"
#include "lib/iface/memmode.h"
#include "lib/status.h"

static size_t bytes(int parts)
{
    return (size_t)parts * sizeof(yk_port);
}

static yoke_status connect(yoke_context *context, yk_part *part, int parts, yk_link *link)
{
    YK_TRY(yk_alloc(context, "slots of the parts", parts, sizeof(yk_port), &link->port));
    memset(link->port, 0, bytes(parts));
    link->parts = parts;
    link->deadline = 600.0;
    yk_flag_set(&link->abort, 0);
    for (int i = 0; i < parts; i++) {
        link->port[i].halo_z = part[i].z + part[i].rows;
        link->port[i].halo_x = part[i].x + part[i].rows;
    }
    return YOKE_OK;
}

static void disconnect(yoke_context *context, yk_link *link)
{
    yk_free(context, link->port, link->parts, sizeof(yk_port));
    link->port = NULL;
}

const yk_memmode yk_memmode_host = {
    .name = "host",
    .text = "CPU parts of one process, through plain memory",
    .bytes = bytes,
    .connect = connect,
    .disconnect = disconnect,
};
