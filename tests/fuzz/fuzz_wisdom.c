/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_wisdom.c: any bytes as wisdom. */
#include <stdlib.h>
#include <string.h>

#include "lib/wisdom.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    yk_wisdom_text wisdom;
    yoke_status status = yk_wisdom_parse((const char *)data, size, "input", &wisdom);
    if (status != YOKE_OK && (status != YOKE_FORMAT || !*yoke_error_text() || wisdom.count))
        abort();
    if (wisdom.count < 0 || wisdom.count > YK_WISDOM_MOST) abort();
    for (int i = 0; i < wisdom.count; i++) {
        const yk_wise *w = &wisdom.wise[i];
        if (!*w->asked || strchr(w->asked, ' ') || !(w->share <= 1.0)) abort();
    }
    free(wisdom.wise);
    return 0;
}
