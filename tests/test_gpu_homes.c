/* SPDX-License-Identifier: BSD-3-Clause */
/* test_gpu_homes.c: where a GPU's arrays lie, and what becomes of a system on a smaller, slower
 * GPU: the same bits, memory as told, and what does not go together refused by name. */
#include <stdio.h>
#include <yoke_tools.h>

#include "tests/need_gpu.h"
#include "tests/systems.h"

#if FAKE_GPU
#include "tests/fake/fake.h"
#endif

TestSuite(gpu_homes, .init = need_gpu);

static bool is_usable(const char *memory)
{
    yoke_list_item item;
    for (int k = 0; yoke_list(YOKE_LIST_MEMORY, k, &item); k++)
        if (strcmp(item.name, memory) == 0) return item.usable;
    return false;
}

static yoke_plan_options at_home(const char *home, const char *memory)
{
    yoke_plan_options planning = yoke_plan_defaults();
    planning.partition = "gpu";
    planning.home = home;
    planning.memory = memory;
    return planning;
}

static yoke_plan *planned(yoke_matrix *matrix, const yoke_plan_options *planning)
{
    yoke_plan *plan = NULL;
    MUST(yoke_plan_create(matrix, planning, &plan));
    return plan;
}

#if FAKE_GPU
#define SPEC "poisson3d27:24"
#else
#define SPEC "poisson3d27:96"
#endif

static yoke_memory told(yoke_matrix *matrix, const yoke_plan_options *planning)
{
    yoke_memory memory = yoke_memory_defaults();
    MUST(yoke_plan_memory(matrix, planning, &memory));
    return memory;
}

static bool contains(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

/* ------------------------------------------------------------------ reports */

static void is_reported(const char *home, const char *memory, const char *home_ran,
                        const char *memory_ran)
{
    double b[100], x[100];
    yoke_plan_options planning = at_home(home, memory);
    for (int i = 0; i < 100; i++) b[i] = 1.0;
    yoke_plan *plan = planned(generated(new_context(), "poisson2d5:10"), &planning);
    MUST(yoke_solve(plan, b, x, NULL));
    const yoke_report *report = yoke_plan_report(plan);
    cr_assert_str_eq(report->home, home_ran);
    if (memory_ran)
        cr_assert_str_eq(report->memory, memory_ran);
    else
        cr_assert_null(report->memory, "%s", report->memory);
    cr_assert_str_eq(report->notices, "");
    yoke_plan_destroy(plan);
}

Test(gpu_homes, the_report_tells_home_and_memory)
{
    is_reported(NULL, NULL, "owner", NULL);
    is_reported("owner", "mapped", "owner", NULL); /* one owner shares nothing */
    is_reported("owner", "explicit", "owner", NULL);
    is_reported("shared", "mapped", "shared", "mapped");
    is_reported("spill:0.25", NULL, "spill:0.25", "mapped");
    if (is_usable("managed")) is_reported("shared", "managed", "shared", "managed");
    if (is_usable("managed")) is_reported("shared", NULL, "shared", "managed");
    if (is_usable("system")) is_reported("shared", "system", "shared", "system");
}

/* ----------------------------------------------------------------- refusals */

static void is_refused(yoke_matrix *matrix, const yoke_plan_options *planning, yoke_status status,
                       const char *why)
{
    yoke_plan *plan = NULL;
    cr_assert_eq(yoke_plan_create(matrix, planning, &plan), status, "%s: %s", why,
                 yoke_error_text());
    cr_assert(contains(yoke_error_text(), why), "'%s' is not in: %s", why, yoke_error_text());
    cr_assert_null(plan);
}

Test(gpu_homes, what_does_not_go_together_is_refused_by_name)
{
    static const struct {
        const char *home, *memory, *driver, *partition;
        yoke_status status;
        const char *why;
    } rows[] = {
        {"shared", "explicit", NULL, "gpu", YOKE_UNSUITABLE, "copies between owners"},
        {"shared", "host", NULL, "gpu", YOKE_UNSUITABLE, "home shared on a GPU needs memory"},
        {"spill:0.5", "managed", NULL, "gpu", YOKE_UNSUITABLE, "home spill lies in mapped memory"},
        {"spill:0.5", NULL, "persistent", "gpu", YOKE_UNSUITABLE, "does not take home spill:0.5"},
        {"shared", NULL, "persistent", "gpu", YOKE_UNSUITABLE, "does not take home shared"},
        {"spill:0.5", NULL, NULL, "cpu", YOKE_UNSUITABLE, "partition cpu has no GPU"},
        {"shared", NULL, NULL, "cpu", YOKE_UNSUITABLE, "partition cpu has no GPU"},
        {NULL, "mapped", NULL, "cpu", YOKE_UNSUITABLE, "memory mapped is shared with a GPU"},
        {"spill", NULL, NULL, "gpu", YOKE_INVALID, "expected spill:R"},
        {"spill:", NULL, NULL, "gpu", YOKE_INVALID, "expected spill:R"},
        {"spill:1.1", NULL, NULL, "gpu", YOKE_INVALID, "from 0 to 1"},
        {"spill:-0.1", NULL, NULL, "gpu", YOKE_INVALID, "from 0 to 1"},
        {"spill:nan", NULL, NULL, "gpu", YOKE_INVALID, "expected spill:R"},
        {"spill:0.5x", NULL, NULL, "gpu", YOKE_INVALID, "expected spill:R"},
        {"spill:1e", NULL, NULL, "gpu", YOKE_INVALID, "expected spill:R"},
        {"shared:0.5", NULL, NULL, "gpu", YOKE_UNKNOWN_NAME, "takes no argument"},
    };
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:10");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        yoke_plan_options planning = at_home(rows[i].home, rows[i].memory);
        planning.driver = rows[i].driver;
        planning.partition = rows[i].partition;
        is_refused(matrix, &planning, rows[i].status, rows[i].why);
    }
}

static int times_two(void *user, int nrhs, const double *in, double *out, yoke_space space,
                     void *stream)
{
    (void)user, (void)nrhs, (void)space, (void)stream;
    for (int i = 0; i < 10; i++) out[i] = 2.0 * in[i];
    return 0;
}

Test(gpu_homes, an_operator_has_no_entries_to_spill)
{
    yoke_operator op = yoke_operator_defaults();
    yoke_matrix *matrix = NULL;
    op.rows = 10;
    op.apply = times_two;
    op.flags = YOKE_APPLY_FIXED_SPD;
    MUST(yoke_matrix_create_operator(new_context(), &op, &matrix));
    keep(matrix);
    yoke_plan_options planning = at_home("spill:0.5", NULL);
    is_refused(matrix, &planning, YOKE_UNSUITABLE, "an operator has not");
    planning = at_home("shared", "mapped");
    double *b = filled(10, 1.0), *x = filled(10, 0.0);
    cr_assert_eq(solve_with(matrix, &planning, b, x, NULL).outcome, YOKE_CONVERGED);
    for (int i = 0; i < 10; i++) cr_assert_eq(x[i], 0.5);
}

Test(gpu_homes, partition_auto_takes_the_gpu_where_a_home_is_named)
{
    double b[100], x[100];
    yoke_plan_options planning = at_home("spill:0.5", NULL);
    planning.partition = NULL;
    for (int i = 0; i < 100; i++) b[i] = 1.0;
    yoke_report report =
        solve_with(generated(new_context(), "poisson2d5:10"), &planning, b, x, NULL);
    cr_assert_str_eq(report.partition, "gpu");
}

#if FAKE_GPU
Test(gpu_homes, a_memory_that_a_gpu_does_not_reach_is_refused_with_the_reason)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:40");
    yoke_plan_options planning = at_home("shared", "system"), on_cpu = yoke_plan_defaults();
    double *b = filled(1600, 1.0), *x = filled(1600, 0.0), *expected = filled(1600, 0.0);
    is_refused(matrix, &planning, YOKE_UNUSABLE, "does not reach plain memory");
    fake_reaches_all(true);
    on_cpu.partition = "cpu";
    solve_with(matrix, &on_cpu, b, expected, NULL);
    for (int sell = 0; sell < 2; sell++) {
        planning.format = sell ? "sell" : "csr";
        cr_assert_eq(solve_with(matrix, &planning, b, x, NULL).outcome, YOKE_CONVERGED);
        cr_assert_eq(memcmp(x, expected, 1600 * sizeof *x), 0, "%s", planning.format);
    }
}
#endif

/* ------------------------------------------------------------------- values */

Test(gpu_homes, new_values_reach_every_home)
{
    static const char *const homes[][2] = {{"shared", "mapped"},
                                           {"shared", "managed"},
                                           {"spill:0", NULL}, /* behind the last row */
                                           {"spill:0.3", NULL},
                                           {"spill:1", NULL}};
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:40");
    yoke_csr csr = yoke_csr_defaults();
    MUST(yoke_matrix_view(matrix, &csr));
    int64_t nonzeros = yoke_matrix_nonzeros(matrix);
    double *once = filled(nonzeros, 0.0), *twice = filled(nonzeros, 0.0), *b = filled(1600, 1.0);
    double *x = filled(1600, 0.0), *half = filled(1600, 0.0);
    memcpy(once, csr.value, (size_t)nonzeros * sizeof *once);
    for (int64_t k = 0; k < nonzeros; k++) twice[k] = 2.0 * once[k];
    for (size_t i = 0; i < 2 * sizeof homes / sizeof *homes; i++) {
        yoke_plan_options planning = at_home(homes[i / 2][0], homes[i / 2][1]);
        planning.format = i % 2 ? "sell" : "csr";
        if (planning.memory && !is_usable(planning.memory)) continue;
        yoke_plan *plan = planned(matrix, &planning);
        MUST(yoke_solve(plan, b, x, NULL));
        MUST(yoke_matrix_update_values(matrix, twice));
        MUST(yoke_solve(plan, b, half, NULL));
        for (int k = 0; k < 1600; k++)
            cr_assert_eq(2.0 * half[k], x[k], "%s, %s", planning.home, planning.format);
        MUST(yoke_matrix_update_values(matrix, once));
        yoke_plan_destroy(plan);
    }
}

/* Timed: drivers and shapes, in the format that was estimated. */
Test(gpu_homes, a_plan_is_measured_in_every_home)
{
    static const char *const homes[] = {"shared", "spill:0.3"};
    yoke_matrix *matrix = generated(new_context(), "poisson3d7:12");
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(rows, 1.0), *x = filled(rows, 0.0), *expected = filled(rows, 0.0);
    yoke_plan_options on_cpu = yoke_plan_defaults();
    on_cpu.partition = "cpu";
    solve_with(matrix, &on_cpu, b, expected, NULL);
    for (int i = 0; i < 2; i++) {
        yoke_plan_options planning = at_home(homes[i], "mapped");
        planning.effort = "measure";
        yoke_report report = solve_with(matrix, &planning, b, x, NULL);
        cr_assert_str_eq(report.format, "sell");
        cr_assert_str_neq(report.driver, "persistent");
        cr_assert_eq(memcmp(x, expected, (size_t)rows * sizeof *x), 0, "%s", homes[i]);
    }
}

/* ------------------------------------------------------- rows on the CPU too */

static void is_the_same_beside(yoke_matrix *matrix, const yoke_plan_options *planning,
                               const double *expected)
{
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(rows, 1.0), *x = filled(rows, 0.0);
    yoke_plan *plan = planned(matrix, planning);
    MUST(yoke_solve(plan, b, x, NULL));
    const yoke_report *report = yoke_plan_report(plan);
    cr_assert(report->cpu_rows > 0 && report->cpu_rows < rows);
    cr_assert_str_eq(report->memory, planning->memory);
    cr_assert_str_eq(report->home, planning->home);
    cr_assert_eq(memcmp(x, expected, (size_t)rows * sizeof *x), 0, "%s, %s, %s, %s", planning->home,
                 planning->memory, planning->format, planning->driver);
    yoke_plan_destroy(plan);
}

Test(gpu_homes, every_home_gives_the_same_bits_beside_rows_on_the_cpu)
{
    static const char *const rows_of[][2] = {{"shared", "mapped"},     {"shared", "managed"},
                                             {"spill:0.3", "mapped"},  {"spill:0.3", "explicit"},
                                             {"spill:0.3", "managed"}, {"spill:1", "mapped"}};
    static const char *const formats[] = {"csr", "sell"}, *const drivers[] = {"stream", "graph"};
    yoke_matrix *matrix = generated(new_context(), "elasticity3d:8");
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(rows, 1.0), *expected = filled(rows, 0.0);
    yoke_plan_options on_cpu = yoke_plan_defaults();
    on_cpu.partition = "cpu";
    solve_with(matrix, &on_cpu, b, expected, NULL);
    for (size_t i = 0; i < 4 * sizeof rows_of / sizeof *rows_of; i++) {
        yoke_plan_options planning = at_home(rows_of[i / 4][0], rows_of[i / 4][1]);
        planning.partition = "ratio:0.3";
        planning.format = formats[i / 2 % 2];
        planning.driver = drivers[i % 2];
        if (is_usable(planning.memory)) is_the_same_beside(matrix, &planning, expected);
    }
}

Test(gpu_homes, rows_beside_the_cpus_are_spilled_too)
{
    yoke_matrix *matrix = generated(new_context(), SPEC);
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(rows, 1.0), *x = filled(rows, 0.0);
    yoke_solve_options few = yoke_solve_defaults();
    few.maxit = 3;
    yoke_plan_options planning = at_home(NULL, NULL);
    planning.partition = "ratio:0.1";
    planning.format = "csr";
    planning.gpu_memory = 3 * (told(matrix, &planning).device_bytes / 4);
    yoke_plan *plan = planned(matrix, &planning);
    MUST(yoke_solve(plan, b, x, &few));
    cr_assert(contains(yoke_plan_report(plan)->home, "spill:0."), "%s",
              yoke_plan_report(plan)->home);
    cr_assert(contains(yoke_plan_report(plan)->notices, "home auto takes spill:"));
    yoke_plan_destroy(plan);
    planning.home = "owner";
    is_refused(matrix, &planning, YOKE_NO_MEMORY, "which gpu_memory gives it");
    planning.home = "shared";
    planning.memory = "explicit";
    planning.gpu_memory = 0;
    yoke_report report = solve_with(matrix, &planning, b, x, &few);
    cr_assert_str_eq(report.home, "shared");
    cr_assert_str_eq(report.memory, "explicit");
}

/* ------------------------------------------------------------------- memory */

#if FAKE_GPU
/* The peak is of the process, so each is told in one of its own. */
static void is_no_more_than_told(const char *home, const char *memory, const char *format)
{
    yoke_matrix *matrix = generated(new_context(), SPEC);
    yoke_plan_options planning = at_home(home, memory);
    planning.format = format;
    planning.shape = "unfolded";
    planning.driver = "graph";
    yoke_memory expected = told(matrix, &planning);
    yoke_plan *plan = planned(matrix, &planning);
    cr_assert_leq(fake_peak(), expected.device_bytes, "told %zu", expected.device_bytes);
    double most = 1.03 * (double)fake_peak();
    if (memory && strcmp(memory, "managed") == 0) most *= 1.04; /* what is left alone, one in 31 */
    cr_assert_geq(most, (double)expected.device_bytes, "took %zu, told %zu", fake_peak(),
                  expected.device_bytes);
    yoke_plan_destroy(plan);
}

Test(gpu_homes, csr_in_managed_memory_is_told)
{
    is_no_more_than_told("shared", "managed", "csr");
}

Test(gpu_homes, sell_in_managed_memory_is_told)
{
    is_no_more_than_told("shared", "managed", "sell");
}

Test(gpu_homes, sell_in_mapped_memory_is_told)
{
    is_no_more_than_told("shared", "mapped", "sell");
}

Test(gpu_homes, spilled_csr_is_told)
{
    is_no_more_than_told("spill:0.6", NULL, "csr");
}

Test(gpu_homes, spilled_sell_is_told)
{
    is_no_more_than_told("spill:0.6", NULL, "sell");
}
#endif

Test(gpu_homes, what_lies_on_the_host_is_told_as_the_hosts)
{
    yoke_matrix *matrix = generated(new_context(), SPEC);
    yoke_plan_options owner = at_home("owner", NULL), spill = at_home("spill:0.5", NULL);
    owner.format = spill.format = "csr";
    owner.driver = spill.driver = "graph";
    owner.shape = spill.shape = "unfolded";
    double half = 6.0 * (double)yoke_matrix_nonzeros(matrix);
    yoke_memory a = told(matrix, &owner), b = told(matrix, &spill);
    cr_assert_float_eq((double)a.device_bytes - (double)b.device_bytes, half, 16.0);
    cr_assert_float_eq((double)b.host_bytes - (double)a.host_bytes, half, 16.0);
    spill.home = "shared";
    spill.memory = "mapped";
    cr_assert_lt(told(matrix, &spill).device_bytes, 1000000);
}

/* A card with so much memory. */
static yoke_plan_options on_card(size_t bytes, const char *format)
{
    yoke_plan_options planning = at_home(NULL, NULL);
    planning.format = format;
    planning.gpu_memory = bytes;
    return planning;
}

static int notices(const yoke_report *report)
{
    int count = *report->notices != '\0';
    for (const char *at = report->notices; *at; at++) count += *at == '\n';
    return count;
}

/* Spilled as little as fits: a hundredth less does not. */
static void spills_least(yoke_matrix *matrix, size_t bytes, const char *format)
{
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(rows, 1.0), *x = filled(rows, 0.0), *expected = filled(rows, 0.0);
    char less[32];
    yoke_solve_options few = yoke_solve_defaults();
    few.fixed_iterations = 1;
    few.maxit = 3;
    yoke_plan_options planning = on_card(bytes, format), on_cpu = yoke_plan_defaults();
    on_cpu.partition = "cpu";
    solve_with(matrix, &on_cpu, b, expected, &few);
    yoke_plan *plan = planned(matrix, &planning);
    MUST(yoke_solve(plan, b, x, &few));
    const yoke_report *report = yoke_plan_report(plan);
    double share = 0.0;
    cr_assert_eq(sscanf(report->home, "spill:%lf", &share), 1, "%s", report->home);
    cr_assert(share > 0.01 && share < 1.0, "%s", report->home);
    cr_assert_str_eq(report->memory, "mapped");
    cr_assert_eq(notices(report), 1, "%s", report->notices);
    cr_assert(contains(report->notices, "home auto takes spill:"), "%s", report->notices);
    cr_assert(contains(report->notices, "free of"), "%s", report->notices);
    cr_assert_eq(memcmp(x, expected, (size_t)rows * sizeof *x), 0, "%s", format);
    snprintf(less, sizeof less, "spill:%g", share - 0.01);
    planning.home = less;
    planning.format = report->format;
    planning.driver = report->driver;
    planning.shape = report->shape;
    yoke_plan_destroy(plan);
    is_refused(matrix, &planning, YOKE_NO_MEMORY, "which gpu_memory gives it");
#if FAKE_GPU
    cr_assert_leq(fake_peak(), bytes, "%s: took %zu of %zu", format, fake_peak(), bytes);
#endif
}

/* More entries than pass through the device at a time; the last piece, and its last chunk, are
 * ragged. */
Test(gpu_homes, sell_is_filled_by_pieces_to_the_bits_of_one)
{
    static const char *const homes[] = {"owner", "shared", "spill:0.7"};
    yoke_matrix *matrix = generated(new_context(), "elasticity3d:19");
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(rows, 1.0), *x[3];
    yoke_solve_options few = yoke_solve_defaults();
    few.fixed_iterations = 1;
    few.maxit = 3;
    cr_assert_gt(yoke_matrix_nonzeros(matrix), 2 << 19);
    for (int i = 0; i < 3; i++) {
        yoke_plan_options planning = at_home(homes[i], i == 1 ? "mapped" : NULL);
        planning.format = "sell";
        x[i] = filled(rows, 0.0);
        solve_with(matrix, &planning, b, x[i], &few);
        cr_assert_eq(memcmp(x[i], x[0], (size_t)rows * sizeof *b), 0, "%s", homes[i]);
    }
}

Test(gpu_homes, csr_that_a_card_has_no_room_for_is_spilled)
{
    yoke_matrix *matrix = generated(new_context(), SPEC);
    yoke_plan_options planning = on_card(0, "csr");
    planning.driver = "graph";
    size_t bytes = told(matrix, &planning).device_bytes;
    spills_least(matrix, bytes / 2, "csr");
}

/* Of elasticity, whose last chunk is a ragged one; the card has a quarter of what it takes. */
Test(gpu_homes, sell_that_a_card_has_no_room_for_is_spilled)
{
    yoke_matrix *matrix =
        generated(new_context(), FAKE_GPU ? "elasticity3d:14" : "elasticity3d:40");
    yoke_plan_options planning = on_card(0, "sell");
    planning.driver = "graph";
    size_t bytes = told(matrix, &planning).device_bytes;
    spills_least(matrix, bytes / 4 + (FAKE_GPU ? (size_t)6 << 20 : 0), "sell");
}

/* CSR and SELL do not fit at once, SELL alone does. */
Test(gpu_homes, sell_comes_by_pieces_where_csr_does_not_fit_beside_it)
{
    yoke_matrix *matrix =
        generated(new_context(), FAKE_GPU ? "elasticity3d:19" : "elasticity3d:40");
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(rows, 1.0), *x = filled(rows, 0.0), *expected = filled(rows, 0.0);
    yoke_solve_options few = yoke_solve_defaults();
    few.fixed_iterations = 1;
    few.maxit = 3;
    yoke_plan_options both = on_card(0, "sell"), pieces = at_home("spill:0", NULL);
    both.driver = pieces.driver = "graph";
    pieces.format = "sell";
    size_t room = told(matrix, &pieces).device_bytes + 100000;
    cr_assert_lt(room, told(matrix, &both).device_bytes);
    solve_with(matrix, &both, b, expected, &few);
    yoke_plan_options planning = on_card(room, NULL);
    yoke_plan *plan = planned(matrix, &planning);
    MUST(yoke_solve(plan, b, x, &few));
    cr_assert_str_eq(yoke_plan_report(plan)->home, "spill:0");
    cr_assert_str_eq(yoke_plan_report(plan)->format, "sell");
    cr_assert(contains(yoke_plan_report(plan)->notices, "home auto takes spill:0: "));
    cr_assert_eq(memcmp(x, expected, (size_t)rows * sizeof *x), 0);
    yoke_plan_destroy(plan);
}

/* auto gives up what it added first: the persistent driver, then SELL. */
Test(gpu_homes, what_fits_without_spilling_is_not_spilled)
{
    yoke_matrix *matrix = generated(new_context(), SPEC);
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(rows, 1.0), *x = filled(rows, 0.0);
    yoke_plan_options planning = on_card(0, "csr");
    planning.driver = "graph";
    yoke_solve_options few = yoke_solve_defaults();
    few.maxit = 3;
    planning = on_card(told(matrix, &planning).device_bytes + 100000, NULL);
    yoke_plan *plan = planned(matrix, &planning);
    MUST(yoke_solve(plan, b, x, &few));
    cr_assert_str_eq(yoke_plan_report(plan)->home, "owner");
    cr_assert_str_eq(yoke_plan_report(plan)->format, "csr");
    cr_assert_str_eq(yoke_plan_report(plan)->notices, "");
    yoke_plan_destroy(plan);
}

Test(gpu_homes, a_card_too_small_for_the_vectors_or_for_a_named_home_is_refused)
{
    yoke_matrix *matrix = generated(new_context(), SPEC);
    yoke_plan_options planning = on_card(100000, NULL);
    is_refused(matrix, &planning, YOKE_NO_MEMORY, "which gpu_memory gives it");
    planning.format = "csr";
    planning.driver = "graph";
    planning.gpu_memory = told(matrix, &planning).device_bytes / 2;
    planning.home = "owner";
    is_refused(matrix, &planning, YOKE_NO_MEMORY, "which gpu_memory gives it");
    if (!is_usable("managed")) return;
    planning.home = "shared";
    planning.memory = "managed";
    is_refused(matrix, &planning, YOKE_NO_MEMORY, "free of");
}

/* More than is free can hang a GPU for everyone: some of that is left alone. */
Test(gpu_homes, managed_memory_leaves_a_margin_free)
{
    yoke_matrix *matrix = generated(new_context(), SPEC);
    yoke_plan_options planning = at_home("shared", "managed");
    if (!is_usable("managed")) cr_skip_test("no managed memory");
    planning.format = "csr";
    planning.shape = "unfolded";
    planning.driver = "graph";
    size_t needs = told(matrix, &planning).device_bytes;
    planning.gpu_memory = needs - needs / 100;
    is_refused(matrix, &planning, YOKE_NO_MEMORY, "of managed memory on device");
    planning.gpu_memory = needs; /* the margin is told */
    yoke_plan_destroy(planned(matrix, &planning));
}

/* Whether both are faster than the CPU alone is the model's word on the machine at hand. */
Test(gpu_homes, partition_auto_gives_what_does_not_fit_a_card_to_the_cpu)
{
    yoke_matrix *matrix = generated(new_context(), SPEC);
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(rows, 1.0), *x = filled(rows, 0.0), *expected = filled(rows, 0.0);
    yoke_solve_options few = yoke_solve_defaults();
    few.maxit = 3;
    yoke_plan_options planning = on_card(1000000, NULL), on_cpu = yoke_plan_defaults();
    on_cpu.partition = "cpu";
    solve_with(matrix, &on_cpu, b, expected, &few);
    planning.partition = NULL;
    yoke_plan *plan = planned(matrix, &planning);
    MUST(yoke_solve(plan, b, x, &few));
    const yoke_report *report = yoke_plan_report(plan);
    bool alone = strcmp(report->partition, "cpu") == 0;
    cr_assert(alone || strncmp(report->partition, "ratio:", 6) == 0, "%s", report->partition);
    cr_assert_gt(report->cpu_rows, rows / 2);
    cr_assert(contains(report->notices, alone ? "takes the CPU" : "estimates who has which rows"),
              "%s", report->notices);
    cr_assert_eq(memcmp(x, expected, (size_t)rows * sizeof *x), 0, "other bits");
    yoke_plan_destroy(plan);
}

Test(gpu_homes, partition_auto_that_may_measure_shares_what_does_not_fit_a_card)
{
    yoke_matrix *matrix = generated(new_context(), SPEC);
    int64_t rows = yoke_matrix_rows(matrix);
    double *b = filled(rows, 1.0), *x = filled(rows, 0.0), *expected = filled(rows, 0.0);
    yoke_plan_options planning = on_card(0, "csr"), on_cpu = yoke_plan_defaults();
    yoke_solve_options few = yoke_solve_defaults();
    few.maxit = 3;
    on_cpu.partition = "cpu";
    yoke_plan *plan = planned(matrix, &on_cpu);
    MUST(yoke_solve(plan, b, expected, &few));
    yoke_plan_destroy(plan);
    planning.driver = "graph";
    planning.gpu_memory = 6 * (told(matrix, &planning).device_bytes / 10);
    planning.partition = planning.driver = NULL;
    planning.effort = "measure";
    plan = planned(matrix, &planning);
    MUST(yoke_solve(plan, b, x, &few));
    cr_assert(contains(yoke_plan_report(plan)->notices, "partition auto measures who has which"),
              "%s", yoke_plan_report(plan)->notices);
    cr_assert_eq(memcmp(x, expected, (size_t)rows * sizeof *x), 0, "other bits");
    yoke_plan_destroy(plan);
}

/* ---------------------------------------------------------- multiprocessors */

static void works_with(int asked, const char *notice)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:40");
    double *b = filled(1600, 1.0), *x = filled(1600, 0.0), *expected = filled(1600, 0.0);
    yoke_plan_options planning = at_home(NULL, NULL), on_cpu = yoke_plan_defaults();
    on_cpu.partition = "cpu";
    planning.gpu_sms = asked;
    solve_with(matrix, &on_cpu, b, expected, NULL);
    yoke_plan *plan = planned(matrix, &planning);
    MUST(yoke_solve(plan, b, x, NULL));
    const yoke_report *report = yoke_plan_report(plan);
    cr_assert_str_neq(report->driver, "persistent");
    cr_assert_eq(memcmp(x, expected, 1600 * sizeof *x), 0, "other bits");
    cr_assert(contains(report->notices, notice), "%s", report->notices);
    yoke_plan_destroy(plan);
}

#if FAKE_GPU
Test(gpu_homes, some_multiprocessors_give_the_same_bits)
{
    fake_set_chip((fake_chip){132, 232448, 16});
    works_with(8, "gpu_sms 8: this device works with 8 multiprocessors");
    cr_assert_eq(fake_made().greens, 1);
    fake_green_contexts(8);
    works_with(10, "gpu_sms 10: this device works with 16 multiprocessors");
    works_with(200, "gpu_sms 200: this device works with 132 multiprocessors");
    cr_assert_eq(fake_made().greens, 2, "all of them need no green context");
    cr_assert_eq(fake_total(fake_live()), 0);
}

Test(gpu_homes, a_driver_without_green_contexts_is_told_by_name)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:10");
    yoke_plan_options planning = at_home(NULL, NULL);
    planning.gpu_sms = 1;
    fake_green_contexts(0);
    is_refused(matrix, &planning, YOKE_UNUSABLE, "gpu_sms needs green contexts");
    cr_assert_eq(fake_total(fake_live()), 0);
}
#else
Test(gpu_homes, some_multiprocessors_give_the_same_bits)
{
    works_with(8, "gpu_sms 8: this device works with");
    works_with(100000, "this device works with");
}
#endif

Test(gpu_homes, the_persistent_driver_declines_some_multiprocessors)
{
    yoke_matrix *matrix = generated(new_context(), "poisson2d5:10");
    yoke_plan_options planning = at_home(NULL, NULL);
    planning.gpu_sms = 8;
    planning.driver = "persistent";
    is_refused(matrix, &planning, YOKE_UNSUITABLE, "does not take gpu_sms");
    planning.driver = NULL;
    planning.gpu_sms = -1;
    is_refused(matrix, &planning, YOKE_INVALID, "gpu_sms is -1");
}
