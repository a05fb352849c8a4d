/* SPDX-License-Identifier: BSD-3-Clause */
/* test_write.c: what is written comes back bit by bit, and files are replaced as a whole. */
#include "tests/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <locale.h>
#include <sys/stat.h>

static char folder[] = "/tmp/yoke_write_XXXXXX";

static void make_folder(void)
{
    cr_assert_not_null(mkdtemp(folder));
}

static const char *inside(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Files in the folder. */
static int count_files(void)
{
    int count = 0;
    DIR *open = opendir(folder);
    for (struct dirent *entry; (entry = readdir(open));) count += entry->d_name[0] != '.';
    closedir(open);
    return count;
}

static void remove_folder(void)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(write, .init = make_folder, .fini = remove_folder);

static const double awkward[] = {0.1,
                                 -0.0,
                                 1.0 / 3,
                                 5e-324,
                                 1.7976931348623157e308,
                                 2.2250738585072014e-308,
                                 -1e23,
                                 123456789012345678.0,
                                 0.30000000000000004};
enum { AWKWARD = sizeof awkward / sizeof *awkward };

static void assert_comes_back(const char *path)
{
    double back[AWKWARD];
    yoke_context *context = context_with(1);
    cr_assert_eq(yoke_vector_read(context, path, AWKWARD, back), YOKE_OK, "%s", yoke_error_text());
    cr_assert_eq(memcmp(back, awkward, sizeof back), 0);
    yoke_context_destroy(context);
}

Test(write, a_vector_comes_back_bit_by_bit)
{
    cr_assert_eq(yoke_vector_write(inside("x.mtx"), AWKWARD, awkward), YOKE_OK);
    assert_comes_back(inside("x.mtx"));
    cr_assert_eq(count_files(), 1);
}

Test(write, a_matrix_comes_back_bit_by_bit)
{
    yoke_context *context = context_with(2);
    yoke_matrix *matrix, *back;
    cr_assert_eq(yoke_matrix_read(context, SOURCE_DIR "/matrices/real/1138_bus.mtx", NULL, &matrix),
                 YOKE_OK);
    cr_assert_eq(yoke_matrix_write(matrix, inside("a.mtx")), YOKE_OK, "%s", yoke_error_text());
    cr_assert_eq(yoke_matrix_read(context, inside("a.mtx"), NULL, &back), YOKE_OK, "%s",
                 yoke_error_text());
    cr_assert(same_matrix(matrix, back));
    yoke_matrix_destroy(matrix);
    yoke_matrix_destroy(back);
    yoke_context_destroy(context);
}

Test(write, a_file_is_replaced_through_a_link_and_keeps_its_rights)
{
    char target[256];
    struct stat about;
    snprintf(target, sizeof target, "%s", inside("target"));
    cr_assert_eq(yoke_vector_write(target, 1, awkward), YOKE_OK);
    cr_assert_eq(chmod(target, 0640), 0);
    cr_assert_eq(symlink("target", inside("link")), 0);
    cr_assert_eq(yoke_vector_write(inside("link"), AWKWARD, awkward), YOKE_OK);
    assert_comes_back(target);
    cr_assert_eq(lstat(inside("link"), &about), 0);
    cr_assert(S_ISLNK(about.st_mode));
    cr_assert_eq(stat(target, &about), 0);
    cr_assert_eq(about.st_mode & 07777, 0640);
    cr_assert_eq(count_files(), 2);
}

Test(write, a_link_to_no_file_yet_stays_and_gets_one)
{
    char target[256];
    struct stat about;
    snprintf(target, sizeof target, "%s", inside("target"));
    cr_assert_eq(symlink(target, inside("second")), 0);
    cr_assert_eq(symlink("second", inside("first")), 0);
    cr_assert_eq(symlink("loop", inside("loop")), 0);
    cr_assert_eq(yoke_vector_write(inside("first"), AWKWARD, awkward), YOKE_OK);
    assert_comes_back(target);
    cr_assert_eq(lstat(inside("first"), &about), 0);
    cr_assert(S_ISLNK(about.st_mode));
    cr_assert_eq(yoke_vector_write(inside("loop"), AWKWARD, awkward), YOKE_IO);
    cr_assert_eq(count_files(), 4);
}

Test(write, what_is_no_regular_file_is_written_to_and_stays)
{
    struct stat about;
    const char *path = inside("pipe");
    char text[400] = {0};
    cr_assert_eq(mkfifo(path, 0600), 0);
    int fd = open(path, O_RDWR);
    cr_assert_eq(yoke_vector_write(path, 2, awkward), YOKE_OK, "%s", yoke_error_text());
    cr_assert_gt(read(fd, text, sizeof text - 1), 0);
    close(fd);
    cr_assert_str_eq(text,
                     "%%MatrixMarket matrix array real general\n2 1\n0.10000000000000001\n-0\n");
    cr_assert_eq(stat(path, &about), 0);
    cr_assert(S_ISFIFO(about.st_mode));
    cr_assert_eq(yoke_vector_write("/dev/null", AWKWARD, awkward), YOKE_OK);
}

Test(write, a_dash_is_standard_output)
{
    cr_assert_not_null(freopen(inside("out.mtx"), "w", stdout));
    cr_assert_eq(yoke_vector_write("-", AWKWARD, awkward), YOKE_OK, "%s", yoke_error_text());
    assert_comes_back(inside("out.mtx"));
}

Test(write, a_failure_is_told_and_leaves_the_old_file_alone)
{
    cr_assert_eq(yoke_vector_write("/nonexistent/x", 1, awkward), YOKE_IO);
    cr_assert(strstr(yoke_error_text(), "/nonexistent/x: cannot be written"));
    cr_assert_eq(yoke_vector_write("/dev/full", AWKWARD, awkward), YOKE_IO);
    cr_assert(strstr(yoke_error_text(), "/dev/full"));
    cr_assert_eq(yoke_vector_write(folder, 1, awkward), YOKE_IO);
    cr_assert_eq(count_files(), 0);
}

Test(write, numbers_have_a_point_in_every_locale)
{
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) setlocale(LC_ALL, "C.UTF-8");
    cr_assert_eq(yoke_vector_write(inside("x.mtx"), AWKWARD, awkward), YOKE_OK);
    assert_comes_back(inside("x.mtx"));
}

Test(write, bad_arguments_are_refused)
{
    cr_assert_eq(yoke_vector_write(NULL, 1, awkward), YOKE_INVALID);
    cr_assert_eq(yoke_vector_write(inside("x"), 1, NULL), YOKE_INVALID);
    cr_assert_eq(yoke_vector_write(inside("x"), -1, awkward), YOKE_INVALID);
    cr_assert_eq(yoke_matrix_write(NULL, inside("x")), YOKE_INVALID);
    cr_assert_eq(count_files(), 0);
}
