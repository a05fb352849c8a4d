/* SPDX-License-Identifier: BSD-3-Clause */
/* rival.c: starts a rival's program under mpirun, hands it the system through a temporary file and
 * reads the one line of its answer:
 *   yoke-rival key value key value ...
 * Whatever else it or mpirun prints is kept only to tell why there is no such line. */
#include "bench/rival.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <yoke_tools.h>

#include "bench/progress.h"
#include "bench/rivals/dump.h"
#include "bench/say.h"
#include "bench/take.h"
#include "bench/temporary.h"
#include "bench/verify.h"

extern char **environ;

typedef struct answer {
    char line[1024]; /* "" if there was none */
    char other[512]; /* the first line that was something else */
} answer;

static int is_built(const char *name)
{
#if HAVE_PETSC
    if (!strcmp(name, "petsc")) return 1;
#endif
#if HAVE_HYPRE
    if (!strcmp(name, "hypre")) return 1;
#endif
    (void)name;
    return 0;
}

/* In $YOKE_LIBEXECDIR, in the build tree that this program lies in, or where it was installed. */
static int find_program(const char *name, char *path, size_t capacity)
{
    char self[PATH_MAX] = "";
    const char *directory = getenv("YOKE_LIBEXECDIR");
    if (directory) {
        snprintf(path, capacity, "%s/yoke-rival-%s", directory, name);
        return access(path, X_OK) == 0;
    }
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash = length > 0 ? strrchr(self, '/') : NULL;
    if (slash) {
        *slash = '\0';
        if ((slash = strrchr(self, '/')) && !strcmp(slash, "/.libs")) *slash = '\0';
        int used = snprintf(path, capacity, "%s/bench/rivals/yoke-rival-%s", self, name);
        if (used > 0 && (size_t)used < capacity && access(path, X_OK) == 0) return 1;
    }
    snprintf(path, capacity, PKGLIBEXECDIR "/yoke-rival-%s", name);
    return access(path, X_OK) == 0;
}

static int write_rows(const source *s, FILE *stream)
{
    for (int64_t i = 0; i <= s->rows; i++) {
        int64_t start = csr_start(&s->csr, i);
        if (fwrite(&start, sizeof start, 1, stream) != 1) return 0;
    }
    for (int64_t k = 0; k < s->nonzeros; k++) {
        int32_t column = (int32_t)csr_column(&s->csr, k);
        if (fwrite(&column, sizeof column, 1, stream) != 1) return 0;
    }
    size_t rows = (size_t)s->rows, nonzeros = (size_t)s->nonzeros;
    return fwrite(s->csr.value, sizeof(double), nonzeros, stream) == nonzeros &&
           fwrite(s->b, sizeof(double), rows, stream) == rows;
}

/* The file's name in *path, to be removed and freed; NULL on success. */
static const char *write_dump(const source *s, char **path)
{
    static char text[256];
    rival_dump_header header = {
        .magic = RIVAL_DUMP_MAGIC, .rows = s->rows, .nonzeros = s->nonzeros};
    *path = temporary_name();
    int handle = mkstemp(*path);
    if (handle >= 0) temporary_remember(*path);
    FILE *stream = handle >= 0 ? fdopen(handle, "wb") : NULL;
    int good = stream && fwrite(&header, sizeof header, 1, stream) == 1 && write_rows(s, stream);
    int error = errno;
    if (stream && fclose(stream) && good) {
        good = 0;
        error = errno;
    }
    if (good) return NULL;
    snprintf(text, sizeof text, "cannot hand it the matrix in '%.100s': %s", *path,
             strerror(error));
    temporary_remove(*path);
    free(*path);
    return text;
}

/* What makes an MPI job on all our cores fair, as variables rather than flags, since other
 * launchers ignore them: ranks bound and spinning when each has a processor of its own. */
static void set_environment(int ranks, int bind)
{
    yoke_machine machine;
    yoke_machine_describe(&machine);
    int fits = ranks <= machine.processors;
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
    setenv("OMPI_MCA_hwloc_base_use_hwthreads_as_cpus", "1", 1);
    setenv("OMPI_MCA_hwloc_base_binding_policy", bind && fits ? "hwthread" : "none", 1);
    if (fits) setenv("OMPI_MCA_mpi_yield_when_idle", "0", 1);
    setenv("OMP_NUM_THREADS", "1", 1);
}

static void read_answer(FILE *stream, answer *a)
{
    char line[sizeof a->line];
    *a = (answer){"", ""};
    while (fgets(line, sizeof line, stream)) {
        line[strcspn(line, "\n")] = '\0';
        if (!strncmp(line, "yoke-rival ", 11))
            snprintf(a->line, sizeof a->line, "%s", line);
        else if (!*a->other && strspn(line, "- \t") != strlen(line))
            snprintf(a->other, sizeof a->other, "%.*s", (int)sizeof a->other - 1, line);
    }
}

/* Starts the child in a process group of its own, both its outputs into one pipe. */
static int start(char **arguments, pid_t *child, int *output)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) return errno;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    int error = posix_spawnp(child, arguments[0], &actions, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(ends[1]);
    if (error) close(ends[0]);
    *output = ends[0];
    return error;
}

static const char *run_child(char **arguments, answer *a)
{
    static char text[640];
    pid_t child = 0;
    int output = -1, status = 0, error = start(arguments, &child, &output);
    if (error) {
        snprintf(text, sizeof text, "cannot start %.200s: %s", arguments[0], strerror(error));
        return text;
    }
    temporary_child(child);
    FILE *stream = fdopen(output, "r");
    if (stream) {
        read_answer(stream, a);
        fclose(stream);
    } else
        close(output);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    temporary_child(0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && *a->line) return NULL;
    snprintf(text, sizeof text, "its program failed: %s", *a->other ? a->other : "it said nothing");
    return text;
}

static const char *ask(const char *program, const char *dump, const char *precond,
                       int64_t iterations, int64_t repeats, int ranks, answer *a)
{
    char text[3][24];
    snprintf(text[0], sizeof text[0], "%d", ranks);
    snprintf(text[1], sizeof text[1], "%lld", (long long)iterations);
    snprintf(text[2], sizeof text[2], "%lld", (long long)repeats);
    const char *arguments[] = {MPIRUN,  "-n",    text[0], program, dump,
                               precond, text[1], text[2], NULL};
    set_environment(ranks, 1);
    const char *why = run_child((char **)(uintptr_t)arguments, a);
    if (!why) return NULL;
    set_environment(ranks, 0); /* some containers forbid binding */
    return run_child((char **)(uintptr_t)arguments, a);
}

static double value_of(const char *line, const char *key)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, " %s ", key);
    const char *at = strstr(line, wanted);
    return at ? strtod(at + strlen(wanted), NULL) : NAN;
}

static void note_version(const char *name, const char *line, row *r)
{
    char text[128], version[64] = "unknown";
    const char *at = strstr(line, " version ");
    if (at) sscanf(at, " version %63s", version);
    snprintf(text, sizeof text, "%s %s", name, version);
    row_notice(r, text);
}

static void fill_row(const char *name, const source *s, const char *precond, const answer *a,
                     row *r)
{
    r->is_rival = 1;
    r->rows = r->cpu_rows = s->rows;
    r->nonzeros = s->nonzeros;
    r->gpus = 0;
    r->threads = 1;
    r->ranks = (int64_t)value_of(a->line, "ranks");
    row_set(&r->home, "owner");
    row_set(&r->partition, "cpu");
    row_set(&r->solver, name);
    row_set(&r->driver, "mpi");
    row_set(&r->format, !strcmp(name, "petsc") ? "aij" : "parcsr");
    row_set(&r->precond, precond);
    row_set(&r->outcome, "iteration_limit");
    r->iterations = (int64_t)value_of(a->line, "iterations");
    r->residual_true = relative_to(value_of(a->line, "residual_true"), s->b_norm);
    r->residual_recursive = relative_to(value_of(a->line, "residual_recursive"), s->b_norm);
    r->setup = value_of(a->line, "setup");
    r->solve = value_of(a->line, "solve");
    r->us_median = value_of(a->line, "us_median");
    r->us_min = value_of(a->line, "us_min");
    r->us_max = value_of(a->line, "us_max");
}

static const char *judge(row *r, int64_t iterations)
{
    static char text[256];
    double gap = fabs(r->residual_true - r->residual_recursive);
    text[0] = '\0';
    if (r->iterations != iterations)
        snprintf(text, sizeof text, "it did %lld iterations, asked for %lld",
                 (long long)r->iterations, (long long)iterations);
    else if (!(gap <= RESIDUALS_AGREE))
        snprintf(
            text, sizeof text,
            "its true and recursive residual, %.3e and %.3e of ||b||, differ by more than 1e-10",
            r->residual_true, r->residual_recursive);
    return *text ? text : NULL;
}

const char *rival_measure(const char *name, const source *s, const char *precond,
                          int64_t iterations, int64_t repeats, int ranks, row *r)
{
    char program[PATH_MAX + 64];
    char *dump = NULL;
    answer a;
    if (!is_built(name)) return "not in this build";
    if (!find_program(name, program, sizeof program)) return "its program is not installed";
    if (s->rows >= INT32_MAX || s->nonzeros >= INT32_MAX) return "its indices have 32 bits";
    if (iterations < 1 || s->rows < ranks) return "the system is too small to time it";
    progress_show("%s: %s", s->name, name);
    const char *why = write_dump(s, &dump);
    if (why) return why;
    why = ask(program, dump, precond, iterations, repeats, ranks, &a);
    temporary_remove(dump);
    free(dump);
    progress_clear();
    if (why) return why;
    note_version(name, a.line, r);
    fill_row(name, s, precond, &a, r);
    return judge(r, iterations);
}
