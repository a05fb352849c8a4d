/* SPDX-License-Identifier: BSD-3-Clause */
/* test_model.c: the terms on a machine of round numbers, where each can be told by hand; what holds
 * for any plan; and shapes of generated matrices beside those of the matrices themselves. */
#include "lib/model.h"

#include <stdio.h>

#include "lib/ranks.h"
#include "solvers/candidates.h"
#include "tests/systems.h"

/* 1e12 B/s on a GPU without a cache, 1e11 on 8 threads, 1e10 over the link; a barrier of 1 us. */
static yk_profile round_machine(void)
{
    yk_profile p;
    yk_profile_clear(&p);
    yk_figure_set(&p.cpu_threads, 8.0, YK_ASSUMED, "test");
    yk_figure_set(&p.cpu_barrier, 1e-6, YK_ASSUMED, "test");
    yk_figure_set(&p.gpu_sms, 100.0, YK_ASSUMED, "test");
    yk_figure_set(&p.gpu_memory_bytes, 1e10, YK_ASSUMED, "test");
    yk_figure_set(&p.gpu_grid_barrier, 1e-6, YK_ASSUMED, "test");
    yk_figure_set(&p.gpu_graph_node, 0.5e-6, YK_ASSUMED, "test");
    yk_figure_set(&p.gpu_launch, 3e-6, YK_ASSUMED, "test");
    yk_figure_set(&p.gpu_launch_sync, 8e-6, YK_ASSUMED, "test");
    yk_figure_set(&p.copy_latency, 6e-6, YK_ASSUMED, "test");
    yk_figure_set(&p.flag_round_trip, 2e-6, YK_ASSUMED, "test");
    yk_figure_set(&p.gpu_reads_host, 1e10, YK_ASSUMED, "test");
    yk_figure_set(&p.gpu_writes_host, 1e10, YK_ASSUMED, "test");
    yk_figure_set(&p.link_to_gpu, 1e10, YK_ASSUMED, "test");
    yk_figure_set(&p.link_from_gpu, 1e10, YK_ASSUMED, "test");
    yk_figure_set(&p.link_both, 2e10, YK_ASSUMED, "test");
    yk_curve_add(&p.gpu_read, 1e9, 1e12, YK_ASSUMED, "test");
    yk_curve_add(&p.cpu_read, 1.0, 2e10, YK_ASSUMED, "test");
    yk_curve_add(&p.cpu_read, 8.0, 1e11, YK_ASSUMED, "test");
    return p;
}

/* Every share 1, every overhead of the GPU 0 but its tails of one barrier a pass. */
static yk_model_constants plain_constants(void)
{
    yk_model_constants c = yk_model_defaults;
    c.gpu_sell_share = c.gpu_csr_share = c.gpu_vector_share = 1.0;
    c.cpu_share = c.cpu_vector_share = c.host_share = 1.0;
    c.tail_barriers = c.fold_tail_barriers = 1.0;
    c.cpu_row = c.cpu_entry = c.cpu_fold_entry = 0.0;
    c.csr_row = c.csr_step = 0.0;
    return c;
}

/* 1e6 rows of 7, nothing gathered twice, a halo of 1e4 rows wherever it is cut. */
static yoke_shape plain_shape(void)
{
    yoke_shape a = {.rows = 1e6, .nonzeros = 7e6, .longest_row = 7.0, .start_bytes = 4.0};
    a.sell_entries = 8e6;
    for (int k = 0; k < YOKE_HALOS; k++) a.halo_of_last[k] = a.halo_of_first[k] = 1e4;
    return a;
}

static yk_model_result predicted(const yk_model_plan *plan)
{
    const yk_profile machine = round_machine();
    const yk_model_constants c = plain_constants();
    const yoke_shape a = plain_shape();
    yk_model_result result;
    yk_model_predict(&machine, &c, &a, plan, &result);
    double counted = 0.0;
    for (int t = 0; t < YK_MODEL_TERM_COUNT; t++) {
        counted += result.counted[t];
        cr_assert_leq(result.counted[t], result.work[t]);
    }
    cr_assert_float_eq(counted, result.seconds, 1e-12);
    return result;
}

static void is_about(double value, double expected)
{
    cr_assert_float_eq(value, expected, 1e-9 * fabs(expected) + 1e-15, "%.9g, expected %.9g", value,
                       expected);
}

/* ------------------------------------------------------------------- terms */

/* 7 entries are one step of eight threads: 1e6 rows at 1 us each over 100 multiprocessors. */
Test(model, rows_in_csr_take_their_threads_time_where_that_is_longer_than_their_bytes)
{
    const yk_profile machine = round_machine();
    yk_model_constants c = plain_constants();
    const yoke_shape a = plain_shape();
    yk_model_plan plan = {.driver = YK_MODEL_GRAPH};
    yk_model_result without, with;
    yk_model_predict(&machine, &c, &a, &plan, &without);
    c.csr_row = 0.6e-6;
    c.csr_step = 0.4e-6;
    yk_model_predict(&machine, &c, &a, &plan, &with);
    cr_assert_gt(with.seconds, 10e-3);
    cr_assert_lt(with.seconds, 10e-3 + without.seconds);
    plan.sell = true;
    yk_model_predict(&machine, &c, &a, &plan, &with);
    cr_assert_lt(with.seconds, without.seconds * 1.2);
}

Test(model, a_gpu_alone_reads_its_bytes_and_waits_at_each_pass)
{
    yk_model_plan plan = {.driver = YK_MODEL_GRAPH, .sell = true};
    yk_model_result r = predicted(&plan);
    is_about(r.work[YK_TERM_gpu_matrix], 96e6 / 1e12); /* 12 B of 8e6 entries */
    is_about(r.work[YK_TERM_gpu_vectors], 80e6 / 1e12);
    is_about(r.work[YK_TERM_gpu_tails], 3e-6);
    is_about(r.work[YK_TERM_gpu_launches], 1.5e-6);
    is_about(r.seconds, 176e-6 + 4.5e-6);
    is_about(r.gpu_bytes, 96e6 + 48e6);
    plan.folded = true;
    is_about(predicted(&plan).seconds, 168e-6 + 3e-6);
    plan = (yk_model_plan){.driver = YK_MODEL_GRAPH, .jacobi = true}; /* CSR */
    is_about(predicted(&plan).seconds, (88e6 + 96e6) / 1e12 + 4.5e-6);
}

Test(model, a_stream_costs_what_enqueuing_does_where_passes_are_short)
{
    const yk_profile machine = round_machine();
    const yk_model_constants c = plain_constants();
    yoke_shape a = plain_shape();
    yk_model_plan plan = {.driver = YK_MODEL_STREAM, .sell = true};
    yk_model_result r;
    a.rows = 1e3;
    a.nonzeros = 7e3;
    a.sell_entries = 7e3;
    yk_model_predict(&machine, &c, &a, &plan, &r);
    is_about(r.seconds, 9e-6); /* three launches */
}

Test(model, the_cpu_alone_reads_its_bytes_and_meets)
{
    yk_model_plan plan = {.cpu_share = 1.0};
    yk_model_result r = predicted(&plan);
    is_about(r.seconds, (84e6 + 4e6 + 80e6) / 1e11 + 3e-6);
    plan.folded = true;
    is_about(predicted(&plan).seconds, (84e6 + 4e6 + 72e6) / 1e11 + 2e-6);
    plan.threads = 1;
    is_about(predicted(&plan).seconds, (84e6 + 4e6 + 72e6) / 2e10);
}

Test(model, two_owners_take_the_slower_one_in_each_half_and_the_meetings)
{
    yk_model_plan plan = {.cpu_share = 0.5, .driver = YK_MODEL_GRAPH, .sell = true};
    yk_model_result r = predicted(&plan);
    double cpu = 0.5 * (88e6 + 80e6) / 1e11 + 1e-6; /* one gate; the meetings are the link's */
    is_about(r.cpu, cpu);
    double meetings = 2 * (1e-6 + 0.5e-6 + 2e-6 + 1e-6); /* tail, node, flag, barrier */
    is_about(r.work[YK_TERM_meeting], meetings);
    is_about(r.work[YK_TERM_halo], 2 * 8e4 / 1e10);
    is_about(r.seconds, cpu + meetings + 16e-6);
    cr_assert_eq(r.counted[YK_TERM_gpu_matrix], 0.0, "the CPU is slower");
    plan.memory = YK_MODEL_EXPLICIT;
    r = predicted(&plan);
    is_about(r.work[YK_TERM_meeting], 2 * (18e-6 + 8e-6 + 1e-6));
    plan.home = YK_MODEL_SHARED; /* all of z, both ways */
    is_about(predicted(&plan).work[YK_TERM_halo], 16e6 / 2e10);
}

Test(model, what_is_spilled_comes_over_the_link_beside_the_rest)
{
    yk_model_plan plan = {.driver = YK_MODEL_GRAPH, .sell = true, .home = YK_MODEL_SPILL};
    plan.spill = 0.5;
    yk_model_result r = predicted(&plan);
    double host = 48e6 / 1e10, beside = 48e6 / 1e12 + 16e6 / 1e12;
    is_about(r.work[YK_TERM_gpu_host], host - beside);
    is_about(r.gpu_bytes, 48e6 + 48e6);
    plan = (yk_model_plan){.driver = YK_MODEL_GRAPH, .sell = true, .home = YK_MODEL_SHARED};
    is_about(predicted(&plan).work[YK_TERM_gpu_host], 176e6 / 1e10);
    plan.memory = YK_MODEL_MANAGED; /* pages of one owner stay with it */
    is_about(predicted(&plan).work[YK_TERM_gpu_host], 0.0);
}

Test(model, host_memory_is_shared_by_who_reads_it_at_once)
{
    yk_profile machine = round_machine();
    const yk_model_constants c = plain_constants();
    const yoke_shape a = plain_shape();
    yk_model_plan plan = {.cpu_share = 0.5, .driver = YK_MODEL_GRAPH, .sell = true};
    yk_model_result alone, beside;
    yk_figure_set(&machine.gpu_reads_host_shared, 5e9, YK_ASSUMED, "test");
    yk_figure_set(&machine.cpu_reads_host_shared, 5e10, YK_ASSUMED, "test");
    yk_model_predict(&machine, &c, &a, &plan, &alone);
    is_about(alone.work[YK_TERM_cpu_matrix], 44e6 / 1e11);
    plan.home = YK_MODEL_SHARED;
    yk_model_predict(&machine, &c, &a, &plan, &beside);
    is_about(beside.work[YK_TERM_cpu_matrix], 44e6 / 5e10);
    is_about(beside.work[YK_TERM_gpu_host], 88e6 / 5e9);
}

Test(model, ranks_share_the_rows_and_meet_in_a_tree)
{
    yk_model_plan plan = {.driver = YK_MODEL_GRAPH, .sell = true, .ranks = 8};
    plan.network_latency = 1e-6;
    plan.network_speed = 1e10;
    yk_model_result r = predicted(&plan);
    double sums = 3 * (1e-6 + yk_message_bytes(26) / 1e10), gap = yk_model_defaults.message_gap;
    is_about(r.work[YK_TERM_gpu_matrix], 12e6 / 1e12);
    is_about(r.work[YK_TERM_network_halo], 1e-6 + gap + 16e4 / 1e10);
    is_about(r.work[YK_TERM_all_reduce], 2 * sums);
    is_about(r.work[YK_TERM_rank_link], 2 * 16e4 / 1e10 + 2 * (1e-6 + 8e-6));
    plan.cpu_share = 1.0; /* nothing passes a link */
    plan.driver = YK_MODEL_TEAM;
    is_about(predicted(&plan).work[YK_TERM_rank_link], 0.0);
}

/* cg: behind its second sums, the direction and inner rows, 0.84 of them, of the product. */
Test(model, halos_hide_behind_work_that_needs_none)
{
    yk_model_plan plan = {.cpu_share = 1.0, .threads = 8, .ranks = 8};
    plan.network_latency = 1e-6;
    plan.network_speed = 1e10;
    yk_model_result r = predicted(&plan);
    double sums = 3 * (1e-6 + yk_message_bytes(26) / 1e10), gap = yk_model_defaults.message_gap;
    double halo = 1e-6 + gap + 16e4 / 1e10, matrix = 88.0 + 16.0;
    is_about(r.counted[YK_TERM_network_halo], 0.0);
    is_about(r.seconds, 125000 * (88 + 80) / 1e11 + 3 * 1e-6 + 2 * sums);
    plan.network_speed = 1e8;
    sums = 3 * (1e-6 + yk_message_bytes(26) / 1e8);
    halo = 1e-6 + gap + 16e4 / 1e8;
    double first = 125000 * (88 + 56) / 1e11 + 2e-6, product = first * matrix / (matrix + 40.0);
    is_about(predicted(&plan).counted[YK_TERM_network_halo],
             halo - sums - (first - product) - product * (1.0 - 2e4 / 125e3));
}

Test(model, a_recurrence_with_one_sum_meets_once_and_moves_more)
{
    yk_model_plan plan = {.cpu_share = 1.0, .threads = 8, .ranks = 1024};
    plan.network_latency = 1e-6;
    plan.network_speed = 1e10;
    double sums = 10 * (1e-6 + yk_message_bytes(26) / 1e10);
    plan.solver = YK_MODEL_SINGLE;
    yk_model_result single = predicted(&plan);
    is_about(single.work[YK_TERM_all_reduce], sums);
    is_about(single.work[YK_TERM_cpu_vectors], 88 * 1e6 / 1024 / 1e11);
    is_about(single.work[YK_TERM_cpu_barriers], 2e-6);
    plan.solver = YK_MODEL_PIPELINED;
    yk_model_result pipelined = predicted(&plan);
    is_about(pipelined.work[YK_TERM_cpu_vectors], 120 * 1e6 / 1024 / 1e11);
    cr_assert_lt(pipelined.counted[YK_TERM_all_reduce], sums);
    cr_assert_gt(pipelined.counted[YK_TERM_all_reduce], 0.0, "the product is shorter");
}

Test(model, one_sum_is_chosen_where_sums_rule_and_never_in_one_process)
{
    const yk_profile machine = round_machine();
    yoke_shape a = plain_shape();
    yk_model_plan plan = {.driver = YK_MODEL_GRAPH, .sell = true, .ranks = 1};
    plan.network_latency = 1e-5;
    plan.network_speed = 1e10;
    cr_assert_eq(yk_model_best_solver(&machine, NULL, &a, &plan), YK_MODEL_CG);
    plan.ranks = 64;
    cr_assert_neq(yk_model_best_solver(&machine, NULL, &a, &plan), YK_MODEL_CG);
    plan.network_latency = 0.0;
    a.rows *= 1000.0, a.nonzeros *= 1000.0, a.sell_entries *= 1000.0;
    cr_assert_eq(yk_model_best_solver(&machine, NULL, &a, &plan), YK_MODEL_CG);
}

/* ----------------------------------------------------------------- rank cuts */

static yoke_rank_cut cut_of(const char *spec, int ranks, bool blocks)
{
    yoke_shape a;
    MUST(yoke_shape_of_generated(spec, &a));
    return yk_model_cut(&a, ranks, blocks);
}

Test(model, slabs_of_a_grid_need_the_planes_beside_them)
{
    yoke_rank_cut cut = cut_of("poisson3d7:64", 16, false);
    is_about(cut.halo, 2.0 * 64 * 64);
    is_about(cut.neighbours, 2.0);
    cut = cut_of("poisson3d7:64", 2, false); /* one side */
    is_about(cut.halo, 64.0 * 64);
    is_about(cut.neighbours, 1.0);
    cut = cut_of("poisson3d7:64", 128, false); /* half a plane: all of it elsewhere, and a line */
    is_about(cut.halo, 2.0 * (2048 + 64));
    is_about(cut.neighbours, 4.0);
    is_about(cut_of("poisson2d5:512", 8, false).halo, 2.0 * 512);
}

Test(model, blocks_have_the_surface_of_a_cube)
{
    yoke_rank_cut cut = cut_of("poisson3d7:64", 64, true);
    is_about(cut.halo, 6.0 * 16 * 16);
    is_about(cut.neighbours, 6.0);
    cut = cut_of("poisson3d27:64", 64, true);
    is_about(cut.halo, 18.0 * 18 * 18 - 16 * 16 * 16);
    is_about(cut.neighbours, 26.0);
    is_about(cut_of("poisson3d7:64", 2, true).halo, 64.0 * 64);
    is_about(cut_of("poisson3d7:64", 12, true).halo, 2.0 * 32 * 32 + 2.0 * 32 * 64 / 3);
}

/* The formulas beside the matrices themselves. A random order's halos are counted nearly alike. */
Test(model, cuts_of_generated_matrices_are_those_that_are_counted)
{
    static const struct {
        const char *spec;
        double tolerance;
    } cases[] = {{"poisson3d7:20", 0.02},
                 {"poisson3d27:16", 0.08},
                 {"poisson2d5:90", 0.02},
                 {"elasticity3d:12", 0.10},
                 {"graph:8192:6:1", 0.08}};
    static const int ranks[] = {2, 4, 8};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int k = 0; k < 3; k++) {
            yoke_shape counted;
            yoke_matrix *matrix = NULL;
            MUST(yoke_matrix_generate(new_context(), cases[i].spec, &matrix));
            MUST(yoke_shape_of_matrix(matrix, &counted));
            MUST(yoke_shape_count_ranks(matrix, ranks[k], &counted));
            yoke_rank_cut cut = cut_of(cases[i].spec, ranks[k], false);
            cr_assert_float_eq(cut.halo, counted.rank_halo, cases[i].tolerance * counted.rank_halo,
                               "%s, %d ranks: %g, counted %g", cases[i].spec, ranks[k], cut.halo,
                               counted.rank_halo);
            cr_assert_float_eq(cut.neighbours, counted.rank_neighbours, 0.5, "%s: %g, counted %g",
                               cases[i].spec, cut.neighbours, counted.rank_neighbours);
            is_about(yk_model_cut(&counted, ranks[k], false).halo, counted.rank_halo);
            yoke_matrix_destroy(matrix);
        }
}

Test(model, a_system_on_the_chip_is_ruled_by_the_fullest_block)
{
    const yk_profile machine = round_machine();
    const yk_model_constants *c = &yk_model_defaults;
    yoke_shape a = plain_shape();
    yk_model_plan plan = {.driver = YK_MODEL_PERSISTENT};
    yk_model_result r;
    a.rows = 101.0 * 256.0; /* two chunks on one of the 100 */
    a.nonzeros = 7.0 * a.rows;
    yk_model_predict(&machine, c, &a, &plan, &r);
    is_about(r.seconds,
             c->resident_barriers * 1e-6 + 512 * c->resident_row + 512 * 7 * c->resident_entry);
}

Test(model, a_figure_that_is_missing_makes_no_number)
{
    yk_profile machine = round_machine();
    const yoke_shape a = plain_shape();
    yk_model_plan plan = {.driver = YK_MODEL_GRAPH, .sell = true};
    yk_model_result r;
    yk_figure_set(&machine.gpu_grid_barrier, NAN, YK_UNKNOWN, "");
    yk_model_predict(&machine, NULL, &a, &plan, &r);
    cr_assert(isnan(r.seconds));
}

/* ---------------------------------------------------------------- any plan */

Test(model, a_larger_matrix_never_takes_less_time)
{
    static const char *const machines[] = {"gh200-120", "gh200-480", "h100-pcie", "h100-sxm",
                                           "h200-16cores"};
    for (int m = 0; m < 5; m++)
        for (double share = 0.0; share <= 1.0; share += 0.25) {
            yk_profile machine;
            double before = 0.0;
            MUST(yk_profile_shipped(machines[m], &machine));
            for (int n = 8; n <= 512; n *= 2) {
                char spec[32];
                yoke_shape a;
                yk_model_result r;
                yk_model_plan plan = {.cpu_share = share, .driver = YK_MODEL_GRAPH, .sell = true};
                snprintf(spec, sizeof spec, "poisson3d7:%d", n);
                MUST(yoke_shape_of_generated(spec, &a));
                yk_model_predict(&machine, NULL, &a, &plan, &r);
                cr_assert_gt(r.seconds, before, "%s, %s, share %g", machines[m], spec, share);
                before = r.seconds;
            }
        }
}

/* ---------------------------------------------------------------- interface */

Test(model, names_that_do_not_go_together_are_refused)
{
    yoke_model *model = NULL;
    yoke_prediction p;
    const yoke_shape a = plain_shape();
    MUST(yoke_model_open(new_context(), "h200-16cores", &model));
    yoke_model_plan plan = {.cpu_share = 0.5, .shape = "folded"};
    cr_assert_eq(yoke_model_predict(model, &a, &plan, &p), YOKE_UNSUITABLE);
    plan = (yoke_model_plan){.driver = "team"};
    cr_assert_eq(yoke_model_predict(model, &a, &plan, &p), YOKE_UNSUITABLE);
    plan = (yoke_model_plan){.driver = "persistent"};
    yoke_shape large = a;
    large.rows = 3e6; /* of 2.2 million that the chip has room for */
    cr_assert_eq(yoke_model_predict(model, &large, &plan, &p), YOKE_UNSUITABLE);
    plan = (yoke_model_plan){.format = "frob"};
    cr_assert_eq(yoke_model_predict(model, &a, &plan, &p), YOKE_UNKNOWN_NAME);
    plan = (yoke_model_plan){.home = "spill:2"};
    cr_assert_eq(yoke_model_predict(model, &a, &plan, &p), YOKE_INVALID);
    plan = (yoke_model_plan){.cpu_share = NAN};
    cr_assert_eq(yoke_model_predict(model, &a, &plan, &p), YOKE_INVALID);
    plan = (yoke_model_plan){0};
    MUST(yoke_model_predict(model, &a, &plan, &p));
    cr_assert(p.fits);
    cr_assert_str_eq(yoke_model_machine(model), "h200-16cores");
    cr_assert_eq(yoke_model_scale(model, "frob", 2.0), YOKE_INVALID);
    cr_assert_eq(yoke_model_scale(model, "link", 0.0), YOKE_INVALID);
    yoke_model_close(model);
    cr_assert_eq(yoke_model_open(new_context(), "frob", &model), YOKE_UNKNOWN_NAME);
}

Test(model, twice_the_speed_of_a_part_makes_its_terms_half)
{
    yoke_model *model = NULL;
    yoke_prediction before, after;
    const yoke_shape a = plain_shape();
    yoke_model_plan plan = {.home = "shared"};
    MUST(yoke_model_open(new_context(), "h200-16cores", &model));
    MUST(yoke_model_predict(model, &a, &plan, &before));
    MUST(yoke_model_scale(model, "link", 2.0));
    MUST(yoke_model_predict(model, &a, &plan, &after));
    for (int t = 0; t < before.terms; t++)
        is_about(after.term[t].work, strcmp(before.term[t].name, "gpu_host")
                                         ? before.term[t].work
                                         : before.term[t].work / 2.0);
    yoke_model_close(model);
}

/* ------------------------------------------------------------------- shapes */

static void is_within(double value, double of, double tolerance, const char *what, const char *spec)
{
    cr_assert_leq(fabs(value - of), tolerance * of + 1.0, "%s of %s: %g, is %g", what, spec, value,
                  of);
}

/* Exactly but at borders: of systems as small as these a line of nodes is a fifth of a halo. */
Test(model, shapes_of_generated_matrices_are_those_of_the_matrices)
{
    static const struct {
        const char *spec;
        double nonzeros, sell; /* tolerances */
    } cases[] = {{"poisson2d5:300", 0.0, 0.01},      {"poisson3d7:40", 0.0, 0.05},
                 {"poisson3d27:30", 0.0, 0.12},      {"elasticity3d:16", 0.0, 0.2},
                 {"jumps3d7:40:100:1", 0.0, 0.05},   {"anisotropic3d7:40:0.1", 0.0, 0.05},
                 {"graph:40000:12:1", 0.01, 0.02},   {"shuffled:3:poisson3d7:30", 0.0, 0.05},
                 {"random_spd:30000:9:1", 0.1, 0.15}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *spec = cases[i].spec;
        yoke_shape said, is;
        MUST(yoke_shape_of_generated(spec, &said));
        MUST(yoke_shape_of_matrix(generated(new_context(), spec), &is));
        cr_assert_eq(said.rows, is.rows, "%s", spec);
        cr_assert_eq(said.start_bytes, is.start_bytes, "%s", spec);
        is_within(said.nonzeros, is.nonzeros, cases[i].nonzeros, "nonzeros", spec);
        is_within(said.sell_entries, is.sell_entries, cases[i].sell, "SELL", spec);
        is_within(said.sectors, is.sectors, 0.15, "sectors", spec);
        for (int k = 0; k < YOKE_HALOS; k++) {
            is_within(said.halo_of_last[k], is.halo_of_last[k], 0.22, "halo of the last", spec);
            is_within(said.halo_of_first[k], is.halo_of_first[k], 0.22, "halo of the first", spec);
        }
    }
}

Test(model, a_generated_matrix_may_be_larger_than_any_memory)
{
    yoke_shape a;
    MUST(yoke_shape_of_generated("poisson3d27:20000", &a));
    cr_assert_eq(a.rows, 8e12);
    cr_assert_eq(a.start_bytes, 8.0);
    cr_assert_eq(yoke_shape_of_generated("frob:3", &a), YOKE_UNKNOWN_NAME);
    cr_assert_eq(yoke_shape_of_generated("poisson3d7:x", &a), YOKE_INVALID);
    cr_assert_eq(yoke_shape_of_generated("poisson3d7:3000000", &a), YOKE_INVALID);
}

/* -------------------------------------------------------------- candidates */

/* A million rows, seven entries each; every owner, two drivers, both formats and shapes. */
static yk_space all_of(double rows)
{
    return (yk_space){.cpu = true,
                      .gpu = true,
                      .shared = true,
                      .unfolded = true,
                      .folded = true,
                      .driver = {"graph", "persistent"},
                      .format = {"sell", "csr"},
                      .memory = {"mapped", "explicit"},
                      .home = "owner",
                      .share = -1.0,
                      .chip_rows = 200000.0,
                      .matrix = {.rows = rows,
                                 .nonzeros = 7.0 * rows,
                                 .sell_entries = 7.0 * rows,
                                 .start_bytes = 4.0},
                      .threads = 8};
}

Test(model, candidates_are_every_combination_that_goes_together_once)
{
    yk_candidates list;
    const yk_space large = all_of(1e6), small = all_of(1e5);
    yk_candidates_list(&large, &list);
    cr_assert_eq(list.count, 2 + 4 + 4,
                 "CPU by shape; GPU by format and shape; both by format, mode");
    for (int i = 0; i < list.count; i++) {
        const yk_candidate *c = &list.of[i];
        cr_assert(!c->memory || !c->folded, "both together do not fold");
        cr_assert_str_neq(c->driver, "persistent", "too many rows for the chip");
        cr_assert(isnan(c->predicted) && isnan(c->measured));
    }
    yk_candidates_list(&small, &list);
    cr_assert_eq(list.count, 2 + 5 + 4, "one more stays on the chip, in one format, unfolded");
    yk_space held = large;
    held.held_rows = 2e6;
    yk_candidates_list(&held, &list);
    cr_assert_eq(list.count, 2 + 5 + 4, "one more has its vectors on the chip, in SELL, unfolded");
}

Test(model, candidates_are_ranked_by_what_was_measured_then_by_what_is_predicted)
{
    const yk_profile p = round_machine();
    yk_candidates list;
    const yk_space space = all_of(1e6);
    yk_candidates_list(&space, &list);
    yk_candidates_predict(&space, &p, NULL, &list);
    yk_candidates_rank(&list);
    for (int i = 1; i < list.count; i++)
        cr_assert_leq(list.of[i - 1].predicted, list.of[i].predicted);
    cr_assert_eq(&list.of[0], yk_candidates_best(&list, list.of[0].cpu_share > 0.0, true));
    yk_candidate *last = &list.of[list.count - 1];
    const char *driver = last->driver;
    last->measured = 1.0;
    yk_candidates_rank(&list);
    cr_assert_eq(list.of[0].measured, 1.0, "what is measured is known better");
    cr_assert_str_eq(list.of[0].driver, driver);
}

/* With b the ratio of the speeds the best share is b / (1 + b): here a tenth of 1e12 B/s, and what
 * passes beyond reading make of it. */
Test(model, candidates_of_both_owners_find_the_share_and_keep_to_the_least_one)
{
    const yk_profile p = round_machine();
    yk_candidates list;
    yk_space space = all_of(1e7);
    yk_candidates_list(&space, &list);
    yk_candidates_predict(&space, &p, NULL, &list);
    const yk_candidate *both = yk_candidates_best(&list, true, true);
    const yk_candidate *gpu = yk_candidates_best(&list, false, true);
    cr_assert(both->cpu_share > 0.06 && both->cpu_share < 0.12, "%g", both->cpu_share);
    cr_assert_lt(both->predicted, gpu->predicted);
    space.least_share = 0.5;
    yk_candidates_list(&space, &list);
    yk_candidates_predict(&space, &p, NULL, &list);
    both = yk_candidates_best(&list, true, true);
    cr_assert(both->cpu_share >= 0.5 && both->cpu_share < 0.51, "%g", both->cpu_share);
    cr_assert_gt(both->predicted, gpu->predicted);
}

Test(model, candidates_take_from_another_machine_what_this_one_does_not_know)
{
    yk_profile known = round_machine(), without = known;
    yk_candidates list;
    const yk_space space = all_of(1e6);
    without.gpu_grid_barrier.kind = YK_UNKNOWN;
    yk_candidates_list(&space, &list);
    yk_candidates_predict(&space, &without, NULL, &list);
    cr_assert_null(yk_candidates_best(&list, false, true));
    cr_assert_not_null(yk_candidates_best(&list, true, false));
    yk_candidates_predict(&space, &without, &known, &list);
    cr_assert_not_null(yk_candidates_best(&list, false, true));
}
