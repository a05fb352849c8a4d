/* SPDX-License-Identifier: BSD-3-Clause */
/* calibrate.h: a profile's figures of a GPU. */
#ifndef YK_CUDA_CALIBRATE_H
#define YK_CUDA_CALIBRATE_H

#include "lib/calibrate.h"

/* As the table in lib/iface/gpu_tools.h says. */
void yk_gpu_calibrate(yk_calibration *c, int number);

/* Steps of it, which leave unknown what they could not measure. */
yoke_status yk_gpu_calibrate_speeds(yk_calibration *c, int number);
yoke_status yk_gpu_calibrate_sizes(yk_calibration *c, int number);
yoke_status yk_gpu_calibrate_gathers(yk_calibration *c, int number);
yoke_status yk_gpu_calibrate_multiprocessors(yk_calibration *c, int number);
yoke_status yk_gpu_calibrate_host(yk_calibration *c,
                                  int number); /* read and written over the link */
yoke_status yk_gpu_calibrate_copies(yk_calibration *c, int number); /* and a graph's launch */
yoke_status yk_gpu_calibrate_pages(yk_calibration *c, int number);

#endif
