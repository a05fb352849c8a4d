/* SPDX-License-Identifier: BSD-3-Clause */
/* say.h: what cgbench tells on stderr, and the code it ends with. */
#ifndef BENCH_SAY_H
#define BENCH_SAY_H

#include <yoke.h>

enum {
    ENDS_WELL = 0,
    ENDS_UNCONVERGED = 1,
    ENDS_BAD_INPUT = 2, /* usage or input */
    ENDS_LACKING = 3    /* this build, this machine, or memory */
};

/* One line, "cgbench: ...", whatever the values hold; returns the code. */
int say_error(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The library's sentence on its last failure, after "about: " if about is not NULL; returns the
 * code that the status ends in. */
int say_status(yoke_status status, const char *about);

/* The library's sentence, without the place in its source. Valid until the next call. */
const char *library_sentence(void);

/* One line, unless quiet. */
void say_notice(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_be_quiet(int quiet);
int say_is_quiet(void);

/* Nothing at all: of ranks the first speaks for all. */
void say_be_silent(int silent);

#endif
