/* SPDX-License-Identifier: BSD-3-Clause */
/* test_threads.c: teams where fewer threads come than were asked for. */
#include <pthread.h>
#include <stdatomic.h>

#include "lib/threads.h"
#include "tests/systems.h"

static void count_rows(void *user, int64_t first, int64_t last)
{
    atomic_fetch_add((atomic_llong *)user, last - first);
}

static void shares_all(int threads)
{
    atomic_llong rows = 0;
    yk_parallel_for(threads, 1000, 1, count_rows, &rows);
    cr_assert_eq(atomic_load(&rows), 1000);
}

static yoke_report solve_on(int threads)
{
    yoke_plan_options planning = yoke_plan_defaults();
    planning.threads = threads;
    yoke_context *context = new_context();
    double *b = filled(4096, 1.0), *x = filled(4096, 0.0);
    return solve_with(generated(context, "poisson2d5:64"), &planning, b, x, NULL);
}

#ifdef _OPENMP

Test(threads, a_report_names_the_threads_that_came)
{
    yoke_report report = {0};
    cr_assert_eq(solve_on(2).threads, 2);
#pragma omp parallel num_threads(1)
    report = solve_on(2); /* a region of one thread is inactive: the team is complete */
    cr_assert_eq(report.threads, 2);
    int threads[2] = {0, 0};
    yoke_context *context = new_context();
    yoke_matrix *matrix = generated(context, "poisson2d5:64");
    double *b = filled(4096, 1.0), *x[2] = {filled(4096, 0.0), filled(4096, 0.0)};
    yoke_plan_options planning = yoke_plan_defaults();
    planning.threads = 2;
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 2; i++) threads[i] = solve_with(matrix, &planning, b, x[i], NULL).threads;
    cr_assert_eq(threads[0], 1);
    cr_assert_eq(threads[1], 1);
}

Test(threads, a_system_that_starts_no_thread_is_worked_on_by_the_caller_alone)
{
    pthread_attr_t attributes; /* a stack that no address space holds */
    cr_assert_eq(pthread_attr_init(&attributes), 0);
    cr_assert_eq(pthread_attr_setstacksize(&attributes, (size_t)1 << 60), 0);
    cr_assert_eq(pthread_setattr_default_np(&attributes), 0);
    pthread_attr_destroy(&attributes);
    cr_assert_eq(yk_team_size(4), 1);
    shares_all(4);
    yoke_report report = solve_on(4);
    cr_assert_eq(report.outcome, YOKE_CONVERGED);
    cr_assert_eq(report.threads, 1);
}

#endif

Test(threads, a_loop_is_shared_whatever_team_comes)
{
    for (int threads = 1; threads <= 8; threads++) shares_all(threads);
    cr_assert_eq(solve_on(1).threads, 1);
}
