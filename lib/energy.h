/* SPDX-License-Identifier: BSD-3-Clause */
/* energy.h: a meter of joules, for tests that look at how it counts. */
#ifndef YK_ENERGY_H
#define YK_ENERGY_H

#include <yoke_tools.h>

#include "lib/iface/gpu_tools.h"

enum { YK_PACKAGES = 64, YK_ENERGY_PATH = 320 };

/* A package's counter: microjoules, that begin again at 0 above its range. */
typedef struct yk_package {
    char path[YK_ENERGY_PATH];
    double range, start;
} yk_package;

struct yoke_energy {
    const yk_gpu_tools *gpu; /* NULL: the CPU's packages */
    void *counter;
    double start_joules;
    yk_package package[YK_PACKAGES];
    int packages;
    double started; /* yoke_seconds() */
    double least;   /* seconds below which a difference means nothing */
};

/* The CPU's packages in the tree at root ("" for this machine's). */
yoke_status yk_energy_open_packages(const char *root, yoke_energy **meter);

#endif
