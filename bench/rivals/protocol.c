/* SPDX-License-Identifier: BSD-3-Clause */
/* protocol.c: the lines of protocol.h, each flushed, since the other side waits for it. */
#include "bench/rivals/protocol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int rival_request_read(int argc, char **argv, rival_request *request)
{
    if (argc < 4 || argc > 6) {
        fprintf(stderr, "usage: %s DUMP none|jacobi ITERATIONS [DEVICE [THREADS]]\n", argv[0]);
        return 2;
    }
    request->dump = argv[1];
    request->jacobi = !strcmp(argv[2], "jacobi");
    request->iterations = atoi(argv[3]);
    request->device = argc > 4 ? atoi(argv[4]) : 0;
    request->threads = argc > 5 ? atoi(argv[5]) : 0;
    if (request->iterations >= 1) return 0;
    fprintf(stderr, "%s: '%s' is not a number of iterations\n", argv[0], argv[3]);
    return 2;
}

double rival_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void rival_say_ready(void)
{
    puts("yoke-rival ready");
    fflush(stdout);
}

void rival_say_cannot(const char *text)
{
    printf("yoke-rival cannot %s\n", text);
    fflush(stdout);
}

int rival_asked_to_go(void)
{
    char line[16] = "";
    return fgets(line, sizeof line, stdin) && !strcmp(line, "go\n");
}

void rival_say_repeat(double us, double seconds)
{
    printf("yoke-rival repeat us %.17g seconds %.17g\n", us, seconds);
    fflush(stdout);
}

void rival_say_end(const rival_answer *answer)
{
    printf("yoke-rival end version %s ranks %d iterations %d residual_true %.17g "
           "residual_recursive %.17g setup %.17g",
           answer->version, answer->ranks, answer->iterations, answer->residual_true,
           answer->residual_recursive, answer->setup);
    if (answer->threads) printf(" threads %d", answer->threads);
    if (answer->driver) printf(" driver %s", answer->driver);
    if (answer->how) printf(" how %s", answer->how);
    putchar('\n');
    fflush(stdout);
}
