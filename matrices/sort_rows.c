/* SPDX-License-Identifier: BSD-3-Clause */
/* sort_rows.c: the columns of each row into order, repeats summed in the order given. Most files
 * are in order already; short rows are sorted by insertion, long ones by merging. */
#include "matrices/sort_rows.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "lib/context.h"
#include "lib/prefix.h"
#include "lib/status.h"
#include "lib/threads.h"

enum { SHORT_ROW = 128 };

typedef struct item {
    int32_t column;
    double value;
} item;

typedef struct sorting {
    const yk_unsorted_rows *rows;
    int32_t *column;
    double *value;
    atomic_llong longest;   /* row left for merging */
    atomic_llong repeats;   /* entries that sums will swallow */
    atomic_llong ambiguous; /* the first such row */
    atomic_llong overflow;  /* the first row with a sum beyond a double */
    int64_t lanes;          /* threads that merge */
    item *space;            /* [lanes][2][longest] */
    int32_t *new_column;
    double *new_value;
    int64_t *new_start;
} sorting;

static void raise_to(atomic_llong *most, long long value)
{
    long long now = atomic_load(most);
    while (now < value && !atomic_compare_exchange_weak(most, &now, value)) {
    }
}

static void lower_to(atomic_llong *least, long long value)
{
    long long now = atomic_load(least);
    while (now > value && !atomic_compare_exchange_weak(least, &now, value)) {
    }
}

static int32_t place(int32_t column)
{
    return column & INT32_MAX;
}

static bool ascending(const int32_t *column, int64_t count)
{
    for (int64_t i = 1; i < count; i++)
        if (place(column[i - 1]) >= place(column[i])) return false;
    return true;
}

static void clear_marks(int32_t *column, int64_t count)
{
    for (int64_t i = 0; i < count; i++) column[i] = place(column[i]);
}

/* Of a row in order: notes the repeats and clears the marks, unless they tell of an ambiguity. */
static void note_repeats(sorting *s, int64_t row, int32_t *column, int64_t count)
{
    int64_t repeats = 0;
    bool ambiguous = false;
    for (int64_t i = 1; i < count; i++) {
        if (place(column[i]) != place(column[i - 1])) continue;
        repeats++;
        ambiguous |= column[i] != column[i - 1];
    }
    if (repeats > 0) atomic_fetch_add(&s->repeats, repeats);
    if (ambiguous)
        lower_to(&s->ambiguous, row);
    else
        clear_marks(column, count);
}

static void sort_by_insertion(int32_t *column, double *value, int64_t count)
{
    for (int64_t i = 1; i < count; i++) {
        int32_t c = column[i];
        double v = value[i];
        int64_t j = i;
        for (; j > 0 && place(column[j - 1]) > place(c); j--) {
            column[j] = column[j - 1];
            value[j] = value[j - 1];
        }
        column[j] = c;
        value[j] = v;
    }
}

static void sort_short_rows(void *user, int64_t first, int64_t last)
{
    sorting *s = user;
    for (int64_t row = first; row < last; row++) {
        int64_t begin = s->rows->start[row], count = s->rows->start[row + 1] - begin;
        int32_t *column = s->column + begin;
        if (ascending(column, count)) {
            clear_marks(column, count);
        } else if (count <= SHORT_ROW) {
            sort_by_insertion(column, s->value + begin, count);
            note_repeats(s, row, column, count);
        } else {
            raise_to(&s->longest, count);
        }
    }
}

static void merge(const item *from, item *to, int64_t middle, int64_t count)
{
    int64_t left = 0, right = middle;
    for (int64_t i = 0; i < count; i++) {
        bool take_left = left < middle &&
                         (right >= count || place(from[left].column) <= place(from[right].column));
        to[i] = from[take_left ? left++ : right++];
    }
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void sort_by_merging(int32_t *column, double *value, int64_t count, item *from, item *to)
{
    for (int64_t i = 0; i < count; i++) from[i] = (item){column[i], value[i]};
    for (int64_t width = 1; width < count; width *= 2) {
        for (int64_t i = 0; i < count; i += 2 * width) {
            int64_t both = lesser(2 * width, count - i);
            merge(from + i, to + i, lesser(width, both), both);
        }
        item *swap = from;
        from = to;
        to = swap;
    }
    for (int64_t i = 0; i < count; i++) {
        column[i] = from[i].column;
        value[i] = from[i].value;
    }
}

static void sort_long_rows(void *user, int64_t first, int64_t last)
{
    sorting *s = user;
    int64_t longest = atomic_load(&s->longest);
    for (int64_t lane = first; lane < last; lane++) {
        item *space = s->space + 2 * lane * longest;
        for (int64_t row = lane; row < s->rows->rows; row += s->lanes) {
            int64_t begin = s->rows->start[row], count = s->rows->start[row + 1] - begin;
            int32_t *column = s->column + begin;
            if (count <= SHORT_ROW || ascending(column, count)) continue;
            sort_by_merging(column, s->value + begin, count, space, space + longest);
            note_repeats(s, row, column, count);
        }
    }
}

/* So few threads that their space stays small beside the entries. */
static yoke_status sort_all(sorting *s)
{
    const yk_unsorted_rows *rows = s->rows;
    yk_parallel_for(rows->threads, rows->rows, 256, sort_short_rows, s);
    int64_t longest = atomic_load(&s->longest);
    if (longest == 0) return YOKE_OK;
    s->lanes = lesser(rows->threads, rows->start[rows->rows] / 16 / longest + 1);
    YK_TRY(yk_alloc(rows->context, "space to sort rows", 2 * s->lanes * longest, sizeof *s->space,
                    &s->space));
    yk_parallel_for(rows->threads, s->lanes, 1, sort_long_rows, s);
    yk_free(rows->context, s->space, 2 * s->lanes * longest, sizeof *s->space);
    return YOKE_OK;
}

static yoke_status refuse_overflow(const sorting *s, const char *name, int64_t row)
{
    int64_t i = s->rows->start[row];
    while (isfinite((*s->rows->value)[i])) i++;
    return yk_fail(YOKE_FORMAT,
                   "%s: the sum of the repeated entries (%lld, %lld) overflows a double", name,
                   (long long)row + 1, (long long)(*s->rows->column)[i] + 1);
}

static yoke_status refuse_ambiguous(const sorting *s, const char *name, int64_t row)
{
    const int32_t *column = s->column + s->rows->start[row];
    while (place(column[0]) != place(column[1]) || column[0] == column[1]) column++;
    return yk_fail(YOKE_FORMAT,
                   "%s: the file is symmetric but gives entry (%lld, %lld) in both triangles: keep "
                   "one of them, or write 'general'",
                   name, (long long)row + 1, (long long)place(column[0]) + 1);
}

static void count_places(void *user, int64_t first, int64_t last)
{
    sorting *s = user;
    for (int64_t row = first; row < last; row++) {
        int64_t begin = s->rows->start[row], end = s->rows->start[row + 1], places = begin < end;
        for (int64_t i = begin + 1; i < end; i++) places += s->column[i] != s->column[i - 1];
        s->new_start[row] = places;
    }
}

static void sum_repeats(void *user, int64_t first, int64_t last)
{
    sorting *s = user;
    for (int64_t row = first; row < last; row++) {
        int64_t to = s->new_start[row] - 1, begin = s->rows->start[row];
        for (int64_t i = begin; i < s->rows->start[row + 1]; i++) {
            if (i > begin && s->column[i] == s->column[i - 1]) {
                s->new_value[to] += s->value[i];
                continue;
            }
            s->new_column[++to] = s->column[i];
            s->new_value[to] = s->value[i];
        }
        for (int64_t i = s->new_start[row]; i <= to; i++)
            if (!isfinite(s->new_value[i])) lower_to(&s->overflow, row);
    }
}

static yoke_status make_shorter(sorting *s, int64_t *new_start)
{
    const yk_unsorted_rows *rows = s->rows;
    s->new_start = new_start;
    yk_parallel_for(rows->threads, rows->rows, 1024, count_places, s);
    yk_prefix_sum(rows->threads, rows->rows, new_start);
    int64_t now = new_start[rows->rows], before = rows->start[rows->rows];
    YK_TRY(yk_alloc(rows->context, "columns", now, sizeof *s->new_column, &s->new_column));
    yoke_status status =
        yk_alloc(rows->context, "values", now, sizeof *s->new_value, &s->new_value);
    if (status != YOKE_OK) {
        yk_free(rows->context, s->new_column, now, sizeof *s->new_column);
        return status;
    }
    yk_parallel_for(rows->threads, rows->rows, 1024, sum_repeats, s);
    yk_free(rows->context, s->column, before, sizeof *s->column);
    yk_free(rows->context, s->value, before, sizeof *s->value);
    *rows->column = s->new_column;
    *rows->value = s->new_value;
    memcpy(rows->start, new_start, (size_t)(rows->rows + 1) * sizeof *new_start);
    return YOKE_OK;
}

yoke_status yk_sort_rows(yk_unsorted_rows *rows, const char *name)
{
    sorting s = {.rows = rows, .column = *rows->column, .value = *rows->value};
    atomic_init(&s.longest, 0);
    atomic_init(&s.repeats, 0);
    atomic_init(&s.ambiguous, rows->rows);
    atomic_init(&s.overflow, rows->rows);
    YK_TRY(sort_all(&s));
    int64_t ambiguous = atomic_load(&s.ambiguous);
    if (ambiguous < rows->rows) return refuse_ambiguous(&s, name, ambiguous);
    if (atomic_load(&s.repeats) == 0) return YOKE_OK;
    int64_t *new_start;
    YK_TRY(yk_alloc(rows->context, "row starts", rows->rows + 1, sizeof *new_start, &new_start));
    yoke_status status = make_shorter(&s, new_start);
    yk_free(rows->context, new_start, rows->rows + 1, sizeof *new_start);
    int64_t overflow = atomic_load(&s.overflow);
    return overflow < rows->rows ? refuse_overflow(&s, name, overflow) : status;
}
