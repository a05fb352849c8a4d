/* SPDX-License-Identifier: BSD-3-Clause */
/* origin.c: from values in the order of creation to canonical ones. */
#include "lib/origin.h"

#include <stdlib.h>

#include "lib/context.h"
#include "lib/csr_input.h"
#include "lib/status.h"
#include "lib/threads.h"

yoke_status yk_origin_create(yoke_context *context, int64_t sources, int64_t nonzeros,
                             yk_origin **origin)
{
    yk_origin *made = calloc(1, sizeof *made);
    if (!made) return yk_fail(YOKE_NO_MEMORY, "no memory for %zu bytes", sizeof *made);
    made->sources = sources;
    made->nonzeros = nonzeros;
    yoke_status status =
        yk_alloc(context, "origins of values", sources, sizeof *made->source, &made->source);
    if (status == YOKE_OK && sources > nonzeros)
        status = yk_alloc(context, "groups of repeated entries", nonzeros + 1, sizeof *made->group,
                          &made->group);
    if (status != YOKE_OK) {
        yk_origin_destroy(context, made);
        return status;
    }
    *origin = made;
    return YOKE_OK;
}

void yk_origin_destroy(yoke_context *context, yk_origin *origin)
{
    if (!origin) return;
    yk_free(context, origin->source, origin->sources, sizeof *origin->source);
    yk_free(context, origin->group, origin->nonzeros + 1, sizeof *origin->group);
    free(origin);
}

typedef struct gather {
    const yk_origin *origin;
    const yk_csr *csr;
    const double *given;
    double *value;
} gather;

static void copy_rows(void *user, int64_t first, int64_t last)
{
    const gather *g = user;
    int64_t end = yk_row_start(g->csr, last);
    for (int64_t k = yk_row_start(g->csr, first); k < end; k++) g->value[k] = g->given[k];
}

static void gather_rows(void *user, int64_t first, int64_t last)
{
    const gather *g = user;
    const int64_t *source = g->origin->source, *group = g->origin->group;
    int64_t end = yk_row_start(g->csr, last);
    for (int64_t k = yk_row_start(g->csr, first); k < end; k++) {
        int64_t s = group ? group[k] : k, next = group ? group[k + 1] : k + 1;
        double sum = g->given[source[s]];
        for (s++; s < next; s++) sum += g->given[source[s]];
        g->value[k] = sum;
    }
}

void yk_origin_apply(const yk_origin *origin, const yk_csr *csr, int threads, const double *given,
                     double *value)
{
    gather g = {origin, csr, given, value};
    yk_parallel_for(threads, csr->rows, YK_ROW_GRAIN, origin ? gather_rows : copy_rows, &g);
}
