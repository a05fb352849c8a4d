/* SPDX-License-Identifier: BSD-3-Clause */
/* comm.h: the table of yoke_comm.h over MPI. */
#ifndef YK_MPI_COMM_H
#define YK_MPI_COMM_H

#include <mpi.h>
#include <yoke_comm.h>

/* A message of the library is one item of a type, so that MPI never takes it apart. Made at the
 * first reduction of that length, which is in planning. */
typedef struct yk_mpi_type {
    size_t bytes;
    MPI_Datatype type;
} yk_mpi_type;

enum { YK_MPI_TYPES = 80 };

typedef struct yk_mpi {
    MPI_Comm comm; /* ours */
    MPI_Op combine;
    yk_mpi_type type[YK_MPI_TYPES];
    int types, ranks, local_rank;
    MPI_Request reduction; /* under way; else MPI_REQUEST_NULL */
    char *deal, *shares;
} yk_mpi;

/* channel.c: lanes to and from neighbours, as persistent requests. */
int yk_mpi_open(void *self, const yoke_lane *send, int sends, const yoke_lane *receive,
                int receives, void **channel);
int yk_mpi_receive(void *self, void *channel);
int yk_mpi_send(void *self, void *channel);
int yk_mpi_wait(void *self, void *channel);
int yk_mpi_progress(void *self, void *channel);
void yk_mpi_close(void *self, void *channel);

/* exchange.c: until all are done. */
int yk_mpi_wait_all(int count, MPI_Request *request);
int yk_mpi_test_all(int count, MPI_Request *request);

/* exchange.c: sizes that are known to both sides, of any length. */
int yk_mpi_exchange(void *self, const void *send, const size_t *send_bytes, void *receive,
                    const size_t *receive_bytes);

/* Of the table's, see yoke_comm.partition: metis.c, or NULL of metis_none.c. */
typedef yoke_status (*yk_mpi_partition_fn)(void *self, const yoke_graph *graph, const double *share,
                                           int32_t *owner);
extern const yk_mpi_partition_fn yk_mpi_partition;

#endif
