/* SPDX-License-Identifier: BSD-3-Clause */
/* flag.h: the words that cross owners: set with release, waited for with acquire.
 * What x86 forgives, Grace does not: no other file orders memory between owners but its twin on a
 * GPU, lib/cuda/flag.cuh. CUDA has no C11 atomics: to it a flag is a word of the same size and
 * place. */
#ifndef YK_FLAG_H
#define YK_FLAG_H

#include <assert.h>
#ifndef __CUDACC__
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <yoke_tools.h>
#endif

enum {
    YK_LINE = 64,  /* bytes: a word that one owner writes and others poll has its line alone */
    YK_SPINS = 256 /* looks before the first yield: about 10 us where a pause takes 140 cycles */
};

typedef struct yk_flag {
#ifdef __CUDACC__
    alignas(YK_LINE) unsigned value;
#else
    _Alignas(YK_LINE) atomic_uint value;
#endif
} yk_flag;

static_assert(sizeof(yk_flag) == YK_LINE, "a flag is a line, to C and to CUDA");

/* Raised by whoever gives up; everyone who waits sees it. */
typedef yk_flag yk_abort;

#ifndef __CUDACC__

static inline void yk_flag_set(yk_flag *flag, unsigned value)
{
    atomic_store_explicit(&flag->value, value, memory_order_release);
}

static inline unsigned yk_flag_get(yk_flag *flag)
{
    return atomic_load_explicit(&flag->value, memory_order_acquire);
}

/* Adds one and returns the sum: with release and acquire, so that the last to arrive sees what
 * all the others wrote. */
static inline unsigned yk_flag_arrive(yk_flag *flag)
{
    return atomic_fetch_add_explicit(&flag->value, 1, memory_order_acq_rel) + 1;
}

static inline void yk_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

/* Waits until the flag holds value; false if abort was raised or no answer came for `deadline`
 * seconds, and then abort is raised. A process that was stopped meanwhile is not blamed: of the
 * time between two looks at most 10 ms count. */
static inline bool yk_flag_wait(yk_flag *flag, unsigned value, yk_abort *abort, double deadline)
{
    for (int spins = 0; spins < YK_SPINS; spins++) {
        if (yk_flag_get(flag) == value) return true;
        yk_pause();
    }
    double before = yoke_seconds(), waited = 0.0;
    while (yk_flag_get(flag) != value) {
        if (yk_flag_get(abort)) return false;
        sched_yield();
        double now = yoke_seconds(), step = now - before;
        waited += step < 0.01 ? step : 0.01;
        before = now;
        if (waited > deadline) {
            yk_flag_set(abort, 1);
            return false;
        }
    }
    return true;
}

#endif

#endif
