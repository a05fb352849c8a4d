/* SPDX-License-Identifier: BSD-3-Clause */
/* files.h: small files for tests of the readers, made from a text and removed after use. */
#ifndef YK_TEST_FILES_H
#define YK_TEST_FILES_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yoke_io.h>

typedef struct test_file {
    char path[64];
} test_file;

static inline test_file file_of(const void *bytes, size_t count)
{
    test_file made = {"/tmp/yoke_test_XXXXXX"};
    int fd = mkstemp(made.path);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, bytes, count), (ssize_t)count);
    close(fd);
    return made;
}

static inline yoke_context *context_with(int threads)
{
    yoke_context_options options = yoke_context_defaults();
    yoke_context *context = NULL;
    options.threads = threads;
    cr_assert_eq(yoke_context_create(&options, &context), YOKE_OK);
    return context;
}

static inline yoke_status read_bytes(yoke_context *context, const void *bytes, size_t count,
                                     yoke_matrix **matrix)
{
    test_file file = file_of(bytes, count);
    *matrix = NULL;
    yoke_status status = yoke_matrix_read(context, file.path, NULL, matrix);
    unlink(file.path);
    return status;
}

static inline yoke_status read_text(yoke_context *context, const char *text, yoke_matrix **matrix)
{
    return read_bytes(context, text, strlen(text), matrix);
}

/* The text is refused with this status, naming this line (0: none) and these words. */
static inline void assert_refused(const char *text, yoke_status status, int line, const char *words)
{
    yoke_context *context = context_with(2);
    yoke_matrix *matrix = NULL;
    char place[32];
    snprintf(place, sizeof place, ":%d: ", line);
    cr_assert_eq(read_text(context, text, &matrix), status, "%s\n%s", text, yoke_error_text());
    cr_assert_null(matrix);
    cr_assert(strstr(yoke_error_text(), words), "%s", yoke_error_text());
    if (line > 0) cr_assert(strstr(yoke_error_text(), place), "%s", yoke_error_text());
    cr_assert_null(strchr(yoke_error_text(), '\n'));
    yoke_context_destroy(context);
}

static inline double entry_of(const yoke_matrix *matrix, int64_t row, int64_t column)
{
    yoke_csr csr = yoke_csr_defaults();
    cr_assert_eq(yoke_matrix_view(matrix, &csr), YOKE_OK);
    const int32_t *start = csr.row_start, *columns = csr.column;
    for (int32_t i = start[row]; i < start[row + 1]; i++)
        if (columns[i] == column) return csr.value[i];
    return 0.0;
}

/* Both matrices have the same arrays, bit by bit. */
static inline int same_matrix(const yoke_matrix *a, const yoke_matrix *b)
{
    yoke_csr one = yoke_csr_defaults(), two = yoke_csr_defaults();
    cr_assert_eq(yoke_matrix_view(a, &one), YOKE_OK);
    cr_assert_eq(yoke_matrix_view(b, &two), YOKE_OK);
    size_t entries = (size_t)yoke_matrix_nonzeros(a);
    return one.rows == two.rows && entries == (size_t)yoke_matrix_nonzeros(b) &&
           memcmp(one.row_start, two.row_start, ((size_t)one.rows + 1) * sizeof(int32_t)) == 0 &&
           memcmp(one.column, two.column, entries * sizeof(int32_t)) == 0 &&
           memcmp(one.value, two.value, entries * sizeof(double)) == 0;
}

#endif
