/* SPDX-License-Identifier: BSD-3-Clause */
/* memmode.h: what a memory mode gives the loop: a link.
 *
 * A link is plain data: for each part the slots in which it publishes its sums, and where the
 * halo of each part lands. A meeting is: every worker of a part arrives; the last one writes the
 * part's sums into its slot and raises the slot's flag; everyone reads the slots of all parts, in
 * order. Slots alternate between two by the meeting's parity: a slot is written again only after
 * its writer passed the next meeting, which all readers of this one have then reached. */
#ifndef YK_IFACE_MEMMODE_H
#define YK_IFACE_MEMMODE_H

#include "lib/flag.h"
#include "lib/part.h"

typedef struct yk_slot {
    yk_flag flag; /* number of the meeting whose sums are here */
    yk_tree sums;
} yk_slot;

typedef struct yk_port {
    yk_slot slot[2];
    yk_flag arrived;         /* workers of the part, in this meeting */
    yk_flag gate;            /* meetings of the part's own team */
    double *halo_z, *halo_x; /* [halo]: where senders write, as they see it */
} yk_port;

typedef struct yk_link {
    int parts;
    yk_port *port; /* [parts] */
    yk_abort abort;
    double deadline; /* seconds that a wait may last */
} yk_link;

typedef struct yk_memmode {
    const char *name, *text;
    size_t (*bytes)(int parts);
    yoke_status (*connect)(yoke_context *context, yk_part *part, int parts, yk_link *link);
    void (*disconnect)(yoke_context *context, yk_link *link);
} yk_memmode;

extern const yk_memmode yk_memmode_host;

#endif
