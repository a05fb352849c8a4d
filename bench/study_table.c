/* SPDX-License-Identifier: BSD-3-Clause */
/* study_table.c: a table for each matrix: how fast each configuration is beside the best single
 * owner. A line is a memory mode and a home, a column a partition; what has no figure has a letter,
 * and the letters are explained below. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "bench/explain.h"
#include "bench/study.h"
#include "bench/write_rows.h"

enum { CELL = 32, WIDTH = 10 };

typedef struct table {
    const row_list *rows;
    const char *matrix;
    double base, best;                              /* us an iteration */
    words labels, lines, columns, refused, reasons; /* refused: memory modes */
    int colour;
} table;

/* "a" to "z", then "aa". */
static void letters_of(int number, char *text, size_t capacity)
{
    if (number < 26)
        snprintf(text, capacity, "%c", 'a' + number);
    else
        snprintf(text, capacity, "%c%c", 'a' + (number / 26 - 1) % 26, 'a' + number % 26);
}

static int number_of(words *list, const char *text)
{
    words_add_once(list, text);
    int i = 0;
    while (strcmp(list->word[i], text) != 0) i++;
    return i;
}

/* "0.91", "a" for what cannot run, "!a" for what failed. */
static void print_cell(table *t, const row *r, char *cell)
{
    char letters[4], reason[STUDY_REASON];
    snprintf(cell, CELL, ".");
    if (!r) return;
    if (study_state_of(r) == STUDY_RAN) {
        if (isfinite(t->base))
            snprintf(cell, CELL, "%s%.2f", r->us_median == t->best ? "*" : "",
                     t->base / r->us_median);
        else
            snprintf(cell, CELL, "%.1f us", r->us_median);
        return;
    }
    study_reason(r, reason);
    letters_of(number_of(&t->reasons, reason), letters, sizeof letters);
    snprintf(cell, CELL, "%s%s", study_state_of(r) == STUDY_FAILED ? "!" : "", letters);
}

static void write_cell(const table *t, const char *cell, int width, FILE *stream)
{
    int best = cell[0] == '*';
    const char *on = !t->colour ? "" : best ? "\033[1;32m" : cell[0] == '!' ? "\033[1;31m" : "";
    fprintf(stream, "  %s%*s%s", on, width, cell, *on ? "\033[0m" : "");
}

/* ----------------------------------------------------------------- caption */

/* Of those that ran. */
static void find_iterations(const table *t, int64_t *least, int64_t *most)
{
    *least = INT64_MAX;
    *most = 0;
    for (int i = 0; i < t->rows->count; i++) {
        const row *r = &t->rows->row[i];
        if (strcmp(r->matrix, t->matrix) != 0 || study_state_of(r) != STUDY_RAN) continue;
        if (r->iterations < *least) *least = r->iterations;
        if (r->iterations > *most) *most = r->iterations;
    }
}

static void write_size(const table *t, FILE *stream)
{
    char rows[CELL], nonzeros[CELL];
    for (int i = 0; i < t->rows->count; i++) {
        const row *r = &t->rows->row[i];
        if (strcmp(r->matrix, t->matrix) != 0 || r->rows < 0) continue;
        format_grouped(r->rows, rows, sizeof rows);
        format_grouped(r->nonzeros, nonzeros, sizeof nonzeros);
        fprintf(stream, ": %s rows, %s nonzeros", rows, nonzeros);
        return;
    }
}

static const char *best_owner(const table *t)
{
    const row *cpu = study_find(t->rows, t->matrix, "cpu");
    int is_cpu = cpu && study_state_of(cpu) == STUDY_RAN && cpu->us_median == t->base;
    return is_cpu ? "cpu" : "gpu";
}

static void write_caption(const table *t, FILE *stream)
{
    int64_t least, most;
    char time[CELL];
    fprintf(stream, "\n%s%s%s", t->colour ? "\033[1m" : "", t->matrix, t->colour ? "\033[0m" : "");
    write_size(t, stream);
    find_iterations(t, &least, &most);
    if (most > 0 && least < most)
        fprintf(stream, "; %" PRId64 " to %" PRId64 " iterations", least, most);
    else if (most > 0)
        fprintf(stream, "; %" PRId64 " iterations", most);
    format_seconds(t->base * 1e-6, time, sizeof time);
    if (isfinite(t->base))
        fprintf(stream, "\nspeed; the best single owner, %s, %s an iteration, is 1.00\n\n",
                best_owner(t), time);
    else
        fputs("\nno single owner ran\n\n", stream);
}

/* -------------------------------------------------------------------- body */

static void write_alone(table *t, FILE *stream)
{
    char cell[CELL];
    study_place place;
    for (int i = 0; i < t->labels.count; i++) {
        const char *label = t->labels.word[i];
        if (study_place_of(label, &place)) continue;
        print_cell(t, study_find(t->rows, t->matrix, label), cell);
        fprintf(stream, "  %s", label);
        write_cell(t, cell, 0, stream);
        fputs(i + 1 < t->labels.count ? "  " : "", stream);
    }
    fputc('\n', stream);
}

/* Whether no configuration of a memory mode can run, for one reason, which it then is. */
static int is_refused(const table *t, const char *memory, char reason[STUDY_REASON])
{
    char other[STUDY_REASON];
    study_place place;
    *reason = '\0';
    for (int i = 0; i < t->labels.count; i++) {
        if (!study_place_of(t->labels.word[i], &place) || strcmp(place.memory, memory) != 0)
            continue;
        const row *r = study_find(t->rows, t->matrix, t->labels.word[i]);
        if (!r || study_state_of(r) != STUDY_CANNOT_RUN) return 0;
        study_reason(r, other);
        if (*reason && strcmp(reason, other) != 0) return 0;
        memcpy(reason, other, sizeof other);
    }
    return *reason != '\0';
}

/* Lines are "memory home". */
static void find_grid(table *t)
{
    char line[2 * STUDY_WORD], reason[STUDY_REASON];
    study_place place;
    for (int i = 0; i < t->labels.count; i++) /* the single owner's column first */
        if (study_place_of(t->labels.word[i], &place) && !strcmp(place.partition, "gpu"))
            words_add_once(&t->columns, place.partition);
    for (int i = 0; i < t->labels.count; i++) {
        if (!study_place_of(t->labels.word[i], &place)) continue;
        if (is_refused(t, place.memory, reason)) {
            words_add_once(&t->refused, place.memory);
            continue;
        }
        snprintf(line, sizeof line, "%s %s", place.memory, place.home);
        words_add_once(&t->lines, line);
        words_add_once(&t->columns, place.partition);
    }
}

static int width_of(const char *title)
{
    int length = (int)strlen(title);
    return length > WIDTH ? length : WIDTH;
}

static void write_grid(table *t, FILE *stream)
{
    char label[3 * STUDY_WORD], cell[CELL];
    find_grid(t);
    if (!t->lines.count) return;
    fprintf(stream, "\n%s  %-20s", t->colour ? "\033[2m" : "", "memory home");
    for (int k = 0; k < t->columns.count; k++)
        fprintf(stream, "  %*s", width_of(t->columns.word[k]), t->columns.word[k]);
    fprintf(stream, "%s\n", t->colour ? "\033[0m" : "");
    for (int i = 0; i < t->lines.count; i++) {
        fprintf(stream, "  %-20s", t->lines.word[i]);
        for (int k = 0; k < t->columns.count; k++) {
            snprintf(label, sizeof label, "%.95s %.47s", t->lines.word[i], t->columns.word[k]);
            print_cell(t, study_find(t->rows, t->matrix, label), cell);
            write_cell(t, cell, width_of(t->columns.word[k]), stream);
        }
        fputc('\n', stream);
    }
}

/* Memory modes of which nothing runs, then the letters. */
static void write_reasons(const table *t, FILE *stream)
{
    char letters[4], reason[STUDY_REASON];
    if (t->refused.count || t->reasons.count) fputc('\n', stream);
    for (int i = 0; i < t->refused.count; i++) {
        is_refused(t, t->refused.word[i], reason);
        fprintf(stream, "  %-9s cannot run: %s\n", t->refused.word[i], reason);
    }
    for (int i = 0; i < t->reasons.count; i++) {
        letters_of(i, letters, sizeof letters);
        fprintf(stream, "  %-9s %s\n", letters, t->reasons.word[i]);
    }
}

static void write_one(table *t, FILE *stream)
{
    t->base = study_base(t->rows, t->matrix);
    t->best = study_best(t->rows, t->matrix);
    write_caption(t, stream);
    write_alone(t, stream);
    write_grid(t, stream);
    write_reasons(t, stream);
    words_free(&t->lines);
    words_free(&t->columns);
    words_free(&t->refused);
    words_free(&t->reasons);
}

void write_study_table(const row_list *rows, FILE *stream)
{
    words matrices = {0, NULL};
    table t = {.rows = rows, .colour = wants_colour(stream)};
    study_names(rows, &matrices, &t.labels);
    for (int i = 0; i < matrices.count; i++) {
        t.matrix = matrices.word[i];
        write_one(&t, stream);
    }
    if (rows->count) fputs("\n* the fastest of ours\n", stream);
    words_free(&matrices);
    words_free(&t.labels);
}
