/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_vector.c: any bytes as a file of a vector of three numbers. */
#include "tests/fuzz/bounded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static yk_source source;
    double out[3] = {0, 0, 0};
    yoke_context *context = bounded_context();
    yoke_status status = yk_source_open_memory(&source, "input", data, size);
    if (status == YOKE_OK)
        status = yk_vector_read_source(context, &source, bounded_block(size), 3, out);
    yk_source_close(&source);
    expect_reason(status);
    for (int i = 0; i < 3; i++)
        if (!isfinite(out[i])) abort();
    yoke_context_destroy(context);
    if (bounded_out != 0) abort();
    return 0;
}
