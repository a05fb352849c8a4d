/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix_market.c: a coordinate file of a matrix: which ones this solver is for, and their sizes.
 */
#include "lib/status.h"
#include "matrices/entries.h"
#include "matrices/read.h"

static yoke_status check_suitable(const yk_lines *lines, const yk_banner *banner)
{
    const char *fault = NULL;
    if (banner->symmetry == YK_HERMITIAN) fault = "hermitian: a real matrix is expected";
    if (banner->symmetry == YK_SKEW)
        fault = "skew-symmetric, so x'Ax = 0 for all x: a symmetric positive definite matrix is "
                "expected";
    if (banner->field == YK_COMPLEX) fault = "complex: real, integer or pattern is expected";
    if (banner->layout == YK_ARRAY)
        fault = "a dense array: a sparse matrix, format coordinate, is expected";
    if (!fault) return YOKE_OK;
    return yk_fail_line(lines->stream, banner->line, YOKE_UNSUITABLE, "the matrix is %s", fault);
}

yoke_status yk_check_sizes(const yk_lines *lines, int64_t rows, int64_t columns)
{
    if (rows != columns)
        return yk_fail_line(lines->stream, lines->line, YOKE_UNSUITABLE,
                            "the matrix is not square: %lld rows and %lld columns", (long long)rows,
                            (long long)columns);
    if (rows > INT32_MAX)
        return yk_fail_line(lines->stream, lines->line, YOKE_OVERFLOW,
                            "too many rows for a 32-bit index: %lld, at most %d", (long long)rows,
                            INT32_MAX);
    return YOKE_OK;
}

yoke_status yk_read_matrix_market(yk_lines *lines, int threads, yk_found *found)
{
    yk_banner banner;
    int64_t size[3] = {0, 0, 0};
    int count;
    YK_TRY(yk_banner_read(lines, &banner));
    YK_TRY(check_suitable(lines, &banner));
    YK_TRY(yk_size_line(lines, size, &count));
    if (count != 3)
        return yk_fail_line(lines->stream, lines->line, YOKE_FORMAT,
                            "malformed size line: %d numbers, expected 3: rows, columns, entries",
                            count);
    YK_TRY(yk_check_sizes(lines, size[0], size[1]));
    found->rows = size[0];
    found->symmetric = banner.symmetry == YK_SYMMETRIC;
    yk_entries expected = {banner.field, size[0], size[1], size[2], threads};
    return yk_entries_read(lines, &expected, &found->triplets);
}
