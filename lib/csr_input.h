/* SPDX-License-Identifier: BSD-3-Clause */
/* csr_input.h: a caller's CSR as it comes: reading its indices, and the checks before anything
 * relies on it. */
#ifndef YK_CSR_INPUT_H
#define YK_CSR_INPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <yoke.h>

/* Loops over rows are shared among threads in multiples of this. */
enum { YK_ROW_GRAIN = 1024 };

static inline int64_t yk_index_at(const void *array, yoke_index_type type, int64_t k)
{
    return type == YOKE_INT32 ? ((const int32_t *)array)[k] : ((const int64_t *)array)[k];
}

/* Where a row's entries begin in column and value, whatever the base. */
static inline int64_t yk_given_start(const yoke_csr *given, int64_t row)
{
    return yk_index_at(given->row_start, given->row_start_type, row) - given->base;
}

/* Column of an entry, counted from 0. */
static inline int64_t yk_given_column(const yoke_csr *given, int64_t k)
{
    return yk_index_at(given->column, given->column_type, k) - given->base;
}

/* The row, counted from 0, that holds entry k. */
int64_t yk_given_row(const yoke_csr *given, int64_t k);

/* What the checks found. */
typedef struct yk_csr_facts {
    int64_t nonzeros; /* given */
    bool ordered;     /* full, and columns increase strictly in every row (or are trusted to) */
} yk_csr_facts;

/* Fields first, then row_start, then columns: each makes the next safe to read. All arrays are to
 * be the host's; the first two checks are also steps of bringing them there. */
yoke_status yk_csr_check_fields(const yoke_csr *given);
yoke_status yk_csr_check_row_start(const yoke_csr *given, int threads, int64_t *nonzeros);
yoke_status yk_csr_check(const yoke_csr *given, int threads, yk_csr_facts *facts);

/* The same of some rows of a matrix with that many columns. */
yoke_status yk_csr_check_rows(const yoke_csr *given, int64_t columns, int threads,
                              yk_csr_facts *facts);

/* Refuses an array of values where there must be one. */
yoke_status yk_check_values(const double *value, int64_t nonzeros);

/* Lowers *first to k: the earliest of what several threads find, so that the fault which is named
 * does not depend on their number. */
void yk_note_first(int64_t *first, int64_t k);

/* YOKE_UNSUITABLE naming entry k, which repeats the place of an earlier one. */
yoke_status yk_refuse_repeat(const yoke_csr *given, int64_t k);

#endif
