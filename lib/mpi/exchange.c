/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange.c: one exchange between all ranks that have something for each other, in pieces that
 * MPI's counts can hold. */
#include <stdlib.h>

#include "lib/mpi/comm.h"

enum { TAG = 2, PIECE = 1 << 30 };

/* MPICH's MPI_STATUSES_IGNORE is the address 1, which gcc 12 takes for an array of no room. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

int yk_mpi_wait_all(int count, MPI_Request *request)
{
    return MPI_Waitall(count, request, MPI_STATUSES_IGNORE);
}

int yk_mpi_test_all(int count, MPI_Request *request)
{
    int done = 0;
    return MPI_Testall(count, request, &done, MPI_STATUSES_IGNORE);
}

typedef struct requests {
    int count;
    MPI_Request *request;
} requests;

static size_t pieces(size_t bytes)
{
    return (bytes + PIECE - 1) / PIECE;
}

/* One rank's bytes: started from `at` on. */
static int start(const yk_mpi *mpi, requests *r, int rank, char *at, size_t bytes, int receives)
{
    for (size_t done = 0; done < bytes; done += PIECE) {
        int count = (int)(bytes - done < PIECE ? bytes - done : PIECE);
        MPI_Request *request = &r->request[r->count];
        int code = receives ? MPI_Irecv(at + done, count, MPI_BYTE, rank, TAG, mpi->comm, request)
                            : MPI_Isend(at + done, count, MPI_BYTE, rank, TAG, mpi->comm, request);
        if (code != MPI_SUCCESS) return code;
        r->count++;
    }
    return MPI_SUCCESS;
}

static int start_all(const yk_mpi *mpi, requests *r, char *memory, const size_t *bytes,
                     int receives)
{
    for (int rank = 0; rank < mpi->ranks; memory += bytes[rank++]) {
        int code = start(mpi, r, rank, memory, bytes[rank], receives);
        if (code != MPI_SUCCESS) return code;
    }
    return MPI_SUCCESS;
}

int yk_mpi_exchange(void *self, const void *send, const size_t *send_bytes, void *receive,
                    const size_t *receive_bytes)
{
    const yk_mpi *mpi = self;
    size_t most = 0;
    for (int r = 0; r < mpi->ranks; r++) most += pieces(send_bytes[r]) + pieces(receive_bytes[r]);
    requests r = {0, malloc((most + 1) * sizeof(MPI_Request))};
    if (!r.request) return MPI_ERR_NO_MEM;
    int code = start_all(mpi, &r, receive, receive_bytes, 1);
    if (code == MPI_SUCCESS) code = start_all(mpi, &r, (char *)send, send_bytes, 0);
    int ended = yk_mpi_wait_all(r.count, r.request);
    free(r.request);
    return code == MPI_SUCCESS ? ended : code;
}
