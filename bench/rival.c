/* SPDX-License-Identifier: BSD-3-Clause */
/* rival.c: hands a rival the system through a temporary file, which is gone once it has been read,
 * and makes a row of its answers. */
#include "bench/rival.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <yoke_tools.h>

#include "bench/progress.h"
#include "bench/rival_process.h"
#include "bench/rivals/dump.h"
#include "bench/statistics.h"
#include "bench/take.h"
#include "bench/temporary.h"
#include "bench/verify.h"

/* What is known of one before it runs. memory: by which its owners share vectors; driver: NULL
 * where its program says which it took. */
typedef struct kind {
    const char *name, *partition, *memory, *driver, *format;
    int built, gpus;
} kind;

#ifndef HAVE_PETSC
#define HAVE_PETSC 0
#endif
#ifndef HAVE_HYPRE
#define HAVE_HYPRE 0
#endif
#ifndef HAVE_CUSPARSE
#define HAVE_CUSPARSE 0
#endif

static const kind kinds[] = {
    {"petsc", "cpu", NULL, "mpi", "aij", HAVE_PETSC, 0},
    {"hypre", "cpu", NULL, "mpi", "parcsr", HAVE_HYPRE, 0},
    {"cusparse", "gpu", NULL, NULL, "csr", HAVE_CUSPARSE, 1},
    {"operations", "operations", "explicit", "stream", "csr", HAVE_CUSPARSE, 1},
};

struct rival {
    rival_process process;
    const source *s;
    const kind *kind;
    char *precond;
    rival_terms terms;    /* but precond, which is kept above */
    double *us, *seconds; /* [count] */
    int count;
};

static const kind *built_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].name, name) && kinds[i].built) return &kinds[i];
    return NULL;
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

static const char *failure(const rival_process *p)
{
    static char text[640];
    static const char cannot[] = "cannot ";
    if (!strncmp(p->line, cannot, sizeof cannot - 1)) {
        snprintf(text, sizeof text, "%.600s", p->line + sizeof cannot - 1);
        return text;
    }
    snprintf(text, sizeof text, "its program failed: %.600s",
             *p->other  ? p->other
             : *p->line ? p->line
                        : "it said nothing");
    return text;
}

/* r knows its kind and terms. ranks 0: not under mpirun. */
static const char *launch(const char *program, const char *dump, int ranks, rival *r)
{
    static char text[128];
    rival_process *p = &r->process;
    char count[24], device[24], threads[24];
    snprintf(count, sizeof count, "%lld", (long long)r->terms.iterations);
    snprintf(device, sizeof device, "%d", r->terms.device);
    snprintf(threads, sizeof threads, "%d", r->terms.threads);
    int on_gpu = r->kind->gpus > 0;
    const char *const arguments[] = {dump,    r->precond, count, on_gpu ? device : NULL,
                                     threads, NULL};
    for (int bound = ranks > 0; bound >= 0; bound--) { /* some containers forbid binding */
        int error = process_start(program, arguments, ranks, bound, p);
        if (error) {
            snprintf(text, sizeof text, "cannot start %s: %s", ranks > 0 ? "mpirun" : "its program",
                     strerror(error));
            return text;
        }
        if (process_wait(p, "ready")) return NULL;
        process_end(p);
    }
    return failure(p);
}

static const char *unsuitable(const source *s, int64_t iterations, int ranks)
{
    if (s->rows >= INT32_MAX || s->nonzeros >= INT32_MAX) return "its indices have 32 bits";
    if (iterations > INT32_MAX) return "its counts have 32 bits";
    if (iterations < 1 || s->rows < 1 || s->rows < ranks)
        return "the system is too small to time it";
    return NULL;
}

const char *rival_refusal(const char *name)
{
    static char text[320];
    const char *reason = "";
    const kind *known = built_kind(name);
    if (!known) return "not in this build";
    if (known->gpus <= 0 || yoke_gpu_count(&reason) > 0) return NULL;
    snprintf(text, sizeof text, "no GPU here: %s", reason);
    return text;
}

static void release(rival *r)
{
    free(r->precond);
    free(r->us);
    free(r->seconds);
    free(r);
}

const char *rival_start(const char *name, const source *s, const rival_terms *terms, rival **r)
{
    char program[PATH_MAX + 64];
    char *dump = NULL;
    const kind *known = built_kind(name);
    *r = NULL;
    if (!known) return "not in this build";
    int ranks = known->gpus > 0 ? 0 : terms->ranks;
    if (!find_program(name, program, sizeof program)) return "its program is not installed";
    const char *why = unsuitable(s, terms->iterations, ranks);
    if (!why) why = write_dump(s, &dump);
    if (why) return why;
    progress_show("%s: %s", s->name, name);
    rival *made = take("a rival", 1, sizeof *made);
    made->kind = known;
    made->s = s;
    made->terms = *terms;
    made->terms.precond = made->precond = take_copy(terms->precond);
    why = launch(program, dump, ranks, made);
    temporary_remove(dump);
    free(dump);
    if (why) {
        release(made);
        return why;
    }
    *r = made;
    return NULL;
}

static void append(double **values, int count, double value)
{
    double *grown = take("times", count + 1, sizeof *grown);
    if (count) memcpy(grown, *values, (size_t)count * sizeof *grown);
    free(*values);
    *values = grown;
    grown[count] = value;
}

const char *rival_repeat(rival *r)
{
    progress_show("%s: %s, repeat %d", r->s->name, r->kind->name, r->count + 1);
    if (!process_tell(&r->process, "go\n") || !process_wait(&r->process, "repeat"))
        return failure(&r->process);
    append(&r->us, r->count, process_value(&r->process, "us"));
    append(&r->seconds, r->count, process_value(&r->process, "seconds"));
    r->count++;
    return NULL;
}

/* Which version, and, where its program had a choice, what it took. */
static void note_version(const rival *r, row *result)
{
    char text[640], version[64] = "unknown";
    const char *at = process_text(&r->process, "version"), *how = process_text(&r->process, "how");
    if (at) sscanf(at, "%63s", version);
    snprintf(text, sizeof text, "%s %s%s%.500s", r->kind->name, version, how ? ": " : "",
             how ? how : "");
    row_notice(result, text);
}

static void set_driver(const rival *r, row *result)
{
    char driver[32] = "unknown";
    const char *at = process_text(&r->process, "driver");
    if (at) sscanf(at, "%31s", driver);
    row_set(&result->driver, r->kind->driver ? r->kind->driver : driver);
}

static void fill_row(rival *r, row *result)
{
    const rival_process *p = &r->process;
    result->is_rival = 1;
    result->rows = r->s->rows;
    result->cpu_rows = r->kind->gpus > 0 ? 0 : r->s->rows;
    result->nonzeros = r->s->nonzeros;
    result->gpus = r->kind->gpus;
    if (result->gpus > 0) row_set_gpu(result, r->terms.device);
    double threads = process_value(p, "threads");
    result->threads = threads >= 1.0 ? (int64_t)threads : 1;
    result->ranks = (int64_t)process_value(p, "ranks");
    row_set(&result->memory, r->kind->memory);
    row_set(&result->home, "owner");
    row_set(&result->partition, r->kind->partition);
    row_set(&result->solver, r->kind->name);
    set_driver(r, result);
    row_set(&result->format, r->kind->format);
    row_set(&result->precond, r->precond);
    row_set(&result->outcome, "iteration_limit");
    result->iterations = (int64_t)process_value(p, "iterations");
    result->residual_true = relative_to(process_value(p, "residual_true"), r->s->b_norm);
    result->residual_recursive = relative_to(process_value(p, "residual_recursive"), r->s->b_norm);
    result->setup = process_value(p, "setup");
    result->solve = median_of(r->seconds, r->count);
    result->us_median = median_of(r->us, r->count);
    result->us_min = r->us[0];
    result->us_max = r->us[r->count - 1];
    note_version(r, result);
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

const char *rival_finish(rival *r, row *result)
{
    int answered = process_tell(&r->process, "end\n") && process_wait(&r->process, "end");
    int well = process_end(&r->process);
    const char *why = answered && well && r->count ? NULL : failure(&r->process);
    if (!why) {
        fill_row(r, result);
        why = judge(result, r->terms.iterations);
    }
    release(r);
    return why;
}

const char *rival_name(const rival *r)
{
    return r->kind->name;
}
