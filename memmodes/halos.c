/* SPDX-License-Identifier: BSD-3-Clause */
/* halos.c: ports and halos of a link, laid out in memory of any kind. */
#include "memmodes/halos.h"

#include <string.h>

/* Doubles of a line of the GPU's, which no two parts' halos share. */
enum { LINE = 16 };

size_t yk_ports_bytes(int parts)
{
    return (size_t)parts * sizeof(yk_port) + sizeof(yk_abort);
}

static size_t stride(const yk_part *part)
{
    return (size_t)(yk_part_slots(part) + LINE - 1) / LINE * LINE;
}

size_t yk_halos_bytes(const yk_part *part, int parts)
{
    size_t doubles = 0;
    for (int i = 0; i < parts; i++) doubles += 2 * stride(&part[i]);
    return doubles * sizeof(double);
}

/* Nodes of the tree over chunks [first, end): the widest that begins at `first` and ends within,
 * and so on. */
int yk_link_nodes(int64_t first, int64_t end)
{
    int nodes = 0;
    for (; first < end; nodes++) {
        int64_t width = 1;
        while ((first & width) == 0 && first + 2 * width <= end) width *= 2;
        first += width;
    }
    return nodes;
}

void yk_link_ports(const yk_part *part, int parts, void *memory, yk_link *link)
{
    memset(memory, 0, yk_ports_bytes(parts));
    link->parts = parts;
    link->port = memory;
    link->abort = (yk_abort *)(link->port + parts);
    link->deadline = 600.0;
    link->gpu = -1;
    link->nodes = 0;
    for (int i = 0; i < parts; i++) {
        int64_t first = part[i].first / YK_CHUNK;
        int nodes = yk_link_nodes(first, first + yk_chunks(part[i].rows));
        if (nodes > link->nodes) link->nodes = nodes;
        if (part[i].owner == YK_OWNER_GPU) link->gpu = i;
    }
}

void yk_link_gpu_ports(int parts, void *memory, yk_link *link)
{
    link->meeting = YK_MEET_BY_FLAGS;
    link->gpu_port = memory;
    link->gpu_abort = (yk_abort *)(link->gpu_port + parts);
}

/* Beside the halos of z lie those of x: of a CPU part what a GPU sends it, of the GPU's what the
 * others do. */
void yk_link_halos(const yk_part *part, int parts, void *host, void *gpu, yk_link *link)
{
    double *here = host, *there = gpu;
    for (int i = 0; i < parts; i++) {
        yk_port *port = &link->port[i];
        size_t z = stride(&part[i]);
        bool is_gpu = part[i].owner == YK_OWNER_GPU, moves = part[i].moving.on;
        port->halo_z = here;
        port->gpu_z = there;
        port->halo_x = is_gpu || moves ? here + z : part[i].x + part[i].rows;
        port->gpu_x = is_gpu && !moves ? NULL : there + z;
        here += 2 * z;
        there += 2 * z;
    }
}
