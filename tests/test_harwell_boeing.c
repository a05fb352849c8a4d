/* SPDX-License-Identifier: BSD-3-Clause */
/* test_harwell_boeing.c: Harwell-Boeing and Rutherford-Boeing files. */
#include "tests/files.h"

#define REAL SOURCE_DIR "/matrices/real/"

/* A header of four lines, for a matrix of order 2 with 3 entries of one triangle. */
#define TITLE "A matrix of order two                                                   |key     \n"
#define CARDS "             3             1             1             1             0\n"
#define SIZES "                        2             2             3             0\n"
#define RSA   TITLE CARDS "RSA" SIZES
#define BODY  "  1  3  4\n  1  2  2\n"

static yoke_matrix *read_good(yoke_context *context, const char *text)
{
    yoke_matrix *matrix;
    cr_assert_eq(read_text(context, text, &matrix), YOKE_OK, "%s\n%s", text, yoke_error_text());
    return matrix;
}

static void assert_values(const char *text, double first, double off, double last)
{
    yoke_context *context = context_with(2);
    yoke_matrix *matrix = read_good(context, text);
    cr_assert_eq(yoke_matrix_nonzeros(matrix), 4);
    cr_assert_eq(entry_of(matrix, 0, 0), first, "%.17g", entry_of(matrix, 0, 0));
    cr_assert_eq(entry_of(matrix, 0, 1), off, "%.17g", entry_of(matrix, 0, 1));
    cr_assert_eq(entry_of(matrix, 1, 0), off);
    cr_assert_eq(entry_of(matrix, 1, 1), last, "%.17g", entry_of(matrix, 1, 1));
    yoke_matrix_destroy(matrix);
    yoke_context_destroy(context);
}

Test(harwell_boeing, a_real_rutherford_boeing_file_is_read)
{
    yoke_context *context = context_with(2);
    yoke_matrix *matrix = NULL;
    cr_assert_eq(yoke_matrix_read(context, REAL "bcsstk01.rb", NULL, &matrix), YOKE_OK, "%s",
                 yoke_error_text());
    cr_assert_eq(yoke_matrix_rows(matrix), 48);
    cr_assert_eq(yoke_matrix_nonzeros(matrix), 400);
    /* the first and the last value of the file */
    cr_assert_eq(entry_of(matrix, 0, 0), 0.283226851852e7);
    yoke_matrix_destroy(matrix);
    yoke_context_destroy(context);
}

Test(harwell_boeing, a_pattern_gives_ones_and_is_mirrored)
{
    yoke_context *context = context_with(1);
    yoke_matrix *matrix = NULL;
    cr_assert_eq(yoke_matrix_read(context, REAL "pattern_can_24.psa", NULL, &matrix), YOKE_OK);
    cr_assert_eq(yoke_matrix_rows(matrix), 24);
    cr_assert_eq(yoke_matrix_nonzeros(matrix), 160);
    cr_assert_eq(entry_of(matrix, 0, 5), 1.0);
    cr_assert_eq(entry_of(matrix, 5, 0), 1.0);
    yoke_matrix_destroy(matrix);
    yoke_context_destroy(context);
}

Test(harwell_boeing, fields_that_touch_are_cut_by_their_width)
{
    assert_values(RSA "(3I3)           (3I3)           (3F4.1)\n" BODY " 2.0-1.5 3.0\n", 2, -1.5,
                  3);
    assert_values(RSA "(3I3)           (3I3)           (2E8.1)\n" BODY
                      " 2.0E+00-1.5E+00\n 3.0E+00\n",
                  2, -1.5, 3);
}

Test(harwell_boeing, exponents_and_implied_points_are_those_of_fortran)
{
    assert_values(RSA "(3I3)           (3I3)           (3D9.2)\n" BODY
                      "  2.0D+00 -1.5D+00  3.0d+00\n",
                  2, -1.5, 3);
    /* no letter before the exponent; none of 1P's effect where there is an exponent */
    assert_values(RSA "(3I3)           (3I3)           (1P,3E10.2)\n" BODY
                      "    2.0+00    -1.5+0    3.0E0  \n",
                  2, -1.5, 3);
    /* no point: two digits behind it; no exponent under 1P: a tenth */
    assert_values(RSA "(3I3)           (3I3)           (3F6.2)\n" BODY "   200  -150   3.0\n", 2,
                  -1.5, 3);
    assert_values(RSA "(3I3)           (3I3)           (1P3F6.2)\n" BODY "  20.0 -15.0  30.0\n", 2,
                  -1.5, 3);
    assert_values(RSA "(3I3)           (3I3)           (3I6)\n" BODY "     2    -1     3\n", 2, -1,
                  3);
}

Test(harwell_boeing, general_storage_is_checked_for_symmetry)
{
    const char *text = TITLE CARDS "RUA                        2             2             4\n"
                                   "(3I3)           (4I3)           (4F5.1)\n"
                                   "  1  3  5\n  1  2  1  2\n  2.0 -1.0 %s  3.0\n";
    char made[600];
    snprintf(made, sizeof made, text, "-1.0");
    assert_values(made, 2, -1, 3);
    snprintf(made, sizeof made, text, "-4.0");
    assert_refused(made, YOKE_UNSUITABLE, 0, "(1, 2)");
}

Test(harwell_boeing, right_hand_sides_are_passed_over)
{
    assert_values(TITLE "             4             1             1             1             1\n"
                        "rsa                        2             2             3             0\n"
                        "(3I3)           (3I3)           (3F4.1)             (2F4.1)\n"
                        "F                          1             0\n" BODY
                        " 2.0-1.5 3.0\n 1.0 1.0\n",
                  2, -1.5, 3);
}

Test(harwell_boeing, crlf_is_read)
{
    yoke_context *context = context_with(1);
    char text[1000], *to = text;
    for (const char *from = RSA "(3I3)           (3I3)           (3F4.1)\n" BODY " 2.0-1.5 3.0\n";
         *from; from++) {
        if (*from == '\n') *to++ = '\r';
        *to++ = *from;
    }
    *to = '\0';
    yoke_matrix *matrix = read_good(context, text);
    cr_assert_eq(entry_of(matrix, 1, 1), 3.0);
    yoke_matrix_destroy(matrix);
    yoke_context_destroy(context);
}

Test(harwell_boeing, faults_name_their_line)
{
#define FORMATS "(3I3)           (3I3)           (3F4.1)\n"
    assert_refused(RSA "(3X3)           (3I3)           (3F4.1)\n" BODY, YOKE_FORMAT, 4, "(3X3)");
    assert_refused(RSA "(3I3)           (3I3)\n" BODY, YOKE_FORMAT, 4, "Fortran format");
    assert_refused(RSA FORMATS "  1  3  5\n", YOKE_FORMAT, 5, "column pointer 3 is 5");
    assert_refused(RSA FORMATS "  2  3  4\n", YOKE_FORMAT, 5, "column pointer 1 is 2");
    assert_refused(RSA FORMATS "  1  4  3\n", YOKE_FORMAT, 5, "column pointer 3 is 3");
    assert_refused(RSA FORMATS "  1  3\n", YOKE_FORMAT, 5, "blank");
    assert_refused(RSA FORMATS "  1  3  4\n  1  3  2\n 2.0-1.5 3.0\n", YOKE_FORMAT, 6,
                   "out of range: 3");
    assert_refused(RSA FORMATS "  1  3  4\n  1  x  2\n 2.0-1.5 3.0\n", YOKE_FORMAT, 6, "'x'");
    assert_refused(RSA FORMATS BODY " 2.0 nan 3.0\n", YOKE_FORMAT, 7, "not finite");
    assert_refused(RSA FORMATS BODY " 2.0  1x 3.0\n", YOKE_FORMAT, 7, "'1x'");
    assert_refused(RSA FORMATS BODY " 2.01e99 3.0\n4\n", YOKE_FORMAT, 8, "unexpected text");
    assert_refused(RSA "(3I3)           (3I3)           (3F6.1)\n" BODY " 2.0   1e999   3.0\n",
                   YOKE_FORMAT, 7, "overflows");
    assert_refused(RSA FORMATS BODY " 2.0-1.5\n", YOKE_FORMAT, 7, "blank");
    assert_refused(RSA FORMATS BODY, YOKE_FORMAT, 6, "the file ends");
    assert_refused(RSA, YOKE_FORMAT, 3, "within its header");
}

static void assert_type_refused(const char *type, const char *words)
{
    char text[1000];
    snprintf(text, sizeof text, TITLE CARDS "%s%s" FORMATS BODY " 2.0-1.5 3.0\n", type, SIZES);
    assert_refused(text, YOKE_UNSUITABLE, 3, words);
}

Test(harwell_boeing, types_this_solver_is_not_for_are_refused_with_the_reason)
{
    assert_type_refused("CSA", "complex");
    assert_type_refused("RZA", "skew");
    assert_type_refused("CHA", "complex");
    assert_type_refused("RRA", "rectangular");
    assert_type_refused("RSE", "unassembled");
}

Test(harwell_boeing, sizes_are_checked_as_those_of_other_files)
{
    assert_refused(TITLE CARDS "RUA                        2             3             3\n" FORMATS,
                   YOKE_UNSUITABLE, 3, "2 rows and 3 columns");
    assert_refused(TITLE CARDS "RSA               3000000000    3000000000             3\n" FORMATS,
                   YOKE_OVERFLOW, 3, "3000000000");
    assert_refused(TITLE CARDS "RSA               -2    -2             3\n" FORMATS, YOKE_FORMAT, 3,
                   "'-2'");
}
