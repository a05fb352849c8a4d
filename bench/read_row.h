/* SPDX-License-Identifier: BSD-3-Clause */
/* read_row.h: a row from its line of JSON, as write_json made it. */
#ifndef BENCH_READ_ROW_H
#define BENCH_READ_ROW_H

#include "bench/row.h"

/* line: one object (RFC 8259), without its line feed. Keys that are missing stay unknown, others
 * are passed over. Returns 1, or 0 if it is not such an object; *r is to be freed in either case.
 */
int read_row(const char *line, row *r);

#endif
