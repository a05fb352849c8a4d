/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c: the fake runtime's devices, its errors, and calls that are counted and told to fail. */
#include <pthread.h>
#include <stdarg.h>
#include <string.h>

#include "tests/fake/inside.h"

fake_state fake = {
    .devices = -1,
    .device_bytes = (size_t)1 << 30,
    .chip = {2, 232448, 16}, /* FAKE_CHIP */
    .granule = 1,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static _Thread_local cudaError_t last_error;
static _Thread_local int current_device;
static _Thread_local bool inside;

static struct {
    const char *name;
    long calls, until_failure;
    cudaError_t error;
} calls[FAKE_CALL_COUNT] = {
#define FAKE_CALL_NAME(name) [FAKE_##name] = {#name, 0, 0, cudaSuccess},
    FAKE_CALLS(FAKE_CALL_NAME)
#undef FAKE_CALL_NAME
};

/* ------------------------------------------------------------------- calls */

static void hold(void)
{
    pthread_mutex_lock(&lock);
    inside = true;
}

static void let_go(void)
{
    inside = false;
    pthread_mutex_unlock(&lock);
}

void fake_await(void)
{
    pthread_cond_wait(&changed, &lock);
}

void fake_changed(void)
{
    pthread_cond_broadcast(&changed);
}

void fake_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void fake_lock(void)
{
    hold();
}

static void find_devices(void)
{
    const char *asked = getenv("FAKE_CUDA_DEVICES");
    if (fake.devices < 0) fake.devices = asked ? atoi(asked) : 2;
    if (fake.devices > FAKE_MOST_DEVICES) fake.devices = FAKE_MOST_DEVICES;
}

/* These answer on a lost device too, and without any. */
static bool needs_no_device(fake_call call)
{
    return call == FAKE_cudaDriverGetVersion || call == FAKE_cudaRuntimeGetVersion ||
           call == FAKE_cudaGetDevice || call == FAKE_cudaSetDevice ||
           call == FAKE_cudaGetDeviceCount;
}

cudaError_t fake_enter(fake_call call)
{
    hold();
    while (fake.finishing) fake_await();
    find_devices();
    calls[call].calls++;
    if (calls[call].until_failure > 0 && --calls[call].until_failure == 0) return calls[call].error;
    if (needs_no_device(call)) return cudaSuccess;
    if (fake.devices == 0) return cudaErrorNoDevice;
    return fake.lost[current_device];
}

cudaError_t fake_leave(cudaError_t error)
{
    if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
    let_go();
    return error;
}

void fake_die(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fputs("fake CUDA runtime: ", stderr);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    abort();
}

bool fake_inside(void)
{
    return inside;
}

int fake_current_device(void)
{
    return current_device;
}

/* ------------------------------------------------------------------- tests */

const char *fake_call_name(int k)
{
    return k >= 0 && k < FAKE_CALL_COUNT ? calls[k].name : NULL;
}

long fake_calls(const char *name)
{
    long count = 0;
    hold();
    for (int k = 0; k < FAKE_CALL_COUNT; k++)
        if (!name || strcmp(calls[k].name, name) == 0) count += calls[k].calls;
    let_go();
    return count;
}

void fake_fail(const char *name, long nth, int error)
{
    bool known = false;
    hold();
    for (int k = 0; k < FAKE_CALL_COUNT; k++) {
        if (strcmp(calls[k].name, name) != 0) continue;
        calls[k].until_failure = nth;
        calls[k].error = (cudaError_t)error;
        known = true;
    }
    let_go();
    if (!known) fake_die("no call is named %s", name);
}

void fake_fail_work(long nth, int error)
{
    hold();
    fake.work_until_failure = nth;
    fake.work_error = (cudaError_t)error;
    let_go();
}

void fake_devices(int count)
{
    hold();
    fake.devices = count;
    let_go();
}

void fake_device_bytes(size_t bytes)
{
    hold();
    fake.device_bytes = bytes;
    let_go();
}

void fake_set_chip(fake_chip chip)
{
    hold();
    fake.chip = chip;
    let_go();
}

void fake_reaches_all(bool all)
{
    hold();
    fake.reaches_all = all;
    let_go();
}

void fake_peers(bool may)
{
    hold();
    fake.alone = !may;
    let_go();
}

void fake_green_contexts(int granule)
{
    hold();
    fake.granule = granule;
    let_go();
}

void fake_eager(bool eager)
{
    hold();
    fake.eager = eager;
    let_go();
}

static fake_counts locked(const fake_counts *counts)
{
    hold();
    fake_counts copy = *counts;
    let_go();
    return copy;
}

fake_counts fake_live(void)
{
    return locked(&fake.live);
}

fake_counts fake_made(void)
{
    return locked(&fake.made);
}

long fake_total(fake_counts c)
{
    return c.device + c.pinned + c.managed + c.registered + c.streams + c.events + c.graphs +
           c.execs + c.greens;
}

size_t fake_bytes(void)
{
    hold();
    size_t bytes = fake.bytes;
    let_go();
    return bytes;
}

size_t fake_peak(void)
{
    hold();
    size_t peak = fake.peak;
    let_go();
    return peak;
}

long fake_waiting(void)
{
    hold();
    long waiting = fake.waiting;
    let_go();
    return waiting;
}

/* ------------------------------------------------------------------ errors */

static const struct {
    cudaError_t error;
    const char *name, *text;
} errors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection",
     "invalid copy direction for memcpy"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled",
     "peer access is already enabled"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureImplicit, "cudaErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {cudaErrorCapturedEvent, "cudaErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
};

static size_t find_error(cudaError_t error)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].error == error) return i;
    return sizeof errors;
}

const char *cudaGetErrorName(cudaError_t error)
{
    size_t i = find_error(error);
    return i < sizeof errors ? errors[i].name : "cudaErrorUnknown";
}

const char *cudaGetErrorString(cudaError_t error)
{
    size_t i = find_error(error);
    return i < sizeof errors ? errors[i].text : "unknown error";
}

/* What a lost device has to say comes again and again. */
cudaError_t cudaPeekAtLastError(void)
{
    hold();
    cudaError_t error = fake.lost[current_device] ? fake.lost[current_device] : last_error;
    let_go();
    return error;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = cudaPeekAtLastError();
    last_error = cudaSuccess;
    return error;
}

/* ----------------------------------------------------------------- devices */

cudaError_t cudaDriverGetVersion(int *version)
{
    cudaError_t error = fake_enter(FAKE_cudaDriverGetVersion);
    if (error == cudaSuccess) *version = fake.devices > 0 ? 12040 : 0;
    return fake_leave(error);
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    cudaError_t error = fake_enter(FAKE_cudaRuntimeGetVersion);
    if (error == cudaSuccess) *version = 12040;
    return fake_leave(error);
}

cudaError_t cudaGetDeviceCount(int *count)
{
    cudaError_t error = fake_enter(FAKE_cudaGetDeviceCount);
    if (error == cudaSuccess && fake.devices == 0) error = cudaErrorNoDevice;
    *count = error == cudaSuccess ? fake.devices : 0;
    return fake_leave(error);
}

cudaError_t cudaGetDevice(int *device)
{
    cudaError_t error = fake_enter(FAKE_cudaGetDevice);
    if (error == cudaSuccess && fake.devices == 0) error = cudaErrorNoDevice;
    if (error == cudaSuccess) *device = current_device;
    return fake_leave(error);
}

static cudaError_t check_device(cudaError_t error, int device)
{
    if (error == cudaSuccess && (device < 0 || device >= fake.devices))
        error = cudaErrorInvalidDevice;
    return error;
}

cudaError_t cudaSetDevice(int device)
{
    cudaError_t error = check_device(fake_enter(FAKE_cudaSetDevice), device);
    if (error == cudaSuccess) current_device = device;
    return fake_leave(error);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    cudaError_t error = check_device(fake_enter(FAKE_cudaGetDeviceProperties), device);
    if (error == cudaSuccess) {
        memset(properties, 0, sizeof *properties);
        snprintf(properties->name, sizeof properties->name, "Fake GPU %d", device);
        properties->totalGlobalMem = fake.device_bytes;
        properties->major = 9;
        properties->multiProcessorCount = fake.chip.multiprocessors;
        properties->maxThreadsPerMultiProcessor = 2048;
        properties->sharedMemPerBlock = 48 << 10;
        properties->sharedMemPerBlockOptin = fake.chip.shared_bytes;
        properties->sharedMemPerMultiprocessor = 228 << 10;
        properties->l2CacheSize = 1 << 20;
        properties->memoryBusWidth = 512;
        properties->pciBusID = device + 1;
        properties->unifiedAddressing = properties->managedMemory = 1;
        properties->concurrentManagedAccess = properties->cooperativeLaunch = 1;
        properties->canMapHostMemory = 1;
        properties->uuid.bytes[0] = (char)(device + 1);
    }
    return fake_leave(error);
}

static int attribute_of(enum cudaDeviceAttr attribute)
{
    switch ((int)attribute) {
    case cudaDevAttrMultiProcessorCount: return fake.chip.multiprocessors;
    case cudaDevAttrComputeCapabilityMajor: return 9;
    case cudaDevAttrMaxThreadsPerMultiProcessor: return 2048;
    case cudaDevAttrL2CacheSize: return 1 << 20;
    case cudaDevAttrClockRate: return 1000000;
    case cudaDevAttrMaxSharedMemoryPerBlock: return 48 << 10;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return (int)fake.chip.shared_bytes;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return 228 << 10;
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrCooperativeLaunch: return 1;
    case cudaDevAttrPageableMemoryAccess: return fake.reaches_all;
    default: return 0;
    }
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    cudaError_t error = check_device(fake_enter(FAKE_cudaDeviceGetAttribute), device);
    if (error == cudaSuccess) *value = attribute_of(attribute);
    return fake_leave(error);
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int size, int device)
{
    cudaError_t error = check_device(fake_enter(FAKE_cudaDeviceGetPCIBusId), device);
    if (error == cudaSuccess) snprintf(id, (size_t)size, "0000:%02x:00.0", device + 1);
    return fake_leave(error);
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    cudaError_t error = check_device(fake_enter(FAKE_cudaDeviceCanAccessPeer), device);
    error = check_device(error, peer);
    if (error == cudaSuccess) *can = device != peer && !fake.alone;
    return fake_leave(error);
}

/* Of the current device: its kernels reach the peer's memory from now on. */
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    cudaError_t error = check_device(fake_enter(FAKE_cudaDeviceEnablePeerAccess), peer);
    if (error == cudaSuccess && (flags || peer == current_device || fake.alone))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && fake.peer[current_device][peer])
        error = cudaErrorPeerAccessAlreadyEnabled;
    if (error == cudaSuccess) fake.peer[current_device][peer] = true;
    return fake_leave(error);
}
