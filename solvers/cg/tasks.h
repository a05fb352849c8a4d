/* SPDX-License-Identifier: BSD-3-Clause */
/* tasks.h: the tasks of passes.h by name, and what each sums and reads, for CPU and GPU. */
#ifndef YK_CG_TASKS_H
#define YK_CG_TASKS_H

#include "lib/subset.h"

/* name, sums that it delivers. UPDATE and RESIDUAL come for no preconditioner and for Jacobi;
 * with SHIFT, the sum of z is delivered too. */
#define YK_TASK_LIST(X)                                                                            \
    X(DIRECTION, 0)                                                                                \
    X(MULTIPLY, 1)                                                                                 \
    X(FOLD, 1)                                                                                     \
    X(FLUSH, 0)                                                                                    \
    X(UPDATE_NONE, 1)                                                                              \
    X(UPDATE_JACOBI, 2)                                                                            \
    X(UPDATE_NONE_SHIFT, 3)                                                                        \
    X(UPDATE_JACOBI_SHIFT, 3)                                                                      \
    X(RESIDUAL_NONE, 4)                                                                            \
    X(RESIDUAL_JACOBI, 4)                                                                          \
    /* of recurrences with one sum */                                                              \
    X(SINGLE_STEP_NONE, 0)                                                                         \
    X(SINGLE_STEP_JACOBI, 0)                                                                       \
    X(SINGLE_MULTIPLY, 4)                                                                          \
    X(PIPELINED_STEP_NONE, 4)                                                                      \
    X(PIPELINED_STEP_JACOBI, 4)                                                                    \
    X(PRODUCT, 0)                                                                                  \
    X(DOTS_S, 2)                                                                                   \
    X(M_OF_S, 0)                                                                                   \
    X(M_OF_W, 0)                                                                                   \
    X(CLEAR_S, 0)                                                                                  \
    /* around a product or preconditioner that is not ours: q or z is theirs */                    \
    X(RESIDUAL_OF_Q_NONE, 4)                                                                       \
    X(RESIDUAL_OF_Q_JACOBI, 4)                                                                     \
    X(DOT_PQ, 1)                                                                                   \
    X(UPDATE_R, 0)                                                                                 \
    X(DOTS_Z, 4)                                                                                   \
    /* whole vectors, outside the loop */                                                          \
    X(CLEAR_X, 0)                                                                                  \
    X(CLEAR_P, 0)                                                                                  \
    X(SCALE, 0)                                                                                    \
    X(SAVE_X, 0)                                                                                   \
    X(RESTORE_X, 0)                                                                                \
    X(SUM_B, 1)                                                                                    \
    X(SUM_X, 1)                                                                                    \
    X(CENTRE_B, 0)                                                                                 \
    X(CENTRE_X, 0)                                                                                 \
    X(LARGEST_B, 1)                                                                                \
    X(LARGEST_R, 1)                                                                                \
    X(LARGEST_X, 1)

typedef enum yk_task {
#define YK_TASK_ENUM(name, dots) YK_TASK_##name,
    YK_TASK_LIST(YK_TASK_ENUM)
#undef YK_TASK_ENUM
        YK_TASKS
} yk_task;

/* Sums of a task. */
YK_INLINE YK_CONSTANT int yk_task_dots(int task)
{
    switch (task) {
#define YK_TASK_DOTS(name, dots)                                                                   \
    case YK_TASK_##name: return dots;
        YK_TASK_LIST(YK_TASK_DOTS)
#undef YK_TASK_DOTS
    }
    return 0;
}

/* Tasks that take a row's product with the operand, and of them those that make p on the way. */
YK_INLINE YK_CONSTANT int yk_task_multiplies(int task)
{
    return task == YK_TASK_MULTIPLY || task == YK_TASK_FOLD || task == YK_TASK_RESIDUAL_NONE ||
           task == YK_TASK_RESIDUAL_JACOBI || task == YK_TASK_SINGLE_MULTIPLY ||
           task == YK_TASK_PRODUCT;
}

/* Tasks that deliver p.q, after which alpha is known. */
YK_INLINE YK_CONSTANT int yk_task_ends_multiply(int task)
{
    return task == YK_TASK_MULTIPLY || task == YK_TASK_FOLD || task == YK_TASK_DOT_PQ;
}

/* Tasks that deliver all sums of an iteration, where one meeting is enough. */
YK_INLINE YK_CONSTANT int yk_task_ends_iteration(int task)
{
    return task == YK_TASK_SINGLE_MULTIPLY || task == YK_TASK_PIPELINED_STEP_NONE ||
           task == YK_TASK_PIPELINED_STEP_JACOBI;
}

/* Tasks that only recurrences with one sum have. */
YK_INLINE YK_CONSTANT int yk_task_is_of_one_sum(int task)
{
    return task >= YK_TASK_SINGLE_STEP_NONE && task <= YK_TASK_CLEAR_S;
}

YK_INLINE YK_CONSTANT int yk_task_folds(int task)
{
    return task == YK_TASK_FOLD;
}

/* Tasks whose only sum is the largest magnitude instead. */
YK_INLINE YK_CONSTANT int yk_task_is_largest(int task)
{
    return task == YK_TASK_LARGEST_B || task == YK_TASK_LARGEST_R || task == YK_TASK_LARGEST_X;
}

/* What a task reads of a row beside its product. */
enum {
    YK_READ_X = 1,
    YK_READ_R = 2,
    YK_READ_Z = 4,
    YK_READ_P = 8,
    YK_READ_P_OLD = 16,
    YK_READ_Q = 32,
    YK_READ_B = 64,
    YK_READ_BEST = 128,
    YK_READ_DIAGONAL = 256,
    YK_READ_W = 512,
    YK_READ_S = 1024,
    YK_READ_T = 2048
};

/* Of a step of a recurrence with one sum, at least. */
enum { YK_STEP_READS = YK_READ_X | YK_READ_R | YK_READ_P | YK_READ_W | YK_READ_S };

YK_INLINE YK_CONSTANT int yk_task_reads(int task)
{
    switch (task) {
    case YK_TASK_DIRECTION: return YK_READ_X | YK_READ_Z | YK_READ_P;
    case YK_TASK_MULTIPLY: return YK_READ_P;
    case YK_TASK_FOLD: return YK_READ_X | YK_READ_Z | YK_READ_P_OLD;
    case YK_TASK_FLUSH: return YK_READ_X | YK_READ_P;
    case YK_TASK_UPDATE_NONE:
    case YK_TASK_UPDATE_NONE_SHIFT:
    case YK_TASK_UPDATE_R: return YK_READ_R | YK_READ_Q;
    case YK_TASK_UPDATE_JACOBI:
    case YK_TASK_UPDATE_JACOBI_SHIFT: return YK_READ_R | YK_READ_Q | YK_READ_DIAGONAL;
    case YK_TASK_RESIDUAL_NONE: return YK_READ_B;
    case YK_TASK_RESIDUAL_JACOBI: return YK_READ_B | YK_READ_DIAGONAL;
    case YK_TASK_RESIDUAL_OF_Q_NONE: return YK_READ_B | YK_READ_Q;
    case YK_TASK_RESIDUAL_OF_Q_JACOBI: return YK_READ_B | YK_READ_Q | YK_READ_DIAGONAL;
    case YK_TASK_DOT_PQ: return YK_READ_P | YK_READ_Q;
    case YK_TASK_SINGLE_STEP_NONE: return YK_STEP_READS;
    case YK_TASK_SINGLE_STEP_JACOBI: return YK_STEP_READS | YK_READ_DIAGONAL;
    case YK_TASK_SINGLE_MULTIPLY: return YK_READ_R | YK_READ_Z;
    case YK_TASK_PIPELINED_STEP_NONE: return YK_STEP_READS | YK_READ_T | YK_READ_Q;
    case YK_TASK_PIPELINED_STEP_JACOBI:
        return YK_STEP_READS | YK_READ_T | YK_READ_Q | YK_READ_DIAGONAL;
    case YK_TASK_DOTS_S: return YK_READ_Z | YK_READ_P | YK_READ_S;
    case YK_TASK_M_OF_S: return YK_READ_S;
    case YK_TASK_M_OF_W: return YK_READ_W;
    case YK_TASK_DOTS_Z: return YK_READ_R | YK_READ_Z | YK_READ_Q;
    case YK_TASK_SCALE: return YK_READ_X | YK_READ_B;
    case YK_TASK_RESTORE_X: return YK_READ_BEST;
    case YK_TASK_SUM_B:
    case YK_TASK_CENTRE_B:
    case YK_TASK_LARGEST_B: return YK_READ_B;
    case YK_TASK_SAVE_X:
    case YK_TASK_SUM_X:
    case YK_TASK_CENTRE_X:
    case YK_TASK_LARGEST_X: return YK_READ_X;
    case YK_TASK_LARGEST_R: return YK_READ_R;
    default: return 0;
    }
}

/* Of these, what the pass before it in the loop does not write: may be read while that ends. */
YK_INLINE YK_CONSTANT int yk_task_reads_early(int task)
{
    switch (task) {
    case YK_TASK_DIRECTION: return YK_READ_X | YK_READ_P;
    case YK_TASK_UPDATE_NONE:
    case YK_TASK_UPDATE_NONE_SHIFT: return YK_READ_R;
    case YK_TASK_UPDATE_JACOBI:
    case YK_TASK_UPDATE_JACOBI_SHIFT: return YK_READ_R | YK_READ_DIAGONAL;
    default: return 0;
    }
}

#endif
