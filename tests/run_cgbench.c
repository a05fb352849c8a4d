/* SPDX-License-Identifier: BSD-3-Clause */
/* run_cgbench.c: the built program, run in a folder of its own. */
#include "tests/run_cgbench.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];
char out[1 << 17], err[1 << 16];

/* Criterion 2.4.1 calls a suite's .init twice for a parameterized test. */
void enter_folder(void)
{
    if (*folder) return;
    static const char *const launchers[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS",
                                            "SLURM_STEP_NUM_TASKS", "PMI_RANK", "PMIX_RANK",
                                            "SLURM_PROCID"};
    for (int i = 0; i < 7; i++) unsetenv(launchers[i]);
    snprintf(folder, sizeof folder, "/tmp/test-cgbench-XXXXXX");
    cr_assert(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
}

void leave_folder(void)
{
    char command[128];
    cr_assert_eq(chdir("/"), 0);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    cr_assert_eq(system(command), 0);
}

void read_text(const char *path, char *text, size_t capacity)
{
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, capacity - 1, file) : 0;
    text[length] = '\0';
    if (file) fclose(file);
}

void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    cr_assert(file);
    fputs(text, file);
    fclose(file);
}

/* Runs cgbench through the shell; its outputs are in out and err, outside of the folder. */
int cgbench(const char *arguments)
{
    char command[2048];
    const char *program = getenv("CGBENCH") ? getenv("CGBENCH") : CGBENCH;
    snprintf(command, sizeof command, "'%s' %s >'%s.out' 2>'%s.err'", program, arguments, folder,
             folder);
    int status = system(command);
    snprintf(command, sizeof command, "%s.out", folder);
    read_text(command, out, sizeof out);
    unlink(command);
    snprintf(command, sizeof command, "%s.err", folder);
    read_text(command, err, sizeof err);
    unlink(command);
    cr_assert(WIFEXITED(status), "%s: ended by signal %d", arguments, WTERMSIG(status));
    return WEXITSTATUS(status);
}

int lines_of(const char *text)
{
    int lines = 0;
    for (; *text; text++) lines += *text == '\n';
    return lines;
}

int files_here(void)
{
    char text[16];
    FILE *list = popen("ls -A | wc -l", "r");
    cr_assert(list && fgets(text, sizeof text, list));
    pclose(list);
    return atoi(text);
}
