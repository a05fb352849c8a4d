/* SPDX-License-Identifier: BSD-3-Clause */
/* halos.h: what the modes that join a GPU and CPU parts have in common: how ports and halos lie in
 * memory that was taken for them. */
#ifndef YK_MEMMODES_HALOS_H
#define YK_MEMMODES_HALOS_H

#include "lib/iface/memmode.h"
#include "lib/part.h"

/* Bytes of the ports and the abort word. */
size_t yk_ports_bytes(int parts);

/* Bytes of z and of x of all halos; a part's begin on a line of their own. */
size_t yk_halos_bytes(const yk_part *part, int parts);

/* Nodes of the tree over chunks [first, end). */
int yk_link_nodes(int64_t first, int64_t end);

/* Clears the memory, where ports and abort word will lie as the host sees it, and sets what needs
 * no halo. */
void yk_link_ports(const yk_part *part, int parts, void *memory, yk_link *link);

/* And as the GPU sees it: the link is one by flags. */
void yk_link_gpu_ports(int parts, void *memory, yk_link *link);

/* Halos in memory of that many bytes: as the host sees it, and as the GPU does or, by events, in
 * memory of the device's. */
void yk_link_halos(const yk_part *part, int parts, void *host, void *gpu, yk_link *link);

#endif
