/* SPDX-License-Identifier: BSD-3-Clause */
/* describe.h: what a GPU is. */
#ifndef YK_CUDA_DESCRIBE_H
#define YK_CUDA_DESCRIBE_H

#include <yoke_tools.h>

/* As yoke_gpu_describe. */
yoke_status yk_gpu_describe(int number, yoke_gpu *gpu);

#endif
