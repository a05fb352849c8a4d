/* SPDX-License-Identifier: BSD-3-Clause */
/* place.c: device and managed memory of callers, and their streams. Nothing here is bound to a
 * plan: CPU plans come here as well. */
#include "lib/place.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/cuda/device.h"
#include "lib/status.h"

/* ---------------------------------------------------------------- pointers */

/* cuPointerGetAttribute of the driver's own interface, and three of its results. */
typedef int (*pointer_attribute)(void *data, int attribute, unsigned long long pointer);
enum { MEMORY_TYPE = 2, INVALID_VALUE = 1, NOT_INITIALIZED = 3, DEINITIALIZED = 4 };

/* Walks over the loaded libraries, if there are new ones since a walk that found no driver. dlopen
 * would look on the disk, each time, before it says that a library is not loaded. */
typedef struct search {
    unsigned long long loads;
    bool found;
} search;

static atomic_ullong loads_without_driver;

static int is_driver(struct dl_phdr_info *library, size_t size, void *user)
{
    search *s = user;
    (void)size;
    s->loads = library->dlpi_adds;
    s->found = strstr(library->dlpi_name, "/libcuda.so.") != NULL;
    return s->found || s->loads == atomic_load(&loads_without_driver);
}

/* NULL if this process has no driver; the driver stays once it is there. */
static pointer_attribute driver_call(void)
{
    static _Atomic(pointer_attribute) known;
    pointer_attribute call = atomic_load(&known);
    search s = {0, false};
    if (call) return call;
    dl_iterate_phdr(is_driver, &s);
    void *driver = s.found ? dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (driver)
        *(void **)&call = dlsym(driver, "cuPointerGetAttribute");
    else
        atomic_store(&loads_without_driver, s.loads);
    if (call) atomic_store(&known, call);
    return call;
}

/* Whether the driver, if this process has it, may know the pointer. The runtime's question would
 * load the driver and make a context on the current device (hundreds of megabytes, a second), and a
 * CPU plan must not do that for a vector that is the host's. So unless this library has had a
 * device open, when the runtime is up, the driver is asked: only if somebody else has loaded it,
 * and by a call that makes no context. */
static bool driver_may_know(const void *pointer)
{
    unsigned type = 0;
    pointer_attribute ask = driver_call();
    int result = ask ? ask(&type, MEMORY_TYPE, (uintptr_t)pointer) : NOT_INITIALIZED;
    return result != INVALID_VALUE && result != NOT_INITIALIZED && result != DEINITIALIZED;
}

/* Asks the system, because CUDA has failed: device memory is mapped here too, but not readable. */
static bool host_can_read(const void *pointer)
{
    char byte;
    struct iovec to = {&byte, 1}, from = {(void *)pointer, 1};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1 || errno != EFAULT;
}

/* After an error that sticks, or in a child of fork(), CUDA answers no more: vectors of the host
 * still work then, so that the CPU can go on. */
static yoke_status without_answer(const char *what, const void *pointer, cudaError_t error)
{
    cudaGetLastError();
    if (host_can_read(pointer)) return YOKE_OK;
    return yk_fail(YOKE_DEVICE, "%s, which is not host memory: cudaPointerGetAttributes: %s (%s)",
                   what, cudaGetErrorString(error), cudaGetErrorName(error));
}

static yoke_status find(const char *what, const void *pointer, yk_place *place)
{
    struct cudaPointerAttributes found;
    if (!yk_device_opened() && !driver_may_know(pointer)) return YOKE_OK;
    cudaError_t error = cudaPointerGetAttributes(&found, pointer);
    if (error != cudaSuccess) return without_answer(what, pointer, error);
    place->managed = found.type == cudaMemoryTypeManaged;
    place->foreign = place->managed || found.type == cudaMemoryTypeDevice;
    place->device = found.device > 0 ? found.device : 0; /* managed memory may belong to none */
    return YOKE_OK;
}

/* ------------------------------------------------------------------ copies */

static int enter(const yk_place *place)
{
    return yk_device_enter(&(yk_device){.number = place->device});
}

/* On the thread's own default stream: the legacy one cannot be used while anybody captures a
 * blocking stream. Waited for, because a copy from pageable memory may return before it ends. */
static yoke_status copy(const yk_place *place, void *to, const void *from, size_t bytes)
{
    int previous = enter(place);
    cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, cudaStreamPerThread);
    if (error == cudaSuccess) error = cudaStreamSynchronize(cudaStreamPerThread);
    yk_device_leave(previous);
    return yk_device_try(error, "copying memory of the caller's");
}

static yoke_status clear(const yk_place *place, void *to, size_t bytes)
{
    int previous = enter(place);
    cudaError_t error = cudaMemsetAsync(to, 0, bytes, cudaStreamPerThread);
    if (error == cudaSuccess) error = cudaStreamSynchronize(cudaStreamPerThread);
    yk_device_leave(previous);
    return yk_device_try(error, "clearing memory of the caller's");
}

/* ----------------------------------------------------------------- streams */

/* While somebody captures a blocking stream the legacy one can be neither used nor waited for;
 * asking is harmless, waiting would spoil the capture. */
static yoke_status settle(const yk_place *place)
{
    enum cudaStreamCaptureStatus capturing;
    int previous = enter(place);
    cudaError_t error = cudaStreamIsCapturing(cudaStreamLegacy, &capturing);
    if (error == cudaErrorStreamCaptureImplicit)
        error = cudaSuccess;
    else if (error == cudaSuccess)
        error = cudaStreamSynchronize(cudaStreamLegacy);
    cudaGetLastError();
    yk_device_leave(previous);
    return yk_device_try(error, "waiting for the default stream");
}

/* On the device that is current at the call: a default stream is that device's. The host waits, not
 * a stream of ours: a CPU plan has none, and the caller's may be of another device. */
static yoke_status wait(void *stream)
{
    char reason[256];
    enum cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
    if (yk_device_count(reason, sizeof reason) == 0)
        return yk_fail(YOKE_UNUSABLE, "use_stream: no GPU: %s", reason);
    cudaError_t error = cudaStreamIsCapturing((cudaStream_t)stream, &capturing);
    if (error == cudaErrorStreamCaptureImplicit || capturing != cudaStreamCaptureStatusNone) {
        cudaGetLastError();
        return yk_fail(YOKE_INVALID,
                       "stream is being captured (%s), and a solve cannot be part of a graph",
                       error == cudaSuccess ? "cudaStreamIsCapturing" : cudaGetErrorName(error));
    }
    YK_TRY(yk_device_try(error, "use_stream: cudaStreamIsCapturing"));
    return yk_device_try(cudaStreamSynchronize((cudaStream_t)stream),
                         "use_stream: cudaStreamSynchronize");
}

const yk_foreign yk_foreign_cuda = {
    .find = find,
    .copy = copy,
    .clear = clear,
    .settle = settle,
    .wait = wait,
};
