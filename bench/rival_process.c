/* SPDX-License-Identifier: BSD-3-Clause */
/* rival_process.c: a child in a process group of its own, its stdin one pipe, its stdout and stderr
 * another. Whatever it or mpirun prints beside the protocol is kept only to tell why it failed. */
#include "bench/rival_process.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <yoke_tools.h>

#include "bench/temporary.h"

extern char **environ;

enum { MOST_ARGUMENTS = 24 };
static const char PREFIX[] = "yoke-rival ";

/* Appends to a list of arguments that has room. */
static void append(const char **list, int *count, const char *text)
{
    list[(*count)++] = text;
}

/* What makes an MPI job on all our cores fair, as variables rather than flags, since other
 * launchers ignore them: ranks bound and spinning when each has a processor of its own. They go to
 * the child alone, through env: cgbench's own threads must not change. */
static void append_environment(const char **list, int *count, int ranks, int bind)
{
    yoke_machine machine;
    yoke_machine_describe(&machine);
    int fits = ranks <= machine.processors;
    append(list, count, "env");
    append(list, count, "OMPI_ALLOW_RUN_AS_ROOT=1");
    append(list, count, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1");
    append(list, count, "OMPI_MCA_rmaps_base_oversubscribe=1");
    append(list, count, "OMPI_MCA_hwloc_base_use_hwthreads_as_cpus=1");
    append(list, count,
           bind && fits ? "OMPI_MCA_hwloc_base_binding_policy=hwthread"
                        : "OMPI_MCA_hwloc_base_binding_policy=none");
    if (fits) append(list, count, "OMPI_MCA_mpi_yield_when_idle=0");
    append(list, count, "OMP_NUM_THREADS=1");
}

static int spawn(char **arguments, int input, int output, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, 0);
    posix_spawn_file_actions_adddup2(&actions, output, 1);
    posix_spawn_file_actions_adddup2(&actions, output, 2);
    posix_spawnattr_init(&attributes);
    sigset_t broken_pipe;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &broken_pipe);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    int error = posix_spawnp(child, arguments[0], &actions, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
}

static int connect_child(char **arguments, rival_process *p)
{
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC)) return errno;
    if (pipe2(out, O_CLOEXEC)) {
        int error = errno;
        close(in[0]);
        close(in[1]);
        return error;
    }
    int error = spawn(arguments, in[0], out[1], &p->child);
    close(in[0]);
    close(out[1]);
    if (!error) {
        p->to = fdopen(in[1], "w");
        p->from = fdopen(out[0], "r");
        return 0;
    }
    close(in[1]);
    close(out[0]);
    return error;
}

int process_start(const char *program, const char *const arguments[], int ranks, int bound,
                  rival_process *p)
{
    char ranks_text[24];
    const char *all[MOST_ARGUMENTS + 1] = {NULL};
    int count = 0;
    *p = (rival_process){0};
    snprintf(ranks_text, sizeof ranks_text, "%d", ranks);
    if (ranks > 0) {
        append_environment(all, &count, ranks, bound);
        append(all, &count, MPIRUN);
        append(all, &count, "-n");
        append(all, &count, ranks_text);
    }
    append(all, &count, program);
    while (*arguments && count < MOST_ARGUMENTS) append(all, &count, *arguments++);
    /* A program that died must be an answer that is missing, not the end of cgbench. */
    signal(SIGPIPE, SIG_IGN);
    int error = connect_child((char **)(uintptr_t)all, p);
    if (!error) temporary_child(p->child);
    return error;
}

int process_wait(rival_process *p, const char *word)
{
    char line[sizeof p->line];
    size_t length = strlen(PREFIX);
    while (p->from && fgets(line, sizeof line, p->from)) {
        line[strcspn(line, "\n")] = '\0';
        if (!strncmp(line, PREFIX, length)) {
            snprintf(p->line, sizeof p->line, "%s", line + length);
            return !strncmp(p->line, word, strlen(word));
        }
        if (!*p->other && strspn(line, "- \t") != strlen(line))
            snprintf(p->other, sizeof p->other, "%.*s", (int)sizeof p->other - 1, line);
    }
    return 0;
}

int process_tell(rival_process *p, const char *line)
{
    return p->to && fputs(line, p->to) >= 0 && fflush(p->to) == 0;
}

int process_end(rival_process *p)
{
    int status = -1;
    if (p->to) fclose(p->to);
    if (p->from) fclose(p->from);
    p->to = p->from = NULL;
    while (waitpid(p->child, &status, 0) < 0 && errno == EINTR) continue;
    temporary_forget_child(p->child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

const char *process_text(const rival_process *p, const char *key)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, " %s ", key);
    const char *at = strstr(p->line, wanted);
    return at ? at + strlen(wanted) : NULL;
}

double process_value(const rival_process *p, const char *key)
{
    const char *text = process_text(p, key);
    return text ? strtod(text, NULL) : NAN;
}
