/* SPDX-License-Identifier: BSD-3-Clause */
/* test_cgbench.c: records, files and text of the built program. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/json_check.h"
#include "tests/run_cgbench.h"

TestSuite(cgbench, .init = enter_folder, .fini = leave_folder, .timeout = 120);

static double number_in(const char *json, const char *key)
{
    const char *value = json_value(json, key);
    return *value && strcmp(value, "null") ? strtod(value, NULL) : NAN;
}

/* ----------------------------------------------------------------- records */

static const char all_keys[] =
    "schema version commit date machine driver_version matrix rows nonzeros memory home partition "
    "cpu_rows gpus ranks threads solver driver format shape precond effort reorder rtol outcome "
    "iterations us_per_iteration us_per_iteration.median us_per_iteration.min us_per_iteration.max "
    "seconds seconds.setup seconds.transfer seconds.solve seconds.upload bytes_per_iteration "
    "gb_per_s "
    "fraction_of_bandwidth residual_true residual_recursive joules speedup_vs notices ";

Test(cgbench, a_record_has_every_key_once_and_says_what_ran)
{
    char keys[2048];
    cr_assert_eq(cgbench("solve gen:poisson2d5:20 --json - --threads 1"), 0, "%s", err);
    cr_assert_eq(lines_of(out), 1);
    cr_assert(json_object(out, keys, sizeof keys), "%s", out);
    cr_assert_str_eq(keys, all_keys);
    cr_assert_str_eq(json_value(out, "schema"), "1");
    cr_assert_str_eq(json_value(out, "matrix"), "\"gen:poisson2d5:20\"");
    cr_assert_str_eq(json_value(out, "rows"), "400");
    cr_assert_str_eq(json_value(out, "nonzeros"), "1920"); /* 5 n^2 - 4 n */
    cr_assert_str_eq(json_value(out, "memory"), "null");   /* one owner */
    cr_assert_str_eq(json_value(out, "partition"), "\"cpu\"");
    cr_assert_str_eq(json_value(out, "cpu_rows"), "400");
    cr_assert_str_eq(json_value(out, "gpus"), "0");
    cr_assert_str_eq(json_value(out, "threads"), "1");
    cr_assert_str_eq(json_value(out, "driver_version"), "null");
    cr_assert_str_eq(json_value(out, "joules"), "null");
    cr_assert_str_eq(json_value(out, "outcome"), "\"converged\"");
    cr_assert_str_eq(json_value(out, "effort"), "\"estimate\"");
    cr_assert_str_eq(json_value(out, "rtol"), "1e-08");
    cr_assert_null(strstr(out, "auto"));
    cr_assert_leq(number_in(out, "residual_true"), 1e-8);
    cr_assert_gt(number_in(out, "us_per_iteration.median"), 0.0);
    cr_assert_gt(number_in(out, "fraction_of_bandwidth"), 0.0);
}

Test(cgbench, a_record_is_one_object_whatever_the_name_of_the_file)
{
    char keys[2048];
    write_text("a\"b\\\n\xff.mtx",
               "%%MatrixMarket matrix coordinate real symmetric\n1 1 1\n1 1 2\n");
    cr_assert_eq(cgbench("solve \"$(printf 'a\"b\\\\\\n\\377.mtx')\" --json -"), 0, "%s", err);
    cr_assert_eq(lines_of(out), 1);
    cr_assert(json_object(out, keys, sizeof keys), "%s", out);
    cr_assert_str_eq(json_value(out, "matrix"), "\"a\\\"b\\\\\\u000a\\ufffd.mtx\"");
}

Test(cgbench, run_writes_a_row_for_each_configuration_of_each_matrix)
{
    cr_assert_eq(cgbench("run gen:poisson2d5:8 gen:poisson3d7:5 --precond none,jacobi "
                         "--shape folded,unfolded --json - --csv rows.csv --repeat 2"),
                 0, "%s", err);
    cr_assert_eq(lines_of(out), 8);
    int jacobi = 0;
    char keys[2048];
    for (char *line = strtok(out, "\n"); line; line = strtok(NULL, "\n")) {
        cr_assert(json_object(line, keys, sizeof keys), "%s", line);
        cr_assert_str_eq(json_value(line, "effort"), "\"measure\"");
        jacobi += !strcmp(json_value(line, "precond"), "\"jacobi\"");
    }
    cr_assert_eq(jacobi, 4);
    read_text("rows.csv", out, sizeof out);
    cr_assert_eq(lines_of(out), 9);
    cr_assert_eq(strncmp(out, "schema,version,commit,date,", 27), 0);
    cr_assert(strstr(out, ",us_per_iteration.median,"));
}

Test(cgbench, run_writes_the_others_when_one_cannot_run)
{
    cr_assert_eq(cgbench("run gen:poisson2d5:8 --partition cpu,gpu --json - --quiet"), 3);
    cr_assert_eq(lines_of(out), 1);
    cr_assert_eq(lines_of(err), 1, "%s", err);
    cr_assert_eq(cgbench("run gen:poisson2d5:8 --maxit 2 --json - --quiet"), 1);
    cr_assert_str_eq(json_value(out, "outcome"), "\"iteration_limit\"");
}

Test(cgbench, does_exactly_the_iterations_asked_for)
{
    cr_assert_eq(cgbench("solve gen:poisson2d5:20 --iterations 7 --json -"), 0, "%s", err);
    cr_assert_str_eq(json_value(out, "iterations"), "7");
    cr_assert_str_eq(json_value(out, "outcome"), "\"iteration_limit\"");
    /* Far beyond convergence: a zero residual does no harm. */
    cr_assert_eq(cgbench("run gen:poisson2d5:4 --iterations 300 --json -"), 0, "%s", err);
    cr_assert_str_eq(json_value(out, "iterations"), "300");
}

Test(cgbench, an_unconverged_solve_exits_1_and_still_writes)
{
    cr_assert_eq(cgbench("solve gen:poisson2d5:20 --maxit 3 --json - --out x --quiet"), 1);
    cr_assert_eq(lines_of(err), 1);
    cr_assert(strstr(err, "iteration_limit"));
    cr_assert_str_eq(json_value(out, "iterations"), "3");
    cr_assert_gt(number_in(out, "residual_true"), 1e-8);
    cr_assert_eq(access("x", R_OK), 0);
}

Test(cgbench, a_right_hand_side_of_zero_has_no_time_an_iteration)
{
    write_text("zero", "%%MatrixMarket matrix array real general\n4 1\n0\n0\n0\n0\n");
    cr_assert_eq(cgbench("solve gen:poisson2d5:2 --rhs zero --json -"), 0, "%s", err);
    cr_assert_str_eq(json_value(out, "iterations"), "0");
    cr_assert_str_eq(json_value(out, "us_per_iteration.median"), "null");
    cr_assert_str_eq(json_value(out, "fraction_of_bandwidth"), "null");
    cr_assert_str_eq(json_value(out, "residual_true"), "0");
}

/* ------------------------------------------------------------------- files */

Test(cgbench, solves_for_the_vector_that_made_the_right_hand_side)
{
    cr_assert_eq(cgbench("solve gen:poisson2d5:6 --rhs 'A*ones' --rtol 1e-12 --out x"), 0, "%s",
                 err);
    FILE *file = fopen("x", "r");
    char line[128];
    int count = 0;
    while (fgets(line, sizeof line, file))
        if (line[0] != '%' && !strchr(line, ' ')) {
            /* rtol 1e-12 times the condition number, 20, times ||x||, 6. */
            cr_assert_float_eq(strtod(line, NULL), 1.0, 1e-9);
            count++;
        }
    fclose(file);
    cr_assert_eq(count, 36);
    /* That solution is an initial guess that needs no iteration. */
    cr_assert_eq(cgbench("solve gen:poisson2d5:6 --rhs 'A*ones' --x0 x --json -"), 0, "%s", err);
    cr_assert_str_eq(json_value(out, "iterations"), "0");
}

Test(cgbench, replaces_files_as_a_whole_and_leaves_nothing_beside)
{
    write_text("record",
               "old, and longer than what will be written? no, but it must not be appended\n");
    cr_assert_eq(chmod("record", 0640), 0);
    cr_assert_eq(symlink("record", "link"), 0);
    cr_assert_eq(cgbench("solve gen:poisson2d5:5 --json link --csv rows --svg plot --history h"),
                 0);
    char keys[2048];
    read_text("record", out, sizeof out);
    cr_assert_eq(out[0], '{');
    out[strcspn(out, "\n")] = '\0';
    cr_assert(json_object(out, keys, sizeof keys));
    struct stat there;
    cr_assert_eq(lstat("link", &there), 0);
    cr_assert(S_ISLNK(there.st_mode));
    cr_assert_eq(stat("record", &there), 0);
    cr_assert_eq(there.st_mode & 0777, 0640);
    cr_assert_eq(files_here(), 5);
}

/* Of a size that is asked of a GPU where the CPU has all rows: once, whatever the rows. */
Test(cgbench, a_card_that_is_not_used_is_one_notice)
{
    cr_assert_eq(cgbench("solve gen:poisson2d5:5 --gpu-memory 1G --gpu-sms 3 --json -"), 0);
    cr_assert(strstr(err, "notice: --gpu-memory and --gpu-sms: not used"), "%s", err);
    cr_assert(strstr(out, "gpu_memory and gpu_sms: not used, as partition auto takes the CPU"));
    cr_assert_null(strstr(out, "the card is taken to have"));
    cr_assert_eq(cgbench("run gen:poisson2d5:5 gen:poisson2d5:6 --partition cpu --gpu-sms 3"), 0);
    cr_assert_eq(strncmp(err, "cgbench: notice: --gpu-sms: not used", 36), 0, "%s", err);
    cr_assert_eq(lines_of(err), 1, "%s", err);
    cr_assert_eq(cgbench("solve gen:poisson2d5:5"), 0);
    cr_assert_null(strstr(err, "not used"));
}

/* A link whose target is not there yet, of one link to another, makes the target. */
Test(cgbench, makes_the_file_that_a_link_leads_to)
{
    struct stat there;
    cr_assert_eq(mkdir("far", 0700), 0);
    cr_assert_eq(symlink("far/second", "first"), 0);
    cr_assert_eq(symlink("../record", "far/second"), 0);
    cr_assert_eq(symlink("far/solution", "out"), 0);
    cr_assert_eq(symlink("nowhere/record", "lost"), 0);
    cr_assert_eq(symlink("loop", "loop"), 0);
    cr_assert_eq(cgbench("solve gen:poisson2d5:5 --json first --out out"), 0, "%s", err);
    cr_assert_eq(lstat("first", &there), 0);
    cr_assert(S_ISLNK(there.st_mode));
    cr_assert_eq(lstat("far/second", &there), 0);
    cr_assert(S_ISLNK(there.st_mode));
    read_text("record", out, sizeof out);
    cr_assert_eq(out[0], '{');
    cr_assert_eq(lstat("out", &there), 0);
    cr_assert(S_ISLNK(there.st_mode));
    cr_assert_eq(lstat("far/solution", &there), 0);
    cr_assert(S_ISREG(there.st_mode));
    cr_assert_eq(cgbench("solve gen:poisson2d5:5 --json lost"), 2);
    cr_assert(strstr(err, "cannot write 'lost': No such file"), "%s", err);
    cr_assert_eq(cgbench("solve gen:poisson2d5:5 --json loop"), 2);
    cr_assert(strstr(err, "cannot write 'loop'"), "%s", err);
}

Test(cgbench, puts_the_table_on_stderr_when_a_file_is_stdout)
{
    cr_assert_eq(cgbench("run gen:poisson2d5:5 --csv -"), 0);
    cr_assert_eq(lines_of(out), 2);
    cr_assert(strstr(err, "us/iteration"));
    cr_assert_eq(cgbench("run gen:poisson2d5:5"), 0);
    cr_assert(strstr(out, "us/iteration"));
    cr_assert_str_empty(err);
    cr_assert_null(strchr(out, '\033')); /* no terminal, no colour */
    cr_assert_eq(cgbench("run gen:poisson2d5:5 --quiet --per-rank"), 0);
    cr_assert_str_empty(out);
}

Test(cgbench, reads_a_matrix_from_standard_input)
{
    write_text("m",
               "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n2 1 -1\n2 2 2\n");
    cr_assert_eq(cgbench("solve - --json - <m"), 0, "%s", err);
    cr_assert_str_eq(json_value(out, "matrix"), "\"-\"");
    cr_assert_str_eq(json_value(out, "nonzeros"), "4");
}

Test(cgbench, a_history_begins_at_one_and_has_every_iteration)
{
    cr_assert_eq(cgbench("solve gen:poisson2d5:20 --history - --quiet --precond jacobi"), 0);
    cr_assert_eq(strncmp(out, "configuration,iteration,residual\n", 33), 0);
    cr_assert(strstr(out, "jacobi,0,1\n"));
    int lines = lines_of(out);
    cr_assert_eq(cgbench("solve gen:poisson2d5:20 --json - --quiet --precond jacobi"), 0);
    cr_assert_eq(lines, 2 + atoi(json_value(out, "iterations")));
}

Test(cgbench, draws_each_configuration_in_both_panels)
{
    cr_assert_eq(cgbench("run gen:poisson2d5:20 --precond none,jacobi --svg - --quiet"), 0);
    cr_assert_eq(strncmp(out, "<svg xmlns=", 11), 0);
    cr_assert(strstr(out, "</svg>\n"));
    int curves = 0;
    for (const char *at = out; (at = strstr(at, "<polyline")); at++) curves++;
    cr_assert_eq(curves, 4);
    cr_assert_null(strstr(out, "nan"));
}

/* ------------------------------------------------------------------ rivals */

/* Not built, or without a GPU. */
Test(cgbench, a_rival_that_is_not_there_is_one_notice_and_null)
{
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    cr_assert_eq(cgbench("run gen:poisson2d5:8 gen:poisson2d5:9 --vs cusparse --json -"), 0);
    cr_assert_str_eq(json_value(strtok(out, "\n"), "speedup_vs.cusparse"), "null");
    char *notice = strstr(err, "notice: --vs cusparse");
    cr_assert(notice);
    cr_assert_null(strstr(notice + 1, "notice: --vs cusparse"));
}

#if HAVE_CUSPARSE
/* A program that speaks for a rival of one GPU, in place of the real one. */
static void speak_as_cusparse(const char *script)
{
    write_text("yoke-rival-cusparse", script);
    cr_assert_eq(chmod("yoke-rival-cusparse", 0755), 0);
    setenv("YOKE_LIBEXECDIR", ".", 1);
}
#endif

Test(cgbench, a_rival_that_cannot_run_says_why_in_its_own_words)
{
#if HAVE_CUSPARSE
    speak_as_cusparse(
        "#!/bin/sh\necho yoke-rival cannot libcusparse.so.12: cannot open it\nexit 1\n");
    cr_assert_eq(cgbench("run gen:poisson2d5:8 --vs cusparse --json -"), 0);
    cr_assert_str_eq(json_value(strtok(out, "\n"), "speedup_vs.cusparse"), "null");
    cr_assert(strstr(err, "notice: --vs cusparse: libcusparse.so.12: cannot open it\n"), "%s", err);
#else
    cr_skip_test("configure did not find cuSPARSE");
#endif
}

/* Started as it is, not under mpirun, which would be asked for ranks; and told the device. */
Test(cgbench, a_rival_on_a_gpu_has_a_row_that_says_so)
{
#if HAVE_CUSPARSE
    char keys[2048];
    speak_as_cusparse("#!/bin/sh\n[ -z \"$OMPI_COMM_WORLD_SIZE\" ] && [ $4 = 0 ] || exit 1\n"
                      "echo yoke-rival ready\n"
                      "while read -r line && [ \"$line\" = go ]; do echo yoke-rival repeat us 2 "
                      "seconds 2e-5; done\n"
                      "echo yoke-rival end version 12.6.3 ranks 1 iterations 10 residual_true 0 "
                      "residual_recursive 0 setup 0.5 driver graph how CSR_ALG1, graphs of 16\n");
    cr_assert_eq(cgbench("run gen:poisson2d5:8 --iterations 10 --vs cusparse --json - --quiet"), 0);
    char *ours = strtok(out, "\n"), *theirs = strtok(NULL, "\n");
    cr_assert_gt(number_in(ours, "speedup_vs.cusparse"), 0.0);
    cr_assert(theirs && json_object(theirs, keys, sizeof keys), "%s", err);
    cr_assert_str_eq(json_value(theirs, "solver"), "\"cusparse\"");
    cr_assert_str_eq(json_value(theirs, "partition"), "\"gpu\"");
    cr_assert_str_eq(json_value(theirs, "driver"), "\"graph\"");
    cr_assert_str_eq(json_value(theirs, "format"), "\"csr\"");
    cr_assert_str_eq(json_value(theirs, "gpus"), "1");
    cr_assert_str_eq(json_value(theirs, "cpu_rows"), "0");
    cr_assert_eq(number_in(theirs, "us_per_iteration.median"), 2.0);
    cr_assert(strstr(theirs, "cusparse 12.6.3: CSR_ALG1, graphs of 16"), "%s", theirs);
#else
    cr_skip_test("configure did not find cuSPARSE");
#endif
}

#if HAVE_PETSC || HAVE_HYPRE || HAVE_CUSPARSE
static void meets(const char *rival, const char *ranks)
{
    char arguments[128], key[32], keys[2048];
    snprintf(arguments, sizeof arguments,
             "run gen:poisson3d7:12 --iterations 20 --threads 2 --vs %s --json - --quiet", rival);
    snprintf(key, sizeof key, "speedup_vs.%s", rival);
    cr_assert_eq(cgbench(arguments), 0, "%s", err);
    cr_assert_eq(lines_of(out), 2, "%s", out);
    char *ours = strtok(out, "\n"), *theirs = strtok(NULL, "\n");
    cr_assert_gt(number_in(ours, key), 0.0);
    cr_assert(json_object(theirs, keys, sizeof keys));
    cr_assert_str_eq(json_value(theirs, "iterations"), "20");
    cr_assert_str_eq(json_value(theirs, "ranks"), ranks);
    cr_assert_gt(number_in(theirs, "us_per_iteration.min"), 0.0);
    /* The same mathematics: residuals after 20 iterations agree to rounding's growth. */
    cr_assert_float_eq(number_in(theirs, "residual_true") / number_in(ours, "residual_true"), 1.0,
                       1e-6);
}
#endif

Test(cgbench, meets_petsc_in_the_same_run)
{
#if HAVE_PETSC
    meets("petsc", "2");
#else
    cr_skip_test("configure did not find PETSc");
#endif
}

Test(cgbench, meets_hypre_in_the_same_run)
{
#if HAVE_HYPRE
    meets("hypre", "2");
#else
    cr_skip_test("configure did not find hypre");
#endif
}

Test(cgbench, meets_cusparse_in_the_same_run)
{
#if HAVE_CUSPARSE
    const char *required = getenv("YOKE_REQUIRE_GPU");
    cr_assert_eq(cgbench("list"), 0);
    if (strstr(out, "+ cusparse  the vendor's product")) {
        meets("cusparse", "1");
        return;
    }
    cr_assert(!required || strcmp(required, "1") != 0, "YOKE_REQUIRE_GPU=1, but no cuSPARSE");
    cr_skip_test("no usable GPU, or no cuSPARSE");
#else
    cr_skip_test("configure did not find cuSPARSE");
#endif
}

Test(cgbench, meets_operations_in_the_same_run)
{
#if HAVE_CUSPARSE
    const char *required = getenv("YOKE_REQUIRE_GPU");
    cr_assert_eq(cgbench("list"), 0);
    if (strstr(out, "+ cusparse  the vendor's product")) {
        meets("operations", "1");
        return;
    }
    cr_assert(!required || strcmp(required, "1") != 0, "YOKE_REQUIRE_GPU=1, but no cuSPARSE");
    cr_skip_test("no usable GPU, or no cuSPARSE");
#else
    cr_skip_test("configure did not find cuSPARSE");
#endif
}

/* Its own program, under which stubs do the GPU's share: what crosses between the two and what it
 * answers is as on a GPU. */
Test(cgbench, meets_operations_without_a_gpu)
{
#if HAVE_CUSPARSE
    setenv("YOKE_LIBEXECDIR", STUB, 1);
    meets("operations", "1");
    cr_assert_eq(cgbench("run gen:jumps3d7:9:100:1 --precond jacobi --iterations 20 --threads 2 "
                         "--vs operations --json - --quiet"),
                 0, "%s", err);
    char *ours = strtok(out, "\n"), *theirs = strtok(NULL, "\n");
    cr_assert(theirs, "%s", err);
    cr_assert_str_eq(json_value(theirs, "threads"), "2");
    cr_assert_str_eq(json_value(theirs, "precond"), "\"jacobi\"");
    cr_assert(strstr(theirs, "vectors on 2 threads"), "%s", theirs);
    cr_assert_float_eq(number_in(theirs, "residual_true") / number_in(ours, "residual_true"), 1.0,
                       1e-6);
#else
    cr_skip_test("configure did not find cuSPARSE");
#endif
}

/* The threads asked for are handed over, and come back in its row. */
Test(cgbench, a_rival_that_shares_the_operations_names_both_owners)
{
#if HAVE_CUSPARSE
    write_text("yoke-rival-operations",
               "#!/bin/sh\n[ $4 = 0 ] || exit 1\necho yoke-rival ready\n"
               "while read -r line && [ \"$line\" = go ]; do echo yoke-rival repeat us 50 "
               "seconds 5e-4; done\n"
               "echo yoke-rival end version 12.6.3 ranks 1 iterations 10 residual_true 0 "
               "residual_recursive 0 setup 0.5 threads $5 how CSR_ALG1\n");
    cr_assert_eq(chmod("yoke-rival-operations", 0755), 0);
    setenv("YOKE_LIBEXECDIR", ".", 1);
    cr_assert_eq(cgbench("run gen:poisson2d5:8 --iterations 10 --threads 2 --vs operations --json "
                         "-"),
                 0);
    char *ours = strtok(out, "\n"), *theirs = strtok(NULL, "\n");
    cr_assert_gt(number_in(ours, "speedup_vs.operations"), 0.0);
    cr_assert_str_eq(json_value(theirs, "partition"), "\"operations\"");
    cr_assert_str_eq(json_value(theirs, "memory"), "\"explicit\"");
    cr_assert_str_eq(json_value(theirs, "driver"), "\"stream\"");
    cr_assert_str_eq(json_value(theirs, "threads"), "2");
    cr_assert_str_eq(json_value(theirs, "gpus"), "1");
    cr_assert(strstr(err, "1 GPU + 2 threads"), "%s", err);
#else
    cr_skip_test("configure did not find cuSPARSE");
#endif
}

/* -------------------------------------------------------------------- rest */

Test(cgbench, solve_says_which_order_the_rows_had_if_it_was_not_the_given_one)
{
    cr_assert_eq(cgbench("solve gen:shuffled:1:poisson2d5:30 --parts 2 --threads 1 --reorder rcm"),
                 0);
    cr_assert(strstr(out, ", rows by rcm\n"), "%s", out);
    cr_assert_eq(cgbench("solve gen:poisson2d5:30 --threads 1"), 0);
    cr_assert(!strstr(out, "rows by"), "%s", out);
}

Test(cgbench, list_names_what_is_there_and_why_not)
{
    cr_assert_eq(cgbench("list"), 0);
    cr_assert(strstr(out, "memory modes\n"));
    const char *managed = strstr(out, "- managed"), *end = managed ? strchr(managed, '\n') : NULL;
    cr_assert(managed && end);
    cr_assert_eq(end[-1], ']', "no reason: %.*s", (int)(end - managed), managed);
    cr_assert(strstr(out, "poisson3d27:N"));
}

Test(cgbench, help_names_every_option_of_a_command)
{
    cr_assert_eq(cgbench("--help"), 0);
    cr_assert(strstr(out, "cgbench COMMAND"));
    cr_assert_eq(cgbench("--version"), 0);
    cr_assert_eq(strncmp(out, "cgbench 0.", 10), 0);
    cr_assert_eq(cgbench("run --help"), 0);
    cr_assert(strstr(out, "--check-every N"));
    cr_assert(strstr(out, "--svg FILE"));
}

Test(cgbench, machine_measures_in_seconds)
{
    char keys[2048];
    cr_assert_eq(cgbench("machine --threads 1 --json -"), 0, "%s", err);
    cr_assert(json_object(out, keys, sizeof keys), "%s", out);
    cr_assert(strstr(out, "\"read_gb_per_s\":"));
    cr_assert(strstr(err, "triad"));
}

static const char gpu_keys[] =
    "gpus gpu_reason gpu_names gpu gpu.number gpu.name gpu.bus_id gpu.capability_major "
    "gpu.capability_minor gpu.multiprocessors gpu.clock_hz gpu.l2_bytes gpu.shared_bytes "
    "gpu.shared_block_bytes gpu.memory_total_bytes gpu.memory_free_bytes "
    "gpu.pageable_memory_access gpu.host_native_atomic_supported gpu.concurrent_managed_access "
    "gpu.driver_version gpu.runtime_version gpu.nvidia_driver gpu.pcie_generation gpu.pcie_lanes "
    "gpu.l2_working_set_bytes gpu.read_gb_per_s gpu.copy_gb_per_s gpu.triad_gb_per_s "
    "gpu.write_gb_per_s gpu.l2_read_gb_per_s gpu.to_gpu_gb_per_s gpu.from_gpu_gb_per_s "
    "gpu.both_ways_gb_per_s gpu.copy_sync_us gpu.launch_us gpu.launch_sync_us gpu.graph_node_us "
    "gpu.grid_barrier_us gpu.flag_round_trip_us gpu.energy_step_ms ";

/* CUDA_VISIBLE_DEVICES: without a GPU, wherever this runs. */
Test(cgbench, machine_without_a_gpu_says_why_and_goes_on)
{
    char keys[4096];
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    cr_assert_eq(cgbench("machine --threads 1 --json -"), 0, "%s", err);
    cr_assert(json_object(out, keys, sizeof keys), "%s", out);
    const char *of_gpu = strstr(keys, "gpus ");
    cr_assert(of_gpu);
    cr_assert_str_eq(of_gpu, gpu_keys);
    cr_assert_str_eq(json_value(out, "gpus"), "0");
    cr_assert_str_eq(json_value(out, "gpu.name"), "null");
    cr_assert_str_eq(json_value(out, "gpu.capability_minor"), "null");
    cr_assert_str_eq(json_value(out, "gpu.read_gb_per_s"), "null");
    cr_assert_str_eq(json_value(out, "gpu.flag_round_trip_us"), "null");
    cr_assert_gt(strlen(json_value(out, "gpu_reason")), strlen("\"\""));
    cr_assert_str_neq(json_value(out, "gpu_reason"), "null");
    cr_assert(strstr(err, "no GPU: "), "%s", err);
}

Test(cgbench, a_device_that_is_not_there_is_refused_before_anything_runs)
{
    cr_assert_eq(cgbench("machine --device 4096 --json -"), 3);
    cr_assert_str_empty(out);
    cr_assert(strstr(err, "--device 4096: "), "%s", err);
    cr_assert_eq(lines_of(err), 1);
    cr_assert_eq(cgbench("run gen:poisson2d5:5 --device 99999999999 --json -"), 3);
    cr_assert_str_empty(out);
    cr_assert_eq(cgbench("solve gen:poisson2d5:5 --device 0,4096"), 3);
    cr_assert_eq(cgbench("solve gen:poisson2d5:5 --device 0,x"), 2);
    cr_assert_eq(cgbench("solve gen:poisson2d5:5 --device 0,0,0,0,0,0,0,0,0"), 2);
    cr_assert_eq(cgbench("machine --device 0,1"), 2);
    cr_assert(strstr(err, "takes one device"), "%s", err);
}
