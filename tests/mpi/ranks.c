/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.c: solves over ranks against the same solve in one process; failures on one rank. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/mpi/claims.h"

/* All-reduces that the library makes: PMPI lets a program stand between it and MPI. */
static int64_t reductions;

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    reductions++;
    return PMPI_Allreduce(in, out, count, type, op, comm);
}

static yoke_plan_options plan_with(const char *preconditioner, const char *shape)
{
    yoke_plan_options options = yoke_plan_defaults();
    options.preconditioner = preconditioner;
    options.shape = shape;
    options.threads = 2;
    return options;
}

/* --------------------------------------------------------------- solutions */

static void solves_alike(const char *spec, const char *preconditioner, const char *shape)
{
    char text[160];
    whole w = whole_of(spec);
    yoke_plan_options options = plan_with(preconditioner, shape);
    whole_solve(&w, &options, NULL);
    for (int cut = 0; cut < 3; cut++) {
        static const char *const cuts[] = {"on chunks", "anywhere", "all rows on one rank"};
        piece p = piece_of(&w, cut, NULL);
        piece_make(&p, &options);
        piece_solve(&p, NULL);
        bool close = p.status == YOKE_OK && p.report.outcome == YOKE_CONVERGED &&
                     llabs(p.report.iterations - w.report.iterations) <= 1 &&
                     p.report.residual_true <= p.report.bound;
        snprintf(text, sizeof text, "%s, %s, %s, cuts %s: %s", spec, preconditioner, shape,
                 cuts[cut], cut == 1 ? "as many iterations within one" : "the same bits");
        claim(text, cut == 1 ? close : same_bits(&p, &w));
        claim("  its report is alike on all ranks",
              is_alike(&p.report.residual_true, sizeof(double)) &&
                  is_alike(&p.report.iterations, sizeof p.report.iterations) &&
                  is_alike(&p.report.bytes_per_iteration, sizeof(double)) &&
                  p.report.ranks == all_ranks && p.report.cpu_rows == w.rows);
        piece_free(&p);
    }
    whole_free(&w);
}

/* L(n) with 1 in both corners instead: pure Neumann. */
static whole neumann(int n)
{
    int32_t *start = calloc((size_t)n + 1, sizeof *start), count = 0;
    int32_t *column = calloc(3 * (size_t)n, sizeof *column);
    double *value = calloc(3 * (size_t)n, sizeof *value);
    for (int i = 0; i < n; i++) {
        for (int j = i - 1; j <= i + 1; j++) {
            if (j < 0 || j >= n) continue;
            column[count] = j;
            value[count++] = i != j ? -1.0 : i == 0 || i == n - 1 ? 1.0 : 2.0;
        }
        start[i + 1] = count;
    }
    whole w = whole_of_arrays(n, start, column, value);
    free(start);
    free(column);
    free(value);
    return w;
}

static void meets_singular_systems(void)
{
    whole w = neumann(5);
    for (int i = 0; i < 5; i++) w.b[i] = 1.0;
    piece p = piece_of(&w, 1, NULL);
    piece_make(&p, NULL);
    piece_solve(&p, NULL);
    claim("N(5), b = 1: breakdown at iteration 1",
          p.status == YOKE_OK && p.report.outcome == YOKE_BREAKDOWN && p.report.iterations == 1);
    piece_free(&p);
    whole_free(&w);
    w = neumann(64);
    yoke_plan_options options = yoke_plan_defaults();
    options.nullspace = YOKE_NULLSPACE_CONSTANT;
    p = piece_of(&w, 1, NULL);
    piece_make(&p, &options);
    piece_solve(&p, NULL);
    double sum = 0.0, all = 0.0;
    for (int64_t i = 0; i < p.count; i++) sum += p.x[i];
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    claim("N(64) with a constant nullspace: converged, of mean 0",
          p.status == YOKE_OK && p.report.outcome == YOKE_CONVERGED && fabs(all) < 1e-7);
    piece_free(&p);
    whole_free(&w);
}

static void meets_few_rows(void)
{
    static const int32_t start[] = {0, 2, 5, 7}, column[] = {0, 1, 0, 1, 2, 1, 2};
    static const double value[] = {2, -1, -1, 2, -1, -1, 2};
    static const int32_t alone[] = {0, 1, 2, 3}, diagonal[] = {0, 1, 2};
    static const double two[] = {2, 2, 2};
    whole w = whole_of_arrays(3, start, column, value);
    whole_solve(&w, NULL, NULL);
    piece p = piece_of(&w, 1, NULL);
    piece_make(&p, NULL);
    piece_solve(&p, NULL);
    bool close = p.status == YOKE_OK && p.report.outcome == YOKE_CONVERGED;
    for (int64_t i = 0; i < p.count; i++) close = close && fabs(p.x[i] - w.x[p.first + i]) < 1e-12;
    claim("3 rows", close);
    piece_free(&p);
    whole_free(&w);
    w = whole_of_arrays(3, alone, diagonal, two);
    p = piece_of(&w, 1, NULL);
    piece_make(&p, NULL);
    piece_solve(&p, NULL);
    yoke_share share = yoke_share_defaults();
    claim("ranks without neighbours", p.status == YOKE_OK && p.report.outcome == YOKE_CONVERGED &&
                                          yoke_matrix_share(p.matrix, &share) == YOKE_OK &&
                                          share.neighbours == 0 && share.halo == 0 &&
                                          share.all_rows == 3);
    piece_free(&p);
    whole_free(&w);
}

static void zero_is_solved(void)
{
    whole w = whole_of("poisson2d5:20");
    memset(w.b, 0, (size_t)w.rows * sizeof *w.b);
    piece p = piece_of(&w, 1, NULL);
    piece_make(&p, NULL);
    piece_solve(&p, NULL);
    claim("b = 0: x = 0 at once",
          p.status == YOKE_OK && p.report.outcome == YOKE_CONVERGED && p.report.iterations == 0);
    piece_free(&p);
    whole_free(&w);
}

static void takes_values_again(void)
{
    whole w = whole_of("random_spd:3000:9:5");
    piece p = piece_of(&w, 0, NULL);
    piece_make(&p, NULL);
    piece_solve(&p, NULL);
    for (int64_t k = 0; k < p.start[p.count]; k++) p.value[k] *= 2.0;
    bool good = on_all(p.status == YOKE_OK) &&
                on_all(yoke_matrix_update_values(p.matrix, p.value) == YOKE_OK);
    for (int64_t i = 0; i < p.count; i++) p.b[i] *= 2.0;
    double *before = malloc((size_t)(p.count + 1) * sizeof *before);
    memcpy(before, p.x, (size_t)p.count * sizeof *before);
    piece_solve(&p, NULL);
    claim("values that doubled, with b: the same bits of x, on the same plan",
          good && p.status == YOKE_OK &&
              memcmp(before, p.x, (size_t)p.count * sizeof *before) == 0);
    if (my_rank == all_ranks - 1 && p.count > 0) p.value[0] = NAN;
    good = on_all(yoke_matrix_update_values(p.matrix, p.value) == YOKE_OK);
    piece_solve(&p, NULL);
    claim("a NaN in the matrix of one rank ends all as not finite",
          good && p.status == YOKE_OK && p.report.outcome == YOKE_NOT_FINITE &&
              is_alike(&p.report.row, sizeof p.report.row));
    free(before);
    piece_free(&p);
    whole_free(&w);
}

/* -------------------------------------------------------------- reductions */

static int64_t reductions_of(piece *p, int64_t iterations)
{
    yoke_solve_options options = yoke_solve_defaults();
    options.maxit = iterations;
    options.fixed_iterations = 1;
    int64_t before = reductions;
    piece_solve(p, &options);
    return reductions - before;
}

static void counts_reductions(const char *shape)
{
    whole w = whole_of("poisson3d7:16");
    yoke_plan_options options = plan_with("jacobi", shape);
    piece p = piece_of(&w, 0, NULL);
    piece_make(&p, &options);
    int64_t few = reductions_of(&p, 10), many = reductions_of(&p, 60);
    bool right = all_ranks == 1 ? many == few : many - few == 100;
    claim("two all-reduces an iteration", p.status == YOKE_OK && right);
    piece_free(&p);
    whole_free(&w);
}

/* ---------------------------------------------------------------- failures */

typedef struct memory {
    int64_t left; /* requests until one is refused; negative: never */
    int64_t asked;
} memory;

static void *allocate(void *user, size_t alignment, size_t bytes)
{
    memory *m = user;
    m->asked++;
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

static yoke_context_options with_memory(memory *m)
{
    yoke_context_options options = yoke_context_defaults();
    options.allocate = allocate;
    options.release = release;
    options.memory_user = m;
    options.threads = 1;
    return options;
}

/* Every request of the last rank is refused once, until all are granted. */
static void agrees_on_memory(void)
{
    whole w = whole_of("poisson2d5:40");
    int refusals = 0;
    bool alike = true, solved = false;
    for (int64_t n = 0; n < 200 && !solved; n++) {
        memory m = {my_rank == all_ranks - 1 ? n : -1, 0};
        yoke_context_options context = with_memory(&m);
        piece p = piece_of(&w, 1, &context);
        piece_make(&p, NULL);
        piece_solve(&p, NULL);
        alike = alike && is_alike(&p.status, sizeof p.status) &&
                (p.status == YOKE_OK || p.status == YOKE_NO_MEMORY);
        solved = on_all(p.status == YOKE_OK);
        refusals += !solved;
        piece_free(&p);
    }
    claim("a rank out of memory, at each of its requests: the same status on all, nobody hangs",
          alike && solved && refusals > 10);
    whole_free(&w);
}

static void allocates_nothing_in_a_solve(void)
{
    whole w = whole_of("poisson2d5:40");
    memory m = {-1, 0};
    yoke_context_options context = with_memory(&m);
    piece p = piece_of(&w, 0, &context);
    piece_make(&p, NULL);
    piece_solve(&p, NULL);
    int64_t before = m.asked;
    piece_solve(&p, NULL);
    claim("a solve allocates nothing", p.status == YOKE_OK && m.asked == before);
    piece_free(&p);
    whole_free(&w);
}

static void agrees_on_a_nan(void)
{
    whole w = whole_of("poisson2d5:40");
    piece p = piece_of(&w, 1, NULL);
    if (my_rank == all_ranks - 1) p.b[p.count - 1] = NAN;
    piece_make(&p, NULL);
    piece_solve(&p, NULL);
    claim("a NaN in b of one rank: not finite on all, the row named",
          p.status == YOKE_OK && p.report.outcome == YOKE_NOT_FINITE &&
              p.report.row == w.rows - 1 && is_alike(p.report.detail, 12));
    piece_free(&p);
    whole_free(&w);
}

static void agrees_on_jacobi(void)
{
    whole w = whole_of("poisson2d5:40");
    yoke_plan_options options = plan_with("jacobi", NULL);
    piece p = piece_of(&w, 1, NULL);
    int64_t last = my_rank == all_ranks - 1 ? p.start[p.count] - 1 : -1;
    if (last >= 0) p.value[last] = -4.0;
    piece_make(&p, &options);
    piece_solve(&p, NULL);
    claim("a negative diagonal on one rank: indefinite on all, the row named",
          p.status == YOKE_OK && p.report.outcome == YOKE_INDEFINITE && p.report.row == w.rows - 1);
    piece_free(&p);
    whole_free(&w);
}

static bool fails_alike(piece *p, yoke_status status, const char *word)
{
    bool alike = is_alike(&p->status, sizeof p->status);
    return alike && p->status == status && strstr(yoke_error_text(), word);
}

static void refuses_alike(void)
{
    whole w = whole_of("poisson2d5:40");
    piece p = piece_of(&w, 1, NULL);
    if (my_rank == all_ranks - 1) p.value[0] = -7.0; /* of a column before the diagonal */
    piece_make(&p, NULL);
    claim("a pair that differs, of two ranks where there are two: not symmetric, on all",
          all_ranks == 1 ? p.status == YOKE_OK : fails_alike(&p, YOKE_UNSUITABLE, "symmetric"));
    piece_free(&p);
    p = piece_of(&w, 1, NULL);
    if (my_rank == all_ranks - 1) p.column[0] = w.rows;
    piece_make(&p, NULL);
    claim("a column out of range on one rank: invalid on all",
          fails_alike(&p, YOKE_INVALID, "column[0]"));
    piece_free(&p);
    yoke_plan_options gpu = yoke_plan_defaults();
    gpu.partition = "adaptive"; /* not built, not usable here, or not over ranks */
    p = piece_of(&w, 1, NULL);
    piece_make(&p, &gpu);
    claim("a cut that moves is refused by name",
          p.status != YOKE_OK && fails_alike(&p, p.status, "adaptive"));
    piece_free(&p);
    yoke_solve_options options = yoke_solve_defaults();
    if (my_rank == 0) options.rtol = 1e-4;
    p = piece_of(&w, 1, NULL);
    piece_make(&p, NULL);
    piece_solve(&p, &options);
    claim("options that differ are refused on all",
          all_ranks == 1 ? p.status == YOKE_OK : fails_alike(&p, YOKE_INVALID, "options"));
    p.status = YOKE_OK;
    if (my_rank == 0) options.rtol = -1.0;
    piece_solve(&p, &options);
    claim("a bad option on one rank fails all", fails_alike(&p, YOKE_INVALID, "rtol"));
    p.status = YOKE_OK;
    piece_solve(&p, NULL);
    claim("the plan survives both", p.status == YOKE_OK && p.report.outcome == YOKE_CONVERGED);
    piece_free(&p);
    whole_free(&w);
}

static void takes_means(void)
{
    whole w = whole_of("random_spd:2000:9:5");
    piece p = piece_of(&w, 1, NULL);
    for (int64_t k = 0; k < p.start[p.count]; k++)
        if (my_rank % 2) p.value[k] *= 1.0 + 1e-14;
    piece_make(&p, NULL);
    piece_solve(&p, NULL);
    bool told = strstr(p.report.notices ? p.report.notices : "", "mean") != NULL;
    claim("pairs of two ranks that differ by round-off: the mean, and a notice",
          p.status == YOKE_OK && p.report.outcome == YOKE_CONVERGED && told == (all_ranks > 1));
    piece_free(&p);
    whole_free(&w);
}

/* ----------------------------------------------------------------- stopping */

static int stops_here(void *user, int64_t iteration, double norm)
{
    (void)user;
    (void)norm;
    return my_rank == all_ranks - 1 && iteration == 5;
}

static void stops_alike(void)
{
    whole w = whole_of("poisson2d5:60");
    piece p = piece_of(&w, 1, NULL);
    piece_make(&p, NULL);
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
    piece_free(&p);
    whole_free(&w);
}

static void measures_alike(void)
{
    whole w = whole_of("poisson3d7:24");
    yoke_plan_options options = yoke_plan_defaults();
    options.effort = "measure";
    piece p = piece_of(&w, 1, NULL);
    piece_make(&p, &options);
    piece_solve(&p, NULL);
    bool folded = p.status == YOKE_OK && strcmp(p.report.shape, "folded") == 0;
    claim("effort measure takes one shape on all", p.status == YOKE_OK &&
                                                       is_alike(&folded, sizeof folded) &&
                                                       p.report.outcome == YOKE_CONVERGED);
    piece_free(&p);
    whole_free(&w);
}

int main(int argc, char **argv)
{
    claims_begin(&argc, &argv);
    solves_alike("poisson3d7:20", "none", "unfolded");
    solves_alike("poisson3d7:20", "none", "folded");
    solves_alike("poisson3d27:12", "jacobi", "unfolded");
    solves_alike("elasticity3d:8", "jacobi", "folded");
    solves_alike("random_spd:5000:9:3", "jacobi", "unfolded");
    solves_alike("graph:4000:8:1", "none", "folded");
    meets_singular_systems();
    meets_few_rows();
    zero_is_solved();
    takes_values_again();
    counts_reductions("unfolded");
    counts_reductions("folded");
    agrees_on_memory();
    allocates_nothing_in_a_solve();
    agrees_on_a_nan();
    agrees_on_jacobi();
    refuses_alike();
    takes_means();
    stops_alike();
    measures_alike();
    return claims_end();
}
