/* SPDX-License-Identifier: BSD-3-Clause */
/* status.h: how a failure is made and passed on.
 * Whoever first decides that something is an error writes the sentence, with the values; frames
 * above pass the status on with YK_TRY. */
#ifndef YK_STATUS_H
#define YK_STATUS_H

#include <yoke.h>

/* Sets the thread's error text to the sentence, with file and line, and returns the status: by name
 * once more, so that a reader (and an analyzer) of the caller alone sees that it is not YOKE_OK. */
#define yk_fail(status, ...) (yk_fail_at(__FILE__, __LINE__, status, __VA_ARGS__), (status))

yoke_status yk_fail_at(const char *file, int line, yoke_status status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#define YK_TRY(call)                                                                               \
    do {                                                                                           \
        yoke_status yk_status_ = (call);                                                           \
        if (yk_status_ != YOKE_OK) return yk_status_;                                              \
    } while (0)

/* As YK_TRY, but leaves through the label that undoes what was done. */
#define YK_TRY_GOTO(status, call, label)                                                           \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != YOKE_OK) goto label;                                                         \
    } while (0)

/* Refuses a struct of options whose size this library does not know. */
yoke_status yk_check_struct(const char *name, size_t given, size_t known);

#endif
