/* SPDX-License-Identifier: BSD-3-Clause */
/* study_record.h: the file of --json while a study goes on: rows of an earlier, interrupted one are
 * kept, and each new one is there as soon as it is known. */
#ifndef BENCH_STUDY_RECORD_H
#define BENCH_STUDY_RECORD_H

#include "bench/row.h"

typedef struct study_record {
    const char *path; /* NULL: nothing is kept */
    int handle;       /* -1: not opened yet */
    int written;      /* rows, by this study */
    row_list kept;    /* whose matrix is NULL once they are taken */
} study_record;

/* Reads what the file holds of a study on the same machine with the same settings; model: a row of
 * this study. A last line that was cut off is dropped from the file. The exit code, or 0: a file
 * that holds anything else is refused, and left as it is. path NULL, "-" or no regular file:
 * nothing is kept. */
int study_record_open(const char *path, const row *model, study_record *record);

/* Moves the kept row of that matrix and label to *r; 0 if there is none. */
int study_record_take(study_record *record, const char *matrix, const char *label, row *r);

/* Writes one row behind what is there; the exit code, or 0. */
int study_record_append(study_record *record, const row *r);

/* What was kept and not taken: rows of other matrices and configurations. To be freed. */
row_list study_record_rest(study_record *record);
void study_record_close(study_record *record);

/* How the reason of a row begins that failed rather than could not run: it is tried again. */
extern const char STUDY_FAILURE[];

#endif
