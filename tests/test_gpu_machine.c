/* SPDX-License-Identifier: BSD-3-Clause */
/* test_gpu_machine.c: what a GPU is, how fast its memory is, what it draws. Without a GPU every
 * test is skipped, or with YOKE_REQUIRE_GPU=1 fails. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yoke_tools.h>

#include "lib/bandwidth.h"
#include "lib/context.h"
#include "lib/iface/gpu_tools.h"

static yoke_context *context;

static void need_gpu(void)
{
    const char *required = getenv("YOKE_REQUIRE_GPU"), *reason;
    cr_assert_eq(yoke_context_create(NULL, &context), YOKE_OK);
    if (yoke_gpu_count(&reason) > 0) return;
    cr_assert(!required || strcmp(required, "1") != 0, "YOKE_REQUIRE_GPU=1, but no GPU: %s",
              reason);
    cr_skip_test("no usable GPU");
}

static void drop_context(void)
{
    yoke_context_destroy(context);
}

TestSuite(gpu_machine, .init = need_gpu, .fini = drop_context, .timeout = 120);

Test(gpu_machine, a_device_is_described)
{
    yoke_gpu gpu;
    cr_assert_eq(yoke_gpu_describe(0, &gpu), YOKE_OK, "%s", yoke_error_text());
    cr_assert_neq(gpu.name[0], '\0');
    cr_assert_geq(gpu.capability_major, 8);
    cr_assert_gt(gpu.multiprocessors, 0);
    cr_assert_gt(gpu.clock_hz, 100000000);
    cr_assert_gt(gpu.l2_bytes, 1 << 20);
    cr_assert_geq(gpu.shared_bytes, gpu.shared_block_bytes);
    cr_assert_gt(gpu.shared_block_bytes, 48 << 10);
    cr_assert_gt(gpu.memory_free, 0);
    cr_assert_geq(gpu.memory_total, gpu.memory_free);
    cr_assert(strchr(gpu.cuda_driver, '.') && strchr(gpu.cuda_runtime, '.'));
}

/* A pass of each size reads every double once: all are 1, so sums are exact. */
Test(gpu_machine, a_reading_pass_reads_the_whole_buffer)
{
    static const size_t sizes[] = {0, 1, 100000, 5 << 20, 300 << 20};
    for (int i = 0; i < 5; i++) {
        yoke_bandwidth *b = NULL;
        cr_assert_eq(yoke_bandwidth_create_on_gpu(context, 0, sizes[i], &b), YOKE_OK, "%s",
                     yoke_error_text());
        cr_assert_geq((size_t)b->count * sizeof(double), sizes[i]);
        cr_assert_gt(yoke_bandwidth_measure(b, YOKE_STREAM_READ), 0);
        cr_assert_eq(yk_gpu_tools_built()->buffer_sum(b->on_gpu), (double)b->count);
        cr_assert_gt(yoke_bandwidth_measure(b, YOKE_STREAM_COPY), 0);
        cr_assert_gt(yoke_bandwidth_measure(b, YOKE_STREAM_READ), 0);
        cr_assert_eq(yk_gpu_tools_built()->buffer_sum(b->on_gpu), (double)b->count);
        /* the first third becomes 1 + 0.5 * 1 */
        cr_assert_gt(yoke_bandwidth_measure(b, YOKE_STREAM_TRIAD), 0);
        cr_assert_gt(yoke_bandwidth_measure(b, YOKE_STREAM_READ), 0);
        cr_assert_eq(yk_gpu_tools_built()->buffer_sum(b->on_gpu),
                     (double)b->count + 0.5 * (double)(b->count / 3));
        yoke_bandwidth_destroy(b);
    }
    cr_assert_eq(atomic_load(&context->references), 1);
}

/* Far more than any device has: cut to what is free, and it stays device memory. */
Test(gpu_machine, a_buffer_is_cut_to_what_the_device_has)
{
    yoke_bandwidth *b = NULL;
    yoke_gpu gpu;
    cr_assert_eq(yoke_gpu_describe(0, &gpu), YOKE_OK);
    cr_assert_eq(yoke_bandwidth_create_on_gpu(context, 0, (size_t)1 << 45, &b), YOKE_OK, "%s",
                 yoke_error_text());
    cr_assert_lt(b->count * (int64_t)sizeof(double), gpu.memory_free);
    yoke_bandwidth_destroy(b);
}

static void assert_within(const char *name, double value, double least, double most)
{
    cr_assert(value >= least && value <= most, "%s is %g, not within %g and %g", name, value, least,
              most);
}

/* Bounds that no GPU of the last years leaves: a unit that is wrong, or a pass that did nothing. */
Test(gpu_machine, every_figure_is_measured_and_of_its_order)
{
    yoke_gpu gpu;
    yoke_gpu_speed s;
    cr_assert_eq(yoke_gpu_describe(0, &gpu), YOKE_OK); /* the device's context is made here */
    double start = yoke_seconds();
    cr_assert_eq(yoke_gpu_measure(0, &s), YOKE_OK, "%s", yoke_error_text());
    assert_within("seconds", yoke_seconds() - start, 0.0, 5.0);
    assert_within("read", s.read, 5e10, 2e13);
    assert_within("copy", s.copy, 0.5 * s.read, 1.5 * s.read);
    assert_within("triad", s.triad, 0.5 * s.read, 1.5 * s.read);
    assert_within("write", s.write, 0.3 * s.read, 1.5 * s.read);
    assert_within("l2_read", s.l2_read, 0.9 * s.read, 50 * s.read);
    assert_within("to_gpu", s.to_gpu, 1e9, 1e12);
    assert_within("from_gpu", s.from_gpu, 1e9, 1e12);
    assert_within("both_ways", s.both_ways, 0.7 * s.to_gpu, 2.2 * (s.to_gpu + s.from_gpu));
    assert_within("copy_sync", s.copy_sync, 5e-7, 1e-3);
    assert_within("launch", s.launch, 1e-7, 1e-4);
    assert_within("launch_sync", s.launch_sync, 1e-6, 1e-3);
    assert_within("graph_node", s.graph_node, 1e-8, 1e-4);
    assert_within("grid_barrier", s.grid_barrier, 1e-7, 1e-4);
    assert_within("flag_round_trip", s.flag_round_trip, 1e-7, 1e-3);
}

static double at(const yoke_profile *p, const char *name, double x)
{
    return yoke_profile_value(p, name, x);
}

/* All that one GPU lets a profile know, in the time that is promised, and kept as it was measured.
 */
Test(gpu_machine, a_profile_is_measured_in_seconds_and_kept)
{
    yoke_profile *p = NULL, *kept = NULL;
    char folder[] = "/tmp/yoke_calibrate_XXXXXX", path[256];
    double start = yoke_seconds();
    cr_assert_eq(yoke_profile_calibrate(context, 0, NULL, NULL, &p), YOKE_OK, "%s",
                 yoke_error_text());
    assert_within("seconds", yoke_seconds() - start, 0.0, 15.0);
    cr_assert_not(strstr(yoke_profile_notice(p), "not all could be measured"), "%s",
                  yoke_profile_notice(p));
    double read = at(p, "gpu_read", 1e9), sms = at(p, "gpu_sms", 1.0);
    assert_within("gpu_read", read, 5e10, 2e13);
    assert_within("gpu_read in the cache", at(p, "gpu_read", 16e6), 0.8 * read, 50 * read);
    assert_within("gpu_read_sms", at(p, "gpu_read_sms", sms), 0.7 * read, 1.3 * read);
    assert_within("a sixteenth", at(p, "gpu_read_sms", sms / 16.0), 0.02 * read, 0.5 * read);
    assert_within("gpu_gather_set", at(p, "gpu_gather_set", 5e8), 1e9, 1e13);
    assert_within("gathers in the cache", at(p, "gpu_gather_set", 1e6),
                  at(p, "gpu_gather_set", 5e8), 1e13);
    assert_within("gpu_reads_host", at(p, "gpu_reads_host", 1.0), 1e9, 1e12);
    assert_within("gpu_writes_host", at(p, "gpu_writes_host", 1.0), 1e9, 1e12);
    assert_within("shared", at(p, "gpu_reads_host_shared", 1.0), 1e8,
                  1.3 * at(p, "gpu_reads_host", 1.0));
    assert_within("the CPU's", at(p, "cpu_reads_host_shared", 1.0), 1e8, 1e13);
    assert_within("gpu_graph_launch", at(p, "gpu_graph_launch", 1.0), 1e-6, 1e-3);
    assert_within("copy_time", at(p, "copy_time", 8e6), at(p, "copy_time", 8.0), 1e-1);
    assert_within("page_migration_to_gpu", at(p, "page_migration_to_gpu", 1.0), 1e8, 1e12);
    assert_within("page_round_trip", at(p, "page_round_trip", 1.0), 1e-7, 1e-2);
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/p.profile", folder);
    cr_assert_eq(yoke_profile_save(p, path, NULL, 0), YOKE_OK, "%s", yoke_error_text());
    cr_assert_eq(yoke_profile_open(path, 0, &kept), YOKE_OK, "%s", yoke_error_text());
    cr_assert_str_eq(yoke_profile_notice(kept), "");
    assert_within("kept", at(kept, "gpu_read", 1e9), 0.99999 * read, 1.00001 * read);
    remove(path);
    remove(folder);
    yoke_profile_close(p);
    yoke_profile_close(kept);
}

/* A counter that moves while the GPU works for more than its steps; where NVML is. */
Test(gpu_machine, joules_grow_with_work)
{
    yoke_energy *meter = NULL;
    yoke_bandwidth *b = NULL;
    if (yoke_energy_open(0, &meter) != YOKE_OK) cr_skip_test("no counter of energy");
    cr_assert_eq(yoke_bandwidth_create_on_gpu(context, 0, 1 << 28, &b), YOKE_OK);
    yoke_energy_start(meter);
    double start = yoke_seconds(), seconds = 0.0;
    yoke_bandwidth_measure(b, YOKE_STREAM_READ);
    cr_assert(isnan(yoke_energy_joules(meter)), "a millisecond is too short for its steps");
    while ((seconds = yoke_seconds() - start) < 1.5) yoke_bandwidth_measure(b, YOKE_STREAM_READ);
    double watts = yoke_energy_joules(meter) / seconds;
    assert_within("watts", watts, 5.0, 3000.0);
    yoke_bandwidth_destroy(b);
    yoke_energy_close(meter);
}
