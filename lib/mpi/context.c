/* SPDX-License-Identifier: BSD-3-Clause */
/* context.c: a context on a communicator, and its collective calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yoke_mpi.h>

#include "lib/mpi/comm.h"

/* ------------------------------------------------------------------- calls */

/* MPI gives (in, inout) as (left, right) to an operation that does not commute. */
static void combine(void *left, void *right, int *count, MPI_Datatype *type)
{
    int bytes = 0;
    MPI_Type_size(*type, &bytes);
    for (int i = 0; i < *count; i++)
        yoke_comm_combine((char *)left + (size_t)i * (size_t)bytes,
                          (char *)right + (size_t)i * (size_t)bytes);
}

static int type_of(yk_mpi *mpi, size_t bytes, MPI_Datatype *type)
{
    for (int i = 0; i < mpi->types; i++)
        if (mpi->type[i].bytes == bytes) {
            *type = mpi->type[i].type;
            return MPI_SUCCESS;
        }
    if (mpi->types == YK_MPI_TYPES) return MPI_ERR_INTERN;
    int code = MPI_Type_contiguous((int)bytes, MPI_BYTE, type);
    if (code == MPI_SUCCESS) code = MPI_Type_commit(type);
    if (code == MPI_SUCCESS) mpi->type[mpi->types++] = (yk_mpi_type){bytes, *type};
    return code;
}

static int reduce(void *self, void *message, size_t bytes)
{
    yk_mpi *mpi = self;
    MPI_Datatype type;
    int code = type_of(mpi, bytes, &type);
    if (code != MPI_SUCCESS) return code;
    return MPI_Allreduce(MPI_IN_PLACE, message, 1, type, mpi->combine, mpi->comm);
}

static int reduce_begin(void *self, void *message, size_t bytes)
{
    yk_mpi *mpi = self;
    MPI_Datatype type;
    int code = type_of(mpi, bytes, &type);
    if (code != MPI_SUCCESS) return code;
    /* NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): reduce_end waits for it */
    return MPI_Iallreduce(MPI_IN_PLACE, message, 1, type, mpi->combine, mpi->comm, &mpi->reduction);
}

static int reduce_end(void *self)
{
    yk_mpi *mpi = self;
    return yk_mpi_wait_all(1, &mpi->reduction);
}

static int broadcast(void *self, int root, void *data, size_t bytes)
{
    const yk_mpi *mpi = self;
    const size_t most = (size_t)1 << 30;
    for (size_t done = 0; done < bytes; done += most) {
        int count = (int)(bytes - done < most ? bytes - done : most);
        int code = MPI_Bcast((char *)data + done, count, MPI_BYTE, root, mpi->comm);
        if (code != MPI_SUCCESS) return code;
    }
    return MPI_SUCCESS;
}

static int gather(void *self, const void *mine, size_t bytes, void *all)
{
    const yk_mpi *mpi = self;
    return MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, mpi->comm);
}

static void error_text(void *self, int code, char *text, size_t size)
{
    char words[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    (void)self;
    MPI_Error_string(code, words, &length);
    snprintf(text, size, "%s", words);
}

/* ----------------------------------------------------------------- context */

static void destroy(void *self)
{
    yk_mpi *mpi = self;
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (!finalized) {
        for (int i = 0; i < mpi->types; i++) MPI_Type_free(&mpi->type[i].type);
        if (mpi->combine != MPI_OP_NULL) MPI_Op_free(&mpi->combine);
        if (mpi->comm != MPI_COMM_NULL) MPI_Comm_free(&mpi->comm);
    }
    free(mpi->deal);
    free(mpi->shares);
    free(mpi);
}

static yoke_status failed(int code)
{
    char text[MPI_MAX_ERROR_STRING + 32];
    if (code == MPI_SUCCESS) return YOKE_OK;
    error_text(NULL, code, text, sizeof text);
    return yoke_comm_fail(YOKE_COMMUNICATION, text);
}

static yoke_status check_mpi(MPI_Comm comm)
{
    int initialized = 0, finalized = 0, level = 0;
    MPI_Initialized(&initialized);
    if (initialized) MPI_Finalized(&finalized);
    if (!initialized || finalized)
        return yoke_comm_fail(YOKE_INVALID,
                              "MPI is not initialised: call MPI_Init_thread before, MPI_Finalize "
                              "after all contexts over ranks");
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_FUNNELED)
        return yoke_comm_fail(YOKE_UNSUITABLE,
                              "MPI was initialised without MPI_THREAD_FUNNELED: call "
                              "MPI_Init_thread with it");
    return comm == MPI_COMM_NULL ? yoke_comm_fail(YOKE_INVALID, "comm is MPI_COMM_NULL") : YOKE_OK;
}

static yoke_status fill(yk_mpi *mpi, const yoke_mpi_options *options)
{
    yoke_status status = failed(MPI_Comm_set_errhandler(mpi->comm, MPI_ERRORS_RETURN));
    if (status == YOKE_OK) status = failed(MPI_Comm_size(mpi->comm, &mpi->ranks));
    if (status == YOKE_OK) status = failed(MPI_Op_create(combine, 0, &mpi->combine));
    if (status != YOKE_OK || !options) return status;
    if (options->struct_size != sizeof *options)
        return yoke_comm_fail(YOKE_INVALID, "yoke_mpi_options.struct_size is unknown: fill it with "
                                            "yoke_mpi_defaults()");
    if ((options->deal && !(mpi->deal = strdup(options->deal))) ||
        (options->shares && !(mpi->shares = strdup(options->shares))))
        return yoke_comm_fail(YOKE_NO_MEMORY, "no memory for a string");
    return YOKE_OK;
}

/* Its number among the ranks that can share memory with it. */
static yoke_status find_local_rank(const yk_mpi *mpi, int *local_rank)
{
    MPI_Comm local = MPI_COMM_NULL;
    yoke_status status =
        failed(MPI_Comm_split_type(mpi->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local));
    if (status == YOKE_OK) status = failed(MPI_Comm_rank(local, local_rank));
    if (local != MPI_COMM_NULL) MPI_Comm_free(&local);
    return status;
}

static yoke_status make(yk_mpi *mpi, const yoke_context_options *options, yoke_context **context)
{
    yoke_comm table = {.struct_size = sizeof table,
                       .ranks = mpi->ranks,
                       .deal = mpi->deal,
                       .shares = mpi->shares,
                       .self = mpi,
                       .reduce = reduce,
                       .broadcast = broadcast,
                       .gather = gather,
                       .exchange = yk_mpi_exchange,
                       .open = yk_mpi_open,
                       .receive = yk_mpi_receive,
                       .send = yk_mpi_send,
                       .wait = yk_mpi_wait,
                       .close = yk_mpi_close,
                       .error_text = error_text,
                       .destroy = destroy,
                       .partition = yk_mpi_partition,
                       .reduce_begin = reduce_begin,
                       .reduce_end = reduce_end,
                       .progress = yk_mpi_progress,
                       .local_rank = mpi->local_rank};
    MPI_Comm_rank(mpi->comm, &table.rank);
    return yoke_context_create_over(options, &table, context);
}

/* One rank that could not makes all give back what they have. */
static yoke_status agree(MPI_Comm comm, yoke_status status)
{
    int worst = (int)status;
    yoke_status told = failed(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, comm));
    if (told != YOKE_OK) return told;
    if (status != YOKE_OK || worst == YOKE_OK) return status;
    return yoke_comm_fail((yoke_status)worst, "another rank could not make its context");
}

yoke_status yoke_mpi_context_create(MPI_Comm comm, const yoke_context_options *options,
                                    const yoke_mpi_options *mpi_options, yoke_context **context)
{
    yoke_context *made = NULL;
    yoke_status status = check_mpi(comm);
    if (status != YOKE_OK) return status;
    yk_mpi *mpi = calloc(1, sizeof *mpi);
    status = agree(comm, mpi ? YOKE_OK : yoke_comm_fail(YOKE_NO_MEMORY, "no memory for a context"));
    if (!mpi || status != YOKE_OK) {
        free(mpi);
        return status;
    }
    mpi->comm = MPI_COMM_NULL;
    mpi->combine = MPI_OP_NULL;
    mpi->reduction = MPI_REQUEST_NULL;
    status = failed(MPI_Comm_dup(comm, &mpi->comm));
    if (status == YOKE_OK) status = find_local_rank(mpi, &mpi->local_rank);
    if (status == YOKE_OK) status = fill(mpi, mpi_options);
    if (status == YOKE_OK) status = make(mpi, options, &made);
    status = agree(comm, status);
    if (status == YOKE_OK)
        *context = made;
    else if (made)
        yoke_context_destroy(made);
    else
        destroy(mpi);
    return status;
}
