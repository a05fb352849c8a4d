/* SPDX-License-Identifier: BSD-3-Clause */
/* dump.c: each rank reads its own share. */
#include "bench/rivals/dump.h"

#include <stdio.h>
#include <stdlib.h>

static int read_at(FILE *stream, int64_t offset, size_t size, int64_t count, void *out)
{
    return fseeko(stream, offset, SEEK_SET) == 0 &&
           fread(out, size, (size_t)count, stream) == (size_t)count;
}

static int read_starts(FILE *stream, rival_share *s, int64_t *first_entry)
{
    int64_t *starts = calloc((size_t)s->local + 1, sizeof *starts);
    int64_t offset = (int64_t)sizeof(rival_dump_header) + 8 * s->first;
    int good = starts && s->row_start && read_at(stream, offset, 8, s->local + 1, starts);
    if (good) {
        *first_entry = starts[0];
        s->nonzeros = starts[s->local] - starts[0];
        for (int64_t i = 0; i <= s->local; i++) s->row_start[i] = (int)(starts[i] - starts[0]);
    }
    free(starts);
    return good;
}

static int read_entries(FILE *stream, int64_t all, int64_t entry, rival_share *s)
{
    int64_t columns = (int64_t)sizeof(rival_dump_header) + 8 * (s->rows + 1);
    int64_t values = columns + 4 * all;
    size_t room = (size_t)s->nonzeros + 1;
    s->column = calloc(room, sizeof *s->column);
    s->value = calloc(room, sizeof *s->value);
    s->b = calloc((size_t)s->local + 1, sizeof *s->b);
    return s->column && s->value && s->b &&
           read_at(stream, columns + 4 * entry, 4, s->nonzeros, s->column) &&
           read_at(stream, values + 8 * entry, 8, s->nonzeros, s->value) &&
           read_at(stream, values + 8 * (all + s->first), 8, s->local, s->b);
}

int rival_share_read(const char *path, int rank, int ranks, rival_share *s)
{
    rival_dump_header header = {0};
    int64_t entry = 0;
    *s = (rival_share){0};
    FILE *stream = fopen(path, "rb");
    int good =
        stream && read_at(stream, 0, sizeof header, 1, &header) && header.magic == RIVAL_DUMP_MAGIC;
    if (good) {
        s->rows = header.rows;
        s->local = header.rows / ranks + (rank < header.rows % ranks);
        s->first =
            header.rows / ranks * rank + (rank < header.rows % ranks ? rank : header.rows % ranks);
        s->row_start = calloc((size_t)s->local + 1, sizeof *s->row_start);
        good = read_starts(stream, s, &entry) && read_entries(stream, header.nonzeros, entry, s);
    }
    if (stream) fclose(stream);
    if (!good) fprintf(stderr, "cannot read the system from '%s'\n", path);
    return good ? 0 : 1;
}

double rival_share_diagonal(const rival_share *s, int64_t i)
{
    for (int k = s->row_start[i]; k < s->row_start[i + 1]; k++)
        if (s->column[k] == s->first + i) return s->value[k];
    return 0.0;
}

void rival_share_free(rival_share *s)
{
    free(s->row_start);
    free(s->column);
    free(s->value);
    free(s->b);
}
