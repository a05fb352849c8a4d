/* SPDX-License-Identifier: BSD-3-Clause */
/* sort_entries.c: insertion sort for short rows, heapsort (Williams, CACM 7, 1964, algorithm 232;
 * Floyd, algorithm 245) for long ones: no row, however given, takes quadratic time or memory. */
#include "lib/sort_entries.h"

#include <stdbool.h>

enum { SHORT_ROW = 32 };

static bool before(const yk_entry *a, const yk_entry *b)
{
    return a->column != b->column ? a->column < b->column : a->source < b->source;
}

static void insertion_sort(yk_entry *entry, int64_t count)
{
    for (int64_t i = 1; i < count; i++) {
        yk_entry moved = entry[i];
        int64_t to = i;
        for (; to > 0 && before(&moved, &entry[to - 1]); to--) entry[to] = entry[to - 1];
        entry[to] = moved;
    }
}

static void sift_down(yk_entry *entry, int64_t root, int64_t count)
{
    yk_entry moved = entry[root];
    for (;;) {
        int64_t child = 2 * root + 1;
        if (child >= count) break;
        if (child + 1 < count && before(&entry[child], &entry[child + 1])) child++;
        if (!before(&moved, &entry[child])) break;
        entry[root] = entry[child];
        root = child;
    }
    entry[root] = moved;
}

static void heap_sort(yk_entry *entry, int64_t count)
{
    for (int64_t root = count / 2 - 1; root >= 0; root--) sift_down(entry, root, count);
    for (int64_t last = count - 1; last > 0; last--) {
        yk_entry largest = entry[0];
        entry[0] = entry[last];
        entry[last] = largest;
        sift_down(entry, 0, last);
    }
}

static bool is_sorted(const yk_entry *entry, int64_t count)
{
    for (int64_t i = 1; i < count; i++)
        if (before(&entry[i], &entry[i - 1])) return false;
    return true;
}

void yk_sort_entries(yk_entry *entry, int64_t count)
{
    if (count <= SHORT_ROW)
        insertion_sort(entry, count);
    else if (!is_sorted(entry, count))
        heap_sort(entry, count);
}
