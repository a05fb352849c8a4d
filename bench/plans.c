/* SPDX-License-Identifier: BSD-3-Clause */
/* plans.c: the ranked list from which auto chose. */
#include "bench/plans.h"

#include <stdio.h>

#include "bench/explain.h"

static void tell_one(const yoke_candidate *c, row *r)
{
    char line[256], predicted[32], measured[32], share[48] = "";
    format_seconds(c->predicted, predicted, sizeof predicted);
    format_seconds(c->measured, measured, sizeof measured);
    if (c->memory)
        snprintf(share, sizeof share, " %.3g %% on the CPU, %s,", 100.0 * c->cpu_share, c->memory);
    snprintf(line, sizeof line, "%c %10s %10s  %s,%s %s%s%s, %s, %s", c->taken ? '*' : ' ',
             predicted, measured, c->partition, share, c->home[0] == 'o' ? "" : c->home,
             c->home[0] == 'o' ? "" : ", ", c->driver, c->format, c->shape);
    words_add(&r->plans, line);
}

void plans_tell(yoke_plan *plan, row *r)
{
    yoke_candidate c;
    for (int k = 0; yoke_plan_candidate(plan, k, &c); k++) tell_one(&c, r);
}
