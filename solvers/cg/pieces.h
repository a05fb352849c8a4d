/* SPDX-License-Identifier: BSD-3-Clause */
/* pieces.h: which rows of a part, of its halo and of its boundary each piece has. */
#ifndef YK_CG_PIECES_H
#define YK_CG_PIECES_H

#include "solvers/cg/cg.h"

/* Shares of equal bytes of a part's local rows [first, last), by a matrix in which local row 0 is
 * row `base`. */
typedef struct yk_shares {
    const yk_part *part;
    const yk_csr *csr;
    int64_t base, first, last;
    int64_t halo; /* that is shared out as well */
    double row_bytes;
    int count;
} yk_shares;

/* piece->send_first is there: see cg.h. */
void yk_piece_lay(const yk_shares *shares, int share, yk_piece *piece);

#endif
