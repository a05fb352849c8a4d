/* SPDX-License-Identifier: BSD-3-Clause */
/* table.c: a table for each matrix. What all of its rows share goes into the caption; the fastest
 * right answer is marked. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/explain.h"
#include "bench/launcher.h"
#include "bench/write_rows.h"

enum { CELL = 48 };

typedef struct column {
    const char *title;
    int words; /* names rather than figures: left aligned, into the caption when all agree */
    void (*print)(const row *r, char *cell);
} column;

static void print_text(const char *text, char *cell)
{
    snprintf(cell, CELL, "%s", text ? text : "-");
}

static void print_number(int digits, double value, char *cell)
{
    char text[CELL] = "-";
    if (isfinite(value)) snprintf(text, sizeof text, "%.*f", digits, value);
    print_text(text, cell);
}

#define TEXT_CELL(member)                                                                          \
    static void print_##member(const row *r, char *cell)                                           \
    {                                                                                              \
        print_text(r->member, cell);                                                               \
    }
TEXT_CELL(solver)
TEXT_CELL(precond)
TEXT_CELL(memory)
TEXT_CELL(home)
TEXT_CELL(partition)
TEXT_CELL(driver)
TEXT_CELL(format)
TEXT_CELL(shape)
TEXT_CELL(outcome)

static void print_workers(const row *r, char *cell)
{
    row_workers(r, cell, CELL);
}

/* Of the rows, in percent; with one owner it says nothing that "on" does not. */
static void print_cpu_share(const row *r, char *cell)
{
    int shared = r->gpus > 0 && r->cpu_rows > 0 && r->rows > 0;
    double share = shared ? 100.0 * (double)r->cpu_rows / (double)r->rows : NAN;
    print_number(share < 10.0 ? 2 : 1, share, cell);
}

static void print_iterations(const row *r, char *cell)
{
    snprintf(cell, CELL, "%" PRId64, r->iterations);
}

static void print_us(const row *r, char *cell)
{
    print_number(r->us_median < 100.0 ? 2 : 0, r->us_median, cell);
}

static void print_range(const row *r, char *cell)
{
    int digits = r->us_median < 100.0 ? 2 : 0;
    if (isfinite(r->us_min))
        snprintf(cell, CELL, "%.*f..%.*f", digits, r->us_min, digits, r->us_max);
    else
        print_text(NULL, cell);
}

static void print_rate(const row *r, char *cell)
{
    print_number(1, r->gb_per_s, cell);
}

static void print_fraction(const row *r, char *cell)
{
    print_number(2, r->fraction, cell);
}

static void print_solve(const row *r, char *cell)
{
    format_seconds(r->solve, cell, CELL);
}

static void print_residual(const row *r, char *cell)
{
    if (isfinite(r->residual_true))
        snprintf(cell, CELL, "%.2e", r->residual_true);
    else
        print_text(NULL, cell);
}

#define SPEEDUP_CELL(name, index)                                                                  \
    static void print_vs_##name(const row *r, char *cell)                                          \
    {                                                                                              \
        print_number(2, r->speedup[index], cell);                                                  \
    }
SPEEDUP_CELL(petsc, 0)
SPEEDUP_CELL(hypre, 1)
SPEEDUP_CELL(cusparse, 2)
SPEEDUP_CELL(operations, 3)

static const column columns[] = {
    {"solver", 1, print_solver},
    {"precond", 1, print_precond},
    {"memory", 1, print_memory},
    {"home", 1, print_home},
    {"partition", 1, print_partition},
    {"driver", 1, print_driver},
    {"format", 1, print_format},
    {"shape", 1, print_shape},
    {"on", 1, print_workers},
    {"% on CPU", 0, print_cpu_share},
    {"iterations", 0, print_iterations},
    {"us/iteration", 0, print_us},
    {"min..max", 0, print_range},
    {"GB/s", 0, print_rate},
    {"of read bw", 0, print_fraction},
    {"solve", 0, print_solve},
    {"residual", 0, print_residual},
    {"outcome", 1, print_outcome},
    {"x petsc", 0, print_vs_petsc},
    {"x hypre", 0, print_vs_hypre},
    {"x cusparse", 0, print_vs_cusparse},
    {"x operations", 0, print_vs_operations},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

typedef struct layout {
    const row *row;
    int count, best, colour;
    int shown[COLUMNS], width[COLUMNS];
} layout;

static int all_equal(const layout *l, int k)
{
    char first[CELL], cell[CELL];
    columns[k].print(&l->row[0], first);
    for (int i = 1; i < l->count; i++) {
        columns[k].print(&l->row[i], cell);
        if (strcmp(first, cell) != 0) return 0;
    }
    return 1;
}

/* A figure is left out when no row has it. */
static int all_unknown(const layout *l, int k)
{
    char cell[CELL];
    for (int i = 0; i < l->count; i++) {
        columns[k].print(&l->row[i], cell);
        if (strcmp(cell, "-") != 0) return 0;
    }
    return 1;
}

static void choose_columns(layout *l)
{
    char cell[CELL];
    for (int k = 0; k < COLUMNS; k++) {
        int keep = columns[k].print == print_outcome || columns[k].print == print_solver;
        l->shown[k] = keep || !(columns[k].words ? all_equal(l, k) : all_unknown(l, k));
        l->width[k] = (int)strlen(columns[k].title);
        for (int i = 0; i < l->count; i++) {
            columns[k].print(&l->row[i], cell);
            if ((int)strlen(cell) > l->width[k]) l->width[k] = (int)strlen(cell);
        }
    }
}

static void choose_best(layout *l)
{
    l->best = -1;
    for (int i = 0; i < l->count && l->count > 1; i++) {
        if (l->row[i].exit_code || !isfinite(l->row[i].us_median)) continue;
        if (l->best < 0 || l->row[i].solve < l->row[l->best].solve) l->best = i;
    }
}

static void write_caption(const layout *l, FILE *stream)
{
    char rows[CELL], nonzeros[CELL], cell[CELL];
    format_grouped(l->row[0].rows, rows, sizeof rows);
    format_grouped(l->row[0].nonzeros, nonzeros, sizeof nonzeros);
    fprintf(stream, "\n%s%s%s: %s rows, %s nonzeros", l->colour ? "\033[1m" : "", l->row[0].matrix,
            l->colour ? "\033[0m" : "", rows, nonzeros);
    for (int k = 0; k < COLUMNS; k++) {
        if (!columns[k].words || l->shown[k] || all_unknown(l, k)) continue;
        columns[k].print(&l->row[0], cell);
        int bare = columns[k].print == print_workers;
        fprintf(stream, "; %s%s%s", bare ? "" : columns[k].title, bare ? "" : " ", cell);
    }
    fputs("\n\n", stream);
}

/* row NULL: the titles. */
static void write_line(const layout *l, const row *r, int best, FILE *stream)
{
    char cell[CELL], line[1024] = "";
    size_t used = (size_t)snprintf(line, sizeof line, "%c", best ? '*' : ' ');
    for (int k = 0; k < COLUMNS && used + 64 < sizeof line; k++) {
        if (!l->shown[k]) continue;
        if (r)
            columns[k].print(r, cell);
        else
            print_text(columns[k].title, cell);
        used += (size_t)snprintf(line + used, sizeof line - used,
                                 columns[k].words ? " %-*s " : " %*s ", l->width[k], cell);
    }
    while (used && line[used - 1] == ' ') line[--used] = '\0';
    const char *on = !l->colour ? "" : !r ? "\033[2m" : best ? "\033[1;32m" : "";
    fprintf(stream, "%s%s%s\n", on, line, *on ? "\033[0m" : "");
}

/* Open MPI's launcher gives its ranks a terminal and hands what they write on to whatever it has
 * itself, a file perhaps. */
int wants_colour(FILE *stream)
{
    const char *term = getenv("TERM"), *no = getenv("NO_COLOR");
    if (launcher_is_there()) return 0;
    return isatty(fileno(stream)) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

void write_table(const row_list *rows, FILE *stream)
{
    for (int from = 0, to; from < rows->count; from = to) {
        to = from + 1;
        while (to < rows->count && !strcmp(rows->row[to].matrix, rows->row[from].matrix)) to++;
        layout l = {.row = rows->row + from, .count = to - from, .colour = wants_colour(stream)};
        choose_columns(&l);
        choose_best(&l);
        write_caption(&l, stream);
        write_line(&l, NULL, 0, stream);
        for (int i = 0; i < l.count; i++) write_line(&l, &l.row[i], i == l.best, stream);
        if (l.best >= 0) fputs("\n* the shortest solve\n", stream);
    }
}
