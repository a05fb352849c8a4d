/* SPDX-License-Identifier: BSD-3-Clause */
/* configuration.c: names of a configuration against the library's lists. */
#include "bench/configuration.h"

#include <stdio.h>

#include "bench/names.h"

const yoke_list_kind axis_kind[AXES] = {
    YOKE_LIST_MEMORY,  YOKE_LIST_HOMES,   YOKE_LIST_PARTITIONS,      YOKE_LIST_SOLVERS,
    YOKE_LIST_DRIVERS, YOKE_LIST_FORMATS, YOKE_LIST_PRECONDITIONERS, YOKE_LIST_SHAPES};
const char *const axis_option[AXES] = {"--memory", "--home",   "--partition", "--solver",
                                       "--driver", "--format", "--precond",   "--shape"};

const char *configuration_refusal(const configuration *c)
{
    static char text[512];
    for (int i = 0; i < AXES; i++) {
        const char *why = c->name[i] ? name_refusal(axis_kind[i], c->name[i]) : NULL;
        if (!why) continue;
        snprintf(text, sizeof text, "%s %s: %s", axis_option[i], c->name[i], why);
        return text;
    }
    return NULL;
}
