/* SPDX-License-Identifier: BSD-3-Clause */
/* part.h: a part: a contiguous range of rows with one owner, its matrix, its vectors, and what its
 * neighbours need of it.
 *
 * Columns are local: own rows first, [0, rows), then the halo, [rows, rows + halo), in ascending
 * global order. */
#ifndef YK_PART_H
#define YK_PART_H

#include <stdbool.h>

#include "lib/matrix.h"
#include "lib/sum.h"

/* What one part sends to another: its rows row[0 .. count), ascending, which are consecutive in
 * the receiver's halo from `at` on. */
typedef struct yk_send {
    int to;
    int64_t count, at;
    int32_t *row;
} yk_send;

/* Who works on a part's rows, in whose memory its vectors lie. A GPU's part is the first. */
typedef enum yk_owner { YK_OWNER_CPU, YK_OWNER_GPU } yk_owner;

/* Beside a cut that moves a part holds more rows than it works on. Those between are halo of it,
 * with columns in their own places, so that what a part holds does not depend on the cut. */
typedef struct yk_moving {
    bool on;             /* else nothing here means anything */
    int64_t first, rows; /* local rows worked on: [first, first + rows), first of whole chunks */
    /* What meetings bring of the halo: value k is of at[k] in the vectors; `most` at any cut. Of a
     * GPU's part, `at` is on the device. */
    int64_t arriving, most;
    const int32_t *at;
} yk_moving;

typedef struct yk_part {
    yk_owner owner;
    int64_t first, rows; /* global rows [first, first + rows); first is a multiple of YK_CHUNK */
    int64_t halo;
    yk_moving moving;
    /* Local columns; no entries for an operator. Of a GPU's part beside others it is there only
     * while the GPU is given it. */
    yk_csr csr;
    bool own_csr;         /* false: the matrix's own arrays, multiplied in place */
    int64_t *halo_column; /* [halo] global */
    yk_send *send;        /* [sends], by receiver */
    int sends;
    /* Vectors of [rows + halo]. z is r without a preconditioner; p_old is p when unfolded. */
    double *x, *r, *z, *p, *p_old;
    double *q, *b, *best, *inverse_diagonal; /* [rows]; inverse_diagonal NULL without Jacobi */
    /* [rows], and m of [rows + halo]; NULL in recurrences without them: see passes_one_sum.h. m[1]
     * is m[0] where they do not take turns, which then is w without a preconditioner. */
    double *w, *s, *t, *m[2]; /* where nothing else needs q, it is w */
} yk_part;

/* Local rows that the part works on: all, where the cut stands. */
static inline int64_t yk_part_begin(const yk_part *part)
{
    return part->moving.on ? part->moving.first : 0;
}

static inline int64_t yk_part_working(const yk_part *part)
{
    return part->moving.on ? part->moving.rows : part->rows;
}

/* Values that a meeting brings, now, and that there must be room for. */
static inline int64_t yk_part_arriving(const yk_part *part)
{
    return part->moving.on ? part->moving.arriving : part->halo;
}

static inline int64_t yk_part_slots(const yk_part *part)
{
    return part->moving.on ? part->moving.most : part->halo;
}

/* Chunks of [0, rows). */
static inline int64_t yk_chunks(int64_t rows)
{
    return (rows + YK_CHUNK - 1) / YK_CHUNK;
}

#endif
