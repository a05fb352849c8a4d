/* SPDX-License-Identifier: BSD-3-Clause */
/* profile.h: what a model needs to know of a machine, each figure with where it comes from. Times
 * in seconds, speeds in bytes a second, sizes in bytes, gathers (random reads of 8 bytes) a second.
 */
#ifndef YK_PROFILE_H
#define YK_PROFILE_H

#include <stdbool.h>
#include <yoke_tools.h>

typedef enum yk_figure_kind { YK_UNKNOWN, YK_MEASURED, YK_PUBLISHED, YK_ASSUMED } yk_figure_kind;

enum { YK_SOURCE_BYTES = 96, YK_CURVE_POINTS = 16 };

typedef struct yk_figure {
    double value; /* NaN where the kind is YK_UNKNOWN */
    yk_figure_kind kind;
    char source[YK_SOURCE_BYTES]; /* one line; "" if unknown */
} yk_figure;

/* value[k] at at[k], at ascending and above 0; no points: unknown. */
typedef struct yk_curve {
    int points;
    double at[YK_CURVE_POINTS], value[YK_CURVE_POINTS];
    yk_figure_kind kind;
    char source[YK_SOURCE_BYTES];
} yk_curve;

/* X(name, unit, text). A gpu figure is that of one GPU, the cpu's that of all cpu_threads threads
 * unless said otherwise. "host": its memory, read or written through the link. */
#define YK_PROFILE_FIGURES(X)                                                                      \
    X(cpu_threads, YK_COUNT, "threads of the CPU that a solve has")                                \
    X(numa_nodes, YK_COUNT, "NUMA nodes that they lie on")                                         \
    X(host_memory_bytes, YK_BYTES, "memory of the CPU")                                            \
    X(cpu_cache_bytes, YK_BYTES, "last caches of the CPU together")                                \
    X(cpu_gather, YK_RATE, "random reads of 8 bytes from the CPU's memory")                        \
    X(cpu_region, YK_SECONDS, "entering and leaving a parallel region")                            \
    X(cpu_barrier, YK_SECONDS, "a barrier of the threads")                                         \
    X(cpu_flag, YK_SECONDS, "thread to thread by a flag, one way")                                 \
    X(gpu_count, YK_COUNT, "GPUs; 0: none")                                                        \
    X(gpu_sms, YK_COUNT, "multiprocessors")                                                        \
    X(gpu_l2_bytes, YK_BYTES, "level 2 cache")                                                     \
    X(gpu_memory_bytes, YK_BYTES, "memory of the GPU")                                             \
    X(gpu_write, YK_SPEED, "writing the GPU's memory")                                             \
    X(gpu_triad, YK_SPEED, "two arrays read, one written")                                         \
    X(gpu_launch, YK_SECONDS, "an empty kernel, back to back")                                     \
    X(gpu_launch_sync, YK_SECONDS, "an empty kernel, and waiting for it")                          \
    X(gpu_graph_node, YK_SECONDS, "a node of a graph")                                             \
    X(gpu_graph_launch, YK_SECONDS, "a graph of one node, and waiting for it")                     \
    X(gpu_grid_barrier, YK_SECONDS, "a barrier of a block on every multiprocessor")                \
    X(coherent, YK_COUNT, "1: the CPU reaches the GPU's memory, pages stay where they are")        \
    X(pageable, YK_COUNT, "1: the GPU reaches plain memory")                                       \
    X(flag_round_trip, YK_SECONDS, "CPU to GPU to CPU by flags in the CPU's memory")               \
    X(copy_latency, YK_SECONDS, "8 bytes from the GPU, and waiting for them")                      \
    X(link_to_gpu, YK_SPEED, "copies to the GPU")                                                  \
    X(link_from_gpu, YK_SPEED, "copies from the GPU")                                              \
    X(link_both, YK_SPEED, "both at once, the sum")                                                \
    X(gpu_reads_host, YK_SPEED, "the GPU's kernels reading host memory")                           \
    X(gpu_writes_host, YK_SPEED, "the GPU's kernels writing host memory")                          \
    X(gpu_reads_host_shared, YK_SPEED, "the same reading while the CPU reads its memory too")      \
    X(cpu_reads_host_shared, YK_SPEED, "the CPU's share then")                                     \
    X(cpu_reads_gpu, YK_SPEED, "the CPU reading the GPU's memory")                                 \
    X(page_migration_to_gpu, YK_SPEED, "managed pages by prefetch to the GPU")                     \
    X(page_migration_to_cpu, YK_SPEED, "managed pages by prefetch to the CPU")                     \
    X(page_faults_to_gpu, YK_SPEED, "managed pages as the GPU touches them")                       \
    X(page_faults_to_cpu, YK_SPEED, "managed pages as the CPU touches them")                       \
    X(page_round_trip, YK_SECONDS, "a managed page that both touch in turn, to and fro")           \
    X(peer_copy, YK_SPEED, "copies from one GPU to another")                                       \
    X(peer_reads, YK_SPEED, "a GPU's kernels reading another's memory")                            \
    X(peer_flag, YK_SECONDS, "GPU to GPU to GPU by flags")

/* X(name, unit of the value, unit of at, text) */
#define YK_PROFILE_CURVES(X)                                                                       \
    X(cpu_read, YK_SPEED, YK_COUNT, "the CPU reading its memory, by threads")                      \
    X(cpu_triad, YK_SPEED, YK_COUNT, "the CPU reading two arrays and writing one, by threads")     \
    X(cpu_read_set, YK_SPEED, YK_BYTES, "all threads reading a working set over and over")         \
    X(cpu_gather_set, YK_RATE, YK_BYTES, "random reads of 8 bytes from a vector, all threads")     \
    X(gpu_read, YK_SPEED, YK_BYTES, "the GPU reading a working set over and over")                 \
    X(gpu_copy, YK_SPEED, YK_BYTES, "the GPU copying within a working set")                        \
    X(gpu_read_sms, YK_SPEED, YK_COUNT, "the GPU reading its memory, by multiprocessors")          \
    X(gpu_reads_host_sms, YK_SPEED, YK_COUNT, "the GPU reading host memory, by multiprocessors")   \
    X(gpu_gather_set, YK_RATE, YK_BYTES, "random reads of 8 bytes from a vector, the GPU")         \
    X(copy_time, YK_SECONDS, YK_BYTES, "a copy from the GPU, and waiting for it, by its size")

typedef enum yk_unit { YK_COUNT, YK_BYTES, YK_SECONDS, YK_SPEED, YK_RATE } yk_unit;

/* What a profile is true of: another key is another machine. Driver "" and gpu "" without a GPU. */
typedef struct yk_profile_key {
    char cpu[96], gpu[64], driver[48];
    int threads; /* processors of the affinity mask, however many are used */
} yk_profile_key;

typedef struct yk_profile {
    char name[32]; /* "this", a shipped one's, or "file" */
    char date[24]; /* when it was made: "2026-12-01"; "" if that is not known */
    char text[96]; /* one line on what machine it is */
    yk_profile_key key;
#define YK_FIGURE_FIELD(name, unit, text) yk_figure name;
    YK_PROFILE_FIGURES(YK_FIGURE_FIELD)
#undef YK_FIGURE_FIELD
#define YK_CURVE_FIELD(name, unit, at, text) yk_curve name;
    YK_PROFILE_CURVES(YK_CURVE_FIELD)
#undef YK_CURVE_FIELD
} yk_profile;

/* Every figure unknown. */
void yk_profile_clear(yk_profile *profile);

/* The straight line over log(at) between the two neighbours; flat beyond the ends; NaN where the
 * curve is unknown or at is not above 0. */
double yk_curve_at(const yk_curve *curve, double at);

static inline bool yk_known(const yk_figure *figure)
{
    return figure->kind != YK_UNKNOWN;
}

/* The figure's value, or other where it is unknown. */
static inline double yk_figure_or(const yk_figure *figure, double other)
{
    return yk_known(figure) ? figure->value : other;
}

void yk_figure_set(yk_figure *figure, double value, yk_figure_kind kind, const char *source);

/* Appends a point and gives the curve its kind and source; ascending is the caller's matter. A NaN,
 * or a point too many, is left out. */
void yk_curve_add(yk_curve *curve, double at, double value, yk_figure_kind kind,
                  const char *source);

/* The names, to walk over: table[count]. */
typedef struct yk_profile_entry {
    const char *name, *text;
    yk_unit unit, at; /* at: of curves */
    bool is_curve;
    size_t offset; /* in yk_profile: of a yk_figure or a yk_curve */
} yk_profile_entry;

extern const yk_profile_entry yk_profile_entries[];
extern const int yk_profile_entry_count;

static inline yk_figure *yk_profile_figure(yk_profile *profile, const yk_profile_entry *entry)
{
    return (yk_figure *)(void *)((char *)profile + entry->offset);
}

static inline yk_curve *yk_profile_curve(yk_profile *profile, const yk_profile_entry *entry)
{
    return (yk_curve *)(void *)((char *)profile + entry->offset);
}

const char *yk_unit_text(yk_unit unit);               /* "B/s" */
const char *yk_figure_kind_text(yk_figure_kind kind); /* "measured" */

/* Whether a value of that unit can be true of a machine at all. */
bool yk_unit_sane(yk_unit unit, double value);

/* --------------------------------------------------------- where they come from */

/* The k-th shipped profile's name (0-based), NULL past the end. */
const char *yk_profile_shipped_name(int k);

/* A shipped profile. YOKE_UNKNOWN_NAME: there is none of that name. */
yoke_status yk_profile_shipped(const char *name, yk_profile *profile);

/* What the machine at hand is; measures nothing. device: a GPU by CUDA's number, which is asked
 * (0.1 s the first time); -1: the key has none. */
void yk_profile_key_here(int device, yk_profile_key *key);

/* Whether a key is not the one here, and in why what is: "is of another CPU ('...', here '...')".
 * GPU and driver count where the one here has a GPU. */
bool yk_profile_key_differs(const yk_profile_key *kept, const yk_profile_key *here, char *why,
                            size_t size);

/* Its key and the sizes that the system tells, as measured; all else unknown. */
void yk_profile_describe(int device, yk_profile *profile);

/* The same, and speeds of the shipped profile that is nearest, as assumed.
 * device as above; -1: no GPU. */
void yk_profile_assume(int device, yk_profile *profile);

/* Where this machine's profile is kept. YOKE_IO: nowhere. */
yoke_status yk_profile_kept_path(const yk_profile_key *key, bool make, char *path, size_t size);

/* What is kept for this machine, else what can be assumed of it. Never fails. notice: "", or why a
 * kept one was not used, or that it was edited; it is told to nobody. A key without a GPU is met by
 * a profile with any. *kept: whether it is the kept one. */
void yk_profile_here(int device, yk_profile *profile, bool *kept, char *notice, size_t size);

/* By "this", a shipped name, or a path (what holds a '/' or a '.'). YOKE_UNKNOWN_NAME lists the
 * known ones. notice as above. */
yoke_status yk_profile_open(const char *name, int device, yk_profile *profile, char *notice,
                            size_t size);

/* Text to profile. YOKE_FORMAT, with the line, for what is no profile of this version, cut short,
 * or cannot be true; then every figure is unknown. *edited: whether it was changed by hand since it
 * was written; NULL: not asked. where: names the text in sentences. */
yoke_status yk_profile_parse(const char *text, size_t size, const char *where, yk_profile *profile,
                             bool *edited);
yoke_status yk_profile_read(const char *path, yk_profile *profile, bool *edited);

/* Replaces the file at once or leaves it. YOKE_IO: cannot be written. */
yoke_status yk_profile_write(const char *path, const yk_profile *profile);

#endif
