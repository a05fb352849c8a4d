/* SPDX-License-Identifier: BSD-3-Clause */
/* rival.h: other people's CG on the same system and cores, each in a program of its own. */
#ifndef BENCH_RIVAL_H
#define BENCH_RIVAL_H

#include "bench/row.h"
#include "bench/source.h"

/* Does exactly `iterations` iterations `repeats` times on `ranks` ranks and fills r, whose matrix
 * is set. Returns NULL, or why there is no figure (valid until the next call); r then says nothing
 * beyond its matrix. */
const char *rival_measure(const char *name, const source *s, const char *precond,
                          int64_t iterations, int64_t repeats, int ranks, row *r);

#endif
