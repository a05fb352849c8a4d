/* SPDX-License-Identifier: BSD-3-Clause */
/* source.c: reads or generates the matrix, then b and x0. */
#include "bench/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <yoke_io.h>

#include "bench/progress.h"
#include "bench/ranks.h"
#include "bench/say.h"
#include "bench/take.h"
#include "bench/verify.h"

static int is_generated(const char *name)
{
    return !strncmp(name, "gen:", 4);
}

static int is_word(const char *rhs)
{
    return !strcmp(rhs, "ones") || !strcmp(rhs, "A*ones") || !strncmp(rhs, "random:", 7);
}

static int check_readable(const char *path)
{
    struct stat there;
    if (!strcmp(path, "-")) return 0;
    if (stat(path, &there) || access(path, R_OK))
        return say_error(ENDS_BAD_INPUT, "%s: cannot read: %s", path, strerror(errno));
    if (S_ISDIR(there.st_mode))
        return say_error(ENDS_BAD_INPUT, "%s: cannot read: %s", path, strerror(EISDIR));
    return 0;
}

static int check_rhs(const char *rhs)
{
    int64_t seed = 0;
    if (!strncmp(rhs, "random:", 7) && !parse_count(rhs + 7, &seed))
        return say_error(ENDS_BAD_INPUT, "--rhs: '%s' is not random:SEED with a whole number", rhs);
    return is_word(rhs) ? 0 : check_readable(rhs);
}

int source_check(const bench_options *options)
{
    int inputs = !strcmp(options->rhs, "-") + (options->x0 && !strcmp(options->x0, "-"));
    for (int i = 0; i < options->matrices.count; i++) {
        const char *name = options->matrices.word[i];
        inputs += !strcmp(name, "-");
        int code = is_generated(name) ? 0 : check_readable(name);
        if (code) return code;
    }
    if (inputs > 1)
        return say_error(ENDS_BAD_INPUT,
                         "standard input is asked for %d times: it can be read once", inputs);
    int code = check_rhs(options->rhs);
    return code || !options->x0 ? code : check_readable(options->x0);
}

static int open_matrix(yoke_context *context, const bench_options *options, source *s)
{
    yoke_read_options read = yoke_read_defaults();
    read.threads = (int)options->threads;
    read.trust_symmetry = options->trust_symmetry;
    read.progress = progress_reading;
    read.progress_user = (void *)(uintptr_t)s->name;
    progress_show("reading %s", s->name);
    yoke_status status = is_generated(s->name)
                             ? yoke_matrix_generate(context, s->name + 4, &s->matrix)
                             : yoke_matrix_read(context, s->name, &read, &s->matrix);
    progress_clear();
    if (status) return say_status(status, is_generated(s->name) ? s->name : NULL);
    s->rows = yoke_matrix_rows(s->matrix);
    s->nonzeros = yoke_matrix_nonzeros(s->matrix);
    s->all_rows = s->rows;
    s->all_nonzeros = s->nonzeros;
    yoke_share share = yoke_share_defaults();
    if (!yoke_matrix_share(s->matrix, &share)) {
        s->share = share;
        s->all_rows = share.all_rows;
        s->all_nonzeros = share.all_nonzeros;
    }
    s->csr = yoke_csr_defaults();
    status = yoke_matrix_view(s->matrix, &s->csr);
    return status ? say_status(status, s->name) : 0;
}

/* splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014)
 * of seed and row: the same b whatever the threads. Uniform in [-1, 1). */
static double random_at(uint64_t seed, uint64_t row)
{
    uint64_t z = seed + (row + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-52 - 1.0;
}

/* Every rank reads the file, and keeps what is its own. */
static int read_vector(yoke_context *context, const char *path, const source *s, double *own)
{
    double *all = take("a vector", s->all_rows, sizeof *all);
    yoke_status status = yoke_vector_read(context, path, s->all_rows, all);
    for (int64_t i = 0; !status && i < s->rows; i++) own[i] = all[source_row(s, i)];
    free(all);
    return status ? say_status(status, NULL) : 0;
}

/* Every row's columns, others' too: what they multiply is 1. */
static void multiply_ones(const source *s, double *b)
{
    int64_t columns = s->rows + s->share.halo;
    double *ones = take("ones", columns, sizeof *ones);
    for (int64_t i = 0; i < columns; i++) ones[i] = 1.0;
    csr_multiply(&s->csr, ones, b);
    free(ones);
}

static int open_rhs(yoke_context *context, const char *rhs, source *s)
{
    s->b = take("the right-hand side", s->rows, sizeof *s->b);
    if (!is_word(rhs)) return read_vector(context, rhs, s, s->b);
    if (!strncmp(rhs, "random:", 7)) {
        int64_t seed = 0;
        parse_count(rhs + 7, &seed);
        for (int64_t i = 0; i < s->rows; i++)
            s->b[i] = random_at((uint64_t)seed, (uint64_t)source_row(s, i));
        return 0;
    }
    for (int64_t i = 0; i < s->rows; i++) s->b[i] = 1.0;
    if (!strcmp(rhs, "A*ones")) multiply_ones(s, s->b);
    return 0;
}

static int open_guess(yoke_context *context, const char *path, source *s)
{
    if (!path) return 0;
    s->x0 = take("the initial guess", s->rows, sizeof *s->x0);
    return read_vector(context, path, s, s->x0);
}

int source_open(yoke_context *context, const bench_options *options, const char *name, source *s)
{
    *s = (source){.name = name};
    int code = open_matrix(context, options, s);
    if (!code) code = open_rhs(context, options->rhs, s);
    if (!code) code = open_guess(context, options->x0, s);
    code = ranks_agree(code);
    if (!code) s->b_norm = norm_outside(s->b, s->rows, options->nullspace != NULL);
    if (code) source_close(s);
    return code;
}

void source_close(source *s)
{
    yoke_matrix_destroy(s->matrix);
    free(s->b);
    free(s->x0);
    *s = (source){0};
}
