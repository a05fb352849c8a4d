/* SPDX-License-Identifier: BSD-3-Clause */
/* status.c: statuses, outcomes and the error text of each thread. */
#include "lib/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char error_text[1024];

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

yoke_status yk_fail_at(const char *file, int line, yoke_status status, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int length = vsnprintf(error_text, sizeof error_text, format, values);
    va_end(values);
    if (length < 0) length = 0;
    if ((size_t)length < sizeof error_text)
        snprintf(error_text + length, sizeof error_text - (size_t)length, " [%s:%d]",
                 base_name(file), line);
    return status;
}

yoke_status yk_check_struct(const char *name, size_t given, size_t known)
{
    if (given == known) return YOKE_OK;
    return yk_fail(YOKE_INVALID,
                   "%s.struct_size is %zu, this library knows %zu: fill the struct with its "
                   "..._defaults() and compile against this library's header",
                   name, given, known);
}

const char *yoke_error_text(void)
{
    return error_text;
}

const char *yoke_status_text(yoke_status status)
{
    switch (status) {
#define STATUS_CASE(name, value, text)                                                             \
    case name: return text;
        YOKE_STATUS_LIST(STATUS_CASE)
#undef STATUS_CASE
    }
    return "unknown status";
}

const char *yoke_outcome_word(yoke_outcome outcome)
{
    switch (outcome) {
#define OUTCOME_CASE(name, value, word, text)                                                      \
    case name: return word;
        YOKE_OUTCOME_LIST(OUTCOME_CASE)
#undef OUTCOME_CASE
    }
    return "unknown";
}

const char *yoke_outcome_text(yoke_outcome outcome)
{
    switch (outcome) {
#define OUTCOME_CASE(name, value, word, text)                                                      \
    case name: return text;
        YOKE_OUTCOME_LIST(OUTCOME_CASE)
#undef OUTCOME_CASE
    }
    return "unknown outcome";
}
