/* SPDX-License-Identifier: BSD-3-Clause */
/* test_matrix_market.c: coordinate files: what is accepted, what is refused and with which line. */
#include "tests/files.h"

#include <zlib.h>

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

Test(matrix_market, gzip_is_known_by_content_and_gives_the_same_bits)
{
    yoke_context *context = context_with(2);
    yoke_matrix *plain, *packed;
    cr_assert_eq(yoke_matrix_read(context, REAL "1138_bus.mtx", NULL, &plain), YOKE_OK);
    cr_assert_eq(yoke_matrix_read(context, REAL "1138_bus.mtx.gz", NULL, &packed), YOKE_OK);
    cr_assert(same_matrix(plain, packed));
    yoke_matrix_destroy(plain);
    yoke_matrix_destroy(packed);
    yoke_context_destroy(context);
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

Test(matrix_market, a_path_that_cannot_be_read_is_an_io_error)
{
    yoke_context *context = context_with(1);
    yoke_matrix *matrix = NULL;
    cr_assert_eq(yoke_matrix_read(context, "/nonexistent/x.mtx", NULL, &matrix), YOKE_IO);
    cr_assert(strstr(yoke_error_text(), "/nonexistent/x.mtx"));
    cr_assert_eq(yoke_matrix_read(context, "/tmp", NULL, &matrix), YOKE_IO);
    cr_assert_null(matrix);
    yoke_context_destroy(context);
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

/* ------------------------------------------------------------- large files: many blocks and slices
 */

enum { ROWS = 200000 };

typedef struct text_buffer {
    char *text;
    size_t length;
} text_buffer;

/* Tridiagonal, a line an entry, line 3 the first; line `fault` is replaced by other words. */
static text_buffer tridiagonal(int64_t fault, const char *words)
{
    text_buffer made = {malloc((size_t)ROWS * 2 * 40 + 200), 0};
    int64_t line = 3;
    made.length = (size_t)sprintf(made.text, "%s%d %d %d\n", SYMMETRIC, ROWS, ROWS, 2 * ROWS - 1);
    for (int row = 1; row <= ROWS; row++)
        for (int column = row - 1; column <= row; column++) {
            if (column == 0) continue;
            if (line++ == fault)
                made.length += (size_t)sprintf(made.text + made.length, "%s\n", words);
            else
                made.length += (size_t)sprintf(made.text + made.length, "%d %d %.17g\n", row,
                                               column, column == row ? 2 + 1.0 / row : -1.0 / row);
        }
    return made;
}

Test(matrix_market, the_first_bad_line_is_named_whatever_the_threads)
{
    static const int64_t lines[] = {3, 100000, 250001, 400001};
    for (int i = 0; i < 4; i++) {
        text_buffer text = tridiagonal(lines[i], "1 1 bad");
        char place[32];
        snprintf(place, sizeof place, ":%lld: ", (long long)lines[i]);
        for (int threads = 1; threads <= 4; threads++) {
            yoke_context *context = context_with(threads);
            yoke_matrix *matrix;
            cr_assert_eq(read_bytes(context, text.text, text.length, &matrix), YOKE_FORMAT);
            cr_assert(strstr(yoke_error_text(), place), "%s", yoke_error_text());
            yoke_context_destroy(context);
        }
        free(text.text);
    }
}

Test(matrix_market, an_entry_too_many_is_named_by_its_line_in_a_large_file)
{
    text_buffer text = tridiagonal(0, "");
    text.length += (size_t)sprintf(text.text + text.length, "\n1 1 1\n");
    yoke_context *context = context_with(3);
    yoke_matrix *matrix;
    cr_assert_eq(read_bytes(context, text.text, text.length, &matrix), YOKE_FORMAT);
    cr_assert(strstr(yoke_error_text(), ":400003: more than the 399999"), "%s", yoke_error_text());
    yoke_context_destroy(context);
    free(text.text);
}

Test(matrix_market, the_same_bits_come_from_any_number_of_threads)
{
    text_buffer text = tridiagonal(0, "");
    yoke_context *context = context_with(1), *more = context_with(4);
    yoke_matrix *one, *four;
    cr_assert_eq(read_bytes(context, text.text, text.length, &one), YOKE_OK, "%s",
                 yoke_error_text());
    cr_assert_eq(read_bytes(more, text.text, text.length, &four), YOKE_OK);
    cr_assert(same_matrix(one, four));
    cr_assert_eq(entry_of(one, ROWS - 1, ROWS - 2), -1.0 / ROWS);
    cr_assert_eq(yoke_matrix_nonzeros(one), 3 * ROWS - 2);
    yoke_matrix_destroy(one);
    yoke_matrix_destroy(four);
    yoke_context_destroy(context);
    yoke_context_destroy(more);
    free(text.text);
}

/* A row long enough to be merged, given backwards, each place twice. */
Test(matrix_market, long_rows_out_of_order_are_sorted_and_summed)
{
    enum { WIDE = 3000 };
    char *text = malloc(WIDE * 2 * 24 + 200);
    size_t length = (size_t)sprintf(text, "%s%d %d %d\n", SYMMETRIC, WIDE, WIDE, 2 * WIDE);
    for (int repeat = 0; repeat < 2; repeat++)
        for (int row = WIDE; row >= 1; row--)
            length += (size_t)sprintf(text + length, "%d 1 %d\n", row, repeat ? 1 : row);
    yoke_context *context = context_with(2);
    yoke_matrix *matrix;
    cr_assert_eq(read_bytes(context, text, length, &matrix), YOKE_OK, "%s", yoke_error_text());
    cr_assert_eq(yoke_matrix_nonzeros(matrix), 2 * WIDE - 1);
    for (int row = 0; row < WIDE; row++) {
        cr_assert_eq(entry_of(matrix, 0, row), row + 2.0);
        cr_assert_eq(entry_of(matrix, row, 0), row + 2.0);
    }
    yoke_matrix_destroy(matrix);
    yoke_context_destroy(context);
    free(text);
}

static size_t compress_text(const text_buffer *text, unsigned char *out, size_t room)
{
    z_stream stream = {0};
    cr_assert_eq(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (unsigned char *)text->text;
    stream.avail_in = (unsigned)text->length;
    stream.next_out = out;
    stream.avail_out = (unsigned)room;
    cr_assert_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    size_t length = stream.total_out;
    deflateEnd(&stream);
    return length;
}

Test(matrix_market, gzip_members_follow_each_other_and_a_cut_one_is_refused)
{
    text_buffer text = tridiagonal(0, "");
    text_buffer head = {text.text, 12345}, tail = {text.text + 12345, text.length - 12345};
    unsigned char *packed = malloc(text.length);
    size_t first = compress_text(&head, packed, text.length);
    size_t both = first + compress_text(&tail, packed + first, text.length - first);
    yoke_context *context = context_with(2);
    yoke_matrix *plain, *unpacked;
    cr_assert_eq(read_bytes(context, text.text, text.length, &plain), YOKE_OK);
    cr_assert_eq(read_bytes(context, packed, both, &unpacked), YOKE_OK, "%s", yoke_error_text());
    cr_assert(same_matrix(plain, unpacked));
    yoke_matrix_destroy(plain);
    yoke_matrix_destroy(unpacked);
    cr_assert_eq(read_bytes(context, packed, both - 100, &plain), YOKE_FORMAT);
    cr_assert(strstr(yoke_error_text(), "cut short"));
    packed[both / 2] ^= 0xff;
    cr_assert_eq(read_bytes(context, packed, both, &plain), YOKE_FORMAT);
    yoke_context_destroy(context);
    free(packed);
    free(text.text);
}

/* ------------------------------------------------------------------------- memory, progress */

/* Gives so many bytes and no more. */
typedef struct purse {
    long long left;
    long long out;
} purse;

static void *take(void *user, size_t alignment, size_t bytes)
{
    purse *p = user;
    if ((long long)bytes > p->left) return NULL;
    p->left -= (long long)bytes;
    p->out += (long long)bytes;
    return aligned_alloc(alignment, bytes);
}

static void give(void *user, void *memory, size_t bytes)
{
    purse *p = user;
    p->left += (long long)bytes;
    p->out -= (long long)bytes;
    free(memory);
}

Test(matrix_market, a_lack_of_memory_is_told_at_every_step_and_nothing_leaks)
{
    static const char text[] = GENERAL "3 3 5\n3 1 5\n1 3 4\n1 3 1\n2 2 1\n1 1 1\n";
    int done = 0;
    for (long long room = 0; !done; room += room < 4000000 ? 1000000 : 50000) {
        purse p = {room, 0};
        yoke_context_options options = yoke_context_defaults();
        options.allocate = take;
        options.release = give;
        options.memory_user = &p;
        options.threads = 2;
        yoke_context *context;
        yoke_matrix *matrix = NULL;
        cr_assert_eq(yoke_context_create(&options, &context), YOKE_OK);
        yoke_status status = read_text(context, text, &matrix);
        cr_assert(status == YOKE_OK || status == YOKE_NO_MEMORY, "%s", yoke_error_text());
        done = status == YOKE_OK;
        if (!done) cr_assert(strstr(yoke_error_text(), "asked"), "%s", yoke_error_text());
        yoke_matrix_destroy(matrix);
        yoke_context_destroy(context);
        cr_assert_eq(p.out, 0, "%lld bytes leaked with %lld", p.out, room);
    }
}

typedef struct told {
    int64_t done, total;
    int calls;
} told;

static void note(void *user, int64_t done, int64_t total)
{
    told *t = user;
    cr_assert_geq(done, t->done);
    *t = (told){done, total, t->calls + 1};
}

Test(matrix_market, progress_rises_to_the_size_of_the_file)
{
    text_buffer text = tridiagonal(0, "");
    test_file file = file_of(text.text, text.length);
    yoke_context *context = context_with(2);
    yoke_matrix *matrix;
    told t = {0, 0, 0};
    yoke_read_options options = yoke_read_defaults();
    options.progress = note;
    options.progress_user = &t;
    cr_assert_eq(yoke_matrix_read(context, file.path, &options, &matrix), YOKE_OK);
    cr_assert_gt(t.calls, 1);
    cr_assert_eq(t.done, (int64_t)text.length);
    cr_assert_eq(t.total, (int64_t)text.length);
    yoke_matrix_destroy(matrix);
    yoke_context_destroy(context);
    unlink(file.path);
    free(text.text);
}
