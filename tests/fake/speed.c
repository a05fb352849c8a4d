/* SPDX-License-Identifier: BSD-3-Clause */
/* speed.c: the kernels of measurements without a GPU. They touch what the real ones touch, once, so
 * that what is not there is found; how long they take means nothing. */
#include <sched.h>
#include <string.h>

#include "lib/cuda/bandwidth.h"
#include "lib/cuda/gather.h"
#include "lib/cuda/latency.h"
#include "lib/flag.h"
#include "lib/iface/gpu_tools.h"
#include "tests/fake/inside.h"

/* ------------------------------------------------------------------ sweeps */

typedef struct sweep_arguments {
    yk_gpu_sweep sweep;
    int what;
} sweep_arguments;

static void run_sweep(const void *arguments)
{
    const sweep_arguments *a = arguments;
    const yk_gpu_sweep *s = &a->sweep;
    int64_t count = s->tiles * YK_TILE, sums = (int64_t)s->blocks * YK_SWEEP_WARPS;
    fake_reach(s->memory, (size_t)count * sizeof(double), "a buffer");
    fake_reach(s->sums, (size_t)sums * sizeof(double), "sums");
    for (int64_t i = 0; i < count; i += YK_TILE) {
        if (a->what == YOKE_STREAM_READ)
            s->sums[i / YK_TILE % sums] = s->memory[i];
        else
            s->memory[i] = 1.0;
    }
}

int yk_gpu_sweep_launch(const yk_gpu_sweep *sweep, int what, int64_t passes, void *stream)
{
    sweep_arguments arguments = {*sweep, what};
    if (what < 0 || what > YK_STREAM_WRITE || passes < 1) return cudaErrorInvalidValue;
    return fake_launch(stream, run_sweep, &arguments, sizeof arguments);
}

/* ----------------------------------------------------------------- gathers */

static void run_gather(const void *arguments)
{
    const yk_gpu_gathers *g = arguments;
    fake_reach(g->vector, (g->mask + 1) * sizeof(double), "a vector");
    fake_reach(g->sums, (size_t)g->blocks * sizeof(double), "sums");
    for (int i = 0; i < g->blocks; i++) g->sums[i] = g->vector[(uint64_t)i * 77777u & g->mask];
}

int yk_gpu_gather_load(void)
{
    return fake_leave(fake_enter(FAKE_cudaFuncGetAttributes));
}

int yk_gpu_gather_launch(const yk_gpu_gathers *gathers, void *stream)
{
    if (gathers->mask & (gathers->mask + 1)) return cudaErrorInvalidValue; /* no power of two */
    return fake_launch(stream, run_gather, gathers, sizeof *gathers);
}

static void run_touch(const void *arguments)
{
    unsigned *word = *(unsigned *const *)arguments;
    fake_reach(word, sizeof *word, "a word");
    ++*word;
}

int yk_gpu_touch_launch(unsigned *word, void *stream)
{
    return fake_launch(stream, run_touch, &word, sizeof word);
}

/* --------------------------------------------------------------- latencies */

int yk_latency_load(void)
{
    return fake_leave(fake_enter(FAKE_cudaFuncGetAttributes));
}

static void run_nothing(const void *arguments)
{
    (void)arguments;
}

int yk_latency_nothing(void *stream)
{
    return fake_launch(stream, run_nothing, "", 1);
}

int yk_latency_barriers(int blocks, int count, void *stream)
{
    if (blocks < 1 || count < 0) return cudaErrorInvalidValue;
    return fake_launch(stream, run_nothing, "", 1);
}

typedef struct answer_arguments {
    yk_flag *ping, *pong;
    yk_abort *abort;
    unsigned rounds;
    double deadline;
} answer_arguments;

static bool pinged(const answer_arguments *a, unsigned round, double until)
{
    while (yk_flag_get(a->ping) < round) {
        if (yk_flag_get(a->abort) || yoke_seconds() > until) return false;
        sched_yield();
    }
    return true;
}

static void run_answer(const void *arguments)
{
    const answer_arguments *a = arguments;
    fake_reach(a->ping, sizeof *a->ping, "a flag");
    fake_reach(a->pong, sizeof *a->pong, "a flag");
    double until = yoke_seconds() + a->deadline;
    int paused = fake_pause();
    for (unsigned i = 1; i <= a->rounds && pinged(a, i, until); i++) yk_flag_set(a->pong, i);
    fake_resume(paused);
}

int yk_latency_answer(const unsigned *ping, unsigned *pong, const unsigned *abort, unsigned rounds,
                      unsigned long long deadline, void *stream)
{
    answer_arguments arguments = {(yk_flag *)(uintptr_t)ping, (yk_flag *)(void *)pong,
                                  (yk_abort *)(uintptr_t)abort, rounds, 1e-9 * (double)deadline};
    return fake_launch_waiting(stream, run_answer, &arguments, sizeof arguments);
}
