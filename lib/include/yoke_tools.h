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

/* ----------------------------------------------------------- where time goes */

/* A pass over an owner's rows. */
typedef struct yoke_pass {
    const char *name;  /* "direction", "multiply", "update"; "fold", "update"; or "iteration" of a
                        * system that stays on a GPU's chip, whose passes do not part. Static. */
    const char *owner; /* "gpu" or "cpu" */
    double bytes;   /* that format and shape need; the passes' sum is a report's of an iteration */
    double flops;   /* multiplications and additions */
    double seconds; /* the least of some: a GPU's by events, the CPU's by the clock */
} yoke_pass;

enum { YOKE_PASSES = 8 /* of a plan, at most */ };

/* Runs each pass of an iteration in turn, alone, one owner after the other. pass: [YOKE_PASSES];
 * count: how many it has. The plan's vectors are 0 afterwards; its next solve begins anew.
 * YOKE_UNSUITABLE: what a user's operator or preconditioner moves is not known. */
YOKE_API yoke_status yoke_plan_time_passes(yoke_plan *plan, yoke_pass *pass, int *count);

/* Over ranks: seconds of this rank's first worker, which alone speaks to the others. */
typedef struct yoke_rank_times {
    int64_t iterations;
    double interior; /* multiplying what needs nothing of others, while that travels */
    double halo;     /* then waiting for it */
    double sums;     /* waiting for all-reduces, and so for the slowest rank */
} yoke_rank_times;

/* Local. From now on (on: 1) the plan's solves read clocks, or (0) no longer do; the times begin
 * anew. yoke_plan_rank_times: of the solves since; iterations 0 of a plan that is not watched or
 * not over ranks. */
YOKE_API yoke_status yoke_plan_watch_ranks(yoke_plan *plan, int on);
YOKE_API yoke_status yoke_plan_rank_times(const yoke_plan *plan, yoke_rank_times *times);

/* ------------------------------------------------------------------- model */

enum { YOKE_HALOS = 4 };

/* What a model needs to know of a matrix. */
typedef struct yoke_shape {
    double rows, nonzeros;
    double longest_row;
    double start_bytes;  /* of a row start: 4 or 8 */
    double sell_entries; /* of SELL, padding included */
    int sell_sorted;     /* rows by length: a byte a row more */
    double sectors; /* a row: distinct sectors of 32 bytes of the vector that 256 rows gather */
    /* Where the last 1, 5, 20, 50 % of the rows are cut off: rows of the others that these need,
     * and of these that the others need. */
    double halo_of_last[YOKE_HALOS], halo_of_first[YOKE_HALOS];
} yoke_shape;

/* Of a matrix: SELL and halos by all rows, sectors by some of them. YOKE_UNSUITABLE: an operator.
 */
YOKE_API yoke_status yoke_shape_of_matrix(const yoke_matrix *matrix, yoke_shape *shape);

/* Of a generated one, by its arguments alone: nothing is generated, so it may be larger than
 * memory. Errors as yoke_matrix_generate. */
YOKE_API yoke_status yoke_shape_of_generated(const char *spec, yoke_shape *shape);

/* A machine that the time of an iteration is predicted for: this one ("this"), a shipped one of
 * yoke_list(YOKE_LIST_MACHINES), or the path of a profile. Errors: YOKE_UNKNOWN_NAME, YOKE_INVALID,
 * YOKE_IO. */
typedef struct yoke_model yoke_model;
YOKE_API yoke_status yoke_model_open(yoke_context *context, const char *machine,
                                     yoke_model **model);
YOKE_API void yoke_model_close(yoke_model *model);
YOKE_API const char *yoke_model_machine(const yoke_model *model); /* its name; the model's */

/* What is to be said of its profile, edited by hand or not used; "": nothing. The model's. */
YOKE_API const char *yoke_model_notice(const yoke_model *model);

/* What the machine would be with a link, or cores, or a GPU so many times as fast ("link", "cores",
 * "gpu"), for the predictions that follow. YOKE_INVALID. */
YOKE_API yoke_status yoke_model_scale(yoke_model *model, const char *what, double factor);

/* Figures of the machine by name, as in its profile: "gpu_sms"; NaN if not known. */
YOKE_API double yoke_model_figure(const yoke_model *model, const char *name);

/* The model's own numbers, k from 0; NULL past the end. Setting is for fitting them. */
YOKE_API const char *yoke_model_constant(const yoke_model *model, int k, double *value,
                                         const char **text);
YOKE_API void yoke_model_set_constant(yoke_model *model, int k, double value);

/* A plan, as far as its time goes. Names as in yoke_plan_options; NULL: mapped, owner, what suits
 * the owners, sell, unfolded, none. */
typedef struct yoke_model_plan {
    double cpu_share; /* of the rows, from 0, a GPU alone, to 1, the CPU alone */
    const char *memory, *home, *driver, *format, *shape, *preconditioner;
    int threads; /* of the CPU; 0: those that it has and that are worth waking */
    int gpu_sms; /* multiprocessors; 0: all */
    int ranks;   /* 0, 1: one. Each has such a machine and as many rows */
    double network_latency, network_speed; /* of the network between ranks: s, bytes a second */
} yoke_model_plan;

enum { YOKE_TERMS = 24 };

typedef struct yoke_prediction {
    double seconds;   /* of an iteration; NaN: the machine lacks a figure that the plan needs */
    double cpu, gpu;  /* seconds that each owner works */
    double gpu_bytes; /* that the plan takes of the GPU's memory */
    int fits;         /* these are not more than it has */
    int terms;
    struct yoke_term {
        const char *name, *text; /* static */
        double work, counted;    /* seconds; counted: not hidden behind the other owner */
    } term[YOKE_TERMS];          /* the sum of counted is seconds */
} yoke_prediction;

/* YOKE_UNKNOWN_NAME: a name that the model does not know; YOKE_UNSUITABLE: names that do not go
 * together. */
YOKE_API yoke_status yoke_model_predict(const yoke_model *model, const yoke_shape *shape,
                                        const yoke_model_plan *plan, yoke_prediction *prediction);

/* ----------------------------------------------------------------- profiles */

/* What a model needs to know of a machine: figures, each with where it comes from. */
typedef struct yoke_profile yoke_profile;

/* By name: "this", one of YOKE_LIST_MACHINES, or the path of a file. Of this machine it is what was
 * measured and kept, else what can be assumed. device: the GPU of "this" by CUDA's number, -1 for
 * none. YOKE_UNKNOWN_NAME, YOKE_IO, YOKE_FORMAT (with the line). */
YOKE_API yoke_status yoke_profile_open(const char *machine, int device, yoke_profile **profile);

/* Measures this machine: in less than 15 s with a GPU, 5 s without. Threads: the context's.
 * progress: NULL, or told what is measured next. What could not be measured stays unknown, with a
 * notice. device: as above; without any GPU here the CPU alone is measured. YOKE_UNUSABLE: no such
 * device. */
YOKE_API yoke_status yoke_profile_calibrate(yoke_context *context, int device,
                                            void (*progress)(void *user, const char *step),
                                            void *user, yoke_profile **profile);

/* Writes it as text that a person can read and edit. path NULL: where a profile of this machine is
 * kept, in $XDG_CACHE_HOME/yoke or ~/.cache/yoke. where: NULL, or room for the path. YOKE_IO. */
YOKE_API yoke_status yoke_profile_save(const yoke_profile *profile, const char *path, char *where,
                                       size_t size);
YOKE_API void yoke_profile_close(yoke_profile *profile);

/* One line that its user should be told: why a kept profile was not used (of another machine or
 * driver, cut short, not to be true), that it was edited, or why figures are missing; "": nothing.
 */
YOKE_API const char *yoke_profile_notice(const yoke_profile *profile);

/* Strings live as long as the profile; what is not known is "" or 0. */
typedef struct yoke_profile_machine {
    const char *name, *text, *date, *cpu, *gpu, *driver;
    int threads; /* processors of the machine */
} yoke_profile_machine;
YOKE_API void yoke_profile_describe(const yoke_profile *profile, yoke_profile_machine *machine);

typedef struct yoke_figure {
    const char *name, *text;   /* "gpu_launch", "an empty kernel, back to back" */
    const char *unit;          /* "B/s", "s", "B", "1/s", "" for a count */
    const char *kind;          /* "measured", "published", "assumed", "unknown" */
    const char *source;        /* one line */
    double value;              /* NaN: unknown, or a curve */
    const char *at_unit;       /* of a curve: the unit of at; else NULL */
    int points;                /* of a curve; 0: unknown */
    const double *at, *values; /* [points] of a curve */
} yoke_figure;

/* The k-th figure (0-based); returns 0 past the end. */
YOKE_API int yoke_profile_figure(const yoke_profile *profile, int k, yoke_figure *figure);

/* A figure by name, a curve's at `at`: between its points, flat beyond them. NaN: unknown. */
YOKE_API double yoke_profile_value(const yoke_profile *profile, const char *name, double at);

/* ------------------------------------------------------------------- wisdom */

/* Plans of effort "measure" and "patient" remember in their context what they found: driver,
 * format, shape and the share of rows on the CPU, by a signature of the matrix's pattern and by
 * what was asked. The same plan is then made without timing anything, with a notice in its reports.
 * What "patient" found serves "measure" too.
 *
 * import: adds what a file holds; what was cut short, or is of another machine, driver or version
 * of the library, is not used, with a line to the context's log. YOKE_IO; YOKE_FORMAT for what is
 * no wisdom. export: replaces the file, as text. forget: all of it. */
YOKE_API yoke_status yoke_wisdom_import(yoke_context *context, const char *path);
YOKE_API yoke_status yoke_wisdom_export(yoke_context *context, const char *path);
YOKE_API yoke_status yoke_wisdom_forget(yoke_context *context);

typedef struct yoke_wisdom_counts {
    int known; /* choices that are remembered */
    int64_t used,
        measured; /* plans made by them, and plans measured, since the context knows any */
} yoke_wisdom_counts;
YOKE_API yoke_status yoke_wisdom_count(const yoke_context *context, yoke_wisdom_counts *counts);

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
