/* SPDX-License-Identifier: BSD-3-Clause */
/* outfile.h: files that are written as a whole or not at all. */
#ifndef BENCH_OUTFILE_H
#define BENCH_OUTFILE_H

#include <stdio.h>

typedef struct outfile {
    const char *path; /* as given; NULL: not asked for */
    char *target;     /* where it lies once links are followed */
    char *temporary;  /* beside the target; NULL for "-" and what is no regular file */
    FILE *stream;
} outfile;

/* Opens for writing, or says why that is refused: the exit code, or 0. path NULL: nothing. */
int outfile_open(const char *option, const char *path, outfile *file);

/* Puts what was written in its place; the exit code, or 0. */
int outfile_commit(outfile *file);

/* Undoes what was not committed. */
void outfile_discard(outfile *file);

/* 0 if path could be written now; the exit code once the error has been said. */
int outfile_check(const char *option, const char *path);

#endif
