/* SPDX-License-Identifier: BSD-3-Clause */
/* generate.h: matrices made by name and arguments, "poisson3d7:200". */
#ifndef YK_GENERATE_H
#define YK_GENERATE_H

#include <stdint.h>
#include <yoke.h>

/* A size (an integer from least to most), a real number above 0, or any 64-bit number. */
typedef enum yk_argument_kind { YK_SIZE = 1, YK_REAL, YK_SEED } yk_argument_kind;

enum { YK_ARGUMENTS = 3 };

typedef struct yk_argument_form {
    yk_argument_kind kind; /* 0: no more arguments */
    int64_t least, most;   /* of a size */
} yk_argument_form;

typedef union yk_argument {
    int64_t size;
    double real;
    uint64_t seed;
} yk_argument;

typedef yoke_status (*yk_generate_fn)(yoke_context *context, const yk_argument *arguments,
                                      yoke_matrix **matrix);

typedef struct yk_generator {
    const char *name;
    const char *form;    /* "jumps3d7:N:CONTRAST:SEED" */
    const char *text;    /* one line on what it is */
    yk_generate_fn make; /* NULL: yk_make_shuffled, whose last argument is a spec */
    yk_argument_form argument[YK_ARGUMENTS];
} yk_generator;

/* Ends with a NULL name. */
extern const yk_generator yk_generators[];

/* By the name before the first colon. YOKE_UNKNOWN_NAME lists the known ones. */
yoke_status yk_find_generator(const char *spec, const yk_generator **generator);

/* Splits and checks what follows "name:" by the generator's form. YOKE_INVALID names the form. */
yoke_status yk_parse_arguments(const yk_generator *generator, const char *text,
                               yk_argument *arguments);

yoke_status yk_make_poisson2d5(yoke_context *, const yk_argument *, yoke_matrix **);
yoke_status yk_make_poisson3d7(yoke_context *, const yk_argument *, yoke_matrix **);
yoke_status yk_make_poisson3d27(yoke_context *, const yk_argument *, yoke_matrix **);
yoke_status yk_make_anisotropic3d7(yoke_context *, const yk_argument *, yoke_matrix **);
yoke_status yk_make_jumps3d7(yoke_context *, const yk_argument *, yoke_matrix **);
yoke_status yk_make_elasticity3d(yoke_context *, const yk_argument *, yoke_matrix **);
yoke_status yk_make_graph(yoke_context *, const yk_argument *, yoke_matrix **);
yoke_status yk_make_random_spd(yoke_context *, const yk_argument *, yoke_matrix **);

/* text: ":SEED:GENERATOR:...". Split: the seed, and the spec of the generator within, which points
 * into text. */
yoke_status yk_split_shuffled(const yk_generator *generator, const char *text, uint64_t *seed,
                              const char **spec);
yoke_status yk_make_shuffled(yoke_context *context, const yk_generator *generator, const char *text,
                             yoke_matrix **matrix);

#endif
