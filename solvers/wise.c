/* SPDX-License-Identifier: BSD-3-Clause */
/* wise.c: what is asked of wisdom, and told to it, as a plan is made. */
#include <stdio.h>
#include <string.h>

#include "lib/context.h"
#include "lib/matrix.h"
#include "lib/threads.h"
#include "solvers/plan.h"

static const char *or_auto(const char *name)
{
    return name && *name ? name : "auto";
}

/* All that a choice may depend on, but for the matrix. False: it does not fit into a word. */
static bool write_asked(const yoke_matrix *matrix, const yoke_plan_options *o, char *asked,
                        size_t size)
{
    int length = snprintf(
        asked, size,
        "%s,%s,%s,%s,%s,%s,%s,%s,reorder=%s,threads=%d,parts=%d,nullspace=%d,device=%d,%zu,%d",
        or_auto(o->memory), or_auto(o->home), or_auto(o->partition), or_auto(o->solver),
        or_auto(o->driver), or_auto(o->format), or_auto(o->preconditioner), or_auto(o->shape),
        or_auto(o->reorder), yk_threads(matrix->context, o->threads), o->parts, (int)o->nullspace,
        o->device < 0 ? 0 : o->device, o->gpu_memory, o->gpu_sms);
    if (length < 0 || (size_t)length >= size) return false;
    for (const char *c = asked; *c; c++)
        if (*c <= ' ' || *c == '\x7f') return false;
    return true;
}

bool yk_wise_ask(const yoke_matrix *matrix, const yoke_plan_options *options, yk_wise *wise,
                 bool *known)
{
    yoke_plan_options defaults = yoke_plan_defaults();
    if (!options) options = &defaults;
    *known = false;
    memset(wise, 0, sizeof *wise);
    bool patient = options->effort && strcmp(options->effort, "patient") == 0;
    bool measure = options->effort && strcmp(options->effort, "measure") == 0;
    if ((!measure && !patient) || matrix->is_operator || options->apply_preconditioner)
        return false;
    if (options->device_count > 1) return false;
    if (matrix->spread) return false; /* ranks that know different things would plan differently */
    if (!write_asked(matrix, options, wise->asked, sizeof wise->asked)) return false;
    wise->signature = yk_matrix_signature(matrix);
    wise->patient = patient;
    wise->share = -1.0;
    *known = yk_wisdom_find(matrix->context, wise, patient);
    return true;
}

void yk_wise_keep(const yoke_plan *plan, yk_wise *wise, double share)
{
    const yk_choice *choice = &plan->choice;
    snprintf(wise->driver, sizeof wise->driver, "%s", choice->driver->name);
    snprintf(wise->format, sizeof wise->format, "%s", choice->format);
    wise->folded = plan->cg.folded;
    wise->share = share;
    yk_wisdom_remember(plan->matrix->context, wise);
}
