/* SPDX-License-Identifier: BSD-3-Clause */
/* configuration.h: what is asked of one plan, a name from each list. */
#ifndef BENCH_CONFIGURATION_H
#define BENCH_CONFIGURATION_H

#include "bench/options.h"

typedef struct configuration {
    const char *name[AXES]; /* as asked; NULL: the default */
} configuration;

/* Of each axis: the library's list of names, and the option. */
extern const yoke_list_kind axis_kind[AXES];
extern const char *const axis_option[AXES];

/* Why this build or machine cannot have it, as "--memory managed: why"; NULL if nothing is known
 * against it before planning. Valid until the next call. */
const char *configuration_refusal(const configuration *c);

#endif
