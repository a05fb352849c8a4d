/* SPDX-License-Identifier: BSD-3-Clause */
/* cusparse.h: what Yoke calls of cuSPARSE, opened at run time and never linked. No header of CUDA:
 * handles and descriptors are void *, statuses and enumerations int, as in its C interface. */
#ifndef YK_CUSPARSE_H
#define YK_CUSPARSE_H

#include <stddef.h>
#include <stdint.h>

/* Values of cuSPARSE's enumerations, and of cudaDataType. */
enum {
    YK_CUSPARSE_SUCCESS = 0,
    YK_CUSPARSE_ALLOC_FAILED = 2,
    YK_CUSPARSE_NOT_SUPPORTED = 10,
    YK_CUSPARSE_INSUFFICIENT_RESOURCES = 11,
    YK_CUSPARSE_NON_TRANSPOSE = 0,
    YK_CUSPARSE_INDEX_32I = 2,
    YK_CUSPARSE_BASE_ZERO = 0,
    YK_CUSPARSE_CSR_ALG2 = 3,
    YK_CUSPARSE_R_64F = 1
};

/* The functions of the same names, in the order of their declarations there. */
typedef struct yk_cusparse {
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, void *stream);
    const char *(*error_name)(int status);
    const char *(*error_string)(int status);
    int (*create_vector)(void **vector, int64_t size, void *values, int type);
    int (*destroy_vector)(const void *vector);
    int (*create_csr)(void **matrix, int64_t rows, int64_t columns, int64_t nonzeros, void *start,
                      void *column, void *value, int start_type, int column_type, int base,
                      int type);
    int (*destroy_matrix)(const void *matrix);
    int (*spmv)(void *handle, int operation, const void *alpha, const void *matrix, const void *x,
                const void *beta, void *y, int type, int algorithm, void *buffer);
    int (*spmv_buffer_size)(void *handle, int operation, const void *alpha, const void *matrix,
                            const void *x, const void *beta, void *y, int type, int algorithm,
                            size_t *bytes);
    int (*spmv_preprocess)(void *handle, int operation, const void *alpha, const void *matrix,
                           const void *x, const void *beta, void *y, int type, int algorithm,
                           void *buffer);
} yk_cusparse;

/* The library, opened at the first call and for good; NULL where it cannot be. */
const yk_cusparse *yk_cusparse_library(void);

/* Why it cannot; "" where it can. */
const char *yk_cusparse_reason(void);

/* Opens the library of this name into the table: 0, or -1 with the reason. */
int yk_cusparse_open(const char *name, yk_cusparse *table, char *reason, size_t size);

#endif
