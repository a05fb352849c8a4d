/* SPDX-License-Identifier: BSD-3-Clause */
/* test_reading.c: how files are read, whatever is in them: standard input, gzip, many blocks and
 * threads, lack of memory, progress. */
#include "tests/files.h"

#include <zlib.h>

#define GENERAL   "%%MatrixMarket matrix coordinate real general\n"
#define SYMMETRIC "%%MatrixMarket matrix coordinate real symmetric\n"
#define REAL      SOURCE_DIR "/matrices/real/"

Test(reading, a_dash_reads_standard_input_and_errors_call_it_so)
{
    yoke_context *context = context_with(2);
    yoke_matrix *matrix = NULL;
    static const char text[] = SYMMETRIC "2 2 2\n1 1 1\n2 2 x\n";
    cr_assert_not_null(freopen(REAL "nos6.mtx", "r", stdin));
    cr_assert_eq(yoke_matrix_read(context, "-", NULL, &matrix), YOKE_OK, "%s", yoke_error_text());
    cr_assert_eq(yoke_matrix_nonzeros(matrix), 3255);
    yoke_matrix_destroy(matrix);
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(write(ends[1], text, sizeof text - 1), (ssize_t)sizeof text - 1);
    close(ends[1]);
    cr_assert_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    cr_assert_eq(yoke_matrix_read(context, "-", NULL, &matrix), YOKE_FORMAT);
    cr_assert_eq(strncmp(yoke_error_text(), "stdin:4: ", 9), 0, "%s", yoke_error_text());
    yoke_context_destroy(context);
}

Test(reading, a_path_that_cannot_be_read_is_an_io_error)
{
    yoke_context *context = context_with(1);
    yoke_matrix *matrix = NULL;
    cr_assert_eq(yoke_matrix_read(context, "/nonexistent/x.mtx", NULL, &matrix), YOKE_IO);
    cr_assert(strstr(yoke_error_text(), "/nonexistent/x.mtx"));
    cr_assert_eq(yoke_matrix_read(context, "/tmp", NULL, &matrix), YOKE_IO);
    cr_assert_null(matrix);
    yoke_context_destroy(context);
}

Test(reading, gzip_is_known_by_content_and_gives_the_same_bits)
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

/* ------------------------------------------------------------ many blocks and slices */

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

Test(reading, the_first_bad_line_is_named_whatever_the_threads)
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

Test(reading, an_entry_too_many_is_named_by_its_line_in_a_large_file)
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

Test(reading, the_same_bits_come_from_any_number_of_threads)
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
Test(reading, long_rows_out_of_order_are_sorted_and_summed)
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

Test(reading, gzip_members_follow_each_other_and_a_cut_one_is_refused)
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

/* Gives so many times and no more. */
typedef struct purse {
    long long left;
    long long out; /* bytes */
} purse;

static void *take(void *user, size_t alignment, size_t bytes)
{
    purse *p = user;
    if (p->left-- == 0) return NULL;
    p->out += (long long)bytes;
    return aligned_alloc(alignment, bytes);
}

static void give(void *user, void *memory, size_t bytes)
{
    purse *p = user;
    p->out -= (long long)bytes;
    free(memory);
}

static yoke_status read_with_purse(const char *text, purse *p)
{
    yoke_context_options options = yoke_context_defaults();
    options.allocate = take;
    options.release = give;
    options.memory_user = p;
    options.threads = 2;
    yoke_context *context;
    yoke_matrix *matrix = NULL;
    cr_assert_eq(yoke_context_create(&options, &context), YOKE_OK);
    yoke_status status = read_text(context, text, &matrix);
    yoke_matrix_destroy(matrix);
    yoke_context_destroy(context);
    return status;
}

Test(reading, a_lack_of_memory_is_told_at_every_step_and_nothing_leaks)
{
    static const char text[] = GENERAL "3 3 5\n3 1 5\n1 3 4\n1 3 1\n2 2 1\n1 1 1\n";
    int step = 0;
    yoke_status status;
    do {
        purse p = {step, 0};
        status = read_with_purse(text, &p);
        cr_assert_eq(p.out, 0, "%lld bytes leaked at step %d", p.out, step);
        if (status == YOKE_OK) break;
        cr_assert_eq(status, YOKE_NO_MEMORY, "%s", yoke_error_text());
        cr_assert(strstr(yoke_error_text(), "asked"), "%s", yoke_error_text());
    } while (++step < 1000);
    cr_assert_eq(status, YOKE_OK);
    cr_assert_gt(step, 10);
}

static void assert_refused_without_leak(const char *text)
{
    purse p = {1ll << 40, 0};
    cr_assert_neq(read_with_purse(text, &p), YOKE_OK);
    cr_assert_eq(p.out, 0, "%s: %lld bytes", text, p.out);
}

Test(reading, refusals_leak_nothing)
{
    /* so many repeats that what is released differs in size from what was summed */
    char repeats[1000] = GENERAL "2 2 40\n";
    for (int i = 0; i < 40; i++) strcat(repeats, "2 2 1e308\n");
    assert_refused_without_leak(repeats);
    assert_refused_without_leak(GENERAL "2 2 1\n2 1 1\n");
    assert_refused_without_leak(SYMMETRIC "2 2 2\n2 1 1\n1 2 1\n");
    assert_refused_without_leak(GENERAL "2 2 2\n2 1 1\n");
    assert_refused_without_leak(GENERAL "2 2 1\n2 1 x\n");
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

Test(reading, progress_rises_to_the_size_of_the_file)
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
