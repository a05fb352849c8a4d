/* SPDX-License-Identifier: BSD-3-Clause */
/* callback.c: calling a user's operator or preconditioner in the caller's numbering. */
#include <string.h>

#include "solvers/cg/cg.h"

double *yk_cg_vector(const yk_cg *cg, int part, yk_vector which)
{
    const yk_part *p = &cg->part[part];
    switch (which) {
    case YK_VECTOR_X: return p->x;
    case YK_VECTOR_R: return p->r;
    case YK_VECTOR_Z: return p->z;
    case YK_VECTOR_P: return p->p;
    case YK_VECTOR_Q: return p->q;
    case YK_VECTOR_S: return p->s;
    case YK_VECTOR_T: return p->t;
    case YK_VECTOR_M: return p->m[cg->newest_p];
    }
    return NULL;
}

typedef struct transfer {
    double *whole;
    yk_vector which;
    bool gather;
} transfer;

static void transfer_piece(yk_cg *cg, yk_piece *piece, void *user)
{
    const transfer *t = user;
    double *rows = yk_cg_vector(cg, piece->part, t->which) + piece->first;
    double *whole = t->whole + cg->part[piece->part].first + piece->first;
    size_t bytes = (size_t)(piece->last - piece->first) * sizeof *rows;
    if (t->gather)
        memcpy(whole, rows, bytes);
    else
        memcpy(rows, whole, bytes);
}

bool yk_cpu_apply(yk_cg *cg, const yoke_operator *op, yk_vector in, yk_vector out)
{
    double *from = yk_cg_vector(cg, 0, in), *to = yk_cg_vector(cg, 0, out);
    if (cg->parts > 1) {
        from = cg->staging[0];
        to = cg->staging[1];
        yk_team_run(cg, transfer_piece, &(transfer){from, in, true});
    }
    if (op->apply(op->user, 1, from, to, YOKE_HOST, NULL) != 0) return false;
    if (cg->parts > 1) yk_team_run(cg, transfer_piece, &(transfer){to, out, false});
    return true;
}

void yk_cg_note_failed_callback(yk_cg *cg, const yoke_operator *op)
{
    cg->failed_callback = op == cg->op ? "operator" : "preconditioner";
}

bool yk_cg_callback(yk_cg *cg, const yoke_operator *op, yk_vector in, yk_vector out)
{
    if (cg->driver->engine->apply(cg, op, in, out)) return true;
    yk_cg_note_failed_callback(cg, op);
    return false;
}
