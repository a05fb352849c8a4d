/* SPDX-License-Identifier: BSD-3-Clause */
/* outfile.c: written beside the target and renamed onto it. Standard output, devices and pipes are
 * written directly, when all is known. */
#include "bench/outfile.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/say.h"
#include "bench/take.h"
#include "bench/temporary.h"

static int say_cannot(const char *option, const char *path, int error)
{
    return say_error(ENDS_BAD_INPUT, "%s: cannot write '%s': %s", option, path, strerror(error));
}

static int open_directly(const char *option, outfile *file)
{
    file->stream = fopen(file->path, "w");
    return file->stream ? 0 : say_cannot(option, file->path, errno);
}

static int open_beside(const char *option, outfile *file, mode_t mode)
{
    file->temporary = temporary_beside(file->target);
    int handle = mkstemp(file->temporary);
    if (handle < 0) {
        free(file->temporary);
        file->temporary = NULL;
        return say_cannot(option, file->path, errno);
    }
    temporary_remember(file->temporary);
    file->stream = fdopen(handle, "w");
    if (!file->stream || fchmod(handle, mode)) return say_cannot(option, file->path, errno);
    return 0;
}

/* What a link that lies in the folder of `at` leads to. To be freed. */
static char *behind(const char *at, const char *link)
{
    const char *slash = strrchr(at, '/');
    int folder = *link != '/' && slash ? (int)(slash - at) + 1 : 0;
    size_t bytes = (size_t)folder + strlen(link) + 1;
    char *path = take("a path", (int64_t)bytes, 1);
    snprintf(path, bytes, "%.*s%s", folder, at, link);
    return path;
}

/* Where a path that leads to no file yet would make one: links are followed, so that they stay. To
 * be freed; NULL with errno where they never end. */
static char *end_of_links(const char *path)
{
    enum { MOST_LINKS = 40 };
    char *at = take_copy(path), link[PATH_MAX];
    for (int i = 0; i < MOST_LINKS; i++) {
        ssize_t length = readlink(at, link, sizeof link - 1);
        if (length < 0) return at;
        link[length] = '\0';
        char *next = behind(at, link);
        free(at);
        at = next;
    }
    free(at);
    errno = ELOOP;
    return NULL;
}

int outfile_open(const char *option, const char *path, outfile *file)
{
    *file = (outfile){.path = path};
    if (!path) return 0;
    if (!strcmp(path, "-")) {
        file->stream = stdout;
        return 0;
    }
    mode_t mask = umask(0), mode = 0666 & ~mask;
    umask(mask);
    struct stat there;
    int exists = stat(path, &there) == 0;
    if (exists && S_ISDIR(there.st_mode)) return say_cannot(option, path, EISDIR);
    if (exists && access(path, W_OK)) return say_cannot(option, path, errno);
    if (exists && !S_ISREG(there.st_mode)) return open_directly(option, file);
    if (exists) mode = there.st_mode & 07777;
    file->target = exists ? realpath(path, NULL) : end_of_links(path);
    if (!file->target) return say_cannot(option, path, errno);
    return open_beside(option, file, mode);
}

int outfile_commit(outfile *file)
{
    if (!file->stream) return 0;
    int bad = ferror(file->stream) || fflush(file->stream), error = errno;
    if (file->stream != stdout && fclose(file->stream) && !bad) {
        bad = 1;
        error = errno;
    }
    file->stream = NULL;
    if (!bad && file->temporary && rename(file->temporary, file->target)) {
        bad = 1;
        error = errno;
    }
    int code =
        bad ? say_error(ENDS_BAD_INPUT, "cannot write '%s': %s", file->path, strerror(error)) : 0;
    if (!bad && file->temporary) temporary_forget(file->temporary);
    outfile_discard(file);
    return code;
}

void outfile_discard(outfile *file)
{
    if (file->stream && file->stream != stdout) fclose(file->stream);
    file->stream = NULL;
    if (file->temporary) temporary_remove(file->temporary);
    free(file->temporary);
    free(file->target);
    file->temporary = file->target = NULL;
}

int outfile_check(const char *option, const char *path)
{
    outfile file;
    int code = outfile_open(option, path, &file);
    outfile_discard(&file);
    return code;
}
