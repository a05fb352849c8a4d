/* SPDX-License-Identifier: BSD-3-Clause */
/* timing.h: passes one by one, for who wants to know where an iteration's time goes. */
#ifndef YK_CG_TIMING_H
#define YK_CG_TIMING_H

#include "solvers/cg/cg.h"

/* An engine's clear and time_tasks: see yk_engine. The GPU's seconds are by events. */
void yk_cpu_clear(yk_cg *cg);
void yk_cpu_time_tasks(yk_cg *cg, const yk_task *task, int count, double *cpu, double *gpu);
void yk_gpu_clear(yk_cg *cg);
void yk_gpu_time_tasks(yk_cg *cg, const yk_task *task, int count, double *cpu, double *gpu);

enum { YK_MOST_TIMED = 8 /* tasks in a call */ };

#endif
