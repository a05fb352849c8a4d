/* SPDX-License-Identifier: BSD-3-Clause */
/* dump.h: the file in which a rival gets the system, in this machine's byte order:
 * header, row_start int64 [rows + 1], column int32 [nonzeros], value double [nonzeros],
 * b double [rows]. */
#ifndef BENCH_RIVALS_DUMP_H
#define BENCH_RIVALS_DUMP_H

#include <stdint.h>

#define RIVAL_DUMP_MAGIC 0x31524b4f59u

typedef struct rival_dump_header {
    uint64_t magic;
    int64_t rows, nonzeros;
} rival_dump_header;

/* The rows [first, first + local) of one rank: row_start begins at 0, columns are global. */
typedef struct rival_share {
    int64_t rows, first, local, nonzeros; /* nonzeros: of this share */
    int *row_start;                       /* [local + 1] */
    int *column;                          /* [nonzeros] */
    double *value, *b;
} rival_share;

/* Equal shares of rows, as the rivals' own PETSC_DECIDE makes them. 0 on success. */
int rival_share_read(const char *path, int rank, int ranks, rival_share *share);
/* The diagonal entry of the share's row i, 0 if it has none. */
double rival_share_diagonal(const rival_share *share, int64_t i);
void rival_share_free(rival_share *share);

#endif
