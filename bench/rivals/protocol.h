/* SPDX-License-Identifier: BSD-3-Clause */
/* protocol.h: what a rival's program is asked and how it answers, by lines:
 *   PROGRAM DUMP none|jacobi ITERATIONS [DEVICE [THREADS]]
 * verifies once and prints
 *   yoke-rival ready
 * or, if it cannot run here, why, and ends:
 *   yoke-rival cannot TEXT
 * then times one solve for each line "go" on stdin and prints
 *   yoke-rival repeat us US seconds S
 * and at any other line or the end
 *   yoke-rival end version V ranks R iterations N residual_true T residual_recursive C setup S
 * with "threads N" behind it where it has threads, then, where there was a choice, "driver WORD",
 * then "how TEXT". */
#ifndef BENCH_RIVALS_PROTOCOL_H
#define BENCH_RIVALS_PROTOCOL_H

typedef struct rival_request {
    const char *dump;
    int jacobi, iterations;
    int device;  /* the GPU's number, of a rival on one */
    int threads; /* of one with threads; 0: OpenMP's choice */
} rival_request;

/* 0, or after a sentence on stderr the exit code. */
int rival_request_read(int argc, char **argv, rival_request *request);

double rival_now(void); /* seconds since some fixed time */

void rival_say_ready(void);
void rival_say_cannot(const char *text);
int rival_asked_to_go(void); /* waits for a line */
void rival_say_repeat(double us, double seconds);

typedef struct rival_answer {
    const char *version;
    int ranks, iterations, threads; /* threads 0: it has none */
    double residual_true, residual_recursive, setup;
    const char *driver, *how; /* or NULL */
} rival_answer;

void rival_say_end(const rival_answer *answer);

#endif
