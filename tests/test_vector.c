/* SPDX-License-Identifier: BSD-3-Clause */
/* test_vector.c: vectors from arrays, coordinate files and plain lists. */
#include "tests/files.h"

#define ARRAY      "%%MatrixMarket matrix array real general\n"
#define COORDINATE "%%MatrixMarket matrix coordinate real general\n"

static yoke_status read_vector(const char *text, int64_t rows, double *out)
{
    yoke_context *context = context_with(1);
    test_file file = file_of(text, strlen(text));
    yoke_status status = yoke_vector_read(context, file.path, rows, out);
    unlink(file.path);
    yoke_context_destroy(context);
    return status;
}

static void assert_vector(const char *text, double a, double b, double c)
{
    double out[3] = {-9, -9, -9};
    cr_assert_eq(read_vector(text, 3, out), YOKE_OK, "%s\n%s", text, yoke_error_text());
    cr_assert(out[0] == a && out[1] == b && out[2] == c, "%s: %g %g %g", text, out[0], out[1],
              out[2]);
}

static void assert_no_vector(const char *text, yoke_status status, const char *words)
{
    double out[3] = {-9, -9, -9};
    cr_assert_eq(read_vector(text, 3, out), status, "%s\n%s", text, yoke_error_text());
    cr_assert(strstr(yoke_error_text(), words), "%s", yoke_error_text());
    cr_assert(out[0] == -9 && out[1] == -9 && out[2] == -9, "written on failure");
}

Test(vector, arrays_are_read_with_one_or_two_sizes)
{
    assert_vector(ARRAY "3 1\n1\n2.5\n-3e2\n", 1, 2.5, -300);
    assert_vector(ARRAY "% c\n3\n1\n2\n\n3", 1, 2, 3);
    assert_vector("%%matrixmarket matrix array INTEGER general\n3 1\n1\n2\n3\n", 1, 2, 3);
}

Test(vector, a_real_right_hand_side_is_read)
{
    double *b = malloc(1024 * sizeof *b);
    yoke_context *context = context_with(1);
    const char *path = SOURCE_DIR "/matrices/real/ReSolve_A_spd01_b.mtx";
    cr_assert_eq(yoke_vector_read(context, path, 1024, b), YOKE_OK, "%s", yoke_error_text());
    cr_assert_eq(b[0], 20.82980923834801);
    cr_assert_eq(yoke_vector_read(context, path, 1023, b), YOKE_FORMAT);
    cr_assert(strstr(yoke_error_text(), ":3: the vector has 1024 numbers, the system 1023 rows"),
              "%s", yoke_error_text());
    yoke_context_destroy(context);
    free(b);
}

Test(vector, coordinate_files_of_one_column_leave_zeros)
{
    assert_vector(COORDINATE "3 1 1\n2 1 5\n", 0, 5, 0);
    assert_vector(COORDINATE "3 1 3\n2 1 5\n% c\n3 1 1\n3 1 2\n", 0, 5, 3);
}

Test(vector, plain_lists_are_read_with_comments)
{
    assert_vector("1 2 3", 1, 2, 3);
    assert_vector("# three\n1\n\t2\r\n3\n", 1, 2, 3);
    assert_vector("% three\n1 2 # two so far\n3\n", 1, 2, 3);
}

Test(vector, a_wrong_count_names_both)
{
    assert_no_vector("1 2\n", YOKE_FORMAT, "2 numbers, the system 3 rows");
    assert_no_vector("1 2 3 4\n", YOKE_FORMAT, "4 numbers, the system 3 rows");
    assert_no_vector("", YOKE_FORMAT, "0 numbers");
    assert_no_vector(ARRAY "3 1\n1\n2\n", YOKE_FORMAT, ":4: ");
    assert_no_vector(ARRAY "3 1\n1\n2\n3\n4\n", YOKE_FORMAT, "4 numbers");
    assert_no_vector(ARRAY "4 1\n1\n2\n3\n4\n", YOKE_FORMAT, ":2: ");
    assert_no_vector(COORDINATE "3 1 2\n1 1 1\n", YOKE_FORMAT, "has 1 entries");
    assert_no_vector(COORDINATE "3 1 0\n1 1 1\n", YOKE_FORMAT, "has 1 entries");
}

Test(vector, what_is_no_finite_number_is_refused_with_its_line)
{
    assert_no_vector("1\n2\nnan\n", YOKE_FORMAT, ":3: not finite: 'nan'");
    assert_no_vector("1\n-inf\n3\n", YOKE_FORMAT, ":2: not finite");
    assert_no_vector("1\n1e999\n3\n", YOKE_FORMAT, ":2: ");
    assert_no_vector("1\n2;\n3\n", YOKE_FORMAT, ":2: not a number: '2;'");
    assert_no_vector(ARRAY "3 1\n1\nx\n3\n", YOKE_FORMAT, ":4: not a number: 'x'");
    assert_no_vector(COORDINATE "3 1 1\n4 1 1\n", YOKE_FORMAT, ":3: ");
    assert_no_vector(COORDINATE "3 1 1\n1 1 1 1\n", YOKE_FORMAT, ":3: ");
}

Test(vector, other_shapes_are_refused)
{
    assert_no_vector(ARRAY "3 2\n1\n2\n3\n", YOKE_UNSUITABLE, "2 columns");
    assert_no_vector("%%MatrixMarket matrix array complex general\n3 1\n", YOKE_UNSUITABLE, ":1: ");
    assert_no_vector(ARRAY "3 1 1\n1\n", YOKE_FORMAT, "3 numbers");
    assert_no_vector(COORDINATE "3 1\n1\n", YOKE_FORMAT, "2 numbers");
}

Test(vector, an_empty_system_takes_an_empty_list)
{
    double none;
    cr_assert_eq(read_vector("", 0, &none), YOKE_OK, "%s", yoke_error_text());
}
