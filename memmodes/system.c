/* SPDX-License-Identifier: BSD-3-Clause */
/* system.c: a GPU and CPU parts whose halos are plain memory, which the GPU reaches by itself
 * (NVLink C2C, HMM). Words that are polled lie in mapped memory: without C2C a look at a plain page
 * may fault and move it. */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "lib/context.h"
#include "lib/cuda/shared.h"
#include "lib/status.h"
#include "memmodes/halos.h"

static size_t page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Of halos on pages that hold nothing else: what moves, or is to stay, is whole pages. */
static size_t halo_bytes(const yk_part *part, int parts)
{
    return (yk_halos_bytes(part, parts) / page() + 2) * page();
}

static void bytes(const yk_part *part, int parts, size_t *host, size_t *device)
{
    *host = yk_ports_bytes(parts) + halo_bytes(part, parts);
    *device = 0;
}

/* Touched now, so that no page is made in the loop. */
static yoke_status connect(yoke_context *context, yk_part *part, int parts, int device,
                           yk_link *link)
{
    void *gpu;
    link->mode = &yk_memmode_system;
    link->halo_bytes = halo_bytes(part, parts);
    YK_TRY(yk_shared_allocate_mapped(device, "slots of the parts", yk_ports_bytes(parts),
                                     &link->memory, &gpu));
    YK_TRY(yk_alloc(context, "halos of the parts", (int64_t)link->halo_bytes, 1, &link->halos));
    char *first = (char *)link->halos + (page() - (uintptr_t)link->halos % page()) % page();
    yk_shared_keep_on_host(device, first, link->halo_bytes - page());
    memset(link->halos, 0, link->halo_bytes);
    yk_link_ports(part, parts, link->memory, link);
    yk_link_gpu_ports(parts, gpu, link);
    yk_link_halos(part, parts, first, first, link);
    return YOKE_OK;
}

static void disconnect(yoke_context *context, yk_link *link)
{
    yk_free(context, link->halos, (int64_t)link->halo_bytes, 1);
    yk_shared_free_mapped(link->memory);
    memset(link, 0, sizeof *link);
}

const yk_memmode yk_memmode_system = {
    .name = "system",
    .text = "plain memory that the GPU reaches by itself",
    .reason = yk_shared_no_plain,
    .bytes = bytes,
    .connect = connect,
    .disconnect = disconnect,
};
