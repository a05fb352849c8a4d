/* SPDX-License-Identifier: BSD-3-Clause */
/* banner.h: the first line of a Matrix Market file. */
#ifndef YK_BANNER_H
#define YK_BANNER_H

#include "matrices/stream.h"

typedef enum yk_layout { YK_COORDINATE, YK_ARRAY } yk_layout;
typedef enum yk_field { YK_REAL, YK_INTEGER, YK_PATTERN, YK_COMPLEX } yk_field;
typedef enum yk_symmetry { YK_GENERAL, YK_SYMMETRIC, YK_SKEW, YK_HERMITIAN } yk_symmetry;

typedef struct yk_banner {
    yk_layout layout;
    yk_field field;
    yk_symmetry symmetry;
    int64_t line;
} yk_banner;

/* Reads the banner, behind blank lines if any. YOKE_FORMAT: an unknown or missing word, or a
 * combination that the format does not know. */
yoke_status yk_banner_read(yk_lines *lines, yk_banner *banner);

/* The next line with something on it that is not a comment; NULL at the end. Its leading blanks are
 * skipped. comment: characters that begin one. */
yoke_status yk_next_content(yk_lines *lines, const char *comment, const char **text);

/* Up to three integers of a size line; *count says how many there were. YOKE_FORMAT, YOKE_OVERFLOW.
 */
yoke_status yk_size_line(yk_lines *lines, int64_t size[3], int *count);

#endif
