/* SPDX-License-Identifier: BSD-3-Clause */
/* homes.h: where the arrays of a GPU's rows lie, and what that takes of whom. */
#ifndef YK_HOMES_H
#define YK_HOMES_H

#include "solvers/plan.h"

/* The home by name, with the memory that it needs. YOKE_UNSUITABLE, by name, for what does not go
 * together; YOKE_INVALID for a share that is none. Once partition, driver and format are chosen. */
yoke_status yk_home_choose(const yoke_matrix *matrix, const yoke_plan_options *options,
                           yk_choice *choice);

/* Bytes on the device, of managed memory, and on the host, at most at a time. */
typedef struct yk_home_bytes {
    size_t device, managed, host;
} yk_home_bytes;

/* Lengths of a GPU part's matrix; of a row start in bytes. */
typedef struct yk_home_matrix {
    int64_t rows, nonzeros;
    size_t start;
} yk_home_matrix;

/* Of a plan whose home is not its owner's alone; vectors: their bytes. */
yk_home_bytes yk_home_take(const yoke_plan *plan, const yk_home_matrix *matrix, size_t vectors);

/* Whether auto may let a part of the matrix lie in host memory; the least share of it that leaves
 * the device with no more than so many bytes, in the choice's format; and that it does. */
bool yk_home_may_change(const yoke_plan *plan);
double yk_home_least_spill(const yoke_plan *plan, const yk_home_matrix *matrix, size_t vectors,
                           size_t available);
void yk_home_spill(yoke_plan *plan, double share);

#endif
