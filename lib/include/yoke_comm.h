/* SPDX-License-Identifier: BSD-3-Clause */
/* yoke_comm.h: several processes, the ranks, solving one system: what a context over ranks does,
 * and the table of communication by which they meet. libyoke knows no MPI: libyoke_mpi fills the
 * table from a communicator (yoke_mpi.h); whoever has another transport may fill one too.
 * Conventions as in yoke.h. The table itself is no part of the stable ABI.
 *
 * A CONTEXT OVER RANKS, said once:
 * - These calls are collective on its objects: every rank makes them, in the same order, with the
 *   same options: yoke_matrix_create, yoke_matrix_read, yoke_matrix_generate,
 *   yoke_matrix_update_values, yoke_plan_create, yoke_solve, yoke_solve_many. All else is local.
 * - Ranks agree before anyone leaves: if a call fails on one, it returns the same status on all,
 *   and the text names the rank. Outcomes and reports are the same on all ranks, but for times,
 *   threads and what is said to be a rank's own. Only a call with a NULL object cannot be agreed
 *   on, as there is nothing to agree by.
 * - yoke_matrix_create: csr holds this rank's rows, row_start [rows + 1] of these alone, and
 * columns of the whole system, 64-bit where they need be. Rows are numbered through, rank by rank:
 * a rank's first row follows the last of the rank before. A rank may have none. triangle must be
 *   YOKE_FULL. The arrays are copied whatever the ownership.
 * - yoke_matrix_read, yoke_matrix_generate: the library deals the rows out (yoke_comm.deal).
 * - b, x: [rows of this rank], what yoke_matrix_rows says, in the order of yoke_share.
 * - GPUs: partition gpu, ratio:R or nonzeros:R, the same on all ranks, of whose own rows it speaks.
 *   Which GPU is a rank's: see yoke_plan_options.device. Driver, memory, format and device are a
 *   rank's own; b and x may lie in its device's memory.
 * - Not over ranks in this version: a cut that is measured or moves, several parts or several GPUs
 *   a rank, reorder "rcm", a caller's operator or preconditioner; with GPUs, solvers other than cg.
 *   Each is refused by name. */
#ifndef YOKE_COMM_H
#define YOKE_COMM_H

#include <yoke.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes to or from another rank, in every exchange of a channel. */
typedef struct yoke_lane {
    int rank;
    size_t bytes;
    void *memory;
} yoke_lane;

/* Rows and whom each needs, to be dealt out. neighbour: [start[rows]], without the row itself; who
 * is a row's neighbour has it as one. */
typedef struct yoke_graph {
    int64_t rows;
    const int64_t *start; /* [rows + 1] */
    const int32_t *neighbour;
    const double *weight; /* [rows] bytes that an iteration moves for it */
} yoke_graph;

/* Calls return 0, or a code that error_text turns into words. All are made by the thread that
 * called the library. */
typedef struct yoke_comm {
    size_t struct_size;
    int rank, ranks;
    /* How yoke_matrix_read and yoke_matrix_generate deal rows out: NULL or "nonzeros", contiguous
     * and as many bytes for each; "rows", contiguous and as many rows; "metis", in blocks that need
     * little of each other; "file:PATH", a number from 0 to ranks - 1 for each row. As many is in
     * proportion to `shares` below. Valid as long as the context. */
    const char *deal;
    void *self;
    /* Collective. reduce: the message of every rank, in place, combined by yoke_comm_combine in
     * the order of the ranks; which neighbours are combined first does not matter. exchange:
     * contiguous by rank, sizes [ranks] known to both sides. */
    int (*reduce)(void *self, void *message, size_t bytes);
    int (*broadcast)(void *self, int root, void *data, size_t bytes);
    int (*gather)(void *self, const void *mine, size_t bytes, void *all);
    int (*exchange)(void *self, const void *send, const size_t *send_bytes, void *receive,
                    const size_t *receive_bytes);
    /* Between neighbours, with the same lanes again and again, allocating nothing: receive, send,
     * wait, in this order; one channel at a time is under way. */
    int (*open)(void *self, const yoke_lane *send, int sends, const yoke_lane *receive,
                int receives, void **channel);
    int (*receive)(void *self, void *channel);
    int (*send)(void *self, void *channel);
    int (*wait)(void *self, void *channel);
    void (*close)(void *self, void *channel);
    void (*error_text)(void *self, int code, char *text, size_t size);
    /* At the end of the context; NULL: nothing. */
    void (*destroy)(void *self);
    /* Whose share is how large: "equal"; "profile", in proportion to the speed of each rank's
     * memory by the profile of its machine, with its threads; "profile-gpu", of its GPU's memory
     * where it has one, for plans with rows on GPUs; "auto" (NULL) or "auto-gpu", these where every
     * rank has a measured profile and they differ by more than a tenth, else equal. Not of "file:".
     */
    const char *shares;
    /* Local, on rank 0: owner [graph->rows] in proportion to share [ranks], whose sum is 1; NULL:
     * as much for each. Sets the error text, by yoke_comm_fail. NULL: "metis" is not there. */
    yoke_status (*partition)(void *self, const yoke_graph *graph, const double *share,
                             int32_t *owner);
    /* As reduce, in two steps, between which the message is not touched; one is under way at a
     * time, a channel may be beside it. NULL, both: reduce does. */
    int (*reduce_begin)(void *self, void *message, size_t bytes);
    int (*reduce_end)(void *self);
    /* Called now and then by a rank that multiplies: moves what is under way, of the channel (NULL:
     * none) and of the sums, and returns at once. NULL: nothing needs it. */
    int (*progress)(void *self, void *channel);
    int local_rank; /* among the ranks of its machine, from 0; which GPU is its own goes by it */
} yoke_comm;

/* right = left + right, of messages of ranks that follow each other. Associative to the last bit,
 * not commutative. */
YOKE_API void yoke_comm_combine(const void *left, void *right);

/* Sets the thread's error text; returns the status: for who fills a table. */
YOKE_API yoke_status yoke_comm_fail(yoke_status status, const char *text);

/* As yoke_context_create, over ranks. The table is copied; comm->destroy is called at the end of
 * the context, and not after a failure. */
YOKE_API yoke_status yoke_context_create_over(const yoke_context_options *options,
                                              const yoke_comm *comm, yoke_context **context);

/* 0 and 1 of a context in one process. */
YOKE_API int yoke_context_rank(const yoke_context *context);
YOKE_API int yoke_context_ranks(const yoke_context *context);

/* What a rank has of a matrix. Arrays are the matrix's, as long as it lives. */
typedef struct yoke_share {
    size_t struct_size;
    int64_t all_rows, all_nonzeros; /* of the system */
    int64_t rows, nonzeros;         /* of this rank */
    int64_t halo;                   /* columns of this rank's rows that others own */
    int64_t sent;                   /* numbers that it sends in an iteration */
    int neighbours;                 /* ranks that it sends to or receives from */
    /* In the numbering of the system as it was given, read or generated. row i of this rank is
     * row[i]; column c of yoke_matrix_view is row[c], whether own (c < rows) or of the halo. */
    const int64_t *row; /* [rows + halo] */
} yoke_share;

static inline yoke_share yoke_share_defaults(void)
{
    yoke_share share = {sizeof(yoke_share), 0, 0, 0, 0, 0, 0, 0, NULL};
    return share;
}

/* Local. YOKE_UNSUITABLE of a matrix that is not over ranks. yoke_matrix_rows and
 * yoke_matrix_nonzeros are this rank's; yoke_matrix_view shows its rows, their columns numbered as
 * above. */
YOKE_API yoke_status yoke_matrix_share(const yoke_matrix *matrix, yoke_share *share);

#ifdef __cplusplus
}
#endif

#endif
