/* SPDX-License-Identifier: BSD-3-Clause */
/* yoke_io.h: matrices and vectors from files and generators, and back to files.
 * Conventions as in yoke.h. */
#ifndef YOKE_IO_H
#define YOKE_IO_H

#include <yoke.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_read_options {
    size_t struct_size;
    int threads;        /* 0: the context's */
    int trust_symmetry; /* 1: a general file is not checked for symmetry */
    /* Called now and then with the bytes of the file read so far and in all (0: not known); NULL:
     * never. From the thread that called. */
    void (*progress)(void *user, int64_t done, int64_t total);
    void *progress_user;
} yoke_read_options;

static inline yoke_read_options yoke_read_defaults(void)
{
    yoke_read_options options = {sizeof(yoke_read_options), 0, 0, NULL, NULL};
    return options;
}

/* Reads a matrix. path: a Matrix Market coordinate file (real, integer or pattern; general or
 * symmetric) or a Harwell-Boeing or Rutherford-Boeing file (real or pattern, symmetric or general),
 * either gzipped or not, known by content; "-" reads standard input. options: NULL for the
 * defaults. Errors: YOKE_IO, YOKE_FORMAT (with the line), YOKE_UNSUITABLE (not square, not
 * symmetric, complex, dense, skew), YOKE_OVERFLOW, YOKE_NO_MEMORY. The text names file and line.
 * Sources: Boisvert, Pozo, Remington, "The Matrix Market exchange formats", NISTIR 5935, 1996;
 * Duff, Grimes, Lewis, "The Rutherford-Boeing sparse matrix collection", RAL-TR-97-031, 1997. */
YOKE_API yoke_status yoke_matrix_read(yoke_context *context, const char *path,
                                      const yoke_read_options *options, yoke_matrix **matrix);

/* Reads a vector of [rows] into out. path as above: a Matrix Market array (also with a one-number
 * size line), a Matrix Market coordinate file of one column, or a plain list of numbers. NaN and
 * infinities are refused. */
YOKE_API yoke_status yoke_vector_read(yoke_context *context, const char *path, int64_t rows,
                                      double *out);

/* Writes [rows] numbers as a Matrix Market array with 17 digits. The file is replaced as a whole:
 * it is written beside the path and renamed. path "-" is standard output. */
YOKE_API yoke_status yoke_vector_write(const char *path, int64_t rows, const double *vector);

/* Writes the lower triangle as a Matrix Market coordinate real symmetric file with 17 digits. */
YOKE_API yoke_status yoke_matrix_write(const yoke_matrix *matrix, const char *path);

/* Makes a matrix by name and arguments, "poisson3d7:200"; the list is yoke_tools.h's
 * yoke_list(YOKE_LIST_GENERATORS). Errors: YOKE_UNKNOWN_NAME, YOKE_INVALID (an argument, with the
 * form expected), YOKE_OVERFLOW, YOKE_NO_MEMORY. */
YOKE_API yoke_status yoke_matrix_generate(yoke_context *context, const char *spec,
                                          yoke_matrix **matrix);

#ifdef __cplusplus
}
#endif

#endif
