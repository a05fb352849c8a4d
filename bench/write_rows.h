/* SPDX-License-Identifier: BSD-3-Clause */
/* write_rows.h: rows in each of the forms in which cgbench writes them. */
#ifndef BENCH_WRITE_ROWS_H
#define BENCH_WRITE_ROWS_H

#include <stdio.h>

#include "bench/row.h"

void write_json(const row_list *rows, FILE *stream);    /* an object a line */
void write_csv(const row_list *rows, FILE *stream);     /* the same keys, nested ones by a dot */
void write_history(const row_list *rows, FILE *stream); /* configuration,iteration,residual */
void write_svg(const row_list *rows, FILE *stream);     /* residual against iteration and time */
void write_table(const row_list *rows, FILE *stream);   /* for a reader; colours on a terminal */

/* A terminal that takes them, and a user who has not said no. */
int wants_colour(FILE *stream);

/* Text of an SVG element, escaped likewise. */
void write_svg_text(const char *text, FILE *stream);

/* A string in quotes, escaped; bytes that are no UTF-8 become U+FFFD. */
void write_json_text(const char *text, FILE *stream);

/* A field of CSV, quoted where it must be; NULL: empty. */
void write_csv_text(const char *text, FILE *stream);

/* Bytes of the UTF-8 sequence at s, 0 if there is none. */
int utf8_length(const unsigned char *s);

/* The shortest decimal that reads back the same; "null" if not finite. */
void format_number(double value, char *text, size_t capacity);

#endif
