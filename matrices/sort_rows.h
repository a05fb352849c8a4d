/* SPDX-License-Identifier: BSD-3-Clause */
/* sort_rows.h: the columns of each row into order, repeats summed. */
#ifndef YK_SORT_ROWS_H
#define YK_SORT_ROWS_H

#include <yoke.h>

/* Set in a column that is the mirror image of the entry the file gives. */
#define YK_MIRRORED INT32_MIN

typedef struct yk_unsorted_rows {
    yoke_context *context;
    int64_t rows;
    int threads;
    int64_t *start;   /* [rows + 1] */
    int32_t **column; /* [start[rows]], some YK_MIRRORED */
    double **value;
} yk_unsorted_rows;

/* Sorts stably and clears the marks; where entries repeat, replaces arrays and starts by the
 * shorter ones. YOKE_FORMAT names the first place given both plainly and as a mirror image. On
 * failure arrays and starts still fit each other. */
yoke_status yk_sort_rows(yk_unsorted_rows *rows, const char *name);

#endif
