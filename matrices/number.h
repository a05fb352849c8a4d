/* SPDX-License-Identifier: BSD-3-Clause */
/* number.h: decimal text to numbers, independent of the locale.
 * The text must go on for 8 readable bytes beyond the number, and the number must end before
 * them: yk_block pads its text so. */
#ifndef YK_NUMBER_H
#define YK_NUMBER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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

/* Eight characters looked at together, the first in the lowest byte. */
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "number.h needs a little-endian machine"
#endif
#define YK_ZEROS 0x3030303030303030u

/* Of 8 characters combined with YK_ZEROS by exclusive or: the high bit in each byte that was no
 * digit, up to the first such. What the addition carries lies behind that first one. */
static inline uint64_t yk_other_than_digits(uint64_t digits)
{
    return ((digits + 0x7676767676767676u) | digits) & 0x8080808080808080u;
}

/* Value of 8 digits without their '0': pairs are summed, then fours, then all. */
static inline uint64_t yk_value_of_digits(uint64_t digits)
{
    digits = digits * 10 + (digits >> 8);
    uint64_t fours = (digits & 0x000000ff000000ffu) * (100u + (1000000ull << 32));
    uint64_t rest = ((digits >> 16) & 0x000000ff000000ffu) * (1u + (10000ull << 32));
    return (uint32_t)((fours + rest) >> 32);
}

/* The number of digits at text, 8 meaning 8 or more, and the value of 1 to 7. */
static inline int yk_short_number(const char *text, uint64_t *value)
{
    uint64_t digits;
    memcpy(&digits, text, 8);
    digits ^= YK_ZEROS;
    uint64_t others = yk_other_than_digits(digits);
    int bits = others ? __builtin_ctzll(others) & ~7 : 64;
    *value = yk_value_of_digits(digits << (-bits & 63)); /* moved to the right end */
    return bits / 8;
}

/* White space within a line; a carriage return is such, so that CRLF needs no care. */
static inline bool yk_is_blank(char c)
{
    unsigned char u = (unsigned char)c;
    return u <= ' ' && (c == ' ' || (c != '\n' && (unsigned char)(u - '\t') <= '\r' - '\t'));
}

static inline const char *yk_skip_blanks(const char *text)
{
    while (yk_is_blank(*text)) text++;
    return text;
}

#endif
