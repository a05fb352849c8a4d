/* SPDX-License-Identifier: BSD-3-Clause */
/* pieces.c: sharing out a part: rows by bytes, on multiples of a chunk; what is sent by its rows.
 */
#include "solvers/cg/pieces.h"

#include "partition/balance.h"

static int64_t first_row_at(const yk_send *send, int64_t row)
{
    int64_t low = 0, high = send->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (send->row[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Where share number `share` begins; the last one ends where the one behind it would. */
static int64_t row_of_share(const yk_shares *s, int share)
{
    if (share == 0) return s->first;
    if (share == s->count) return s->last;
    return yk_cut_at_share(s->csr, s->row_bytes, s->base + s->first, s->base + s->last,
                           (double)share / s->count) -
           s->base;
}

void yk_piece_lay(const yk_shares *s, int share, yk_piece *piece)
{
    piece->first = row_of_share(s, share);
    piece->last = row_of_share(s, share + 1);
    piece->halo_first = s->halo * share / s->count;
    piece->halo_last = s->halo * (share + 1) / s->count;
    for (int i = 0; i < s->part->sends; i++) {
        piece->send_first[2 * i] = first_row_at(&s->part->send[i], piece->first);
        piece->send_first[2 * i + 1] = first_row_at(&s->part->send[i], piece->last);
    }
}
