/* SPDX-License-Identifier: BSD-3-Clause */
/* values.c: accepting values into a matrix, at creation and later; on failure the old ones stay. */
#include "lib/values.h"

#include <stdio.h>

#include "lib/context.h"
#include "lib/csr_input.h"
#include "lib/origin.h"
#include "lib/place.h"
#include "lib/ranks.h"
#include "lib/spread.h"
#include "lib/status.h"
#include "lib/threads.h"

void yk_values_note(yoke_matrix *matrix, bool mean)
{
    snprintf(matrix->notice, sizeof matrix->notice, "%s",
             mean ? "the matrix is symmetric only to round-off: the mean of each such pair is used"
                  : "");
    if (mean) yk_log(matrix->context, YOKE_LOG_NOTICE, "%s", matrix->notice);
}

static yoke_status new_values(yoke_matrix *matrix, double **value)
{
    return yk_alloc(matrix->context, "values", matrix->csr.nonzeros, sizeof **value, value);
}

static void free_values(yoke_matrix *matrix, const double *value)
{
    yk_free(matrix->context, (void *)value, matrix->csr.nonzeros, sizeof *value);
}

yoke_status yk_values_verify(yoke_matrix *matrix, yk_csr *csr, bool writable, int threads)
{
    bool one_based = matrix->given.base == 1, mean = false;
    if (matrix->unsymmetric == YOKE_TRUST) return YOKE_OK;
    double *value = writable ? (double *)csr->value : NULL;
    YK_TRY(yk_matrix_symmetrise(csr, value, threads, one_based, &mean));
    if (mean && !writable) {
        YK_TRY(new_values(matrix, &value));
        yk_origin_apply(NULL, csr, threads, csr->value, value);
        csr->value = value;
        /* What was found symmetric a moment ago does not fail now. */
        (void)yk_matrix_symmetrise(csr, value, threads, one_based, &mean);
    }
    yk_values_note(matrix, mean);
    return YOKE_OK;
}

/* ------------------------------------------------------------------ update */

/* A canonical matrix that was borrowed borrows the new array. */
static bool borrows_values(const yoke_matrix *matrix)
{
    const yoke_csr *given = &matrix->given;
    return given->ownership == YOKE_BORROW && given->base == 0 && !matrix->origin;
}

static yoke_status borrow(yoke_matrix *matrix, const double *value, int threads)
{
    yk_csr csr = matrix->csr;
    csr.value = value;
    YK_TRY(yk_values_verify(matrix, &csr, false, threads));
    if (matrix->csr.value != matrix->given.value) free_values(matrix, matrix->csr.value);
    matrix->csr.value = csr.value;
    matrix->given.value = csr.value == value ? value : NULL;
    return YOKE_OK;
}

/* Symmetry is asked of the caller's array, so that ours is written only when nothing can fail. */
static yoke_status copy_in(yoke_matrix *matrix, const double *value, int threads)
{
    yk_csr csr = matrix->csr;
    bool mean = false;
    csr.value = value;
    if (matrix->unsymmetric != YOKE_TRUST)
        YK_TRY(yk_matrix_symmetrise(&csr, NULL, threads, matrix->given.base == 1, &mean));
    yk_origin_apply(NULL, &csr, threads, value, (double *)matrix->csr.value);
    if (mean) return yk_values_verify(matrix, &matrix->csr, true, threads);
    yk_values_note(matrix, false);
    return YOKE_OK;
}

static yoke_status gather_in(yoke_matrix *matrix, const double *value, int threads)
{
    yk_csr csr = matrix->csr;
    double *gathered = (double *)csr.value;
    bool can_fail = matrix->unsymmetric != YOKE_TRUST;
    if (can_fail) YK_TRY(new_values(matrix, &gathered));
    csr.value = gathered;
    yk_origin_apply(matrix->origin, &csr, threads, value, gathered);
    yoke_status status = yk_values_verify(matrix, &csr, true, threads);
    if (can_fail) free_values(matrix, status == YOKE_OK ? matrix->csr.value : gathered);
    if (status == YOKE_OK) matrix->csr.value = gathered;
    return status;
}

static yoke_status update_from_host(yoke_matrix *matrix, const double *value, int threads)
{
    if (borrows_values(matrix)) return borrow(matrix, value, threads);
    return matrix->origin ? gather_in(matrix, value, threads) : copy_in(matrix, value, threads);
}

/* In place of borrowing: the array is ours, and the matrix's from now on. */
static yoke_status keep(yoke_matrix *matrix, double *value, int threads)
{
    yk_csr csr = matrix->csr;
    csr.value = value;
    YK_TRY(yk_values_verify(matrix, &csr, true, threads));
    if (matrix->csr.value != matrix->given.value) free_values(matrix, matrix->csr.value);
    matrix->csr.value = value;
    matrix->given.value = NULL;
    return YOKE_OK;
}

/* A device's values come to the host first: symmetry is asked here, and what was sorted, mirrored
 * or summed at creation is so by the same hands. */
static yoke_status update_from(yoke_matrix *matrix, const yk_place *place, const double *value,
                               int threads)
{
    double *copy;
    int64_t count = matrix->given_nonzeros;
    bool keeps = borrows_values(matrix);
    YK_TRY(yk_alloc(matrix->context, "values to update", count, sizeof *copy, &copy));
    yoke_status status = yk_place_settle(place);
    if (status == YOKE_OK) status = yk_place_copy(place, copy, value, (size_t)count * sizeof *copy);
    if (status == YOKE_OK)
        status = keeps ? keep(matrix, copy, threads) : update_from_host(matrix, copy, threads);
    if (status != YOKE_OK || !keeps) yk_free(matrix->context, copy, count, sizeof *copy);
    return status;
}

static yoke_status update(yoke_matrix *matrix, const double *value)
{
    int threads = yk_threads(matrix->context, 0);
    yk_place place;
    if (!value && matrix->csr.nonzeros == 0) return YOKE_OK;
    YK_TRY(yk_check_values(value, matrix->csr.nonzeros));
    YK_TRY(yk_place_find("value", value, &place));
    return place.foreign ? update_from(matrix, &place, value, threads)
                         : update_from_host(matrix, value, threads);
}

/* -------------------------------------------------------------- over ranks */

/* New canonical values in an array of ours. */
static yoke_status stage(yoke_matrix *matrix, const double *value, int threads, double **staged)
{
    double *copy = NULL;
    int64_t count = matrix->given_nonzeros;
    yk_place place;
    YK_TRY(yk_check_values(value, count));
    YK_TRY(new_values(matrix, staged));
    YK_TRY(yk_place_find("value", value, &place));
    yoke_status status = YOKE_OK;
    if (place.foreign) {
        YK_TRY(yk_alloc(matrix->context, "values to update", count, sizeof *copy, &copy));
        status = yk_place_settle(&place);
        if (status == YOKE_OK)
            status = yk_place_copy(&place, copy, value, (size_t)count * sizeof *copy);
    }
    if (status == YOKE_OK)
        yk_origin_apply(matrix->origin, &matrix->csr, threads, copy ? copy : value, *staged);
    yk_free(matrix->context, copy, count, sizeof *copy);
    return status;
}

/* claimed: whether this rank's matrix is free to be updated. */
static yoke_status update_over_ranks(yoke_matrix *matrix, const double *value, yoke_status claimed)
{
    int threads = yk_threads(matrix->context, 0);
    double *staged = NULL;
    bool mean = false;
    if (claimed == YOKE_OK) claimed = stage(matrix, value, threads, &staged);
    yoke_status status = yk_agree(matrix->context, claimed, 0.0);
    if (status == YOKE_OK && matrix->unsymmetric != YOKE_TRUST)
        status = yk_spread_symmetrise(matrix, staged, threads, &mean);
    free_values(matrix, status == YOKE_OK ? matrix->csr.value : staged);
    if (status != YOKE_OK) return status;
    matrix->csr.value = staged;
    yk_values_note(matrix, mean);
    return YOKE_OK;
}

/* ------------------------------------------------------------------- claim */

static yoke_status claim(yoke_matrix *matrix)
{
    if (!matrix->usable) return yk_fail(YOKE_SPOILED, "the matrix did not survive a failure");
    if (matrix->is_operator)
        return yk_fail(YOKE_UNSUITABLE, "the matrix is an operator: it has no values to update");
    int solving = 0;
    if (atomic_compare_exchange_strong(&matrix->solving, &solving, -1)) return YOKE_OK;
    return solving < 0 ? yk_fail(YOKE_BUSY, "the values are being updated by another call")
                       : yk_fail(YOKE_BUSY, "%d solves with the matrix are running", solving);
}

yoke_status yoke_matrix_update_values(yoke_matrix *matrix, const double *value)
{
    if (!matrix) return yk_fail(YOKE_INVALID, "matrix is NULL");
    yoke_status claimed = claim(matrix), status = claimed;
    if (matrix->spread)
        status = update_over_ranks(matrix, value, claimed);
    else if (claimed == YOKE_OK)
        status = update(matrix, value);
    if (claimed != YOKE_OK) return status;
    if (status == YOKE_OK) atomic_fetch_add(&matrix->version, 1);
    atomic_store(&matrix->solving, 0);
    return status;
}
