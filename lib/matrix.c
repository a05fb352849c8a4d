/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix.c: making, sharing, viewing and releasing matrices. */
#include "lib/matrix.h"

#include <stdlib.h>

#include "lib/canonical.h"
#include "lib/context.h"
#include "lib/fetch.h"
#include "lib/place.h"
#include "lib/ranks.h"
#include "lib/spread.h"
#include "lib/status.h"
#include "lib/threads.h"
#include "lib/values.h"

/* ---------------------------------------------------- the caller's arrays */

static void release_given(const yoke_csr *given, const void *array)
{
    if (given->ownership != YOKE_TAKE || !array) return;
    if (given->release)
        given->release(given->release_user, (void *)array);
    else if (given->space == YOKE_HOST)
        free((void *)array);
}

static void release_all_given(const yoke_csr *given)
{
    release_given(given, given->row_start);
    release_given(given, given->column);
    release_given(given, given->value);
}

/* After success: those that are not used in place go now. */
static void release_unused_given(yoke_matrix *matrix)
{
    yoke_csr *given = &matrix->given;
    const yk_csr *csr = &matrix->csr;
    const void *start = csr->start32 ? (const void *)csr->start32 : (const void *)csr->start64;
    if (given->row_start != start) {
        release_given(given, given->row_start);
        given->row_start = NULL;
    }
    if (given->column != csr->column) {
        release_given(given, given->column);
        given->column = NULL;
    }
    if (given->value != csr->value) {
        release_given(given, given->value);
        given->value = NULL;
    }
}

/* ------------------------------------------------------------------ making */

/* From here on the matrix answers for the arrays in given: delete_matrix releases what is taken. */
static yoke_status new_matrix(yoke_context *context, const yoke_csr *given, yoke_matrix **matrix)
{
    yoke_matrix *made = calloc(1, sizeof *made);
    if (!made) return yk_fail(YOKE_NO_MEMORY, "no memory for a matrix (%zu bytes)", sizeof *made);
    atomic_init(&made->references, 1);
    atomic_init(&made->solving, 0);
    atomic_init(&made->version, 1);
    made->context = context;
    made->usable = true;
    made->given = *given;
    made->unsymmetric = given->triangle == YOKE_FULL ? given->unsymmetric : YOKE_TRUST;
    yk_context_retain(context);
    *matrix = made;
    return YOKE_OK;
}

static void delete_matrix(yoke_matrix *matrix)
{
    yoke_context *context = matrix->context;
    yk_canonical_free(context, &matrix->given, &matrix->csr);
    release_all_given(&matrix->given);
    yk_origin_destroy(context, matrix->origin);
    yk_spread_free(context, matrix->spread);
    yk_free(context, (void *)matrix->op.diagonal, matrix->op.rows, sizeof(double));
    free(matrix);
    yk_context_release(context);
}

static yoke_status fill_from(yoke_matrix *matrix, const yoke_csr *given, int threads)
{
    yk_csr_facts facts;
    YK_TRY(yk_csr_check(given, threads, &facts));
    YK_TRY(yk_canonical_create(matrix->context, given, &facts, threads, &matrix->csr,
                               &matrix->origin));
    matrix->given_nonzeros = facts.nonzeros;
    bool writable = matrix->csr.value != given->value || given->ownership == YOKE_TAKE;
    return yk_values_verify(matrix, &matrix->csr, writable, threads);
}

/* Nothing of a device's can be used in place, so a borrowed matrix is as good as a copied one: its
 * updates are copies too. */
static yoke_status fill_from_device(yoke_matrix *matrix, int threads)
{
    yoke_csr *given = &matrix->given;
    yk_fetched fetched = {0};
    if (given->ownership == YOKE_TAKE && !given->release)
        return yk_fail(YOKE_INVALID, "yoke_csr.ownership is YOKE_TAKE of device memory, which "
                                     "needs yoke_csr.release: free() is not for it");
    if (given->ownership == YOKE_BORROW) given->ownership = YOKE_COPY;
    yoke_status status = yk_fetch_csr(matrix->context, given, threads, &fetched);
    if (status == YOKE_OK) status = fill_from(matrix, &fetched.csr, threads);
    yk_fetch_free(matrix->context, &fetched);
    return status;
}

static yoke_status fill(yoke_matrix *matrix)
{
    int threads = yk_threads(matrix->context, 0);
    if (matrix->given.space == YOKE_DEVICE_MEMORY) return fill_from_device(matrix, threads);
    return fill_from(matrix, &matrix->given, threads);
}

/* -------------------------------------------------------------- over ranks */

/* What this rank can tell alone. given: the arrays on the host. */
static yoke_status fetch_rows(yoke_context *context, const yoke_csr *csr, yoke_csr *given,
                              yk_fetched *fetched)
{
    *given = *csr;
    if (csr->space != YOKE_DEVICE_MEMORY) return YOKE_OK;
    if (csr->ownership == YOKE_TAKE && !csr->release)
        return yk_fail(YOKE_INVALID, "yoke_csr.ownership is YOKE_TAKE of device memory, which "
                                     "needs yoke_csr.release: free() is not for it");
    YK_TRY(yk_fetch_csr(context, csr, yk_threads(context, 0), fetched));
    *given = fetched->csr;
    return YOKE_OK;
}

yoke_status yk_matrix_spread(yoke_context *context, const yoke_csr *csr, int64_t *row_of,
                             yoke_status status, yoke_matrix **matrix)
{
    yoke_csr nothing = yoke_csr_defaults();
    yoke_matrix *made = NULL;
    nothing.base = csr->base;
    if (status == YOKE_OK) status = new_matrix(context, &nothing, &made);
    if (!made) {
        yk_free(context, row_of, csr->rows, sizeof *row_of);
        return yk_agree(context, status, 0.0);
    }
    made->unsymmetric = csr->unsymmetric;
    status = yk_spread_fill(made, csr, row_of, yk_threads(context, 0), status);
    if (status == YOKE_OK)
        *matrix = made;
    else
        delete_matrix(made);
    return status;
}

static yoke_status create_over_ranks(yoke_context *context, const yoke_csr *csr,
                                     yoke_matrix **matrix)
{
    yoke_csr given = yoke_csr_defaults();
    yk_fetched fetched = {0};
    yoke_status status = YOKE_OK;
    if (!csr || !matrix) {
        status = yk_fail(YOKE_INVALID, "%s is NULL", csr ? "matrix" : "csr");
    } else {
        status = yk_check_struct("yoke_csr", csr->struct_size, sizeof *csr);
        if (status == YOKE_OK) status = fetch_rows(context, csr, &given, &fetched);
    }
    bool known = csr && csr->struct_size == sizeof *csr;
    status = yk_matrix_spread(context, &given, NULL, status, matrix);
    yk_fetch_free(context, &fetched);
    if (known) release_all_given(csr);
    return status;
}

/* ------------------------------------------------------------------ create */

yoke_status yoke_matrix_create(yoke_context *context, const yoke_csr *csr, yoke_matrix **matrix)
{
    if (context && yk_over_ranks(context)) return create_over_ranks(context, csr, matrix);
    if (!csr) return yk_fail(YOKE_INVALID, "csr is NULL");
    YK_TRY(yk_check_struct("yoke_csr", csr->struct_size, sizeof *csr));
    yoke_matrix *made = NULL;
    yoke_status status = context && matrix
                             ? new_matrix(context, csr, &made)
                             : yk_fail(YOKE_INVALID, "%s is NULL", context ? "matrix" : "context");
    if (status != YOKE_OK) {
        release_all_given(csr);
        return status;
    }
    status = fill(made);
    if (status != YOKE_OK) {
        delete_matrix(made);
        return status;
    }
    release_unused_given(made);
    *matrix = made;
    return YOKE_OK;
}

yoke_status yk_matrix_adopt(yoke_context *context, const yk_csr *csr, yoke_matrix **matrix)
{
    yoke_csr nothing = yoke_csr_defaults();
    yoke_status status = new_matrix(context, &nothing, matrix);
    if (status == YOKE_OK) {
        (*matrix)->csr = *csr;
        (*matrix)->given_nonzeros = csr->nonzeros;
    } else
        yk_canonical_free(context, &nothing, csr);
    return status;
}

/* --------------------------------------------------------------- operators */

static yoke_status check_operator(const yoke_operator *op)
{
    const unsigned known =
        YOKE_APPLY_DEVICE | YOKE_APPLY_CAPTURABLE | YOKE_APPLY_ROW_RANGES | YOKE_APPLY_FIXED_SPD;
    YK_TRY(yk_check_struct("yoke_operator", op->struct_size, sizeof *op));
    if (!op->apply) return yk_fail(YOKE_INVALID, "yoke_operator.apply is NULL");
    if (op->rows < 0)
        return yk_fail(YOKE_INVALID, "rows is %lld, expected 0 or more", (long long)op->rows);
    if (op->rows > INT32_MAX)
        return yk_fail(YOKE_OVERFLOW, "%lld rows exceed the 2147483647 of one part",
                       (long long)op->rows);
    if (op->flags & ~known)
        return yk_fail(YOKE_INVALID, "yoke_operator.flags is 0x%x, of which 0x%x is not known",
                       op->flags, op->flags & ~known);
    return YOKE_OK;
}

static yoke_status copy_diagonal(yoke_matrix *matrix, const double *diagonal)
{
    double *copy = NULL;
    yk_place place;
    if (!diagonal) return YOKE_OK;
    YK_TRY(yk_place_find("diagonal", diagonal, &place));
    YK_TRY(yk_alloc(matrix->context, "diagonal", matrix->op.rows, sizeof *copy, &copy));
    matrix->op.diagonal = copy;
    YK_TRY(yk_place_settle(&place));
    return yk_place_copy(&place, copy, diagonal, (size_t)matrix->op.rows * sizeof *copy);
}

yoke_status yoke_matrix_create_operator(yoke_context *context, const yoke_operator *op,
                                        yoke_matrix **matrix)
{
    if (!context || !op || !matrix)
        return yk_fail(YOKE_INVALID, "%s is NULL", !context ? "context" : !op ? "op" : "matrix");
    if (yk_over_ranks(context))
        return yk_fail(YOKE_UNSUITABLE, "an operator over ranks is not in this version");
    YK_TRY(check_operator(op));
    yoke_csr nothing = yoke_csr_defaults();
    yoke_matrix *made = NULL;
    YK_TRY(new_matrix(context, &nothing, &made));
    made->is_operator = true;
    made->csr.rows = op->rows;
    made->op = *op;
    made->op.diagonal = NULL;
    yoke_status status = copy_diagonal(made, op->diagonal);
    if (status == YOKE_OK)
        *matrix = made;
    else
        delete_matrix(made);
    return status;
}

/* ------------------------------------------------------- sharing, viewing */

void yk_matrix_retain(yoke_matrix *matrix)
{
    atomic_fetch_add_explicit(&matrix->references, 1, memory_order_relaxed);
}

void yk_matrix_release(yoke_matrix *matrix)
{
    if (atomic_fetch_sub_explicit(&matrix->references, 1, memory_order_acq_rel) == 1)
        delete_matrix(matrix);
}

void yoke_matrix_destroy(yoke_matrix *matrix)
{
    if (matrix) yk_matrix_release(matrix);
}

int yoke_matrix_usable(const yoke_matrix *matrix)
{
    return matrix && matrix->usable;
}

int64_t yoke_matrix_rows(const yoke_matrix *matrix)
{
    return matrix ? matrix->csr.rows : -1;
}

int64_t yoke_matrix_nonzeros(const yoke_matrix *matrix)
{
    return matrix && !matrix->is_operator ? matrix->csr.nonzeros : -1;
}

yoke_status yoke_matrix_view(const yoke_matrix *matrix, yoke_csr *csr)
{
    if (!matrix || !csr) return yk_fail(YOKE_INVALID, "%s is NULL", matrix ? "csr" : "matrix");
    if (matrix->is_operator)
        return yk_fail(YOKE_UNSUITABLE, "the matrix is an operator: it has no entries to view");
    yoke_csr view = yoke_csr_defaults();
    view.rows = matrix->csr.rows;
    view.row_start =
        matrix->csr.start32 ? (const void *)matrix->csr.start32 : (const void *)matrix->csr.start64;
    view.row_start_type = matrix->csr.start32 ? YOKE_INT32 : YOKE_INT64;
    view.column = matrix->csr.column;
    view.value = matrix->csr.value;
    view.ownership = YOKE_BORROW;
    *csr = view;
    return YOKE_OK;
}

yoke_status yoke_matrix_share(const yoke_matrix *matrix, yoke_share *share)
{
    if (!matrix || !share) return yk_fail(YOKE_INVALID, "%s is NULL", matrix ? "share" : "matrix");
    YK_TRY(yk_check_struct("yoke_share", share->struct_size, sizeof *share));
    const yk_spread *spread = matrix->spread;
    if (!spread) return yk_fail(YOKE_UNSUITABLE, "the matrix is not over ranks");
    *share = (yoke_share){.struct_size = sizeof *share,
                          .all_rows = spread->all_rows,
                          .all_nonzeros = spread->all_nonzeros,
                          .rows = spread->rows,
                          .nonzeros = matrix->csr.nonzeros,
                          .halo = spread->halo,
                          .sent = spread->sent,
                          .neighbours = yk_spread_neighbours(spread),
                          .row = spread->row_of};
    return YOKE_OK;
}
