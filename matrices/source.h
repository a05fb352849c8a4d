/* SPDX-License-Identifier: BSD-3-Clause */
/* source.h: the bytes of a file, of standard input or of memory, inflated where they are gzip. */
#ifndef YK_SOURCE_H
#define YK_SOURCE_H

#include <stdbool.h>
#include <yoke.h>
#include <zlib.h>

typedef struct yk_source {
    const char *name; /* for error texts: the path, or "stdin" */
    int fd;           /* -1: memory */
    const char *memory;
    size_t memory_left;
    int64_t done, total; /* bytes of the file itself; total 0: not known */
    bool gzip, ended;
    bool between; /* gzip: a member has ended */
    z_stream inflater;
    unsigned char *packed; /* the file's bytes not yet consumed, if they were looked at */
    size_t packed_left;
    unsigned char buffer[1 << 16];
} yk_source;

/* Opens path ("-": standard input). The path must outlive the source. */
yoke_status yk_source_open(yk_source *source, const char *path);
yoke_status yk_source_open_memory(yk_source *source, const char *name, const void *bytes,
                                  size_t count);
void yk_source_close(yk_source *source);

/* Fills room bytes, fewer only at the end. */
yoke_status yk_source_read(yk_source *source, char *out, size_t room, size_t *got);

#endif
