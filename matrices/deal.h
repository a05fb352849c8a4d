/* SPDX-License-Identifier: BSD-3-Clause */
/* deal.h: rows that the library reads or generates, dealt out to ranks as yoke_comm.deal says. */
#ifndef YK_DEAL_H
#define YK_DEAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/matrix.h"
#include "lib/ranks.h"

typedef enum yk_deal_by { YK_DEAL_NONZEROS, YK_DEAL_ROWS, YK_DEAL_FILE } yk_deal_by;

/* YOKE_UNKNOWN_NAME lists the known ones. */
yoke_status yk_deal_find(const yoke_context *context, yk_deal_by *by);

/* begin [ranks + 1]: contiguous shares of rows, on multiples of unit, of as many bytes, or rows.
 * entries: of each unit. */
void yk_deal_cut(const int64_t *entries, int64_t rows, int64_t unit, int ranks, yk_deal_by by,
                 int64_t *begin);

/* Rows [first, first + csr.rows) of the system, columns of the whole, as a rank has them before;
 * arrays by yk_alloc, which stay its own. Dealt out by shares, rank 0 has all of them; by a file
 * each may have some, in the order of the ranks. */
typedef struct yk_hand {
    yk_csr csr;
    int64_t first, all_rows; /* all_rows: rank 0 tells the others */
    int base;                /* in which entries are named; rank 0 tells */
    bool trusted;            /* its values are never asked for symmetry; rank 0 tells */
} yk_hand;

/* status: of what the rank did alone before. Collective. */
yoke_status yk_deal(yoke_context *context, const yk_hand *hand, yoke_status status,
                    yoke_matrix **matrix);

#endif
