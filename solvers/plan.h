/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.h: a plan: who owns which rows of one matrix, and all the memory that solving takes. */
#ifndef YK_PLAN_H
#define YK_PLAN_H

#include <stdatomic.h>

#include "lib/iface/memmode.h"
#include "lib/iface/partition.h"
#include "lib/wisdom.h"
#include "partition/adaptive.h"
#include "solvers/candidates.h"
#include "solvers/cg/cg.h"
#include "solvers/cg/row_shape.h"

/* Whether the rows may be in an order of the plan's own. */
typedef enum yk_reorder {
    YK_REORDER_NEVER,
    YK_REORDER_IF_LESS, /* auto: where fewer columns travel then */
    YK_REORDER_ASKED
} yk_reorder;

/* What the planner decided. Names are static. */
typedef struct yk_choice {
    const yk_partition *partition;
    char partition_text[48];   /* with its argument, where it has one */
    char auto_partition[24];   /* the one with a share that auto took; or empty */
    bool owners_are_auto;      /* no partition was named */
    bool owners_were_compared; /* by the model, with a GPU at hand */
    bool shared;               /* rows on a GPU and on the CPU; over ranks, on a GPU at all */
    bool over_gpus;       /* over ranks, whose rows are GPUs', though not this one's have to be */
    int64_t gpu_rows;     /* then: the GPU's */
    bool cut_is_measured; /* and so may be another in the next plan */
    yk_window window;     /* cuts that it may move to while the plan solves; none: it stands */
    char notice[256];     /* of what was done in place of what was asked; or empty */
    const yk_memmode *memmode; /* NULL with one owner */
    const yk_driver *driver;
    const char *home, *solver, *preconditioner, *effort;
    const char *format;
    bool driver_is_auto, format_is_auto;
    yk_residency residency;
    bool measure_driver, measure_format;
    yk_row_shape row_shape;   /* for a GPU */
    bool falls_back;          /* auto took the GPU, and the CPU would do */
    const char *declined;     /* why auto did not take the GPU that it would have; or NULL */
    yk_recurrence recurrence; /* of that solver */
    bool jacobi, folded, shape_is_free, measure_shape, nullspace, stream_q;
    yk_reorder reorder;
    bool foreign_product; /* by cuSPARSE: not folded, p.q in a pass of its own */
    int parts, threads;
    int device; /* the GPU's number, of several the first's */
    int gpus;   /* 0: all rows on the CPU */
    int gpu_device[YK_MOST_GPUS];
    yk_gpus_way gpus_way; /* in which several meet */
    size_t gpu_memory;    /* bytes that it is taken to have; 0: all */
    int gpu_sms;          /* multiprocessors to work on, at least; 0: all */
    bool home_is_auto;
    bool whole_copies;          /* home shared by copies: whole vectors travel between owners */
    yk_home place;              /* the home, of a GPU's rows */
    const char *place_name;     /* memory mode whose memory it is; NULL: the owner's alone */
    char home_text[24];         /* home's name, where it has a share */
    int64_t measure_iterations; /* most that measuring may take, and its seconds */
    double measure_seconds;
} yk_choice;

/* What one solve reports, with the text it points to. */
typedef struct yk_result {
    yoke_report report;
    char detail[512];
    char notices[1152]; /* of planning and of this solve, where it has any */
} yk_result;

struct yoke_plan {
    yoke_matrix *matrix;              /* in the order of the plan */
    struct yk_reordering *reordering; /* reorder.h; NULL: that order is the caller's */
    yk_choice choice;
    bool narrow;                  /* the cut's window: see yk_cut_wish */
    yoke_operator preconditioner; /* the user's, where .apply is set */
    yk_cg cg;
    double *host_diagonal;    /* [rows of GPUs' parts], for Jacobi; else NULL */
    bool loaded;              /* the engine has the matrix */
    int64_t bad_diagonal_row; /* the caller's first row whose diagonal is not positive; -1; for
                                 Jacobi */
    double bad_diagonal;
    long long version; /* of the matrix's values that the parts hold */
    atomic_int busy;
    bool usable;
    yk_result *result; /* [result_capacity >= 1]; those of the last call are valid */
    int results, result_capacity;
    char notices[1024];
    double plan_seconds;
    bool ranks_know; /* over ranks: what follows, and bad_diagonal, are those of all */
    bool ranks_told;
    double all_bytes; /* an iteration */
    int all_gpus;     /* with over_gpus: GPUs, each counted once; and */
    int64_t all_cpu_rows;
    const yk_wise *wise;      /* while it is made: what is known of it; NULL: nothing */
    bool timed;               /* candidates were */
    yk_candidates candidates; /* of these owners, ranked; complete: and of others, all predicted */
    bool candidates_are_complete;
    double sectors; /* as in yoke_shape, once shapes compete */
};

/* plan.c: a line to the log and the reports. */
void yk_plan_note(yoke_plan *plan, const char *format, ...) __attribute__((format(printf, 2, 3)));

void yk_plan_note_cpu(yoke_plan *plan, const char *why);

/* What is to be said of a plan that could not be made. */
typedef struct yk_plan_failure {
    bool falls_back; /* the same options with partition cpu would do as well */
    bool is_full;    /* the GPU that auto took; the CPU then has a share of at least: */
    double least;
} yk_plan_failure;

/* A plan, or none. least: of the rows on the CPU, where that is measured. */
yoke_status yk_plan_make(yoke_matrix *matrix, const yoke_plan_options *options, double least,
                         yoke_plan **plan, yk_plan_failure *failed);

/* fall_back.c: the same, or one that can be made in its place, where auto had the choice. */
yoke_status yk_plan_make_or_fall_back(yoke_matrix *matrix, const yoke_plan_options *options,
                                      yoke_plan **plan);

/* solve.c: the plan is this thread's, and the matrix's values stay, until it is left. */
yoke_status yk_plan_enter(yoke_plan *plan);
void yk_plan_leave(yoke_plan *plan);

/* Of a partition that measures: the CPU's share; negative: not measured yet. narrow: where the cut
 * moves, it is not to give the GPU more rows than that. */
typedef struct yk_cut_wish {
    double share;
    bool narrow;
    double least; /* of it, as the GPU has no room for the rest */
} yk_cut_wish;

/* planner.c: names and "auto" into a choice. */
yoke_status yk_planner_choose(yoke_matrix *matrix, const yoke_plan_options *options,
                              yk_cut_wish wish, yk_choice *choice);

/* cut.c: the CPU's share that a plan's own speeds make the best, and these; unchanged where they
 * cannot be taken. Vectors are 0 before and after. */
yoke_status yk_cut_measure(yoke_plan *plan, double *share, yk_rates *rates);

/* plan_candidates.c: the shape, where nothing is measured, once the rows are cut; fills the list of
 * candidates, best first as far as it is known; and a driver of the choice's engine by name. */
void yk_plan_choose_shape(yoke_plan *plan);
void yk_plan_list_candidates(yoke_plan *plan);
const yk_driver *yk_plan_driver(const yoke_plan *plan, const char *name);

/* tune.c: times candidates on the matrix itself, where the choice says so, and settles on one;
 * makes its driver ready. */
yoke_status yk_tune(yoke_plan *plan);

/* wise.c: fills wise with what is asked of wisdom, and with what it knows. False: nothing is asked
 * for such a plan, nor kept. */
bool yk_wise_ask(const yoke_matrix *matrix, const yoke_plan_options *options, yk_wise *wise,
                 bool *known);

/* Remembers what was found; share: of the rows on the CPU, negative where none was measured. */
void yk_wise_keep(const yoke_plan *plan, yk_wise *wise, double share);

/* tune.c: the state from which an advance is timed where all vectors are 0: they stay so. */
void yk_begin_timing(yk_cg *cg);

/* parts.c: cuts the rows, finds halos, makes pieces; parts_bytes.c: tells what they take;
 * parts_fill.c: takes it, and fills it. */
yoke_status yk_parts_analyse(yoke_plan *plan);
void yk_parts_bytes(const yoke_plan *plan, size_t *host, size_t *device);
yoke_status yk_parts_allocate(yoke_plan *plan);
yoke_status yk_parts_fill_values(yoke_plan *plan);
void yk_parts_free(yoke_plan *plan);

/* diagnose.c: which input a NaN or infinity came from, as a sentence; sets *row (-1: none). */
void yk_diagnose_not_finite(const yoke_plan *plan, const double *b, const double *x0,
                            int64_t iteration, int64_t *row, char *text, size_t size);

#endif
