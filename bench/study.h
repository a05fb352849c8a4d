/* SPDX-License-Identifier: BSD-3-Clause */
/* study.h: what a study compares, and how its rows are read. */
#ifndef BENCH_STUDY_H
#define BENCH_STUDY_H

#include <stdio.h>

#include "bench/configuration.h"
#include "bench/row.h"

/* ------------------------------------------------------------------- cases */

/* One line of the comparison: a configuration of ours, or a rival. */
typedef struct study_case {
    configuration asked;
    const char *rival; /* NULL: ours */
    char *label;       /* "gpu", "auto", "mapped owner ratio:0.1", "operations" */
} study_case;

typedef struct study_cases {
    int count;
    study_case *item;
    words memory, home, partition; /* hold the names */
} study_cases;

/* The single owners, `auto`, every memory mode x home x partition that the library knows or the
 * options name, the rivals. To be freed. */
study_cases study_cases_make(const bench_options *options);
void study_cases_free(study_cases *cases);

/* -------------------------------------------------------------------- rows */

/* What a row has to show. */
typedef enum study_state { STUDY_RAN, STUDY_CANNOT_RUN, STUDY_FAILED } study_state;
study_state study_state_of(const row *r);

/* Microseconds an iteration of the best single owner on a matrix; NaN if none ran. */
double study_base(const row_list *rows, const char *matrix);

/* The same of the fastest configuration; a rival is none. */
double study_best(const row_list *rows, const char *matrix);

/* NULL if there is no such row. */
const row *study_find(const row_list *rows, const char *matrix, const char *label);

/* The distinct matrices and labels, in order. To be freed. */
void study_names(const row_list *rows, words *matrices, words *labels);
void words_add_once(words *list, const char *text);

/* The three words of a label such as "mapped owner ratio:0.1"; 0 if it has not three. */
enum { STUDY_WORD = 48 };
typedef struct study_place {
    char memory[STUDY_WORD], home[STUDY_WORD], partition[STUDY_WORD];
} study_place;
int study_place_of(const char *label, study_place *place);

/* Why a row has no time, in words that rows of several partitions share: "memory system for this
 * partition: why". */
enum { STUDY_REASON = 640 };
void study_reason(const row *r, char text[STUDY_REASON]);

/* ------------------------------------------------------------------- forms */

void write_study_table(const row_list *rows, FILE *stream);
void write_heatmap(const row_list *rows, FILE *stream);

#endif
