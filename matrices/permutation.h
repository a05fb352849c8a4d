/* SPDX-License-Identifier: BSD-3-Clause */
/* permutation.h: seeded permutations of 0..count-1, computed at one place at a time, both ways.
 * A generalised Feistel network on left * width + right, with height * width barely above count, so
 * that results beyond count, which walk on along their cycle, are rare and no branch is
 * mispredicted (powers of two took three times as long): Black, Rogaway, "Ciphers with arbitrary
 * finite domains", CT-RSA 2002, sections 3 and 5. Not a cipher: its rounds only have to look
 * random. */
#ifndef YK_PERMUTATION_H
#define YK_PERMUTATION_H

#include <stdint.h>

enum { YK_ROUNDS = 4 }; /* even: rounds come in pairs */

typedef struct yk_permutation {
    uint32_t count, width, height;
    uint64_t add[YK_ROUNDS], factor[YK_ROUNDS];
} yk_permutation;

/* count: 1 to 2^31. */
yk_permutation yk_permutation_make(uint64_t seed, uint32_t count);

/* In [0, below): the upper half of a x + b modulo 2^64, a strongly universal family
 * (Dietzfelbinger, "Universal hashing and k-wise independent random variables via integer
 * arithmetic without primes", STACS 1996), scaled by a multiplication. */
static inline uint32_t yk_round(const yk_permutation *p, int round, uint32_t half, uint32_t below)
{
    uint64_t h = half * p->factor[round] + p->add[round];
    return (uint32_t)((h >> 32) * below >> 32);
}

/* (a + b) and (a - b) modulo m, of numbers below m. Masks, because a compiler that branches here
 * mispredicts every second time. */
static inline uint32_t yk_add_modulo(uint32_t a, uint32_t b, uint32_t m)
{
    uint32_t sum = a + b;
    return sum - (m & -(uint32_t)(sum >= m));
}

static inline uint32_t yk_subtract_modulo(uint32_t a, uint32_t b, uint32_t m)
{
    return a - b + (m & -(uint32_t)(a < b));
}

static inline uint32_t yk_permute(const yk_permutation *p, uint32_t x)
{
    do {
        uint32_t left = x / p->width, right = x % p->width;
#pragma GCC unroll 2
        for (int r = 0; r < YK_ROUNDS; r += 2) {
            left = yk_add_modulo(left, yk_round(p, r, right, p->height), p->height);
            right = yk_add_modulo(right, yk_round(p, r + 1, left, p->width), p->width);
        }
        x = left * p->width + right;
    } while (x >= p->count);
    return x;
}

static inline uint32_t yk_permute_back(const yk_permutation *p, uint32_t x)
{
    do {
        uint32_t left = x / p->width, right = x % p->width;
#pragma GCC unroll 2
        for (int r = YK_ROUNDS - 2; r >= 0; r -= 2) {
            right = yk_subtract_modulo(right, yk_round(p, r + 1, left, p->width), p->width);
            left = yk_subtract_modulo(left, yk_round(p, r, right, p->height), p->height);
        }
        x = left * p->width + right;
    } while (x >= p->count);
    return x;
}

#endif
