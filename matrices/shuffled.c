/* SPDX-License-Identifier: BSD-3-Clause */
/* shuffled.c: another generator's matrix with its rows in a seeded random order, as unknowns are
 * numbered that come from an unstructured mesh. */
#include <string.h>
#include <yoke_io.h>

#include "lib/context.h"
#include "lib/matrix.h"
#include "lib/permuted.h"
#include "lib/status.h"
#include "lib/threads.h"
#include "matrices/generate.h"
#include "matrices/permutation.h"

enum { LONGEST = 32 /* ":SEED" */ };

/* The matrix in the order k -> yk_permute(k). order, position: [rows]. */
static yoke_status permute(yoke_context *context, const yk_csr *csr, uint64_t seed, int32_t *order,
                           int32_t *position, yoke_matrix **matrix)
{
    const yk_permutation p = yk_permutation_make(seed, (uint32_t)csr->rows);
    int threads = yk_threads(context, 0);
    yk_csr permuted;
    for (int64_t k = 0; k < csr->rows; k++) order[k] = (int32_t)yk_permute(&p, (uint32_t)k);
    yk_permutation_invert(order, csr->rows, threads, position);
    YK_TRY(yk_permuted_create(context, csr, order, position, threads, &permuted));
    return yk_matrix_adopt(context, &permuted, matrix);
}

static yoke_status shuffle(yoke_context *context, const yk_csr *csr, uint64_t seed,
                           yoke_matrix **matrix)
{
    int32_t *order = NULL, *position = NULL;
    yoke_status status = yk_alloc(context, "order of the rows", csr->rows, sizeof *order, &order);
    if (status == YOKE_OK)
        status = yk_alloc(context, "places of the rows", csr->rows, sizeof *position, &position);
    if (status == YOKE_OK) status = permute(context, csr, seed, order, position, matrix);
    yk_free(context, order, csr->rows, sizeof *order);
    yk_free(context, position, csr->rows, sizeof *position);
    return status;
}

yoke_status yk_split_shuffled(const yk_generator *generator, const char *text, uint64_t *seed,
                              const char **spec)
{
    char first[LONGEST] = "";
    yk_argument argument[YK_ARGUMENTS];
    const char *rest = *text ? strchr(text + 1, ':') : NULL;
    if (!rest || rest - text >= LONGEST)
        return yk_fail(YOKE_INVALID, "'%.64s' after %s: expected %s", text, generator->name,
                       generator->form);
    memcpy(first, text, (size_t)(rest - text));
    YK_TRY(yk_parse_arguments(generator, first, argument));
    *seed = argument[0].seed;
    *spec = rest + 1;
    return YOKE_OK;
}

yoke_status yk_make_shuffled(yoke_context *context, const yk_generator *generator, const char *text,
                             yoke_matrix **matrix)
{
    uint64_t seed;
    const char *spec;
    yoke_matrix *ordered = NULL;
    YK_TRY(yk_split_shuffled(generator, text, &seed, &spec));
    YK_TRY(yoke_matrix_generate(context, spec, &ordered));
    yoke_status status = shuffle(context, &ordered->csr, seed, matrix);
    yoke_matrix_destroy(ordered);
    return status;
}
