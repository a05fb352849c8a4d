/* SPDX-License-Identifier: BSD-3-Clause */
/* measure.h: one configuration of one system: planned, verified, timed. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "bench/configuration.h"
#include "bench/row.h"
#include "bench/source.h"

/* Called after each timed repeat of a right answer, when r says what ran; NULL: nothing. */
typedef struct interlude {
    void (*play)(void *user, const row *r);
    void *user;
} interlude;

/* Solves and fills r, whose matrix is set. x: [rows], the solution of the last repeat.
 * want_history: r->history as well. YOKE_OK if the solve ran to some outcome (r->exit_code says how
 * it ends, and what is wrong with it has been said), else why there is no row: the sentence is the
 * library's last, and has not been said. */
yoke_status measure(yoke_context *context, const bench_options *options, const source *s,
                    const configuration *c, int want_history, const interlude *between, double *x,
                    row *r);

/* The setup shared by solve, run and study: a context of the options, with its log. */
int open_context(const bench_options *options, yoke_context **context);

#endif
