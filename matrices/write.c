/* SPDX-License-Identifier: BSD-3-Clause */
/* write.c: vectors and matrices to Matrix Market files. A regular file is replaced as a whole, by
 * one written beside it; anything else (a pipe, /dev/stdout) is written to. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yoke_io.h>

#include "lib/matrix.h"
#include "lib/status.h"

typedef struct output {
    const char *path;
    FILE *file;
    char *target;    /* what a rename replaces; NULL: written to directly */
    char *temporary; /* beside target */
    int64_t line;
    locale_t plain, callers; /* numbers are written with a point, whatever the caller's locale */
} output;

static yoke_status cannot_write(const output *out, int error)
{
    return yk_fail(YOKE_IO, "%s: cannot be written: %s", out->path, strerror(error));
}

static int open_beside(output *out, mode_t mode)
{
    static atomic_uint counter;
    for (int attempt = 0; attempt < 100; attempt++) {
        char *name;
        unsigned number = atomic_fetch_add(&counter, 1);
        if (asprintf(&name, "%s.%ld-%u.tmp", out->target, (long)getpid(), number) < 0) return -1;
        free(out->temporary);
        out->temporary = name;
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

/* What a link that lies in the folder of `at` leads to; `at` is freed. */
static char *behind(char *at, const char *link)
{
    const char *slash = strrchr(at, '/');
    int folder = *link != '/' && slash ? (int)(slash - at) + 1 : 0;
    char *path;
    if (asprintf(&path, "%.*s%s", folder, at, link) < 0) path = NULL;
    free(at);
    return path;
}

/* Where a path that leads to no file yet would make one; NULL with errno. */
static char *end_of_links(const char *path)
{
    enum { MOST_LINKS = 40 };
    char *at = strdup(path), link[PATH_MAX];
    for (int i = 0; i < MOST_LINKS && at; i++) {
        ssize_t length = readlink(at, link, sizeof link - 1);
        if (length < 0) return at;
        link[length] = '\0';
        at = behind(at, link);
    }
    errno = at ? ELOOP : ENOMEM;
    free(at);
    return NULL;
}

/* A link is followed, so that it stays a link. */
static int open_output(output *out)
{
    struct stat about;
    bool exists = stat(out->path, &about) == 0;
    if (exists && !S_ISREG(about.st_mode)) return open(out->path, O_WRONLY | O_CLOEXEC);
    if (exists && access(out->path, W_OK) != 0) return -1;
    out->target = exists ? realpath(out->path, NULL) : end_of_links(out->path);
    if (!out->target) return -1;
    int fd = open_beside(out, 0666);
    /* The old file's rights, as far as they are ours to give. */
    if (fd >= 0 && exists && fchmod(fd, about.st_mode & 07777) != 0) errno = 0;
    return fd;
}

static yoke_status begin(output *out, const char *path)
{
    *out = (output){.path = strcmp(path, "-") == 0 ? "stdout" : path};
    int fd = -1;
    if (strcmp(path, "-") == 0) {
        out->file = stdout;
    } else {
        fd = open_output(out);
        out->file = fd >= 0 ? fdopen(fd, "w") : NULL;
    }
    if (!out->file) {
        yoke_status status = cannot_write(out, errno);
        if (fd >= 0) {
            close(fd);
            if (out->temporary) unlink(out->temporary);
        }
        free(out->temporary);
        free(out->target);
        return status;
    }
    out->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (out->plain != (locale_t)0) out->callers = uselocale(out->plain);
    return YOKE_OK;
}

/* Closes and replaces, or takes back what was written. */
static yoke_status finish(output *out)
{
    if (out->plain != (locale_t)0) {
        uselocale(out->callers);
        freelocale(out->plain);
    }
    errno = EIO; /* where stdio failed earlier and kept no reason */
    bool failed = ferror(out->file) != 0;
    int error = 0;
    if (fflush(out->file) != 0) error = errno;
    if (out->file != stdout && fclose(out->file) != 0 && !error) error = errno;
    if (failed && !error) error = EIO;
    if (!error && out->temporary && rename(out->temporary, out->target) != 0) error = errno;
    if (error && out->temporary) unlink(out->temporary);
    free(out->temporary);
    free(out->target);
    return error ? cannot_write(out, error) : YOKE_OK;
}

yoke_status yoke_vector_write(const char *path, int64_t rows, const double *vector)
{
    output out;
    if (!path || (!vector && rows > 0)) return yk_fail(YOKE_INVALID, "path or vector is NULL");
    if (rows < 0) return yk_fail(YOKE_INVALID, "rows is %lld", (long long)rows);
    YK_TRY(begin(&out, path));
    fprintf(out.file, "%%%%MatrixMarket matrix array real general\n%lld 1\n", (long long)rows);
    for (int64_t row = 0; row < rows && !ferror(out.file); row++)
        fprintf(out.file, "%.17g\n", vector[row]);
    return finish(&out);
}

static int64_t upper_entries(const yk_csr *csr)
{
    int64_t entries = 0;
    for (int64_t row = 0; row < csr->rows; row++)
        for (int64_t i = yk_row_start(csr, row); i < yk_row_start(csr, row + 1); i++)
            entries += csr->column[i] >= row;
    return entries;
}

/* Row r of the upper triangle is column r of the lower one. */
static void write_lower(FILE *file, const yk_csr *csr)
{
    for (int64_t row = 0; row < csr->rows && !ferror(file); row++)
        for (int64_t i = yk_row_start(csr, row); i < yk_row_start(csr, row + 1); i++)
            if (csr->column[i] >= row)
                fprintf(file, "%lld %lld %.17g\n", (long long)csr->column[i] + 1,
                        (long long)row + 1, csr->value[i]);
}

yoke_status yoke_matrix_write(const yoke_matrix *matrix, const char *path)
{
    output out;
    if (!matrix || !path) return yk_fail(YOKE_INVALID, "matrix or path is NULL");
    if (matrix->is_operator)
        return yk_fail(YOKE_UNSUITABLE, "%s: an operator has no entries to write", path);
    if (!matrix->usable)
        return yk_fail(YOKE_SPOILED, "the matrix did not survive an earlier failure");
    const yk_csr *csr = &matrix->csr;
    YK_TRY(begin(&out, path));
    fprintf(out.file, "%%%%MatrixMarket matrix coordinate real symmetric\n%lld %lld %lld\n",
            (long long)csr->rows, (long long)csr->rows, (long long)upper_entries(csr));
    write_lower(out.file, csr);
    return finish(&out);
}
