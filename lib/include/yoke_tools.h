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

/* Seconds since some fixed time, monotonic. */
YOKE_API double yoke_seconds(void);

#ifdef __cplusplus
}
#endif

#endif
