/* SPDX-License-Identifier: BSD-3-Clause */
/* options_table.c: every option of cgbench. To add one, add a row. */
#include "bench/options.h"

#define AT(field) offsetof(bench_options, field)

enum {
    ONE_BY_ONE = COMMAND_SOLVE | COMMAND_RUN, /* of which each row is for a reader */
    SOLVES = ONE_BY_ONE | COMMAND_STUDY,
    MODELS = SOLVES | COMMAND_PREDICT,
    THREADED = MODELS | COMMAND_MACHINE,
    ALL = THREADED | COMMAND_LIST
};

#define EXCHANGE_LATER                                                                             \
    "not in this version yet: what GPUs send to other ranks goes through host memory; use staged"

#define NAMES(option, field, kind_, text)                                                          \
    {                                                                                              \
        .name = option, .argument = "NAME,...", .help = text, .kind = KIND_NAMES,                  \
        .commands = MODELS, .offset = AT(axis[field]), .names = kind_                              \
    }
#define LATER(option, argument_, kind_, commands_, text, why)                                      \
    {                                                                                              \
        .name = option, .argument = argument_, .help = text, .kind = kind_, .commands = commands_, \
        .offset = AT(ignored), .later = why                                                        \
    }
#define FILE_OPTION(option, field, commands_, text)                                                \
    {                                                                                              \
        .name = option, .argument = "FILE", .help = text, .kind = KIND_TEXT,                       \
        .commands = commands_, .offset = AT(field)                                                 \
    }
#define COUNT_OPTION(option, field, commands_, text)                                               \
    {                                                                                              \
        .name = option, .argument = "N", .help = text, .kind = KIND_COUNT, .commands = commands_,  \
        .offset = AT(field), .least = 1                                                            \
    }
/* The library counts these in ints. */
#define INT_OPTION(option, field, commands_, text)                                                 \
    {                                                                                              \
        .name = option, .argument = "N", .help = text, .kind = KIND_COUNT, .commands = commands_,  \
        .offset = AT(field), .least = 1, .most = 65536                                             \
    }
#define NUMBER_OPTION(option, argument_, field, text)                                              \
    {                                                                                              \
        .name = option, .argument = argument_, .help = text, .kind = KIND_NUMBER,                  \
        .commands = MODELS, .offset = AT(field)                                                    \
    }
#define CHOICE_OPTION(option, words_, field, text)                                                 \
    {                                                                                              \
        .name = option, .argument = words_, .help = text, .kind = KIND_CHOICE, .commands = MODELS, \
        .offset = AT(field), .choices = words_                                                     \
    }
#define FLAG_OPTION(option, field, commands_, text)                                                \
    {                                                                                              \
        .name = option, .help = text, .kind = KIND_FLAG, .commands = commands_,                    \
        .offset = AT(field)                                                                        \
    }

/* clang-format off */
const option option_table[] = {
    NAMES("--memory", AXIS_MEMORY, YOKE_LIST_MEMORY, "memory mode of what owners share"),
    NAMES("--home", AXIS_HOME, YOKE_LIST_HOMES, "where the parts' matrices lie"),
    NAMES("--partition", AXIS_PARTITION, YOKE_LIST_PARTITIONS, "who owns which rows"),
    NAMES("--solver", AXIS_SOLVER, YOKE_LIST_SOLVERS, "recurrence"),
    NAMES("--driver", AXIS_DRIVER, YOKE_LIST_DRIVERS, "who runs the loop"),
    NAMES("--format", AXIS_FORMAT, YOKE_LIST_FORMATS, "how the matrix is stored"),
    NAMES("--precond", AXIS_PRECOND, YOKE_LIST_PRECONDITIONERS, "preconditioner (default none)"),
    NAMES("--shape", AXIS_SHAPE, YOKE_LIST_SHAPES, "shape of an iteration"),
    {.name = "--effort", .argument = "NAME", .kind = KIND_NAME, .commands = MODELS,
     .offset = AT(effort), .names = YOKE_LIST_EFFORTS,
     .help = "of planning (default: estimate for solve, else measure)"},
    NUMBER_OPTION("--rtol", "R", rtol, "stop at a residual of R times the base (default 1e-8)"),
    NUMBER_OPTION("--atol", "R", atol, "or at this residual (default 0)"),
    COUNT_OPTION("--maxit", maxit, MODELS,
                 "limit of iterations (default 10 times the rows, within 1000 and 1000000)"),
    CHOICE_OPTION("--base", "b|r0", base, "what --rtol is relative to (default b)"),
    COUNT_OPTION("--check-every", check_every, MODELS, "test convergence every N iterations"),
    NUMBER_OPTION("--max-seconds", "S", max_seconds, "limit of seconds for each solve"),
    COUNT_OPTION("--iterations", iterations, MODELS, "do exactly N iterations, for timing"),
    {.name = "--rhs", .argument = "FILE|ones|A*ones|random:SEED", .kind = KIND_TEXT,
     .commands = MODELS, .offset = AT(rhs), .help = "right-hand side (default ones)"},
    FILE_OPTION("--x0", x0, MODELS, "initial guess (default 0)"),
    FILE_OPTION("--out", out, ONE_BY_ONE, "write the solution as a Matrix Market array"),
    FILE_OPTION("--history", history, ONE_BY_ONE, "write the residual of every iteration as CSV"),
    INT_OPTION("--repeat", repeats, MODELS, "solves timed (default 1 for solve, 5 for run, 3 for study)"),
    INT_OPTION("--threads", threads, THREADED,
                 "CPU threads (default OMP_NUM_THREADS, else the affinity mask)"),
    INT_OPTION("--parts", parts, MODELS, "CPU parts (default one for each NUMA node)"),
    {.name = "--device", .argument = "N,...", .kind = KIND_DEVICES,
     .commands = MODELS | COMMAND_MACHINE, .offset = AT(devices),
     .help = "GPU to use, by CUDA's number (default 0; of ranks, each its own), or several"},
    CHOICE_OPTION("--nullspace", "constant", nullspace,
                  "the matrix is singular with this nullspace: project it out"),
    FLAG_OPTION("--trust-symmetry", trust_symmetry, MODELS, "do not check a general file"),
    FLAG_OPTION("--reproducible", reproducible, MODELS,
                "the same bits whatever the threads and parts (always so)"),
    {.name = "--vs", .argument = "NAME,...", .kind = KIND_RIVALS, .commands = SOLVES,
     .offset = AT(vs), .choices = "petsc|hypre|cusparse|operations",
     .help = "measure these rivals in the same run"},
    FLAG_OPTION("--explain", explain, MODELS, "tell what ran and why"),
    FILE_OPTION("--json", json, ALL, "write JSON Lines, an object for each configuration"),
    FILE_OPTION("--csv", csv, MODELS, "write the same as CSV"),
    FILE_OPTION("--svg", svg, MODELS, "draw the residual against iteration and time; --roofline: the passes; study: its speeds;"
                " predict: time by share"),
    FLAG_OPTION("--quiet", quiet, ALL, "only errors"),
    FLAG_OPTION("--help", help, ALL, "this text"),
    {.name = "--reorder", .argument = "none|rcm|auto", .kind = KIND_NAME, .commands = MODELS,
     .offset = AT(reorder), .names = YOKE_LIST_REORDERINGS,
     .help = "order of the rows inside (default auto: rcm where it is worth its time)"},
    {.name = "--exchange", .argument = "auto|staged|direct|nccl", .kind = KIND_CHOICE,
     .commands = MODELS, .offset = AT(ignored), .choices = "auto|staged|direct|nccl",
     .help = "how halos of GPUs travel between ranks", .later = EXCHANGE_LATER,
     .later_values = "direct|nccl"},
    {.name = "--gpu-memory", .argument = "SIZE", .kind = KIND_SIZE, .commands = MODELS,
     .offset = AT(gpu_memory), .help = "pretend a smaller card: plans take no more of the GPU's memory"},
    INT_OPTION("--gpu-sms", gpu_sms, MODELS,
               "pretend a slower card: plans work on N of its multiprocessors"),
    FLAG_OPTION("--roofline", roofline, ONE_BY_ONE,
                "time each pass alone against its memory's bandwidth, and draw that"),
    FILE_OPTION("--wisdom", wisdom, SOLVES, "take what measuring found before, and keep what it finds"),
    FILE_OPTION("--ranks-file", ranks_file, ONE_BY_ONE, "the rank of each row, a number a line"),
    FLAG_OPTION("--per-rank", per_rank, ONE_BY_ONE, "rows, halo and times of each rank"),
    LATER("--checkpoint", "FILE", KIND_TEXT, MODELS, "save and resume",
          "not in this version yet: checkpoints come later"),
    {.name = "--ranks", .argument = "P,...", .kind = KIND_COUNTS, .commands = COMMAND_PREDICT,
     .offset = AT(ranks), .least = 1, .most = 65536,
     .help = "ranks to predict for, each such a machine; of several numbers a table"},
    {.name = "--network", .argument = "L,B", .kind = KIND_NETWORK, .commands = COMMAND_PREDICT,
     .offset = AT(network), .help = "of ranks: latency and speed of a message, as 2us,25GB/s"},
    {.name = "--scaling", .argument = "strong|weak", .kind = KIND_CHOICE, .commands = COMMAND_PREDICT,
     .offset = AT(scaling), .choices = "strong|weak",
     .help = "weak: MATRIX is each rank's share (default strong: it is shared)"},
    {.name = "--deal", .argument = "nonzeros|rows|metis", .kind = KIND_CHOICE, .commands = ONE_BY_ONE | COMMAND_PREDICT,
     .offset = AT(deal), .choices = "nonzeros|rows|metis",
     .help = "how ranks get their rows (default nonzeros: contiguous, by bytes)"},
    {.name = "--shares", .argument = "auto|equal|profile", .kind = KIND_CHOICE, .commands = ONE_BY_ONE,
     .offset = AT(shares), .choices = "auto|equal|profile",
     .help = "how much of the rows each rank gets (default auto: by unlike profiles)"},
    {.name = "--machine", .argument = "NAME,...", .kind = KIND_TEXT, .commands = COMMAND_PREDICT,
     .offset = AT(machine), .help = "machines to predict for, by name or profile (default this)"},
    {.name = "--machine", .argument = "NAME|FILE", .kind = KIND_NAME, .commands = COMMAND_MACHINE,
     .offset = AT(machine), .names = YOKE_LIST_MACHINES,
     .help = "whose profile: this, one that is shipped, or a file"},
    FLAG_OPTION("--calibrate", calibrate, COMMAND_MACHINE,
                "measure this machine's profile and keep it"),
};
/* clang-format on */

const int option_count = (int)(sizeof option_table / sizeof option_table[0]);
