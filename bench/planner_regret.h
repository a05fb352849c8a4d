/* SPDX-License-Identifier: BSD-3-Clause */
/* planner_regret.h: which configurations the planner is judged on, and which plans each has. */
#ifndef BENCH_PLANNER_REGRET_H
#define BENCH_PLANNER_REGRET_H

#include <yoke_tools.h>

/* A matrix, and what of this machine may be used: 0, all. */
typedef struct judged {
    const char *spec;
    int threads, gpu_sms;
    double gpu_memory; /* share of what the GPU's plan takes, up to 1 */
} judged;

/* The k-th of the built-in configurations; 0 past the end. */
int judged_at(int k, int on_gpu, judged *config);

/* The k-th plan that can be forced, by name; 0 past the end. It may be refused all the same. */
int forced_at(int k, int on_gpu, const judged *config, yoke_plan_options *planning);

#endif
