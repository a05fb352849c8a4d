/* SPDX-License-Identifier: BSD-3-Clause */
/* wisdom_table.h: what a context knows, for the files that hold its lock. */
#ifndef YK_WISDOM_TABLE_H
#define YK_WISDOM_TABLE_H

#include "lib/wisdom.h"

typedef struct yk_wisdom {
    yk_wise *wise; /* [count], the oldest first */
    int count, capacity;
    int64_t used, measured; /* plans that were not measured, and that were */
} yk_wisdom;

/* One lock for all contexts. */
void yk_wisdom_hold(void);
void yk_wisdom_release(void);

/* Under the lock. */
void yk_wisdom_put(yoke_context *context, const yk_wise *wise);

#endif
