/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_harwell_boeing.c: any bytes as a file of a matrix; the corpus begins with Harwell-Boeing
 * files. */
#include "tests/fuzz/bounded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return read_bounded_matrix(data, size);
}
