/* SPDX-License-Identifier: BSD-3-Clause */
/* model_open.c: the model of a machine by name, as tools ask it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/context.h"
#include "lib/model.h"
#include "lib/status.h"

struct yoke_model {
    yoke_context *context;
    yk_profile profile;
    yk_model_constants constants;
    char notice[512];
};

static const struct constant {
    const char *name, *text;
    size_t offset;
} constants[] = {
#define CONSTANT(name, value, text) {#name, text, offsetof(yk_model_constants, name)},
    YK_MODEL_CONSTANTS(CONSTANT)
#undef CONSTANT
};
enum { CONSTANTS = sizeof constants / sizeof *constants };

static double *constant_at(const yoke_model *model, int k)
{
    return (double *)(void *)((char *)&model->constants + constants[k].offset);
}

const char *yoke_model_constant(const yoke_model *model, int k, double *value, const char **text)
{
    if (k < 0 || k >= CONSTANTS) return NULL;
    *value = *constant_at(model, k);
    *text = constants[k].text;
    return constants[k].name;
}

void yoke_model_set_constant(yoke_model *model, int k, double value)
{
    if (k >= 0 && k < CONSTANTS) *constant_at(model, k) = value;
}

yoke_status yoke_model_open(yoke_context *context, const char *machine, yoke_model **model)
{
    if (!context || !machine || !model)
        return yk_fail(YOKE_INVALID, "context, machine or model is NULL");
    yoke_model *m = calloc(1, sizeof *m);
    if (!m) return yk_fail(YOKE_NO_MEMORY, "no memory for a model");
    yoke_status status = yk_profile_open(machine, yoke_gpu_count(NULL) > 0 ? 0 : -1, &m->profile,
                                         m->notice, sizeof m->notice);
    if (status != YOKE_OK) {
        free(m);
        return status;
    }
    m->constants = yk_model_defaults;
    m->context = context;
    yk_context_retain(context);
    *model = m;
    return YOKE_OK;
}

void yoke_model_close(yoke_model *model)
{
    if (!model) return;
    yk_context_release(model->context);
    free(model);
}

const char *yoke_model_machine(const yoke_model *model)
{
    return model->profile.name;
}

const char *yoke_model_notice(const yoke_model *model)
{
    return model->notice;
}

double yoke_model_figure(const yoke_model *model, const char *name)
{
    for (int i = 0; i < yk_profile_entry_count; i++) {
        const yk_profile_entry *entry = &yk_profile_entries[i];
        if (!entry->is_curve && strcmp(entry->name, name) == 0)
            return yk_profile_figure((yk_profile *)&model->profile, entry)->value;
    }
    return NAN;
}

/* ------------------------------------------------------------------ scaling */

static void scale_figure(yk_figure *f, double factor)
{
    if (yk_known(f)) f->value *= factor;
}

static void scale_curve(yk_curve *curve, double factor)
{
    for (int k = 0; k < curve->points; k++) curve->value[k] *= factor;
}

static void scale_link(yk_profile *p, double factor)
{
    enum { SPEEDS = 5 };
    yk_figure *const speed[SPEEDS] = {&p->link_to_gpu, &p->link_from_gpu, &p->link_both,
                                      &p->gpu_reads_host, &p->gpu_writes_host};
    for (int i = 0; i < SPEEDS; i++) scale_figure(speed[i], factor);
    scale_figure(&p->flag_round_trip, 1.0 / factor);
    scale_figure(&p->copy_latency, 1.0 / factor);
}

static void scale_cores(yk_profile *p, double factor)
{
    scale_curve(&p->cpu_read, factor);
    scale_curve(&p->cpu_triad, factor);
    scale_curve(&p->cpu_gather_set, factor);
}

static void scale_gpu(yk_profile *p, double factor)
{
    scale_curve(&p->gpu_read, factor);
}

yoke_status yoke_model_scale(yoke_model *model, const char *what, double factor)
{
    static const struct {
        const char *what;
        void (*scale)(yk_profile *profile, double factor);
    } parts[] = {{"link", scale_link}, {"cores", scale_cores}, {"gpu", scale_gpu}};
    if (!(factor > 0.0) || isinf(factor))
        return yk_fail(YOKE_INVALID, "a factor is %g, expected a number above 0", factor);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(parts[i].what, what) == 0) {
            parts[i].scale(&model->profile, factor);
            return YOKE_OK;
        }
    return yk_fail(YOKE_INVALID, "'%s' is not scaled; known: link, cores, gpu", what);
}

/* -------------------------------------------------------------------- plans */

/* The place of a name in a list that ends with NULL. */
static yoke_status place_of(const char *what, const char *name, const char *const *list, int *place)
{
    *place = 0;
    if (!name) return YOKE_OK;
    for (int k = 0; list[k]; k++)
        if (strcmp(list[k], name) == 0) {
            *place = k;
            return YOKE_OK;
        }
    return yk_fail(YOKE_UNKNOWN_NAME, "the model knows no %s '%s'", what, name);
}

/* "spill:R" */
static yoke_status read_home(const char *name, yk_model_plan *plan)
{
    static const char *const homes[] = {"owner", "shared", NULL};
    int place = 0;
    char *end;
    if (!name || strncmp(name, "spill:", 6) != 0) {
        YK_TRY(place_of("home", name, homes, &place));
        plan->home = (yk_model_home)place;
        return YOKE_OK;
    }
    plan->home = YK_MODEL_SPILL;
    plan->spill = strtod(name + 6, &end);
    if (end == name + 6 || *end || !(plan->spill >= 0.0 && plan->spill <= 1.0))
        return yk_fail(YOKE_INVALID, "home %s: expected spill:R with R from 0 to 1", name);
    return YOKE_OK;
}

static yoke_status read_names(const yoke_model_plan *given, yk_model_plan *plan)
{
    static const char *const memories[] = {"mapped", "explicit", "managed", "system", NULL};
    static const char *const drivers[] = {"team", "stream", "graph", "persistent", NULL};
    static const char *const formats[] = {"sell", "csr", NULL};
    static const char *const shapes[] = {"unfolded", "folded", NULL};
    static const char *const preconditioners[] = {"none", "jacobi", NULL};
    static const char *const solvers[] = {"cg", "cg-single", "cg-pipelined", NULL};
    const char *driver = given->driver;
    if (!driver) driver = given->cpu_share < 1.0 ? "graph" : "team";
    int memory, place, format, shape, preconditioner, solver;
    YK_TRY(place_of("memory mode", given->memory, memories, &memory));
    YK_TRY(place_of("driver", driver, drivers, &place));
    YK_TRY(place_of("format", given->format, formats, &format));
    YK_TRY(place_of("shape", given->shape, shapes, &shape));
    YK_TRY(place_of("preconditioner", given->preconditioner, preconditioners, &preconditioner));
    YK_TRY(place_of("solver", given->solver, solvers, &solver));
    plan->solver = (yk_model_solver)solver;
    plan->memory = (yk_model_memory)memory;
    plan->driver = (yk_model_driver)place;
    plan->sell = format == 0;
    plan->folded = shape == 1;
    plan->jacobi = preconditioner == 1;
    return read_home(given->home, plan);
}

static yoke_status check_one_sum(const yk_model_plan *plan)
{
    const char *why = NULL;
    if (plan->solver == YK_MODEL_CG) return YOKE_OK;
    if (plan->folded) why = "shape folded";
    if (plan->driver == YK_MODEL_PERSISTENT) why = "driver persistent";
    if (plan->cpu_share < 1.0 && plan->cpu_share > 0.0) why = "a GPU and the CPU together";
    return why ? yk_fail(YOKE_UNSUITABLE, "solvers with one sum do not take %s", why) : YOKE_OK;
}

static yoke_status check_ranks(const yk_model_plan *plan)
{
    if (plan->ranks < 2) return YOKE_OK;
    if (plan->driver == YK_MODEL_PERSISTENT)
        return yk_fail(YOKE_UNSUITABLE, "driver persistent does not go over ranks");
    if (!(plan->network_latency >= 0.0) || !(plan->network_speed > 0.0))
        return yk_fail(YOKE_INVALID, "%d ranks, and their network has a latency of %g s and %g B/s",
                       plan->ranks, plan->network_latency, plan->network_speed);
    return YOKE_OK;
}

static yoke_status check(const yk_model_plan *plan)
{
    bool gpu = plan->cpu_share<1.0, cpu = plan->cpu_share> 0.0;
    if (!(plan->cpu_share >= 0.0 && plan->cpu_share <= 1.0))
        return yk_fail(YOKE_INVALID, "the CPU's share is %g, expected 0 to 1", plan->cpu_share);
    if (gpu == (plan->driver == YK_MODEL_TEAM))
        return yk_fail(YOKE_UNSUITABLE, "driver %s does not run a share of %g on the CPU",
                       gpu ? "team" : "of a GPU", plan->cpu_share);
    if (gpu && cpu && (plan->folded || plan->driver == YK_MODEL_PERSISTENT))
        return yk_fail(YOKE_UNSUITABLE, "a GPU and the CPU together take neither shape folded nor "
                                        "driver persistent");
    if (plan->driver == YK_MODEL_PERSISTENT && (plan->folded || plan->home != YK_MODEL_OWNER))
        return yk_fail(YOKE_UNSUITABLE, "driver persistent takes neither shape folded nor home "
                                        "shared or spill");
    return YOKE_OK;
}

static yoke_status check_chip(const yoke_model *model, const yoke_shape *shape,
                              const yk_model_plan *plan)
{
    const double most = 64.0 * 256.0; /* rows of a multiprocessor */
    double sms = yk_figure_or(&model->profile.gpu_sms, 0.0);
    if (plan->driver != YK_MODEL_PERSISTENT || shape->rows <= most * sms) return YOKE_OK;
    return yk_fail(YOKE_UNSUITABLE,
                   "driver persistent: %.0f rows are more than the %.0f that %.0f "
                   "multiprocessors hold",
                   shape->rows, most * sms, sms);
}

static bool dealt_in_blocks(const yoke_model_plan *plan)
{
    return plan->deal && strcmp(plan->deal, "metis") == 0;
}

yoke_rank_cut yoke_model_cut(const yoke_shape *shape, const yoke_model_plan *plan)
{
    return yk_model_cut(shape, plan->ranks, dealt_in_blocks(plan));
}

static void report(const yoke_model *model, const yk_model_result *result,
                   yoke_prediction *prediction)
{
    double has = yk_figure_or(&model->profile.gpu_memory_bytes, INFINITY);
    *prediction = (yoke_prediction){.seconds = result->seconds,
                                    .cpu = result->cpu,
                                    .gpu = result->gpu,
                                    .gpu_bytes = result->gpu_bytes,
                                    .fits = result->gpu_bytes <= has,
                                    .terms = YK_MODEL_TERM_COUNT};
    for (int t = 0; t < YK_MODEL_TERM_COUNT; t++)
        prediction->term[t] = (struct yoke_term){yk_model_terms[t].name, yk_model_terms[t].text,
                                                 result->work[t], result->counted[t]};
}

yoke_status yoke_model_predict(const yoke_model *model, const yoke_shape *shape,
                               const yoke_model_plan *given, yoke_prediction *prediction)
{
    if (!model || !shape || !given || !prediction)
        return yk_fail(YOKE_INVALID, "model, shape, plan or prediction is NULL");
    yk_model_plan plan = {.cpu_share = given->cpu_share,
                          .threads = given->threads,
                          .gpu_sms = given->gpu_sms,
                          .ranks = given->ranks,
                          .network_latency = given->network_latency,
                          .network_speed = given->network_speed,
                          .blocks = dealt_in_blocks(given)};
    yk_model_result result;
    YK_TRY(read_names(given, &plan));
    YK_TRY(check(&plan));
    YK_TRY(check_one_sum(&plan));
    YK_TRY(check_ranks(&plan));
    YK_TRY(check_chip(model, shape, &plan));
    yk_model_predict(&model->profile, &model->constants, shape, &plan, &result);
    report(model, &result, prediction);
    return YOKE_OK;
}
