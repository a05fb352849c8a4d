/* SPDX-License-Identifier: BSD-3-Clause */
/* test_cgbench_machine.c: a machine's profile, measured, kept, replaced and shown by the program.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/json_check.h"
#include "tests/run_cgbench.h"

TestSuite(cgbench_machine, .init = enter_folder, .fini = leave_folder, .timeout = 120);

static void keep_in_this_folder(void)
{
    char folder[512];
    cr_assert_not_null(getcwd(folder, sizeof folder));
    setenv("XDG_CACHE_HOME", folder, 1);
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
}

Test(cgbench_machine, calibrates_and_keeps_what_it_measured)
{
    char keys[8192];
    keep_in_this_folder();
    cr_assert_eq(cgbench("machine --calibrate --threads 1 --json -"), 0, "%s", err);
    cr_assert(json_object(out, keys, sizeof keys), "%s", out);
    cr_assert_str_eq(json_value(out, "figures.cpu_threads.value"), "1");
    cr_assert_str_eq(json_value(out, "figures.cpu_region.kind"), "\"measured\"");
    cr_assert_gt(atof(json_value(out, "figures.cpu_gather.value")), 1e4);
    cr_assert_str_eq(json_value(out, "figures.gpu_launch.value"), "null");
    cr_assert_not(strstr(out, "not all could be measured"), "%s", out);
    cr_assert(strstr(err, "kept in "), "%s", err);
    cr_assert_eq(cgbench("machine --machine this"), 0, "%s", err);
    cr_assert(strstr(out, "measured: here, 20"), "%s", out);
    cr_assert_str_empty(err);
}

Test(cgbench_machine, says_that_a_kept_profile_was_cut_short_and_replaces_it)
{
    keep_in_this_folder();
    cr_assert_eq(cgbench("machine --calibrate --threads 1 --quiet"), 0, "%s", err);
    cr_assert_eq(system("for f in yoke/*.profile; do head -n 9 $f >t; cp t $f; done"), 0);
    cr_assert_eq(cgbench("machine --machine this"), 0, "%s", err);
    cr_assert(strstr(err, "cut short"), "%s", err);
    cr_assert_eq(cgbench("machine --calibrate --threads 1 --json -"), 0, "%s", err);
    cr_assert(strstr(out, "cut short"), "%s", out);
    cr_assert(strstr(out, "; replaced"), "%s", out);
    cr_assert_eq(cgbench("machine --machine this"), 0, "%s", err);
    cr_assert_str_empty(err);
}

Test(cgbench_machine, shows_what_cannot_be_kept_and_ends_in_exit_3)
{
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    cr_assert_eq(cgbench("machine --calibrate --threads 1"), 3, "%s", err);
    cr_assert(strstr(err, "the profile is not kept: no folder"), "%s", err);
    cr_assert(strstr(out, "cpu_region"), "%s", out);
    cr_assert_not(strstr(out, "kept in"), "%s", out);
}

Test(cgbench_machine, shows_a_machine_that_is_not_here)
{
    char keys[8192];
    cr_assert_eq(cgbench("machine --machine gh200-120 --json j"), 0, "%s", err);
    cr_assert(strstr(out, "flag_round_trip"));
    cr_assert(strstr(out, "published: 0.79 to 0.86 us"), "%s", out);
    static char text[1 << 16];
    read_text("j", text, sizeof text);
    cr_assert(json_object(text, keys, sizeof keys), "%s", text);
    cr_assert_str_eq(json_value(text, "figures.flag_round_trip.value"), "8.3e-07");
    cr_assert_str_eq(json_value(text, "figures.copy_latency.kind"), "\"assumed\"");
    cr_assert_str_eq(json_value(text, "gpu"), "\"NVIDIA GH200 120GB\"");
}

/* ------------------------------------------------------------------ wisdom */

static const char measured[] = "run gen:poisson2d5:30 --partition cpu --threads 1 --iterations 20 "
                               "--repeat 1 --wisdom w --json -";

Test(cgbench_machine, wisdom_saves_measuring_the_same_plan_again)
{
    cr_assert_eq(cgbench(measured), 0, "%s", err);
    cr_assert_not(strstr(out, "wisdom"), "%s", out);
    cr_assert_eq(cgbench(measured), 0, "%s", err);
    cr_assert(strstr(out, "\"notices\":[\"wisdom: driver team, format csr, shape"), "%s", out);
    cr_assert(strstr(out, "nothing was timed"), "%s", out);
}

Test(cgbench_machine, wisdom_that_is_stale_is_told_and_replaced)
{
    cr_assert_eq(cgbench(measured), 0, "%s", err);
    cr_assert_eq(system("sed -i 's/^cpu = .*/cpu = Another/' w"), 0);
    cr_assert_eq(cgbench(measured), 0, "%s", err);
    cr_assert(strstr(err, "wisdom not used: 'w' is of another CPU"), "%s", err);
    cr_assert_not(strstr(out, "nothing was timed"), "%s", out);
    cr_assert_eq(cgbench(measured), 0, "%s", err);
    cr_assert_not(strstr(err, "not used"), "%s", err);
    cr_assert(strstr(out, "nothing was timed"), "%s", out);
}

Test(cgbench_machine, wisdom_never_takes_the_place_of_another_file)
{
    write_text("notes", "not to be lost\n");
    cr_assert_eq(cgbench("run gen:poisson2d5:5 --partition cpu --wisdom notes"), 2);
    cr_assert(strstr(err, "this is no wisdom"), "%s", err);
    char text[64];
    read_text("notes", text, sizeof text);
    cr_assert_str_eq(text, "not to be lost\n");
    cr_assert_eq(cgbench("run gen:poisson2d5:5 --wisdom -"), 2);
}

Test(cgbench_machine, wisdom_begins_in_an_empty_file)
{
    write_text("w", "");
    cr_assert_eq(cgbench(measured), 0, "%s", err);
    cr_assert_not(strstr(err, "wisdom"), "%s", err);
    cr_assert_eq(cgbench(measured), 0, "%s", err);
    cr_assert(strstr(out, "nothing was timed"), "%s", out);
}
