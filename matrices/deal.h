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

/* What a rank needs of others. */
typedef struct yk_deal_need {
    int64_t halo; /* columns that they own */
    int neighbours;
} yk_deal_need;

/* need [ranks]: of a matrix that is all here, rows being dealt out as owner [csr->rows] says, or
 * contiguously by bytes. */
yoke_status yk_deal_count_needs(yoke_context *context, const yk_csr *csr, const int32_t *owner,
                                int ranks, yk_deal_need *need);
yoke_status yk_deal_count_slabs(yoke_context *context, const yk_csr *csr, const double *share,
                                int ranks, yk_deal_need *need);

/* Collective: share [ranks] of all rows, by yoke_comm.shares; *equal: as much for each, and share
 * is not written. check: whether the name is known. */
yoke_status yk_deal_find_shares(const yoke_context *context, double *share, bool *equal);
yoke_status yk_deal_check_shares(const yoke_context *context);

/* Whether plans are to have rows on GPUs, as far as the name tells. */
bool yk_deal_on_gpus(const yoke_context *context);

/* Of what must be alike on all ranks. */
double yk_deal_mark(const yoke_context *context, yk_deal_by by);

/* By who has all rows: owner [csr->rows] so that few columns are needed across ranks. */
yoke_status yk_deal_by_graph(yoke_context *context, const yk_csr *csr, const double *share,
                             int32_t *owner);

/* An owner may carry a mark: the row needs columns that others own. */
enum { YK_DEAL_EDGE = 1 << 30 };

static inline int yk_deal_owner(int32_t marked)
{
    return marked & (YK_DEAL_EDGE - 1);
}

/* new_of [rows]: rows rank by rank from begin [ranks + 1] on. Each rank's are taken in as many runs
 * as it has threads, or in one where they are a GPU's, and within a run those that bear the mark
 * come last, so that each thread has a stretch of rows that need nobody. Otherwise they stay in
 * order. order: [rows] to work in. */
void yk_deal_number(const int32_t *owner, int64_t rows, int ranks, const int64_t *begin,
                    const int64_t *threads, int32_t *order, int32_t *new_of);

/* Local, on the first rank: owner [rows], marked where by is METIS. csr: all rows, where by is not
 * a file. *sent: numbers that would travel in an iteration if shares were contiguous; 0: not
 * counted. */
yoke_status yk_deal_find_owners(yoke_context *context, yk_deal_by by, const yk_csr *csr,
                                int64_t rows, const double *share, int32_t *owner, int64_t *sent);

/* entries: [chunks] of each chunk of rows. */
void yk_deal_count_chunks(const yk_csr *csr, int64_t *entries);

/* Rows [first, first + csr.rows) of the system, columns of the whole, as a rank has them before;
 * arrays by yk_alloc, which stay its own. Dealt out by shares or METIS, rank 0 has all of them; by
 * a file each may have some, in the order of the ranks. */
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
