/* SPDX-License-Identifier: BSD-3-Clause */
/* yoke_mpi.h: contexts over the ranks of an MPI communicator. What then is collective, and what a
 * matrix over ranks is, stands in yoke_comm.h. Link libyoke_mpi (pkg-config yoke_mpi).
 *
 *   MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
 *   yoke_mpi_context_create(MPI_COMM_WORLD, NULL, NULL, &context);
 *   yoke_matrix_create(context, &rows_of_this_rank, &matrix);
 *   yoke_plan_create(matrix, NULL, &plan);
 *   yoke_solve(plan, b_of_this_rank, x_of_this_rank, NULL);
 */
#ifndef YOKE_MPI_H
#define YOKE_MPI_H

#include <mpi.h>
#include <yoke.h>
#include <yoke_comm.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_mpi_options {
    size_t struct_size;
    const char *deal;   /* see yoke_comm.deal; NULL: "nonzeros"; copied */
    const char *shares; /* see yoke_comm.shares; NULL: "auto"; copied */
} yoke_mpi_options;

static inline yoke_mpi_options yoke_mpi_defaults(void)
{
    yoke_mpi_options options = {sizeof(yoke_mpi_options), NULL, NULL};
    return options;
}

/* A context over the ranks of comm, of which a duplicate is kept. Collective over comm; the same
 * status on all ranks. MPI must be initialised, with MPI_THREAD_FUNNELED at least, and each rank's
 * objects are used by the thread that initialised it. The library never initialises or finalises
 * MPI. Destroy the context before MPI_Finalize. options, mpi: NULL for the defaults.
 * A failure of MPI comes back as YOKE_COMMUNICATION where MPI returns from it at all: most end all
 * ranks when one is killed. */
YOKE_API yoke_status yoke_mpi_context_create(MPI_Comm comm, const yoke_context_options *options,
                                             const yoke_mpi_options *mpi, yoke_context **context);

#ifdef __cplusplus
}
#endif

#endif
