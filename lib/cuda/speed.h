/* SPDX-License-Identifier: BSD-3-Clause */
/* speed.h: how fast a GPU's memories, link and launches are. */
#ifndef YK_CUDA_SPEED_H
#define YK_CUDA_SPEED_H

#include <yoke_tools.h>

/* As yoke_gpu_measure. */
yoke_status yk_gpu_measure(int number, yoke_gpu_speed *speed);

/* All but the counter of energy, which takes most of a second. */
yoke_status yk_gpu_measure_speeds(int number, yoke_gpu_speed *speed);

#endif
