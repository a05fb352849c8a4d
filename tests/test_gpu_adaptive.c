/* SPDX-License-Identifier: BSD-3-Clause */
/* test_gpu_adaptive.c: plans whose cut between a GPU and the CPU moves while they solve: whatever
 * cuts they take, they do what the CPU alone does, to the bit, and take no memory; what cannot move
 * is refused by name. Where the cut should go is test_adaptive.c's to show. */
#include <stdio.h>

#include "lib/context.h"
#include "lib/cuda/device.h"
#include "solvers/cg/cuts.h"
#include "solvers/plan.h"
#include "tests/need_gpu.h"
#include "tests/systems.h"

TestSuite(gpu_adaptive, .init = need_gpu, .timeout = 300.0);

static const char *const drivers[] = {"stream", "graph"}, *const formats[] = {"csr", "sell"};
static const char *const preconditioners[] = {"none", "jacobi"};

enum { LENGTH = 3000, MOST_FORCED = 4096 };

static yoke_plan_options adaptive(const char *memory, const char *driver)
{
    yoke_plan_options planning = yoke_plan_defaults();
    planning.partition = "adaptive:0.4"; /* not measured: one owner might be better */
    planning.memory = memory;
    planning.driver = driver;
    planning.threads = 2;
    return planning;
}

static yoke_plan_options on_cpu(const yoke_plan_options *like)
{
    yoke_plan_options planning = *like;
    planning.threads = 1;
    planning.partition = "cpu";
    planning.memory = planning.driver = planning.format = planning.home = NULL;
    return planning;
}

static yoke_plan *new_plan(yoke_matrix *matrix, const yoke_plan_options *planning)
{
    yoke_plan *plan = NULL;
    MUST(yoke_plan_create(matrix, planning, &plan));
    cr_assert(plan->cg.cuts && plan->cg.cuts->count > 1);
    return plan;
}

/* Cuts all over the window, in an order that looks random: the same for the same seed. */
static void force(yoke_plan *plan, uint64_t seed)
{
    static int sequence[MOST_FORCED];
    yk_cuts *cuts = plan->cg.cuts;
    for (int i = 0; i < MOST_FORCED; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        sequence[i] = (int)((seed >> 33) % (uint64_t)cuts->count);
    }
    cuts->forced = sequence;
    cuts->forced_end = sequence + MOST_FORCED;
}

/* Every mode that can join here, with every driver. */
static void in_every_mode(void (*test)(const yoke_plan_options *planning))
{
    yoke_list_item mode;
    int modes = 0;
    for (int k = 0; yoke_list(YOKE_LIST_MEMORY, k, &mode); k++) {
        if (!joins_gpu(mode.name)) continue;
        modes++;
        for (int d = 0; d < 2; d++) {
            yoke_plan_options planning = adaptive(mode.name, drivers[d]);
            test(&planning);
        }
    }
    cr_assert_geq(modes, 2, "explicit and mapped join wherever a GPU is");
}

/* ------------------------------------------------------------------- bits */

/* What a solve leaves. */
typedef struct answer {
    yoke_report report;
    double *x, *history;
} answer;

static answer solve_on(yoke_plan *plan, const yoke_solve_options *like)
{
    int64_t rows = yoke_matrix_rows(plan->matrix);
    answer a = {.x = filled(rows, 0.0), .history = filled(LENGTH, 0.0)};
    double *b = filled(rows, 0.0);
    yoke_solve_options options = like ? *like : yoke_solve_defaults();
    options.history = a.history;
    options.history_capacity = LENGTH;
    scramble(b, rows, 1);
    scramble(a.x, rows, 2);
    MUST(yoke_solve(plan, b, a.x, &options));
    a.report = *yoke_plan_report(plan);
    return a;
}

static answer solve_on_cpu(yoke_matrix *matrix, const yoke_plan_options *like,
                           const yoke_solve_options *options)
{
    yoke_plan *plan = NULL;
    yoke_plan_options planning = on_cpu(like);
    MUST(yoke_plan_create(matrix, &planning, &plan));
    answer a = solve_on(plan, options);
    yoke_plan_destroy(plan);
    return a;
}

static void same_answer(const answer *a, const answer *cpu, int64_t rows, const char *name)
{
    const yoke_report *r = &a->report, *s = &cpu->report;
    cr_assert_eq(r->outcome, s->outcome, "%s: %s", name, yoke_outcome_word(r->outcome));
    cr_assert_eq(r->iterations, s->iterations, "%s: %lld iterations, on the CPU %lld", name,
                 (long long)r->iterations, (long long)s->iterations);
    cr_assert_eq(r->replacements, s->replacements, "%s", name);
    cr_assert_eq(r->returned_snapshot, s->returned_snapshot, "%s", name);
    cr_assert_eq(r->residual_true, s->residual_true, "%s", name);
    cr_assert_eq(memcmp(a->history, cpu->history, LENGTH * sizeof(double)), 0, "%s: history", name);
    cr_assert_eq(memcmp(a->x, cpu->x, (size_t)rows * sizeof(double)), 0, "%s: other bits", name);
}

static void name_of(const yoke_plan_options *planning, const char *what, char *name, size_t size)
{
    snprintf(name, size, "%s, %s, %s, %s, %s", what, planning->memory, planning->driver,
             planning->format ? planning->format : "auto",
             planning->preconditioner ? planning->preconditioner : "none");
}

static void same_as_cpu(yoke_matrix *matrix, const yoke_plan_options *planning, const char *what,
                        const yoke_solve_options *options)
{
    char name[200];
    int64_t rows = yoke_matrix_rows(matrix);
    name_of(planning, what, name, sizeof name);
    answer expected = solve_on_cpu(matrix, planning, options);
    yoke_plan *plan = new_plan(matrix, planning);
    for (uint64_t seed = 1; seed <= 2; seed++) { /* the second from where the first ended */
        force(plan, seed);
        answer a = solve_on(plan, options);
        same_answer(&a, &expected, rows, name);
        if (a.report.iterations > 20) cr_assert_gt(a.report.cuts_moved, 2, "%s", name);
        const yk_cuts *cuts = plan->cg.cuts;
        cr_assert_eq(a.report.cpu_rows, rows - cuts->row[cuts->at], "%s", name);
    }
    yoke_plan_destroy(plan);
}

/* Of several bands, dense rows, boundaries that are everywhere, and a last chunk that is not full.
 */
static void every_system(const yoke_plan_options *like)
{
    static const char *const specs[] = {"poisson2d5:60", "poisson3d7:13", "poisson3d27:11",
                                        "graph:2000:8:3", "random_spd:1500:40:9"};
    yoke_context *context = new_context();
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 2; k++) {
            yoke_plan_options planning = *like;
            planning.format = formats[k];
            planning.preconditioner = preconditioners[(i + k) & 1];
            same_as_cpu(generated(context, specs[i]), &planning, specs[i], NULL);
        }
}

Test(gpu_adaptive, whatever_cuts_it_takes_the_bits_are_the_same)
{
    in_every_mode(every_system);
}

static int go_on(void *user, int64_t iteration, double norm)
{
    (void)user, (void)iteration, (void)norm;
    return 0;
}

/* True residuals, replacements and the snapshot; a guess; a monitor; scaling; limits. */
static void every_wish(const yoke_plan_options *like)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:37");
    static const char *const what[] = {"to the last digit", "a guess", "a monitor",
                                       "20 exactly",        "every 7", "nothing"};
    for (int w = 0; w < 6; w++) {
        yoke_plan_options planning = *like;
        yoke_solve_options options = yoke_solve_defaults();
        planning.preconditioner = preconditioners[w & 1];
        if (w == 0) options.rtol = 1e-15; /* which ends with a snapshot */
        if (w == 1) options.initial_guess = 1, options.base = YOKE_BASE_R0;
        if (w == 2) options.monitor = go_on;
        if (w == 3) options.maxit = 20, options.fixed_iterations = 1;
        if (w == 4) options.check_every = 7;
        if (w == 5) options.atol = 1e300;
        if (w > 0 && w != 3) options.maxit = 60;
        if (w == 0) cr_assert(solve_on_cpu(matrix, &planning, &options).report.returned_snapshot);
        same_as_cpu(matrix, &planning, what[w], &options);
    }
}

Test(gpu_adaptive, whatever_a_solve_is_told_it_does_what_the_cpu_does)
{
    in_every_mode(every_wish);
}

static void nullspace(const yoke_plan_options *like)
{
    yoke_plan_options planning = *like;
    yoke_solve_options options = yoke_solve_defaults();
    planning.nullspace = YOKE_NULLSPACE_CONSTANT;
    options.maxit = 60;
    same_as_cpu(tridiagonal(new_context(), 1500, 1), &planning, "a nullspace", &options);
}

Test(gpu_adaptive, a_nullspace_is_projected_out)
{
    in_every_mode(nullspace);
}

/* Cuts are of the plan's own order then. */
static void reordered(const yoke_plan_options *like)
{
    yoke_plan_options planning = *like;
    planning.reorder = "rcm";
    same_as_cpu(generated(new_context(), "shuffled:1:poisson2d5:40"), &planning, "rcm", NULL);
}

Test(gpu_adaptive, rows_may_be_in_an_order_of_the_plans_own)
{
    in_every_mode(reordered);
}

/* The fake refuses to be touched where it is not reached, and the home spilled has two places. */
static void homes(const yoke_plan_options *like)
{
    static const char *const names[] = {"spill:0.5", "shared"};
    yoke_matrix *matrix = generated(new_context(), "poisson3d7:13");
    for (int i = 0; i < 4; i++) {
        yoke_plan_options planning = *like;
        planning.home = names[i / 2];
        planning.format = formats[i & 1];
        if (i / 2 == 1 && strcmp(like->memory, "explicit") == 0) continue;
        same_as_cpu(matrix, &planning, names[i / 2], NULL);
    }
}

Test(gpu_adaptive, the_gpus_part_may_lie_in_any_home)
{
    in_every_mode(homes);
}

/* Rows that are held without being worked on may hold what an earlier solve left. */
static void after_a_nan(const yoke_plan_options *planning)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:40");
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(rows, NAN), *x = filled(rows, 0.0);
    yoke_plan *plan = new_plan(matrix, planning);
    answer expected = solve_on_cpu(matrix, planning, NULL);
    for (int cut = plan->cg.cuts->count - 1; cut >= 0; cut--) {
        int sequence[] = {cut, 0, cut};
        plan->cg.cuts->forced = sequence;
        plan->cg.cuts->forced_end = sequence + 3;
        MUST(yoke_solve(plan, b, x, NULL));
        cr_assert_eq(yoke_plan_report(plan)->outcome, YOKE_NOT_FINITE);
        answer a = solve_on(plan, NULL);
        same_answer(&a, &expected, rows, "after a NaN");
    }
    yoke_plan_destroy(plan);
}

Test(gpu_adaptive, what_an_earlier_solve_left_does_no_harm)
{
    in_every_mode(after_a_nan);
}

/* ------------------------------------------------------------------ values */

static void new_values(const yoke_plan_options *like)
{
    yoke_matrix *matrix = generated(new_context(), "random_spd:1500:30:2");
    int64_t rows = yoke_matrix_rows(matrix), nonzeros = yoke_matrix_nonzeros(matrix);
    double *value = filled(nonzeros, 0.0);
    yoke_csr csr = yoke_csr_defaults();
    MUST(yoke_matrix_view(matrix, &csr));
    memcpy(value, csr.value, (size_t)nonzeros * sizeof *value);
    for (int f = 0; f < 2; f++) {
        yoke_plan_options planning = *like;
        planning.format = formats[f];
        planning.preconditioner = "jacobi";
        yoke_plan *plan = new_plan(matrix, &planning);
        for (uint64_t k = 0; k < 3; k++) {
            for (int64_t i = 0; i < nonzeros; i++) value[i] *= 3.0;
            MUST(yoke_matrix_update_values(matrix, value));
            force(plan, k);
            answer a = solve_on(plan, NULL), expected = solve_on_cpu(matrix, &planning, NULL);
            same_answer(&a, &expected, rows, formats[f]);
        }
        yoke_plan_destroy(plan);
    }
}

Test(gpu_adaptive, new_values_reach_all_that_both_hold)
{
    in_every_mode(new_values);
}

static void many(const yoke_plan_options *planning)
{
    enum { COUNT = 3 };
    yoke_matrix *matrix = generated(new_context(), "elasticity3d:6");
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(COUNT * rows, 0.0), *x = filled(COUNT * rows, 0.0);
    double *expected = filled(COUNT * rows, 0.0);
    yoke_plan_options cpu = on_cpu(planning);
    yoke_plan *plan = NULL;
    scramble(b, COUNT * rows, 8);
    MUST(yoke_plan_create(matrix, &cpu, &plan));
    MUST(yoke_solve_many(plan, COUNT, b, rows, expected, rows, NULL));
    yoke_plan_destroy(plan);
    plan = new_plan(matrix, planning);
    force(plan, 5);
    MUST(yoke_solve_many(plan, COUNT, b, rows, x, rows, NULL));
    yoke_plan_destroy(plan);
    cr_assert_eq(memcmp(x, expected, (size_t)(COUNT * rows) * sizeof *x), 0);
}

Test(gpu_adaptive, several_right_hand_sides_one_after_another)
{
    in_every_mode(many);
}

/* ------------------------------------------------------------------ memory */

static void no_memory(const yoke_plan_options *planning)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:60");
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(rows, 1.0), *x = filled(rows, 0.0);
    yoke_plan *plan = new_plan(matrix, planning);
    for (int forced = 0; forced < 2; forced++) {
        if (forced) force(plan, 4);
        long long taken = atomic_load(&matrix->context->allocations);
        int64_t on_device = yk_device_allocations();
        MUST(yoke_solve(plan, b, x, NULL));
        if (forced) cr_assert_gt(yoke_plan_report(plan)->cuts_moved, 10);
        cr_assert_eq(atomic_load(&matrix->context->allocations), taken, "%s", planning->memory);
        cr_assert_eq(yk_device_allocations(), on_device, "%s", planning->memory);
    }
    yoke_plan_destroy(plan);
}

Test(gpu_adaptive, a_solve_that_moves_its_cut_takes_no_memory)
{
    in_every_mode(no_memory);
}

/* --------------------------------------------------------------- planning */

/* As model, it may leave all rows to one; the bits are the same, whatever was measured. */
static void measured(const yoke_plan_options *like)
{
    static const char *const specs[] = {"poisson3d27:20", "poisson2d5:100"};
    for (int i = 0; i < 2; i++) {
        yoke_matrix *matrix = generated(new_context(), specs[i]);
        yoke_plan_options planning = *like;
        yoke_plan *plan = NULL;
        planning.partition = "adaptive";
        planning.effort = "measure";
        planning.driver = planning.format = NULL;
        MUST(yoke_plan_create(matrix, &planning, &plan));
        for (int k = 0; k < 2; k++) {
            answer a = solve_on(plan, NULL), expected = solve_on_cpu(matrix, &planning, NULL);
            same_answer(&a, &expected, yoke_matrix_rows(matrix), specs[i]);
            bool one = !plan->cg.cuts;
            cr_assert_eq(strncmp(a.report.partition, "adaptive", 8) != 0, one, "%s",
                         a.report.partition);
            cr_assert_eq(strstr(plan->notices, "partition adaptive leaves no rows") != NULL, one);
            cr_assert(!one || a.report.cuts_moved == 0);
        }
        yoke_plan_destroy(plan);
    }
}

Test(gpu_adaptive, it_begins_where_the_model_cuts)
{
    in_every_mode(measured);
}

/* Far from the best on any machine: it moves, says so, and stays where it is for the next solve. */
Test(gpu_adaptive, a_notice_tells_where_the_cut_went)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:60");
    int64_t rows = yoke_matrix_rows(matrix);
    yoke_plan_options planning = adaptive("mapped", "graph");
    yoke_plan *plan = new_plan(matrix, &planning);
    double *b = filled(rows, 1.0), *x = filled(rows, 0.0);
    char expected[120];
    int sequence[] = {1, 0};
    plan->cg.cuts->forced = sequence;
    plan->cg.cuts->forced_end = sequence + 2;
    for (int k = 0; k < 2; k++) {
        MUST(yoke_solve(plan, b, x, NULL));
        const yoke_report *report = yoke_plan_report(plan);
        long long on_cpu = (long long)(rows - plan->cg.cuts->row[0]);
        snprintf(expected, sizeof expected, "the cut moved 2 times, to %lld rows on the CPU",
                 on_cpu);
        cr_assert_eq(report->cuts_moved, k ? 0 : 2);
        cr_assert_eq(report->cpu_rows, on_cpu);
        cr_assert_eq(strstr(report->notices, expected) != NULL, k == 0, "%s", report->notices);
        cr_assert_str_eq(report->partition, "adaptive:0.4");
        int64_t bytes = 12 * yoke_matrix_nonzeros(matrix) + (4 + 80) * rows;
        planning.format = "csr";
        cr_assert_float_eq(report->bytes_per_iteration, (double)bytes, 0.05 * (double)bytes);
    }
    yoke_plan_destroy(plan);
}

/* As in a time loop: none is as long as a sound time takes. */
Test(gpu_adaptive, short_solves_count_together)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:60");
    yoke_plan_options planning = adaptive("mapped", "graph");
    yoke_plan *plan = new_plan(matrix, &planning);
    yoke_solve_options options = yoke_solve_defaults();
    options.maxit = 3;
    options.fixed_iterations = 1;
    answer expected = solve_on_cpu(matrix, &planning, &options);
    for (int k = 0; k < 60; k++) {
        answer a = solve_on(plan, &options);
        same_answer(&a, &expected, yoke_matrix_rows(matrix), "a short solve");
    }
    cr_assert_gt(plan->cg.cuts->policy.last, 0.0, "no time was taken");
    cr_assert_gt(plan->cg.cuts->policy.state + plan->cg.cuts->policy.moves, 0);
    yoke_plan_destroy(plan);
}

/* What the GPU has no room for is not held there: the window ends at the first cut. */
Test(gpu_adaptive, a_small_gpu_holds_no_more_than_it_works_on)
{
    yoke_matrix *matrix = generated(new_context(), "poisson3d27:20");
    yoke_plan_options planning = adaptive("mapped", "graph");
    yoke_memory memory = yoke_memory_defaults();
    planning.format = "csr";
    yoke_plan *wide = new_plan(matrix, &planning), *narrow = NULL;
    MUST(yoke_plan_memory(matrix, &planning, &memory));
    planning.gpu_memory = memory.device_bytes - memory.device_bytes / 8;
    narrow = new_plan(matrix, &planning);
    const yk_cuts *w = wide->cg.cuts, *n = narrow->cg.cuts;
    cr_assert_lt(w->at, w->count - 1);
    cr_assert_eq(n->at, n->count - 1);
    cr_assert_eq(n->row[n->at], w->row[w->at]);
    cr_assert_str_eq(narrow->choice.home, "owner");
    force(narrow, 3);
    answer a = solve_on(narrow, NULL), expected = solve_on_cpu(matrix, &planning, NULL);
    same_answer(&a, &expected, yoke_matrix_rows(matrix), "narrow");
    yoke_plan_destroy(wide);
    yoke_plan_destroy(narrow);
}

static void is_refused(yoke_matrix *matrix, yoke_plan_options planning, const char *why)
{
    yoke_plan *plan = NULL;
    cr_assert_eq(yoke_plan_create(matrix, &planning, &plan), YOKE_UNSUITABLE, "%s: %s", why,
                 yoke_error_text());
    cr_assert(strstr(yoke_error_text(), why), "'%s', not '%s'", yoke_error_text(), why);
}

Test(gpu_adaptive, what_does_not_move_is_refused_by_name)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:60");
    yoke_plan_options planning = adaptive("mapped", NULL);
    planning.parts = 2;
    is_refused(matrix, planning, "partition adaptive moves one cut");
    planning.parts = 1;
    planning.driver = "team";
    is_refused(matrix, planning, "driver team");
    planning.driver = "persistent";
    is_refused(matrix, planning, "driver persistent");
    planning = adaptive("explicit", NULL);
    planning.home = "shared";
    is_refused(matrix, planning, "home shared with memory explicit");
    planning = adaptive(NULL, NULL);
    planning.shape = "folded";
    is_refused(matrix, planning, "shape folded");
}

Test(gpu_adaptive, a_share_that_leaves_rows_to_one_is_that_ones_plan)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:60");
    double *b = filled(3600, 1.0), *x = filled(3600, 0.0);
    yoke_plan_options planning = adaptive(NULL, NULL);
    planning.partition = "adaptive:0";
    cr_assert_str_eq(solve_with(matrix, &planning, b, x, NULL).partition, "gpu");
    planning.partition = "adaptive:1";
    cr_assert_str_eq(solve_with(matrix, &planning, b, x, NULL).partition, "cpu");
}
