/* SPDX-License-Identifier: BSD-3-Clause */
/* study_cases.c: what a study compares. The names are the library's, so what is registered is
 * compared; those that take a number get the few that stand here. */
#include "bench/study.h"

#include <stdlib.h>
#include <string.h>

#include "bench/take.h"

/* The CPU's share of rows that its bandwidth is worth on an H200 with 16 cores, a GH200, and an
 * H100 with two strong sockets; and a tenth of the matrix in host memory, as the rival on a GH200
 * would have it. */
static const struct {
    const char *name;
    const char *forms[4];
} numbers[] = {
    {"ratio", {"ratio:0.02", "ratio:0.1", "ratio:0.25"}},
    {"nonzeros", {"nonzeros:0.1"}},
    {"adaptive", {"adaptive"}},
    {"spill", {"spill:0.1"}},
};

static void add_forms(const yoke_list_item *item, words *names)
{
    char form[STUDY_WORD];
    if (!item->form || !strchr(item->form, ':')) {
        words_add_once(names, item->name);
        return;
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (strcmp(numbers[i].name, item->name) != 0) continue;
        for (const char *const *f = numbers[i].forms; *f; f++) words_add_once(names, *f);
        return;
    }
    snprintf(form, sizeof form, "%.32s:0.1", item->name);
    words_add_once(names, form);
}

/* Those of the option, else all that the library knows. */
static void add_names(const bench_options *options, int axis, words *names)
{
    const words *asked = &options->axis[axis];
    yoke_list_item item;
    for (int i = 0; i < asked->count; i++) words_add_once(names, asked->word[i]);
    for (int k = 0; !asked->count && yoke_list(axis_kind[axis], k, &item); k++)
        add_forms(&item, names);
}

/* The rest of a configuration is the same in all cases. */
static configuration common(const bench_options *options)
{
    configuration c = {{NULL}};
    for (int i = AXIS_SOLVER; i < AXES; i++)
        if (options->axis[i].count) c.name[i] = options->axis[i].word[0];
    return c;
}

static void add(study_cases *cases, study_case one)
{
    study_case *grown = take("cases", cases->count + 1, sizeof *grown);
    if (cases->count) memcpy(grown, cases->item, (size_t)cases->count * sizeof *grown);
    free(cases->item);
    cases->item = grown;
    cases->item[cases->count++] = one;
}

static void add_alone(study_cases *cases, const bench_options *options, const char *partition)
{
    study_case one = {.asked = common(options), .label = take_copy(partition)};
    one.asked.name[AXIS_PARTITION] = partition;
    add(cases, one);
}

/* One owner with its matrix in its own memory needs no memory mode: that is the single owner. */
static int is_shared(const char *home, const char *partition)
{
    if (!strcmp(partition, "cpu") || !strcmp(partition, "auto")) return 0;
    return strcmp(partition, "gpu") != 0 || strcmp(home, "owner") != 0;
}

static void add_shared(study_cases *cases, const bench_options *options, const char *memory,
                       const char *home, const char *partition)
{
    char label[3 * STUDY_WORD];
    if (!is_shared(home, partition)) return;
    snprintf(label, sizeof label, "%.47s %.47s %.47s", memory, home, partition);
    study_case one = {.asked = common(options), .label = take_copy(label)};
    one.asked.name[AXIS_MEMORY] = memory;
    one.asked.name[AXIS_HOME] = home;
    one.asked.name[AXIS_PARTITION] = partition;
    add(cases, one);
}

static void add_rival(study_cases *cases, const char *name)
{
    for (int i = 0; i < cases->count; i++)
        if (!strcmp(cases->item[i].label, name)) return;
    add(cases, (study_case){.rival = name, .label = take_copy(name)});
}

study_cases study_cases_make(const bench_options *options)
{
    study_cases cases = {0};
    add_names(options, AXIS_MEMORY, &cases.memory);
    add_names(options, AXIS_HOME, &cases.home);
    add_names(options, AXIS_PARTITION, &cases.partition);
    add_alone(&cases, options, "cpu");
    add_alone(&cases, options, "gpu");
    add_alone(&cases, options, "auto");
    for (int m = 0; m < cases.memory.count; m++) {
        /* It joins parts on the CPU, which are one owner here. */
        if (!strcmp(cases.memory.word[m], "host")) continue;
        for (int h = 0; h < cases.home.count; h++)
            for (int p = 0; p < cases.partition.count; p++)
                add_shared(&cases, options, cases.memory.word[m], cases.home.word[h],
                           cases.partition.word[p]);
    }
    add_rival(&cases, "operations");
    for (int i = 0; i < options->vs.count; i++) add_rival(&cases, options->vs.word[i]);
    return cases;
}

void study_cases_free(study_cases *cases)
{
    for (int i = 0; i < cases->count; i++) free(cases->item[i].label);
    free(cases->item);
    words_free(&cases->memory);
    words_free(&cases->home);
    words_free(&cases->partition);
    *cases = (study_cases){0};
}
