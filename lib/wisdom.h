/* SPDX-License-Identifier: BSD-3-Clause */
/* wisdom.h: what measuring plans found, kept in the context by the matrix's signature and what was
 * asked, so that the same plan need not be measured again. */
#ifndef YK_WISDOM_H
#define YK_WISDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yoke_tools.h>

typedef struct yk_wise {
    uint64_t signature;
    char asked[192]; /* one word: what was asked of the plan, and what it has to do with */
    bool patient;    /* found with more effort than "measure" */
    char driver[16], format[16];
    bool folded;
    double share; /* of the rows on the CPU, where that was measured; else negative */
} yk_wise;

/* What is known for signature and asked; patient: only what was found so. */
bool yk_wisdom_find(yoke_context *context, yk_wise *wise, bool patient);

/* In place of what was known for the same; without memory nothing is remembered. */
void yk_wisdom_remember(yoke_context *context, const yk_wise *wise);

/* All that a context knows is forgotten and freed, as it is destroyed. */
void yk_wisdom_free(yoke_context *context);

/* Of rows, nonzeros and pattern, whatever the values: of up to 4096 rows spread evenly, where they
 * begin, which any row's length before them changes, and up to 16 of their columns. Not 0. */
uint64_t yk_matrix_signature(const yoke_matrix *matrix);

/* Text to entries, of which there are at most so many. YOKE_FORMAT with the line; of another
 * machine, driver or version of the library: *stale, a sentence, and no entries. edited: its sum
 * does not fit. */
enum { YK_WISDOM_MOST = 4096 };
typedef struct yk_wisdom_text {
    yk_wise *wise; /* [count], by malloc */
    int count;
    bool begun; /* its first line was there */
    bool edited;
    char stale[256];
} yk_wisdom_text;
yoke_status yk_wisdom_parse(const char *text, size_t size, const char *where,
                            yk_wisdom_text *wisdom);

#endif
