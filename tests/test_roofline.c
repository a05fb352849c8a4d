/* SPDX-License-Identifier: BSD-3-Clause */
/* test_roofline.c: the passes of an iteration one by one: what they move, that they leave a plan
 * good, and what cgbench --roofline makes of them. On the fake runtime a second time. */
#include <stdio.h>

#include "tests/json_check.h"
#include "tests/run_cgbench.h"
#include "tests/systems.h"
#include "tests/xml_check.h"
#include "yoke_tools.h"

TestSuite(roofline, .init = enter_folder, .fini = leave_folder, .timeout = 120);

/* ----------------------------------------------------------------- library */

static yoke_plan *planned(yoke_matrix *matrix, const char *partition, const char *shape,
                          const char *preconditioner)
{
    yoke_plan_options planning = yoke_plan_defaults();
    yoke_plan *plan = NULL;
    planning.partition = partition;
    planning.shape = shape;
    planning.preconditioner = preconditioner;
    MUST(yoke_plan_create(matrix, &planning, &plan));
    return plan;
}

/* Those of an iteration, as a report has them, are the sum; each pass has a time. */
static void sums_up(const char *partition, const char *shape, const char *preconditioner,
                    int passes)
{
    yoke_matrix *matrix = generated(new_context(), "poisson3d7:16");
    yoke_plan *plan = planned(matrix, partition, shape, preconditioner);
    double *b = filled(4096, 1.0), *x = filled(4096, 0.0), bytes = 0.0;
    yoke_pass pass[YOKE_PASSES];
    int count = 0;
    MUST(yoke_solve(plan, b, x, NULL));
    MUST(yoke_plan_time_passes(plan, pass, &count));
    cr_assert_eq(count, passes, "%s, %s: %d", partition, shape, count);
    for (int i = 0; i < count; i++) {
        bytes += pass[i].bytes;
        cr_assert_gt(pass[i].seconds, 0.0, "%s", pass[i].name);
        cr_assert_gt(pass[i].flops, 0.0, "%s", pass[i].name);
    }
    cr_assert_eq(bytes, yoke_plan_report(plan)->bytes_per_iteration, "%s, %s", partition, shape);
    yoke_plan_destroy(plan);
}

Test(roofline, passes_move_what_an_iteration_does)
{
    sums_up("cpu", "unfolded", NULL, 3);
    sums_up("cpu", "folded", NULL, 2);
    sums_up("cpu", "unfolded", "jacobi", 3);
    if (!FAKE_GPU) return;
    sums_up("gpu", "folded", NULL, 2);
    sums_up("gpu", "unfolded", "jacobi", 1); /* on the chip: see below */
    sums_up("ratio:0.3", NULL, NULL, 6);
}

/* poisson3d7:16 has 7 n^3 - 6 n^2 nonzeros, and 4 n^3 bytes of row starts. */
Test(roofline, a_pass_counts_its_vectors_and_the_product_its_matrix)
{
    yoke_matrix *matrix = generated(new_context(), "poisson3d7:16");
    yoke_plan *plan = planned(matrix, "cpu", "unfolded", NULL);
    const double rows = 4096.0, nonzeros = 7 * 4096.0 - 6 * 256.0;
    yoke_pass pass[YOKE_PASSES];
    int count = 0;
    MUST(yoke_plan_time_passes(plan, pass, &count));
    cr_assert_str_eq(pass[0].name, "direction");
    cr_assert_eq(pass[0].bytes, 40.0 * rows);
    cr_assert_eq(pass[0].flops, 4.0 * rows);
    cr_assert_str_eq(pass[1].name, "multiply");
    cr_assert_eq(pass[1].bytes, 20.0 * rows + 12.0 * nonzeros);
    cr_assert_eq(pass[1].flops, 2.0 * rows + 2.0 * nonzeros);
    cr_assert_str_eq(pass[2].owner, "cpu");
    cr_assert_eq(pass[2].bytes, 24.0 * rows);
    yoke_plan_destroy(plan);
}

Test(roofline, timing_leaves_the_next_solve_as_it_was)
{
    static const char *const partitions[] = {"cpu", "gpu", "ratio:0.3"};
    for (int i = 0; i < (FAKE_GPU ? 3 : 1); i++) {
        yoke_matrix *matrix = generated(new_context(), "poisson2d5:40");
        yoke_plan *plan = planned(matrix, partitions[i], NULL, NULL);
        double *b = filled(1600, 1.0), *before = filled(1600, 0.0), *after = filled(1600, 0.0);
        yoke_pass pass[YOKE_PASSES];
        int count = 0;
        scramble(b, 1600, 3);
        MUST(yoke_solve(plan, b, before, NULL));
        MUST(yoke_plan_time_passes(plan, pass, &count));
        MUST(yoke_solve(plan, b, after, NULL));
        cr_assert_eq(memcmp(before, after, 1600 * sizeof *before), 0, "%s", partitions[i]);
        yoke_plan_destroy(plan);
    }
}

static int copies(void *user, int nrhs, const double *from, double *to, yoke_space space,
                  void *stream)
{
    (void)user, (void)nrhs, (void)space, (void)stream;
    memcpy(to, from, 8 * sizeof *to);
    return 0;
}

Test(roofline, what_a_callers_operator_moves_is_not_guessed)
{
    yoke_operator op = yoke_operator_defaults();
    yoke_matrix *matrix = NULL;
    yoke_plan *plan = NULL;
    yoke_pass pass[YOKE_PASSES];
    int count = 1;
    op.rows = 8;
    op.apply = copies;
    MUST(yoke_matrix_create_operator(new_context(), &op, &matrix));
    MUST(yoke_plan_create(matrix, NULL, &plan));
    cr_assert_eq(yoke_plan_time_passes(plan, pass, &count), YOKE_UNSUITABLE);
    cr_assert_eq(count, 0);
    cr_assert(strstr(yoke_error_text(), "operator"));
    cr_assert_eq(yoke_plan_time_passes(plan, NULL, &count), YOKE_INVALID);
    yoke_plan_destroy(plan);
    yoke_matrix_destroy(matrix);
}

/* ----------------------------------------------------------------- cgbench */

Test(roofline, cgbench_writes_each_pass_with_its_share_of_the_ceiling)
{
    char keys[4096];
    cr_assert_eq(cgbench("run gen:poisson2d5:30 --partition cpu --shape unfolded --threads 1 "
                         "--repeat 1 --roofline --json j --svg s"),
                 0, "%s", err);
    cr_assert(strstr(out, "passes alone"), "%s", out);
    cr_assert(strstr(out, "multiply"), "%s", out);
    read_text("j", out, sizeof out);
    cr_assert(json_object(out, keys, sizeof keys), "%s", out);
    cr_assert(strstr(keys, "notices roofline "), "%s", keys);
    cr_assert_str_eq(json_value(out, "roofline.1.pass"), "\"multiply\"");
    const char *passes = json_value(out, "roofline");
    cr_assert(strstr(passes, "{\"pass\":\"direction\",\"owner\":\"cpu\",\"bytes\":36000,"), "%s",
              passes);
    cr_assert(strstr(passes, "\"share_of_ceiling\":"), "%s", passes);
    cr_assert_null(strstr(passes, "null"), "%s", passes);
    read_text("s", out, sizeof out);
    cr_assert_null(xml_fault(out), "%s", xml_fault(out));
    cr_assert(strstr(out, "multiply, cpu"));
    cr_assert(strstr(out, "GFLOP/s"));
}

Test(roofline, cgbench_leaves_the_key_out_unless_asked)
{
    char keys[4096];
    cr_assert_eq(cgbench("solve gen:poisson2d5:30 --json -"), 0, "%s", err);
    cr_assert(json_object(out, keys, sizeof keys));
    cr_assert_null(strstr(keys, "roofline"));
}

Test(roofline, cgbench_tells_both_owners_and_the_chip)
{
    if (!FAKE_GPU) cr_skip_test("of the fake runtime");
    cr_assert_eq(cgbench("run gen:poisson3d7:10 --partition ratio:0.3 --repeat 1 --roofline "
                         "--json - --svg s"),
                 0, "%s", err);
    const char *passes = json_value(out, "roofline");
    cr_assert(strstr(passes, "\"pass\":\"update\",\"owner\":\"gpu\""), "%s", passes);
    cr_assert(strstr(passes, "\"pass\":\"update\",\"owner\":\"cpu\""), "%s", passes);
    read_text("s", out, sizeof out);
    cr_assert_null(xml_fault(out), "%s", xml_fault(out));
    cr_assert_eq(cgbench("run gen:poisson3d7:10 --partition gpu --driver persistent --repeat 1 "
                         "--roofline --json -"),
                 0, "%s", err);
    cr_assert(strstr(json_value(out, "roofline"), "[{\"pass\":\"iteration\",\"owner\":\"gpu\""),
              "%s", out);
}
