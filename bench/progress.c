/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.c: a line on a terminal that replaces itself. */
#include "bench/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <yoke_tools.h>

#include "bench/say.h"

static int shown;
static char prefix[96];

static int wanted(void)
{
    static int terminal = -1;
    if (terminal < 0) terminal = isatty(STDERR_FILENO);
    return terminal && !say_is_quiet();
}

void progress_clear(void)
{
    if (!shown) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    shown = 0;
}

void progress_within(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(prefix, sizeof prefix, format, values);
    va_end(values);
}

void progress_show(const char *format, ...)
{
    if (!wanted()) return;
    char text[256];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", prefix);
    va_list values;
    va_start(values, format);
    vsnprintf(text + used, sizeof text - used, format, values);
    va_end(values);
    text[79] = '\0';
    fprintf(stderr, "\r\033[K%s", text);
    fflush(stderr);
    shown = 1;
}

void progress_reading(void *user, int64_t done, int64_t total)
{
    static double last;
    if (!wanted() || yoke_seconds() - last < 0.1) return;
    last = yoke_seconds();
    if (total > 0)
        progress_show("reading %s: %d %%", (const char *)user,
                      (int)(100.0 * (double)done / (double)total));
    else
        progress_show("reading %s: %.0f MB", (const char *)user, (double)done / 1e6);
}
