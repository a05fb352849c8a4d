/* SPDX-License-Identifier: BSD-3-Clause */
/* banner.c: "%%MatrixMarket matrix coordinate real symmetric", comments and the size line.
 * Boisvert, Pozo, Remington, "The Matrix Market exchange formats", NISTIR 5935, 1996. */
#include "matrices/banner.h"

#include <string.h>
#include <strings.h>

#include "lib/status.h"
#include "matrices/number.h"

typedef struct vocabulary {
    const char *what;
    const char *word[5];
    const char *all;
} vocabulary;

static const vocabulary objects = {"object", {"matrix"}, "matrix"};
static const vocabulary layouts = {"format", {"coordinate", "array"}, "coordinate, array"};
static const vocabulary fields = {
    "field", {"real", "integer", "pattern", "complex"}, "real, integer, pattern, complex"};
static const vocabulary symmetries = {"symmetry",
                                      {"general", "symmetric", "skew-symmetric", "hermitian"},
                                      "general, symmetric, skew-symmetric, hermitian"};

static bool at_end(const char *text)
{
    return *yk_skip_blanks(text) == '\n';
}

/* Length of the word at text. */
static size_t word_length(const char *text)
{
    size_t length = 0;
    while (text[length] != '\n' && !yk_is_blank(text[length])) length++;
    return length;
}

static yoke_status take_word(const yk_lines *lines, const vocabulary *known, const char **text,
                             int *which)
{
    const char *word = yk_skip_blanks(*text);
    size_t length = word_length(word);
    if (length == 0)
        return yk_fail_line(lines->stream, lines->line, YOKE_FORMAT,
                            "the banner ends before its %s: one of %s expected", known->what,
                            known->all);
    *text = word + length;
    for (int i = 0; known->word[i]; i++) {
        *which = i;
        if (strlen(known->word[i]) == length && strncasecmp(word, known->word[i], length) == 0)
            return YOKE_OK;
    }
    return yk_fail_line(lines->stream, lines->line, YOKE_FORMAT,
                        "unknown %s in the banner: '%s', one of %s expected", known->what,
                        yk_quote_word(word).text, known->all);
}

/* Moves *text behind "%%MatrixMarket". */
static yoke_status take_mark(const yk_lines *lines, const char **text)
{
    static const char mark[] = "MatrixMarket";
    const char *at = yk_skip_blanks(*text);
    int signs = 0;
    for (; *at == '%'; at++) signs++;
    at = yk_skip_blanks(at);
    size_t length = word_length(at);
    if (signs != 2 || length != sizeof mark - 1 || strncasecmp(at, mark, length) != 0)
        return yk_fail_line(lines->stream, lines->line, YOKE_FORMAT,
                            "no Matrix Market banner: found '%s', expected '%%%%MatrixMarket "
                            "matrix coordinate real symmetric' or its like",
                            yk_quote_line(*text).text);
    *text = at + length;
    return YOKE_OK;
}

static yoke_status check_combination(const yk_lines *lines, const yk_banner *banner)
{
    const char *fault = NULL;
    if (banner->layout == YK_ARRAY && banner->field == YK_PATTERN) fault = "array and pattern";
    if (banner->symmetry == YK_HERMITIAN && banner->field != YK_COMPLEX)
        fault = "hermitian and not complex";
    if (banner->symmetry == YK_SKEW && banner->field == YK_PATTERN)
        fault = "skew-symmetric and pattern";
    if (!fault) return YOKE_OK;
    return yk_fail_line(lines->stream, lines->line, YOKE_FORMAT,
                        "the banner contradicts itself: %s, which the format does not allow",
                        fault);
}

yoke_status yk_banner_read(yk_lines *lines, yk_banner *banner)
{
    const char *text;
    int object = 0, layout = 0, field = 0, symmetry = 0;
    do YK_TRY(yk_lines_next(lines, &text));
    while (text && at_end(text));
    if (!text) return yk_fail_line(lines->stream, 1, YOKE_FORMAT, "the file is empty");
    YK_TRY(take_mark(lines, &text));
    YK_TRY(take_word(lines, &objects, &text, &object));
    YK_TRY(take_word(lines, &layouts, &text, &layout));
    YK_TRY(take_word(lines, &fields, &text, &field));
    YK_TRY(take_word(lines, &symmetries, &text, &symmetry));
    if (!at_end(text))
        return yk_fail_line(lines->stream, lines->line, YOKE_FORMAT,
                            "unexpected text after the banner: '%s'",
                            yk_quote_line(yk_skip_blanks(text)).text);
    *banner = (yk_banner){(yk_layout)layout, (yk_field)field, (yk_symmetry)symmetry, lines->line};
    return check_combination(lines, banner);
}

yoke_status yk_next_content(yk_lines *lines, const char *comment, const char **text)
{
    for (;;) {
        YK_TRY(yk_lines_next(lines, text));
        if (!*text) return YOKE_OK;
        *text = yk_skip_blanks(*text);
        if (**text != '\n' && (**text == '\0' || !strchr(comment, **text))) return YOKE_OK;
    }
}

yoke_status yk_size_line(yk_lines *lines, int64_t size[3], int *count)
{
    const char *text;
    YK_TRY(yk_next_content(lines, "%", &text));
    if (!text)
        return yk_fail_line(lines->stream, lines->line, YOKE_FORMAT,
                            "the file ends before its size line");
    for (*count = 0; !at_end(text); ++*count) {
        text = yk_skip_blanks(text);
        const char *word = text;
        yk_number kind = yk_parse_integer(&text, &size[*count < 3 ? *count : 2]);
        if (kind == YK_NUMBER_TOO_LARGE && *word != '-')
            return yk_fail_line(lines->stream, lines->line, YOKE_OVERFLOW,
                                "a size exceeds what an index can hold: '%s'",
                                yk_quote_word(word).text);
        bool whole = *text == '\n' || yk_is_blank(*text);
        if (kind != YK_NUMBER_GOOD || !whole || *word == '-' || *count == 3)
            return yk_fail_line(lines->stream, lines->line, YOKE_FORMAT,
                                "malformed size line: found '%s', expected counts of 0 or more",
                                yk_quote_word(word).text);
    }
    return YOKE_OK;
}
