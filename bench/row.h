/* SPDX-License-Identifier: BSD-3-Clause */
/* row.h: one result, as records and tables show it. A figure not known is NaN (numbers), -1
 * (counts) or NULL (texts), and becomes null. */
#ifndef BENCH_ROW_H
#define BENCH_ROW_H

#include <stddef.h>
#include <stdint.h>

#include <yoke_tools.h>

#include "bench/parse.h"

enum { RIVALS = 4 };
extern const char *const rival_names[RIVALS];

/* A pass, and the bytes a second that its owner's memory delivers. */
typedef struct roofline_pass {
    yoke_pass pass;
    double ceiling;
} roofline_pass;

typedef struct row {
    int64_t schema;
    char *version, *commit, *date, *machine, *driver_version;
    char *matrix;
    int64_t rows, nonzeros;
    char *memory, *home, *partition;
    int64_t cpu_rows, gpus, ranks, threads;
    char *solver, *driver, *format, *shape, *precond, *effort, *reorder;
    double rtol;
    char *outcome;
    int64_t iterations;
    double us_median, us_min, us_max;
    double setup, transfer, solve; /* seconds */
    double upload;                 /* of setup */
    double bytes, gb_per_s, fraction;
    double residual_true, residual_recursive; /* relative to ||b|| */
    double joules;
    int asked[RIVALS]; /* in --vs */
    double speedup[RIVALS];
    words notices;

    /* Of a study's rows alone; NULL in others. */
    char *configuration; /* as asked: "mapped owner ratio:0.1" */
    char *settings;      /* what else was asked, the same for all rows of a study */
    char *reason;        /* why there is no time; NULL: there is one */

    /* With --roofline alone; NULL in others. */
    roofline_pass *roofline;
    int roofline_count;

    /* Not in the records. */
    words plans; /* with --explain, of the library's own: a line for each that could have been */
    int is_rival, exit_code;
    struct rank_row *each; /* [each_count], with --per-rank; else NULL */
    int each_count;
    double *history; /* relative to ||b||, [history_length] */
    int64_t history_length;
} row;

typedef enum field_kind { FIELD_TEXT, FIELD_COUNT, FIELD_NUMBER } field_kind;

/* The records' keys in their order, before speedup_vs and notices. group: the object that holds
 * the key, or NULL. */
typedef struct field {
    const char *group, *key;
    field_kind kind;
    size_t offset;
} field;

extern const field row_fields[];
extern const int row_field_count;

row row_unknown(void);

/* All unknown but what is the same for every row of this run. */
row row_new(const char *matrix);
void row_free(row *r);
void row_set(char **text, const char *value); /* replaces; value may be NULL */
/* The machine with its GPU's name, and the GPU's driver. */
void row_set_gpu(row *r, int device);
void row_notice(row *r, const char *text); /* each line of text, unless it is there already */

/* Who owns the rows: "16 threads", "1 GPU", "1 GPU + 16 threads", "4 threads x 8 ranks", "8 ranks"
 * of a rival. */
void row_workers(const row *r, char *text, size_t capacity);

/* What tells this row from others in a plot or a history: "gen:poisson3d7:20 cg csr jacobi". */
void row_label(const row *r, char *label, size_t capacity);

typedef struct row_list {
    int count;
    row *row;
} row_list;
void rows_add(row_list *list, row *r); /* takes r's contents */
void rows_free(row_list *list);

#endif
