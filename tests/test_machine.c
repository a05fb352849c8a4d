/* SPDX-License-Identifier: BSD-3-Clause */
/* test_machine.c: the machine's description, vector levels, features, bandwidth, energy. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <yoke_tools.h>

#include "lib/bandwidth.h"
#include "lib/context.h"
#include "lib/energy.h"
#include "lib/machine.h"
#include "lib/simd.h"
#include "lib/sweep.h"

static char root[64];

/* Writes a file of the fake tree, making its folders. */
static void put(const char *path, const char *text)
{
    char full[512];
    int end = snprintf(full, sizeof full, "%s/%s", root, path);
    for (int i = 1; i < end; i++)
        if (full[i] == '/') {
            full[i] = '\0';
            mkdir(full, 0700);
            full[i] = '/';
        }
    FILE *file = fopen(full, "w");
    cr_assert_not_null(file, "%s", full);
    fputs(text, file);
    fclose(file);
}

static void begin_tree(void)
{
    strcpy(root, "/tmp/yoke_machine_XXXXXX");
    cr_assert_not_null(mkdtemp(root));
}

static void remove_tree(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    cr_assert_eq(system(command), 0);
}

static cpu_set_t mask_of(int first, int last)
{
    cpu_set_t mask;
    CPU_ZERO(&mask);
    for (int cpu = first; cpu <= last; cpu++) CPU_SET(cpu, &mask);
    return mask;
}

static void put_two_nodes(void)
{
    put("sys/devices/system/node/node0/cpulist", "0-3,8-11\n");
    put("sys/devices/system/node/node1/cpulist", "4-7,12-15\n");
    put("sys/devices/system/node/node4/cpulist", "\n"); /* memory alone, after a gap */
}

Test(machine, counts_the_numa_nodes_of_the_mask, .init = begin_tree, .fini = remove_tree)
{
    static const struct {
        int first, last, nodes;
    } cases[] = {{0, 3, 1}, {3, 4, 2}, {0, 15, 2}, {9, 10, 1}, {12, 12, 1}};
    put_two_nodes();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        yoke_machine machine = {.numa_nodes = 1};
        cpu_set_t mask = mask_of(cases[i].first, cases[i].last);
        yk_machine_read(root, &mask, &machine);
        cr_assert_eq(machine.numa_nodes, cases[i].nodes, "processors %d to %d", cases[i].first,
                     cases[i].last);
    }
}

Test(machine, reads_caches_memory_and_an_x86_name, .init = begin_tree, .fini = remove_tree)
{
    put("proc/cpuinfo", "processor\t: 0\nmodel\t\t: 207\nmodel name\t: A Processor \n");
    put("proc/meminfo", "MemTotal:       1000 kB\nMemFree: 7 kB\nMemAvailable:    900 kB\n");
    put("sys/devices/system/cpu/cpu2/cache/index0/level", "1\n");
    put("sys/devices/system/cpu/cpu2/cache/index0/type", "Data\n");
    put("sys/devices/system/cpu/cpu2/cache/index0/size", "48K\n");
    put("sys/devices/system/cpu/cpu2/cache/index1/level", "1\n");
    put("sys/devices/system/cpu/cpu2/cache/index1/type", "Instruction\n");
    put("sys/devices/system/cpu/cpu2/cache/index1/size", "32K\n");
    put("sys/devices/system/cpu/cpu2/cache/index3/level", "3\n");
    put("sys/devices/system/cpu/cpu2/cache/index3/type", "Unified\n");
    put("sys/devices/system/cpu/cpu2/cache/index3/size", "30M\n");
    yoke_machine machine = {.numa_nodes = 1};
    cpu_set_t mask = mask_of(2, 3);
    yk_machine_read(root, &mask, &machine);
    cr_assert_str_eq(machine.cpu_name, "A Processor");
    cr_assert_eq(machine.cache_bytes[1], 48 << 10);
    cr_assert_eq(machine.cache_bytes[2], 0);
    cr_assert_eq(machine.cache_bytes[3], 30 << 20);
    cr_assert_eq(machine.memory_total, 1024000);
    cr_assert_eq(machine.memory_available, 921600);
    cr_assert_eq(machine.numa_nodes, 1, "without a node folder it stays as it was");
}

static void assert_arm(const char *implementer, const char *part, const char *name)
{
    char text[256];
    yoke_machine machine = {.numa_nodes = 1};
    cpu_set_t mask = mask_of(0, 0);
    snprintf(text, sizeof text, "processor\t: 0\nCPU implementer\t: %s\nCPU part\t: %s\n",
             implementer, part);
    put("proc/cpuinfo", text);
    yk_machine_read(root, &mask, &machine);
    cr_assert_str_eq(machine.cpu_name, name);
}

Test(machine, names_arm_cores_by_their_numbers, .init = begin_tree, .fini = remove_tree)
{
    assert_arm("0x41", "0xd4f", "Arm Neoverse V2");
    assert_arm("0x41", "0xd08", "Arm Cortex-A72");
    assert_arm("0x51", "0xc00", "implementer 0x51, part 0xc00");
}

Test(machine, describes_the_one_that_runs_this_test)
{
    yoke_machine machine;
    yoke_machine_describe(&machine);
    cr_assert_geq(machine.processors, 1);
    cr_assert_geq(machine.numa_nodes, 1);
    cr_assert_gt(machine.memory_total, 1 << 20);
    cr_assert_geq(machine.memory_total, machine.memory_available);
    cr_assert_str_eq(machine.simd, yk_simd_name());
    cr_assert_neq(machine.arch[0], '\0');
}

Test(machine, the_environment_lowers_the_vector_level_but_never_raises_it)
{
    cr_assert_eq(yk_simd_choose(YK_AVX512, NULL), YK_AVX512);
    cr_assert_eq(yk_simd_choose(YK_AVX512, "avx2"), YK_AVX2);
    cr_assert_eq(yk_simd_choose(YK_AVX512, "portable"), YK_PORTABLE);
    cr_assert_eq(yk_simd_choose(YK_AVX2, "avx512"), YK_AVX2);
    cr_assert_eq(yk_simd_choose(YK_PORTABLE, "avx2"), YK_PORTABLE);
    cr_assert_eq(yk_simd_choose(YK_NEON, "avx2"), YK_NEON);
    cr_assert_eq(yk_simd_choose(YK_NEON, "portable"), YK_PORTABLE);
    cr_assert_eq(yk_simd_choose(YK_AVX2, "fastest"), YK_AVX2);
    setenv("YOKE_SIMD", "portable", 1);
    cr_assert_str_eq(yk_simd_name(), "portable");
}

Test(machine, features_are_known_by_name)
{
    cr_assert_eq(yoke_has("zlib"), 1);
    cr_assert_eq(yoke_has("teleport"), 0);
    cr_assert_eq(yoke_has(NULL), 0);
#ifdef __x86_64__
    cr_assert_eq(yoke_has("avx512"), 1);
    cr_assert_eq(yoke_has("neon"), 0);
#endif
}

/* Each level of this machine; sums of small integers are exact in any order. */
Test(machine, sweeps_reach_every_line)
{
    static const char *const levels[] = {"portable", "avx2", "avx512"};
    enum { LINES = 45 };
    static _Alignas(64) double a[LINES * YK_LINE], b[LINES * YK_LINE], c[LINES * YK_LINE];
    for (int k = 0; k < 3; k++)
        for (size_t lines = 0; lines <= LINES; lines++) {
            setenv("YOKE_SIMD", levels[k], 1);
            for (int i = 0; i < LINES * YK_LINE; i++) a[i] = i, b[i] = c[i] = -1;
            double count = (double)(lines * YK_LINE);
            cr_assert_eq(yk_sweep_read(a, lines), lines ? count * (count - 1) / 2 : 0);
            yk_sweep_copy(b, a, lines);
            yk_sweep_triad(c, a, b, 0.5, lines);
            for (int i = 0; i < LINES * YK_LINE; i++) {
                cr_assert_eq(b[i], i < count ? i : -1);
                cr_assert_eq(c[i], i < count ? 1.5 * i : -1);
            }
        }
}

Test(machine, a_pass_touches_the_whole_buffer_and_takes_time)
{
    yoke_context *context = NULL;
    cr_assert_eq(yoke_context_create(NULL, &context), YOKE_OK);
    static const size_t sizes[] = {0, 1, 1000, 3 << 20};
    for (int threads = 1; threads <= 3; threads++)
        for (int i = 0; i < 4; i++) {
            yoke_bandwidth *b = NULL;
            cr_assert_eq(yoke_bandwidth_create(context, threads, sizes[i], &b), YOKE_OK);
            cr_assert_geq((size_t)b->count * sizeof(double), sizes[i]);
            cr_assert_gt(yoke_bandwidth_measure(b, YOKE_STREAM_READ), 0);
            double sum = 0;
            for (int t = 0; t < b->threads; t++) sum += b->sums[t * YK_LINE];
            cr_assert_eq(sum, (double)b->count);
            cr_assert_gt(yoke_bandwidth_measure(b, YOKE_STREAM_COPY), 0);
            cr_assert_gt(yoke_bandwidth_measure(b, YOKE_STREAM_TRIAD), 0);
            yoke_bandwidth_destroy(b);
        }
    cr_assert_eq(atomic_load(&context->live_bytes), 0);
    yoke_context_destroy(context);
}

Test(machine, a_buffer_beyond_an_index_is_overflow)
{
    yoke_context *context = NULL;
    yoke_bandwidth *b = NULL;
    cr_assert_eq(yoke_context_create(NULL, &context), YOKE_OK);
    cr_assert_eq(yoke_bandwidth_create(context, 1, SIZE_MAX, &b), YOKE_OVERFLOW);
    cr_assert_eq(yoke_bandwidth_create(context, -1, 8, &b), YOKE_INVALID);
    cr_assert_eq(yoke_bandwidth_create(NULL, 1, 8, &b), YOKE_INVALID);
    cr_assert_null(b);
    yoke_context_destroy(context);
}

/* --------------------------------------------------------------------- GPUs */

enum { NO_SUCH_DEVICE = 4096 };

Test(machine, without_a_gpu_there_is_a_reason_and_with_one_none)
{
    const char *reason = NULL;
    int count = yoke_gpu_count(&reason);
    cr_assert_not_null(reason);
    cr_assert_eq(count > 0, reason[0] == '\0', "%d GPUs, '%s'", count, reason);
    if (!yoke_has("cuda")) cr_assert(strstr(reason, "no CUDA"), "%s", reason);
    cr_assert_eq(yoke_gpu_count(NULL), count);
}

static void assert_lacking(yoke_status status)
{
    cr_assert(status == YOKE_UNUSABLE || status == YOKE_NOT_BUILT, "%s", yoke_status_text(status));
    cr_assert(strstr(yoke_error_text(), "no GPU") || strstr(yoke_error_text(), "device 4096"), "%s",
              yoke_error_text());
}

Test(machine, an_absent_device_is_a_status_with_the_reason)
{
    yoke_context *context = NULL;
    yoke_bandwidth *b = NULL;
    yoke_gpu gpu;
    yoke_gpu_speed speed;
    cr_assert_eq(yoke_context_create(NULL, &context), YOKE_OK);
    assert_lacking(yoke_bandwidth_create_on_gpu(context, NO_SUCH_DEVICE, 1 << 20, &b));
    cr_assert_null(b);
    cr_assert_eq(atomic_load(&context->references), 1);
    assert_lacking(yoke_gpu_describe(NO_SUCH_DEVICE, &gpu));
    assert_lacking(yoke_gpu_measure(NO_SUCH_DEVICE, &speed));
    const double figures[] = {speed.read,         speed.copy,
                              speed.triad,        speed.write,
                              speed.l2_read,      speed.to_gpu,
                              speed.from_gpu,     speed.both_ways,
                              speed.copy_sync,    speed.launch,
                              speed.launch_sync,  speed.graph_node,
                              speed.grid_barrier, speed.flag_round_trip,
                              speed.energy_step};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        cr_assert(isnan(figures[i]), "figure %zu", i);
    cr_assert_eq(yoke_bandwidth_create_on_gpu(NULL, 0, 8, &b), YOKE_INVALID);
    cr_assert_eq(yoke_gpu_describe(0, NULL), YOKE_INVALID);
    cr_assert_eq(yoke_gpu_measure(0, NULL), YOKE_INVALID);
    yoke_context_destroy(context);
}

/* ------------------------------------------------------------------- energy */

Test(machine, joules_of_an_absent_device_are_not_known)
{
    yoke_energy *meter = (yoke_energy *)root;
    cr_assert_neq(yoke_energy_open(NO_SUCH_DEVICE, &meter), YOKE_OK);
    cr_assert_neq(yoke_error_text()[0], '\0');
    cr_assert_null(meter);
    yoke_energy_start(meter);
    cr_assert(isnan(yoke_energy_joules(meter)));
    yoke_energy_close(meter);
}

static void put_zone(int zone, const char *name, const char *microjoules)
{
    char path[128];
    snprintf(path, sizeof path, "sys/class/powercap/intel-rapl:%d/name", zone);
    put(path, name);
    snprintf(path, sizeof path, "sys/class/powercap/intel-rapl:%d/energy_uj", zone);
    put(path, microjoules);
    snprintf(path, sizeof path, "sys/class/powercap/intel-rapl:%d/max_energy_range_uj", zone);
    put(path, "10000000\n");
}

/* The platform's own zone contains the packages: adding it would count them twice. */
Test(machine, joules_are_those_of_all_packages_and_of_nothing_else, .init = begin_tree,
     .fini = remove_tree)
{
    yoke_energy *meter = NULL;
    put_zone(0, "package-0\n", "1000000\n");
    put_zone(1, "psys\n", "5\n");
    put_zone(2, "package-1\n", "9000000\n");
    cr_assert_eq(yk_energy_open_packages(root, &meter), YOKE_OK, "%s", yoke_error_text());
    cr_assert_eq(meter->packages, 2);
    yoke_energy_start(meter);
    put_zone(0, "package-0\n", "3500000\n");
    put_zone(1, "psys\n", "9000000\n");
    put_zone(2, "package-1\n", "1000000\n"); /* past its range of 10 J: 2 J */
    meter->least = 0.0;
    cr_assert_float_eq(yoke_energy_joules(meter), 4.5, 1e-9);
    meter->least = 3600.0; /* too short for the counter's steps */
    cr_assert(isnan(yoke_energy_joules(meter)));
    yoke_energy_close(meter);
}

Test(machine, a_tree_without_packages_has_no_joules, .init = begin_tree, .fini = remove_tree)
{
    yoke_energy *meter = NULL;
    cr_assert_eq(yk_energy_open_packages(root, &meter), YOKE_UNUSABLE);
    cr_assert(strstr(yoke_error_text(), "no RAPL"), "%s", yoke_error_text());
    put("sys/class/powercap/intel-rapl:0/name", "package-0\n"); /* and no counter to be read */
    cr_assert_eq(yk_energy_open_packages(root, &meter), YOKE_UNUSABLE);
    cr_assert(strstr(yoke_error_text(), "intel-rapl:0/energy_uj"), "%s", yoke_error_text());
    cr_assert_null(meter);
}
