/* SPDX-License-Identifier: BSD-3-Clause */
/* test_number.c: decimal text to double, held to strtod of the C library, bit by bit. */
#include <criterion/criterion.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matrices/number.h"

enum { LONGEST = 2048 };

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void assert_as_strtod(const char *text)
{
    char padded[LONGEST + 16] = {0};
    double ours = -1, theirs = strtod(text, NULL);
    snprintf(padded, LONGEST, "%s", text);
    const char *at = padded;
    yk_number kind = yk_parse_number(&at, &ours);
    cr_assert_eq(kind, isinf(theirs) ? YK_NUMBER_TOO_LARGE : YK_NUMBER_GOOD, "%s", text);
    cr_assert_eq(*at, '\0', "%s is not read to its end", text);
    cr_assert_eq(memcmp(&ours, &theirs, sizeof ours), 0, "%s: %a, strtod says %a", text, ours,
                 theirs);
}

static void assert_all(const char *const *text, size_t count)
{
    for (size_t i = 0; i < count; i++) assert_as_strtod(text[i]);
}

Test(number, random_bit_patterns_come_back_from_many_formats)
{
    static const char *const formats[] = {"%.17g", "%.16e", "%.15g", "%.20e",
                                          "%.40e", "%g",    "%.0f"};
    uint64_t state = 88172645463325252u;
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = next_random(&state);
        double value;
        char text[400];
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        snprintf(text, sizeof text, formats[i % 7], value);
        assert_as_strtod(text);
    }
}

Test(number, random_digits_and_exponents_round_as_strtod)
{
    uint64_t state = 1234567;
    for (int i = 0; i < 100000; i++) {
        char text[64];
        uint64_t digits = next_random(&state) >> next_random(&state) % 64;
        int exponent = (int)(next_random(&state) % 700) - 360;
        snprintf(text, sizeof text, "%llue%d", (unsigned long long)digits, exponent);
        assert_as_strtod(text);
    }
}

/* The midpoint of a double and the next one, exactly, and one unit of its last digit beside it. */
Test(number, halfway_cases_go_to_even_and_their_neighbours_do_not)
{
    uint64_t state = 42;
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = next_random(&state) % ((uint64_t)2046 << 52);
        if (i % 4 == 0) bits >>= 12; /* subnormals and the smallest normals */
        double value, above;
        char text[1200];
        memcpy(&value, &bits, sizeof value);
        bits++;
        memcpy(&above, &bits, sizeof above);
        /* x87 or binary128: 53 + 1 bits fit a long double */
        long double middle = ((long double)value + (long double)above) / 2;
        int length = snprintf(text, sizeof text, "%.1100Lg", middle);
        assert_as_strtod(text);
        if (memchr(text, 'e', (size_t)length)) continue;
        char *last = &text[length - 1];
        *last = (char)(*last == '9' ? '8' : *last + 1);
        assert_as_strtod(text);
    }
}

Test(number, known_hard_cases_round_as_strtod)
{
    static const char *const texts[] = {"1e23",
                                        "8.5e22",
                                        "9007199254740993",
                                        "9007199254740992.5",
                                        "9007199254740993.0000000001",
                                        "4503599627370496.5",
                                        "4503599627370497.5",
                                        "2.2250738585072011e-308",
                                        "2.2250738585072012e-308",
                                        "2.2250738585072014e-308",
                                        "4.9406564584124654e-324",
                                        "2.4703282292062327e-324",
                                        "2.4703282292062328e-324",
                                        "2.47e-324",
                                        "1e-323",
                                        "1e-400",
                                        "1.7976931348623157e308",
                                        "1.7976931348623158e308",
                                        "1.7976931348623159e308",
                                        "1e309",
                                        "1e400",
                                        "6.631236846766476e-316",
                                        "0.000000000000000000000000000000000000001",
                                        "123456789012345678901234567890",
                                        "10000000000000000000",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "99999999999999999999e-20",
                                        "0.1",
                                        "0.3",
                                        "1e22",
                                        "1e-22",
                                        "7.3177701707893310e15",
                                        "1e1000000000000000000000",
                                        "1e-1000000000000000000000",
                                        "0e1000000000000000000000",
                                        "00000000000000000000000000000000000001.5"};
    assert_all(texts, sizeof texts / sizeof *texts);
}

Test(number, zeros_keep_their_sign_and_forms_of_c_are_read)
{
    static const char *const texts[] = {"0",    "-0",  "-0.0",   "0e5", ".5",
                                        "5.",   "+1",  "+.5e+1", "-7",  "1E5",
                                        "1e+5", "1e0", "-1.e2",  "000", "12.50000"};
    assert_all(texts, sizeof texts / sizeof *texts);
}

Test(number, long_digit_strings_round_by_their_last_digit)
{
    char text[LONGEST];
    /* 1 + 2^-53, the midpoint above 1, followed by zeros and then one more digit or none */
    const char *middle = "1.00000000000000011102230246251565404236316680908203125";
    memset(text, '0', sizeof text);
    memcpy(text, middle, strlen(middle));
    text[1500] = '\0';
    assert_as_strtod(text);
    text[1499] = '1';
    assert_as_strtod(text);
    memset(text, '9', 1000);
    text[1000] = '\0';
    assert_as_strtod(text); /* too large */
    memset(text + 1, '0', 900);
    text[1] = '.';
    memcpy(text + 900, "1e880", 6);
    assert_as_strtod(text);
}

Test(number, exponents_of_fortran_are_read)
{
    static const char *const texts[] = {"1d0", "1.D+3", "-2.5d-2", "1D5"};
    static const double values[] = {1.0, 1000.0, -0.025, 1e5};
    for (int i = 0; i < 4; i++) {
        char padded[32] = {0};
        const char *at = padded;
        double value;
        strcpy(padded, texts[i]);
        cr_assert_eq(yk_parse_number(&at, &value), YK_NUMBER_GOOD);
        cr_assert_eq(*at, '\0');
        cr_assert_eq(value, values[i]);
    }
}

static yk_number kind_of(const char *text)
{
    char padded[64] = {0};
    const char *at = padded;
    double value;
    strcpy(padded, text);
    return yk_parse_number(&at, &value);
}

Test(number, what_is_no_finite_number_is_recognised)
{
    cr_assert_eq(kind_of("nan"), YK_NUMBER_NOT_FINITE);
    cr_assert_eq(kind_of("-NaN"), YK_NUMBER_NOT_FINITE);
    cr_assert_eq(kind_of("+Infinity"), YK_NUMBER_NOT_FINITE);
    cr_assert_eq(kind_of("-1e999"), YK_NUMBER_TOO_LARGE);
    cr_assert_eq(kind_of("x"), YK_NUMBER_NONE);
    cr_assert_eq(kind_of("."), YK_NUMBER_NONE);
    cr_assert_eq(kind_of("-"), YK_NUMBER_NONE);
    cr_assert_eq(kind_of(""), YK_NUMBER_NONE);
    cr_assert_eq(kind_of("e5"), YK_NUMBER_NONE);
}

Test(number, reading_stops_behind_the_number)
{
    char padded[32] = "1.5e+x";
    const char *at = padded;
    double value;
    cr_assert_eq(yk_parse_number(&at, &value), YK_NUMBER_GOOD);
    cr_assert_eq(value, 1.5);
    cr_assert_str_eq(at, "e+x");
}

Test(number, integers_fit_64_bits_or_are_too_large)
{
    static const char *const texts[] = {"9223372036854775807",
                                        "9223372036854775808",
                                        "-1",
                                        "+12",
                                        "99999999999999999999999",
                                        "007"};
    static const yk_number kinds[] = {YK_NUMBER_GOOD, YK_NUMBER_TOO_LARGE, YK_NUMBER_GOOD,
                                      YK_NUMBER_GOOD, YK_NUMBER_TOO_LARGE, YK_NUMBER_GOOD};
    static const int64_t values[] = {INT64_MAX, 0, -1, 12, 0, 7};
    for (int i = 0; i < 6; i++) {
        const char *at = texts[i];
        int64_t value = 0;
        cr_assert_eq(yk_parse_integer(&at, &value), kinds[i], "%s", texts[i]);
        if (kinds[i] == YK_NUMBER_GOOD) cr_assert_eq(value, values[i]);
        cr_assert_eq(*at, '\0');
    }
}
