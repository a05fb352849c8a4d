/* SPDX-License-Identifier: BSD-3-Clause */
/* fetch.h: a caller's CSR in device memory, brought to the host: there it is checked and made
 * canonical, as any other. */
#ifndef YK_FETCH_H
#define YK_FETCH_H

#include <yoke.h>

typedef struct yk_fetched {
    yoke_csr csr; /* the same matrix in host arrays, to be copied from */
    void *start, *column;
    double *value;
    int64_t nonzeros;
} yk_fetched;

/* Freed by yk_fetch_free whatever comes back; all 0 at first. */
yoke_status yk_fetch_csr(yoke_context *context, const yoke_csr *given, int threads,
                         yk_fetched *fetched);
void yk_fetch_free(yoke_context *context, const yk_fetched *fetched);

#endif
