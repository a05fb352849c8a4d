/* SPDX-License-Identifier: BSD-3-Clause */
/* rival_process.h: a rival's program, under mpirun or alone, spoken to by lines. */
#ifndef BENCH_RIVAL_PROCESS_H
#define BENCH_RIVAL_PROCESS_H

#include <stdio.h>
#include <sys/types.h>

typedef struct rival_process {
    pid_t child; /* also its process group */
    FILE *to, *from;
    char line[1024]; /* the last line of the protocol, without "yoke-rival " */
    char other[512]; /* the first line that was something else: why it failed, most often */
} rival_process;

/* arguments: after the program's path, NULL at the end. ranks: 0 for a program that is not MPI's.
 * Bound: each rank to a processor. 0, or an errno. */
int process_start(const char *program, const char *const arguments[], int ranks, int bound,
                  rival_process *p);

/* 1 once a line "yoke-rival WORD ..." has come; 0 if the program ended before. */
int process_wait(rival_process *p, const char *word);
int process_tell(rival_process *p, const char *line);

/* Closes and reaps; 1 if it ended well. */
int process_end(rival_process *p);

/* The number behind a key of the last line; NaN if there is none. */
double process_value(const rival_process *p, const char *key);

/* The text behind a key of the last line, up to the line's end; NULL if there is none. */
const char *process_text(const rival_process *p, const char *key);

#endif
