/* SPDX-License-Identifier: BSD-3-Clause */
/* text_file.h: small files of text that are kept from run to run: read with care, as anybody may
 * have written them, replaced at once or not at all; numbers as in C, whatever the locale. */
#ifndef YK_TEXT_FILE_H
#define YK_TEXT_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <yoke.h>

enum { YK_TEXT_LINE = 2048 /* bytes, its end included: longer ones are refused */ };

/* Lines of a text, one after the other. */
typedef struct yk_text {
    const char *at, *end, *where; /* where: the name of the text in sentences */
    int line;                     /* of buffer, from 1 */
    uint64_t sum;                 /* FNV-1a of all bytes before buffer */
    char buffer[YK_TEXT_LINE];    /* without its newline, and blanks around it */
} yk_text;

void yk_text_begin(yk_text *text, const char *bytes, size_t size, const char *where);

/* YOKE_OK with the next line in buffer, *more 0 past the last one; YOKE_FORMAT for what is no text:
 * control characters, a line too long. */
yoke_status yk_text_next(yk_text *text, int *more);

/* FNV-1a, 64 bits, going on from sum. */
#define YK_SUM_BEGIN 0xcbf29ce484222325u
uint64_t yk_text_sum(uint64_t sum, const char *bytes, size_t size);

/* As strtod in the locale C. */
double yk_text_number(const char *text, char **end);

/* What the body writes, and behind it a line with the sum of it, "end" and 16 digits; *text is
 * freed by the caller. of: the body's own; what: for the sentence, where there is no memory. */
yoke_status yk_text_make(void (*body)(const void *of, FILE *stream), const void *of,
                         const char *what, char **text, size_t *size);

/* The whole of a regular file of at most `most` bytes, with a zero behind; *bytes is freed by the
 * caller. YOKE_IO with the reason, *error the errno where it was that; else 0. */
yoke_status yk_text_read(const char *path, size_t most, char **bytes, size_t *size, int *error);

/* Writes beside the file and moves it there. YOKE_IO; then the file is as it was. */
yoke_status yk_text_replace(const char *path, const char *bytes, size_t size);

/* Where a file of that name is kept: $XDG_CACHE_HOME/yoke or $HOME/.cache/yoke. YOKE_IO where
 * neither is an absolute path. make: also makes the folders, for the user alone. */
yoke_status yk_text_cache_path(const char *name, int make, char *path, size_t size);

#endif
