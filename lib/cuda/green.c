/* SPDX-License-Identifier: BSD-3-Clause */
/* green.c: green contexts (CUDA Driver API, "Green Contexts"). Their declarations are copied, as
 * far as they are used, so that nothing but the runtime is linked and an older driver is told by
 * name; the layout is that of version 1 of the interface, which 12.4 to 13.0 share (streams came
 * with 12.5). */
#include "lib/cuda/green.h"

#include <cuda_runtime_api.h>
#include <string.h>

#include "lib/status.h"

enum { INTERFACE = 12050, MULTIPROCESSORS = 1, DEFAULT_STREAM = 1, NON_BLOCKING = 1 };

/* Each multiprocessor counts alone, not with those that make a large cluster: groups are finer, and
 * no kernel of ours in them uses clusters. */
enum { WITHOUT_CLUSTERS = 1 };

typedef struct resource {
    int type;
    unsigned char padding[92];
    union {
        struct {
            unsigned count, least, aligned;
        } multiprocessors;
        unsigned char room[48];
    } of;
} resource;

static struct driver {
    int (*get_device)(int *device, int number);
    int (*get_resource)(int device, resource *out, int type);
    int (*split)(resource *group, unsigned *groups, const resource *whole, resource *rest,
                 unsigned flags, unsigned least);
    int (*describe)(void **description, resource *groups, unsigned count);
    int (*create)(void **green, void *description, int device, unsigned flags);
    int (*destroy)(void *green);
    int (*create_stream)(void **stream, void *green, unsigned flags, int priority);
} driver;

static const struct {
    const char *name;
    void *call;
} calls[] = {
    {"cuDeviceGet", &driver.get_device},
    {"cuDeviceGetDevResource", &driver.get_resource},
    {"cuDevSmResourceSplitByCount", &driver.split},
    {"cuDevResourceGenerateDesc", &driver.describe},
    {"cuGreenCtxCreate", &driver.create},
    {"cuGreenCtxDestroy", &driver.destroy},
    {"cuGreenCtxStreamCreate", &driver.create_stream},
};

static cudaError_t find_call(const char *name, void **call)
{
    enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    cudaError_t error =
        cudaGetDriverEntryPointByVersion(name, call, INTERFACE, cudaEnableDefault, &found);
#else
    cudaError_t error = cudaGetDriverEntryPoint(name, call, cudaEnableDefault, &found);
#endif
    if (error == cudaSuccess && found != cudaDriverEntryPointSuccess) *call = NULL;
    return error;
}

/* The same calls whoever asks: two threads that come at once write the same. */
static yoke_status find_calls(void)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *call = NULL;
        cudaError_t error = find_call(calls[i].name, &call);
        if (error != cudaSuccess || !call) {
            cudaGetLastError();
            return yk_fail(YOKE_UNUSABLE,
                           "gpu_sms needs green contexts, of a driver for CUDA 12.5 or later: %s: "
                           "%s",
                           calls[i].name, error ? cudaGetErrorString(error) : "not found");
        }
        __atomic_store_n((void **)calls[i].call, call, __ATOMIC_RELAXED);
    }
    return YOKE_OK;
}

static yoke_status try(int error, const char *call)
{
    if (error == 0) return YOKE_OK;
    /* the runtime has the driver's numbers */
    return yk_fail(YOKE_UNUSABLE, "gpu_sms: the driver makes no such green context: %s: %s (%d)",
                   call, cudaGetErrorString((cudaError_t)error), error);
}

/* A driver that does not know the flag is asked without it. */
static yoke_status split(int device, int count, resource *group)
{
    resource whole;
    unsigned groups = 1;
    memset(&whole, 0, sizeof whole);
    YK_TRY(try(driver.get_resource(device, &whole, MULTIPROCESSORS), "cuDeviceGetDevResource"));
    int error = driver.split(group, &groups, &whole, NULL, WITHOUT_CLUSTERS, (unsigned)count);
    if (error != 0) {
        groups = 1;
        error = driver.split(group, &groups, &whole, NULL, 0, (unsigned)count);
    }
    YK_TRY(try(error, "cuDevSmResourceSplitByCount"));
    if (groups == 1) return YOKE_OK;
    return yk_fail(YOKE_UNUSABLE, "gpu_sms: this device gives no group of %d multiprocessors",
                   count);
}

yoke_status yk_green_open(int number, int count, void **green, void **stream, int *multiprocessors)
{
    resource group;
    int device = 0;
    void *description = NULL, *made = NULL;
    YK_TRY(find_calls());
    memset(&group, 0, sizeof group);
    YK_TRY(try(driver.get_device(&device, number), "cuDeviceGet"));
    YK_TRY(split(device, count, &group));
    YK_TRY(try(driver.describe(&description, &group, 1), "cuDevResourceGenerateDesc"));
    YK_TRY(try(driver.create(&made, description, device, DEFAULT_STREAM), "cuGreenCtxCreate"));
    int error = driver.create_stream(stream, made, NON_BLOCKING, 0);
    if (error != 0) yk_green_close(made);
    YK_TRY(try(error, "cuGreenCtxStreamCreate"));
    *green = made;
    *multiprocessors = (int)group.of.multiprocessors.count;
    return YOKE_OK;
}

void yk_green_close(void *green)
{
    if (green) driver.destroy(green);
}
