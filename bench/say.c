/* SPDX-License-Identifier: BSD-3-Clause */
/* say.c: errors and notices, each exactly one line on stderr. */
#include "bench/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bench/progress.h"

enum { LINE = 2048 };

static int be_quiet, be_silent;

void say_be_quiet(int quiet)
{
    be_quiet = quiet;
}

int say_is_quiet(void)
{
    return be_quiet || be_silent;
}

void say_be_silent(int silent)
{
    be_silent = silent;
}

/* A file name may hold a line feed or an escape sequence. */
static void say_line(const char *prefix, const char *format, va_list values)
{
    char text[LINE];
    if (be_silent) return;
    vsnprintf(text, sizeof text, format, values);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = ' ';
    progress_clear();
    fflush(stdout);
    fprintf(stderr, "cgbench: %s%s\n", prefix, text);
}

int say_error(int code, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    say_line("", format, values);
    va_end(values);
    return code;
}

void say_notice(const char *format, ...)
{
    if (say_is_quiet()) return;
    va_list values;
    va_start(values, format);
    say_line("notice: ", format, values);
    va_end(values);
}

const char *library_sentence(void)
{
    static char text[LINE];
    snprintf(text, sizeof text, "%s", yoke_error_text());
    char *place = strrchr(text, '[');
    size_t length = strlen(text);
    if (place && place > text && place[-1] == ' ' && text[length - 1] == ']' &&
        strstr(place, ".c:"))
        place[-1] = '\0';
    return text;
}

static int code_of(yoke_status status)
{
    switch (status) {
    case YOKE_INVALID:
    case YOKE_UNKNOWN_NAME:
    case YOKE_FORMAT:
    case YOKE_UNSUITABLE:
    case YOKE_OVERFLOW:
    case YOKE_IO: return ENDS_BAD_INPUT;
    default: return ENDS_LACKING;
    }
}

int say_status(yoke_status status, const char *about)
{
    const char *text = library_sentence();
    if (!*text) text = yoke_status_text(status);
    if (about) return say_error(code_of(status), "%s: %s", about, text);
    return say_error(code_of(status), "%s", text);
}
