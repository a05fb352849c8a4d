/* SPDX-License-Identifier: BSD-3-Clause */
/* number.c: decimal text to double, correctly rounded, without strtod in the common path.
 * w 10^q with w < 2^64 is bounded from both sides by a product with 128 bits of 5^q; where both
 * bounds round alike, that is the answer. After D. Lemire, "Number parsing at a gigabyte per
 * second", Software: Practice and Experience 51 (2021), and W. D. Clinger, "How to read floating
 * point numbers accurately", PLDI 1990; the interval test is simpler than either. */
#include "matrices/number.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "matrices/powers_of_five.h"

typedef unsigned __int128 u128;

enum { DIGITS_KEPT = 800 }; /* more than the 768 that can decide a halfway case */

/* |value| = digits 10^exponent, or between that and (digits + 1) 10^exponent if truncated. */
typedef struct decimal {
    uint64_t digits;
    int64_t exponent;
    bool truncated;
} decimal;

/* Appends the digits at text to *digits, modulo 2^64. */
static inline const char *append_digits(const char *text, uint64_t *digits)
{
    uint64_t value = *digits, eight;
    while (memcpy(&eight, text, 8), eight ^= YK_ZEROS, yk_other_than_digits(eight) == 0) {
        value = value * 100000000 + yk_value_of_digits(eight);
        text += 8;
    }
    for (; yk_is_digit(*text); text++) value = value * 10 + (uint64_t)(*text - '0');
    *digits = value;
    return text;
}

/* Keeps the first `most` significant digits of [text, end), digits with at most one point, as an
 * integer to be multiplied by 10^*exponent. True if a digit other than 0 was left out. */
static bool keep_digits(const char *text, const char *end, int most, char *kept, int *count,
                        int64_t *exponent)
{
    bool point = false, dropped = false;
    *count = 0;
    *exponent = 0;
    for (; text < end; text++) {
        if (*text == '.') {
            point = true;
        } else if (*count < most) {
            if (*count > 0 || *text != '0') kept[(*count)++] = *text;
            if (point) --*exponent;
        } else {
            dropped |= *text != '0';
            if (!point) ++*exponent;
        }
    }
    return dropped;
}

/* More than 19 digits: the first 19 significant ones fit 64 bits. */
static __attribute__((noinline)) decimal cut_digits(const char *text, const char *end,
                                                    int64_t exponent)
{
    decimal number = {0, exponent, false};
    char kept[19];
    int count;
    int64_t shift;
    number.truncated = keep_digits(text, end, 19, kept, &count, &shift);
    for (int i = 0; i < count; i++) number.digits = number.digits * 10 + (uint64_t)(kept[i] - '0');
    number.exponent += shift;
    return number;
}

/* w 10^q = product 2^(exponent - 127 or - 126), product rounded down to 128 bits. */
typedef struct scaled {
    u128 product;       /* its first bit is 127 or 126 */
    int64_t exponent;   /* of that first bit */
    bool exact, sticky; /* sticky: something other than 0 was cut off */
} scaled;

/* Of a product whose first bit is 126 + top. floor(log2(10^q)) = floor(217706 q / 2^16) for all q
 * of the table. */
static inline int64_t exponent_of(int64_t top, int64_t q, int zeros)
{
    return top + 63 + ((217706 * q) >> 16) - zeros;
}

static scaled multiply(uint64_t w, int64_t q)
{
    scaled x;
    const uint64_t *power = yk_power_of_five[q - YK_POWER_FIRST];
    int zeros = __builtin_clzll(w);
    w <<= zeros;
    u128 low = (u128)w * power[1];
    x.product = (u128)w * power[0] + (uint64_t)(low >> 64);
    x.sticky = (uint64_t)low != 0;
    x.exact = q >= 0 && q <= 55; /* 5^55 < 2^128: the table's entry is not truncated */
    x.exponent = exponent_of((int64_t)(x.product >> 127), q, zeros);
    return x;
}

/* Sets *bits of w 10^q from the upper half of the table's entry alone, which is what all but a few
 * in a thousand numbers need: the true product's first 64 bits are `high` or one more. False where
 * that could matter to the rounding, or where the double is not normal. w is not 0. */
static inline bool round_common(uint64_t w, int64_t q, uint64_t *bits)
{
    if (q < YK_POWER_FIRST || q > YK_POWER_LAST) return false;
    int zeros = __builtin_clzll(w);
    uint64_t high = (u128)(w << zeros) * yk_power_of_five[q - YK_POWER_FIRST][0] >> 64;
    int64_t top = (int64_t)(high >> 63), exponent = exponent_of(top, q, zeros);
    uint64_t half_up = ((high >> (9 + top)) + 1) >> 1;
    *bits = half_up + ((uint64_t)(exponent + 1022) << 52);
    return ((high + 1) & 511) > 1 && exponent >= -1022 && exponent <= 1022;
}

/* Sets *bits of a double to x rounded to nearest even; false where x is not known well enough: of
 * the true product we know x.product, and that it is less than x.product + 2. */
static bool round_scaled(scaled x, uint64_t *bits)
{
    int64_t kept = x.exponent >= -1022 ? 53 : 53 - (-1022 - x.exponent);
    if (kept < 1) return false;
    int shift = 127 + (int)(x.product >> 127) - (int)kept;
    uint64_t mantissa = (uint64_t)(x.product >> shift);
    u128 rest = x.product & (((u128)1 << shift) - 1), half = (u128)1 << (shift - 1);
    if (!x.exact && rest <= half && rest + 2 > half) return false;
    bool up = rest > half || (rest == half && (x.sticky || (mantissa & 1)));
    *bits = mantissa + up; /* a carry moves into the exponent, as it should */
    if (x.exponent >= -1022) *bits += (uint64_t)(x.exponent + 1022) << 52;
    return true;
}

/* Sets *bits of w 10^q, rounded to nearest even; false where 128 bits do not tell. */
static bool round_product(uint64_t w, int64_t q, uint64_t *bits)
{
    *bits = 0;
    if (w == 0 || q < YK_POWER_FIRST - 1) return true; /* below half the least subnormal */
    if (q > YK_POWER_LAST) {
        *bits = 0x7ff0000000000000u;
        return true;
    }
    if (q < YK_POWER_FIRST) return false;
    scaled x = multiply(w, q);
    if (x.exponent > 1023) {
        *bits = 0x7ff0000000000000u;
        return true;
    }
    return round_scaled(x, bits);
}

static inline double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The rare rest: strtod, of a text without a point, which the locale could spell otherwise. */
static double hard_case(const char *text, const char *end, int64_t exponent)
{
    char copy[DIGITS_KEPT + 40];
    int count;
    int64_t shift;
    if (keep_digits(text, end, DIGITS_KEPT, copy, &count, &shift)) {
        copy[count++] = '1';
        shift--;
    }
    exponent += shift;
    if (exponent < -9999) exponent = -9999;
    if (exponent > 9999) exponent = 9999;
    char *at = copy + count;
    *at++ = 'e';
    *at++ = exponent < 0 ? '-' : '+';
    int size = (int)(exponent < 0 ? -exponent : exponent);
    for (int unit = 1000; unit > 0; unit /= 10) *at++ = (char)('0' + size / unit % 10);
    *at = '\0';
    return strtod(copy, NULL);
}

/* Not inlined: the common path would save registers for it. */
static __attribute__((noinline)) double uncommon_magnitude(const char *text, const char *end,
                                                           decimal number, int64_t exponent)
{
    uint64_t bits, above;
    bool known = round_product(number.digits, number.exponent, &bits);
    if (known && number.truncated)
        known = round_product(number.digits + 1, number.exponent, &above) && above == bits;
    return known ? double_of(bits) : hard_case(text, end, exponent);
}

static inline double magnitude(const char *text, const char *end, decimal number, int64_t exponent)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    int64_t q = number.exponent;
    uint64_t bits;
    if (number.truncated) return uncommon_magnitude(text, end, number, exponent);
    if (number.digits <= (uint64_t)1 << 53 && q >= -22 && q <= 22)
        return q < 0 ? (double)number.digits / power[-q] : (double)number.digits * power[q];
    if (number.digits > 0 && round_common(number.digits, q, &bits)) return double_of(bits);
    return uncommon_magnitude(text, end, number, exponent);
}

static const char *parse_exponent(const char *text, int64_t *exponent)
{
    char letter = *text | 0x20;
    if (letter != 'e' && letter != 'd') return text;
    const char *at = text + 1;
    int64_t size = 0, negative = *at == '-'; /* no branch: signs of exponents come at random */
    if (!yk_is_digit(*at)) {
        if (!negative && *at != '+') return text;
        if (!yk_is_digit(*++at)) return text;
    }
    for (; yk_is_digit(*at); at++)
        if (size < (int64_t)1 << 55) size = size * 10 + (*at - '0');
    *exponent = (size ^ -negative) + negative;
    return at;
}

static __attribute__((noinline)) yk_number no_digits(const char *text)
{
    bool word = strncasecmp(text, "nan", 3) == 0 || strncasecmp(text, "inf", 3) == 0;
    return word ? YK_NUMBER_NOT_FINITE : YK_NUMBER_NONE;
}

yk_number yk_parse_number(const char **text, double *value)
{
    const char *at = *text;
    bool negative = *at == '-';
    if (*at == '-' || *at == '+') at++;
    const char *first = at;
    decimal number = {0, 0, false};
    int64_t count, fraction = 0, exponent = 0;
    for (; yk_is_digit(*at); at++) number.digits = number.digits * 10 + (uint64_t)(*at - '0');
    count = at - first;
    if (*at == '.') {
        const char *point = at;
        at = append_digits(at + 1, &number.digits);
        fraction = at - point - 1;
    }
    if (count + fraction == 0) return no_digits(first);
    const char *last = at;
    at = parse_exponent(at, &exponent);
    number.exponent = exponent;
    if (count + fraction <= 19)
        number.exponent -= fraction;
    else
        number = cut_digits(first, last, exponent);
    double size = magnitude(first, last, number, exponent);
    *text = at;
    *value = negative ? -size : size;
    return size <= 1.7976931348623157e308 ? YK_NUMBER_GOOD : YK_NUMBER_TOO_LARGE;
}

yk_number yk_parse_integer(const char **text, int64_t *value)
{
    const char *at = *text;
    bool negative = *at == '-', large = false;
    if (*at == '-' || *at == '+') at++;
    if (!yk_is_digit(*at)) return YK_NUMBER_NONE;
    int64_t size = 0;
    for (; yk_is_digit(*at); at++)
        large |= __builtin_mul_overflow(size, 10, &size) ||
                 __builtin_add_overflow(size, *at - '0', &size);
    *text = at;
    if (large) return YK_NUMBER_TOO_LARGE;
    *value = negative ? -size : size;
    return YK_NUMBER_GOOD;
}
