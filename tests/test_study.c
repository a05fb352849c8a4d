/* SPDX-License-Identifier: BSD-3-Clause */
/* test_study.c: cgbench study, as a user runs it: what it compares, what it writes, and that an
 * interrupted one goes on where it ended. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/json_check.h"
#include "tests/run_cgbench.h"
#include "tests/xml_check.h"

TestSuite(study, .init = enter_folder, .fini = leave_folder, .timeout = 240);

/* Two systems and few configurations: the single owners, auto, six more and the rival. */
#define FEW                                                                                        \
    "study gen:poisson2d5:30 gen:poisson3d7:8 --memory mapped,managed --home owner,shared "        \
    "--partition ratio:0.1,gpu --threads 2 --repeat 1 "
enum { MATRICES = 2, FEW_ROWS = 10 }; /* rows: of each matrix */

static const char study_keys[] =
    "schema version commit date machine driver_version matrix rows nonzeros memory home partition "
    "cpu_rows gpus ranks threads solver driver format shape precond effort reorder rtol outcome "
    "iterations us_per_iteration us_per_iteration.median us_per_iteration.min us_per_iteration.max "
    "seconds seconds.setup seconds.transfer seconds.solve seconds.upload bytes_per_iteration "
    "gb_per_s "
    "fraction_of_bandwidth residual_true residual_recursive joules speedup_vs "
    "speedup_vs.operations notices configuration settings reason ";

static char text[1 << 20];

static const char *read_file(const char *path)
{
    read_text(path, text, sizeof text);
    return text;
}

/* The line of a matrix and a configuration, to be freed; NULL if there is not exactly one. */
static char *row_of(const char *path, const char *matrix, const char *configuration)
{
    char *found = NULL, quoted[2][128];
    int count = 0;
    snprintf(quoted[0], sizeof quoted[0], "\"%s\"", matrix);
    snprintf(quoted[1], sizeof quoted[1], "\"%s\"", configuration);
    char *copy = strdup(read_file(path)), *rest = NULL;
    for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (strcmp(json_value(line, "matrix"), quoted[0]) != 0 ||
            strcmp(json_value(line, "configuration"), quoted[1]) != 0)
            continue;
        count++;
        free(found);
        found = strdup(line);
    }
    free(copy);
    if (count == 1) return found;
    free(found);
    return NULL;
}

static int is_null(const char *line, const char *key)
{
    return !strcmp(json_value(line, key), "null");
}

/* ----------------------------------------------------------------- what is there */

Test(study, has_each_configuration_once_with_a_time_or_a_reason)
{
    char keys[2048];
    cr_assert_eq(cgbench(FEW "--json j --quiet"), 0, "%s", err);
    cr_assert_str_empty(out);
    cr_assert_str_empty(err);
    cr_assert_eq(lines_of(read_file("j")), MATRICES * FEW_ROWS, "%s", text);
    char *copy = strdup(text), *rest = NULL;
    for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        cr_assert(json_object(line, keys, sizeof keys), "%s", line);
        if (is_null(line, "solver") || !strcmp(json_value(line, "solver"), "\"cg\""))
            cr_assert_str_eq(keys, study_keys);
        cr_assert_eq(is_null(line, "reason"), !is_null(line, "us_per_iteration.median"), "%s",
                     line);
        cr_assert_str_eq(json_value(line, "settings"), "\"--repeat 1 --threads 2\"");
    }
    free(copy);
    static const char *const labels[FEW_ROWS] = {
        "cpu",
        "gpu",
        "auto",
        "mapped owner ratio:0.1",
        "mapped shared ratio:0.1",
        "mapped shared gpu",
        "managed owner ratio:0.1",
        "managed shared ratio:0.1",
        "managed shared gpu",
        "operations",
    };
    for (int i = 0; i < FEW_ROWS; i++) {
        char *one = row_of("j", "gen:poisson2d5:30", labels[i]);
        char *other = row_of("j", "gen:poisson3d7:8", labels[i]);
        cr_assert(one && other, "%s", labels[i]);
        free(one);
        free(other);
    }
}

Test(study, a_single_owner_runs_everywhere_and_is_verified)
{
    cr_assert_eq(cgbench(FEW "--json j --quiet"), 0, "%s", err);
    char *cpu = row_of("j", "gen:poisson2d5:30", "cpu");
    cr_assert_str_eq(json_value(cpu, "partition"), "\"cpu\"");
    cr_assert_str_eq(json_value(cpu, "cpu_rows"), "900");
    cr_assert_str_eq(json_value(cpu, "outcome"), "\"iteration_limit\"");
    cr_assert_gt(strtod(json_value(cpu, "us_per_iteration.median"), NULL), 0.0);
    cr_assert_gt(strtod(json_value(cpu, "residual_true"), NULL), 0.0);
    free(cpu);
}

/* Names come from the library's lists, so what is registered later is compared. */
Test(study, compares_every_memory_mode_home_and_partition_there_is)
{
    cr_assert_eq(cgbench("list --json l --quiet"), 0);
    cr_assert_eq(cgbench("study gen:poisson2d5:10 --threads 1 --repeat 1 --json j --quiet"), 0);
    char *rows = strdup(read_file("j")), *list = strdup(read_file("l")), *rest = NULL;
    int checked = 0;
    for (char *line = strtok_r(list, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char name[64], wanted[96], kind[64];
        snprintf(kind, sizeof kind, "%s", json_value(line, "kind"));
        snprintf(name, sizeof name, "%s", json_value(line, "name") + 1);
        name[strcspn(name, "\"")] = '\0';
        if (!strcmp(kind, "\"memory modes\"") && strcmp(name, "host") != 0)
            snprintf(wanted, sizeof wanted, "\"configuration\":\"%s owner ", name);
        else if (!strcmp(kind, "\"homes\""))
            snprintf(wanted, sizeof wanted, "\"configuration\":\"mapped %s", name);
        else if (!strcmp(kind, "\"partitions\"") && strlen(name) > 3)
            snprintf(wanted, sizeof wanted, "\"configuration\":\"mapped owner %s", name);
        else
            continue;
        cr_assert(strstr(rows, wanted), "no row has %s", wanted);
        checked++;
    }
    cr_assert_geq(checked, 4 + 3 + 4);
    free(rows);
    free(list);
}

#ifdef FAKE_GPU
static int is_usable(const char *kind, const char *name)
{
    char wanted[96];
    cr_assert_eq(cgbench("list --json - --quiet"), 0);
    snprintf(wanted, sizeof wanted, "\"kind\":\"%s\",\"name\":\"%s\"", kind, name);
    char *line = strstr(out, wanted);
    cr_assert(line, "%s", wanted);
    line[strcspn(line, "\n")] = '\0';
    return strstr(line, "\"usable\":true") != NULL;
}

Test(study, sets_the_gpu_beside_the_cpu)
{
    cr_assert_eq(cgbench(FEW "--json j"), 0, "%s", err);
    char *cpu = row_of("j", "gen:poisson2d5:30", "cpu");
    char *gpu = row_of("j", "gen:poisson2d5:30", "gpu");
    cr_assert_str_eq(json_value(gpu, "gpus"), "1");
    cr_assert_str_eq(json_value(gpu, "cpu_rows"), "0");
    cr_assert(is_null(gpu, "reason"), "%s", gpu);
    char residual[64], machine[192];
    snprintf(residual, sizeof residual, "%s", json_value(cpu, "residual_true"));
    snprintf(machine, sizeof machine, "%s", json_value(cpu, "machine"));
    cr_assert_str_eq(json_value(gpu, "machine"), machine); /* of the CPU's row too */
    if (!strcmp(json_value(cpu, "iterations"), "200") &&
        !strcmp(json_value(gpu, "iterations"), "200"))
        cr_assert_str_eq(json_value(gpu, "residual_true"), residual); /* the same bits */
    free(cpu);
    free(gpu);
}

/* Each name is good, two of the four pairs are not. */
Test(study, run_goes_on_after_a_pair_that_does_not_fit)
{
    cr_assert_eq(cgbench("run gen:poisson2d5:20 --partition cpu,gpu --driver team,graph --json - "
                         "--quiet"),
                 3);
    cr_assert_eq(lines_of(out), 2, "%s", out);
    cr_assert_eq(lines_of(err), 2, "%s", err);
    cr_assert(strstr(err, "driver graph does not run partition cpu"), "%s", err);
    cr_assert_eq(cgbench("run gen:poisson2d5:20 --partition cpu --driver graph --json j"), 2);
    cr_assert_eq(files_here(), 0);
}

Test(study, a_solve_of_two_owners_names_both)
{
    cr_assert(is_usable("memory modes", "mapped") && is_usable("partitions", "ratio"));
    cr_assert_eq(cgbench("study gen:poisson2d5:40 --memory mapped --home owner --partition "
                         "ratio:0.5 --threads 2 --repeat 1 --json j --svg s"),
                 0, "%s", err);
    char *both = row_of("j", "gen:poisson2d5:40", "mapped owner ratio:0.5"), workers[64];
    cr_assert(is_null(both, "reason"), "%s", both);
    cr_assert_str_eq(json_value(both, "memory"), "\"mapped\"");
    cr_assert_str_eq(json_value(both, "gpus"), "1");
    double rows = strtod(json_value(both, "cpu_rows"), NULL);
    cr_assert(rows >= 256.0 && rows <= 1600.0 - 256.0, "%g", rows);
    /* as many threads as came: one without OpenMP */
    double came = strtod(json_value(both, "threads"), NULL);
    snprintf(workers, sizeof workers, "1 GPU + %g thread%s", came, came > 1.0 ? "s" : "");
    cr_assert(strstr(read_file("s"), workers), "'%s' is not in %s", workers, text);
    free(both);
}
#endif

Test(study, an_unconverged_configuration_exits_1_and_is_shown)
{
    cr_assert_eq(cgbench("study gen:poisson2d5:30 --memory mapped --home owner --partition "
                         "ratio:0.1 --maxit 2 --json j --threads 1"),
                 1);
    cr_assert(strstr(err, "iteration_limit"), "%s", err);
    cr_assert(strstr(out, "!"), "%s", out);
    char *cpu = row_of("j", "gen:poisson2d5:30", "cpu");
    cr_assert_str_eq(json_value(cpu, "iterations"), "2");
    free(cpu);
    /* A kept row ends as it did. */
    cr_assert_eq(cgbench("study gen:poisson2d5:30 --memory mapped --home owner --partition "
                         "ratio:0.1 --maxit 2 --json j --threads 1 --quiet"),
                 1);
}

Test(study, a_kept_failure_does_not_end_what_is_missing)
{
    static const char command[] =
        "study gen:poisson2d5:30 --memory mapped --home owner --partition "
        "ratio:0.1 --maxit 2 --json j --threads 1 --quiet";
    cr_assert_eq(cgbench(command), 1);
    int all = lines_of(read_file("j"));
    cr_assert(all > 1, "%d lines", all);
    cr_assert_eq(system("grep '\"configuration\":\"cpu\"' j >k; mv k j"), 0);
    cr_assert_eq(lines_of(read_file("j")), 1);
    cr_assert_eq(cgbench(command), 1);
    cr_assert_eq(lines_of(read_file("j")), all);
}

Test(study, does_the_iterations_asked_for_or_converges_when_told_to_what)
{
    cr_assert_eq(cgbench(FEW "--iterations 7 --json j --quiet"), 0, "%s", err);
    char *cpu = row_of("j", "gen:poisson3d7:8", "cpu");
    cr_assert_str_eq(json_value(cpu, "iterations"), "7");
    free(cpu);
    cr_assert_eq(cgbench(FEW "--rtol 1e-6 --json k --quiet"), 0, "%s", err);
    cpu = row_of("k", "gen:poisson3d7:8", "cpu");
    cr_assert_str_eq(json_value(cpu, "outcome"), "\"converged\"");
    free(cpu);
}

/* -------------------------------------------------------------------- forms */

Test(study, the_table_has_the_best_single_owner_at_1)
{
    cr_assert_eq(cgbench(FEW), 0, "%s", err);
    cr_assert_str_empty(err); /* no terminal, no progress */
    cr_assert(strstr(out, "gen:poisson2d5:30: 900 rows, 4 380 nonzeros; "), "%s", out);
    cr_assert(strstr(out, " is 1.00\n"), "%s", out);
    cr_assert(strstr(out, "1.00"));
    cr_assert_null(strstr(out, "nan"));
    cr_assert_null(strchr(out, '\033'));
    cr_assert_eq(cgbench(FEW "--csv -"), 0);
    cr_assert_eq(lines_of(out), 1 + MATRICES * FEW_ROWS);
    cr_assert(strstr(out, ",notices,configuration,settings,reason\n"));
    cr_assert(strstr(err, " is 1.00\n"), "%s", err);
}

Test(study, the_heat_map_is_sound_and_says_why_a_cell_is_hatched)
{
    write_text("a<b&c.mtx",
               "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n2 1 -1\n2 2 2\n");
    cr_assert_eq(cgbench("study 'a<b&c.mtx' gen:poisson2d5:30 --memory mapped --home owner "
                         "--partition ratio:0.1 --threads 1 --svg s --quiet"),
                 0, "%s", err);
    read_file("s");
    cr_assert_null(xml_fault(text), "%.80s", xml_fault(text));
    cr_assert(strstr(text, "a&lt;b&amp;c.mtx"));
    cr_assert(strstr(text, ">1.00</text>"));
    cr_assert(strstr(text, "operations: cannot run: --vs operations: "));
    cr_assert(strstr(text, "fill=\"url(#hatch)\""));
    cr_assert(strstr(text, "prefers-color-scheme:dark"));
    cr_assert_null(strstr(text, "nan"));
    cr_assert_null(strstr(text, "href"));
    /* No address but the namespace's. */
    const char *address = strstr(text, "http");
    cr_assert(address && !strncmp(address, "http://www.w3.org/2000/svg\"", 27));
    cr_assert_null(strstr(address + 1, "http"));
}

/* ------------------------------------------------------------------- resume */

/* Each row once, in order; the first two as they were. */
static void is_complete(const char *cpu, const char *label)
{
    char *again = row_of("j", "gen:poisson2d5:30", "cpu");
    char *missing = row_of("j", "gen:poisson3d7:8", label);
    cr_assert_eq(lines_of(read_file("j")), MATRICES * FEW_ROWS);
    cr_assert(again && missing);
    cr_assert_str_eq(again, cpu);
    free(again);
    free(missing);
}

Test(study, does_only_what_is_missing)
{
    cr_assert_eq(cgbench(FEW "--json j --quiet"), 0, "%s", err);
    char *cpu = row_of("j", "gen:poisson2d5:30", "cpu"), *whole = strdup(read_file("j"));
    cr_assert_eq(cgbench(FEW "--json j --quiet"), 0, "%s", err);
    cr_assert_str_eq(read_file("j"), whole);
    /* The other matrix's row of the CPU and a refused one are gone. */
    cr_assert_eq(system("grep -v 'poisson3d7.*\"configuration\":\"\\(cpu\\|gpu\\)\"' j >k; mv k j"),
                 0);
    cr_assert_eq(lines_of(read_file("j")), MATRICES * FEW_ROWS - 2);
    cr_assert_eq(cgbench(FEW "--json j --quiet"), 0, "%s", err);
    is_complete(cpu, "gpu");
    is_complete(cpu, "cpu");
    cr_assert_eq(files_here(), 1);
    free(cpu);
    free(whole);
}

Test(study, a_reason_that_no_longer_holds_is_looked_at_again)
{
    cr_assert_eq(cgbench(FEW "--json j --quiet"), 0, "%s", err);
    char *cpu = row_of("j", "gen:poisson2d5:30", "cpu");
    cr_assert_eq(system("sed -i 's/\"reason\":\"--vs operations: /&once upon a time, /' j"), 0);
    cr_assert_eq(cgbench(FEW "--json j --quiet"), 0, "%s", err);
    is_complete(cpu, "operations");
    cr_assert_null(strstr(read_file("j"), "once upon a time"));
    free(cpu);
}

Test(study, a_line_that_was_cut_off_is_measured_again)
{
    cr_assert_eq(cgbench(FEW "--json j --quiet"), 0, "%s", err);
    char *cpu = row_of("j", "gen:poisson2d5:30", "cpu");
    cr_assert_eq(system("head -n 13 j >k; tail -n 1 j | head -c 200 >>k; mv k j"), 0);
    cr_assert_eq(cgbench(FEW "--json j"), 0, "%s", err);
    cr_assert(strstr(err, "notice: j: its last line is cut off: measured again"), "%s", err);
    is_complete(cpu, "operations");
    free(cpu);
}

Test(study, rows_of_another_commit_are_measured_again_and_of_other_matrices_kept)
{
    cr_assert_eq(cgbench(FEW "--json j --quiet"), 0, "%s", err);
    cr_assert_eq(system("sed 's/\"commit\":\"[^\"]*\"/\"commit\":\"old\"/;3q' j >k; "
                        "sed -n 's/gen:poisson2d5:30/gen:poisson2d5:31/;1p' j >>k; mv k j"),
                 0);
    cr_assert_eq(cgbench(FEW "--json j"), 0, "%s", err);
    cr_assert(strstr(err, "j: 3 rows of another version or commit: measured again"), "%s", err);
    cr_assert_eq(lines_of(read_file("j")), MATRICES * FEW_ROWS + 1);
    cr_assert_null(strstr(text, "\"commit\":\"old\""));
    char *kept = row_of("j", "gen:poisson2d5:31", "cpu");
    cr_assert(kept);
    free(kept);
}

static void is_refused(const char *arguments, const char *says)
{
    char *before = strdup(read_file("j"));
    cr_assert_eq(cgbench(arguments), 2, "%s", err);
    cr_assert_eq(lines_of(err), 1, "%s", err);
    cr_assert(strstr(err, says), "%s", err);
    cr_assert_str_eq(read_file("j"), before);
    free(before);
}

Test(study, refuses_a_file_that_holds_something_else)
{
    cr_assert_eq(cgbench("run gen:poisson2d5:5 --json j --quiet"), 0);
    is_refused(FEW "--json j", "j:1 is no row of a study: give another file");
    write_text("j", "something without an end of line");
    is_refused(FEW "--json j", "j:1 is no row of a study");
    write_text("j", "something\n");
    is_refused(FEW "--json j", "j:1 is no row of a study");
    cr_assert_eq(unlink("j"), 0);
    cr_assert_eq(cgbench(FEW "--json j --quiet"), 0);
    is_refused(FEW "--json j --iterations 5", "j:1 is of a study with other options");
    cr_assert_eq(system("sed -i 's/\"machine\":\"/&No /' j"), 0);
    is_refused(FEW "--json j", "j:1 is of a study with another machine");
}

/* Started without a shell, in which a background job would not hear the signal. */
static pid_t start(const char *const arguments[], int errors)
{
    const char *program = getenv("CGBENCH") ? getenv("CGBENCH") : CGBENCH;
    pid_t child = fork();
    if (child) return child;
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    if (errors >= 0) dup2(errors, STDERR_FILENO);
    signal(SIGINT, SIG_DFL);
    execv(program, (char *const *)(uintptr_t)arguments);
    _exit(127);
}

static void nap(void)
{
    nanosleep(&(struct timespec){0, 1000000}, NULL);
}

/* Interrupts a study after so many rows, or milliseconds where that is 0. */
static void interrupt_one(const char *const *arguments, int rows, int milliseconds, int errors)
{
    int status = 0;
    pid_t child = start(arguments, errors);
    cr_assert_gt(child, 0);
    for (int i = 0; rows == 0 && i < milliseconds; i++) nap();
    while (rows > 0 && lines_of(read_file("j")) < rows && !waitpid(child, &status, WNOHANG)) nap();
    kill(child, SIGINT);
    cr_assert_eq(waitpid(child, &status, 0), child, "it was over before it was interrupted");
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
}

Test(study, an_interrupt_leaves_a_good_file_that_is_then_completed)
{
    const char *const arguments[] = {"cgbench",
                                     "study",
                                     "gen:poisson2d5:30",
                                     "gen:poisson3d7:8",
                                     "--memory",
                                     "mapped",
                                     "--home",
                                     "owner",
                                     "--partition",
                                     "ratio:0.1",
                                     "--threads",
                                     "2",
                                     "--repeat",
                                     "50",
                                     "--json",
                                     "j",
                                     "--svg",
                                     "s",
                                     "--quiet",
                                     NULL};
    char median[64];
    interrupt_one(arguments, 2, 0, -1);
    int lines = lines_of(read_file("j"));
    cr_assert_geq(lines, 2);
    cr_assert_lt(lines, MATRICES * 5);
    cr_assert_eq(text[strlen(text) - 1], '\n');
    cr_assert_eq(files_here(), 1);
    char *cpu = row_of("j", "gen:poisson2d5:30", "cpu");
    cr_assert_eq(cgbench("study gen:poisson2d5:30 gen:poisson3d7:8 --memory mapped --home owner "
                         "--partition ratio:0.1 --threads 2 --repeat 50 --json j --quiet"),
                 0, "%s", err);
    char *again = row_of("j", "gen:poisson2d5:30", "cpu");
    cr_assert_eq(lines_of(read_file("j")), MATRICES * 5);
    /* That row was not measured again: its time is the same to the last digit. */
    snprintf(median, sizeof median, "%s", json_value(cpu, "us_per_iteration.median"));
    cr_assert_str_eq(json_value(again, "us_per_iteration.median"), median);
    free(again);
    free(cpu);
}

/* Leaves in `text` what an interrupted study says. */
static void interrupt(const char *const *arguments, int rows, int milliseconds)
{
    int errors = open("errors", O_RDWR | O_CREAT | O_TRUNC, 0600);
    interrupt_one(arguments, rows, milliseconds, errors);
    close(errors);
    read_file("errors");
}

Test(study, an_interrupt_says_what_is_kept_and_how_to_go_on)
{
    const char *arguments[] = {"cgbench",     "study", "gen:poisson2d5:20", "--threads", "1",
                               "--partition", "cpu",   "--repeat",          "3000",      "--json",
                               "j",           NULL};
    interrupt(arguments, 1, 0);
    cr_assert(strstr(text, "study interrupted: "), "%s", text);
    cr_assert(strstr(text, " kept in j; the same command goes on from there\n"), "%s", text);
    arguments[8] = "60000"; /* it ends by no other means */
    arguments[10] = "-";
    for (int wait = 100; wait < 20000; wait *= 4) { /* until it has begun */
        interrupt(arguments, 0, wait);
        if (*text) break;
    }
    cr_assert(strstr(text, "study interrupted: nothing is kept; --json FILE keeps"), "%s", text);
}

/* ----------------------------------------------------------------- progress */

Test(study, shows_what_it_does_and_what_is_left_on_a_terminal)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY), status = 0;
    if (master < 0 || grantpt(master) || unlockpt(master)) cr_skip_test("no pseudo terminals");
    int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    cr_assert_geq(terminal, 0);
    const char *const arguments[] = {
        "cgbench", "study", "gen:poisson2d5:30", "--memory",    "mapped", "--home",
        "owner",   "--csv", "/dev/null",         "--partition", "gpu",    NULL};
    pid_t child = start(arguments, terminal);
    close(terminal);
    size_t used = 0;
    ssize_t got;
    /* The other end reads as an error when the last one to hold it has gone. */
    while (used + 1 < sizeof text && (got = read(master, text + used, sizeof text - 1 - used)) > 0)
        used += (size_t)got;
    text[used] = '\0';
    cr_assert_eq(waitpid(child, &status, 0), child);
    close(master);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s", text);
    cr_assert(strstr(text, "1 of "), "%s", text);
    cr_assert(strstr(text, "cpu, gen:poisson2d5:30: planning"), "%s", text);
    cr_assert(strstr(text, " s left: auto, "), "%s", text);
}
