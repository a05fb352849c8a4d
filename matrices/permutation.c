/* SPDX-License-Identifier: BSD-3-Clause */
/* permutation.c: the constants of a seeded permutation. */
#include "matrices/permutation.h"

#include "matrices/hash.h"

/* Inverse of an odd number modulo 2^64: Newton's iteration doubles the right bits, from 3. */
static uint64_t inverse_of(uint64_t odd)
{
    uint64_t inverse = odd;
    for (int bits = 3; bits < 64; bits *= 2) inverse *= 2 - odd * inverse;
    return inverse;
}

yk_permutation yk_permutation_make(uint64_t seed, uint64_t count)
{
    yk_permutation p = {.count = count};
    int bits = 0;
    while ((UINT64_C(1) << bits) < count) bits++;
    p.mask = (UINT64_C(1) << bits) - 1;
    p.fold = (bits + 1) / 2;
    for (int r = 0; r < YK_ROUNDS; r++) {
        p.add[r] = yk_hash(seed, 2 * (uint64_t)r);
        p.factor[r] = yk_hash(seed, 2 * (uint64_t)r + 1) | 1;
        p.inverse[r] = inverse_of(p.factor[r]);
    }
    return p;
}
