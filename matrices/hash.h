/* SPDX-License-Identifier: BSD-3-Clause */
/* hash.h: numbers that look random but depend on their counter alone, so that any row can be made
 * by any thread. SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
 * OOPSLA 2014, figure 15 (mix64 of a counter times the golden gamma). */
#ifndef YK_HASH_H
#define YK_HASH_H

#include <stdint.h>

static inline uint64_t yk_mix64(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* The counter-th number of the stream that begins at seed. */
static inline uint64_t yk_hash(uint64_t seed, uint64_t counter)
{
    return yk_mix64(seed + (counter + 1) * 0x9e3779b97f4a7c15u);
}

/* In [0, 1), 53 bits. */
static inline double yk_uniform(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1p-53;
}

#endif
