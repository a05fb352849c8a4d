/* SPDX-License-Identifier: BSD-3-Clause */
/* source.c: bytes from a file, standard input or memory; gzip is known by its first two bytes
 * (RFC 1952) and inflated, member after member. */
#include "matrices/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/status.h"

static yoke_status read_raw(yk_source *source, void *out, size_t room, size_t *got)
{
    *got = 0;
    if (source->fd < 0) {
        *got = room < source->memory_left ? room : source->memory_left;
        memcpy(out, source->memory, *got);
        source->memory += *got;
        source->memory_left -= *got;
    }
    while (source->fd >= 0 && *got < room) {
        ssize_t count = read(source->fd, (char *)out + *got, room - *got);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0)
            return yk_fail(YOKE_IO, "%s: cannot be read: %s", source->name, strerror(errno));
        if (count == 0) break;
        *got += (size_t)count;
    }
    source->done += (int64_t)*got;
    return YOKE_OK;
}

static yoke_status refill(yk_source *source)
{
    source->packed = source->buffer;
    return read_raw(source, source->buffer, sizeof source->buffer, &source->packed_left);
}

static bool is_gzip(const unsigned char *bytes, size_t count)
{
    return count >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

/* The first bytes are looked at and kept for the first read. */
static yoke_status look_inside(yk_source *source)
{
    YK_TRY(refill(source));
    source->gzip = is_gzip(source->packed, source->packed_left);
    if (!source->gzip) return YOKE_OK;
    /* 15 + 16: the largest window, and a gzip header (zlib.h, inflateInit2) */
    if (inflateInit2(&source->inflater, 15 + 16) == Z_OK) return YOKE_OK;
    source->gzip = false;
    return yk_fail(YOKE_NO_MEMORY, "%s: no memory to inflate gzip", source->name);
}

/* All but the buffer, which is large and read only where it was filled. */
static void reset(yk_source *source, const char *name)
{
    memset(source, 0, offsetof(yk_source, buffer));
    source->name = name;
    source->fd = -1;
}

yoke_status yk_source_open(yk_source *source, const char *path)
{
    bool standard_input = strcmp(path, "-") == 0;
    reset(source, standard_input ? "stdin" : path);
    source->fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (source->fd < 0) return yk_fail(YOKE_IO, "%s: cannot be opened: %s", path, strerror(errno));
    struct stat about;
    if (fstat(source->fd, &about) == 0 && S_ISREG(about.st_mode)) source->total = about.st_size;
    yoke_status status = look_inside(source);
    if (status != YOKE_OK) yk_source_close(source);
    return status;
}

yoke_status yk_source_open_memory(yk_source *source, const char *name, const void *bytes,
                                  size_t count)
{
    reset(source, name);
    source->memory = bytes;
    source->memory_left = count;
    source->total = (int64_t)count;
    return look_inside(source);
}

void yk_source_close(yk_source *source)
{
    if (source->gzip) inflateEnd(&source->inflater);
    source->gzip = false;
    if (source->fd > STDIN_FILENO) close(source->fd);
    source->fd = -1;
}

static yoke_status read_plain(yk_source *source, char *out, size_t room, size_t *got)
{
    size_t looked_at = source->packed_left < room ? source->packed_left : room;
    memcpy(out, source->packed, looked_at);
    source->packed += looked_at;
    source->packed_left -= looked_at;
    YK_TRY(read_raw(source, out + looked_at, room - looked_at, got));
    *got += looked_at;
    return YOKE_OK;
}

/* Zeros behind a member are padding (of tapes); anything else is a fault. */
static yoke_status next_member(yk_source *source)
{
    while (source->packed_left > 0 && *source->packed == 0) {
        source->packed++;
        source->packed_left--;
    }
    if (source->packed_left == 0) return YOKE_OK;
    /* The second byte of the magic may not be read yet; inflate checks it. */
    if (*source->packed != 0x1f)
        return yk_fail(YOKE_FORMAT, "%s: garbage after the end of the gzip data", source->name);
    source->between = false;
    if (inflateReset(&source->inflater) == Z_OK) return YOKE_OK;
    return yk_fail(YOKE_INTERNAL, "%s: inflateReset failed", source->name);
}

static yoke_status inflate_some(yk_source *source)
{
    z_stream *inflater = &source->inflater;
    inflater->next_in = source->packed;
    inflater->avail_in = (uInt)source->packed_left;
    int result = inflate(inflater, Z_NO_FLUSH);
    source->packed = inflater->next_in;
    source->packed_left = inflater->avail_in;
    source->between = result == Z_STREAM_END;
    if (result == Z_MEM_ERROR)
        return yk_fail(YOKE_NO_MEMORY, "%s: no memory to inflate gzip", source->name);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        return yk_fail(YOKE_FORMAT, "%s: the gzip data is damaged: %s", source->name,
                       inflater->msg ? inflater->msg : zError(result));
    return YOKE_OK;
}

static yoke_status read_gzip(yk_source *source, char *out, size_t room, size_t *got)
{
    z_stream *inflater = &source->inflater;
    inflater->next_out = (unsigned char *)out;
    size_t most = room < (1u << 30) ? room : 1u << 30;
    inflater->avail_out = (uInt)most;
    while (inflater->avail_out > 0) {
        if (source->packed_left == 0) YK_TRY(refill(source));
        if (source->packed_left == 0 && source->between) break;
        if (source->packed_left == 0)
            return yk_fail(YOKE_FORMAT, "%s: the gzip data is cut short", source->name);
        YK_TRY(source->between ? next_member(source) : inflate_some(source));
    }
    *got = most - inflater->avail_out;
    return YOKE_OK;
}

yoke_status yk_source_read(yk_source *source, char *out, size_t room, size_t *got)
{
    *got = 0;
    while (*got < room && !source->ended) {
        size_t more = 0;
        YK_TRY(source->gzip ? read_gzip(source, out + *got, room - *got, &more)
                            : read_plain(source, out + *got, room - *got, &more));
        *got += more;
        if (more == 0) source->ended = true;
    }
    return YOKE_OK;
}
