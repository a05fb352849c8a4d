/* SPDX-License-Identifier: BSD-3-Clause */
/* cuthill_mckee.c: rows by breadth-first search, neighbours with fewer entries first, backwards. */
#include "lib/cuthill_mckee.h"

#include <string.h>

#include "lib/context.h"

/* Searches for a start end once levels grow no more, or after these: each reads the component. */
enum { MOST_SEARCHES = 6 };

/* Longer lists of neighbours are sorted by digits. */
enum { SHORT_LIST = 32, DIGITS = 256 };

enum { UNSEEN, SEEN, NUMBERED };

typedef struct walk {
    const yk_csr *csr;
    uint8_t *mark;    /* [rows] */
    int32_t *scratch; /* [rows]: the queue of a search, or a list while it is sorted */
} walk;

typedef struct levels {
    int64_t count;       /* rows reached */
    int64_t last, depth; /* the last level begins at `last` of the queue */
} levels;

static int64_t length_of(const walk *w, int32_t row)
{
    return yk_row_start(w->csr, (int64_t)row + 1) - yk_row_start(w->csr, row);
}

/* Puts the row's unseen neighbours behind those in the queue, with a mark; returns their end. */
static int64_t push_neighbours(const walk *w, int32_t row, uint8_t mark, int32_t *queue,
                               int64_t end)
{
    int64_t last = yk_row_start(w->csr, (int64_t)row + 1);
    for (int64_t k = yk_row_start(w->csr, row); k < last; k++) {
        int32_t column = w->csr->column[k];
        if (w->mark[column] != UNSEEN) continue;
        w->mark[column] = mark;
        queue[end++] = column;
    }
    return end;
}

/* ------------------------------------------------------------------- start */

/* The level structure of the component that holds root; it is unseen again afterwards. */
static levels search(const walk *w, int32_t root)
{
    levels l = {.count = 1};
    w->scratch[0] = root;
    w->mark[root] = SEEN;
    for (int64_t first = 0; first < l.count; l.depth++) {
        int64_t end = l.count;
        l.last = first;
        for (; first < end; first++)
            l.count = push_neighbours(w, w->scratch[first], SEEN, w->scratch, l.count);
    }
    for (int64_t i = 0; i < l.count; i++) w->mark[w->scratch[i]] = UNSEEN;
    return l;
}

static int32_t shortest_in_last_level(const walk *w, const levels *l)
{
    int32_t best = w->scratch[l->last];
    for (int64_t i = l->last + 1; i < l->count; i++)
        if (length_of(w, w->scratch[i]) < length_of(w, best)) best = w->scratch[i];
    return best;
}

/* A row that is nearly as far from some other as any two of the component are. */
static int32_t pseudo_peripheral(const walk *w, int32_t root)
{
    int64_t depth = 0;
    for (int i = 0; i < MOST_SEARCHES; i++) {
        levels l = search(w, root);
        if (l.depth <= depth) break;
        depth = l.depth;
        if (l.count > 1) root = shortest_in_last_level(w, &l);
    }
    return root;
}

/* ------------------------------------------------------------------ number */

static void insertion_sort(const walk *w, int32_t *list, int64_t count)
{
    for (int64_t i = 1; i < count; i++) {
        int32_t moved = list[i];
        int64_t to = i, length = length_of(w, moved);
        for (; to > 0 && length_of(w, list[to - 1]) > length; to--) list[to] = list[to - 1];
        list[to] = moved;
    }
}

/* One stable pass by the digit of the length that begins at a bit. */
static void sort_by_digit(const walk *w, int shift, const int32_t *from, int64_t count, int32_t *to)
{
    int64_t before[DIGITS] = {0}, sum = 0;
    for (int64_t i = 0; i < count; i++) before[length_of(w, from[i]) >> shift & (DIGITS - 1)]++;
    for (int d = 0; d < DIGITS; d++) {
        int64_t of_digit = before[d];
        before[d] = sum;
        sum += of_digit;
    }
    for (int64_t i = 0; i < count; i++)
        to[before[length_of(w, from[i]) >> shift & (DIGITS - 1)]++] = from[i];
}

/* By length; equal ones stay in their order. */
static void sort_by_length(const walk *w, int32_t *list, int64_t count)
{
    int64_t longest = 0;
    if (count <= SHORT_LIST) {
        insertion_sort(w, list, count);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        if (length_of(w, list[i]) > longest) longest = length_of(w, list[i]);
    for (int shift = 0; longest >> shift > 0; shift += 8) {
        sort_by_digit(w, shift, list, count, w->scratch);
        memcpy(list, w->scratch, (size_t)count * sizeof *list);
    }
}

/* Numbers root's component from `first` on; returns the end. */
static int64_t number_component(const walk *w, int32_t root, int32_t *order, int64_t first)
{
    int64_t end = first + 1;
    order[first] = root;
    w->mark[root] = NUMBERED;
    for (int64_t i = first; i < end; i++) {
        int64_t before = end;
        end = push_neighbours(w, order[i], NUMBERED, order, end);
        sort_by_length(w, order + before, end - before);
    }
    return end;
}

static void reverse(int32_t *order, int64_t count)
{
    for (int64_t i = 0, j = count - 1; i < j; i++, j--) {
        int32_t moved = order[i];
        order[i] = order[j];
        order[j] = moved;
    }
}

static void number_all(const walk *w, int32_t *order)
{
    int64_t rows = w->csr->rows, count = 0;
    memset(w->mark, UNSEEN, (size_t)rows);
    for (int64_t i = 0; i < rows; i++) {
        if (w->mark[i] == UNSEEN)
            count = number_component(w, pseudo_peripheral(w, (int32_t)i), order, count);
        if (w->mark[i] == UNSEEN) /* entries without a mirror image lead there, and not back */
            count = number_component(w, (int32_t)i, order, count);
    }
    reverse(order, rows);
}

yoke_status yk_cuthill_mckee(yoke_context *context, const yk_csr *csr, int32_t *order)
{
    walk w = {.csr = csr};
    yoke_status status =
        yk_alloc(context, "marks of the reordering", csr->rows, sizeof *w.mark, &w.mark);
    if (status == YOKE_OK)
        status =
            yk_alloc(context, "queue of the reordering", csr->rows, sizeof *w.scratch, &w.scratch);
    if (status == YOKE_OK) number_all(&w, order);
    yk_free(context, w.scratch, csr->rows, sizeof *w.scratch);
    yk_free(context, w.mark, csr->rows, sizeof *w.mark);
    return status;
}
