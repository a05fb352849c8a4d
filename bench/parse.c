/* SPDX-License-Identifier: BSD-3-Clause */
/* parse.c: numbers and lists of the command line. */
#include "bench/parse.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/take.h"

int parse_count(const char *text, int64_t *value)
{
    if (!*text || strspn(text, "0123456789") != strlen(text)) return 0;
    errno = 0;
    long long read = strtoll(text, NULL, 10);
    if (errno) return 0;
    *value = read;
    return 1;
}

/* strtod alone would take blanks, "inf", "nan" and "0x1p3". */
static int number_prefix(const char *text, double *value, const char **end)
{
    size_t length = strspn(text, "0123456789.eE+-");
    if (!isdigit((unsigned char)text[0]) && text[0] != '.') return 0;
    char *stop = NULL;
    *value = strtod(text, &stop);
    *end = stop;
    return stop != text && stop <= text + length && isfinite(*value);
}

int parse_number(const char *text, double *value)
{
    const char *end = NULL;
    double read = 0.0;
    if (!number_prefix(text, &read, &end) || *end) return 0;
    *value = read;
    return 1;
}

int parse_size(const char *text, double *bytes)
{
    const char *end = NULL, *unit = NULL;
    double read = 0.0;
    static const char units[] = "KMGT";
    if (!number_prefix(text, &read, &end)) return 0;
    if (*end && (unit = strchr(units, toupper((unsigned char)*end)))) {
        for (const char *u = units; u <= unit; u++) read *= 1024.0;
        end++;
        if (*end == 'i') end++;
    }
    if (*end == 'B') end++;
    if (*end || read < 1.0 || read > 9e18) return 0;
    *bytes = read;
    return 1;
}

typedef struct unit {
    const char *name;
    double factor;
} unit;

static int parse_with_unit(const char *text, const unit *units, double *value)
{
    const char *end = NULL;
    if (!number_prefix(text, value, &end) || *value < 0.0) return 0;
    if (!*end) return 1;
    for (; units->name; units++)
        if (!strcmp(end, units->name)) {
            *value *= units->factor;
            return isfinite(*value);
        }
    return 0;
}

/* Beyond these sums of them need not be finite: a latency of weeks, less than a byte a second. */
static int is_a_network(const double network[2])
{
    return network[0] <= 1e6 && network[1] >= 1.0;
}

int parse_network(const char *text, double network[2])
{
    static const unit times[] = {{"s", 1.0}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {NULL, 0}};
    static const unit speeds[] = {{"B", 1.0},    {"kB", 1e3},    {"MB", 1e6},   {"GB", 1e9},
                                  {"TB", 1e12},  {"B/s", 1.0},   {"kB/s", 1e3}, {"MB/s", 1e6},
                                  {"GB/s", 1e9}, {"TB/s", 1e12}, {NULL, 0}};
    words pair = {0, NULL};
    int good = parse_words(text, &pair) && pair.count == 2 &&
               parse_with_unit(pair.word[0], times, &network[0]) &&
               parse_with_unit(pair.word[1], speeds, &network[1]) && is_a_network(network);
    words_free(&pair);
    return good;
}

void words_add(words *list, const char *text)
{
    char **grown = take("a list", list->count + 1, sizeof *grown);
    if (list->count) memcpy(grown, list->word, (size_t)list->count * sizeof *grown);
    free(list->word);
    list->word = grown;
    list->word[list->count++] = take_copy(text);
}

int parse_words(const char *text, words *list)
{
    char *copy = take_copy(text), *rest = copy;
    int good = 1;
    while (good && rest) {
        char *item = strsep(&rest, ",");
        good = *item != '\0';
        if (good) words_add(list, item);
    }
    free(copy);
    return good;
}

void words_free(words *list)
{
    for (int i = 0; i < list->count; i++) free(list->word[i]);
    free(list->word);
    *list = (words){0, NULL};
}

int is_one_of(const char *text, const char *choices)
{
    size_t length = strlen(text);
    while (*choices) {
        size_t item = strcspn(choices, "|");
        if (item == length && !memcmp(text, choices, item)) return 1;
        choices += item + (choices[item] == '|');
    }
    return 0;
}
