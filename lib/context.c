/* SPDX-License-Identifier: BSD-3-Clause */
/* context.c: making and sharing contexts; the log; version and features. */
#include "lib/context.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/status.h"
#include "lib/wisdom.h"

static yoke_status check_options(const yoke_context_options *options)
{
    YK_TRY(yk_check_struct("yoke_context_options", options->struct_size, sizeof *options));
    if (options->threads < 0 || options->threads > 65536)
        return yk_fail(YOKE_INVALID, "threads is %d, expected 0 to 65536", options->threads);
    if (!options->allocate != !options->release)
        return yk_fail(YOKE_INVALID, "allocate and release must be given together");
    return YOKE_OK;
}

yoke_status yoke_context_create(const yoke_context_options *options, yoke_context **context)
{
    if (!context) return yk_fail(YOKE_INVALID, "context is NULL");
    yoke_context_options defaults = yoke_context_defaults();
    if (!options) options = &defaults;
    YK_TRY(check_options(options));
    yoke_context *made = calloc(1, sizeof *made);
    if (!made) return yk_fail(YOKE_NO_MEMORY, "no memory for a context (%zu bytes)", sizeof *made);
    made->options = *options;
    atomic_init(&made->references, 1);
    atomic_init(&made->live_bytes, 0);
    atomic_init(&made->allocations, 0);
    atomic_init(&made->machine, NULL);
    *context = made;
    return YOKE_OK;
}

void yk_context_retain(yoke_context *context)
{
    atomic_fetch_add_explicit(&context->references, 1, memory_order_relaxed);
}

void yk_context_release(yoke_context *context)
{
    if (atomic_fetch_sub_explicit(&context->references, 1, memory_order_acq_rel) != 1) return;
    yk_wisdom_free(context);
    free(atomic_load(&context->machine));
    free(context);
}

void yoke_context_destroy(yoke_context *context)
{
    if (context) yk_context_release(context);
}

int yoke_context_usable(const yoke_context *context)
{
    return context != NULL;
}

void yk_log(const yoke_context *context, yoke_log_level level, const char *format, ...)
{
    if (!context->options.log) return;
    char text[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    context->options.log(context->options.log_user, level, text);
}

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

const char *yoke_version(int *major, int *minor, int *patch)
{
    if (major) *major = YOKE_VERSION_MAJOR;
    if (minor) *minor = YOKE_VERSION_MINOR;
    if (patch) *patch = YOKE_VERSION_PATCH;
    return TEXT(YOKE_VERSION_MAJOR) "." TEXT(YOKE_VERSION_MINOR) "." TEXT(YOKE_VERSION_PATCH);
}
