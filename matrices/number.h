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

/* Something else than 0 in each byte that is no digit, up to the first such: in a digit the high
 * nibble is 3, before and after adding 6. What the addition carries lies behind that first one. */
static inline uint64_t yk_other_than_digits(uint64_t bytes)
{
    const uint64_t high = 0xf0f0f0f0f0f0f0f0u;
    return ((bytes & high) ^ YK_ZEROS) | (((bytes + 0x0606060606060606u) & high) ^ YK_ZEROS);
}

/* Value of 8 digits without their '0': pairs are summed, then fours, then all. */
static inline uint64_t yk_value_of_digits(uint64_t digits)
{
    digits = digits * 10 + (digits >> 8);
    uint64_t fours = (digits & 0x000000ff000000ffu) * (100u + (1000000ull << 32));
    uint64_t rest = ((digits >> 16) & 0x000000ff000000ffu) * (1u + (10000ull << 32));
    return (uint32_t)((fours + rest) >> 32);
}

/* The number of digits at text, 8 meaning 8 or more, and the value of fewer than 8. */
static inline int yk_short_number(const char *text, uint64_t *value)
{
    uint64_t bytes;
    memcpy(&bytes, text, 8);
    uint64_t others = yk_other_than_digits(bytes);
    int count = others ? __builtin_ctzll(others) / 8 : 8;
    /* Moved to the right end; a shift by 64 in two steps. */
    *value = yk_value_of_digits((bytes ^ YK_ZEROS) << 8 * (7 - count % 8) << 8);
    return count;
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
