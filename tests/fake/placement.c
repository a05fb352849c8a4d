/* SPDX-License-Identifier: BSD-3-Clause */
/* placement.c: the fake runtime's prefetch of managed memory, which lies where it lies; and the
 * driver's green contexts, whose streams are streams as all. */
#include <string.h>

#include "tests/fake/work.h"

/* ----------------------------------------------------------------- managed */

#if CUDART_VERSION >= 13000
cudaError_t cudaMemPrefetchAsync(const void *memory, size_t bytes, struct cudaMemLocation at,
                                 unsigned flags, cudaStream_t stream)
{
    int device = at.type == cudaMemLocationTypeHost ? cudaCpuDeviceId : at.id;
    (void)flags;
#else
cudaError_t cudaMemPrefetchAsync(const void *memory, size_t bytes, int device, cudaStream_t stream)
{
#endif
    cudaError_t error = fake_enter(FAKE_cudaMemPrefetchAsync);
    if (error == cudaSuccess && !fake_stream(stream)) error = cudaErrorInvalidResourceHandle;
    if (error == cudaSuccess) error = fake_check_advice(memory, bytes, device);
    return fake_leave(error);
}

/* ---------------------------------------------------------- green contexts */

/* As the driver's, version 1. */
typedef struct resource {
    int type;
    unsigned char padding[92];
    unsigned count, least, aligned;
    unsigned char room[36];
} resource;

typedef struct green {
    unsigned count;
    int device;
} green;

enum { INVALID_VALUE = 1 };

static int get_device(int *device, int number)
{
    cudaError_t error = fake_enter(FAKE_cuDeviceGet);
    if (error == cudaSuccess && (number < 0 || number >= fake.devices))
        error = cudaErrorInvalidDevice;
    if (error == cudaSuccess) *device = number;
    return (int)fake_leave(error);
}

static int get_resource(int device, resource *out, int type)
{
    cudaError_t error = fake_enter(FAKE_cuDeviceGetDevResource);
    if (error == cudaSuccess && (device >= fake.devices || type != 1))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess) {
        memset(out, 0, sizeof *out);
        out->type = type;
        out->count = (unsigned)fake.chip.multiprocessors;
        out->least = out->aligned = (unsigned)fake.granule;
    }
    return (int)fake_leave(error);
}

/* One group, of whole granules. */
static int split(resource *group, unsigned *groups, const resource *whole, resource *rest,
                 unsigned flags, unsigned least)
{
    cudaError_t error = fake_enter(FAKE_cuDevSmResourceSplitByCount);
    unsigned granule = (unsigned)fake.granule, count = (least + granule - 1) / granule * granule;
    (void)rest, (void)flags;
    if (error == cudaSuccess && (whole->type != 1 || *groups != 1)) error = cudaErrorInvalidValue;
    if (error == cudaSuccess) {
        *groups = count <= whole->count;
        *group = *whole;
        group->count = count;
    }
    return (int)fake_leave(error);
}

static int describe(void **description, resource *groups, unsigned count)
{
    cudaError_t error = fake_enter(FAKE_cuDevResourceGenerateDesc);
    if (error == cudaSuccess && (count != 1 || groups->type != 1)) error = cudaErrorInvalidValue;
    if (error == cudaSuccess) *description = (void *)(uintptr_t)groups->count;
    return (int)fake_leave(error);
}

static int create(void **out, void *description, int device, unsigned flags)
{
    cudaError_t error = fake_enter(FAKE_cuGreenCtxCreate);
    if (error == cudaSuccess && (!description || flags != 1)) error = cudaErrorInvalidValue;
    if (error == cudaSuccess) {
        green *made = malloc(sizeof *made);
        if (!made) fake_die("no memory");
        *made = (green){(unsigned)(uintptr_t)description, device};
        fake.live.greens++;
        fake.made.greens++;
        *out = made;
    }
    return (int)fake_leave(error);
}

static int destroy(void *made)
{
    cudaError_t error = fake_enter(FAKE_cuGreenCtxDestroy);
    fake.live.greens--;
    free(made);
    return (int)fake_leave(error);
}

static int create_stream(void **stream, void *made, unsigned flags, int priority)
{
    cudaError_t error = fake_enter(FAKE_cuGreenCtxStreamCreate);
    bool right = made && flags == cudaStreamNonBlocking && priority == 0;
    fake_leave(error);
    if (error == cudaSuccess && !right) error = cudaErrorInvalidValue;
    if (error != cudaSuccess) return (int)error;
    cudaStream_t s = NULL;
    error = cudaStreamCreateWithFlags(&s, flags);
    if (error == cudaSuccess) *stream = s;
    return (int)error;
}

static const struct {
    const char *name;
    void (*call)(void);
} calls[] = {
#define CALL(name, function) {name, (void (*)(void))function}
    CALL("cuDeviceGet", get_device),
    CALL("cuDeviceGetDevResource", get_resource),
    CALL("cuDevSmResourceSplitByCount", split),
    CALL("cuDevResourceGenerateDesc", describe),
    CALL("cuGreenCtxCreate", create),
    CALL("cuGreenCtxDestroy", destroy),
    CALL("cuGreenCtxStreamCreate", create_stream),
};

static cudaError_t find_call(const char *symbol, void **function,
                             enum cudaDriverEntryPointQueryResult *found)
{
    cudaError_t error = fake_enter(FAKE_cudaGetDriverEntryPoint);
    *found = cudaDriverEntryPointSymbolNotFound;
    *function = NULL;
    for (size_t i = 0; error == cudaSuccess && fake.granule > 0 && i < sizeof calls / sizeof *calls;
         i++) {
        if (strcmp(calls[i].name, symbol) != 0) continue;
        memcpy(function, &calls[i].call, sizeof *function);
        *found = cudaDriverEntryPointSuccess;
    }
    return fake_leave(error);
}

#if CUDART_VERSION >= 12050
cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *found)
{
    (void)version, (void)flags;
    return find_call(symbol, function, found);
}
#else
cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *found)
{
    (void)flags;
    return find_call(symbol, function, found);
}
#endif
