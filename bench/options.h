/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h: the command line, read and checked. One table in options_table.c holds every option.
 */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <yoke_tools.h>

#include "bench/parse.h"

/* Commands, as bits: an option says which take it. */
enum {
    COMMAND_SOLVE = 1,
    COMMAND_RUN = 2,
    COMMAND_STUDY = 4,
    COMMAND_PREDICT = 8,
    COMMAND_MACHINE = 16,
    COMMAND_LIST = 32
};

/* The dimensions of the cross product that `run` forms. */
enum {
    AXIS_MEMORY,
    AXIS_HOME,
    AXIS_PARTITION,
    AXIS_SOLVER,
    AXIS_DRIVER,
    AXIS_FORMAT,
    AXIS_PRECOND,
    AXIS_SHAPE,
    AXES
};

typedef struct bench_options {
    unsigned command;
    const char *command_name;
    words matrices;
    words axis[AXES];
    words vs;
    char *effort, *base, *rhs, *x0, *out, *history, *json, *csv, *svg, *nullspace, *machine,
        *ranks_file, *reorder, *wisdom, *deal, *shares, *scaling;
    double rtol, atol, max_seconds;
    int64_t maxit, iterations; /* 0: the default; not asked */
    int64_t check_every, repeats, threads, parts;
    double budget;  /* seconds of a solve that are worth it, by which iterations are cut; 0: any */
    words given;    /* options as given, "--threads 2" */
    int devices[8]; /* GPUs by CUDA's numbers */
    int device_count;  /* 0: not asked */
    words ranks;       /* numbers of ranks to predict for, each checked */
    double network[2]; /* seconds of a message, bytes a second */
    double gpu_memory; /* bytes of it to use; 0: all */
    int64_t gpu_sms;   /* its multiprocessors to use; 0: all */
    int trust_symmetry, reproducible, explain, per_rank, quiet, help, roofline, calibrate;
    char *later;   /* "--device: why not", of the first known option that this build lacks */
    char *ignored; /* where a value that means nothing here is put */
} bench_options;

typedef enum option_kind {
    KIND_FLAG,    /* int = 1 */
    KIND_TEXT,    /* char *: a path, or what its user checks */
    KIND_COUNT,   /* int64_t, at least `least` */
    KIND_NUMBER,  /* double */
    KIND_CHOICE,  /* char *, one of `choices` */
    KIND_NAMES,   /* words, each in the library's list `names` */
    KIND_NAME,    /* char *, likewise */
    KIND_RIVALS,  /* words, each one of `choices` */
    KIND_COUNTS,  /* words, each a count */
    KIND_SIZE,    /* double: bytes */
    KIND_DEVICES, /* into devices: up to 8 numbers */
    KIND_NETWORK  /* double[2]: seconds of a message, bytes a second */
} option_kind;

typedef struct option {
    const char *name, *argument, *help;
    option_kind kind;
    unsigned commands;
    size_t offset;       /* in bench_options */
    int64_t least, most; /* of a count; most 0: any */
    const char *choices;
    yoke_list_kind names;
    const char *later;        /* why this build lacks it */
    const char *later_values; /* only these values of it; NULL: all */
} option;

extern const option option_table[];
extern const int option_count;

/* Fills options from the arguments after the command. Returns 0, or the exit code once the error
 * has been said. options_free in either case. */
int options_read(int argc, char **argv, unsigned command, const char *command_name,
                 bench_options *options);
void options_free(bench_options *options);

/* Says what is asked for and cannot be had here: the exit code 3, or 0. */
int options_refuse_later(const bench_options *options);

/* The GPU to use where one is used. */
int options_device(const bench_options *options); /* of several the first */

/* The options that a command takes, for --help. */
void options_help(unsigned command, FILE *stream);

#endif
