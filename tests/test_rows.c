/* SPDX-License-Identifier: BSD-3-Clause */
/* test_rows.c: the frame of all generators, where memory fails or an index gets wide. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <yoke_io.h>

#include "lib/context.h"
#include "lib/matrix.h"
#include "matrices/rows.h"

static void *refuse_large(void *user, size_t alignment, size_t bytes)
{
    (void)user;
    return bytes <= (size_t)1 << 20 ? aligned_alloc(alignment, bytes) : NULL;
}

static void release(void *user, void *memory, size_t bytes)
{
    (void)user;
    (void)bytes;
    free(memory);
}

/* Row starts fit, columns do not: what was made is given back. */
Test(rows, a_failed_allocation_leaks_nothing)
{
    static const char *const specs[] = {"poisson3d27:32", "graph:20000:40:1", "elasticity3d:12"};
    for (int i = 0; i < 3; i++) {
        yoke_context_options options = yoke_context_defaults();
        options.allocate = refuse_large;
        options.release = release;
        yoke_context *context = NULL;
        yoke_matrix *matrix = NULL;
        cr_assert_eq(yoke_context_create(&options, &context), YOKE_OK);
        cr_assert_eq(yoke_matrix_generate(context, specs[i], &matrix), YOKE_NO_MEMORY);
        cr_assert_eq(atomic_load(&context->live_bytes), 0);
        yoke_context_destroy(context);
    }
}

static void *reserve(void *user, size_t alignment, size_t bytes)
{
    (void)user;
    (void)alignment;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void unmap(void *user, void *memory, size_t bytes)
{
    (void)user;
    munmap(memory, bytes);
}

enum { LONG_ROW = 1 << 22 };

static void long_lengths(const void *rule, int64_t first, int64_t last, int32_t *length,
                         int32_t *kept)
{
    (void)rule;
    (void)kept;
    for (int64_t row = first; row < last; row++) *length++ = LONG_ROW;
}

/* Marks where each row's entries begin and leaves all other pages untouched. */
static void long_fill(const void *rule, int64_t first, int64_t last, const int32_t *kept,
                      int32_t *column, double *value)
{
    (void)rule;
    (void)kept;
    (void)value;
    for (int64_t row = first; row < last; row++, column += LONG_ROW) *column = (int32_t)row;
}

Test(rows, beyond_2_to_the_31_entries_starts_are_64_bits_wide)
{
    enum { ROWS = 513 };
    if (yk_memory_limit() < (int64_t)ROWS * LONG_ROW * 12) cr_skip("memory is limited");
    yoke_context_options options = yoke_context_defaults();
    options.threads = 2;
    options.allocate = reserve;
    options.release = unmap;
    yoke_context *context = NULL;
    yoke_matrix *matrix = NULL;
    cr_assert_eq(yoke_context_create(&options, &context), YOKE_OK);
    yk_rows rows = {NULL, ROWS, 0, 1, 0, long_lengths, long_fill};
    cr_assert_eq(yk_rows_build(context, &rows, &matrix), YOKE_OK, "%s", yoke_error_text());
    cr_assert_null(matrix->csr.start32);
    cr_assert_eq(yoke_matrix_nonzeros(matrix), (int64_t)ROWS * LONG_ROW);
    for (int64_t row = 0; row < ROWS; row++) {
        cr_assert_eq(matrix->csr.start64[row], row * LONG_ROW);
        cr_assert_eq(matrix->csr.column[row * LONG_ROW], row);
    }
    cr_assert_eq(matrix->csr.start64[ROWS], (int64_t)ROWS * LONG_ROW);
    yoke_matrix_destroy(matrix);
    cr_assert_eq(atomic_load(&context->live_bytes), 0);
    yoke_context_destroy(context);
}
