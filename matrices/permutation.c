/* SPDX-License-Identifier: BSD-3-Clause */
/* permutation.c: the constants of a seeded permutation. */
#include "matrices/permutation.h"

#include "matrices/hash.h"

/* The least width with width^2 >= count. */
static uint32_t width_of(uint32_t count)
{
    uint32_t width = 1;
    while ((uint64_t)width * width < count) width++;
    return width;
}

yk_permutation yk_permutation_make(uint64_t seed, uint32_t count)
{
    yk_permutation p = {.count = count, .width = width_of(count)};
    p.height = (count + p.width - 1) / p.width;
    for (int r = 0; r < YK_ROUNDS; r++) {
        p.add[r] = yk_hash(seed, 2 * (uint64_t)r);
        p.factor[r] = yk_hash(seed, 2 * (uint64_t)r + 1);
    }
    return p;
}
