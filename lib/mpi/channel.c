/* SPDX-License-Identifier: BSD-3-Clause */
/* channel.c: what neighbours send each other in every iteration, as persistent requests, which take
 * no memory when they are started. */
#include <limits.h>
#include <stdlib.h>

#include "lib/mpi/comm.h"

enum { TAG = 1 };

typedef struct channel {
    int receives, requests;
    MPI_Request request[]; /* receives first */
} channel;

static int count_of(const yoke_lane *lane, int *count)
{
    size_t doubles = lane->bytes / sizeof(double);
    if (lane->bytes % sizeof(double) || doubles > INT_MAX) return MPI_ERR_COUNT;
    *count = (int)doubles;
    return MPI_SUCCESS;
}

static int add(const yk_mpi *mpi, channel *c, const yoke_lane *lane, int receives)
{
    MPI_Request *request = &c->request[c->requests];
    int count = 0, code = count_of(lane, &count);
    if (code == MPI_SUCCESS && receives)
        code = MPI_Recv_init(lane->memory, count, MPI_DOUBLE, lane->rank, TAG, mpi->comm, request);
    else if (code == MPI_SUCCESS)
        code = MPI_Send_init(lane->memory, count, MPI_DOUBLE, lane->rank, TAG, mpi->comm, request);
    if (code != MPI_SUCCESS) return code;
    c->requests++;
    c->receives += receives;
    return MPI_SUCCESS;
}

int yk_mpi_open(void *self, const yoke_lane *send, int sends, const yoke_lane *receive,
                int receives, void **made)
{
    int code = MPI_SUCCESS;
    channel *c = calloc(1, sizeof *c + (size_t)(sends + receives) * sizeof(MPI_Request));
    if (!c) return MPI_ERR_NO_MEM;
    for (int i = 0; i < receives && code == MPI_SUCCESS; i++) code = add(self, c, &receive[i], 1);
    for (int i = 0; i < sends && code == MPI_SUCCESS; i++) code = add(self, c, &send[i], 0);
    if (code != MPI_SUCCESS) {
        yk_mpi_close(self, c);
        return code;
    }
    *made = c;
    return MPI_SUCCESS;
}

int yk_mpi_receive(void *self, void *opened)
{
    channel *c = opened;
    (void)self;
    return c->receives > 0 ? MPI_Startall(c->receives, c->request) : MPI_SUCCESS;
}

int yk_mpi_send(void *self, void *opened)
{
    channel *c = opened;
    int sends = c->requests - c->receives;
    (void)self;
    return sends > 0 ? MPI_Startall(sends, c->request + c->receives) : MPI_SUCCESS;
}

int yk_mpi_wait(void *self, void *opened)
{
    channel *c = opened;
    (void)self;
    return yk_mpi_wait_all(c->requests, c->request);
}

/* MPI moves what is under way while it is called: long messages, and the steps of a reduction. */
int yk_mpi_progress(void *self, void *opened)
{
    yk_mpi *mpi = self;
    channel *c = opened;
    int code = c ? yk_mpi_test_all(c->requests, c->request) : MPI_SUCCESS;
    if (code != MPI_SUCCESS || mpi->reduction == MPI_REQUEST_NULL) return code;
    return yk_mpi_test_all(1, &mpi->reduction);
}

void yk_mpi_close(void *self, void *opened)
{
    channel *c = opened;
    int finalized = 0;
    (void)self;
    MPI_Finalized(&finalized);
    for (int i = 0; i < c->requests && !finalized; i++) MPI_Request_free(&c->request[i]);
    free(c);
}
