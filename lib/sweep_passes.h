/* SPDX-License-Identifier: BSD-3-Clause */
/* sweep_passes.h: the loops of sweep.c, included once for each level with
 * VECTOR: a vector type as wide as the level's registers; a wider one is spilled by gcc 12;
 * TARGET: the attribute that allows them;
 * NAME(x): x with the level's name. */

/* Eight sums, so that no addition waits for the one before. The prefetch crosses into the next
 * page, where the hardware's stops: 11 % on one core of a Sapphire Rapids. */
#define STEP(k)                                                                                    \
    if ((k) * sizeof(VECTOR) % 64 == 0) __builtin_prefetch((const char *)(at + i + (k)) + AHEAD);  \
    s##k += at[i + (k)]

TARGET static double NAME(read)(const double *a, size_t lines)
{
    const VECTOR *at = (const VECTOR *)a;
    size_t count = lines * 64 / sizeof(VECTOR), i = 0;
    VECTOR s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0}, s6 = {0}, s7 = {0};
    for (; i + 8 <= count; i += 8) {
        STEP(0);
        STEP(1);
        STEP(2);
        STEP(3);
        STEP(4);
        STEP(5);
        STEP(6);
        STEP(7);
    }
    for (; i < count; i++) s0 += at[i];
    VECTOR sum = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7));
    double all = 0;
    for (size_t k = 0; k < sizeof sum / sizeof all; k++) all += sum[k];
    return all;
}

TARGET static void NAME(copy)(double *restrict c, const double *restrict a, size_t lines)
{
    VECTOR *to = (VECTOR *)c;
    const VECTOR *from = (const VECTOR *)a;
    size_t count = lines * 64 / sizeof(VECTOR);
    for (size_t i = 0; i < count; i++) to[i] = from[i];
}

TARGET static void NAME(triad)(double *restrict a, const double *restrict b,
                               const double *restrict c, double scale, size_t lines)
{
    VECTOR *to = (VECTOR *)a;
    const VECTOR *from = (const VECTOR *)b, *scaled = (const VECTOR *)c;
    size_t count = lines * 64 / sizeof(VECTOR);
    for (size_t i = 0; i < count; i++) to[i] = from[i] + scale * scaled[i];
}

static const sweeps NAME(sweeps) = {NAME(read), NAME(copy), NAME(triad)};

#undef STEP
#undef VECTOR
#undef TARGET
#undef NAME
