/* SPDX-License-Identifier: BSD-3-Clause */
/* plans.h: the plans that could have been made, as lines. */
#ifndef BENCH_PLANS_H
#define BENCH_PLANS_H

#include "bench/row.h"

/* The fastest first, each with its times, into the row. */
void plans_tell(yoke_plan *plan, row *r);

#endif
