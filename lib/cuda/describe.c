/* SPDX-License-Identifier: BSD-3-Clause */
/* describe.c: what a GPU is, from the CUDA runtime and NVML; and the table of all that is asked of
 * a GPU beside solving. Attributes rather than properties: the struct of these differs between
 * CUDA 12 and 13. */
#include "lib/cuda/describe.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

#include "lib/cuda/buffer.h"
#include "lib/cuda/calibrate.h"
#include "lib/cuda/device.h"
#include "lib/cuda/nvml.h"
#include "lib/cuda/speed.h"
#include "lib/iface/gpu_tools.h"
#include "lib/status.h"

#define CUDA_TRY(call) YK_TRY(yk_device_try(call, #call))

/* 0 if this runtime does not know it. */
static int attribute(enum cudaDeviceAttr which, int number)
{
    int value = 0;
    if (cudaDeviceGetAttribute(&value, which, number) == cudaSuccess) return value;
    cudaGetLastError();
    return 0;
}

static void read_attributes(int number, yoke_gpu *gpu)
{
    gpu->capability_major = attribute(cudaDevAttrComputeCapabilityMajor, number);
    gpu->capability_minor = attribute(cudaDevAttrComputeCapabilityMinor, number);
    gpu->multiprocessors = attribute(cudaDevAttrMultiProcessorCount, number);
    gpu->clock_hz = (int64_t)attribute(cudaDevAttrClockRate, number) * 1000;
    gpu->l2_bytes = attribute(cudaDevAttrL2CacheSize, number);
    gpu->shared_bytes = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, number);
    gpu->shared_block_bytes = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, number);
    gpu->pageable_memory = attribute(cudaDevAttrPageableMemoryAccess, number);
    gpu->host_native_atomics = attribute(cudaDevAttrHostNativeAtomicSupported, number);
    gpu->concurrent_managed = attribute(cudaDevAttrConcurrentManagedAccess, number);
}

static void write_version(int version, char *text, size_t size)
{
    if (version > 0) snprintf(text, size, "%d.%d", version / 1000, version % 1000 / 10);
}

static void read_versions(yoke_gpu *gpu)
{
    int version = 0;
    if (cudaDriverGetVersion(&version) == cudaSuccess)
        write_version(version, gpu->cuda_driver, sizeof gpu->cuda_driver);
    if (cudaRuntimeGetVersion(&version) == cudaSuccess)
        write_version(version, gpu->cuda_runtime, sizeof gpu->cuda_runtime);
    yk_nvml_driver(gpu->nvidia_driver, sizeof gpu->nvidia_driver);
}

static yoke_status bus_id_of(int number, char *text, size_t size)
{
    CUDA_TRY(cudaDeviceGetPCIBusId(text, (int)size, number));
    return YOKE_OK;
}

/* What NVML does not tell stays unknown. */
static void read_link(yoke_gpu *gpu)
{
    void *board;
    if (bus_id_of(gpu->number, gpu->bus_id, sizeof gpu->bus_id) != YOKE_OK) return;
    if (yk_nvml_find(gpu->bus_id, &board) == YOKE_OK)
        yk_nvml_link(board, &gpu->pcie_generation, &gpu->pcie_lanes);
}

yoke_status yk_gpu_describe(int number, yoke_gpu *gpu)
{
    yk_device device;
    YK_TRY(yk_device_open(number, &device));
    *gpu = (yoke_gpu){.number = number,
                      .memory_total = (int64_t)device.total_bytes,
                      .memory_free = (int64_t)device.free_bytes};
    memcpy(gpu->name, device.name, sizeof gpu->name);
    yk_device_close(&device);
    read_attributes(number, gpu);
    read_versions(gpu);
    read_link(gpu);
    return YOKE_OK;
}

static yoke_status open_counter(int number, void **counter)
{
    char bus_id[32] = "";
    YK_TRY(bus_id_of(number, bus_id, sizeof bus_id));
    return yk_nvml_find(bus_id, counter);
}

const yk_gpu_tools yk_gpu_tools_cuda = {
    .count = yk_device_count,
    .describe = yk_gpu_describe,
    .measure = yk_gpu_measure,
    .calibrate = yk_gpu_calibrate,
    .buffer_open = yk_gpu_buffer_open,
    .buffer_count = yk_gpu_buffer_count,
    .buffer_measure = yk_gpu_buffer_measure,
    .buffer_sum = yk_gpu_buffer_sum,
    .buffer_close = yk_gpu_buffer_close,
    .energy_open = open_counter,
    .energy_joules = yk_nvml_joules,
};
