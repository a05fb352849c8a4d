/* SPDX-License-Identifier: BSD-3-Clause */
/* source.h: the system to solve, from MATRIX, --rhs and --x0. */
#ifndef BENCH_SOURCE_H
#define BENCH_SOURCE_H

#include <yoke.h>
#include <yoke_comm.h>

#include "bench/options.h"

typedef struct source {
    const char *name; /* MATRIX as given */
    yoke_matrix *matrix;
    yoke_csr csr;           /* its canonical form */
    int64_t rows, nonzeros; /* of this rank, where there are several */
    int64_t all_rows, all_nonzeros;
    yoke_share share; /* over ranks; else all 0 */
    double *b;        /* [rows] */
    double *x0;       /* [rows], or NULL */
    double b_norm;    /* ||b||_2, of what is left of b outside a declared nullspace */
} source;

/* What can be told before anything is read: the exit code, or 0. */
int source_check(const bench_options *options);

int source_open(yoke_context *context, const bench_options *options, const char *name, source *s);
void source_close(source *s);

/* Of row i of this rank, the number in the system. */
static inline int64_t source_row(const source *s, int64_t i)
{
    return s->share.row ? s->share.row[i] : i;
}

/* x with what rows of this rank need of others behind it, as the columns of csr are numbered; to
 * be freed. Collective. */
double *source_extend(const source *s, const double *x);

/* x of all ranks, [all_rows], to be freed. Collective. */
double *source_collect(const source *s, const double *x);

/* Entries of a canonical CSR, whatever the widths of its indices. */
static inline int64_t csr_start(const yoke_csr *csr, int64_t i)
{
    return csr->row_start_type == YOKE_INT64 ? ((const int64_t *)csr->row_start)[i]
                                             : ((const int32_t *)csr->row_start)[i];
}

static inline int64_t csr_column(const yoke_csr *csr, int64_t k)
{
    return csr->column_type == YOKE_INT64 ? ((const int64_t *)csr->column)[k]
                                          : ((const int32_t *)csr->column)[k];
}

#endif
