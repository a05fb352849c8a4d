/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_failures.c: ranks with GPUs of a fake runtime, of which one fails: all end alike. */
#include <stdio.h>
#include <string.h>

#include "tests/fake/fake.h"
#include "tests/mpi/claims.h"

static const char *partition = "gpu";

static yoke_plan_options plan_with(const char *memory, const char *driver)
{
    yoke_plan_options options = yoke_plan_defaults();
    options.partition = partition;
    options.memory = memory;
    options.driver = driver;
    options.preconditioner = "jacobi";
    options.threads = strcmp(partition, "gpu") == 0 ? 1 : 2;
    return options;
}

/* cudaErrorLaunchFailure */
enum { FAILURE = 719 };

/* Of the last rank, the nth call of that name from here on fails, n = 1, 2, ..., until none does:
 * as many as fail in a plan and a solve. */
static void one_fails(const whole *w, const char *name, const char *memory, const char *driver)
{
    char text[160];
    int failures = 0;
    bool alike = true, told = true, solved = false;
    yoke_solve_options few = yoke_solve_defaults();
    few.maxit = 4;
    for (long n = 1; !solved && n < 4000; n += n < 6 ? 1 : n / 2) {
        yoke_plan_options options = plan_with(memory, driver);
        piece p = piece_of(w, 1, NULL);
        if (my_rank == all_ranks - 1) fake_fail(name, n, FAILURE);
        piece_make(&p, &options);
        piece_solve(&p, &few);
        fake_fail(name, 0, 0);
        alike = alike && is_alike(&p.status, sizeof p.status);
        solved = on_all(p.status == YOKE_OK);
        told = told && on_all(solved || strstr(yoke_error_text(), "719") ||
                              strstr(yoke_error_text(), "aunch"));
        if (!told) printf("rank %d, %s, call %ld: %s\n", my_rank, name, n, yoke_error_text());
        failures += !solved;
        piece_free(&p);
        if (!alike || !told) break;
    }
    snprintf(text, sizeof text, "%s, %s, %s: each %s of one rank fails (%d): the same words on all",
             partition, memory, driver, name, failures);
    claim(text, alike && told && solved && failures > 0);
}

static void agrees_on_a_device(void)
{
    static const char *const names[] = {"cudaMemcpyAsync", "launch", "cudaEventSynchronize",
                                        "cudaStreamSynchronize", "cudaMalloc"};
    whole w = whole_of("poisson2d5:40");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        one_fails(&w, names[i], "explicit", "stream");
        one_fails(&w, names[i], "mapped", "stream");
    }
    one_fails(&w, "cudaGraphLaunch", "explicit", "graph");
    one_fails(&w, "cudaGraphInstantiate", "explicit", "graph");
    whole_free(&w);
}

static void agrees_beside_the_cpu(void)
{
    whole w = whole_of("poisson2d5:40");
    partition = "ratio:0.5";
    one_fails(&w, "cudaMemcpyAsync", "explicit", "stream");
    one_fails(&w, "launch", "mapped", "stream");
    one_fails(&w, "cudaEventSynchronize", "mapped", "stream");
    partition = "gpu";
    whole_free(&w);
}

static void gives_all_back(void)
{
    whole w = whole_of("poisson2d5:40");
    yoke_plan_options options = plan_with("explicit", "graph");
    long before = fake_total(fake_live());
    piece p = piece_of(&w, 1, NULL);
    piece_make(&p, &options);
    piece_solve(&p, NULL);
    long made = fake_total(fake_made());
    piece_solve(&p, NULL);
    claim("a solve takes nothing of the runtime",
          p.status == YOKE_OK && fake_total(fake_made()) == made);
    piece_free(&p);
    claim("and a plan gives all back", fake_total(fake_live()) == before);
    whole_free(&w);
}

int main(int argc, char **argv)
{
    claims_begin(&argc, &argv);
    agrees_on_a_device();
    agrees_beside_the_cpu();
    gives_all_back();
    return claims_end();
}
