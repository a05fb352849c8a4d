/* SPDX-License-Identifier: BSD-3-Clause */
/* needs_gpu.h: suites that need a device: without one each test is skipped, or with
 * YOKE_REQUIRE_GPU=1 fails. */
#ifndef YK_TESTS_NEEDS_GPU_H
#define YK_TESTS_NEEDS_GPU_H

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <yoke_tools.h>

static inline bool usable(yoke_list_kind kind, const char *name)
{
    yoke_list_item item;
    for (int k = 0; yoke_list(kind, k, &item); k++)
        if (strcmp(item.name, name) == 0) return item.usable;
    return false;
}

static inline void need_gpu(void)
{
    const char *required = getenv("YOKE_REQUIRE_GPU");
    if (usable(YOKE_LIST_PARTITIONS, "gpu")) return;
    cr_assert(!required || strcmp(required, "1") != 0, "YOKE_REQUIRE_GPU=1, but no GPU is usable");
    cr_skip_test("no usable GPU");
}

#endif
