/* SPDX-License-Identifier: BSD-3-Clause */
/* test_status.c: statuses, outcomes, error text, version. */
#include <criterion/criterion.h>
#include <string.h>

#include "lib/context.h"
#include "lib/status.h"

Test(status, text_names_values_and_place)
{
    cr_assert_eq(yk_fail(YOKE_INVALID, "rows is %d", -3), YOKE_INVALID);
    cr_assert(strstr(yoke_error_text(), "rows is -3"));
    cr_assert(strstr(yoke_error_text(), "test_status.c:"));
}

Test(status, an_options_struct_of_another_size_is_refused)
{
    yoke_context_options options = yoke_context_defaults();
    options.struct_size = 8;
    yoke_context *context = NULL;
    cr_assert_eq(yoke_context_create(&options, &context), YOKE_INVALID);
    cr_assert_null(context);
    cr_assert(strstr(yoke_error_text(), "struct_size is 8"));
}

Test(status, byte_counts_beyond_an_index_are_overflow_not_out_of_memory)
{
    size_t bytes = 0;
    cr_assert_eq(yk_bytes("values", (int64_t)3000000000, 8, &bytes), YOKE_OK);
    cr_assert_eq(bytes, (size_t)24000000000);
    cr_assert_eq(yk_bytes("values", INT64_MAX / 4, 8, &bytes), YOKE_OVERFLOW);
    cr_assert_eq(yk_bytes("values", -1, 8, &bytes), YOKE_OVERFLOW);
}

Test(status, version_is_that_of_the_header)
{
    int major = -1, minor = -1, patch = -1;
    const char *text = yoke_version(&major, &minor, &patch);
    cr_assert_eq(major, YOKE_VERSION_MAJOR);
    cr_assert_eq(minor, YOKE_VERSION_MINOR);
    cr_assert_eq(patch, YOKE_VERSION_PATCH);
    cr_assert(strchr(text, '.'));
}
