/* SPDX-License-Identifier: BSD-3-Clause */
/* yoke_tools.h: what cgbench and other tools need beside the solver. No promise of a stable ABI.
 * Conventions as in yoke.h. */
#ifndef YOKE_TOOLS_H
#define YOKE_TOOLS_H

#include <yoke.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------ what there is */

typedef enum yoke_list_kind {
    YOKE_LIST_MEMORY = 0,
    YOKE_LIST_HOMES,
    YOKE_LIST_PARTITIONS,
    YOKE_LIST_SOLVERS,
    YOKE_LIST_DRIVERS,
    YOKE_LIST_FORMATS,
    YOKE_LIST_PRECONDITIONERS,
    YOKE_LIST_SHAPES,
    YOKE_LIST_EFFORTS,
    YOKE_LIST_GENERATORS,
    YOKE_LIST_MACHINES,
    YOKE_LIST_REORDERINGS,
    YOKE_LIST_KINDS /* how many kinds there are */
} yoke_list_kind;

typedef struct yoke_list_item {
    const char *name;
    const char *form;   /* with its arguments: "poisson3d7:N" */
    const char *text;   /* one line on what it is */
    int built;          /* in this build */
    int usable;         /* and on this machine */
    const char *reason; /* why not; "" if usable */
} yoke_list_item;

/* The kind's name in the plural ("memory modes"); NULL if there is no such kind. */
YOKE_API const char *yoke_list_title(yoke_list_kind kind);

/* The k-th item (0-based) in *item; returns 0 past the end. Strings are static. */
YOKE_API int yoke_list(yoke_list_kind kind, int k, yoke_list_item *item);

/* ------------------------------------------------------------------ machine */

typedef struct yoke_machine {
    char cpu_name[96];
    char arch[16];  /* "x86_64" */
    char simd[16];  /* row sums that run here: "avx512", "avx2", "neon", "portable" */
    int processors; /* of the affinity mask */
    int numa_nodes; /* that these lie on */
    int64_t
        cache_bytes[4]; /* [level]: data cache of one core at level 1..3; 0 unknown; [0] unused */
    int64_t memory_total, memory_available; /* bytes; 0 unknown */
    int64_t memory_limit; /* bytes that this process may take: cgroup, RLIMIT_AS; 0: none */
} yoke_machine;

/* Describes this machine; measures nothing. Unknown figures are 0 or "". */
YOKE_API void yoke_machine_describe(yoke_machine *machine);

typedef enum yoke_stream { YOKE_STREAM_READ, YOKE_STREAM_COPY, YOKE_STREAM_TRIAD } yoke_stream;

/* A buffer for measuring bandwidth: made once, touched first by the threads that read it. */
typedef struct yoke_bandwidth yoke_bandwidth;
YOKE_API yoke_status yoke_bandwidth_create(yoke_context *context, int threads, size_t bytes,
                                           yoke_bandwidth **bandwidth);

/* Bytes a second, over one pass, or over several where the buffer is small. READ: sum of all bytes;
 * COPY: c = a, bytes read and written counted, halves of the buffer; TRIAD: a = b + s c, thirds
 * (McCalpin's STREAM). */
YOKE_API double yoke_bandwidth_measure(yoke_bandwidth *bandwidth, yoke_stream what);
YOKE_API void yoke_bandwidth_destroy(yoke_bandwidth *bandwidth);

/* The same on a GPU, by CUDA's number: in its own memory, timed by its own clock. bytes: cut to
 * what the device has free. YOKE_NOT_BUILT, YOKE_UNUSABLE (no such device), YOKE_NO_MEMORY. Its
 * measure is 0 if the device failed. */
YOKE_API yoke_status yoke_bandwidth_create_on_gpu(yoke_context *context, int device, size_t bytes,
                                                  yoke_bandwidth **bandwidth);

/* --------------------------------------------------------------------- GPUs */

/* GPUs that this build can use here, numbered by CUDA; 0 with the reason. reason: NULL, or set to a
 * text that is valid until the thread's next call. */
YOKE_API int yoke_gpu_count(const char **reason);

/* Figures that are not known are 0 or "". */
typedef struct yoke_gpu {
    int number;
    char name[64];
    char bus_id[32]; /* "0000:3B:00.0" */
    int capability_major, capability_minor;
    int multiprocessors;
    int64_t clock_hz; /* the highest */
    int64_t l2_bytes;
    int64_t shared_bytes, shared_block_bytes; /* of a multiprocessor; what a block may take */
    int64_t memory_total, memory_free;        /* bytes */
    int pageable_memory, host_native_atomics, concurrent_managed; /* 0 or 1: CUDA's attributes */
    char cuda_driver[16], cuda_runtime[16];                       /* "13.0" */
    char nvidia_driver[32];                                       /* "580.65.06"; by NVML */
    int pcie_generation, pcie_lanes;                              /* of the link as it is now */
} yoke_gpu;

YOKE_API yoke_status yoke_gpu_describe(int number, yoke_gpu *gpu);

/* Bytes a second, and seconds; NaN: not known. */
typedef struct yoke_gpu_speed {
    double read, copy, triad, write; /* of device memory, counted as yoke_bandwidth_measure does */
    double l2_read;                  /* of a buffer of l2_working_set bytes, over and over */
    int64_t l2_working_set;
    double to_gpu, from_gpu, both_ways; /* the link, pinned host memory; both: the sum */
    double copy_sync;                   /* 8 bytes from the GPU, and waiting for them */
    double launch;                      /* an empty kernel, back to back */
    double launch_sync;                 /* the same, and waiting for it */
    double graph_node;                  /* an empty kernel in a graph */
    double grid_barrier;                /* of a cooperative kernel with a block a multiprocessor */
    double flag_round_trip;             /* CPU to GPU to CPU through mapped memory */
    double energy_step;                 /* between two changes of the board's counter */
} yoke_gpu_speed;

/* Takes some seconds. On failure the figures that were measured are there all the same. */
YOKE_API yoke_status yoke_gpu_measure(int number, yoke_gpu_speed *speed);

/* ------------------------------------------------------------------- energy */

/* Joules that a GPU's board drew, by NVML, which is opened at first use; with device -1, those of
 * the CPU's packages, by RAPL. YOKE_UNUSABLE with the reason where there is no counter, or it may
 * not be read. */
typedef struct yoke_energy yoke_energy;
YOKE_API yoke_status yoke_energy_open(int device, yoke_energy **meter);
YOKE_API void yoke_energy_start(yoke_energy *meter);

/* Since the start; NaN if the meter is NULL, or if so little time has passed that the counter's
 * steps count: 0.1 s for packages, 1 s for a board. */
YOKE_API double yoke_energy_joules(const yoke_energy *meter);
YOKE_API void yoke_energy_close(yoke_energy *meter);

/* Seconds since some fixed time, monotonic. */
YOKE_API double yoke_seconds(void);

#ifdef __cplusplus
}
#endif

#endif
