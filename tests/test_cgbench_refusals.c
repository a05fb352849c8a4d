/* SPDX-License-Identifier: BSD-3-Clause */
/* test_cgbench_refusals.c: what bad usage, bad input and what is lacking end in. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <yoke.h>

#include "tests/run_cgbench.h"

TestSuite(cgbench_refusals, .init = enter_folder, .fini = leave_folder, .timeout = 120);

typedef struct refusal {
    char arguments[96];
    int code;
    char says[64]; /* a part of the line */
} refusal;

ParameterizedTestParameters(cgbench_refusals, refuses_in_one_line_and_writes_nothing)
{
    static refusal refusals[] = {
        {"", 2, "known: solve, run, study"},
        {"frob", 2, "unknown command 'frob'; known: solve"},
        {"solve", 2, "expected one MATRIX, given 0"},
        {"solve gen:poisson2d5:5 gen:poisson2d5:6", 2, "expected one MATRIX, given 2"},
        {"run", 2, "no MATRIX"},
        {"solve gen:poisson2d5:5 --frob", 2, "unknown option '--frob'; known: --memory"},
        {"solve gen:poisson2d5:5 --rtol", 2, "--rtol needs an argument"},
        {"solve gen:poisson2d5:5 --quiet=1", 2, "--quiet takes no argument"},
        {"solve gen:poisson2d5:5 --rtol -1", 2, "'-1' is not a finite number"},
        {"solve gen:poisson2d5:5 --rtol nan", 2, "'nan' is not"},
        {"solve gen:poisson2d5:5 --atol inf", 2, "'inf' is not"},
        {"solve gen:poisson2d5:5 --atol 1e999", 2, "'1e999' is not"},
        {"solve gen:poisson2d5:5 --rtol 0x1p-3", 2, "'0x1p-3' is not"},
        {"solve gen:poisson2d5:5 --rtol 1e-8x", 2, "'1e-8x' is not"},
        {"solve gen:poisson2d5:5 --maxit 1e3", 2, "'1e3' is not a whole number"},
        {"solve gen:poisson2d5:5 --maxit 99999999999999999999", 2, "is not a whole number"},
        {"solve gen:poisson2d5:5 --iterations 0", 2, "'0' is not"},
        {"solve gen:poisson2d5:5 --threads 0", 2, "'0' is not"},
        {"solve gen:poisson2d5:5 --threads 70000", 2, "within 1 and 65536"},
        {"solve gen:poisson2d5:5 --repeat -2", 2, "'-2' is not"},
        {"solve gen:poisson2d5:5 --base frob", 2, "known: b, r0"},
        {"solve gen:poisson2d5:5 --memory frob", 2, "unknown name 'frob'; known: host"},
        {"solve gen:poisson2d5:5 --precond ''", 2, "an item is empty"},
        {"run gen:poisson2d5:5 --precond none,,jacobi", 2, "an item is empty"},
        {"run gen:poisson2d5:5 --precond none,frob", 2, "unknown name 'frob'; known: none"},
        {"solve gen:poisson2d5:5 --precond none,jacobi", 2, "comma list"},
        {"solve gen:poisson2d5:5 --partition ratio", 2, "not of the form ratio:R"},
        {"solve gen:poisson2d5:5 --partition adaptive:2", 2, "not of the form adaptive[:R]"},
        {"solve gen:poisson2d5:5 --partition ratio:1.5", 2, "from 0 to 1"},
        {"solve gen:poisson2d5:5 --partition ratio:-0.5", 2, "from 0 to 1"},
        {"solve gen:poisson2d5:5 --partition ratio:nan", 2, "from 0 to 1"},
        {"solve gen:poisson2d5:5 --partition nonzeros:0.5x", 2, "from 0 to 1"},
        {"solve gen:poisson2d5:5 --partition cpu:1", 2, "takes no argument"},
        {"solve gen:poisson2d5:5 --partition model:1", 2, "takes no argument"},
        {"solve gen:poisson2d5:5 --gpu-memory 40Q", 2, "'40Q' is not a size"},
        {"solve gen:poisson2d5:5 --device x", 2, "'x' is not a whole number"},
        {"solve gen:poisson2d5:5 --vs frob", 2,
         "unknown name 'frob'; known: petsc, hypre, cusparse"},
        {"solve gen:poisson2d5:5 --rhs random:x", 2, "not random:SEED"},
        {"solve gen:frob:5", 2, "frob"},
        {"solve gen:poisson2d5:x", 2, "poisson2d5:N"},
        {"solve nosuch.mtx", 2, "nosuch.mtx: cannot read: No such file"},
        {"solve /", 2, "Is a directory"},
        {"solve gen:poisson2d5:5 --rhs nosuch", 2, "nosuch: cannot read"},
        {"solve - --rhs -", 2, "standard input is asked for 2 times"},
        {"solve gen:poisson2d5:5 --json nosuch/x", 2, "--json: cannot write 'nosuch/x'"},
        {"solve gen:poisson2d5:5 --out nosuch/x", 2, "--out: cannot write 'nosuch/x'"},
        {"solve gen:poisson2d5:5 --csv .", 2, "Is a directory"},
        {"solve gen:poisson2d5:5 --json a --csv a", 2, "--json and --csv are both 'a'"},
        {"run gen:poisson2d5:5 --precond none,jacobi --out x", 2, "--out holds one solution"},
        {"predict gen:poisson2d5:5 --machine frob", 2, "known: this"},
        {"list x", 2, "unexpected argument 'x'"},
        {"solve gen:poisson2d5:5 --memory managed", 3, "--memory managed: "},
        {"solve gen:poisson2d5:5 --partition gpu", 3, "--partition gpu: "},
        {"solve gen:poisson2d5:5 --partition ratio:0.5", 3, "--partition ratio:0.5: "},
        {"solve gen:poisson2d5:5 --partition nonzeros:0", 3, "--partition nonzeros:0: "},
        {"solve gen:poisson2d5:5 --partition model", 3, "--partition model: "},
        {"run gen:poisson2d5:5 --partition gpu --json x", 3, "--partition gpu: "},
        {"solve gen:poisson2d5:5 --format cusparse", 3, "--format cusparse: "},
        {"solve gen:poisson2d5:5 --device 7", 3, "--device 7: "},
        {"solve gen:poisson2d5:5 --gpu-sms 0", 2, "'0' is not a whole number"},
        {"solve gen:poisson2d5:5 --home spill", 2, "not of the form spill:R"},
        {"solve gen:poisson2d5:5 --home spill:nan", 2, "not of the form spill:R"},
        {"solve gen:poisson2d5:5 --home spill:0.1", 3, "--home spill:0.1: "},
        {"solve gen:poisson2d5:5 --home shared", 3, "--home shared: "},
        {"solve gen:poisson2d5:5 --reorder amd", 2,
         "--reorder: unknown name 'amd'; known: none, rcm"},
        {"solve gen:poisson2d5:5 --exchange nccl", 3, "--exchange nccl: not in this version"},
        {"study gen:poisson2d5:5 --per-rank", 2, "study: unknown option '--per-rank'"},
        {"solve gen:poisson2d5:5 --checkpoint x", 3, "--checkpoint x: not in this version"},
        {"solve gen:poisson2d5:5 --wisdom nosuch/x", 2, "--wisdom: cannot write 'nosuch/x'"},
        {"solve gen:poisson2d5:5 --wisdom /dev/null", 2, "--wisdom: "},
        {"study gen:poisson2d5:5 --roofline", 2, "study: unknown option '--roofline'"},
        {"machine --calibrate --machine gh200-120", 2, "measures this machine"},
        {"machine --machine frob", 2, "known: this, gh200-120"},
        {"machine --machine ./frob", 2, "cannot read './frob'"},
        {"study gen:poisson2d5:5 --precond none,jacobi", 2,
         "--precond takes one name, given none,jacobi"},
        {"study gen:poisson2d5:5 --out x", 2, "study: unknown option '--out'"},
        {"study gen:poisson2d5:5 --partition ratio:2", 2, "from 0 to 1"},
        {"study gen:poisson2d5:5 nosuch.mtx --json x", 2, "nosuch.mtx: cannot read"},
        {"study - --json x", 2, "standard input is read once"},
        {"predict gen:poisson2d5:5 gen:poisson2d5:6", 2, "expected one MATRIX, given 2"},
        {"predict gen:frob:5 --machine this", 2, "no generator is named 'frob'"},
        {"predict gen:poisson2d5:5 --network 1", 2, "not L,B"},
        {"predict gen:poisson2d5:5 --network 1us,1e308TB/s", 2, "not L,B"},
        {"predict gen:poisson2d5:5 --network 1e308s,1B", 2, "not L,B"},
        /* What is wrong comes before what is lacking, in either order. */
        {"solve gen:poisson2d5:5 --device 7 --rtol x", 2, "--rtol"},
        {"solve gen:poisson2d5:5 --memory managed --frob", 2, "--frob"},
    };
    return cr_make_param_array(refusal, refusals, sizeof refusals / sizeof refusals[0], NULL);
}

ParameterizedTest(refusal *r, cgbench_refusals, refuses_in_one_line_and_writes_nothing,
                  .init = enter_folder, .fini = leave_folder)
{
    cr_assert_eq(cgbench(r->arguments), r->code, "%s: %s", r->arguments, err);
    cr_assert_eq(strncmp(err, "cgbench: ", 9), 0, "%s: %s", r->arguments, err);
    cr_assert_eq(lines_of(err), 1, "%s: %s", r->arguments, err);
    cr_assert(strstr(err, r->says), "%s: expected '%s' in: %s", r->arguments, r->says, err);
    cr_assert_str_empty(out, "%s", r->arguments);
    cr_assert_eq(files_here(), 0, "%s left a file", r->arguments);
}

Test(cgbench_refusals, names_file_and_line_of_bad_input_and_keeps_the_old_record)
{
    write_text("bad.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 2\n3 1 1\n");
    write_text("record", "old");
    cr_assert_eq(cgbench("solve bad.mtx --json record --out x"), 2);
    cr_assert(strstr(err, "bad.mtx:4"), "%s", err);
    cr_assert_eq(lines_of(err), 1);
    char text[16];
    read_text("record", text, sizeof text);
    cr_assert_str_eq(text, "old");
    cr_assert_eq(files_here(), 2);
}

Test(cgbench_refusals, run_writes_nothing_if_one_matrix_is_bad)
{
    write_text("bad.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 3\n");
    cr_assert_eq(cgbench("run gen:poisson2d5:5 bad.mtx --json record"), 2);
    cr_assert_eq(lines_of(err), 1, "%s", err);
    cr_assert_str_empty(out);
    cr_assert_eq(files_here(), 1);
}

/* Each would solve the whole system: without MPI, or by an MPI that knows nothing of the others. */
Test(cgbench_refusals, refuses_ranks_that_do_not_see_each_other)
{
    setenv("MPI_LOCALNRANKS", "2", 1);
    cr_assert_eq(cgbench("solve gen:poisson2d5:5"), 2);
    cr_assert(strstr(err, yoke_has("mpi") ? "sees one" : "this build has no MPI"), "%s", err);
    cr_assert_eq(lines_of(err), 1, "%s", err);
    setenv("MPI_LOCALNRANKS", "1", 1);
    cr_assert_eq(cgbench("solve gen:poisson2d5:5"), 0);
}

Test(cgbench_refusals, a_file_of_ranks_needs_ranks)
{
    bool mpi = yoke_has("mpi");
    cr_assert_eq(cgbench("solve gen:poisson2d5:5 --ranks-file x"), mpi ? 2 : 3);
    cr_assert(strstr(err, mpi ? "start the ranks" : "no MPI"), "%s", err);
    cr_assert_eq(lines_of(err), 1, "%s", err);
}

/* format: a line for the shell, with %s for the program. */
static int through_shell(const char *format)
{
    char command[2048];
    const char *program = getenv("CGBENCH") ? getenv("CGBENCH") : CGBENCH;
    snprintf(command, sizeof command, format, program);
    int status = system(command);
    cr_assert(WIFEXITED(status), "%s", command);
    return WEXITSTATUS(status);
}

Test(cgbench_refusals, a_closed_stream_is_not_replaced_by_a_file)
{
    char text[4096];
    cr_assert_eq(through_shell("'%s' solve gen:poisson2d5:9 --json j >&- 2>err"), 2);
    read_text("j", text, sizeof text);
    cr_assert_eq(lines_of(text), 1, "%s", text);
    cr_assert_eq(through_shell("'%s' solve - --csv c <&- >out 2>err"), 2);
    read_text("err", text, sizeof text);
    cr_assert(strstr(text, "Bad file descriptor"), "%s", text);
}

Test(cgbench_refusals, a_closed_pipe_leaves_no_file)
{
    through_shell("(sleep 0.2; '%s' run gen:poisson2d5:9 --csv c --json - --quiet; true) "
                  "| true");
    cr_assert_eq(files_here(), 0);
}
