/* SPDX-License-Identifier: BSD-3-Clause */
/* model.h: the time of an iteration for any plan, by counting bytes where they lie and steps where
 * they wait; a function a term (model_cpu.c, model_gpu.c, model_link.c,
 * model_ranks.c), put together in model.c.
 * Pure: nothing is asked of the machine at hand. Seconds, bytes; docs/model.md has the formulas. */
#ifndef YK_MODEL_H
#define YK_MODEL_H

#include <stdbool.h>

#include "lib/model_constants.h"
#include "lib/profile.h"

typedef struct yk_model_constants {
#define YK_CONSTANT_FIELD(name, value, text) double name;
    YK_MODEL_CONSTANTS(YK_CONSTANT_FIELD)
#undef YK_CONSTANT_FIELD
} yk_model_constants;

extern const yk_model_constants yk_model_defaults;

typedef enum yk_model_driver {
    YK_MODEL_TEAM,
    YK_MODEL_STREAM,
    YK_MODEL_GRAPH,
    YK_MODEL_PERSISTENT
} yk_model_driver;

typedef enum yk_model_memory {
    YK_MODEL_MAPPED,
    YK_MODEL_EXPLICIT,
    YK_MODEL_MANAGED,
    YK_MODEL_SYSTEM
} yk_model_memory;

typedef enum yk_model_home { YK_MODEL_OWNER, YK_MODEL_SHARED, YK_MODEL_SPILL } yk_model_home;

typedef enum yk_model_solver { YK_MODEL_CG, YK_MODEL_SINGLE, YK_MODEL_PIPELINED } yk_model_solver;

/* A plan, as far as its time goes. */
typedef struct yk_model_plan {
    double cpu_share; /* of the rows, in [0, 1]; 0: a GPU alone, 1: the CPU alone */
    yk_model_driver driver;
    yk_model_memory memory;
    yk_model_home home;
    double spill; /* share of the GPU's matrix in host memory */
    bool sell, folded, jacobi;
    int threads; /* of the CPU; 0: as many as it has and are worth waking */
    int gpu_sms; /* multiprocessors; 0: all */
    int ranks;   /* each with such a machine and an equal share of the rows */
    double network_latency, network_speed;
    bool blocks; /* rows dealt out in compact blocks, by METIS; else in contiguous shares */
    yk_model_solver solver;
} yk_model_plan;

/* X(name, owner, text): owner 'c' of the CPU, 'g' of the GPU, both at the same time; 'b' of both,
 * one after the other; 'n' of the network, after these but for what is hidden behind them. */
#define YK_MODEL_TERMS(X)                                                                          \
    X(cpu_matrix, 'c', "CPU: reading its matrix")                                                  \
    X(cpu_products, 'c', "CPU: multiplying and gathering, beyond reading")                         \
    X(cpu_vectors, 'c', "CPU: its vectors")                                                        \
    X(cpu_barriers, 'c', "CPU: its threads' barriers")                                             \
    X(gpu_matrix, 'g', "GPU: reading its matrix")                                                  \
    X(gpu_gathers, 'g', "GPU: gathering, beyond reading")                                          \
    X(gpu_vectors, 'g', "GPU: its vectors")                                                        \
    X(gpu_host, 'g', "GPU: reading host memory, beyond the rest")                                  \
    X(gpu_launches, 'g', "GPU: launches, or nodes of a graph")                                     \
    X(gpu_tails, 'g', "GPU: tails of passes and their sums")                                       \
    X(halo, 'b', "link: halos, or whole vectors")                                                  \
    X(meeting, 'b', "link: meetings")                                                              \
    X(network_halo, 'n', "network: halos")                                                         \
    X(all_reduce, 'n', "network: sums")                                                            \
    X(rank_link, 'n', "link: what goes on to the network, and comes from it")

enum {
#define YK_TERM_NUMBER(name, owner, text) YK_TERM_##name,
    YK_MODEL_TERMS(YK_TERM_NUMBER)
#undef YK_TERM_NUMBER
        YK_MODEL_TERM_COUNT
};

typedef struct yk_model_term {
    const char *name, *text;
    char owner;
} yk_model_term;

extern const yk_model_term yk_model_terms[YK_MODEL_TERM_COUNT];

enum { YK_HALVES = 2 }; /* of an iteration: up to the product's sum, up to the residual's */

typedef struct yk_model_times {
    double at[YK_HALVES][YK_MODEL_TERM_COUNT];
    double hidden[YK_MODEL_TERM_COUNT]; /* of the network's: behind the rows' work */
} yk_model_times;

typedef struct yk_model_result {
    double seconds;                      /* of an iteration: the sum of counted[] */
    double work[YK_MODEL_TERM_COUNT];    /* seconds that a term takes its owner */
    double counted[YK_MODEL_TERM_COUNT]; /* of them, those in halves whose slower owner it is */
    double cpu, gpu;                     /* seconds that each owner works */
    double gpu_bytes;                    /* that the plan takes of the GPU's memory */
} yk_model_result;

/* Everything that a term may depend on. */
typedef struct yk_model {
    const yk_profile *machine;
    const yk_model_constants *c;
    const yoke_shape *matrix;
    const yk_model_plan *plan;
    double rows, nonzeros;       /* of a rank */
    double cpu_rows, gpu_rows;   /* of these */
    double cpu_bytes, gpu_bytes; /* of their matrices */
    double cpu_set, gpu_set;     /* bytes that an iteration touches */
    int threads;
} yk_model;

/* constants NULL: yk_model_defaults. A figure that the machine lacks and the plan needs makes the
 * seconds NaN. */
void yk_model_predict(const yk_profile *machine, const yk_model_constants *constants,
                      const yoke_shape *matrix, const yk_model_plan *plan, yk_model_result *result);

/* Bytes a row of the vectors: 80, folded 72, Jacobi 16 more; of one half. Of the recurrences with
 * one sum, which have all in the first: cg-single 88, Jacobi 24 more, cg-pipelined 120, 16 more. */
double yk_model_row_bytes(const yk_model *m, int half);

/* Of these, what the pass that multiplies moves. */
double yk_model_product_bytes(const yk_model *m);

static inline int yk_model_halves(const yk_model *m)
{
    return m->plan->solver == YK_MODEL_CG ? YK_HALVES : 1;
}

/* Where halos are counted: shares of the last rows. */
#define YK_HALO_SHARES                                                                             \
    {                                                                                              \
        0.01, 0.05, 0.2, 0.5                                                                       \
    }

/* The terms, each added to at[half][its number]. */
void yk_model_cpu_terms(const yk_model *m, yk_model_times *times);
void yk_model_gpu_terms(const yk_model *m, yk_model_times *times);
void yk_model_link_terms(const yk_model *m, yk_model_times *times);
/* Once the others are there: they say what of the network's is hidden. */
void yk_model_rank_terms(const yk_model *m, yk_model_times *times);

/* What a rank of plan->ranks needs of the others. */
yoke_rank_cut yk_model_cut(const yoke_shape *matrix, int ranks, bool blocks);

/* The recurrence that plan's ranks should run: one with a single sum where that takes at most 0.95
 * of cg's time, else cg, which is also the answer of one rank. */
yk_model_solver yk_model_best_solver(const yk_profile *machine, const yk_model_constants *constants,
                                     const yoke_shape *matrix, const yk_model_plan *plan);

/* Seconds of a meeting of a GPU and its host. */
double yk_model_meeting(const yk_model *m);

/* Seconds that a pass of the GPU's costs beside its bytes. */
double yk_model_gpu_tail(const yk_model *m);
double yk_model_cpu_barrier(const yk_model *m);

/* Whether the GPU's passes read host memory, and so share it with the CPU. */
bool yk_model_reads_host_memory(const yk_model *m);

/* Share of the gathers whose sector no other row near by wants. */
double yk_model_lonely(const yoke_shape *matrix);

/* Rows of the other that the CPU needs, or the GPU, at a cut that leaves the CPU the last rows. */
double yk_model_halo(const yoke_shape *matrix, double cpu_share, bool of_cpu);

#endif
