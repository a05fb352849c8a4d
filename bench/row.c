/* SPDX-License-Identifier: BSD-3-Clause */
/* row.c: the keys of a record, and a row's life. */
#include "bench/row.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <yoke_tools.h>

#include "bench/commit.h"
#include "bench/take.h"

enum { SCHEMA = 1 }; /* raise when a key changes its meaning */

const char *const rival_names[RIVALS] = {"petsc", "hypre", "cusparse", "operations"};

#define TEXT(key)                                                                                  \
    {                                                                                              \
        NULL, #key, FIELD_TEXT, offsetof(row, key)                                                 \
    }
#define COUNT(key)                                                                                 \
    {                                                                                              \
        NULL, #key, FIELD_COUNT, offsetof(row, key)                                                \
    }
#define NUMBER(group, key, member)                                                                 \
    {                                                                                              \
        group, key, FIELD_NUMBER, offsetof(row, member)                                            \
    }

/* clang-format off */
const field row_fields[] = {
    COUNT(schema), TEXT(version), TEXT(commit), TEXT(date), TEXT(machine), TEXT(driver_version),
    TEXT(matrix), COUNT(rows), COUNT(nonzeros), TEXT(memory), TEXT(home), TEXT(partition),
    COUNT(cpu_rows), COUNT(gpus), COUNT(ranks), COUNT(threads), TEXT(solver), TEXT(driver),
    TEXT(format), TEXT(shape), TEXT(precond), TEXT(effort), TEXT(reorder),
    NUMBER(NULL, "rtol", rtol), TEXT(outcome), COUNT(iterations),
    NUMBER("us_per_iteration", "median", us_median), NUMBER("us_per_iteration", "min", us_min),
    NUMBER("us_per_iteration", "max", us_max),
    NUMBER("seconds", "setup", setup), NUMBER("seconds", "transfer", transfer),
    NUMBER("seconds", "solve", solve), NUMBER("seconds", "upload", upload),
    NUMBER(NULL, "bytes_per_iteration", bytes), NUMBER(NULL, "gb_per_s", gb_per_s),
    NUMBER(NULL, "fraction_of_bandwidth", fraction),
    NUMBER(NULL, "residual_true", residual_true),
    NUMBER(NULL, "residual_recursive", residual_recursive), NUMBER(NULL, "joules", joules),
};
/* clang-format on */
const int row_field_count = (int)(sizeof row_fields / sizeof row_fields[0]);

row row_unknown(void)
{
    row nothing = {0}, *r = &nothing;
    for (int i = 0; i < row_field_count; i++) {
        void *at = (char *)r + row_fields[i].offset;
        if (row_fields[i].kind == FIELD_COUNT) *(int64_t *)at = -1;
        if (row_fields[i].kind == FIELD_NUMBER) *(double *)at = NAN;
    }
    for (int i = 0; i < RIVALS; i++) r->speedup[i] = NAN;
    return nothing;
}

row row_new(const char *matrix)
{
    row r = row_unknown();
    yoke_machine machine;
    yoke_machine_describe(&machine);
    char date[32] = "";
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    r.schema = SCHEMA;
    row_set(&r.version, yoke_version(NULL, NULL, NULL));
    row_set(&r.commit, YOKE_COMMIT);
    row_set(&r.date, date);
    row_set(&r.machine, *machine.cpu_name ? machine.cpu_name : NULL);
    row_set(&r.matrix, matrix);
    return r;
}

void row_free(row *r)
{
    for (int i = 0; i < row_field_count; i++)
        if (row_fields[i].kind == FIELD_TEXT)
            free(*(char **)(void *)((char *)r + row_fields[i].offset));
    free(r->configuration);
    free(r->settings);
    free(r->reason);
    free(r->history);
    free(r->each);
    free(r->roofline);
    words_free(&r->notices);
    words_free(&r->plans);
}

void row_set(char **text, const char *value)
{
    char *copy = take_copy(value);
    free(*text);
    *text = copy;
}

void row_set_gpu(row *r, int device)
{
    yoke_gpu gpu;
    char both[192];
    if (yoke_gpu_describe(device, &gpu) != YOKE_OK) return;
    if (r->machine)
        snprintf(both, sizeof both, "%s, %s", r->machine, gpu.name);
    else
        snprintf(both, sizeof both, "%s", gpu.name);
    row_set(&r->machine, both);
    row_set(&r->driver_version, *gpu.cuda_driver ? gpu.cuda_driver : NULL);
}

static void add_notice_once(row *r, const char *text)
{
    for (int i = 0; i < r->notices.count; i++)
        if (!strcmp(r->notices.word[i], text)) return;
    words_add(&r->notices, text);
}

void row_notice(row *r, const char *text)
{
    char *copy = take_copy(text), *rest = copy;
    while (rest) {
        char *line = strsep(&rest, "\n");
        if (*line) add_notice_once(r, line);
    }
    free(copy);
}

static void append_count(int64_t count, const char *what, char *text, size_t capacity)
{
    size_t used = strlen(text);
    snprintf(text + used, capacity - used, "%s%" PRId64 " %s%s", used ? " + " : "", count, what,
             count == 1 ? "" : "s");
}

static void append_ranks(int64_t ranks, char *text, size_t capacity)
{
    size_t used = strlen(text);
    snprintf(text + used, capacity - used, " x %" PRId64 " ranks", ranks);
}

void row_workers(const row *r, char *text, size_t capacity)
{
    text[0] = '\0';
    if (r->gpus > 0) append_count(r->gpus, "GPU", text, capacity);
    int shares_work = r->is_rival && r->memory; /* not by rows */
    if (r->gpus > 0 && r->cpu_rows == 0 && !shares_work) return;
    if (r->is_rival && !shares_work) {
        append_count(r->ranks, "rank", text, capacity);
        return;
    }
    append_count(r->threads, "thread", text, capacity);
    if (r->ranks > 1 && !r->is_rival) append_ranks(r->ranks, text, capacity);
}

void row_label(const row *r, char *label, size_t capacity)
{
    const char *home = r->home && strcmp(r->home, "owner") != 0 ? r->home : NULL;
    const char *const parts[] = {r->matrix, r->solver, r->memory, home,      r->partition,
                                 r->driver, r->format, r->shape,  r->precond};
    size_t used = 0;
    label[0] = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && used < capacity; i++)
        if (parts[i])
            used +=
                (size_t)snprintf(label + used, capacity - used, "%s%s", used ? " " : "", parts[i]);
}

void rows_add(row_list *list, row *r)
{
    row *grown = take("rows", list->count + 1, sizeof *grown);
    if (list->count) memcpy(grown, list->row, (size_t)list->count * sizeof *grown);
    free(list->row);
    list->row = grown;
    list->row[list->count++] = *r;
}

void rows_free(row_list *list)
{
    for (int i = 0; i < list->count; i++) row_free(&list->row[i]);
    free(list->row);
    *list = (row_list){0, NULL};
}
