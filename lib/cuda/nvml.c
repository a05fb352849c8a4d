/* SPDX-License-Identifier: BSD-3-Clause */
/* nvml.c: the few functions of NVML that are used, declared here: its header is not part of every
 * toolkit. Names, types and versions as in NVIDIA's NVML reference. The library stays open as long
 * as the process, as the CUDA runtime's own state does. */
#include "lib/cuda/nvml.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "lib/status.h"

enum { SUCCESS = 0 }; /* nvmlReturn_t */

typedef struct nvml {
    int (*init)(void);
    const char *(*error_text)(int result);
    int (*driver_version)(char *version, unsigned length);
    int (*by_bus_id)(const char *bus_id, void **board);
    int (*energy)(void *board, unsigned long long *millijoules);
    int (*link_generation)(void *board, unsigned *generation);
    int (*link_lanes)(void *board, unsigned *lanes);
} nvml;

static nvml found;
static char missing[256]; /* why it cannot be used; "" if it can */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A data pointer of dlsym as the function that it is, which POSIX promises. */
static void take_symbol(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
}

static void open_library(void)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(missing, sizeof missing, "no NVML: %s", dlerror());
        return;
    }
    take_symbol(library, "nvmlInit_v2", &found.init);
    take_symbol(library, "nvmlErrorString", &found.error_text);
    take_symbol(library, "nvmlSystemGetDriverVersion", &found.driver_version);
    take_symbol(library, "nvmlDeviceGetHandleByPciBusId_v2", &found.by_bus_id);
    take_symbol(library, "nvmlDeviceGetTotalEnergyConsumption", &found.energy);
    take_symbol(library, "nvmlDeviceGetCurrPcieLinkGeneration", &found.link_generation);
    take_symbol(library, "nvmlDeviceGetCurrPcieLinkWidth", &found.link_lanes);
    if (!found.init || !found.error_text || !found.by_bus_id) {
        snprintf(missing, sizeof missing, "NVML lacks nvmlInit_v2 or what goes with it");
        return;
    }
    int result = found.init();
    if (result != SUCCESS)
        snprintf(missing, sizeof missing, "nvmlInit_v2: %s", found.error_text(result));
}

static int usable(void)
{
    pthread_once(&once, open_library);
    return !*missing;
}

yoke_status yk_nvml_find(const char *bus_id, void **board)
{
    if (!usable()) return yk_fail(YOKE_UNUSABLE, "%s", missing);
    int result = found.by_bus_id(bus_id, board);
    if (result == SUCCESS) return YOKE_OK;
    return yk_fail(YOKE_UNUSABLE, "NVML has no board at %s: %s", bus_id, found.error_text(result));
}

double yk_nvml_joules(void *board)
{
    unsigned long long millijoules = 0;
    if (!usable() || !found.energy || found.energy(board, &millijoules) != SUCCESS) return NAN;
    return 1e-3 * (double)millijoules;
}

void yk_nvml_link(void *board, int *generation, int *lanes)
{
    unsigned value = 0;
    *generation = *lanes = 0;
    if (!usable()) return;
    if (found.link_generation && found.link_generation(board, &value) == SUCCESS)
        *generation = (int)value;
    if (found.link_lanes && found.link_lanes(board, &value) == SUCCESS) *lanes = (int)value;
}

void yk_nvml_driver(char *version, size_t size)
{
    version[0] = '\0';
    if (!usable() || !found.driver_version) return;
    if (found.driver_version(version, (unsigned)size) != SUCCESS) version[0] = '\0';
}
