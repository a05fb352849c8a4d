/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_stress.c: the GPU path on the fake runtime as a plain program that prints one line a claim,
 * for the thread sanitizer and for valgrind, where Criterion does not start. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yoke.h>
#include <yoke_io.h>

#include "tests/fake/fake.h"

/* The first ALONE have all rows on the GPU, the others some on the CPU. */
enum { ALONE = 8, WAYS = 14, REPEATS = 3 };

static const char *const drivers[] = {"stream", "graph"}, *const shapes[] = {"folded", "unfolded"};
static const char *const formats[] = {"csr", "sell"};

static const char *const modes[] = {"explicit", "mapped", "managed"};

static int failures;

static void claim(int holds, const char *text)
{
    printf("%s: %s\n", holds ? "holds" : "FAILS", text);
    if (!holds) failures++;
}

static void must(yoke_status status)
{
    if (status == YOKE_OK) return;
    fprintf(stderr, "fake_stress: %s\n", yoke_error_text());
    exit(2);
}

typedef struct task {
    yoke_matrix *matrix;
    const double *b;
    double *x;
    int way; /* negative: on the CPU */
    int converged;
} task;

static void *solve(void *user)
{
    task *t = user;
    yoke_plan_options planning = yoke_plan_defaults();
    planning.partition = t->way < 0 ? "cpu" : t->way < ALONE ? "gpu" : "ratio:0.4";
    planning.preconditioner = "jacobi";
    planning.threads = t->way < ALONE ? 1 : 2;
    if (t->way >= 0) {
        planning.driver = drivers[t->way & 1];
        planning.shape = shapes[t->way < ALONE ? t->way >> 1 & 1 : 1];
        planning.format = formats[t->way >> 2 & 1];
    }
    if (t->way >= ALONE) planning.memory = modes[(t->way - ALONE) / 2];
    t->converged = 1;
    for (int i = 0; i < REPEATS; i++) {
        yoke_plan *plan;
        if (t->way >= ALONE && i > 0) planning.partition = "adaptive:0.4"; /* the cut moves */
        must(yoke_plan_create(t->matrix, &planning, &plan));
        must(yoke_solve(plan, t->b, t->x, NULL));
        t->converged &= yoke_plan_report(plan)->outcome == YOKE_CONVERGED;
        yoke_plan_destroy(plan);
    }
    return NULL;
}

/* Every way twice, two at a time in two threads, against the CPU. */
static void all_ways(yoke_context *context, const char *spec)
{
    yoke_matrix *matrix;
    must(yoke_matrix_generate(context, spec, &matrix));
    size_t rows = (size_t)yoke_matrix_rows(matrix);
    double *b = malloc(rows * sizeof *b), *x[3];
    int same = 1, converged = 1;
    for (size_t i = 0; i < rows; i++) b[i] = 1.0 + (double)(i % 13);
    for (int i = 0; i < 3; i++) x[i] = calloc(rows, sizeof *b);
    task on_cpu = {matrix, b, x[2], -1, 0};
    solve(&on_cpu);
    for (int way = 0; way < WAYS; way++) {
        task t[2] = {{matrix, b, x[0], way, 0}, {matrix, b, x[1], (way + 3) % WAYS, 0}};
        pthread_t thread[2];
        for (int i = 0; i < 2; i++)
            if (pthread_create(&thread[i], NULL, solve, &t[i]) != 0) exit(2);
        for (int i = 0; i < 2; i++) {
            pthread_join(thread[i], NULL);
            converged &= t[i].converged;
            same &= memcmp(x[i], x[2], rows * sizeof *b) == 0;
        }
    }
    printf("%s\n", spec);
    claim(on_cpu.converged && converged, "every way converges, two at a time");
    claim(same, "every way gives the bits of the CPU");
    yoke_matrix_destroy(matrix);
    for (int i = 0; i < 3; i++) free(x[i]);
    free(b);
}

int main(void)
{
    yoke_context *context;
    must(yoke_context_create(NULL, &context));
    all_ways(context, "poisson2d5:9");
    all_ways(context, "elasticity3d:3");
    all_ways(context, "poisson2d5:30"); /* four chunks, so that threads have some */
    claim(fake_total(fake_live()) == 0 && fake_waiting() == 0, "nothing is left on the device");
    yoke_context_destroy(context);
    printf("fake_stress: %d claims failed\n", failures);
    return failures ? 1 : 0;
}
