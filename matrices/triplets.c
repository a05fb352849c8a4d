/* SPDX-License-Identifier: BSD-3-Clause */
/* triplets.c: chunks of entries. Memory follows what a file holds, not what it promises. */
#include "matrices/triplets.h"

#include <stdlib.h>
#include <string.h>

#include "lib/context.h"
#include "lib/status.h"

enum {
    CHUNK = 1 << 16, /* entries: 1 MiB */
    /* 4 MiB, from where yk_alloc asks for huge pages: small ones cost more to touch than to fill */
    LEAST_EXTENT = 4, /* chunks */
    /* Orders that a slice has to itself: a slice spans fewer chunks than this. */
    PIECES_OF_A_SLICE = 1 << 20
};

void yk_triplets_begin(yk_triplets *triplets, yoke_context *context)
{
    memset(triplets, 0, sizeof *triplets);
    triplets->context = context;
    atomic_init(&triplets->chunks_used, 0);
    atomic_init(&triplets->pieces_used, 0);
}

static void free_extent(yoke_context *context, yk_extent *extent)
{
    yk_free(context, extent->entry, extent->chunks * CHUNK, sizeof *extent->entry);
    extent->entry = NULL;
}

void yk_triplets_free(yk_triplets *triplets)
{
    yoke_context *context = triplets->context;
    for (int64_t i = 0; i < triplets->extents; i++) free_extent(context, &triplets->extent[i]);
    yk_free(context, triplets->extent, triplets->extent_room, sizeof *triplets->extent);
    yk_free(context, triplets->chunk, triplets->chunk_room, sizeof(yk_triplet *));
    yk_free(context, triplets->piece, triplets->piece_room, sizeof *triplets->piece);
    yk_triplets_begin(triplets, context);
}

/* A list of pointers or pieces with room for needed items, of which used are kept. */
static yoke_status grow(yoke_context *context, void *list, int64_t *room, size_t size, int64_t used,
                        int64_t needed)
{
    void *old, *larger;
    if (needed <= *room) return YOKE_OK;
    memcpy(&old, list, sizeof old);
    int64_t larger_room = needed > 2 * *room ? needed : 2 * *room;
    YK_TRY(yk_alloc(context, "a list of pieces of a file", larger_room, size, &larger));
    if (used > 0) memcpy(larger, old, (size_t)used * size);
    yk_free(context, old, *room, size);
    memcpy(list, &larger, sizeof larger);
    *room = larger_room;
    return YOKE_OK;
}

/* At least so many chunks, and an eighth of all, so that a large file makes few extents. */
static int64_t extent_size(const yk_triplets *triplets, int64_t chunks)
{
    if (chunks < triplets->chunks / 8) chunks = triplets->chunks / 8;
    return chunks < LEAST_EXTENT ? LEAST_EXTENT : chunks;
}

static yoke_status add_extent(yk_triplets *triplets, int64_t chunks)
{
    yoke_context *context = triplets->context;
    yk_extent extent = {NULL, extent_size(triplets, chunks), 0};
    YK_TRY(grow(context, &triplets->extent, &triplets->extent_room, sizeof *triplets->extent,
                triplets->extents, triplets->extents + 1));
    YK_TRY(grow(context, &triplets->chunk, &triplets->chunk_room, sizeof(yk_triplet *),
                triplets->chunks, triplets->chunks + extent.chunks));
    YK_TRY(yk_alloc(context, "entries of a file", extent.chunks * CHUNK, sizeof(yk_triplet),
                    &extent.entry));
    triplets->extent[triplets->extents++] = extent;
    for (int64_t i = 0; i < extent.chunks; i++)
        triplets->chunk[triplets->chunks++] = extent.entry + i * CHUNK;
    return YOKE_OK;
}

yoke_status yk_triplets_reserve(yk_triplets *triplets, int64_t entries, int64_t slices,
                                int64_t writers)
{
    yoke_context *context = triplets->context;
    int64_t more = entries / CHUNK + 1 + writers;
    int64_t chunks = atomic_load(&triplets->chunks_used) + more;
    int64_t pieces = atomic_load(&triplets->pieces_used);
    /* A slice adds a piece, and so does each new chunk within one. */
    YK_TRY(grow(context, &triplets->piece, &triplets->piece_room, sizeof *triplets->piece, pieces,
                pieces + slices + more));
    return chunks > triplets->chunks ? add_extent(triplets, chunks - triplets->chunks) : YOKE_OK;
}

void yk_triplet_begin_slice(yk_triplet_writer *writer, int64_t order)
{
    writer->order = order * PIECES_OF_A_SLICE;
    writer->begin = writer->next;
}

void yk_triplet_end_slice(yk_triplet_writer *writer)
{
    if (writer->next == writer->begin) return;
    yk_piece piece = {writer->order++, writer->begin, writer->next - writer->begin};
    writer->to->piece[atomic_fetch_add(&writer->to->pieces_used, 1)] = piece;
    writer->begin = writer->next;
}

void yk_triplet_next_chunk(yk_triplet_writer *writer)
{
    yk_triplet_end_slice(writer);
    writer->next = writer->to->chunk[atomic_fetch_add(&writer->to->chunks_used, 1)];
    writer->begin = writer->next;
    writer->end = writer->next + CHUNK;
}

static int by_order(const void *a, const void *b)
{
    const yk_piece *one = a, *other = b;
    return (one->order > other->order) - (one->order < other->order);
}

/* Extents are few: each is an eighth of all before it. */
static yk_extent *extent_of(yk_triplets *triplets, const yk_piece *piece)
{
    yk_extent *extent = triplets->extent;
    while (!extent->entry || piece->entry < extent->entry ||
           piece->entry >= extent->entry + extent->chunks * CHUNK)
        extent++;
    return extent;
}

void yk_triplets_order(yk_triplets *triplets)
{
    int64_t pieces = atomic_load(&triplets->pieces_used);
    if (pieces == 0) return; /* there may be no array at all */
    qsort(triplets->piece, (size_t)pieces, sizeof *triplets->piece, by_order);
    for (int64_t i = 0; i < pieces; i++)
        extent_of(triplets, &triplets->piece[i])->left += triplets->piece[i].count;
}

void yk_triplets_taken(yk_triplets *triplets, int64_t first, int64_t last)
{
    for (int64_t i = first; i < last; i++) {
        const yk_piece *piece = &triplets->piece[i];
        yk_extent *extent = extent_of(triplets, piece);
        extent->left -= piece->count;
        if (extent->left == 0) free_extent(triplets->context, extent);
    }
}
