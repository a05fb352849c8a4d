/* SPDX-License-Identifier: BSD-3-Clause */
/* cuthill_mckee.h: an order of the rows that brings the entries near the diagonal. */
#ifndef YK_CUTHILL_MCKEE_H
#define YK_CUTHILL_MCKEE_H

#include "lib/csr.h"
#include "lib/status.h"

/* Reverse Cuthill-McKee (Cuthill and McKee, ACM 1969; reversed: George, 1971), each component from
 * a pseudo-peripheral row (George and Liu, ACM TOMS 5, 1979). order: [rows]; order[k] is the row
 * of csr that comes k-th. In time O(nonzeros), with 5 bytes a row beside; the same on every
 * machine. Of a pattern that is not symmetric it is a permutation all the same. */
yoke_status yk_cuthill_mckee(yoke_context *context, const yk_csr *csr, int32_t *order);

#endif
