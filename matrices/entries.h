/* SPDX-License-Identifier: BSD-3-Clause */
/* entries.h: the body of a coordinate file, "row column [value]" a line, parsed in parallel. */
#ifndef YK_ENTRIES_H
#define YK_ENTRIES_H

#include "matrices/banner.h"
#include "matrices/triplets.h"

typedef struct yk_entries {
    yk_field field;
    int64_t rows, columns; /* at most INT32_MAX */
    int64_t promised;
    int threads;
} yk_entries;

/* Reads all entries behind the line last given out. YOKE_FORMAT names the first offending line. */
yoke_status yk_entries_read(yk_lines *lines, const yk_entries *expected, yk_triplets *triplets);

#endif
