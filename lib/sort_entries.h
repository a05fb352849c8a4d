/* SPDX-License-Identifier: BSD-3-Clause */
/* sort_entries.h: the entries of one row, sorted in place. */
#ifndef YK_SORT_ENTRIES_H
#define YK_SORT_ENTRIES_H

#include <stdint.h>

typedef struct yk_entry {
    int64_t source; /* where its value was given */
    int32_t column;
} yk_entry;

/* By column, then by source. Takes no memory; fast on what is nearly sorted. */
void yk_sort_entries(yk_entry *entry, int64_t count);

#endif
