/* SPDX-License-Identifier: BSD-3-Clause */
/* test_calibrate.c: measuring a GPU for a profile, on the fake runtime: every call is made,
 * whatever fails leaves a profile without some figures and says so, and nothing is left behind. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "lib/cuda/calibrate.h"
#include "tests/fake/fake.h"

static yoke_context *context;
static yk_profile profile;
static yk_calibration c;

static void begin(void)
{
    yoke_context_options options = yoke_context_defaults();
    options.threads = 1;
    cr_assert_eq(yoke_context_create(&options, &context), YOKE_OK);
    fake_device_bytes((size_t)128 << 20);
}

static void end(void)
{
    yoke_context_destroy(context);
    cr_assert_eq(fake_total(fake_live()), 0);
}

TestSuite(calibrate, .init = begin, .fini = end, .timeout = 240);

static void start_over(void)
{
    yk_profile_describe(0, &profile);
    c = (yk_calibration){.context = context, .profile = &profile, .threads = 1, .source = "a fake"};
}

Test(calibrate, measures_what_a_gpu_has)
{
    start_over();
    yk_gpu_calibrate(&c, 0);
    cr_assert_str_eq(c.notice, "");
    const yk_figure *found[] = {&profile.gpu_launch,
                                &profile.gpu_launch_sync,
                                &profile.gpu_graph_node,
                                &profile.gpu_graph_launch,
                                &profile.gpu_grid_barrier,
                                &profile.flag_round_trip,
                                &profile.copy_latency,
                                &profile.link_to_gpu,
                                &profile.link_from_gpu,
                                &profile.link_both,
                                &profile.gpu_write,
                                &profile.gpu_triad,
                                &profile.gpu_reads_host,
                                &profile.gpu_writes_host,
                                &profile.gpu_reads_host_shared,
                                &profile.page_round_trip,
                                &profile.page_migration_to_gpu,
                                &profile.page_migration_to_cpu,
                                &profile.page_faults_to_gpu,
                                &profile.page_faults_to_cpu};
    for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
        if (found[i] == &profile.page_round_trip || found[i] == &profile.gpu_grid_barrier)
            continue; /* differences of times that mean nothing here */
        cr_assert(yk_known(found[i]), "figure %zu", i);
        cr_assert_gt(found[i]->value, 0.0, "figure %zu", i);
        cr_assert_str_eq(found[i]->source, "a fake");
    }
    cr_assert_geq(profile.gpu_read.points, 4);
    cr_assert_eq(profile.gpu_copy.points, profile.gpu_read.points);
    cr_assert_geq(profile.gpu_gather_set.points, 3);
    cr_assert_eq(profile.gpu_read_sms.points, 2, "of two multiprocessors");
    cr_assert_eq(profile.gpu_reads_host_sms.points, 2);
    cr_assert_eq(profile.copy_time.points, 6);
    cr_assert_not(yk_known(&profile.cpu_reads_gpu));
}

/* What was measured can be kept and read again: every curve ascends, every figure can be true, but
 * for speeds of a fake, which may be anything. */
Test(calibrate, measures_curves_that_ascend)
{
    start_over();
    yk_gpu_calibrate(&c, 0);
    for (int i = 0; i < yk_profile_entry_count; i++) {
        const yk_profile_entry *e = &yk_profile_entries[i];
        if (!e->is_curve) continue;
        const yk_curve *curve = yk_profile_curve(&profile, e);
        for (int k = 1; k < curve->points; k++)
            cr_assert_gt(curve->at[k], curve->at[k - 1], "%s", e->name);
    }
}

/* Of speeds a try that fails is made up for by the others. */
static const struct step {
    const char *name;
    yoke_status (*measure)(yk_calibration *c, int number);
    int mebibytes; /* of the device */
    int most;      /* failures of a kind of call that are tried */
    bool lenient;
} steps[] = {{"speeds", yk_gpu_calibrate_speeds, 24, 2, true},
             {"sizes", yk_gpu_calibrate_sizes, 24, 3, false},
             {"gathers", yk_gpu_calibrate_gathers, 24, 4, false},
             {"multiprocessors", yk_gpu_calibrate_multiprocessors, 24, 2, false},
             {"host", yk_gpu_calibrate_host, 24, 2, false},
             {"copies", yk_gpu_calibrate_copies, 24, 4, false},
             {"pages", yk_gpu_calibrate_pages, 80, 4, false}};
enum { STEPS = sizeof steps / sizeof *steps };

/* Calls that something goes on without: what is destroyed, asked again, or only current. */
static bool may_be_missed(const struct step *s, const char *call)
{
    return s->lenient || strstr(call, "Destroy") || strstr(call, "Free") ||
           strstr(call, "Version") || strstr(call, "GetDevice") || strstr(call, "SetDevice") ||
           strstr(call, "StreamQuery") || strstr(call, "cuDevSmResourceSplit");
}

static void fail_one(const struct step *s, const char *call, long nth)
{
    char when[128];
    snprintf(when, sizeof when, "%s, call %ld of %s", s->name, nth, call);
    start_over();
    fake_fail(call, nth, cudaErrorInitializationError);
    yoke_status status = s->measure(&c, 0);
    fake_fail(call, 0, cudaSuccess);
    yk_calibration_missed(&c, s->name, status);
    cr_assert(status != YOKE_OK || may_be_missed(s, call), "%s", when);
    if (status != YOKE_OK) {
        cr_assert(strstr(c.notice, "not all could be measured: "), "%s: %s", when, c.notice);
        cr_assert(strstr(c.notice, "initialization error"), "%s: %s", when, c.notice);
    }
    cr_assert_eq(fake_total(fake_live()), 0, "%s left something", when);
}

ParameterizedTestParameters(calibrate, goes_on_whatever_fails)
{
    static int which[STEPS];
    for (int i = 0; i < STEPS; i++) which[i] = i;
    return cr_make_param_array(int, which, STEPS, NULL);
}

ParameterizedTest(int *which, calibrate, goes_on_whatever_fails, .timeout = 240)
{
    const struct step *s = &steps[*which];
    long calls[100];
    int kinds = 0;
    fake_device_bytes((size_t)s->mebibytes << 20);
    start_over();
    for (int k = 0; fake_call_name(k); k++) calls[k] = fake_calls(fake_call_name(k));
    cr_assert_eq(s->measure(&c, 0), YOKE_OK, "%s: %s", s->name, yoke_error_text());
    for (int k = 0; fake_call_name(k); k++) calls[k] = fake_calls(fake_call_name(k)) - calls[k];
    for (int k = 0; fake_call_name(k); k++) {
        long stride = 1 + calls[k] / s->most;
        for (long nth = 1; nth <= calls[k]; nth += stride) fail_one(s, fake_call_name(k), nth);
        kinds += calls[k] > 0;
    }
    cr_assert_gt(kinds, 12, "%d kinds of call", kinds);
}

Test(calibrate, takes_no_more_managed_memory_than_the_device_has_free)
{
    fake_device_bytes((size_t)48 << 20);
    start_over();
    cr_assert_eq(yk_gpu_calibrate_pages(&c, 0), YOKE_NO_MEMORY);
    cr_assert_eq(fake_made().managed, 0);
    cr_assert_not(yk_known(&profile.page_migration_to_gpu));
}

Test(calibrate, leaves_unknown_what_needs_green_contexts_where_there_are_none)
{
    fake_green_contexts(0);
    start_over();
    cr_assert_eq(yk_gpu_calibrate_multiprocessors(&c, 0), YOKE_UNUSABLE);
    cr_assert_eq(profile.gpu_read_sms.points, 0);
}

Test(calibrate, opens_a_profile_of_a_machine_with_a_gpu)
{
    bool kept;
    char notice[512];
    setenv("XDG_CACHE_HOME", "/nonexistent", 1);
    yk_profile_here(0, &profile, &kept, notice, sizeof notice);
    cr_assert_not(kept);
    cr_assert_str_eq(profile.key.gpu, "Fake GPU 0");
    cr_assert_eq(profile.gpu_sms.kind, YK_MEASURED);
    cr_assert_eq(profile.gpu_sms.value, 2.0);
    cr_assert_eq(profile.flag_round_trip.kind, YK_ASSUMED);
    cr_assert_str_eq(profile.flag_round_trip.source, "as of h200-16cores");
}
