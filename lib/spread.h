/* SPDX-License-Identifier: BSD-3-Clause */
/* spread.h: a matrix over ranks: which rows are this rank's, and who needs what of whom.
 *
 * Rows have two numbers: that of the system as it was given, and that of the plan, in which each
 * rank's rows follow each other. Where the caller or a cut dealt the rows out the two are one. The
 * columns of matrix.csr are local: own rows first, [0, rows), then the halo, in the plan's order;
 * within a row the entries stay in the order of the given columns, in which they are summed. */
#ifndef YK_SPREAD_H
#define YK_SPREAD_H

#include "lib/matrix.h"
#include "lib/ranks.h"

/* What goes to another rank, or comes from it: consecutive from `at` on. */
typedef struct yk_lane {
    int rank;
    int64_t count, at;
    int32_t *row; /* [count] own rows, of what is sent; of what comes NULL */
} yk_lane;

typedef struct yk_spread {
    int64_t all_rows, all_nonzeros;
    int64_t first;       /* of our rows, in the plan's numbering */
    int64_t first_chunk; /* that ours begin with: ranks' cuts need not fall on chunks */
    int nodes;           /* of a tree of sums, at most */
    int64_t rows, halo;
    int64_t *row_of; /* [rows + halo] in the numbering of the system as given, by local column */
    int64_t *begin;  /* [ranks + 1] first rows of all, in the plan's numbering */
    yk_lane *send, *receive; /* [ranks] of which [sends], [receives]: by rank */
    int sends, receives;
    int64_t sent;            /* rows of all send lanes */
    int64_t contiguous_sent; /* of all ranks, if shares were contiguous; 0: not counted */
    double due;              /* share of all rows that this rank should have; 0: as all */
} yk_spread;

/* Fills matrix->csr, ->spread and ->origin from this rank's rows, their columns in the plan's
 * numbering. row_of: [given->rows] where that is not the given one, else NULL; taken, on failure
 * too. status: of what the caller did alone before. Collective. */
yoke_status yk_spread_fill(yoke_matrix *matrix, const yoke_csr *given, int64_t *row_of, int threads,
                           yoke_status status);

void yk_spread_free(yoke_context *context, yk_spread *spread);

/* As yk_matrix_symmetrise, of a matrix over ranks, value being the matrix's own and written where a
 * mean is due. Collective. */
yoke_status yk_spread_symmetrise(yoke_matrix *matrix, double *value, int threads, bool *mean);

/* Ranks that this one sends to or receives from. */
int yk_spread_neighbours(const yk_spread *spread);

/* The rank that owns a row, by the plan's numbering. */
int yk_spread_owner(const yk_spread *spread, int ranks, int64_t row);

#endif
