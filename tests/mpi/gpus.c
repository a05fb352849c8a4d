/* SPDX-License-Identifier: BSD-3-Clause */
/* gpus.c: ranks with GPUs against the same solve in one process on the CPU. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yoke_tools.h>

#include "tests/mpi/claims.h"

static const char *partition = "gpu", *home;

static yoke_plan_options plan_with(const char *memory, const char *driver, const char *format,
                                   const char *preconditioner)
{
    yoke_plan_options options = yoke_plan_defaults();
    options.partition = partition;
    options.home = home;
    options.memory = memory;
    options.driver = driver;
    options.format = format;
    options.preconditioner = preconditioner;
    options.threads = strcmp(partition, "gpu") == 0 ? 1 : 2;
    return options;
}

/* The CPU's, whose bits are everyone's. */
static void solve_whole(whole *w, const char *preconditioner)
{
    yoke_plan_options options = yoke_plan_defaults();
    options.partition = "cpu";
    options.preconditioner = preconditioner;
    whole_solve(w, &options, NULL);
}

static piece solved(const whole *w, int cut, const yoke_plan_options *options)
{
    piece p = piece_of(w, cut, NULL);
    piece_make(&p, options);
    piece_solve(&p, NULL);
    if (p.status != YOKE_OK) printf("rank %d: %s\n", my_rank, yoke_error_text());
    return p;
}

/* --------------------------------------------------------------- solutions */

static void solves_alike(const whole *w, const char *spec, const yoke_plan_options *options)
{
    char text[200];
    for (int cut = 0; cut < 3; cut++) {
        static const char *const cuts[] = {"on chunks", "anywhere", "all rows on one rank"};
        piece p = solved(w, cut, options);
        bool close = p.status == YOKE_OK && p.report.outcome == YOKE_CONVERGED &&
                     llabs(p.report.iterations - w->report.iterations) <= 1 &&
                     p.report.residual_true <= p.report.bound;
        snprintf(text, sizeof text, "%s, %s, %s%s%s, %s, %s, %s, cuts %s: %s", spec,
                 options->partition, home ? home : "", home ? ", " : "", options->memory,
                 options->driver, options->format, options->preconditioner, cuts[cut],
                 cut == 1 ? "as many iterations within one" : "the same bits");
        claim(text, cut == 1 ? close : same_bits(&p, w));
        piece_free(&p);
    }
}

/* Each time another system, and with it a preconditioner. */
static void solves_in(const char *memory, const char *driver, const char *format)
{
    static const char *const specs[] = {"poisson3d7:18", "random_spd:3000:9:3", "elasticity3d:6"};
    static const char *const preconditioners[] = {"none", "jacobi", "jacobi"};
    static int number;
    const int s = number++ % 3;
    whole w = whole_of(specs[s]);
    yoke_plan_options options = plan_with(memory, driver, format, preconditioners[s]);
    solve_whole(&w, preconditioners[s]);
    solves_alike(&w, specs[s], &options);
    whole_free(&w);
}

/* Of a large part whose chunks begin anywhere, sums climb several stages. */
static void solves_long_parts(void)
{
    whole w = whole_of("poisson2d5:400");
    yoke_solve_options limit = yoke_solve_defaults();
    yoke_plan_options alone = yoke_plan_defaults(), options = plan_with(NULL, NULL, NULL, NULL);
    limit.fixed_iterations = 1;
    limit.maxit = 6;
    alone.partition = "cpu";
    whole_solve(&w, &alone, &limit);
    piece p = piece_of(&w, 0, NULL);
    piece_make(&p, &options);
    piece_solve(&p, &limit);
    claim("160000 rows: the same bits after 6 iterations", same_bits(&p, &w));
    piece_free(&p);
    whole_free(&w);
}

static void reports_owners(void)
{
    whole w = whole_of("poisson3d7:24");
    yoke_plan_options options = plan_with(NULL, NULL, NULL, NULL);
    solve_whole(&w, NULL);
    piece p = solved(&w, 0, &options);
    const char *reason, *notices = p.report.notices ? p.report.notices : "";
    int count = yoke_gpu_count(&reason), expected = count < all_ranks ? count : all_ranks;
    bool shared = all_ranks > count;
    claim("the report counts each GPU once, and its rows",
          p.status == YOKE_OK && p.report.gpus == expected && p.report.ranks == all_ranks &&
              p.report.cpu_rows == 0 && is_alike(&p.report.residual_true, sizeof(double)) &&
              is_alike(&p.report.bytes_per_iteration, sizeof(double)));
    claim("  the path of exchange is told", strstr(notices, "exchange staged") != NULL);
    claim("  and who shares a GPU, who then gets driver stream",
          (strstr(notices, "share one") != NULL) == shared &&
              (count % all_ranks == 0 || !shared || my_rank >= all_ranks - count ||
               strcmp(p.report.driver, "stream") == 0));
    piece_free(&p);
    options.partition = "ratio:0.5";
    p = solved(&w, 0, &options);
    claim("rows of the CPUs are counted over ranks",
          p.status == YOKE_OK && is_alike(&p.report.cpu_rows, sizeof p.report.cpu_rows) &&
              llabs(2 * p.report.cpu_rows - w.rows) <= 2 * 256 * all_ranks);
    piece_free(&p);
    whole_free(&w);
}

/* ----------------------------------------------------------------- outcomes */

static void meets_outcomes(void)
{
    whole w = whole_of("poisson2d5:40");
    yoke_plan_options options = plan_with(NULL, NULL, NULL, "jacobi");
    piece p = piece_of(&w, 1, NULL);
    if (my_rank == all_ranks - 1) p.b[p.count - 1] = NAN;
    piece_make(&p, &options);
    piece_solve(&p, NULL);
    claim("a NaN in b of one rank: not finite on all, the row named",
          p.status == YOKE_OK && p.report.outcome == YOKE_NOT_FINITE && p.report.row == w.rows - 1);
    memset(p.b, 0, (size_t)p.count * sizeof *p.b);
    piece_solve(&p, NULL);
    claim("b = 0: x = 0 at once",
          p.status == YOKE_OK && p.report.outcome == YOKE_CONVERGED && p.report.iterations == 0);
    int64_t last = my_rank == all_ranks - 1 ? p.start[p.count] - 1 : -1;
    if (last >= 0) p.value[last] = -4.0;
    for (int64_t i = 0; i < p.count; i++) p.b[i] = 1.0;
    bool updated = on_all(yoke_matrix_update_values(p.matrix, p.value) == YOKE_OK);
    piece_solve(&p, NULL);
    claim("a negative diagonal on one rank: indefinite on all, the row named",
          updated && p.status == YOKE_OK && p.report.outcome == YOKE_INDEFINITE &&
              p.report.row == w.rows - 1);
    piece_free(&p);
    options = plan_with(NULL, NULL, NULL, NULL);
    p = piece_of(&w, 1, NULL);
    for (int64_t k = 0; k < p.start[p.count]; k++) p.value[k] = -p.value[k];
    piece_make(&p, &options);
    piece_solve(&p, NULL);
    claim("-A: indefinite at iteration 1",
          p.status == YOKE_OK && p.report.outcome == YOKE_INDEFINITE && p.report.iterations == 1);
    piece_free(&p);
    whole_free(&w);
}

static void takes_nullspaces(void)
{
    whole w = whole_of("poisson2d5:40");
    yoke_plan_options options = plan_with(NULL, NULL, NULL, "jacobi");
    options.nullspace = YOKE_NULLSPACE_CONSTANT;
    yoke_plan_options alone = options;
    alone.partition = "cpu";
    whole_solve(&w, &alone, NULL);
    piece p = solved(&w, 0, &options);
    claim("a declared nullspace: the same bits", same_bits(&p, &w));
    piece_free(&p);
    whole_free(&w);
}

static int stops_here(void *user, int64_t iteration, double norm)
{
    (void)user;
    (void)norm;
    return my_rank == all_ranks - 1 && iteration == 5;
}

static void stops_alike(void)
{
    whole w = whole_of("poisson2d5:60");
    yoke_plan_options plan = plan_with(NULL, NULL, NULL, NULL);
    piece p = piece_of(&w, 1, NULL);
    piece_make(&p, &plan);
    yoke_solve_options options = yoke_solve_defaults();
    options.monitor = stops_here;
    piece_solve(&p, &options);
    claim("a monitor that stops one rank stops all",
          p.status == YOKE_OK && p.report.outcome == YOKE_STOPPED && p.report.iterations == 5);
    options = yoke_solve_defaults();
    options.rtol = options.atol = 0.0;
    options.maxit = 100000000;
    options.max_seconds = 0.2;
    piece_solve(&p, &options);
    claim("a limit of time ends all at one iteration",
          p.status == YOKE_OK && p.report.outcome == YOKE_TIME_LIMIT &&
              is_alike(&p.report.iterations, sizeof p.report.iterations));
    options = yoke_solve_defaults();
    options.maxit = 7;
    double history[8] = {0.0};
    options.history = history;
    options.history_capacity = 8;
    piece_solve(&p, &options);
    claim("a limit of iterations, with its history alike",
          p.status == YOKE_OK && p.report.outcome == YOKE_ITERATION_LIMIT &&
              p.report.history_length == 8 && history[7] > 0.0 &&
              is_alike(history, sizeof history));
    piece_free(&p);
    whole_free(&w);
}

static void solves_many(void)
{
    whole w = whole_of("poisson3d7:16");
    yoke_plan_options options = plan_with(NULL, NULL, NULL, "jacobi");
    solve_whole(&w, "jacobi");
    piece p = solved(&w, 0, &options);
    size_t rows = (size_t)p.count;
    double *b = calloc(2 * rows + 1, sizeof *b), *x = calloc(2 * rows + 1, sizeof *x);
    for (size_t i = 0; i < rows; i++) b[i] = p.b[i], b[rows + i] = 2.0 * p.b[i];
    yoke_status status = yoke_solve_many(p.plan, 2, b, p.count, x, p.count, NULL);
    bool same = status == YOKE_OK && memcmp(x, w.x + p.first, rows * sizeof *x) == 0;
    for (size_t i = 0; i < rows && same; i++) same = x[rows + i] == 2.0 * x[i];
    claim("two right-hand sides: the bits of one, and of its double", same);
    for (int64_t k = 0; k < p.start[p.count]; k++) p.value[k] *= 2.0;
    for (size_t i = 0; i < rows; i++) p.b[i] *= 2.0;
    same = on_all(yoke_matrix_update_values(p.matrix, p.value) == YOKE_OK);
    piece_solve(&p, NULL);
    claim("values that doubled, with b: the same bits of x, on the same plan",
          same && p.status == YOKE_OK && memcmp(p.x, w.x + p.first, rows * sizeof *x) == 0);
    free(b);
    free(x);
    piece_free(&p);
    whole_free(&w);
}

/* ----------------------------------------------------------------- refusals */

static int leave_alone(void *user, int nrhs, const double *in, double *out, yoke_space space,
                       void *stream)
{
    (void)user, (void)nrhs, (void)in, (void)out, (void)space, (void)stream;
    return 1;
}

static void refuses(const char *what, yoke_plan_options options, yoke_status status,
                    const char *word)
{
    char text[160];
    whole w = whole_of("poisson2d5:40");
    piece p = piece_of(&w, 1, NULL);
    if (options.apply_preconditioner)
        ((yoke_operator *)options.apply_preconditioner)->rows = p.count;
    piece_make(&p, &options);
    snprintf(text, sizeof text, "%s: refused on all, by name", what);
    bool alike = is_alike(&p.status, sizeof p.status);
    bool named = p.status == status && strstr(yoke_error_text(), word);
    if (!named && p.status != YOKE_OK) printf("rank %d: %s\n", my_rank, yoke_error_text());
    claim(text, alike && named);
    piece_free(&p);
    whole_free(&w);
}

static void refuses_by_name(void)
{
    yoke_operator user = yoke_operator_defaults();
    user.apply = leave_alone;
    yoke_plan_options options = plan_with(NULL, NULL, NULL, NULL);
    options.apply_preconditioner = &user;
    refuses("a caller's preconditioner", options, YOKE_UNSUITABLE, "of the caller's");
    options = plan_with(NULL, "persistent", NULL, NULL);
    refuses("driver persistent", options, YOKE_UNSUITABLE, "persistent");
    options = plan_with(NULL, NULL, NULL, NULL);
    options.partition = "adaptive";
    refuses("a cut that moves", options, YOKE_UNSUITABLE, "adaptive");
    options.partition = "model";
    refuses("a cut that is measured", options, YOKE_UNSUITABLE, "model");
    options = plan_with("explicit", NULL, NULL, NULL);
    options.home = "shared";
    refuses("whole vectors copied", options, YOKE_UNSUITABLE, "home shared");
    options = plan_with(NULL, NULL, NULL, NULL);
    options.device = 4000;
    refuses("a device that is not there", options, YOKE_UNUSABLE, "4000");
    options = plan_with(NULL, NULL, NULL, NULL);
    options.solver = "cg-single";
    refuses("a recurrence with one sum", options, YOKE_UNSUITABLE, "GPUs over ranks");
    options = yoke_plan_defaults();
    options.devices = (const int[]){0, 0};
    options.device_count = 2;
    refuses("several GPUs a rank", options, YOKE_UNSUITABLE, "several ranks");
    if (all_ranks == 1) return;
    options = plan_with(NULL, NULL, NULL, NULL);
    if (my_rank == 1) options.partition = "ratio:0.5";
    refuses("partitions that differ", options, YOKE_INVALID, "options");
}

static void solves_in_all_ways(void)
{
    static const char *const partitions[] = {"gpu", "ratio:0.5", "nonzeros:0.3"};
    for (size_t k = 0; k < sizeof partitions / sizeof *partitions; k++) {
        partition = partitions[k];
        solves_in("explicit", "stream", "csr");
        solves_in("explicit", "graph", "sell");
        solves_in("mapped", "graph", "csr");
        solves_in("mapped", "stream", "sell");
        solves_in("managed", "stream", "csr");
    }
    partition = "gpu";
    home = "spill:0.5";
    solves_in("mapped", "graph", "sell");
    home = "shared";
    solves_in("managed", "stream", "csr");
    home = NULL;
}

static bool gpu_is_there(void)
{
    const char *reason = "", *required = getenv("YOKE_REQUIRE_GPU");
    if (on_all(yoke_gpu_count(&reason) > 0)) return true;
    if (required && *required) claim("a GPU is there", false);
    if (my_rank == 0) printf("SKIPPED: ranks with GPUs: %s\n", reason);
    return false;
}

int main(int argc, char **argv)
{
    claims_begin(&argc, &argv);
    if (!gpu_is_there()) return claims_end();
    solves_in_all_ways();
    solves_long_parts();
    reports_owners();
    meets_outcomes();
    takes_nullspaces();
    stops_alike();
    solves_many();
    refuses_by_name();
    return claims_end();
}
