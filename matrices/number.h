/* SPDX-License-Identifier: BSD-3-Clause */
/* number.h: decimal text to numbers, independent of the locale.
 * The text must go on for 8 readable bytes beyond the number, and the number must end before
 * them: yk_block pads its text so. */
#ifndef YK_NUMBER_H
#define YK_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

typedef enum yk_number {
    YK_NUMBER_GOOD,
    YK_NUMBER_NONE,       /* no number begins here */
    YK_NUMBER_NOT_FINITE, /* "nan" or "inf" in any case */
    YK_NUMBER_TOO_LARGE   /* rounds to an infinity, or exceeds int64_t */
} yk_number;

/* Reads the number that begins at *text, correctly rounded to nearest even, and moves *text behind
 * it. Exponents may be written with e, E, d or D. Too small is no error: it rounds to zero. */
yk_number yk_parse_number(const char **text, double *value);

/* An integer with an optional sign. */
yk_number yk_parse_integer(const char **text, int64_t *value);

static inline bool yk_is_digit(char c)
{
    return (unsigned char)(c - '0') <= 9;
}

/* White space within a line; a carriage return is such, so that CRLF needs no care. */
static inline bool yk_is_blank(char c)
{
    return c == ' ' || (c != '\n' && (unsigned char)(c - '\t') <= '\r' - '\t');
}

static inline const char *yk_skip_blanks(const char *text)
{
    while (yk_is_blank(*text)) text++;
    return text;
}

#endif
