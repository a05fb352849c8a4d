/* SPDX-License-Identifier: BSD-3-Clause */
/* stress.c: the meeting of owners under load, as a plain program that prints one line a claim: for
 * the thread sanitizer, for valgrind and for foreign processors, where Criterion does not start. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yoke.h>
#include <yoke_io.h>

static int failures;

static void claim(int holds, const char *text)
{
    printf("%s: %s\n", holds ? "holds" : "FAILS", text);
    if (!holds) failures++;
}

/* A status that is not expected ends the program: nothing after it means anything. */
static void must(yoke_status status)
{
    if (status == YOKE_OK) return;
    fprintf(stderr, "stress: %s\n", yoke_error_text());
    exit(2);
}

typedef struct task {
    yoke_matrix *matrix;
    const double *b;
    double *x;
    yoke_plan_options planning;
    yoke_outcome outcome;
} task;

static void *solve(void *user)
{
    task *t = user;
    yoke_plan *plan;
    must(yoke_plan_create(t->matrix, &t->planning, &plan));
    must(yoke_solve(plan, t->b, t->x, NULL));
    t->outcome = yoke_plan_report(plan)->outcome;
    yoke_plan_destroy(plan);
    return NULL;
}

static task task_of(yoke_matrix *matrix, const double *b, double *x, const char *shape, int parts,
                    int threads)
{
    task t = {matrix, b, x, yoke_plan_defaults(), YOKE_BREAKDOWN};
    t.planning.shape = shape;
    t.planning.parts = parts;
    t.planning.threads = threads;
    t.planning.preconditioner = parts % 2 ? "jacobi" : "none";
    return t;
}

/* Every shape, parts and threads against one part and one thread, by one recurrence. */
static void splits(yoke_context *context, const char *spec, const char *solver)
{
    static const char *const shapes[] = {"unfolded", "folded"};
    int folds = strcmp(solver, "cg") == 0;
    yoke_matrix *matrix;
    must(yoke_matrix_generate(context, spec, &matrix));
    size_t rows = (size_t)yoke_matrix_rows(matrix);
    double *b = malloc(rows * sizeof *b), *x = malloc(rows * sizeof *x);
    double *expected[2] = {malloc(rows * sizeof *b), malloc(rows * sizeof *b)};
    int same = 1, converged = 1;
    for (size_t i = 0; i < rows; i++) b[i] = 1.0 + (double)(i % 13);
    for (int odd = 0; odd < 2; odd++) {
        task t = task_of(matrix, b, expected[odd], "unfolded", 1, 1);
        t.planning.preconditioner = odd ? "jacobi" : "none";
        t.planning.solver = solver;
        solve(&t);
    }
    for (int s = 0; s < 1 + folds; s++)
        for (int parts = 1; parts <= 4; parts++)
            for (int threads = 1; threads <= 4; threads++) {
                task t = task_of(matrix, b, x, shapes[s], parts, threads);
                t.planning.solver = solver;
                solve(&t);
                converged &= t.outcome == YOKE_CONVERGED;
                same &= memcmp(x, expected[parts % 2], rows * sizeof *x) == 0;
            }
    printf("%s, %s\n", spec, solver);
    claim(converged, "every split converges");
    claim(same, "every split gives the same bits");
    yoke_matrix_destroy(matrix);
    for (int i = 0; i < 2; i++) free(expected[i]);
    free(b);
    free(x);
}

static void two_at_once(yoke_context *context)
{
    yoke_matrix *matrix;
    must(yoke_matrix_generate(context, "poisson2d5:40", &matrix));
    size_t rows = (size_t)yoke_matrix_rows(matrix);
    double *b = malloc(rows * sizeof *b), *x[2];
    pthread_t thread[2];
    task t[2];
    for (size_t i = 0; i < rows; i++) b[i] = 1.0;
    for (int i = 0; i < 2; i++) {
        x[i] = malloc(rows * sizeof *b);
        t[i] = task_of(matrix, b, x[i], i ? "folded" : "unfolded", 2, 2);
        if (pthread_create(&thread[i], NULL, solve, &t[i]) != 0) exit(2);
    }
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    claim(memcmp(x[0], x[1], rows * sizeof *b) == 0, "two plans of one matrix solve at once");
    yoke_matrix_destroy(matrix);
    free(x[0]);
    free(x[1]);
    free(b);
}

int main(void)
{
    yoke_context *context;
    must(yoke_context_create(NULL, &context));
    static const char *const solvers[] = {"cg", "cg-single", "cg-pipelined"};
    for (int i = 0; i < 3; i++) {
        splits(context, "poisson2d5:30", solvers[i]);
        splits(context, "graph:1500:6:1", solvers[i]);
        splits(context, "elasticity3d:5", solvers[i]);
    }
    two_at_once(context);
    yoke_context_destroy(context);
    printf("stress: %d claims failed\n", failures);
    return failures ? 1 : 0;
}
