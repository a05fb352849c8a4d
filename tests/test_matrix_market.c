/* SPDX-License-Identifier: BSD-3-Clause */
/* test_matrix_market.c: coordinate files: what is accepted, what is refused and with which line. */
#include "tests/files.h"

#define GENERAL   "%%MatrixMarket matrix coordinate real general\n"
#define SYMMETRIC "%%MatrixMarket matrix coordinate real symmetric\n"
#define REAL      SOURCE_DIR "/matrices/real/"

static void assert_sizes(const char *text, int64_t rows, int64_t nonzeros)
{
    yoke_context *context = context_with(2);
    yoke_matrix *matrix;
    cr_assert_eq(read_text(context, text, &matrix), YOKE_OK, "%s\n%s", text, yoke_error_text());
    cr_assert_eq(yoke_matrix_rows(matrix), rows);
    cr_assert_eq(yoke_matrix_nonzeros(matrix), nonzeros);
    yoke_matrix_destroy(matrix);
    yoke_context_destroy(context);
}

static void assert_entry(const char *text, int64_t row, int64_t column, double value)
{
    yoke_context *context = context_with(1);
    yoke_matrix *matrix;
    cr_assert_eq(read_text(context, text, &matrix), YOKE_OK, "%s\n%s", text, yoke_error_text());
    cr_assert_eq(entry_of(matrix, row, column), value, "%s: %.17g", text,
                 entry_of(matrix, row, column));
    yoke_matrix_destroy(matrix);
    yoke_context_destroy(context);
}

static void assert_real(const char *path, int64_t rows, int64_t nonzeros)
{
    yoke_context *context = context_with(2);
    yoke_matrix *matrix = NULL;
    cr_assert_eq(yoke_matrix_read(context, path, NULL, &matrix), YOKE_OK, "%s", yoke_error_text());
    cr_assert_eq(yoke_matrix_rows(matrix), rows);
    cr_assert_eq(yoke_matrix_nonzeros(matrix), nonzeros);
    yoke_matrix_destroy(matrix);
    yoke_context_destroy(context);
}

Test(matrix_market, real_files_have_their_published_sizes)
{
    assert_real(REAL "494_bus.mtx", 494, 1666);
    assert_real(REAL "1138_bus.mtx", 1138, 4054);
    assert_real(REAL "nos6.mtx", 675, 3255);
    assert_real(REAL "LFAT5.mtx", 14, 46);
    assert_real(REAL "cusp_5pt_10x10_integer.mtx", 100, 460);
    assert_real(REAL "pyamg_knot.mtx", 239, 1667);
    assert_real(REAL "singular_pyamg_unit_square.mtx", 191, 1243);
}

/* case 20 */
Test(matrix_market, the_diagonal_of_a_symmetric_file_is_not_doubled)
{
    const char *text = SYMMETRIC "2 2 3\n1 1 2\n2 1 -1\n2 2 2\n";
    assert_sizes(text, 2, 4);
    assert_entry(text, 0, 0, 2.0);
    assert_entry(text, 0, 1, -1.0);
}

/* case 21 */
Test(matrix_market, pattern_gives_ones_and_integer_reads_as_double)
{
    assert_entry("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n", 0, 1,
                 1.0);
    assert_entry("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 -7\n", 0, 0, -7.0);
    assert_refused("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n",
                   YOKE_FORMAT, 3, "no integer");
}

Test(matrix_market, what_this_solver_is_not_for_is_refused_with_the_reason)
{
    assert_refused("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 1\n",
                   YOKE_UNSUITABLE, 1, "skew-symmetric");
    assert_refused("%%MatrixMarket matrix coordinate complex hermitian\n1 1 1\n1 1 1 0\n",
                   YOKE_UNSUITABLE, 1, "complex");
    assert_refused("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n",
                   YOKE_UNSUITABLE, 1, "complex");
    assert_refused("%%MatrixMarket matrix array real general\n1 1\n1\n", YOKE_UNSUITABLE, 1,
                   "dense");
    assert_refused(GENERAL "2 3 1\n1 1 1\n", YOKE_UNSUITABLE, 2, "2 rows and 3 columns");
    assert_refused(SYMMETRIC "2 3 1\n1 1 1\n", YOKE_UNSUITABLE, 2, "not square");
}

/* case 22 */
Test(matrix_market, general_is_accepted_when_symmetric_and_refused_naming_the_pair_when_not)
{
    assert_sizes(GENERAL "2 2 4\n1 1 2\n2 2 2\n1 2 -1\n2 1 -1\n", 2, 4);
    assert_refused(GENERAL "2 2 4\n1 1 2\n2 2 2\n1 2 -1\n2 1 -3\n", YOKE_UNSUITABLE, 0, "(1, 2)");
    assert_refused(GENERAL "2 2 3\n1 1 2\n2 2 2\n1 2 -1\n", YOKE_UNSUITABLE, 0, "(1, 2)");
}

Test(matrix_market, symmetry_is_not_looked_at_when_trusted)
{
    yoke_context *context = context_with(2);
    yoke_matrix *matrix = NULL;
    yoke_read_options options = yoke_read_defaults();
    options.trust_symmetry = 1;
    cr_assert_eq(yoke_matrix_read(context, REAL "unsym_west0067.mtx", NULL, &matrix),
                 YOKE_UNSUITABLE);
    cr_assert_eq(yoke_matrix_read(context, REAL "unsym_west0067.mtx", &options, &matrix), YOKE_OK);
    cr_assert_eq(yoke_matrix_nonzeros(matrix), 294);
    yoke_matrix_destroy(matrix);
    yoke_context_destroy(context);
}

/* case 23 */
Test(matrix_market, liberties_of_spelling_are_accepted)
{
    assert_sizes("%%matrixmarket MATRIX Coordinate REAL Symmetric\n1 1 1\n1 1 1\n", 1, 1);
    assert_sizes("  %%MatrixMarket\tmatrix   coordinate real\tgeneral  \n1 1 1\n1 1 1\n", 1, 1);
    assert_sizes("\n\n%% MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n", 1, 1);
    assert_sizes(GENERAL "% one\n%two\n\n  % three\n\t\n  2\t2   1 \n\n%four\n\t1  1\t5\t\n\n%\n",
                 2, 1);
    assert_sizes("%%MatrixMarket matrix coordinate real general\r\n% c\r\n\r\n1 1 1\r\n1 1 1\r\n",
                 1, 1);
    assert_sizes(GENERAL "1 1 1\n1 1 1", 1, 1);
    assert_entry(GENERAL "1 1 1\n+1 01 +1.D+3\n", 0, 0, 1000.0);
    assert_entry(GENERAL "1 1 1\n1 1 1d0\n", 0, 0, 1.0);
}

Test(matrix_market, faults_of_the_banner_name_the_word_and_the_line)
{
    assert_refused("%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n", YOKE_FORMAT, 1,
                   "%MatrixMarket");
    assert_refused("%%%MatrixMarket matrix coordinate real general\n", YOKE_FORMAT, 1, "%%%");
    assert_refused("\n%%MatrixMarket matrix coordinate real wrong\n", YOKE_FORMAT, 2, "'wrong'");
    assert_refused("%%MatrixMarket tensor coordinate real general\n", YOKE_FORMAT, 1, "'tensor'");
    assert_refused("%%MatrixMarket matrix coordinate real\n1 1 1\n", YOKE_FORMAT, 1, "symmetry");
    assert_refused("%%MatrixMarket matrix coordinate real general now\n", YOKE_FORMAT, 1, "now");
    assert_refused("%%MatrixMarket matrix array pattern general\n", YOKE_FORMAT, 1, "array");
    assert_refused("%%MatrixMarket matrix coordinate real hermitian\n", YOKE_FORMAT, 1,
                   "hermitian");
}

Test(matrix_market, files_of_other_kinds_are_refused_in_one_line)
{
    assert_refused("", YOKE_FORMAT, 1, "empty");
    assert_refused("\n \n", YOKE_FORMAT, 1, "empty");
    assert_refused("1 1 1\n1 1 1\n", YOKE_FORMAT, 1, "neither");
    assert_refused("\n<html>\x01\n", YOKE_FORMAT, 2, "<html>?");
    assert_refused("BZh91AY&SY", YOKE_FORMAT, 0, "bzip2");
    assert_refused("PK\003\004", YOKE_FORMAT, 0, "zip");
}

Test(matrix_market, faults_of_the_size_line_name_it)
{
    assert_refused(GENERAL, YOKE_FORMAT, 1, "size line");
    assert_refused(GENERAL "%\n%\n", YOKE_FORMAT, 3, "size line");
    assert_refused(GENERAL "3\n1 1 1\n", YOKE_FORMAT, 2, "1 numbers");
    assert_refused(GENERAL "3 3\n1 1 1\n", YOKE_FORMAT, 2, "2 numbers");
    assert_refused(GENERAL "3 3 1 1\n1 1 1\n", YOKE_FORMAT, 2, "'1'");
    assert_refused(GENERAL "-3 -3 1\n1 1 1\n", YOKE_FORMAT, 2, "'-3'");
    assert_refused(GENERAL "a b c\n", YOKE_FORMAT, 2, "'a'");
    assert_refused(GENERAL "1.5 1.5 1\n", YOKE_FORMAT, 2, "'1.5'");
}

/* case 28: sizes that no index can hold */
Test(matrix_market, sizes_beyond_an_index_are_overflow_not_out_of_memory)
{
    assert_refused(GENERAL "2147483648 2147483648 1\n1 1 1\n", YOKE_OVERFLOW, 2, "2147483648");
    assert_refused(GENERAL "1 1 9223372036854775808\n1 1 1\n", YOKE_OVERFLOW, 2,
                   "9223372036854775808");
    assert_refused(GENERAL "99999999999999999999 1 1\n", YOKE_OVERFLOW, 2, "9999");
}

Test(matrix_market, a_promise_of_entries_that_are_not_there_takes_no_memory)
{
    yoke_context *context = context_with(2);
    yoke_matrix *matrix = NULL;
    cr_assert_eq(read_text(context, GENERAL "2 2 1000000000000\n1 1 1\n", &matrix), YOKE_FORMAT);
    cr_assert(strstr(yoke_error_text(), "after 1 entries"), "%s", yoke_error_text());
    yoke_context_destroy(context);
}

/* case 24 */
Test(matrix_market, faults_of_an_entry_name_its_line)
{
    assert_refused(GENERAL "2 2 1\n0 1 1\n", YOKE_FORMAT, 3, "row index is out of range: 0");
    assert_refused(GENERAL "2 2 1\n-1 1 1\n", YOKE_FORMAT, 3, "-1, expected 1 to 2");
    assert_refused(GENERAL "2 2 1\n1 3 1\n", YOKE_FORMAT, 3, "column index is out of range: 3");
    assert_refused(GENERAL "2 2 1\n1 4294967297 1\n", YOKE_FORMAT, 3, "out of range");
    assert_refused(GENERAL "2 2 1\n1 18446744073709551617 1\n", YOKE_FORMAT, 3, "out of range");
    assert_refused(GENERAL "2 2 1\n1 1000000000000000000000000000000000000000001 1\n", YOKE_FORMAT,
                   3, "out of range");
    assert_refused(GENERAL "2 2 1\n1 1\n", YOKE_FORMAT, 3, "value is expected");
    assert_refused(GENERAL "2 2 1\n1\n", YOKE_FORMAT, 3, "column index is expected");
    assert_refused(GENERAL "2 2 1\n1 1 abc\n", YOKE_FORMAT, 3, "'abc'");
    assert_refused(GENERAL "2 2 1\n1 1 2x\n", YOKE_FORMAT, 3, "'2x'");
    assert_refused(GENERAL "2 2 1\n1 1 0x10\n", YOKE_FORMAT, 3, "'0x10'");
    assert_refused(GENERAL "2 2 1\n1.0 1 2\n", YOKE_FORMAT, 3, "'1.0'");
    assert_refused(GENERAL "2 2 1\n1 1 2 3\n", YOKE_FORMAT, 3, "after the entry: '3'");
    assert_refused(GENERAL "2 2 1\n1 1 nan\n", YOKE_FORMAT, 3, "not finite: 'nan'");
    assert_refused(GENERAL "2 2 1\n1 1 -Inf\n", YOKE_FORMAT, 3, "not finite");
    assert_refused(GENERAL "2 2 1\n1 1 1e999\n", YOKE_FORMAT, 3, "overflows");
    assert_refused(GENERAL "2 2 2\n1 1 1\n", YOKE_FORMAT, 3, "after 1 entries");
    assert_refused(GENERAL "2 2 1\n1 1 1\n\n%\n2 2 1\n", YOKE_FORMAT, 6, "more than the 1 entries");
    assert_refused(GENERAL "2 2 1\n1 1 1\nend\n", YOKE_FORMAT, 4, "more than the 1 entries");
}

/* case 25 */
Test(matrix_market, repeated_entries_are_summed_and_columns_sorted)
{
    const char *text = GENERAL "3 3 7\n3 1 5\n2 2 1\n1 1 1\n1 3 2\n3 3 1\n1 1 0.5\n1 3 3\n";
    assert_sizes(text, 3, 5);
    assert_entry(text, 0, 0, 1.5);
    assert_entry(text, 0, 2, 5.0);
    assert_entry(SYMMETRIC "2 2 2\n2 1 1\n2 1 2\n", 0, 1, 3.0);
}

Test(matrix_market, a_sum_of_repeats_that_overflows_is_refused)
{
    assert_refused(GENERAL "2 2 2\n2 2 1e308\n2 2 1e308\n", YOKE_FORMAT, 0, "(2, 2) overflows");
}

/* case 26 */
Test(matrix_market, either_triangle_or_a_mixture_may_be_stored)
{
    const char *upper = SYMMETRIC "3 3 3\n1 1 4\n1 2 -1\n1 3 -2\n";
    const char *mixed = SYMMETRIC "3 3 3\n1 1 4\n2 1 -1\n1 3 -2\n";
    assert_sizes(upper, 3, 5);
    assert_entry(upper, 2, 0, -2.0);
    assert_sizes(mixed, 3, 5);
    assert_entry(mixed, 2, 0, -2.0);
    assert_entry(mixed, 0, 1, -1.0);
}

Test(matrix_market, a_place_of_a_symmetric_file_given_in_both_triangles_is_refused)
{
    assert_refused(SYMMETRIC "3 3 3\n1 1 4\n3 1 -1\n1 3 -1\n", YOKE_FORMAT, 0, "(1, 3)");
}

/* case 27 */
Test(matrix_market, empty_rows_and_empty_matrices_are_read)
{
    assert_sizes(SYMMETRIC "5 5 1\n3 3 1\n", 5, 1);
    assert_sizes(SYMMETRIC "3 3 0\n", 3, 0);
    assert_sizes(SYMMETRIC "0 0 0\n", 0, 0);
    assert_sizes(SYMMETRIC "1 1 1\n1 1 4\n", 1, 1);
}
