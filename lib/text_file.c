/* SPDX-License-Identifier: BSD-3-Clause */
/* text_file.c: reading and replacing small files of text. */
#include "lib/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/status.h"

/* ------------------------------------------------------------------- lines */

uint64_t yk_text_sum(uint64_t sum, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) sum = (sum ^ (unsigned char)bytes[i]) * 0x100000001b3u;
    return sum;
}

void yk_text_begin(yk_text *text, const char *bytes, size_t size, const char *where)
{
    text->at = bytes;
    text->end = bytes + size;
    text->where = where;
    text->line = 0;
    text->sum = YK_SUM_BEGIN;
    text->buffer[0] = '\0';
}

/* Bytes beyond ASCII may be UTF-8: names of processors have them. */
static int is_control(char c)
{
    unsigned char u = (unsigned char)c;
    return (u < ' ' && c != '\t') || u == 0x7f;
}

static void trim(char *line)
{
    size_t blanks = strspn(line, " \t"), length = strlen(line + blanks);
    memmove(line, line + blanks, length + 1);
    while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t'))
        line[--length] = '\0';
}

yoke_status yk_text_next(yk_text *text, int *more)
{
    *more = text->at < text->end;
    if (!*more) return YOKE_OK;
    size_t left = (size_t)(text->end - text->at);
    const char *newline = memchr(text->at, '\n', left);
    size_t length = newline ? (size_t)(newline - text->at) : left,
           whole = length + (newline != NULL);
    text->line++;
    if (length > 0 && text->at[length - 1] == '\r') length--;
    if (length >= YK_TEXT_LINE)
        return yk_fail(YOKE_FORMAT, "%s:%d: a line of %zu bytes is too long", text->where,
                       text->line, length);
    for (size_t i = 0; i < length; i++)
        if (is_control(text->at[i]))
            return yk_fail(YOKE_FORMAT, "%s:%d: a control character: this is no text", text->where,
                           text->line);
    memcpy(text->buffer, text->at, length);
    text->buffer[length] = '\0';
    trim(text->buffer);
    text->at += whole;
    return YOKE_OK;
}

/* ------------------------------------------------------------------ locale */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static locale_t plain; /* as long as the process */

static void make_locale(void)
{
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static locale_t locale_begin(void)
{
    pthread_once(&once, make_locale);
    return plain ? uselocale(plain) : (locale_t)0;
}

static void locale_end(locale_t before)
{
    if (before) uselocale(before);
}

double yk_text_number(const char *text, char **end)
{
    locale_t before = locale_begin();
    double value = strtod(text, end);
    locale_end(before);
    return value;
}

yoke_status yk_text_make(void (*body)(const void *of, FILE *stream), const void *of,
                         const char *what, char **text, size_t *size)
{
    *text = NULL;
    FILE *stream = open_memstream(text, size);
    if (!stream) return yk_fail(YOKE_NO_MEMORY, "no memory for %s", what);
    locale_t before = locale_begin();
    body(of, stream);
    fflush(stream);
    uint64_t sum = *text ? yk_text_sum(YK_SUM_BEGIN, *text, *size) : 0;
    fprintf(stream, "end %016llx\n", (unsigned long long)sum);
    locale_end(before);
    if (fclose(stream) == 0) return YOKE_OK;
    free(*text);
    *text = NULL;
    return yk_fail(YOKE_NO_MEMORY, "no memory for %s", what);
}

/* ------------------------------------------------------------------- files */

static yoke_status read_all(int file, const char *path, char *bytes, size_t size, size_t *got)
{
    *got = 0;
    while (*got < size) {
        ssize_t part = read(file, bytes + *got, size - *got);
        if (part < 0 && errno == EINTR) continue;
        if (part < 0) return yk_fail(YOKE_IO, "cannot read '%s': %s", path, strerror(errno));
        if (part == 0) break;
        *got += (size_t)part;
    }
    bytes[*got] = '\0';
    return YOKE_OK;
}

static yoke_status read_opened(int file, const char *path, size_t most, char **bytes, size_t *size)
{
    struct stat is;
    if (fstat(file, &is)) return yk_fail(YOKE_IO, "cannot read '%s': %s", path, strerror(errno));
    if (!S_ISREG(is.st_mode)) return yk_fail(YOKE_IO, "'%s' is no regular file", path);
    if ((unsigned long long)is.st_size > most)
        return yk_fail(YOKE_IO, "'%s' has %lld bytes, more than the %zu that it may have", path,
                       (long long)is.st_size, most);
    char *room = malloc((size_t)is.st_size + 1);
    if (!room) return yk_fail(YOKE_NO_MEMORY, "no memory for %lld bytes", (long long)is.st_size);
    yoke_status status = read_all(file, path, room, (size_t)is.st_size, size);
    if (status == YOKE_OK)
        *bytes = room;
    else
        free(room);
    return status;
}

/* Not blocking: a FIFO without a writer would be waited for. */
yoke_status yk_text_read(const char *path, size_t most, char **bytes, size_t *size, int *error)
{
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    *error = file < 0 ? errno : 0;
    if (file < 0) return yk_fail(YOKE_IO, "cannot read '%s': %s", path, strerror(*error));
    yoke_status status = read_opened(file, path, most, bytes, size);
    close(file);
    return status;
}

/* Returns 0, or the errno. */
static int write_all(int file, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t part = write(file, bytes, size);
        if (part < 0 && errno != EINTR) return errno;
        if (part < 0) continue;
        bytes += part;
        size -= (size_t)part;
    }
    return 0;
}

static int write_beside(char *beside, const char *path, const char *bytes, size_t size)
{
    int file = mkostemp(beside, O_CLOEXEC); /* for the user alone */
    if (file < 0) return errno;
    int error = write_all(file, bytes, size);
    if (close(file) && !error) error = errno;
    if (!error && rename(beside, path)) error = errno;
    if (error) unlink(beside);
    return error;
}

yoke_status yk_text_replace(const char *path, const char *bytes, size_t size)
{
    static const char suffix[] = ".XXXXXX";
    size_t length = strlen(path);
    char *beside = malloc(length + sizeof suffix);
    if (!beside) return yk_fail(YOKE_NO_MEMORY, "no memory for a path of %zu bytes", length);
    snprintf(beside, length + sizeof suffix, "%s%s", path, suffix);
    int error = write_beside(beside, path, bytes, size);
    free(beside);
    return error ? yk_fail(YOKE_IO, "cannot write '%s': %s", path, strerror(error)) : YOKE_OK;
}

/* ------------------------------------------------------------------- cache */

/* Each folder of the path, but for its last name. */
static yoke_status make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int failed = mkdir(path, 0700) && errno != EEXIST;
        yoke_status status =
            failed ? yk_fail(YOKE_IO, "cannot make '%s': %s", path, strerror(errno)) : YOKE_OK;
        *slash = '/';
        if (failed) return status;
    }
    return YOKE_OK;
}

/* XDG Base Directory Specification: a path that is not absolute is ignored. */
yoke_status yk_text_cache_path(const char *name, int make, char *path, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (cache && *cache == '/')
        length = snprintf(path, size, "%s/yoke/%s", cache, name);
    else if (home && *home == '/')
        length = snprintf(path, size, "%s/.cache/yoke/%s", home, name);
    else
        return yk_fail(YOKE_IO,
                       "no folder to keep '%s' in: neither XDG_CACHE_HOME nor HOME is an "
                       "absolute path",
                       name);
    if (length < 0 || (size_t)length >= size)
        return yk_fail(YOKE_IO, "the path of the folder to keep '%s' in is too long", name);
    return make ? make_folders(path) : YOKE_OK;
}
