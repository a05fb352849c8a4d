/* SPDX-License-Identifier: BSD-3-Clause */
/* nvml.h: the board's energy, its link and its driver's version by NVIDIA's management library,
 * opened at first use; where it is not there, or too old for a call, the figure is not known. */
#ifndef YK_CUDA_NVML_H
#define YK_CUDA_NVML_H

#include <stddef.h>
#include <yoke.h>

/* The board of a CUDA device, by its PCI bus id ("0000:3B:00.0"): NVML counts in another order and
 * does not heed CUDA_VISIBLE_DEVICES. Valid as long as the process. */
yoke_status yk_nvml_find(const char *bus_id, void **board);

/* Joules that the board drew since its driver was loaded; NaN: not known. */
double yk_nvml_joules(void *board);

/* Of now: an idle board may have lowered its link. 0: not known. */
void yk_nvml_link(void *board, int *generation, int *lanes);

/* "580.65.06"; "": not known. */
void yk_nvml_driver(char *version, size_t size);

#endif
