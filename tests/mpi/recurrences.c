/* SPDX-License-Identifier: BSD-3-Clause */
/* recurrences.c: cg, cg-single and cg-pipelined over ranks: the bits of one process, how often
 * ranks meet, what travels beside the product, and failures of every kind on one rank. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/mpi/claims.h"

static const char *const solvers[] = {"cg", "cg-single", "cg-pipelined"};

static yoke_plan_options by(const char *solver, const char *preconditioner, int threads)
{
    yoke_plan_options options = yoke_plan_defaults();
    options.solver = solver;
    options.preconditioner = preconditioner;
    options.threads = threads;
    return options;
}

/* ------------------------------------------------------------- what MPI sees */

/* PMPI lets a program stand between the library and MPI. */
static struct {
    int64_t blocking, begun; /* all-reduces */
    int64_t tests, hidden;   /* calls in which MPI moves what is under way; of these beside sums */
    bool reducing;
    int64_t starts, waits, fail_start, fail_wait; /* the call that fails once it is done; 0: none */
} seen;

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    seen.blocking++;
    return PMPI_Allreduce(in, out, count, type, op, comm);
}

int MPI_Iallreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request)
{
    seen.begun++;
    seen.reducing = true;
    return PMPI_Iallreduce(in, out, count, type, op, comm, request);
}

int MPI_Testall(int count, MPI_Request request[], int *done, MPI_Status status[])
{
    seen.tests++;
    seen.hidden += seen.reducing;
    return PMPI_Testall(count, request, done, status);
}

int MPI_Waitall(int count, MPI_Request request[], MPI_Status status[])
{
    int code = PMPI_Waitall(count, request, status);
    seen.reducing = false;
    if (count > 1) seen.waits++; /* for a halo, which comes and goes */
    return count > 1 && seen.waits == seen.fail_wait ? MPI_ERR_OTHER : code;
}

int MPI_Startall(int count, MPI_Request request[])
{
    int code = PMPI_Startall(count, request);
    return ++seen.starts == seen.fail_start ? MPI_ERR_OTHER : code;
}

/* --------------------------------------------------------------- solutions */

static bool is_close(const piece *p, const whole *w)
{
    return p->status == YOKE_OK && p->report.outcome == w->report.outcome &&
           llabs(p->report.iterations - w->report.iterations) <= 1 &&
           p->report.residual_true <= p->report.bound;
}

static void solves_alike(const char *spec, const char *preconditioner, int threads, int second)
{
    static const char *const cuts[] = {"on chunks: the same bits",
                                       "anywhere: as many iterations within one",
                                       "leave all to one: the same bits"};
    char text[160];
    whole w = whole_of(spec);
    for (int k = 0; k < 3; k++) {
        yoke_plan_options options = by(solvers[k], preconditioner, threads);
        whole_solve(&w, &options, NULL);
        for (int cut = 0; cut <= second; cut += second) {
            piece p = piece_of(&w, cut, NULL);
            piece_make(&p, &options);
            piece_solve(&p, NULL);
            snprintf(text, sizeof text, "%s, %s, %s, cuts %s", spec, solvers[k], preconditioner,
                     cuts[cut]);
            claim(text, (cut == 1 ? is_close(&p, &w) : same_bits(&p, &w)) &&
                            strcmp(p.report.solver, solvers[k]) == 0);
            piece_free(&p);
        }
    }
    whole_free(&w);
}

/* To where round-off lets nothing get smaller, with renewals on the way. */
static double least(const whole *w, const char *solver, yoke_report *of_one, bool *alike)
{
    whole one = *w;
    yoke_plan_options options = by(solver, "none", 1);
    yoke_solve_options solve = yoke_solve_defaults();
    solve.rtol = 1e-18;
    whole_solve(&one, &options, &solve);
    piece p = piece_of(w, 0, NULL);
    piece_make(&p, &options);
    piece_solve(&p, &solve);
    *alike = *alike && same_bits(&p, &one) && p.report.replacements == one.report.replacements;
    *of_one = one.report;
    piece_free(&p);
    return one.report.residual_true;
}

static void are_as_accurate(const char *spec)
{
    char text[160];
    whole w = whole_of(spec);
    bool alike = true, good = true;
    yoke_report report;
    double classical = least(&w, "cg", &report, &alike);
    for (int k = 1; k < 3; k++)
        good = good && least(&w, solvers[k], &report, &alike) <= 2 * classical;
    snprintf(text, sizeof text, "%s: the least true residual within 2 times that of cg", spec);
    claim(text, good);
    claim("  with the bits and the renewals of one process", alike && report.replacements > 0);
    whole_free(&w);
}

static void projects_a_nullspace(void)
{
    whole w = whole_of("graph:1500:6:2");
    for (int64_t i = 0; i < w.rows; i++) w.b[i] = i % 2 ? 1.0 : -1.0;
    for (int k = 1; k < 3; k++) {
        yoke_plan_options options = by(solvers[k], "jacobi", 1);
        options.nullspace = YOKE_NULLSPACE_CONSTANT;
        yoke_solve_options solve = yoke_solve_defaults();
        solve.maxit = 20;
        whole_solve(&w, &options, &solve);
        piece p = piece_of(&w, 0, NULL);
        piece_make(&p, &options);
        piece_solve(&p, &solve);
        claim("means taken out: the same bits", same_bits(&p, &w));
        piece_free(&p);
    }
    whole_free(&w);
}

static void meets_few_rows(void)
{
    static const int32_t start[] = {0, 2, 5, 7}, column[] = {0, 1, 0, 1, 2, 1, 2};
    static const double value[] = {2, -1, -1, 2, -1, -1, 2};
    whole w = whole_of_arrays(3, start, column, value);
    for (int k = 1; k < 3; k++) {
        yoke_plan_options options = by(solvers[k], "none", 2);
        piece p = piece_of(&w, 1, NULL);
        piece_make(&p, &options);
        piece_solve(&p, NULL);
        claim("3 rows", p.status == YOKE_OK && p.report.outcome == YOKE_CONVERGED);
        piece_free(&p);
    }
    whole_free(&w);
}

/* -------------------------------------------------------------- reductions */

static void count(piece *p, int64_t iterations, int64_t *blocking, int64_t *begun)
{
    yoke_solve_options options = yoke_solve_defaults();
    options.maxit = iterations;
    options.fixed_iterations = 1;
    *blocking = seen.blocking;
    *begun = seen.begun;
    piece_solve(p, &options);
    *blocking = seen.blocking - *blocking;
    *begun = seen.begun - *begun;
}

/* In 20 more iterations, without renewals. */
static void counts_reductions(void)
{
    whole w = whole_of("poisson3d7:16");
    for (int k = 0; k < 3; k++) {
        static const int64_t expected[][2] = {{40, 0}, {20, 0}, {0, 20}};
        int64_t few[2], many[2];
        yoke_plan_options options = by(solvers[k], "jacobi", 1);
        piece p = piece_of(&w, 0, NULL);
        piece_make(&p, &options);
        count(&p, 5, &few[0], &few[1]);
        count(&p, 25, &many[0], &many[1]);
        bool right = p.status == YOKE_OK;
        for (int i = 0; i < 2; i++)
            right = right && many[i] - few[i] == (all_ranks > 1 ? expected[k][i] : 0);
        claim(k == 0   ? "cg: two all-reduces an iteration"
              : k == 1 ? "cg-single: one"
                       : "cg-pipelined: one, that does not block",
              right);
        piece_free(&p);
    }
    whole_free(&w);
}

/* While the sums are on their way the first worker multiplies, and looks after them. */
static void sums_travel_beside_the_product(void)
{
    whole w = whole_of("poisson3d7:40");
    yoke_plan_options options = by("cg-pipelined", "none", 1);
    yoke_solve_options solve = yoke_solve_defaults();
    solve.maxit = 20;
    solve.fixed_iterations = 1;
    piece p = piece_of(&w, 0, NULL);
    piece_make(&p, &options);
    int64_t before = seen.hidden;
    piece_solve(&p, &solve);
    claim("MPI is called between the pieces of every product that sums travel beside",
          p.status == YOKE_OK && (all_ranks == 1 || seen.hidden - before >= 19 * 3));
    piece_free(&p);
    whole_free(&w);
}

/* ---------------------------------------------------------------- failures */

/* Of one rank, after it is done, so that nobody waits for what never comes. */
static void tells_of_a_failed_call(const char *solver, bool of_wait)
{
    char text[160];
    whole w = whole_of("poisson2d5:30");
    bool alike = true, named = true;
    int failures = 0;
    for (int64_t n = 1; n < 24 && all_ranks > 1; n += 1 + n / 3) {
        yoke_plan_options options = by(solver, "none", n < 4 ? 2 : 1);
        piece p = piece_of(&w, 0, NULL);
        piece_make(&p, &options);
        yoke_solve_options solve = yoke_solve_defaults();
        solve.maxit = 10;
        solve.fixed_iterations = 1;
        int64_t *fail = of_wait ? &seen.fail_wait : &seen.fail_start;
        *fail = my_rank == all_ranks - 1 ? (of_wait ? seen.waits : seen.starts) + n : 0;
        piece_solve(&p, &solve);
        *fail = 0;
        bool failed = p.status != YOKE_OK;
        alike = is_alike(&p.status, sizeof p.status) && alike;
        named = named && (!failed || p.status == YOKE_COMMUNICATION);
        failures += failed;
        piece_free(&p);
    }
    snprintf(text, sizeof text, "%s: a failure of MPI in %s on one rank fails all, and none hangs",
             solver, of_wait ? "waiting" : "starting");
    claim(text, alike && named && (all_ranks == 1 || failures > 4));
    whole_free(&w);
}

typedef struct memory {
    int64_t left; /* requests until one is refused; negative: never */
} memory;

static void *allocate(void *user, size_t alignment, size_t bytes)
{
    memory *m = user;
    if (m->left == 0) return NULL;
    if (m->left > 0) m->left--;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void release(void *user, void *given, size_t bytes)
{
    (void)user;
    (void)bytes;
    free(given);
}

static void agrees_on_memory(const char *solver)
{
    whole w = whole_of("poisson2d5:20");
    bool alike = true, solved = false;
    int refusals = 0;
    for (int64_t n = 0; n < 200 && !solved; n += 3) {
        memory m = {my_rank == all_ranks - 1 ? n : -1};
        yoke_context_options context = yoke_context_defaults();
        context.allocate = allocate;
        context.release = release;
        context.memory_user = &m;
        context.threads = 1;
        yoke_plan_options options = by(solver, "jacobi", 1);
        piece p = piece_of(&w, 1, &context);
        piece_make(&p, &options);
        piece_solve(&p, NULL);
        alike = is_alike(&p.status, sizeof p.status) && alike &&
                (p.status == YOKE_OK || p.status == YOKE_NO_MEMORY);
        solved = on_all(p.status == YOKE_OK);
        refusals += !solved;
        piece_free(&p);
    }
    claim("a rank out of memory, at every third request: the same status on all, nobody hangs",
          alike && solved && refusals > 10);
    whole_free(&w);
}

static void agrees_on_a_nan(const char *solver, bool in_b)
{
    whole w = whole_of("poisson2d5:20");
    yoke_plan_options options = by(solver, "none", 1);
    piece p = piece_of(&w, 1, NULL);
    piece_make(&p, &options);
    piece_solve(&p, NULL);
    bool good = p.status == YOKE_OK && p.report.outcome == YOKE_CONVERGED;
    if (my_rank == all_ranks - 1 && in_b) p.b[p.count - 1] = NAN;
    if (my_rank == all_ranks - 1 && !in_b) p.value[p.start[p.count] - 1] = NAN;
    good = on_all(in_b || yoke_matrix_update_values(p.matrix, p.value) == YOKE_OK) && good;
    piece_solve(&p, NULL);
    claim(in_b ? "a NaN in b of one rank: not finite on all, the row named"
               : "a NaN in the matrix of one rank: not finite on all, the row named",
          good && p.status == YOKE_OK && p.report.outcome == YOKE_NOT_FINITE &&
              p.report.row == w.rows - 1);
    piece_free(&p);
    whole_free(&w);
}

static int stops_here(void *user, int64_t iteration, double norm)
{
    (void)user;
    (void)norm;
    return my_rank == all_ranks - 1 && iteration == 5;
}

static void stops_alike(const char *solver)
{
    whole w = whole_of("poisson2d5:30");
    yoke_plan_options options = by(solver, "none", 1);
    piece p = piece_of(&w, 1, NULL);
    piece_make(&p, &options);
    yoke_solve_options solve = yoke_solve_defaults();
    solve.monitor = stops_here;
    piece_solve(&p, &solve);
    bool good = p.status == YOKE_OK && p.report.outcome == YOKE_STOPPED && p.report.iterations == 5;
    solve = yoke_solve_defaults();
    solve.rtol = solve.atol = 0.0;
    solve.maxit = 100000000;
    solve.max_seconds = 0.1;
    piece_solve(&p, &solve);
    claim("a monitor that stops one rank stops all, and a limit of time",
          good && p.status == YOKE_OK && p.report.outcome == YOKE_TIME_LIMIT &&
              is_alike(&p.report.iterations, sizeof p.report.iterations));
    piece_free(&p);
    whole_free(&w);
}

int main(int argc, char **argv)
{
    claims_begin(&argc, &argv);
    solves_alike("poisson3d7:10", "none", 2, 1);
    solves_alike("elasticity3d:6", "jacobi", 1, 2);
    solves_alike("random_spd:1500:9:3", "none", 1, 1);      /* all rows have a halo */
    if (all_ranks < 3) are_as_accurate("jumps3d7:8:1e3:1"); /* many iterations */
    projects_a_nullspace();
    meets_few_rows();
    counts_reductions();
    sums_travel_beside_the_product();
    for (int k = 0; k < 3; k++) {
        tells_of_a_failed_call(solvers[k], false);
        tells_of_a_failed_call(solvers[k], true);
    }
    agrees_on_memory("cg-pipelined"); /* of cg: ranks.c */
    agrees_on_a_nan("cg-single", true);
    agrees_on_a_nan("cg-pipelined", false);
    stops_alike("cg-single");
    stops_alike("cg-pipelined");
    return claims_end();
}
