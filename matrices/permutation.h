/* SPDX-License-Identifier: BSD-3-Clause */
/* permutation.h: seeded permutations of 0..count-1, computed at one place at a time, both ways.
 * Rounds of add, multiply by an odd number and fold the upper half of the bits into the lower, each
 * a bijection on b bits (the steps of SplitMix64's mix64, see hash.h), with 2^b < 2 count; results
 * beyond count walk on along their cycle: Black, Rogaway, "Ciphers with arbitrary finite domains",
 * CT-RSA 2002, section 3. */
#ifndef YK_PERMUTATION_H
#define YK_PERMUTATION_H

#include <stdint.h>

enum { YK_ROUNDS = 3 };

typedef struct yk_permutation {
    uint64_t count, mask;
    int fold;
    uint64_t add[YK_ROUNDS], factor[YK_ROUNDS], inverse[YK_ROUNDS];
} yk_permutation;

/* count: at least 1. */
yk_permutation yk_permutation_make(uint64_t seed, uint64_t count);

/* 2 fold >= b, so folding twice is the identity. */
static inline uint64_t yk_permute(const yk_permutation *p, uint64_t x)
{
    do {
        for (int r = 0; r < YK_ROUNDS; r++) {
            x = ((x + p->add[r]) * p->factor[r]) & p->mask;
            x ^= x >> p->fold;
        }
    } while (x >= p->count);
    return x;
}

static inline uint64_t yk_permute_back(const yk_permutation *p, uint64_t x)
{
    do {
        for (int r = YK_ROUNDS - 1; r >= 0; r--) {
            x ^= x >> p->fold;
            x = (x * p->inverse[r] - p->add[r]) & p->mask;
        }
    } while (x >= p->count);
    return x;
}

#endif
