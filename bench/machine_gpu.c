/* SPDX-License-Identifier: BSD-3-Clause */
/* machine_gpu.c: what a GPU is and how fast it is, from tables: a figure is a line of them. */
#include "bench/machine_gpu.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "bench/progress.h"
#include "bench/say.h"
#include "bench/write_rows.h"

typedef enum fact_kind { FACT_INT, FACT_COUNT, FACT_FLAG, FACT_TEXT } fact_kind;

typedef struct fact {
    const char *key;
    fact_kind kind;
    size_t offset; /* in yoke_gpu */
} fact;

#define FACT(key, kind, member)                                                                    \
    {                                                                                              \
        key, kind, offsetof(yoke_gpu, member)                                                      \
    }

/* clang-format off */
static const fact facts[] = {
    FACT("name", FACT_TEXT, name),
    FACT("bus_id", FACT_TEXT, bus_id),
    FACT("capability_major", FACT_INT, capability_major),
    FACT("capability_minor", FACT_FLAG, capability_minor),
    FACT("multiprocessors", FACT_INT, multiprocessors),
    FACT("clock_hz", FACT_COUNT, clock_hz),
    FACT("l2_bytes", FACT_COUNT, l2_bytes),
    FACT("shared_bytes", FACT_COUNT, shared_bytes),
    FACT("shared_block_bytes", FACT_COUNT, shared_block_bytes),
    FACT("memory_total_bytes", FACT_COUNT, memory_total),
    FACT("memory_free_bytes", FACT_COUNT, memory_free),
    FACT("pageable_memory_access", FACT_FLAG, pageable_memory),
    FACT("host_native_atomic_supported", FACT_FLAG, host_native_atomics),
    FACT("concurrent_managed_access", FACT_FLAG, concurrent_managed),
    FACT("driver_version", FACT_TEXT, cuda_driver),
    FACT("runtime_version", FACT_TEXT, cuda_runtime),
    FACT("nvidia_driver", FACT_TEXT, nvidia_driver),
    FACT("pcie_generation", FACT_INT, pcie_generation),
    FACT("pcie_lanes", FACT_INT, pcie_lanes),
};
/* clang-format on */
enum { FACTS = sizeof facts / sizeof facts[0] };

typedef struct figure {
    const char *key, *text;
    double factor; /* from the library's unit to the key's: GB/s, us, ms */
    size_t offset; /* in yoke_gpu_speed */
} figure;

#define RATE(key, text, member)                                                                    \
    {                                                                                              \
        key "_gb_per_s", text, 1e-9, offsetof(yoke_gpu_speed, member)                              \
    }
#define LATENCY(key, text, member)                                                                 \
    {                                                                                              \
        key "_us", text, 1e6, offsetof(yoke_gpu_speed, member)                                     \
    }

/* clang-format off */
static const figure figures[] = {
    RATE("read", "memory, read", read),
    RATE("copy", "memory, copy", copy),
    RATE("triad", "memory, triad", triad),
    RATE("write", "memory, write", write),
    RATE("l2_read", "level 2 cache, read", l2_read),
    RATE("to_gpu", "pinned memory to the GPU", to_gpu),
    RATE("from_gpu", "pinned memory from the GPU", from_gpu),
    RATE("both_ways", "both at once", both_ways),
    LATENCY("copy_sync", "copy of 8 bytes and wait", copy_sync),
    LATENCY("launch", "kernel launch, back to back", launch),
    LATENCY("launch_sync", "kernel launch and wait", launch_sync),
    LATENCY("graph_node", "kernel in a graph", graph_node),
    LATENCY("grid_barrier", "grid barrier", grid_barrier),
    LATENCY("flag_round_trip", "flag CPU-GPU-CPU", flag_round_trip),
    {"energy_step_ms", "step of the energy counter", 1e3, offsetof(yoke_gpu_speed, energy_step)},
};
/* clang-format on */
enum { FIGURES = sizeof figures / sizeof figures[0] };

static double value_of(const figure *f, const yoke_gpu_speed *speed)
{
    return *(const double *)(const void *)((const char *)speed + f->offset) * f->factor;
}

void gpu_measure(int device, gpu_found *found)
{
    const char *reason;
    *found = (gpu_found){.count = yoke_gpu_count(&reason)};
    if (!found->count) {
        snprintf(found->reason, sizeof found->reason, "%s", reason);
        return;
    }
    progress_show("GPU %d", device);
    /* measured first: the link is then awake */
    yoke_status status = yoke_gpu_measure(device, &found->speed);
    if (status) snprintf(found->reason, sizeof found->reason, "%s", library_sentence());
    status = yoke_gpu_describe(device, &found->gpu);
    if (status) snprintf(found->reason, sizeof found->reason, "%s", library_sentence());
    found->described = !status;
    progress_clear();
}

/* -------------------------------------------------------------------- text */

static void print_what(const yoke_gpu *g, FILE *stream)
{
    fprintf(stream, "\nGPU %d: %s (compute capability %d.%d%s%s)\n", g->number, g->name,
            g->capability_major, g->capability_minor, *g->bus_id ? ", " : "", g->bus_id);
    fprintf(stream, "  %-20s %d, up to %.0f MHz\n", "multiprocessors", g->multiprocessors,
            (double)g->clock_hz * 1e-6);
    print_size("level 2 cache", g->l2_bytes, stream);
    print_size("shared memory of one", g->shared_bytes, stream);
    print_size("memory", g->memory_total, stream);
    print_size("memory free", g->memory_free, stream);
    fprintf(stream, "  %-20s driver %s, runtime %s", "CUDA", g->cuda_driver, g->cuda_runtime);
    if (*g->nvidia_driver) fprintf(stream, "; NVIDIA driver %s", g->nvidia_driver);
    fputc('\n', stream);
    if (g->pcie_generation)
        fprintf(stream, "  %-20s generation %d, %d lanes\n", "PCIe", g->pcie_generation,
                g->pcie_lanes);
    fprintf(stream,
            "  %-20s pageableMemoryAccess %d, hostNativeAtomicSupported %d, "
            "concurrentManagedAccess %d\n",
            "host memory", g->pageable_memory, g->host_native_atomics, g->concurrent_managed);
}

static const char *unit_of(const figure *f)
{
    return f->factor < 1.0 ? "GB/s" : f->factor > 1e4 ? "us" : "ms";
}

void gpu_print(const gpu_found *found, FILE *stream)
{
    if (!found->described) {
        fprintf(stream, "\nno GPU: %s\n", found->reason);
        return;
    }
    print_what(&found->gpu, stream);
    fputc('\n', stream);
    for (int i = 0; i < FIGURES; i++) {
        double value = value_of(&figures[i], &found->speed);
        if (!isfinite(value)) continue;
        fprintf(stream, "  %-28s %8.*f %s\n", figures[i].text, value < 100.0 ? 2 : 0, value,
                unit_of(&figures[i]));
    }
    if (*found->reason) fprintf(stream, "  not all could be measured: %s\n", found->reason);
    if (found->count > 1)
        fprintf(stream, "\n%d GPUs here; --device N measures another one\n", found->count);
}

/* -------------------------------------------------------------------- JSON */

static void write_integer(int64_t value, int known, FILE *stream)
{
    if (known)
        fprintf(stream, "%" PRId64, value);
    else
        fputs("null", stream);
}

static void write_fact(const fact *f, const gpu_found *found, FILE *stream)
{
    const void *at = (const char *)&found->gpu + f->offset;
    switch (f->kind) {
    case FACT_TEXT: write_json_text(*(const char *)at ? at : NULL, stream); break;
    case FACT_COUNT: write_integer(*(const int64_t *)at, *(const int64_t *)at > 0, stream); break;
    case FACT_INT: write_integer(*(const int *)at, *(const int *)at > 0, stream); break;
    case FACT_FLAG: write_integer(*(const int *)at, found->described, stream); break;
    }
}

static void write_names(const gpu_found *found, FILE *stream)
{
    yoke_gpu gpu;
    for (int i = 0; i < found->count; i++) {
        if (i) fputc(',', stream);
        write_json_text(yoke_gpu_describe(i, &gpu) == YOKE_OK ? gpu.name : NULL, stream);
    }
}

void gpu_write(const gpu_found *found, FILE *stream)
{
    char text[40];
    fprintf(stream, "\"gpus\":%d,\"gpu_reason\":", found->count);
    write_json_text(*found->reason ? found->reason : NULL, stream);
    fputs(",\"gpu_names\":[", stream);
    write_names(found, stream);
    fputs("],\"gpu\":{\"number\":", stream);
    write_integer(found->gpu.number, found->described, stream);
    for (int i = 0; i < FACTS; i++) {
        fprintf(stream, ",\"%s\":", facts[i].key);
        write_fact(&facts[i], found, stream);
    }
    int64_t set = found->speed.l2_working_set;
    fputs(",\"l2_working_set_bytes\":", stream);
    write_integer(set, set > 0, stream);
    for (int i = 0; i < FIGURES; i++) {
        double value = found->described ? value_of(&figures[i], &found->speed) : (double)NAN;
        format_number(value, text, sizeof text);
        fprintf(stream, ",\"%s\":%s", figures[i].key, text);
    }
    fputc('}', stream);
}
