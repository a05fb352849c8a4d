/* SPDX-License-Identifier: BSD-3-Clause */
/* test_battery.c: the same bits of x from every way to solve: parts, threads, shapes, formats,
 * drivers, and owners joined in every memory mode, over systems of every kind of row. A new format,
 * driver or mode is tested by being listed. */
#include "tests/systems.h"

#include <criterion/parameterized.h>
#include <yoke_tools.h>

/* Kinds of system: short rows, long rows, a dense row beyond one segment, empty rows, few chunks.
 */
static const char *const specs[] = {
    "poisson2d5:40",  "poisson3d7:12",        "poisson3d27:11", "elasticity3d:6",
    "graph:2000:8:3", "random_spd:1500:40:9", "poisson2d5:3",   "jumps3d7:10:1e3:1",
};

/* An arrow: row 0 is full (1 200 entries, five segments), the rest have two entries. */
static yoke_matrix *arrow(yoke_context *context)
{
    enum { n = 1200 };
    static int32_t start[n + 1], column[3 * n];
    static double value[3 * n];
    int32_t count = 0;
    for (int32_t j = 0; j < n; j++) {
        column[count] = j;
        value[count++] = j == 0 ? 3000.0 : -1.0 / (1 + j % 7);
    }
    start[1] = count;
    for (int32_t i = 1; i < n; i++) {
        column[count] = 0;
        value[count++] = -1.0 / (1 + i % 7);
        column[count] = i;
        value[count++] = 2.0 + i % 5;
        start[i + 1] = count;
    }
    return of_arrays(context, n, start, column, value, YOKE_COPY);
}

typedef struct system_ {
    yoke_matrix *matrix;
    const char *name, *solver;
    double *b, *x0, *expected;
    int64_t rows, iterations;
} system_;

static yoke_report run(const system_ *s, const yoke_plan_options *planning, double *x)
{
    yoke_solve_options options = yoke_solve_defaults();
    yoke_plan_options by_solver = *planning;
    by_solver.solver = s->solver;
    options.initial_guess = 1;
    memcpy(x, s->x0, (size_t)s->rows * sizeof *x);
    return solve_with(s->matrix, &by_solver, s->b, x, &options);
}

static system_ reference(yoke_matrix *matrix, const char *name, const char *solver,
                         const char *preconditioner)
{
    system_ s = {
        .matrix = matrix, .name = name, .solver = solver, .rows = yoke_matrix_rows(matrix)};
    s.b = filled(s.rows, 0.0);
    s.x0 = filled(s.rows, 0.0);
    s.expected = filled(s.rows, 0.0);
    scramble(s.b, s.rows, 1);
    scramble(s.x0, s.rows, 2);
    yoke_plan_options planning = yoke_plan_defaults();
    planning.threads = planning.parts = 1;
    planning.partition = "cpu";
    planning.shape = "unfolded";
    planning.preconditioner = preconditioner;
    yoke_report report = run(&s, &planning, s.expected);
    cr_assert_eq(report.outcome, YOKE_CONVERGED, "%s: %s", name, yoke_outcome_word(report.outcome));
    cr_assert_leq(true_residual(matrix, s.b, s.expected), 1.0001 * report.bound);
    s.iterations = report.iterations;
    return s;
}

static void same_bits(const system_ *s, const yoke_plan_options *planning)
{
    double *x = filled(s->rows, NAN);
    yoke_report report = run(s, planning, x);
    const char *memory = report.memory ? report.memory : "no", *driver = report.driver;
    cr_assert_eq(report.iterations, s->iterations,
                 "%s, %s, %s, %s, %s memory, %s, %d parts, %d threads: %lld iterations", s->name,
                 s->solver, report.partition, driver, memory, planning->shape, planning->parts,
                 planning->threads, (long long)report.iterations);
    cr_assert_eq(memcmp(x, s->expected, (size_t)s->rows * sizeof *x), 0,
                 "%s, %s, %s, %s, %s memory, %s, %d parts, %d threads: other bits", s->name,
                 s->solver, report.partition, driver, memory, planning->shape, planning->parts,
                 planning->threads);
    free(x);
}

/* A GPU is one part, whatever the threads; SELL is for GPUs, and for rows of one segment, as is the
 * persistent driver, which does not fold. cuSPARSE's bits are its own. */
static bool runs(const system_ *s, const yoke_plan_options *planning)
{
    bool sell = strcmp(planning->format, "sell") == 0;
    bool persistent = strcmp(planning->driver, "persistent") == 0;
    bool classical = strcmp(s->solver, "cg") == 0;
    if (strcmp(planning->format, "cusparse") == 0) return false;
    if (!classical && (persistent || strcmp(planning->shape, "folded") == 0)) return false;
    if (strcmp(planning->driver, "team") == 0) return !sell;
    if (persistent && strcmp(planning->shape, "folded") == 0) return false;
    return planning->parts == 1 && planning->threads == 1 &&
           !((sell || persistent) && strcmp(s->name, "arrow") == 0);
}

static void every_split(const system_ *s, yoke_plan_options planning)
{
    static const int parts[] = {1, 2, 3, 7}, threads[] = {1, 2, 4};
    for (int p = 0; p < 4; p++)
        for (int t = 0; t < 3; t++) {
            planning.parts = parts[p];
            planning.threads = threads[t];
            if (runs(s, &planning)) same_bits(s, &planning);
        }
}

/* Where a GPU's arrays lie; the first for all drivers, the others for those that leave the chip. */
static const struct {
    const char *home, *memory;
} homes[] = {{"owner", NULL},      {"shared", "mapped"}, {"shared", "managed"},
             {"shared", "system"}, {"spill:0.01", NULL}, {"spill:0.5", "mapped"},
             {"spill:1", NULL}};

static bool is_usable(const char *memory)
{
    yoke_list_item item;
    for (int i = 0; memory && yoke_list(YOKE_LIST_MEMORY, i, &item); i++)
        if (strcmp(item.name, memory) == 0) return item.usable;
    return true;
}

static void every_home(const system_ *s, yoke_plan_options planning)
{
    bool one = strcmp(planning.driver, "stream") != 0 && strcmp(planning.driver, "graph") != 0;
    for (size_t i = 0; i < (one ? 1 : sizeof homes / sizeof *homes); i++) {
        if (!is_usable(homes[i].memory)) continue;
        planning.home = homes[i].home;
        planning.memory = homes[i].memory;
        every_split(s, planning);
    }
}

static void every_way(const system_ *s, const char *preconditioner)
{
    yoke_list_item shape, driver, format;
    for (int i = 0; yoke_list(YOKE_LIST_SHAPES, i, &shape); i++)
        for (int j = 0; yoke_list(YOKE_LIST_DRIVERS, j, &driver); j++)
            for (int k = 0; yoke_list(YOKE_LIST_FORMATS, k, &format); k++) {
                bool team = strcmp(driver.name, "team") == 0;
                if (!driver.usable || !format.usable || (FAKE_GPU && team)) continue;
                yoke_plan_options planning = yoke_plan_defaults();
                planning.partition = team ? "cpu" : "gpu";
                planning.shape = shape.name;
                planning.driver = driver.name;
                planning.format = format.name;
                planning.preconditioner = preconditioner;
                every_home(s, planning);
            }
}

/* Rows on a GPU and on the CPU: the smallest share, which is a chunk, and the largest; all and
 * none, which leave one owner; a cut that moves. */
static void every_share(const system_ *s, yoke_plan_options planning)
{
    static const struct {
        const char *partition;
        int parts, threads;
    } cuts[] = {{"ratio:0.01", 1, 1},   {"ratio:0.5", 3, 2}, {"ratio:0.99", 2, 3},
                {"nonzeros:0.4", 1, 2}, {"ratio:0", 1, 2},   {"nonzeros:1", 2, 2},
                {"adaptive:0.6", 1, 2}};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        planning.partition = cuts[i].partition;
        planning.parts = cuts[i].parts;
        planning.threads = cuts[i].threads;
        same_bits(s, &planning);
    }
}

static void every_way_together(const system_ *s, const char *preconditioner)
{
    static const char *const formats[] = {"csr", "sell"};
    yoke_list_item memory, driver;
    for (int i = 0; yoke_list(YOKE_LIST_MEMORY, i, &memory); i++)
        for (int j = 0; yoke_list(YOKE_LIST_DRIVERS, j, &driver); j++)
            for (int k = 0; k < 2; k++) {
                bool takes =
                    strcmp(driver.name, "stream") == 0 || strcmp(driver.name, "graph") == 0;
                yoke_plan_options planning = yoke_plan_defaults();
                planning.memory = memory.name;
                planning.driver = driver.name;
                planning.format = formats[k];
                planning.preconditioner = preconditioner;
                planning.shape = "unfolded";
                if (!takes || !driver.usable || !memory.usable || !joins_gpu(memory.name)) continue;
                if (k == 0 || strcmp(s->name, "arrow") != 0) every_share(s, planning);
            }
}

static void battery(yoke_matrix *matrix, const char *name)
{
    static const char *const preconditioners[] = {"none", "jacobi"};
    yoke_list_item solver;
    for (int k = 0; yoke_list(YOKE_LIST_SOLVERS, k, &solver); k++)
        for (int i = 0; i < 2; i++) {
            system_ s = reference(matrix, name, solver.name, preconditioners[i]);
            every_way(&s, preconditioners[i]);
            if (strcmp(solver.name, "cg") == 0) every_way_together(&s, preconditioners[i]);
        }
}

ParameterizedTestParameters(battery, same_bits_every_way)
{
    static int index[sizeof specs / sizeof *specs];
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) index[i] = (int)i;
    return cr_make_param_array(int, index, sizeof specs / sizeof *specs);
}

ParameterizedTest(int *index, battery, same_bits_every_way)
{
    yoke_context *context = new_context();
    battery(generated(context, specs[*index]), specs[*index]);
}

Test(battery, same_bits_with_a_row_of_several_segments)
{
    battery(arrow(new_context()), "arrow");
}

Test(battery, ten_runs_give_the_same_bits)
{
    yoke_context *context = new_context();
    system_ s = reference(generated(context, "poisson2d5:60"), "poisson2d5:60", "cg", "none");
    yoke_plan_options planning = yoke_plan_defaults();
    planning.threads = 3;
    planning.shape = "folded";
    for (int i = 0; i < 10; i++) same_bits(&s, &planning);
}

/* Singular and inconsistent: the verdict must not depend on who owns which row either. */
Test(battery, the_verdict_on_a_singular_system_is_the_same_on_every_split)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = tridiagonal(context, 2000, 1);
    double *b = filled(2000, 1.0), *x = filled(2000, 0.0);
    for (int parts = 1; parts <= 7; parts += 2) {
        yoke_plan_options planning = yoke_plan_defaults();
        planning.parts = parts;
        yoke_report report = solve_with(matrix, &planning, b, x, NULL);
        cr_assert_eq(report.outcome, YOKE_BREAKDOWN);
        cr_assert_eq(report.iterations, 1);
    }
}
