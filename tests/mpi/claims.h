/* SPDX-License-Identifier: BSD-3-Clause */
/* claims.h: programs over ranks: Criterion does not run under mpirun, so these are plain ones that
 * print one line a claim. A claim holds if it does on every rank. */
#ifndef YK_TESTS_MPI_CLAIMS_H
#define YK_TESTS_MPI_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>
#include <yoke_mpi.h>

extern int my_rank, all_ranks;

void claims_begin(int *argc, char ***argv);
int claims_end(void);
void claim(const char *what, bool holds);
bool on_all(bool holds);

/* The same bytes on every rank. */
bool is_alike(const void *data, size_t bytes);

/* Rows of a system that every rank has whole, made and solved in one process. */
typedef struct whole {
    yoke_context *context;
    yoke_matrix *matrix;
    yoke_csr csr;
    int64_t rows;
    double *b, *x; /* [rows] */
    yoke_report report;
} whole;

whole whole_of(const char *spec);
whole whole_of_arrays(int n, const int32_t *start, const int32_t *column, const double *value);
void whole_solve(whole *w, const yoke_plan_options *plan, const yoke_solve_options *options);
void whole_free(whole *w);

/* Row `first` of each rank where `cut` says: 0 even, on chunks; 1 even, anywhere; 2 all on the last
 * rank; 3 all but the last rank, one row each where there are few. */
void cut_rows(int64_t rows, int cut, int64_t *first, int64_t *count);

/* Over ranks: this rank's rows, given with 64-bit columns. */
typedef struct piece {
    yoke_context *context;
    yoke_matrix *matrix;
    yoke_plan *plan;
    int64_t first, count;
    int64_t *start, *column;
    double *value, *b, *x;
    yoke_status status; /* of the first call that failed */
    yoke_report report;
} piece;

piece piece_of(const whole *w, int cut, const yoke_context_options *context);
void piece_make(piece *p, const yoke_plan_options *plan);
void piece_solve(piece *p, const yoke_solve_options *options);
void piece_free(piece *p);

bool same_bits(const piece *p, const whole *w);

#endif
