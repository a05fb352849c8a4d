/* SPDX-License-Identifier: BSD-3-Clause */
/* yoke.h: the public interface of libyoke, a conjugate gradient solver for
 * sparse symmetric positive definite systems A x = b.
 *
 * CONVENTIONS, said once:
 * - Every call that can fail returns a yoke_status. YOKE_OK is 0. Outputs come
 *   last and are written only on success, unless said otherwise.
 * - The sentence that explains the last failure of the calling thread is
 *   yoke_error_text().
 * - How a solve ended is an outcome (yoke_report.outcome), not a status: a solve
 *   that did not converge returns YOKE_OK.
 * - Handles are opaque and made by ..._create. ..._destroy(NULL) does nothing,
 *   works after any failure and in any order: a matrix lives until its last plan
 *   is gone, a context until its last matrix is gone.
 * - Structs of options begin with their own size. Fill them with the inline
 *   ..._defaults() below; a struct with an unknown size is refused. Fields are
 *   only ever appended.
 * - Rows and nonzeros are int64_t, bytes size_t, times seconds in double, arrays
 *   contiguous. Shapes are written [like, this].
 * - Vectors and arrays may lie in host, pinned, managed or device memory where their comment says
 *   so; all else (options, history, reports) is the host's. The pointer decides how it is copied.
 *   The current CUDA device is the same after a call as before it.
 * - Objects of different contexts may be used in different threads at once; so may
 *   two plans of one matrix. One plan solves for one thread at a time: a second
 *   caller gets YOKE_BUSY.
 * - After fork() the child may destroy what it inherited, and solve with one thread; OpenMP's
 *   threads are the parent's.
 *
 * The header is valid C99, C11 and C++. */
#ifndef YOKE_H
#define YOKE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) && __GNUC__ >= 4
#define YOKE_API __attribute__((visibility("default")))
#else
#define YOKE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define YOKE_VERSION_MAJOR 0
#define YOKE_VERSION_MINOR 1
#define YOKE_VERSION_PATCH 0

/* ---------------------------------------------------------------- statuses */

/* name, value, what it means. Values never change. */
#define YOKE_STATUS_LIST(X)                                                                        \
    X(YOKE_OK, 0, "success")                                                                       \
    X(YOKE_INVALID, 1, "invalid argument")                                                         \
    X(YOKE_UNKNOWN_NAME, 2, "unknown name")                                                        \
    X(YOKE_FORMAT, 3, "malformed input")                                                           \
    X(YOKE_UNSUITABLE, 4, "a matrix this solver is not for")                                       \
    X(YOKE_OVERFLOW, 5, "a size exceeds what its index can hold")                                  \
    X(YOKE_IO, 6, "a file cannot be read or written")                                              \
    X(YOKE_NO_MEMORY, 7, "out of memory")                                                          \
    X(YOKE_NOT_BUILT, 8, "not in this build")                                                      \
    X(YOKE_UNUSABLE, 9, "not usable on this machine")                                              \
    X(YOKE_BUSY, 10, "in use by another call")                                                     \
    X(YOKE_SPOILED, 11, "the object did not survive an earlier failure")                           \
    X(YOKE_DEVICE, 12, "a device failed")                                                          \
    X(YOKE_TIMEOUT, 13, "an owner of rows did not answer in time")                                 \
    X(YOKE_COMMUNICATION, 14, "communication between ranks failed")                                \
    X(YOKE_INTERNAL, 15, "a fault of the library itself")

typedef enum yoke_status {
#define YOKE_STATUS_ENUM(name, value, text) name = value,
    YOKE_STATUS_LIST(YOKE_STATUS_ENUM)
#undef YOKE_STATUS_ENUM
} yoke_status;

/* name, value, word in reports, what it means. Values never change. */
#define YOKE_OUTCOME_LIST(X)                                                                       \
    X(YOKE_CONVERGED, 0, "converged", "the true residual meets the bound")                         \
    X(YOKE_ITERATION_LIMIT, 1, "iteration_limit", "the limit of iterations was reached")           \
    X(YOKE_TIME_LIMIT, 2, "time_limit", "the limit of seconds was reached")                        \
    X(YOKE_STAGNATED, 3, "stagnated", "the true residual no longer falls")                         \
    X(YOKE_DIVERGED, 4, "diverged", "the residual grew beyond the limit of divergence")            \
    X(YOKE_INDEFINITE, 5, "indefinite", "negative curvature: the matrix is not positive definite") \
    X(YOKE_PRECONDITIONER_INDEFINITE, 6, "preconditioner_indefinite",                              \
      "the preconditioner is not positive definite")                                               \
    X(YOKE_BREAKDOWN, 7, "breakdown", "zero curvature: the matrix is singular")                    \
    X(YOKE_NOT_FINITE, 8, "not_finite", "a NaN or an infinity appeared")                           \
    X(YOKE_STOPPED, 9, "stopped", "the caller's monitor asked to stop")                            \
    X(YOKE_CALLBACK_FAILED, 10, "callback_failed", "the caller's operator or preconditioner failed")

typedef enum yoke_outcome {
#define YOKE_OUTCOME_ENUM(name, value, word, text) name = value,
    YOKE_OUTCOME_LIST(YOKE_OUTCOME_ENUM)
#undef YOKE_OUTCOME_ENUM
} yoke_outcome;

/* The meaning of a status ("out of memory"); never NULL. */
YOKE_API const char *yoke_status_text(yoke_status status);

/* The word of an outcome as in reports ("iteration_limit") and its meaning; never NULL. */
YOKE_API const char *yoke_outcome_word(yoke_outcome outcome);
YOKE_API const char *yoke_outcome_text(yoke_outcome outcome);

/* One sentence on the last failure in the calling thread, with its values and where it was
 * found; "" if there was none. Valid until the thread's next failing call. */
YOKE_API const char *yoke_error_text(void);

/* ------------------------------------------------------- version, features */

/* Version of the library that runs, as "0.1.0", and its numbers (each may be NULL). */
YOKE_API const char *yoke_version(int *major, int *minor, int *patch);

/* 1 if this build has the named feature ("openmp", "zlib", "cuda", "mpi", "avx2", "avx512",
 * "neon"), 0 if not or if the name is unknown. */
YOKE_API int yoke_has(const char *feature);

/* ----------------------------------------------------------------- context */

typedef struct yoke_context yoke_context;
typedef struct yoke_matrix yoke_matrix;
typedef struct yoke_plan yoke_plan;

typedef enum yoke_log_level { YOKE_LOG_NOTICE = 1, YOKE_LOG_DETAIL = 2 } yoke_log_level;

typedef struct yoke_context_options {
    size_t struct_size;
    /* CPU threads of a plan. 0: OMP_NUM_THREADS, else the processors of the affinity mask. */
    int threads;
    /* Called with one line a notice, from the thread that called the library; NULL: silent. */
    void (*log)(void *user, yoke_log_level level, const char *text);
    void *log_user;
    /* Host memory for everything that grows with the system. allocate returns NULL on failure;
     * release gets the same size. Both or neither; NULL: the library's own. */
    void *(*allocate)(void *user, size_t alignment, size_t bytes);
    void (*release)(void *user, void *memory, size_t bytes);
    void *memory_user;
} yoke_context_options;

static inline yoke_context_options yoke_context_defaults(void)
{
    yoke_context_options options = {sizeof(yoke_context_options), 0, NULL, NULL, NULL, NULL, NULL};
    return options;
}

/* Makes a context. options: NULL for the defaults. Initialises no driver and no MPI. */
YOKE_API yoke_status yoke_context_create(const yoke_context_options *options,
                                         yoke_context **context);
YOKE_API void yoke_context_destroy(yoke_context *context);
YOKE_API int yoke_context_usable(const yoke_context *context);

/* ------------------------------------------------------------------ matrix */

typedef enum yoke_index_type { YOKE_INT32 = 32, YOKE_INT64 = 64 } yoke_index_type;
typedef enum yoke_value_type { YOKE_FP64 = 64 } yoke_value_type;
typedef enum yoke_space { YOKE_HOST = 0, YOKE_DEVICE_MEMORY = 1 } yoke_space;

/* HOST: memory that the host may read, managed memory too. DEVICE_MEMORY: device or managed memory;
 * it is copied to the host at creation, after what the legacy default stream holds, whatever the
 * ownership, so nothing of it is used in place. YOKE_INVALID names an array that is elsewhere.
 *
 * COPY: the library copies; the caller's arrays are free at return.
 * BORROW: the arrays stay the caller's, unchanged, and outlive the last plan on the matrix. A
 *   canonical CSR is then multiplied in place.
 * TAKE: the library releases the arrays: by csr.release if set, else by free(); on failure too.
 *   Device memory needs csr.release. */
typedef enum yoke_ownership { YOKE_COPY = 0, YOKE_BORROW = 1, YOKE_TAKE = 2 } yoke_ownership;

/* Which entries are given. With LOWER or UPPER the other triangle is the mirror image. */
typedef enum yoke_triangle { YOKE_FULL = 0, YOKE_LOWER = 1, YOKE_UPPER = 2 } yoke_triangle;

/* FIX: sort columns, sum repeated entries. REFUSE: YOKE_UNSUITABLE, naming the first.
 * TRUST: the caller promises that there is none; not looked at. */
typedef enum yoke_policy { YOKE_FIX = 0, YOKE_REFUSE = 1, YOKE_TRUST = 2 } yoke_policy;

/* A compressed sparse row matrix as the caller has it. */
typedef struct yoke_csr {
    size_t struct_size;
    int64_t rows;          /* also the number of columns; may be 0 */
    const void *row_start; /* [rows + 1], in row_start_type; row_start[0] == base */
    const void *column;    /* [nonzeros], in column_type; base <= column < rows + base */
    const double *value;   /* [nonzeros]; nonzeros = row_start[rows] - base */
    yoke_index_type row_start_type;
    yoke_index_type column_type;
    yoke_value_type value_type;
    int base; /* 0 or 1 */
    yoke_space space;
    yoke_ownership ownership;
    yoke_triangle triangle;
    yoke_policy unsorted;    /* columns of a row out of order */
    yoke_policy repeated;    /* one place given more than once */
    yoke_policy unsymmetric; /* REFUSE (default) or TRUST. |aij - aji| <= 1e-12 max(|aij|, |aji|)
                              * counts as symmetric, and the mean is used. */
    void (*release)(void *user, void *array); /* with TAKE, once for each of the three arrays */
    void *release_user;
} yoke_csr;

static inline yoke_csr yoke_csr_defaults(void)
{
    yoke_csr csr = {sizeof(yoke_csr), 0,         NULL,        NULL,      NULL,      YOKE_INT32,
                    YOKE_INT32,       YOKE_FP64, 0,           YOKE_HOST, YOKE_COPY, YOKE_FULL,
                    YOKE_FIX,         YOKE_FIX,  YOKE_REFUSE, NULL,      NULL};
    return csr;
}

/* Makes a matrix. Errors: YOKE_INVALID (a wrong field, an index out of range: named),
 * YOKE_UNSUITABLE (not symmetric: the first offending pair named), YOKE_OVERFLOW,
 * YOKE_NO_MEMORY. NaN and infinities are accepted here: they end a solve as not_finite. */
YOKE_API yoke_status yoke_matrix_create(yoke_context *context, const yoke_csr *csr,
                                        yoke_matrix **matrix);

/* What a user's operator or preconditioner promises. */
enum {
    YOKE_APPLY_DEVICE = 1,     /* takes device pointers where `space` says so; without it a GPU
                                * plan passes vectors through host memory and waits at each call */
    YOKE_APPLY_CAPTURABLE = 2, /* with DEVICE: may be captured in a CUDA graph and replayed
                                * instead of being called again */
    YOKE_APPLY_ROW_RANGES = 4, /* reserved: takes ranges of rows */
    YOKE_APPLY_FIXED_SPD = 8   /* the same symmetric positive definite operator at every call;
                                * without it, beta is the flexible (Polak-Ribiere) one */
};

/* out = Op(in) for nrhs vectors of [rows], contiguous, in the caller's row numbering; in and out
 * do not overlap. In device space enqueues its work on the stream, with the plan's device current,
 * and returns; it may be called some iterations ahead of the end of the loop, whose results are
 * then not used. Returns 0, or anything else to end the solve as callback_failed. Never called by
 * two threads at once for one plan; called outside of any parallel region. */
typedef int (*yoke_apply)(void *user, int nrhs, const double *in, double *out, yoke_space space,
                          void *stream);

typedef struct yoke_operator {
    size_t struct_size;
    int64_t rows;
    yoke_apply apply;
    void *user;
    unsigned flags;         /* YOKE_APPLY_... */
    const double *diagonal; /* [rows] or NULL; copied from any memory; for Jacobi */
} yoke_operator;

static inline yoke_operator yoke_operator_defaults(void)
{
    yoke_operator op = {sizeof(yoke_operator), 0, NULL, NULL, 0, NULL};
    return op;
}

/* Makes a matrix that is known only by its action. */
YOKE_API yoke_status yoke_matrix_create_operator(yoke_context *context, const yoke_operator *op,
                                                 yoke_matrix **matrix);

/* New values [nonzeros as created], in the order of creation; the pattern stays, plans stay
 * good and refresh at their next solve. A borrowed canonical matrix then borrows this array, if
 * it is the host's; device and managed memory is copied, after what the legacy default stream
 * holds. YOKE_BUSY while a plan on the matrix solves; on any other failure the matrix keeps its old
 * values. Errors otherwise as yoke_matrix_create. */
YOKE_API yoke_status yoke_matrix_update_values(yoke_matrix *matrix, const double *value);

YOKE_API int64_t yoke_matrix_rows(const yoke_matrix *matrix);

/* Entries after expansion of a triangle and summing of repeats; -1 for an operator. */
YOKE_API int64_t yoke_matrix_nonzeros(const yoke_matrix *matrix);

/* The canonical matrix (sorted, full, base 0) for reading; valid until the matrix is destroyed or
 * its values are updated. YOKE_UNSUITABLE for an operator. */
YOKE_API yoke_status yoke_matrix_view(const yoke_matrix *matrix, yoke_csr *csr);

YOKE_API int yoke_matrix_usable(const yoke_matrix *matrix);
YOKE_API void yoke_matrix_destroy(yoke_matrix *matrix);

/* -------------------------------------------------------------------- plan */

typedef enum yoke_nullspace { YOKE_NULLSPACE_NONE = 0, YOKE_NULLSPACE_CONSTANT = 1 } yoke_nullspace;

enum { YOKE_DEVICE_AUTO = -1 };

/* Names are those of `cgbench list`; NULL means "auto". */
typedef struct yoke_plan_options {
    size_t struct_size;
    const char *memory;         /* memory mode of what owners share: of a GPU and the CPU "mapped",
                                 * "explicit", "managed", "system" */
    const char *home;           /* where a GPU's arrays lie: "owner"; "shared", in the memory
                                 * mode's memory; "spill:R", a share R of its matrix in pinned host
                                 * memory */
    const char *partition;      /* who owns which rows: "cpu", "gpu", or both, where the CPU has a
                                 * share R: "ratio:R" of the rows, "nonzeros:R", or "model", of
                                 * what is measured; "adaptive": from there, or "adaptive:R", the
                                 * share moves during solves, by the times that are measured */
    const char *solver;         /* recurrence: "cg", which meets twice an iteration; "cg-single",
                                 * "cg-pipelined", which meet once and move more bytes */
    const char *driver;         /* who runs the loop: "team"; on a GPU "stream", "graph" or
                                 * "persistent" */
    const char *format;         /* "csr"; on a GPU also "sell", "cusparse" */
    const char *preconditioner; /* "none" (also for NULL) or "jacobi" */
    const char *shape;          /* "folded" or "unfolded" */
    const char *effort;         /* "estimate" (also for NULL), "measure", "patient" */
    int threads;                /* 0: the context's */
    int parts;                  /* CPU parts; 0: one for each NUMA node in use */
    yoke_nullspace nullspace;   /* CONSTANT: A 1 = 0; b is projected, x has mean 0 */
    /* A preconditioner of the caller's: z = M^-1 r. NULL: the named one. Copied. */
    const yoke_operator *apply_preconditioner;
    /* The GPU of a plan that uses one, by CUDA's number; YOKE_DEVICE_AUTO, the default: the first,
     * or of a rank its own: its number among the ranks of its machine, modulo the GPUs there. */
    int device;
    /* Of that GPU, to see what a smaller, slower one would do: no more than these bytes of its
     * memory (0: all), and no more of its multiprocessors than these (0: all; rounded up to what
     * the device can set apart, with a notice). */
    size_t gpu_memory;
    int gpu_sms;
    /* Order in which the plan has the rows; the caller sees his own alone. "none"; "rcm": reverse
     * Cuthill-McKee, with a copy of the matrix; NULL or "auto": none, but where the effort measures
     * and that halves what travels between parts, with a notice. The bits of x depend on it. */
    const char *reorder;
    /* Several GPUs, in place of `device`: devices[0 .. device_count), at most 8, each of which has
     * a part of the rows; read during the call. A number that is there twice makes two parts on one
     * device. With partition "gpu" or "auto", solver "cg", driver "stream" or "graph". They meet by
     * flags in each other's memory where all reach it and no device is there twice, else by events;
     * memory "explicit": by events in any case; "mapped": through pinned host memory. What does not
     * run with several is refused: YOKE_UNSUITABLE. */
    const int *devices;
    int device_count; /* 0: there is one, `device` */
} yoke_plan_options;

static inline yoke_plan_options yoke_plan_defaults(void)
{
    yoke_plan_options options = {sizeof(yoke_plan_options),
                                 NULL,
                                 NULL,
                                 NULL,
                                 NULL,
                                 NULL,
                                 NULL,
                                 NULL,
                                 NULL,
                                 NULL,
                                 0,
                                 0,
                                 YOKE_NULLSPACE_NONE,
                                 NULL,
                                 YOKE_DEVICE_AUTO,
                                 0,
                                 0,
                                 NULL,
                                 NULL,
                                 0};
    return options;
}

/* Makes a plan: analysis, partition, tuning and all allocation. options: NULL for the defaults.
 * Errors: YOKE_UNKNOWN_NAME (the known ones are listed), YOKE_NOT_BUILT and YOKE_UNUSABLE with the
 * reason, YOKE_NO_MEMORY with the bytes asked. */
YOKE_API yoke_status yoke_plan_create(yoke_matrix *matrix, const yoke_plan_options *options,
                                      yoke_plan **plan);
YOKE_API int yoke_plan_usable(const yoke_plan *plan);
YOKE_API void yoke_plan_destroy(yoke_plan *plan);

typedef struct yoke_memory {
    size_t struct_size;
    size_t host_bytes;   /* that yoke_plan_create would allocate on the host */
    size_t device_bytes; /* and on devices, all together: gpu_memory of so many bytes is enough.
                          * With what managed memory leaves alone of a device that has no more */
} yoke_memory;

static inline yoke_memory yoke_memory_defaults(void)
{
    yoke_memory memory = {sizeof(yoke_memory), 0, 0};
    return memory;
}

/* What a plan with these options would take, without taking it: of a plan that spills by itself,
 * what it would take where there is room. */
YOKE_API yoke_status yoke_plan_memory(yoke_matrix *matrix, const yoke_plan_options *options,
                                      yoke_memory *memory);

/* ------------------------------------------------------------------- solve */

/* What the tolerance is relative to: ||b||_2 or ||b - A x0||_2. */
typedef enum yoke_base { YOKE_BASE_B = 0, YOKE_BASE_R0 = 1 } yoke_base;

/* Called after every iteration (and before the first) with the recursive residual ||r_k||_2, in the
 * units of b. Return 0 to go on, anything else to stop. */
typedef int (*yoke_monitor)(void *user, int64_t iteration, double residual_norm);

typedef struct yoke_solve_options {
    size_t struct_size;
    double rtol; /* stop at ||b - A x||_2 <= max(rtol * base, atol); both >= 0 */
    double atol;
    yoke_base base;
    int initial_guess;      /* 0: x0 = 0; 1: x0 is what x holds at the call */
    int64_t maxit;          /* 0: 10 times the rows, within 1 000 and 1 000 000 */
    int fixed_iterations;   /* 1: exactly maxit iterations, tolerance not tested; for timing */
    double max_seconds;     /* 0: no limit */
    int64_t check_every;    /* test convergence every k iterations; 0: 1 */
    double diverged_factor; /* diverged above this times max(||r0||, ||b||); 0: 1e8 */
    yoke_monitor monitor;
    void *monitor_user;
    double *history;          /* [history_capacity] or NULL: ||r_k||_2 for k = 0, 1, ... */
    int64_t history_capacity; /* entries beyond it are dropped */
    int use_stream;           /* 1: b and x0 are read after what stream holds; needs CUDA */
    void *stream;             /* cudaStream_t, also NULL, cudaStreamPerThread; not one that is being
                               * captured */
} yoke_solve_options;

static inline yoke_solve_options yoke_solve_defaults(void)
{
    yoke_solve_options options = {sizeof(yoke_solve_options),
                                  1e-8,
                                  0.0,
                                  YOKE_BASE_B,
                                  0,
                                  0,
                                  0,
                                  0.0,
                                  0,
                                  0.0,
                                  NULL,
                                  NULL,
                                  NULL,
                                  0,
                                  0,
                                  NULL};
    return options;
}

/* What a solve did. Norms are Euclidean, in the units of b. A figure that is not known is NaN. */
typedef struct yoke_report {
    size_t struct_size;
    yoke_outcome outcome;
    int64_t iterations;
    int64_t maxit;              /* the limit in force */
    double base_norm;           /* ||b|| or ||b - A x0||, as asked */
    double bound;               /* what the residual was tested against */
    double residual_initial;    /* ||b - A x0|| */
    double residual_true;       /* ||b - A x|| of the x returned */
    double residual_recursive;  /* of the recurrence, at the last iteration */
    int returned_snapshot;      /* 1: x is an earlier iterate, whose true residual was smaller */
    int64_t replacements;       /* of the recursive residual by the true one */
    double curvature;           /* p.Ap that ended the solve; NaN otherwise */
    int64_t row;                /* row that ended the solve (0-based); -1: none */
    const char *detail;         /* a sentence on the outcome: "" if there is nothing to add */
    double setup_seconds;       /* refresh of values since the last solve */
    double transfer_seconds;    /* b and x to and from the plan's memory */
    double solve_seconds;       /* iterations alone */
    double check_seconds;       /* true residuals */
    double bytes_per_iteration; /* that format and shape need */
    int64_t history_length;     /* entries that were recorded, within the capacity */
    int threads, ranks, gpus, parts; /* threads: those that came, at most the ones asked for */
    int64_t cpu_rows;
    const char *memory, *home, *partition, *solver, *driver, *format, *preconditioner, *shape,
        *effort;           /* what ran, never "auto"; memory NULL with one owner */
    double plan_seconds;   /* of yoke_plan_create */
    const char *notices;   /* of planning and this solve, one a line; "" if none */
    double upload_seconds; /* of plan_seconds, copying the matrix to a GPU; NaN: not known */
    const char *reorder;   /* order of rows that ran: "none" or "rcm" */
    int64_t cuts_moved;    /* how often the cut moved in this solve, to cpu_rows; 0: it stood */
    const char *meeting;   /* how several GPUs meet, in words; NULL unless there are several */
} yoke_report;

/* Solves A x = b. b, x: [rows], each in host, pinned, managed or device memory, not overlapping;
 * they stay the caller's. A plan on a GPU takes memory of that device, on several of any of them, a
 * CPU plan of any. options: NULL for the defaults.
 * Order: with use_stream all work on the stream is finished before b and x0 are read. Without it
 * they must be complete at the call, except that device and managed memory is read after what the
 * legacy default stream holds. The call returns when x is complete, so whatever is enqueued later,
 * on any stream, sees it.
 * After any outcome x holds the last completed iterate, or the snapshot (report.returned_snapshot)
 * if its true residual is smaller; after a status other than YOKE_OK x is undefined. Allocates
 * nothing, but where a GPU's matrix in SELL is filled again after new values. */
YOKE_API yoke_status yoke_solve(yoke_plan *plan, const double *b, double *x,
                                const yoke_solve_options *options);

/* n systems with one matrix: b [n, ldb], x [n, ldx], a right-hand side contiguous, ldb, ldx >=
 * rows. A report for each: yoke_plan_report_at. The history array belongs to the last. */
YOKE_API yoke_status yoke_solve_many(yoke_plan *plan, int n, const double *b, int64_t ldb,
                                     double *x, int64_t ldx, const yoke_solve_options *options);

/* The report of the last solve, and of the k-th system of the last yoke_solve_many (0-based).
 * The plan's; valid until its next solve. NULL before the first or out of range. */
YOKE_API const yoke_report *yoke_plan_report(const yoke_plan *plan);
YOKE_API const yoke_report *yoke_plan_report_at(const yoke_plan *plan, int k);

#ifdef __cplusplus
}
#endif

#endif
