/* SPDX-License-Identifier: BSD-3-Clause */
/* energy.c: joules by the counters that processors and boards keep: RAPL's packages through the
 * kernel's powercap tree (Documentation/power/powercap), NVML's total of a board. */
#include "lib/energy.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/status.h"

/* Of a board ten steps of its counter, which so adds at most a tenth of error: it moves about every
 * 100 ms (`cgbench machine` tells). RAPL's moves about every millisecond (Intel SDM, volume 3,
 * Platform Specific Power Management Support). */
static const double LEAST_OF_A_BOARD = 1.0, LEAST_OF_PACKAGES = 0.1;

/* The number in a file; NaN if there is none. */
static double number_in(const char *path)
{
    FILE *file = fopen(path, "r");
    double value = NAN;
    if (file && fscanf(file, "%lf", &value) != 1) value = NAN;
    if (file) fclose(file);
    return value;
}

/* "package-0": not a core's, the memory's or the whole platform's, which are parts of it or it of
 * them. */
static int is_package(const char *path)
{
    char name[32] = "";
    FILE *file = fopen(path, "r");
    if (file && !fgets(name, sizeof name, file)) name[0] = '\0';
    if (file) fclose(file);
    return strncmp(name, "package", 7) == 0;
}

static yoke_status add_package(const char *root, int zone, yoke_energy *meter)
{
    char path[YK_ENERGY_PATH];
    yk_package *p = &meter->package[meter->packages];
    snprintf(path, sizeof path, "%s/sys/class/powercap/intel-rapl:%d/name", root, zone);
    if (!is_package(path)) return YOKE_OK;
    snprintf(path, sizeof path, "%s/sys/class/powercap/intel-rapl:%d/max_energy_range_uj", root,
             zone);
    p->range = number_in(path);
    snprintf(p->path, sizeof p->path, "%s/sys/class/powercap/intel-rapl:%d/energy_uj", root, zone);
    errno = 0;
    if (isnan(number_in(p->path)))
        return yk_fail(YOKE_UNUSABLE, "no RAPL: %s: %s", p->path, strerror(errno ? errno : EINVAL));
    meter->packages++;
    return YOKE_OK;
}

static yoke_status find_packages(const char *root, yoke_energy *meter)
{
    for (int zone = 0; zone < YK_PACKAGES; zone++) YK_TRY(add_package(root, zone, meter));
    if (meter->packages == 0)
        return yk_fail(YOKE_UNUSABLE, "no RAPL: no package under %s/sys/class/powercap", root);
    meter->least = LEAST_OF_PACKAGES;
    return YOKE_OK;
}

static yoke_status new_meter(yoke_energy **meter)
{
    *meter = calloc(1, sizeof **meter);
    return *meter ? YOKE_OK : yk_fail(YOKE_NO_MEMORY, "no memory for %zu bytes", sizeof **meter);
}

yoke_status yk_energy_open_packages(const char *root, yoke_energy **meter)
{
    yoke_energy *made;
    YK_TRY(new_meter(&made));
    yoke_status status = find_packages(root, made);
    if (status == YOKE_OK)
        *meter = made;
    else
        free(made);
    return status;
}

static yoke_status open_board(int device, yoke_energy **meter)
{
    const yk_gpu_tools *tools = yk_gpu_tools_built();
    void *counter;
    if (!tools) return yk_fail(YOKE_NOT_BUILT, "device %d: this build has no CUDA", device);
    YK_TRY(tools->energy_open(device, &counter));
    if (isnan(tools->energy_joules(counter)))
        return yk_fail(YOKE_UNUSABLE, "NVML: device %d has no counter of energy", device);
    YK_TRY(new_meter(meter));
    (*meter)->gpu = tools;
    (*meter)->counter = counter;
    (*meter)->least = LEAST_OF_A_BOARD;
    return YOKE_OK;
}

yoke_status yoke_energy_open(int device, yoke_energy **meter)
{
    if (!meter) return yk_fail(YOKE_INVALID, "meter is NULL");
    *meter = NULL;
    return device < 0 ? yk_energy_open_packages("", meter) : open_board(device, meter);
}

void yoke_energy_start(yoke_energy *meter)
{
    if (!meter) return;
    if (meter->gpu) meter->start_joules = meter->gpu->energy_joules(meter->counter);
    for (int i = 0; i < meter->packages; i++)
        meter->package[i].start = number_in(meter->package[i].path);
    meter->started = yoke_seconds();
}

/* Microjoules of a package: its counter began again, once, if it is now below. */
static double drawn(const yk_package *p)
{
    double now = number_in(p->path);
    return now < p->start ? now + p->range - p->start : now - p->start;
}

double yoke_energy_joules(const yoke_energy *meter)
{
    if (!meter || yoke_seconds() - meter->started < meter->least) return NAN;
    if (meter->gpu) return meter->gpu->energy_joules(meter->counter) - meter->start_joules;
    double microjoules = 0.0;
    for (int i = 0; i < meter->packages; i++) microjoules += drawn(&meter->package[i]);
    return 1e-6 * microjoules;
}

void yoke_energy_close(yoke_energy *meter)
{
    free(meter);
}
