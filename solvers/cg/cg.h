/* SPDX-License-Identifier: BSD-3-Clause */
/* cg.h: the state of one CG solve over parts, the driver that runs it, and the algorithm on top. */
#ifndef YK_CG_H
#define YK_CG_H

#include "lib/home.h"
#include "lib/iface/memmode.h"
#include "lib/part.h"
#include "lib/place.h"
#include "solvers/cg/cpu_passes.h"
#include "solvers/cg/scalars_one_sum.h"

/* The share of a part that one thread works on. With fewer threads than pieces a thread does
 * several, so no result depends on how many came. */
typedef struct yk_piece {
    int part;
    int64_t first, last;           /* local rows; first is a multiple of YK_CHUNK */
    int64_t halo_first, halo_last; /* of the halo [0, halo) whose p this piece updates */
    int64_t *send_first;           /* [2 sends]: of send i, rows [2 i], up to [2 i + 1], are here */
    yk_tree sums;
    double ended[2]; /* by the meeting's parity: its worker was done; only where a clock runs */
    double largest;  /* of a pass over magnitudes; of bad_row, its diagonal */
    int64_t bad_row; /* the caller's first row whose diagonal is not positive; -1: none */
} yk_piece;

typedef struct yk_cg yk_cg;

typedef enum yk_vector {
    YK_VECTOR_X,
    YK_VECTOR_R,
    YK_VECTOR_Z,
    YK_VECTOR_P,
    YK_VECTOR_Q,
    YK_VECTOR_S,
    YK_VECTOR_T,
    YK_VECTOR_M
} yk_vector;

/* What parts send to each other: the boundary of z, and outside the loop of x; where a cut moves,
 * by the way of x, that of p. Recurrences with one sum also that of p, outside the loop, and with
 * pipelining that of m. */
typedef enum yk_boundary {
    YK_BOUNDARY_Z,
    YK_BOUNDARY_X,
    YK_BOUNDARY_P,
    YK_BOUNDARY_M /* and the next one: of m[0], m[1] */
} yk_boundary;

static inline double *yk_boundary_vector(const yk_part *part, yk_boundary which)
{
    switch (which) {
    case YK_BOUNDARY_Z: return part->z;
    case YK_BOUNDARY_X: return part->x;
    case YK_BOUNDARY_P: return part->p;
    default: return part->m[which - YK_BOUNDARY_M];
    }
}

/* Of whole iterations beside a cut that moves, read by the first worker alone. */
typedef struct yk_clock {
    double seconds, busy; /* of `iterations`; of these, what the CPU's threads took */
    int64_t iterations;
    double half_began, half_busy, lap_began;
    bool skips; /* this iteration */
} yk_clock;

typedef struct yk_cuts yk_cuts; /* cuts.h */

/* Who does the work on the parts, in whose memory: CPU threads, a GPU, or both. Read at planning.
 */
typedef struct yk_engine {
    const char *name;
    /* Planning; open, close and load_... are NULL where the matrix is used where it lies. */
    yoke_status (*open)(yk_cg *cg);
    void (*close)(yk_cg *cg);
    /* Where the part's owner has its vectors. */
    yoke_status (*allocate)(yk_cg *cg, const yk_part *part, const char *what, int64_t count,
                            double **vector);
    void (*release)(yk_cg *cg, const yk_part *part, double *vector, int64_t count);
    /* Bytes beside the vectors and the matrix; open or not. */
    void (*state_bytes)(const yk_cg *cg, size_t *host, size_t *device);
    /* Refuses, before anything is taken, what a part needs beyond what is free; of managed memory
     * too. */
    yoke_status (*reserve)(yk_cg *cg, const yk_part *part, size_t bytes, size_t managed);
    /* Bytes that a plan may still take of the owner's own. */
    yoke_status (*available)(yk_cg *cg, size_t *bytes);
    /* The matrix of a GPU's part from host memory, in a format by name. */
    yoke_status (*load_matrix)(yk_cg *cg, const yk_part *part, const yk_csr *csr,
                               const char *format);
    /* For timing: switches to a format, made from the CSR that was loaded; then keeps that alone.
     */
    yoke_status (*use_format)(yk_cg *cg, const char *format);
    void (*keep_format)(yk_cg *cg);
    yoke_status (*load_values)(yk_cg *cg, const yk_part *part, const yk_csr *csr);
    yoke_status (*load_vector)(yk_cg *cg, const yk_part *part, double *to, const double *from,
                               int64_t count);
    /* One task over all rows, outside the loop; total: its sums or its largest magnitude. */
    void (*run)(yk_cg *cg, yk_task task, double argument, double *total);
    /* out = Op in by the user's callback, outside the loop; false if it failed. */
    bool (*apply)(yk_cg *cg, const yoke_operator *op, yk_vector in, yk_vector out);
    /* Seconds of one iteration's passes over each owner's rows, for planning; NULL: there is one
     * owner. */
    void (*time_passes)(yk_cg *cg, double *cpu, double *gpu);
    /* All vectors 0: then no pass makes numbers that take longer. And seconds of each task in turn,
     * alone, over each owner's rows; NaN where it has none, and after a failure. */
    void (*clear)(yk_cg *cg);
    void (*time_tasks)(yk_cg *cg, const yk_task *task, int count, double *cpu, double *gpu);
    /* Every boundary into the halos of all parts, outside the loop; NULL: there is one part. */
    void (*exchange)(yk_cg *cg, yk_boundary which);
    /* b into the parts; x0 into x, or 0 where it is NULL; p = 0. */
    void (*import)(yk_cg *cg, const double *b, const double *x0);
    /* x, times the factor, to the caller. */
    void (*export)(yk_cg *cg, double *x, double factor);
    /* Of an engine whose cut may move: what is the owners' own of a cut in force; and from the cut
     * in force to another, with the rows' vectors, which takes no memory. */
    void (*take_cut)(yk_cg *cg, int cut);
    void (*move_cut)(yk_cg *cg, int cut);
} yk_engine;

/* How several GPUs are to meet: see gpus.h. */
typedef enum yk_gpus_way {
    YK_GPUS_BEST,
    YK_GPUS_BY_EVENTS, /* memory explicit */
    YK_GPUS_MAPPED     /* through pinned host memory */
} yk_gpus_way;

/* Whether a system may stay on a GPU's chip for a whole advance. */
typedef enum yk_residency {
    YK_RESIDENT_NEVER,
    YK_RESIDENT_IF_FASTER, /* auto: if that is the faster way */
    YK_RESIDENT_ASKED      /* if its vectors do */
} yk_residency;

/* No more blocks (multiprocessors) are used, nor chunks of rows a block. With more than the last
 * number of chunks the vectors alone are better held (gpu_held.h): on an H200 poisson3d7:72, with
 * 16, took 23.9 us an iteration, 20.4 by graph, and 13.3 so. */
enum { YK_RESIDENT_BLOCKS = 160, YK_RESIDENT_CHUNKS = 16, YK_RESIDENT_AUTO_CHUNKS = 8 };

/* Bytes that a block can have, at most, and those of an entry in it. */
enum { YK_RESIDENT_SHARED = 232448, YK_RESIDENT_ENTRY = 10 };

/* A driver runs the recurrence: until a stop (cg->s.stop) or for at_most iterations. */
typedef struct yk_driver {
    const char *name, *text;
    const yk_engine *engine;
    bool wins;            /* where it accepts: auto takes it, untimed */
    bool takes_callbacks; /* a user's operator or preconditioner; a product that is not ours */
    const struct yk_driver *with_cpu; /* the same where the CPU has rows too; NULL: there is none */
    const struct yk_driver *with_gpus;  /* and where several GPUs have */
    const struct yk_driver *over_ranks; /* of with_cpu, the same where other ranks have rows too */
    /* Planning, with the matrix loaded and the shape set. accepts: YOKE_OK, or why it cannot run
     * this; prepare: makes what advance would otherwise make, again after a change of format or
     * shape. NULL: takes any; needs nothing. */
    yoke_status (*accepts)(const yk_cg *cg);
    yoke_status (*prepare)(yk_cg *cg);
    /* The same as prepare, of all cuts that a moving one may take. NULL: needs nothing. */
    yoke_status (*prepare_cuts)(yk_cg *cg);
    void (*advance)(yk_cg *cg, int64_t at_most);
} yk_driver;

struct yk_cg {
    yoke_context *context;
    const yk_driver *driver;
    const yoke_operator *op;             /* A, if it is known by its action alone; else NULL */
    const yoke_operator *preconditioner; /* the user's; else NULL */
    bool jacobi, folded, nullspace;
    yk_recurrence recurrence, planned; /* in this solve: round-off may lead to classical CG */
    bool turns_m;                      /* workers may gather from m[0] while others write m[1] */
    yk_vector factor, product;         /* of YK_TASK_PRODUCT: m and q in the loop */
    bool stream_q;                     /* see passes.h */
    int64_t rows;                      /* of this process; */
    int64_t all_rows;                  /* of the system */
    int64_t first_chunk;               /* that this process's rows begin with */
    struct yk_cg_ranks *ranks;         /* over ranks: see ranks.h; NULL in one process */

    yk_part *part;
    int parts;
    yk_piece *piece;
    int pieces, threads;
    int pieces_made; /* at most, where their number changes as the cut moves */
    int gpu_pieces;  /* the first ones: of GPUs' parts, which threads only fill, at planning */
    int came;        /* threads that the last solve really had */
    int *pieces_of;  /* [parts] */
    yk_link link;
    yk_cuts *cuts;     /* of a cut that moves; NULL: it stands */
    bool whole_copies; /* between a GPU and the CPU all of z travels, as in a plain port */
    double *whole_z;   /* then: [rows] pinned, where CPU parts put theirs; else NULL */
    const yk_cpu_passes *passes;
    double *staging[2];           /* [rows] in, out of callbacks, where parts > 1 */
    struct yk_gpu_state *gpu;     /* of the GPU engine */
    int device;                   /* that it is to use */
    int gpus;                     /* whose parts are the first ones */
    int gpu_device[YK_MOST_GPUS]; /* of several, by part */
    yk_gpus_way gpus_way;
    const char *met_by;      /* how they do, once that is known; static */
    struct yk_gpus *several; /* of the engine for several */
    yk_residency residency;
    yk_home home;          /* of a GPU's arrays */
    size_t gpu_memory;     /* bytes that the GPU is taken to have; 0: all */
    int gpu_sms;           /* multiprocessors to work on, at least; 0: all */
    int multiprocessors;   /* of the GPU that really do */
    double upload_seconds; /* of planning: copying the matrix to a GPU */
    double matrix_bytes;   /* that a product reads of a GPU's matrix, in the format in use */

    /* State at an iteration's boundary; any driver can resume it. */
    yk_cg_scalars s;
    yk_cg_drift drift;
    yk_cg_limits limits;
    unsigned meetings; /* held so far */
    int newest_p;      /* folded: which of p, p_old holds the last direction; with m[2]: of these */
    int exponent;      /* the system is scaled by 2^-exponent */
    double *history;
    int64_t history_capacity;
    bool overflowed;             /* the solution, unscaled, left the range of double precision */
    const char *failed_callback; /* "operator" or "preconditioner", once it returned non-zero */
    const char *not_finite_from; /* the same, once its output alone was not finite */
    yk_place b_at, x_at;         /* where the caller's vectors are, in this solve */
    yoke_status status;          /* of the first device call that failed in this solve */
};

extern const yk_engine yk_engine_cpu, yk_engine_gpu, yk_engine_together, yk_engine_gpus;
extern const yk_driver yk_driver_team, yk_driver_stream, yk_driver_graph, yk_driver_persistent;
extern const yk_driver yk_driver_stream_with_cpu, yk_driver_graph_with_cpu;
extern const yk_driver yk_driver_stream_with_gpus, yk_driver_graph_with_gpus;
extern const yk_driver yk_driver_stream_over_ranks, yk_driver_graph_over_ranks;

/* Pieces by the threads of the team: those of the CPU's parts; or those of a GPU's. */
typedef void (*yk_piece_fn)(yk_cg *cg, yk_piece *piece, void *user);
void yk_team_run(yk_cg *cg, yk_piece_fn body, void *user);
void yk_team_run_for_gpu(yk_cg *cg, yk_piece_fn body, void *user);

/* The two halves of an iteration, each ended by a meeting; with one sum an iteration by one of them
 * alone: cg-single's behind the product, cg-pipelined's behind the step, before the product. */
typedef enum yk_half { YK_HALF_MULTIPLY, YK_HALF_UPDATE } yk_half;

/* An owner whose work the first worker enqueues beside doing its own: the GPU of a plan with CPU
 * parts. It calls, in each half, begin before its own pieces, over ranks halo once z of others has
 * come in the one that multiplies, finish after its pieces, arrived once it has arrived at the
 * meeting: by then, or soon, the companion's sums are in its part's slot. left:
 * iterations, this one included. NULL: nothing to do. False: it failed, which cg->status says, and
 * all leave the loop. */
typedef struct yk_companion {
    bool (*begin)(yk_cg *cg, yk_half half, const yk_cg_scalars *s);
    bool (*halo)(yk_cg *cg);
    bool (*finish)(yk_cg *cg, yk_half half, unsigned meeting);
    bool (*arrived)(yk_cg *cg, yk_half half, unsigned meeting, int64_t left);
} yk_companion;

/* Outside the loop: a task over the CPU's parts; then its sums behind those of the rows before, and
 * the largest magnitude. */
void yk_team_task(yk_cg *cg, yk_task task, double argument);
void yk_team_append_sums(const yk_cg *cg, yk_tree *all);
double yk_team_largest(const yk_cg *cg);

/* The CPU's parts through an advance, by the threads of the team, with a companion or NULL. */
void yk_team_advance(yk_cg *cg, const yk_companion *with, int64_t at_most);

/* Rows of a part as the passes see them, with the scalars of the state. */
yk_cg_rows yk_cg_view(const yk_cg *cg, const yk_part *part, const yk_cg_scalars *s, int newest_p);

/* Sends the boundary rows of a piece, from the part's z or x, into the receivers' halos. */
void yk_send_boundary(const yk_cg *cg, const yk_piece *piece, yk_boundary which);

/* Of a recurrence with one sum: its step. */
yk_task yk_cg_step_task(const yk_cg *cg);

/* The task of the loop that updates r, and the one that makes it b - A x. */
yk_task yk_cg_update_task(const yk_cg *cg);
yk_task yk_cg_residual_task(const yk_cg *cg);

/* A vector of a part where no iteration folds; m is the newest. */
double *yk_cg_vector(const yk_cg *cg, int part, yk_vector which);

/* out = Op in by the user's callback, over all parts, outside the loop; false if it failed, which
 * is noted. */
bool yk_cg_callback(yk_cg *cg, const yoke_operator *op, yk_vector in, yk_vector out);
bool yk_cpu_apply(yk_cg *cg, const yoke_operator *op, yk_vector in, yk_vector out);
void yk_cg_note_failed_callback(yk_cg *cg, const yoke_operator *op);

/* Solves with the parts' memory: see cg.c. */
yoke_status yk_cg_solve(yk_cg *cg, const double *b, double *x, const yoke_solve_options *options,
                        yoke_report *report);

#endif
