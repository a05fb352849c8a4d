/* SPDX-License-Identifier: BSD-3-Clause */
/* prefix.c: prefix sums in two passes over blocks: sums of blocks, then sums within each. */
#include "lib/prefix.h"

#include "lib/threads.h"

enum { BLOCKS = 256, SMALLEST_BLOCK = 4096 };

typedef struct prefix {
    int64_t rows, block;    /* rows of a block */
    int64_t before[BLOCKS]; /* of each block */
    int64_t *start;
} prefix;

static int64_t block_end(const prefix *p, int64_t b)
{
    return (b + 1) * p->block < p->rows ? (b + 1) * p->block : p->rows;
}

static void sum_blocks(void *user, int64_t first, int64_t last)
{
    prefix *p = user;
    for (int64_t b = first; b < last; b++) {
        int64_t sum = 0;
        for (int64_t i = b * p->block; i < block_end(p, b); i++) sum += p->start[i];
        p->before[b] = sum;
    }
}

static int64_t exclusive(int64_t *array, int64_t first, int64_t last, int64_t sum)
{
    for (int64_t i = first; i < last; i++) {
        int64_t length = array[i];
        array[i] = sum;
        sum += length;
    }
    return sum;
}

static void start_blocks(void *user, int64_t first, int64_t last)
{
    prefix *p = user;
    for (int64_t b = first; b < last; b++)
        exclusive(p->start, b * p->block, block_end(p, b), p->before[b]);
}

void yk_prefix_sum(int threads, int64_t rows, int64_t *start)
{
    prefix p = {.rows = rows, .block = (rows + BLOCKS - 1) / BLOCKS, .start = start};
    if (p.block < SMALLEST_BLOCK) p.block = SMALLEST_BLOCK;
    int64_t blocks = (rows + p.block - 1) / p.block;
    yk_parallel_for(threads, blocks, 1, sum_blocks, &p);
    start[rows] = exclusive(p.before, 0, blocks, 0);
    yk_parallel_for(threads, blocks, 1, start_blocks, &p);
}
