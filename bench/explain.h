/* SPDX-License-Identifier: BSD-3-Clause */
/* explain.h: rows in sentences. */
#ifndef BENCH_EXPLAIN_H
#define BENCH_EXPLAIN_H

#include <stdio.h>

#include "bench/row.h"

/* The first row, and how the rivals behind it did. */
void write_summary(const row_list *rows, FILE *stream);

/* --explain: what ran, where the bytes go, and every notice. */
void write_explanation(const row_list *rows, FILE *stream);

/* A time in the unit that suits it: "12.3 ms". */
void format_seconds(double seconds, char *text, size_t capacity);

/* 1234567 as "1 234 567". */
void format_grouped(int64_t value, char *text, size_t capacity);

#endif
