/* SPDX-License-Identifier: BSD-3-Clause */
/* test_cusparse.c: the table of cuSPARSE's entry points against its own header and library, which
 * needs no GPU: what is declared without a header must be what the header says. */
#include <criterion/criterion.h>
#include <cusparse.h>
#include <dlfcn.h>
#include <string.h>

#include "lib/cuda/cusparse.h"

Test(cusparse, the_values_are_those_of_the_header)
{
    cr_assert_eq((int)YK_CUSPARSE_SUCCESS, (int)CUSPARSE_STATUS_SUCCESS);
    cr_assert_eq((int)YK_CUSPARSE_ALLOC_FAILED, (int)CUSPARSE_STATUS_ALLOC_FAILED);
    cr_assert_eq((int)YK_CUSPARSE_NOT_SUPPORTED, (int)CUSPARSE_STATUS_NOT_SUPPORTED);
    cr_assert_eq((int)YK_CUSPARSE_INSUFFICIENT_RESOURCES,
                 (int)CUSPARSE_STATUS_INSUFFICIENT_RESOURCES);
    cr_assert_eq((int)YK_CUSPARSE_NON_TRANSPOSE, (int)CUSPARSE_OPERATION_NON_TRANSPOSE);
    cr_assert_eq((int)YK_CUSPARSE_INDEX_32I, (int)CUSPARSE_INDEX_32I);
    cr_assert_eq((int)YK_CUSPARSE_BASE_ZERO, (int)CUSPARSE_INDEX_BASE_ZERO);
    cr_assert_eq((int)YK_CUSPARSE_CSR_ALG2, (int)CUSPARSE_SPMV_CSR_ALG2);
    cr_assert_eq((int)YK_CUSPARSE_R_64F, (int)CUDA_R_64F);
    cr_assert_eq(sizeof(cusparseStatus_t), sizeof(int));
    cr_assert_eq(sizeof(cusparseIndexType_t), sizeof(int));
    cr_assert_eq(sizeof(cudaDataType), sizeof(int));
}

static const yk_cusparse *library(void)
{
    const yk_cusparse *found = yk_cusparse_library();
    if (!found) cr_skip_test("%s", yk_cusparse_reason());
    cr_assert_str_empty(yk_cusparse_reason());
    return found;
}

/* A matrix and a vector are described without a device: what went in by our declarations comes out
 * by the header's. */
Test(cusparse, arguments_arrive_as_the_header_declares_them)
{
    const yk_cusparse *table = library();
    void *handle = dlopen("libcusparse.so.12", RTLD_NOW | RTLD_NOLOAD);
    if (!handle) cr_skip_test("not opened by its name alone");
    __typeof__(cusparseCsrGet) *get_csr = NULL;
    __typeof__(cusparseDnVecGet) *get_vector = NULL;
    void *symbol = dlsym(handle, "cusparseCsrGet");
    memcpy(&get_csr, &symbol, sizeof symbol);
    symbol = dlsym(handle, "cusparseDnVecGet");
    memcpy(&get_vector, &symbol, sizeof symbol);

    static int start[4] = {0, 2, 4, 5}, column[5] = {0, 1, 0, 1, 2};
    static double value[5] = {2, -1, -1, 2, 3}, p[3] = {1, 2, 3};
    void *matrix = NULL, *vector = NULL, *got[3] = {0};
    cr_assert_eq(table->create_csr(&matrix, 3, 3, 5, start, column, value, YK_CUSPARSE_INDEX_32I,
                                   YK_CUSPARSE_INDEX_32I, YK_CUSPARSE_BASE_ZERO, YK_CUSPARSE_R_64F),
                 YK_CUSPARSE_SUCCESS);
    int64_t rows = 0, columns = 0, nonzeros = 0;
    cusparseIndexType_t start_type, column_type;
    cusparseIndexBase_t base;
    cudaDataType type;
    cr_assert_eq(get_csr(matrix, &rows, &columns, &nonzeros, &got[0], &got[1], &got[2], &start_type,
                         &column_type, &base, &type),
                 CUSPARSE_STATUS_SUCCESS);
    cr_assert(rows == 3 && columns == 3 && nonzeros == 5);
    cr_assert(got[0] == start && got[1] == column && got[2] == value);
    cr_assert(start_type == CUSPARSE_INDEX_32I && column_type == CUSPARSE_INDEX_32I);
    cr_assert(base == CUSPARSE_INDEX_BASE_ZERO && type == CUDA_R_64F);
    cr_assert_eq(table->create_vector(&vector, 3, p, YK_CUSPARSE_R_64F), YK_CUSPARSE_SUCCESS);
    cr_assert_eq(get_vector(vector, &rows, &got[0], &type), CUSPARSE_STATUS_SUCCESS);
    cr_assert(rows == 3 && got[0] == p && type == CUDA_R_64F);
    cr_assert_eq(table->destroy_vector(vector), YK_CUSPARSE_SUCCESS);
    cr_assert_eq(table->destroy_matrix(matrix), YK_CUSPARSE_SUCCESS);
}

/* No handle is valid without a device, so the calls that take one must say so, and by name. */
Test(cusparse, a_missing_handle_is_an_error_with_a_name)
{
    const yk_cusparse *table = library();
    const double one = 1.0;
    size_t bytes = 0;
    int errors[] = {
        table->set_stream(NULL, NULL),
        table->spmv(NULL, YK_CUSPARSE_NON_TRANSPOSE, &one, NULL, NULL, &one, NULL,
                    YK_CUSPARSE_R_64F, YK_CUSPARSE_CSR_ALG2, NULL),
        table->spmv_buffer_size(NULL, YK_CUSPARSE_NON_TRANSPOSE, &one, NULL, NULL, &one, NULL,
                                YK_CUSPARSE_R_64F, YK_CUSPARSE_CSR_ALG2, &bytes),
        table->spmv_preprocess(NULL, YK_CUSPARSE_NON_TRANSPOSE, &one, NULL, NULL, &one, NULL,
                               YK_CUSPARSE_R_64F, YK_CUSPARSE_CSR_ALG2, NULL),
    };
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        cr_assert_neq(errors[i], YK_CUSPARSE_SUCCESS, "call %zu", i);
        cr_assert_eq(strncmp(table->error_name(errors[i]), "CUSPARSE_STATUS_", 16), 0);
    }
    cr_assert_str_eq(table->error_name(YK_CUSPARSE_NOT_SUPPORTED), "CUSPARSE_STATUS_NOT_SUPPORTED");
    cr_assert(*table->error_string(YK_CUSPARSE_NOT_SUPPORTED));
}

Test(cusparse, a_library_that_is_missing_or_another_is_told_by_name)
{
    yk_cusparse table;
    char reason[320] = "";
    cr_assert_eq(yk_cusparse_open("libnosuch.so.12", &table, reason, sizeof reason), -1);
    cr_assert_eq(strncmp(reason, "libnosuch.so.12: cannot open", 28), 0, "%s", reason);
    cr_assert_eq(yk_cusparse_open("libm.so.6", &table, reason, sizeof reason), -1);
    cr_assert_str_eq(reason, "libm.so.6: it has no cusparseCreate");
}
