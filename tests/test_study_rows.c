/* SPDX-License-Identifier: BSD-3-Clause */
/* test_study_rows.c: rows of known figures through cgbench's reader and writers, two owners among
 * them, which a machine without a GPU cannot measure. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/explain.h"
#include "bench/read_row.h"
#include "bench/study.h"
#include "bench/verify.h"
#include "bench/write_rows.h"
#include "tests/xml_check.h"

static row make_row(const char *matrix, const char *label, double us)
{
    row r = row_unknown();
    row_set(&r.matrix, matrix);
    row_set(&r.configuration, label);
    row_set(&r.settings, "");
    row_set(&r.solver, "cg");
    row_set(&r.outcome, "iteration_limit");
    row_set(&r.partition, "ratio:0.1");
    row_set(&r.home, "owner");
    r.rows = 1000;
    r.nonzeros = 5000;
    r.cpu_rows = 100;
    r.gpus = 1;
    r.threads = 16;
    r.iterations = 50;
    r.us_median = r.us_min = r.us_max = us;
    return r;
}

static void add(row_list *rows, const char *matrix, const char *label, double us)
{
    row r = make_row(matrix, label, us);
    rows_add(rows, &r);
}

static void add_refused(row_list *rows, const char *matrix, const char *label, const char *reason)
{
    row r = make_row(matrix, label, NAN);
    row_set(&r.outcome, NULL);
    row_set(&r.reason, reason);
    rows_add(rows, &r);
}

/* To be freed. */
static char *written(void (*write)(const row_list *, FILE *), const row_list *rows)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);
    write(rows, stream);
    fclose(stream);
    return text;
}

Test(study_rows, a_row_comes_back_from_its_line_as_it_was)
{
    row r = make_row("a\"b\\c\td\xc3\xa9\x01.mtx", "mapped owner ratio:0.1", 12.125), back;
    row_set(&r.solver, "operations");
    row_notice(&r, "one, [two]\nand {three}");
    row_set(&r.reason, "why: \"\xe2\x82\xac\"");
    r.asked[3] = 1;
    r.speedup[3] = 2.5;
    r.asked[0] = 1;
    r.rtol = 1e-8;
    row_list one = {1, &r};
    char *line = written(write_json, &one);
    line[strcspn(line, "\n")] = '\0';
    cr_assert(read_row(line, &back), "%s", line);
    cr_assert_eq(back.is_rival, 1);
    cr_assert_str_eq(back.matrix, r.matrix);
    cr_assert_eq(back.notices.count, 2);
    row_list two = {1, &back};
    char *again = written(write_json, &two);
    again[strcspn(again, "\n")] = '\0';
    cr_assert_str_eq(again, line);
    free(line);
    free(again);
    row_free(&r);
    row_free(&back);
}

Test(study_rows, what_is_no_object_is_no_row)
{
    static const char *const faults[] = {
        "",
        "{",
        "[]",
        "{\"rows\":1",
        "{\"rows\":}",
        "{\"rows\":1}x",
        "{\"rows\" 1}",
        "{\"matrix\":\"a}",
        "{\"matrix\":\"\\u00\"}",
        "{\"matrix\":\"\\u0000\"}",
        "{\"matrix\":\"\\x\"}",
        "{\"seconds\":{\"a\":{}}}",
        "{\"notices\":[1]}",
        "{\"notices\":[\"a\"}",
        "{,}",
        "{\"rows\":nul}",
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        row r;
        cr_assert_not(read_row(faults[i], &r), "%s", faults[i]);
        row_free(&r);
    }
    row r;
    cr_assert(read_row(" { \"other\" : [ ] , \"rows\" : 12, \"more\":true } ", &r));
    cr_assert_eq(r.rows, 12);
    cr_assert(isnan(r.us_median));
    row_free(&r);
}

Test(study_rows, speeds_are_those_beside_the_faster_single_owner)
{
    row_list rows = {0, NULL};
    add(&rows, "m", "cpu", 512.0);
    add(&rows, "m", "gpu", 128.0);
    add(&rows, "m", "mapped owner ratio:0.1", 102.4);
    add(&rows, "m", "mapped shared gpu", 2560.0);
    add_refused(&rows, "m", "system owner ratio:0.1", "pageable memory is out of reach");
    add_refused(&rows, "m", "system shared gpu", "pageable memory is out of reach");
    cr_assert_eq(study_base(&rows, "m"), 128.0);
    cr_assert_eq(study_best(&rows, "m"), 102.4);
    char *table = written(write_study_table, &rows);
    cr_assert(strstr(table, "the best single owner, gpu, 128 us an iteration, is 1.00"), "%s",
              table);
    cr_assert(strstr(table, "cpu  0.25    gpu  1.00"), "%s", table);
    cr_assert(strstr(table, " .       *1.25\n"), "%s", table);
    cr_assert(strstr(table, " 0.05           .\n"), "%s", table);
    cr_assert(strstr(table, "system    cannot run: pageable memory is out of reach\n"), "%s",
              table);
    free(table);
    rows_free(&rows);
}

Test(study_rows, a_wrong_answer_is_no_speed)
{
    row_list rows = {0, NULL};
    add(&rows, "m", "cpu", 400.0);
    add(&rows, "m", "gpu", 100.0);
    row_set(&rows.row[1].reason, "the true residual is 1, reported as 0");
    add(&rows, "m", "auto", 10.0);
    rows.row[2].exit_code = 1;
    cr_assert_eq(study_base(&rows, "m"), 400.0);
    cr_assert_eq(study_best(&rows, "m"), 400.0);
    char *table = written(write_study_table, &rows), *map = written(write_heatmap, &rows);
    cr_assert(strstr(table, "cpu  *1.00    gpu  !a    auto  !b"), "%s", table);
    cr_assert(strstr(map, "gpu: failed: the true residual is 1"), "%s", map);
    free(table);
    free(map);
    rows_free(&rows);
}

static int count_of(const char *text, const char *what)
{
    int count = 0;
    for (; (text = strstr(text, what)); text++) count++;
    return count;
}

Test(study_rows, the_heat_map_shows_two_owners_and_folds_what_cannot_run)
{
    row_list rows = {0, NULL};
    static const char *const matrices[] = {"gen:poisson3d7:100", "/a/very/long/name/of/a/file.mtx"};
    for (int k = 0; k < 2; k++) {
        add(&rows, matrices[k], "cpu", 300.0);
        rows.row[rows.count - 1].gpus = 0;
        add(&rows, matrices[k], "gpu", 100.0);
        add(&rows, matrices[k], "mapped owner ratio:0.1", 80.0 + 40.0 * k);
        for (int i = 0; i < 3; i++) {
            static const char *const labels[] = {"system owner ratio:0.1", "system owner model",
                                                 "system owner adaptive"};
            add_refused(&rows, matrices[k], labels[i], "no <pageable> & \"atomic\" access");
        }
    }
    char *map = written(write_heatmap, &rows);
    cr_assert_null(xml_fault(map), "%.80s", xml_fault(map));
    cr_assert_eq(count_of(map, ">1.25</text>"), 2, "%s", map); /* one in the legend */
    cr_assert_eq(count_of(map, ">0.83</text>"), 1);
    cr_assert(strstr(map, "80.0 us an iteration, 1 GPU + 16 threads, 100 rows on the CPU"));
    cr_assert(strstr(map, "all 3</text>"));
    cr_assert_eq(count_of(map, "cannot run: no &lt;pageable&gt; &amp; \"atomic\" access"), 1);
    cr_assert_eq(count_of(map, "class=\"best\""), 2);
    cr_assert(strstr(map, ">file.mtx</text>"));
    free(map);
    rows_free(&rows);
}

/* Each says which partition it is about; they are one reason all the same. */
Test(study_rows, reasons_that_differ_by_the_partition_alone_are_one)
{
    row_list rows = {0, NULL};
    add(&rows, "m", "cpu", 512.0);
    add_refused(&rows, "m", "system owner ratio:0.1",
                "memory system for partition ratio:0.1: out of reach");
    add_refused(&rows, "m", "system owner ratio:0.2",
                "memory system for partition ratio:0.2: out of reach");
    add_refused(&rows, "m", "mapped owner model", "--partition model: not yet");
    add_refused(&rows, "m", "mapped owner adaptive", "--partition adaptive: not yet");
    char *map = written(write_heatmap, &rows), *table = written(write_study_table, &rows);
    cr_assert(strstr(table, "  system    cannot run: memory system for this partition: out of "
                            "reach\n"),
              "%s", table);
    cr_assert(strstr(table, "  a         --partition model: not yet\n"), "%s", table);
    cr_assert(strstr(table, "  b         --partition adaptive: not yet\n"), "%s", table);
    cr_assert(strstr(map, "all 2</text>"), "%s", map);
    free(map);
    free(table);
    rows_free(&rows);
}

/* Rows that were kept may hold anything. */
Test(study_rows, whatever_a_row_says_the_heat_map_is_sound)
{
    row_list rows = {0, NULL};
    add(&rows, "m", "cpu", 512.0);
    row_set(&rows.row[0].driver, "</title> & \xff");
    row_set(&rows.row[0].version, "<1>");
    row_set(&rows.row[0].date, "2026-12-0\xc3\xa4");
    char *map = written(write_heatmap, &rows);
    cr_assert_null(xml_fault(map), "%.80s", xml_fault(map));
    cr_assert(strstr(map, "driver &lt;/title&gt; &amp; \xEF\xBF\xBD"), "%s", map);
    cr_assert(strstr(map, "Yoke &lt;1&gt;, 2026-12-0\xEF\xBF\xBD</text>"), "%s", map);
    free(map);
    rows_free(&rows);
}

Test(study_rows, nothing_is_a_sound_drawing_too)
{
    row_list none = {0, NULL};
    char *map = written(write_heatmap, &none), *table = written(write_study_table, &none);
    cr_assert_null(xml_fault(map), "%.80s", xml_fault(map));
    cr_assert_str_empty(table);
    free(map);
    free(table);
}

Test(study_rows, names_both_owners_and_the_share_of_the_cpu)
{
    row_list rows = {0, NULL};
    char workers[64];
    add(&rows, "m", "a", 10.0);
    add(&rows, "m", "b", 20.0);
    row *r = rows.row;
    row_workers(r, workers, sizeof workers);
    cr_assert_str_eq(workers, "1 GPU + 16 threads");
    char *table = written(write_table, &rows), *summary = written(write_summary, &rows);
    cr_assert(strstr(table, "1 GPU + 16 threads"), "%s", table);
    cr_assert(strstr(table, "% on CPU"), "%s", table);
    cr_assert(strstr(table, " 10.0 "), "%s", table);
    cr_assert(strstr(summary, "1 GPU + 16 threads, 10 % of the rows on the CPU"), "%s", summary);
    free(table);
    free(summary);
    r->cpu_rows = 0;
    row_workers(r, workers, sizeof workers);
    cr_assert_str_eq(workers, "1 GPU");
    r->gpus = 0;
    r->cpu_rows = r->rows;
    r->threads = 1;
    row_workers(r, workers, sizeof workers);
    cr_assert_str_eq(workers, "1 thread");
    r->is_rival = 1;
    r->ranks = 8;
    row_workers(r, workers, sizeof workers);
    cr_assert_str_eq(workers, "8 ranks");
    /* The rival whose owners share the work, not the rows. */
    row_set(&r->memory, "explicit");
    r->gpus = 1;
    r->cpu_rows = 0;
    r->threads = 4;
    row_workers(r, workers, sizeof workers);
    cr_assert_str_eq(workers, "1 GPU + 4 threads");
    rows_free(&rows);
}

/* ------------------------------------------------------------ wrong answers */

static void expect_wrong(const source *s, const yoke_report *report, int fixed, const char *text)
{
    static const double x[2] = {300.0, 400.0};
    const char *wrong = verify(s, x, report, 0, fixed);
    cr_assert(wrong && !strcmp(wrong, text), "%s", wrong ? wrong : "right");
}

/* As residuals everywhere: ||b|| is 50 here. */
Test(study_rows, what_is_wrong_is_told_relative_to_b)
{
    static const int32_t start[] = {0, 1, 2}, column[] = {0, 1};
    static const double value[] = {0.1, 0.1};
    double b[] = {30.0, 40.0};
    yoke_csr csr = yoke_csr_defaults();
    csr.rows = 2;
    csr.row_start = start;
    csr.column = column;
    csr.value = value;
    const source s = {.csr = csr, .rows = 2, .nonzeros = 2, .b = b, .b_norm = 50.0};
    yoke_report report = {.outcome = YOKE_CONVERGED, .residual_true = 5.0, .threads = 1};
    report.bound = 5e-7;
    cr_assert_lt(fabs(0.1 * 300.0 - 30.0), 1e-14);
    expect_wrong(&s, &report, 0,
                 "the true residual is 0.000e+00 ||b||, reported as 1.000e-01 ||b||");
    report.outcome = YOKE_ITERATION_LIMIT;
    report.residual_true = 0.0;
    report.residual_recursive = 2.5e-3;
    expect_wrong(&s, &report, 1,
                 "true and recursive residual, 0.000e+00 ||b|| and 5.000e-05 ||b||, differ by more "
                 "than 1e-10 ||b||");
    b[0] = 35.0;
    report.outcome = YOKE_CONVERGED;
    report.residual_true = 5.0;
    expect_wrong(
        &s, &report, 0,
        "converged at a true residual of 1.000e-01 ||b||, above the bound 1.000e-08 ||b||");
}

/* -------------------------------------------------------------- explanations */

Test(study_rows, an_explanation_says_why_a_row_did_not_run_and_no_unknown_count)
{
    row_list rows = {0, NULL};
    add(&rows, "m", "mapped owner ratio:0.1", 100.0);
    add_refused(&rows, "m", "system owner ratio:0.1", "pageable memory is out of reach");
    rows.row[0].ranks = -1;
    char *text = written(write_explanation, &rows);
    cr_assert(strstr(text, "rows on the CPU 100, GPUs 1, threads 16\n"), "%s", text);
    cr_assert(strstr(text, "m system owner ratio:0.1\n  did not run: pageable memory is out of "
                           "reach\n"),
              "%s", text);
    cr_assert_null(strstr(text, "-1"), "%s", text);
    free(text);
    rows_free(&rows);
}
