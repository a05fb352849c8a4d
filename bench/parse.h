/* SPDX-License-Identifier: BSD-3-Clause */
/* parse.h: numbers and lists of the command line, read strictly: all of the text or nothing. */
#ifndef BENCH_PARSE_H
#define BENCH_PARSE_H

#include <stdint.h>

typedef struct words {
    int count;
    char **word;
} words;

/* Digits only; 0 if it is not one or exceeds an int64_t. */
int parse_count(const char *text, int64_t *value);

/* A finite decimal number, 0 or more; 0 if it is not. */
int parse_number(const char *text, double *value);

/* Bytes: a number and perhaps one of K M G T (powers of 1024), with or without B or iB. */
int parse_size(const char *text, double *bytes);

/* "2us,25GB/s": seconds of a message and bytes a second, each with or without its unit: s ms us ns;
 * B kB MB GB TB (powers of 1000), with or without /s. 0 if it is not, or a speed is 0. */
int parse_network(const char *text, double network[2]);

/* "a,b,c"; 0 if an item is empty. Appends. */
int parse_words(const char *text, words *list);
void words_add(words *list, const char *text);
void words_free(words *list);

/* 1 if text is one of choices, "a|b|c". */
int is_one_of(const char *text, const char *choices);

#endif
