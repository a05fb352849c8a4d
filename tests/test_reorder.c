/* SPDX-License-Identifier: BSD-3-Clause */
/* test_reorder.c: plans whose rows are in an order of their own, which nobody outside sees. */
#include <stdatomic.h>

#include <yoke_tools.h>

#include "tests/systems.h"

/* ------------------------------------------------------- shuffled systems */

enum { SIDE = 40, ROWS = SIDE * SIDE };

/* place[i]: where row i of the grid is. */
static void shuffle(int32_t *place, int rows, uint64_t seed)
{
    for (int i = 0; i < rows; i++) place[i] = i;
    for (int i = rows - 1; i > 0; i--) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        int j = (int)((seed >> 33) % (uint64_t)(i + 1));
        int32_t moved = place[i];
        place[i] = place[j];
        place[j] = moved;
    }
}

typedef struct triple {
    int32_t row, column;
    double value;
} triple;

static int by_place(const void *a, const void *b)
{
    const triple *s = a, *t = b;
    return s->row != t->row ? (s->row > t->row) - (s->row < t->row)
                            : (s->column > t->column) - (s->column < t->column);
}

typedef struct grid_system {
    int32_t start[ROWS + 1], column[5 * ROWS];
    double value[5 * ROWS];
    int32_t place[ROWS];
} grid_system;

/* The five-point grid, its rows shuffled; each link of the grid with a value of its own. */
static void make_system(grid_system *s, uint64_t seed)
{
    static triple entry[5 * ROWS];
    static const int step[5][2] = {{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    int count = 0;
    shuffle(s->place, ROWS, seed);
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < 5; k++) {
            int u = i / SIDE + step[k][0], v = i % SIDE + step[k][1], j = u * SIDE + v;
            if (u < 0 || v < 0 || u >= SIDE || v >= SIDE) continue;
            double value = k == 0 ? 4.5 : -1.0 + 1e-3 * (double)((i + j) % 7);
            entry[count++] = (triple){s->place[i], s->place[j], value};
        }
    qsort(entry, (size_t)count, sizeof *entry, by_place);
    memset(s->start, 0, sizeof s->start);
    for (int k = 0; k < count; k++) {
        s->start[entry[k].row + 1]++;
        s->column[k] = entry[k].column;
        s->value[k] = entry[k].value;
    }
    for (int i = 0; i < ROWS; i++) s->start[i + 1] += s->start[i];
}

static int64_t entry_of(const grid_system *s, int row, int column)
{
    for (int64_t k = s->start[row]; k < s->start[row + 1]; k++)
        if (s->column[k] == column) return k;
    cr_assert_fail("row %d has no column %d", row, column);
    return -1;
}

static grid_system shared;

static yoke_matrix *shuffled(yoke_context *context)
{
    make_system(&shared, 3);
    return of_arrays(context, ROWS, shared.start, shared.column, shared.value, YOKE_COPY);
}

static yoke_plan_options reordered(void)
{
    yoke_plan_options planning = yoke_plan_defaults();
    planning.partition = "cpu";
    planning.reorder = "rcm";
    return planning;
}

static yoke_plan *planned(yoke_matrix *matrix, const yoke_plan_options *planning)
{
    yoke_plan *plan = NULL;
    MUST(yoke_plan_create(matrix, planning, &plan));
    return plan;
}

/* Who can have the rows, where a GPU is. */
static const char *const owners[] = {"cpu", "gpu", "ratio:0.4", "model"};

static int count_owners(void)
{
    return yoke_gpu_count(NULL) > 0 ? 4 : 1;
}

/* ------------------------------------------------------------------ solves */

Test(reorder, the_caller_sees_his_own_order_alone)
{
    yoke_matrix *matrix = shuffled(new_context());
    double *b = filled(ROWS, 0.0), *x = filled(ROWS, NAN), *y = filled(ROWS, NAN);
    scramble(b, ROWS, 1);
    for (int k = 0; k < count_owners(); k++) {
        yoke_plan_options planning = reordered();
        yoke_solve_options options = yoke_solve_defaults();
        planning.partition = owners[k];
        options.rtol = 1e-12;
        yoke_report report = solve_with(matrix, &planning, b, x, &options);
        cr_assert_eq(report.outcome, YOKE_CONVERGED);
        cr_assert_str_eq(report.reorder, "rcm");
        cr_assert_leq(true_residual(matrix, b, x), 1.1 * report.bound);
        planning.reorder = "none";
        report = solve_with(matrix, &planning, b, y, &options);
        cr_assert_str_eq(report.reorder, "none");
        for (int i = 0; i < ROWS; i++) cr_assert_float_eq(x[i], y[i], 1e-9, "row %d", i);
    }
}

/* A guess that solves the system is seen to, in whatever order. */
Test(reorder, an_initial_guess_is_in_the_callers_order)
{
    yoke_matrix *matrix = shuffled(new_context());
    double *b = filled(ROWS, 0.0), *x = filled(ROWS, 0.0);
    scramble(b, ROWS, 7);
    for (int k = 0; k < count_owners(); k++) {
        yoke_plan_options planning = reordered();
        yoke_solve_options options = yoke_solve_defaults();
        planning.partition = owners[k];
        options.rtol = 1e-10;
        solve_with(matrix, &planning, b, x, &options);
        options.rtol = 1e-9;
        options.initial_guess = 1;
        cr_assert_eq(solve_with(matrix, &planning, b, x, &options).iterations, 0);
    }
}

Test(reorder, parts_threads_shapes_and_owners_give_the_same_bits)
{
    yoke_matrix *matrix = shuffled(new_context());
    double *b = filled(ROWS, 0.0), *x = filled(ROWS, 0.0), *y = filled(ROWS, 0.0);
    static const char *const shapes[] = {"folded", "unfolded"};
    scramble(b, ROWS, 2);
    yoke_plan_options planning = reordered();
    planning.threads = 1;
    solve_with(matrix, &planning, b, x, NULL);
    for (int parts = 1; parts <= 4; parts++)
        for (int threads = 1; threads <= 3; threads++)
            for (int shape = 0; shape < 2; shape++) {
                planning.parts = parts;
                planning.threads = threads;
                planning.shape = shapes[shape];
                solve_with(matrix, &planning, b, y, NULL);
                cr_assert_eq(memcmp(x, y, ROWS * sizeof *x), 0, "%d parts, %d threads, %s", parts,
                             threads, shapes[shape]);
            }
    planning = reordered();
    for (int k = 1; k < count_owners(); k++) {
        planning.partition = owners[k];
        solve_with(matrix, &planning, b, y, NULL);
        cr_assert_eq(memcmp(x, y, ROWS * sizeof *x), 0, "%s", owners[k]);
    }
}

Test(reorder, many_right_hand_sides_are_each_put_back)
{
    enum { MANY = 3, LD = ROWS + 5 };
    yoke_matrix *matrix = shuffled(new_context());
    yoke_plan_options planning = reordered();
    double *b = filled(MANY * LD, 0.0), *x = filled(MANY * LD, 0.0), *y = filled(ROWS, 0.0);
    scramble(b, MANY * LD, 5);
    yoke_plan *plan = planned(matrix, &planning);
    MUST(yoke_solve_many(plan, MANY, b, LD, x, LD, NULL));
    for (int k = 0; k < MANY; k++) {
        solve_with(matrix, &planning, b + k * LD, y, NULL);
        cr_assert_eq(memcmp(x + k * LD, y, ROWS * sizeof *y), 0, "system %d", k);
    }
    yoke_plan_destroy(plan);
}

Test(reorder, new_values_reach_a_plan_in_its_order)
{
    yoke_matrix *matrix = shuffled(new_context());
    double *b = filled(ROWS, 1.0), *x = filled(ROWS, 0.0), *y = filled(ROWS, 0.0);
    for (int k = 0; k < count_owners(); k++) {
        static double value[5 * ROWS];
        yoke_plan_options planning = reordered();
        planning.partition = owners[k];
        MUST(yoke_matrix_update_values(matrix, shared.value));
        yoke_plan *plan = planned(matrix, &planning);
        MUST(yoke_solve(plan, b, x, NULL));
        for (int i = 0; i < ROWS; i++) /* each link by the places of its ends */
            for (int32_t e = shared.start[i]; e < shared.start[i + 1]; e++)
                value[e] = shared.value[e] * (shared.column[e] == i ? 1.5 : 1.0) *
                           (1.0 + 1e-2 * (double)((i + shared.column[e]) % 11));
        MUST(yoke_matrix_update_values(matrix, value));
        MUST(yoke_solve(plan, b, x, NULL));
        cr_assert_leq(true_residual(matrix, b, x), 1.1 * yoke_plan_report(plan)->bound);
        planning.partition = "cpu";
        solve_with(matrix, &planning, b, y, NULL);
        cr_assert_eq(memcmp(x, y, ROWS * sizeof *x), 0, "%s", owners[k]);
        yoke_plan_destroy(plan);
    }
}

/* ------------------------------------------------------------------- names */

static void expect_row(const yoke_report *report, yoke_outcome outcome, int row, const char *text)
{
    cr_assert_eq(report->outcome, outcome, "%s", report->detail);
    cr_assert_eq(report->row, row, "row %lld: %s", (long long)report->row, report->detail);
    cr_assert(strstr(report->detail, text), "\"%s\" lacks \"%s\"", report->detail, text);
}

Test(reorder, rows_are_named_by_the_callers_numbers)
{
    yoke_context *context = new_context();
    double *b = filled(ROWS, 1.0), *x = filled(ROWS, 0.0);
    for (int k = 0; k < count_owners(); k++) {
        yoke_plan_options planning = reordered();
        planning.partition = owners[k];
        planning.parts = k ? 0 : 3;
        yoke_plan *plan = planned(shuffled(context), &planning);
        b[1234] = NAN;
        MUST(yoke_solve(plan, b, x, NULL));
        expect_row(yoke_plan_report(plan), YOKE_NOT_FINITE, 1234, "b is nan in row 1235");
        b[1234] = 1.0;
        yoke_plan_destroy(plan);
        make_system(&shared, 3);
        shared.value[entry_of(&shared, 77, 77)] = NAN;
        plan =
            planned(of_arrays(context, ROWS, shared.start, shared.column, shared.value, YOKE_COPY),
                    &planning);
        MUST(yoke_solve(plan, b, x, NULL));
        expect_row(yoke_plan_report(plan), YOKE_NOT_FINITE, 77, "in row 78, column 78");
        yoke_plan_destroy(plan);
    }
}

/* Of several rows whose diagonal is not positive the first of the caller's, wherever it went. */
Test(reorder, the_callers_first_bad_diagonal_is_named)
{
    yoke_context *context = new_context();
    double *b = filled(ROWS, 1.0), *x = filled(ROWS, 0.0);
    static const int bad[][3] = {{3, 800, 1599}, {40, 41, 700}, {1000, 1300, 1500}};
    for (int k = 0; k < count_owners(); k++)
        for (int set = 0; set < 3; set++)
            for (int parts = 1; parts <= 3; parts++) {
                yoke_plan_options planning = reordered();
                planning.partition = owners[k];
                planning.preconditioner = "jacobi";
                if (strcmp(owners[k], "gpu") != 0) planning.parts = parts;
                make_system(&shared, 3);
                for (int i = 0; i < 3; i++)
                    shared.value[entry_of(&shared, bad[set][i], bad[set][i])] = -1.0 - i;
                yoke_plan *plan = planned(
                    of_arrays(context, ROWS, shared.start, shared.column, shared.value, YOKE_COPY),
                    &planning);
                MUST(yoke_solve(plan, b, x, NULL));
                expect_row(yoke_plan_report(plan), YOKE_INDEFINITE, bad[set][0],
                           "its diagonal is -1,");
                yoke_plan_destroy(plan);
            }
}

static int apply_nothing(void *user, int nrhs, const double *in, double *out, yoke_space space,
                         void *stream)
{
    (void)space, (void)stream;
    memcpy(out, in, (size_t)nrhs * *(const size_t *)user * sizeof *out);
    return 0;
}

/* Callbacks have the caller's numbering: rcm is refused by name, auto leaves the order. */
Test(reorder, callbacks_keep_the_callers_order)
{
    size_t rows = ROWS;
    yoke_context *context = new_context();
    yoke_operator identity = yoke_operator_defaults();
    identity.rows = ROWS;
    identity.apply = apply_nothing;
    identity.user = &rows;
    yoke_matrix *matrix[2] = {shuffled(context), NULL};
    MUST(yoke_matrix_create_operator(context, &identity, &matrix[1]));
    double *b = filled(ROWS, 1.0), *x = filled(ROWS, 0.0);
    for (int k = 0; k < 2; k++) {
        yoke_plan_options planning = reordered();
        yoke_plan *plan = NULL;
        if (k == 0) planning.apply_preconditioner = &identity;
        planning.parts = 2;
        cr_assert_eq(yoke_plan_create(matrix[k], &planning, &plan), YOKE_UNSUITABLE);
        cr_assert(strstr(yoke_error_text(), "reorder rcm"), "%s", yoke_error_text());
        planning.reorder = "auto";
        planning.effort = "patient";
        cr_assert_str_eq(solve_with(matrix[k], &planning, b, x, NULL).reorder, "none");
    }
    yoke_matrix_destroy(matrix[1]);
}

Test(reorder, an_unknown_order_is_refused_with_the_known_ones)
{
    yoke_plan_options planning = reordered();
    yoke_plan *plan = NULL;
    planning.reorder = "amd";
    cr_assert_eq(yoke_plan_create(shuffled(new_context()), &planning, &plan), YOKE_UNKNOWN_NAME);
    cr_assert(strstr(yoke_error_text(), "unknown reorder 'amd'; known: auto, none, rcm"), "%s",
              yoke_error_text());
}

Test(reorder, the_smallest_systems_have_an_order_too)
{
    yoke_context *context = new_context();
    static const int32_t start[] = {0, 1}, column[] = {0};
    static const double value[] = {2.0};
    for (int n = 0; n < 2; n++) {
        double b[1] = {3.0}, x[1] = {0.0};
        yoke_plan_options planning = reordered();
        solve_with(of_arrays(context, n, start, column, value, YOKE_COPY), &planning, b, x, NULL);
        cr_assert_eq(x[0], n * 1.5);
    }
}

Test(reorder, a_constant_nullspace_is_projected_out_in_any_order)
{
    yoke_matrix *matrix = tridiagonal(new_context(), 700, 1);
    double *b = filled(700, 0.0), *x = filled(700, 0.0), sum = 0.0;
    b[0] = 1.0;
    b[699] = -1.0;
    yoke_plan_options planning = reordered();
    planning.nullspace = YOKE_NULLSPACE_CONSTANT;
    cr_assert_eq(solve_with(matrix, &planning, b, x, NULL).outcome, YOKE_CONVERGED);
    for (int i = 0; i < 700; i++) sum += x[i];
    cr_assert_float_eq(sum, 0.0, 1e-8);
    cr_assert_float_eq(x[0] - x[699], 699.0, 1e-4);
}

/* -------------------------------------------------------------------- auto */

/* What auto takes with so many parts. */
static const char *taken(yoke_matrix *matrix, const char *effort, int parts, const char *sentence)
{
    double *b = filled(ROWS, 1.0), *x = filled(ROWS, 0.0);
    yoke_plan_options planning = yoke_plan_defaults();
    planning.partition = "cpu";
    planning.effort = effort;
    planning.parts = parts;
    yoke_plan *plan = planned(matrix, &planning);
    MUST(yoke_solve(plan, b, x, NULL));
    const yoke_report *report = yoke_plan_report(plan);
    cr_assert_leq(true_residual(matrix, b, x), 1.1 * report->bound);
    if (sentence)
        cr_assert(strstr(report->notices, sentence), "\"%s\"", report->notices);
    else
        cr_assert_str_eq(report->notices, "");
    const char *reorder = report->reorder;
    yoke_plan_destroy(plan);
    return reorder;
}

Test(reorder, auto_takes_an_order_that_halves_what_travels)
{
    yoke_context *context = new_context();
    yoke_matrix *matrix = shuffled(context);
    static const char sentence[] = "reorder auto takes rcm: 69 columns travel";
    cr_assert_str_eq(taken(matrix, "measure", 2, sentence), "rcm"); /* of two diagonals */
    cr_assert_str_eq(taken(matrix, "measure", 1, NULL), "none");    /* nothing travels */
    cr_assert_str_eq(taken(matrix, "estimate", 2, NULL), "none");   /* no time for a search */
    cr_assert_str_eq(taken(generated(context, "poisson2d5:40"), "patient", 2, NULL), "none");
    /* Neighbours are everywhere, in whatever order. */
    cr_assert_str_eq(taken(generated(context, "random_spd:1600:60:1"), "measure", 2, NULL), "none");
}

Test(reorder, auto_orders_the_rows_of_a_gpu_and_the_cpu_once)
{
    if (count_owners() == 1) cr_skip_test("no usable GPU");
    yoke_matrix *matrix = shuffled(new_context());
    double *b = filled(ROWS, 1.0), *x = filled(ROWS, 0.0), *y = filled(ROWS, 0.0);
    yoke_plan_options planning = yoke_plan_defaults();
    planning.partition = "model";
    planning.effort = "measure";
    yoke_plan *plan = planned(matrix, &planning);
    MUST(yoke_solve(plan, b, x, NULL));
    const yoke_report *report = yoke_plan_report(plan);
    if (report->parts > 1) {
        const char *first = strstr(report->notices, "reorder auto takes rcm");
        cr_assert_str_eq(report->reorder, "rcm");
        cr_assert(first && !strstr(first + 1, "reorder auto"), "%s", report->notices);
        planning = reordered();
        solve_with(matrix, &planning, b, y, NULL);
        cr_assert_eq(memcmp(x, y, ROWS * sizeof *x), 0);
    }
    yoke_plan_destroy(plan);
}

/* ------------------------------------------------------------------ memory */

typedef struct counter {
    atomic_llong allocations, live, fail_at;
} counter;

static void *count_allocate(void *user, size_t alignment, size_t bytes)
{
    counter *c = user;
    if (atomic_fetch_add(&c->allocations, 1) + 1 == atomic_load(&c->fail_at)) return NULL;
    void *memory = aligned_alloc(alignment, bytes);
    if (!memory) return NULL;
    memset(memory, 0xff, bytes);
    atomic_fetch_add(&c->live, (long long)bytes);
    return memory;
}

static void count_release(void *user, void *memory, size_t bytes)
{
    counter *c = user;
    atomic_fetch_sub(&c->live, (long long)bytes);
    free(memory);
}

static yoke_context *counted(counter *c)
{
    yoke_context_options options = yoke_context_defaults();
    options.allocate = count_allocate;
    options.release = count_release;
    options.memory_user = c;
    yoke_context *context = NULL;
    MUST(yoke_context_create(&options, &context));
    return context;
}

static yoke_plan_options in_two_parts(const char *reorder)
{
    yoke_plan_options planning = reordered();
    planning.parts = planning.threads = 2;
    planning.effort = "measure";
    planning.reorder = reorder;
    return planning;
}

/* What is asked for fails as a whole; auto goes on without where there is no room for it. */
Test(reorder, any_allocation_may_fail)
{
    counter c = {0};
    yoke_matrix *matrix = shuffled(counted(&c));
    long long live = atomic_load(&c.live);
    static const char *const asked[] = {"rcm", "auto"};
    for (int a = 0; a < 2; a++) {
        int refused = 0, k = 1, went_on = 0;
        for (bool failed = true; failed; k++) {
            yoke_plan_options planning = in_two_parts(asked[a]);
            yoke_plan *plan = NULL;
            atomic_store(&c.fail_at, atomic_load(&c.allocations) + k);
            yoke_status status = yoke_plan_create(matrix, &planning, &plan);
            failed = atomic_load(&c.allocations) >= atomic_load(&c.fail_at);
            refused += status != YOKE_OK;
            went_on += failed && status == YOKE_OK;
            if (status != YOKE_OK) cr_assert_eq(status, YOKE_NO_MEMORY, "%s", yoke_error_text());
            yoke_plan_destroy(plan);
            cr_assert_eq(atomic_load(&c.live), live, "%s: failure %d leaks", asked[a], k);
        }
        cr_assert_gt(refused, 20, "a plan in two parts takes more than twenty pieces of memory");
        cr_assert_eq(went_on > 5, a == 1, "%s went on after %d failures", asked[a], went_on);
    }
}

Test(reorder, memory_is_told_and_a_solve_takes_none)
{
    counter c = {0};
    yoke_matrix *matrix = shuffled(counted(&c));
    double *b = filled(ROWS, 1.0), *x = filled(ROWS, 0.0);
    for (int parts = 1; parts <= 3; parts++) {
        yoke_plan_options planning = in_two_parts("rcm");
        planning.parts = parts;
        yoke_memory memory = yoke_memory_defaults();
        long long before = atomic_load(&c.live);
        MUST(yoke_plan_memory(matrix, &planning, &memory));
        cr_assert_eq(atomic_load(&c.live), before);
        yoke_plan *plan = planned(matrix, &planning);
        double taken = (double)(atomic_load(&c.live) - before);
        cr_assert_float_eq((double)memory.host_bytes / taken, 1.0, 0.05, "told %zu, took %g",
                           memory.host_bytes, taken);
        long long allocations = atomic_load(&c.allocations);
        MUST(yoke_solve(plan, b, x, NULL));
        MUST(yoke_matrix_update_values(matrix, shared.value));
        long long of_update = atomic_load(&c.allocations);
        MUST(yoke_solve(plan, b, x, NULL));
        cr_assert_eq(atomic_load(&c.allocations), of_update);
        cr_assert_geq(of_update, allocations);
        yoke_plan_destroy(plan);
    }
}
