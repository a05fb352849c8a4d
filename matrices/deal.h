/* SPDX-License-Identifier: BSD-3-Clause */
/* deal.h: rows that the library reads or generates, dealt out to ranks as yoke_comm.deal says. */
#ifndef YK_DEAL_H
#define YK_DEAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/matrix.h"
#include "lib/ranks.h"

typedef enum yk_deal_by { YK_DEAL_NONZEROS, YK_DEAL_ROWS, YK_DEAL_METIS, YK_DEAL_FILE } yk_deal_by;

/* Whether ranks get rows from anywhere, by a number for each; else contiguous ones. */
static inline bool yk_deal_scatters(yk_deal_by by)
{
    return by == YK_DEAL_METIS || by == YK_DEAL_FILE;
}

/* YOKE_UNKNOWN_NAME lists the known ones. */
yoke_status yk_deal_find(const yoke_context *context, yk_deal_by *by);

/* Of the vectors, an iteration, and of an entry: what partition/ counts too. */
#define YK_DEAL_ROW_BYTES   80.0
#define YK_DEAL_ENTRY_BYTES 12.0

/* begin [ranks + 1]: contiguous shares of rows, on multiples of unit, by bytes, or by rows.
 * entries: of each unit. share [ranks]: of all, their sum 1; NULL: as much for each. */
void yk_deal_cut(const int64_t *entries, int64_t rows, int64_t unit, int ranks, yk_deal_by by,
                 const double *share, int64_t *begin);

/* entries: [chunks] of each chunk of rows. */
void yk_deal_count_chunks(const yk_csr *csr, int64_t *entries);

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
