/* SPDX-License-Identifier: BSD-3-Clause */
/* triplets.h: entries as a file gives them, in chunks, written by several threads at once and read
 * back in the file's order. */
#ifndef YK_TRIPLETS_H
#define YK_TRIPLETS_H

#include <stdatomic.h>
#include <yoke.h>

typedef struct yk_triplet {
    int32_t row, column; /* from 0 */
    double value;
} yk_triplet;

/* Entries that stand one behind the other in the file and in memory. */
typedef struct yk_piece {
    int64_t order; /* of the slice of the file it came from */
    yk_triplet *entry;
    int64_t count;
} yk_piece;

/* Chunks allocated together. */
typedef struct yk_extent {
    yk_triplet *entry;
    int64_t chunks;
    int64_t left; /* entries in it that were not taken yet; counted once the pieces are in order */
} yk_extent;

typedef struct yk_triplets {
    yoke_context *context;
    yk_triplet **chunk; /* [chunks] in room for [chunk_room]; some lie one behind the other */
    int64_t chunks, chunk_room;
    yk_extent *extent; /* [extents] in room for [extent_room]: what holds the chunks */
    int64_t extents, extent_room;
    atomic_llong chunks_used;
    yk_piece *piece; /* [pieces_used] in room for [piece_room] */
    int64_t piece_room;
    atomic_llong pieces_used;
} yk_triplets;

/* Where one thread writes; all zero at first. Its chunk is filled before it takes another. */
typedef struct yk_triplet_writer {
    yk_triplets *to;
    yk_triplet *begin, *next, *end; /* begin: of the piece being written */
    int64_t order;
} yk_triplet_writer;

void yk_triplets_begin(yk_triplets *triplets, yoke_context *context);
void yk_triplets_free(yk_triplets *triplets);

/* Makes room for so many more entries in so many slices by so many writers. Threads then take from
 * it without allocating: the caller's allocator sees the calling thread alone. */
yoke_status yk_triplets_reserve(yk_triplets *triplets, int64_t entries, int64_t slices,
                                int64_t writers);

/* Between these two, yk_triplet_put appends to the slice of that order. */
void yk_triplet_begin_slice(yk_triplet_writer *writer, int64_t order);
void yk_triplet_end_slice(yk_triplet_writer *writer);

void yk_triplet_next_chunk(yk_triplet_writer *writer);

static inline void yk_triplet_put(yk_triplet_writer *writer, yk_triplet entry)
{
    if (writer->next == writer->end) yk_triplet_next_chunk(writer);
    *writer->next++ = entry;
}

/* Brings the pieces into the file's order. */
void yk_triplets_order(yk_triplets *triplets);

/* The entries of the pieces [first, last) will not be read again: releases what holds no others. */
void yk_triplets_taken(yk_triplets *triplets, int64_t first, int64_t last);

#endif
