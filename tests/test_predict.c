/* SPDX-License-Identifier: BSD-3-Clause */
/* test_predict.c: cgbench predict, as a user runs it, and what it says of machines that others have
 * measured. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/json_check.h"
#include "tests/run_cgbench.h"
#include "tests/xml_check.h"

TestSuite(predict, .init = enter_folder, .fini = leave_folder, .timeout = 120);

static double number_in(const char *json, const char *key)
{
    const char *value = json_value(json, key);
    return *value && strcmp(value, "null") ? strtod(value, NULL) : NAN;
}

/* The object of one machine, in out. */
static void predict(const char *arguments)
{
    char line[512];
    snprintf(line, sizeof line, "predict %s --json - --quiet", arguments);
    cr_assert_eq(cgbench(line), 0, "%s", err);
    cr_assert_eq(lines_of(out), 1);
}

Test(predict, an_object_for_each_machine_has_plans_in_order)
{
    static char keys[1 << 16];
    cr_assert_eq(cgbench("predict gen:poisson3d27:128 --machine gh200-120,h100-pcie --json j "
                         "--csv c --svg s --explain"),
                 0, "%s", err);
    cr_assert(strstr(out, "gh200-120"), "%s", out);
    cr_assert(strstr(out, "Best share of the CPU"), "%s", out);
    cr_assert(strstr(out, "GPU: reading its matrix"), "%s", out);
    read_text("j", out, sizeof out);
    cr_assert_eq(lines_of(out), 2);
    *strchr(out, '\n') = '\0';
    cr_assert(json_object(out, keys, sizeof keys), "%s", out);
    cr_assert_eq(strncmp(keys,
                         "schema version commit machine matrix rows nonzeros ranks "
                         "best_cpu_share gain_of_sharing rows_below_which_sharing_loses "
                         "link_factor cores_factor plans plans.0.owners plans.0.memory ",
                         150),
                 0, "%s", keys);
    cr_assert_eq(number_in(out, "rows"), 2097152.0);
    cr_assert_eq(number_in(out, "nonzeros"), 55742968.0);
    cr_assert_leq(number_in(out, "plans.0.us_per_iteration"),
                  number_in(out, "plans.1.us_per_iteration"));
    read_text("c", out, sizeof out);
    cr_assert_eq(strncmp(out, "machine,matrix,rows,nonzeros,partition,cpu_share,", 49), 0);
    cr_assert(strstr(out, "\nh100-pcie,gen:poisson3d27:128,2097152,55742968,cpu,1,"), "%s", out);
    read_text("s", out, sizeof out);
    cr_assert_null(xml_fault(out), "%s", xml_fault(out));
    cr_assert(strstr(out, "h100-pcie"));
}

Test(predict, terms_that_count_add_up_to_the_time)
{
    char key[64];
    double sum = 0.0;
    static const char *const terms[] = {
        "cpu_matrix",  "cpu_products", "cpu_vectors",  "cpu_barriers", "gpu_matrix",
        "gpu_gathers", "gpu_vectors",  "gpu_host",     "gpu_launches", "gpu_tails",
        "halo",        "meeting",      "network_halo", "all_reduce",   "rank_link"};
    predict("gen:elasticity3d:60 --machine gh200-480 --partition ratio:0.07");
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        snprintf(key, sizeof key, "plans.0.us.%s", terms[i]);
        sum += number_in(out, key);
    }
    cr_assert_float_eq(sum, number_in(out, "plans.0.us_per_iteration"), 1e-6 * sum);
    cr_assert_eq(number_in(out, "plans.0.cpu_share"), 0.07);
}

Test(predict, options_choose_the_plans)
{
    predict("gen:poisson2d5:500 --machine h100-pcie --partition gpu --driver graph --shape folded "
            "--home shared --memory mapped");
    cr_assert_str_empty(json_value(out, "plans.1.owners"));
    cr_assert_str_eq(json_value(out, "plans.0.home"), "\"shared\"");
    cr_assert_str_eq(json_value(out, "best_cpu_share"), "null");
    cr_assert_eq(cgbench("predict gen:poisson2d5:500 --machine h100-pcie --partition cpu "
                         "--driver frob"),
                 2);
    cr_assert_eq(cgbench("predict gen:poisson3d7:9 --machine h100-pcie --partition ratio:0.3 "
                         "--shape folded"),
                 2);
    cr_assert(strstr(err, "neither shape folded"), "%s", err);
}

Test(predict, what_does_not_fit_is_spilled_as_far_as_it_must)
{
    predict("gen:poisson3d27:1000 --machine h100-pcie --partition gpu --driver graph");
    const char *home = json_value(out, "plans.0.home");
    cr_assert_eq(strncmp(home, "\"spill:0.", 9), 0, "%s", home);
    cr_assert_str_eq(json_value(out, "plans.0.fits"), "true");
    cr_assert_leq(number_in(out, "plans.0.gpu_bytes"), 80e9);
    predict("gen:poisson3d27:3000 --machine h100-pcie --partition gpu --driver graph");
    cr_assert_str_eq(json_value(out, "plans.0.fits"), "false", "the vectors alone are too large");
}

/* A pretended smaller card, that one owner's rows do not fit: the CPU takes more than its speed
 * would give it, and both do better than either. */
Test(predict, sharing_pays_most_where_the_gpu_is_full)
{
    predict("gen:poisson3d27:200 --machine h200-16cores --driver graph");
    double roomy = number_in(out, "best_cpu_share");
    predict("gen:poisson3d27:200 --machine h200-16cores --driver graph --gpu-memory 800M");
    cr_assert_gt(number_in(out, "best_cpu_share"), 2.0 * roomy);
    cr_assert_gt(number_in(out, "gain_of_sharing"), 1.2);
    cr_assert_leq(number_in(out, "plans.0.gpu_bytes"), 800.0 * 1048576.0);
}

Test(predict, a_file_is_described_by_its_entries)
{
    predict(SOURCE_DIR "/matrices/real/bcsstk16.mtx.gz --machine h200-16cores");
    cr_assert_eq(number_in(out, "nonzeros"), 290378.0);
    cr_assert_str_eq(json_value(out, "plans.0.driver"), "\"persistent\"");
    cr_assert(isnan(number_in(out, "rows_below_which_sharing_loses")) ||
              number_in(out, "rows_below_which_sharing_loses") > 4884.0);
}

Test(predict, this_machine_needs_no_name)
{
    predict("gen:poisson2d5:100 --partition cpu");
    cr_assert_str_eq(json_value(out, "machine"), "\"this\"");
    cr_assert_gt(number_in(out, "plans.0.us_per_iteration"), 0.0);
}

Test(predict, ranks_take_a_network)
{
    predict("gen:poisson3d27:256 --machine gh200-480 --partition gpu --driver graph");
    double one = number_in(out, "plans.0.us_per_iteration");
    predict("gen:poisson3d27:256 --machine gh200-480 --partition gpu --driver graph --ranks 8 "
            "--network 2e-6,25e9");
    double eight = number_in(out, "plans.0.us_per_iteration");
    cr_assert_lt(eight, one / 4.0);
    cr_assert_gt(eight, one / 8.0);
    cr_assert_eq(number_in(out, "ranks"), 8.0);
    cr_assert_eq(cgbench("predict gen:poisson3d27:64 --machine gh200-480 --ranks 8"), 2);
    cr_assert(strstr(err, "--network L,B"), "%s", err);
    predict("gen:poisson3d27:256 --machine gh200-480 --partition gpu --driver graph --ranks 8 "
            "--network 2us,25GB/s");
    cr_assert_float_eq(number_in(out, "plans.0.us_per_iteration"), eight, 1e-9 * eight);
    cr_assert_eq(cgbench("predict gen:poisson3d27:64 --ranks 8 --network 2us,25GHz"), 2);
    cr_assert(strstr(err, "2us,25GB/s"), "%s", err);
    cr_assert_eq(cgbench("predict gen:poisson3d27:64 --ranks 8 --network 2us,0"), 2);
    cr_assert_eq(cgbench("predict gen:poisson3d27:64 --ranks 8,0 --network 2us,25GB"), 2);
}

/* Contiguous shares of a weakly scaled cube need ever larger planes; blocks do not. */
Test(predict, several_numbers_of_ranks_make_a_table_by_recurrence)
{
    cr_assert_eq(cgbench("predict gen:poisson3d7:128 --machine h100-sxm --partition gpu --ranks "
                         "1,64,4096 --network 2us,25GB/s --scaling weak --json j --csv c --svg s"),
                 0, "%s", err);
    cr_assert(strstr(out, "cg-pipelined"), "%s", out);
    read_text("j", out, sizeof out);
    cr_assert_eq(lines_of(out), 1);
    cr_assert_eq(number_in(out, "points.2.rows"), 4096.0 * 2097152.0);
    cr_assert_eq(number_in(out, "points.1.halo"), 2.0 * 512 * 512);
    cr_assert_str_eq(json_value(out, "points.0.fastest"), "\"cg\"");
    double slabs = number_in(out, "points.2.solvers.cg.us_per_iteration");
    predict("gen:poisson3d7:128 --machine h100-sxm --partition gpu --ranks 1,64,4096 --network "
            "2us,25GB/s --scaling weak --deal metis");
    cr_assert_lt(number_in(out, "points.2.solvers.cg.us_per_iteration"), slabs / 10.0);
    cr_assert_lt(number_in(out, "points.2.solvers.cg-single.us_per_iteration"),
                 number_in(out, "points.2.solvers.cg.us_per_iteration"));
    read_text("c", out, sizeof out);
    cr_assert_eq(lines_of(out), 10);
    read_text("s", out, sizeof out);
    cr_assert_null(xml_fault(out), "%s", xml_fault(out));
}

/* However many ranks have less than a row. */
Test(predict, a_rank_has_no_more_neighbours_than_columns_that_it_needs)
{
    predict("gen:poisson2d5:5 --machine h100-sxm --ranks 1,65536 --network 2us,25GB");
    cr_assert_gt(number_in(out, "points.1.halo"), 0.0);
    cr_assert_leq(number_in(out, "points.1.neighbours"), ceil(number_in(out, "points.1.halo")));
}

/* The plans of a point are kept when those of the next are made. */
Test(predict, ranks_that_must_spill_say_how_much)
{
    predict("gen:poisson3d27:800 --machine h100-sxm --partition gpu --ranks 1,2 "
            "--network 2us,25GB/s");
    const char *solvers[] = {"cg", "cg-single", "cg-pipelined"};
    for (int i = 0; i < 6; i++) {
        char key[64];
        snprintf(key, sizeof key, "points.%d.solvers.%s.plan", i / 3, solvers[i % 3]);
        cr_assert(strstr(json_value(out, key), "GPU alone, spill:0."), "%s: %s", key,
                  json_value(out, key));
    }
}

Test(predict, a_name_that_is_asked_for_twice_is_there_once)
{
    char keys[8192];
    predict("gen:poisson3d7:16 --machine h100-sxm --ranks 1,2 --network 1us,1GB --solver cg,cg");
    cr_assert(json_object(out, keys, sizeof keys), "%s", out);
}

Test(predict, a_system_without_rows_takes_no_time)
{
    write_text("m", "%%MatrixMarket matrix coordinate real symmetric\n0 0 0\n");
    cr_assert_eq(cgbench("predict m --machine h100-sxm"), 0, "%s", err);
    cr_assert_null(strstr(out, "nan"), "%s", out);
    cr_assert_eq(cgbench("predict m --machine h100-sxm --ranks 1,4 --network 1us,1GB"), 0);
    cr_assert_null(strstr(out, "nan"), "%s", out);
}

/* A file's shares are counted, not scaled. */
Test(predict, ranks_of_a_file_are_counted)
{
    predict(SOURCE_DIR "/matrices/real/bcsstk16.mtx.gz --machine gh200-480 --partition cpu "
                       "--ranks 1,2 --network 2us,25GB/s --solver cg");
    cr_assert_eq(number_in(out, "points.1.neighbours"), 1.0);
    double halo = number_in(out, "points.1.halo");
    cr_assert(halo >= 100.0 && halo <= 300.0, "%g of a band of 140", halo);
    cr_assert_str_empty(json_value(out, "points.1.solvers.cg-single.us_per_iteration"));
}

/* ------------------------------------------------------------ what is published */

static double best_share_of_hpcg(const char *machine)
{
    char arguments[128];
    snprintf(arguments, sizeof arguments, "gen:poisson3d27:256 --machine %s", machine);
    predict(arguments);
    return number_in(out, "best_cpu_share");
}

/* NVIDIA's HPCG gives the CPU 5.9 % of the rows, of which it uses less than all there is to gain;
 * the bandwidths' ratio is 9.6 %. */
Test(predict, the_share_of_a_gh200_lies_between_nvidias_and_the_ratio_of_bandwidths)
{
    double share = best_share_of_hpcg("gh200-120");
    cr_assert_gt(share, 0.059);
    cr_assert_leq(share, 0.108 / 1.108 + 0.002);
}

/* 1 + b: what both memories have together, of which meetings cost some. */
Test(predict, no_gain_is_above_the_ceiling)
{
    static const struct {
        const char *machine;
        double ceiling;
    } cases[] = {
        {"gh200-120", 1.11}, {"gh200-480", 1.09}, {"h100-pcie", 1.14}, {"h200-16cores", 1.025}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        best_share_of_hpcg(cases[i].machine);
        double gain = number_in(out, "gain_of_sharing");
        cr_assert_leq(gain, cases[i].ceiling, "%s: %g", cases[i].machine, gain);
        cr_assert_geq(gain, 0.92 * cases[i].ceiling, "%s: %g", cases[i].machine, gain);
    }
}
