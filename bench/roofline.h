/* SPDX-License-Identifier: BSD-3-Clause */
/* roofline.h: --roofline: each pass of an iteration against what the memory can do (Williams,
 * Waterman, Patterson, "Roofline", Comm. ACM 52, 2009). */
#ifndef BENCH_ROOFLINE_H
#define BENCH_ROOFLINE_H

#include <stdio.h>

#include "bench/row.h"

/* Times the passes of a plan that has solved, and the read bandwidth of each owner's memory before
 * and after, over a buffer of the bytes of its iteration; into r. YOKE_OK, or the library's status
 * with its sentence. */
yoke_status roofline_measure(yoke_context *context, int device, int threads, yoke_plan *plan,
                             row *r);

void write_roofline(const row_list *rows, FILE *stream);     /* a table */
void write_roofline_svg(const row_list *rows, FILE *stream); /* GFLOP/s against flops a byte */
void write_roofline_json(const row *r, FILE *stream);        /* ,"roofline":[...] */

#endif
