/* SPDX-License-Identifier: BSD-3-Clause */
/* team_boundary.c: what a CPU part sends of its rows, and what it makes of what it was sent. */
#include <string.h>

#include "solvers/cg/cuts.h"
#include "solvers/cg/ranks.h"
#include "solvers/cg/team.h"

/* Where it goes: to another part, or with others' to another rank. What only CPU parts send goes
 * straight behind the receiver's rows. */
static double *halo_of(const yk_cg *cg, const yk_send *send, yk_boundary which)
{
    if (cg->ranks && send->to >= cg->parts) return cg->ranks->packed[which];
    const yk_port *port = &cg->link.port[send->to];
    const yk_part *to = &cg->part[send->to];
    if (which == YK_BOUNDARY_Z) return port->halo_z;
    if (which == YK_BOUNDARY_X || cg->cuts) return port->halo_x;
    return yk_boundary_vector(to, which) + to->rows;
}

void yk_send_boundary(const yk_cg *cg, const yk_piece *piece, yk_boundary which)
{
    const yk_part *part = &cg->part[piece->part];
    const double *from = yk_boundary_vector(part, which);
    if (cg->whole_z && which == YK_BOUNDARY_Z && piece->first < piece->last)
        memcpy(cg->whole_z + part->first + piece->first, from + piece->first,
               (size_t)(piece->last - piece->first) * sizeof *from);
    for (int i = 0; i < part->sends; i++) {
        const yk_send *send = &part->send[i];
        double *to = halo_of(cg, send, which) + send->at;
        for (int64_t k = piece->send_first[2 * i]; k < piece->send_first[2 * i + 1]; k++)
            to[k] = from[send->row[k]];
    }
}

/* p of the halo is updated by its reader: only z travels, to where the link says. */
void yk_team_direct_halo(const yk_cg *cg, const yk_cg_rows *c, const yk_piece *piece,
                         const double *p_old)
{
    const double *z = cg->link.port[piece->part].halo_z;
    const int64_t rows = cg->part[piece->part].rows;
    const yk_moving *moving = &cg->part[piece->part].moving;
    if (moving->on) {
        for (int64_t k = piece->halo_first; k < piece->halo_last; k++) {
            int32_t i = moving->at[k];
            c->p[i] = yk_fma(c->beta, p_old[i], z[k] - c->shift);
        }
        return;
    }
    for (int64_t k = piece->halo_first; k < piece->halo_last; k++)
        c->p[rows + k] = yk_fma(c->beta, p_old[rows + k], z[k] - c->shift);
}

static void send_piece(yk_cg *cg, yk_piece *piece, void *user)
{
    const yk_boundary *which = user;
    yk_send_boundary(cg, piece, *which);
}

void yk_team_send(yk_cg *cg, yk_boundary which)
{
    yk_team_run(cg, send_piece, &which);
}
