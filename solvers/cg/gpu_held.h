/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_held.h: a system whose vectors the chip holds while its matrix comes anew for every product:
 * what the persistent driver and its kernel for larger systems share. No CUDA header.
 *
 * A block owns `chunks` consecutive chunks of rows for good. Their r lies in registers, their p in
 * shared memory, q and x beside it where there is room, else in the device's memory, of which the
 * L2 cache holds what it can. p goes there as well, for the other blocks to gather. So of a large
 * system's vectors little moves, and what moves is the matrix, in SELL. Blocks meet by messages, as
 * in gpu_resident.h, three times an iteration: for p.q, for r.r, and for p. */
#ifndef YK_CG_GPU_HELD_H
#define YK_CG_GPU_HELD_H

#include "solvers/cg/gpu_resident_layout.h"

enum {
    YK_HELD_THREADS = 512,
    YK_HELD_WARPS = YK_HELD_THREADS / 32,
    YK_HELD_CHUNKS = 64,  /* of a block, at most */
    YK_HELD_NODES = 1024, /* messages of a meeting, at most */
    YK_HELD_NODES_A_PART = 128,
    YK_HELD_PARTS = YK_HELD_NODES / YK_HELD_NODES_A_PART, /* each is awaited by a warp */
    YK_HELD_KINDS = 3,    /* of meetings: after the product, the update, the direction */
    YK_HELD_COLUMNS = 16, /* of a warp's ring, at most: what there is room for beside most rows */
    YK_HELD_BARRIERS = 6  /* of a warp's ring, at most: one a stage */
};

typedef struct yk_held {
    int blocks, chunks;     /* a block has so many chunks */
    int node_chunks, nodes; /* chunks whose sum is one message, a power of two; messages */
    int dots;               /* sums after the update */
    int jacobi;             /* 0: z is r */
    int holds_q, holds_x;   /* in shared memory */
    float keep;             /* the share of the matrix that L2 is asked to hold */
    yk_message *word;       /* [KINDS][3 sums][nodes]; of the last kind one a block */
    int *abandoned;         /* a block waited in vain: all leave */
} yk_held;

/* Columns of a stage: of a matrix of slices of one such width they are read whole, or in threes;
 * else four. */
YK_INLINE YK_CONSTANT int yk_held_span(int width)
{
    if (width == 5 || width == 7) return width;
    return width > 0 && width % 9 == 0 ? 3 : 4;
}

/* Where a block's arrays lie in its shared memory, behind the rings. */
typedef struct yk_held_layout {
    size_t now;     /* yk_resident_turn */
    size_t head;    /* [warps] of the rings, 16 bytes each */
    size_t barrier; /* uint64_t [warps][YK_HELD_BARRIERS] */
    size_t node;    /* double [3 sums][YK_HELD_CHUNKS] chunks' */
    size_t part;    /* double [3 sums][YK_HELD_PARTS] of a meeting's nodes */
    size_t p;       /* double [rows] */
    size_t q, x;    /* double [rows], if held */
    size_t bytes;
} yk_held_layout;

YK_INLINE yk_held_layout yk_held_lay_out(const yk_held *a)
{
    const size_t rows = (size_t)a->chunks * YK_CHUNK * sizeof(double);
    const size_t sums = YK_RESIDENT_DOTS * sizeof(double);
    size_t used = (size_t)YK_HELD_WARPS * YK_HELD_COLUMNS * YK_SELL_BYTES;
    yk_held_layout at;
    at.now = yk_resident_take(&used, sizeof(yk_resident_turn));
    at.head = yk_resident_take(&used, (size_t)YK_HELD_WARPS * 16);
    at.barrier =
        yk_resident_take(&used, (size_t)YK_HELD_WARPS * YK_HELD_BARRIERS * sizeof(uint64_t));
    at.node = yk_resident_take(&used, sums * YK_HELD_CHUNKS);
    at.part = yk_resident_take(&used, sums * YK_HELD_PARTS);
    at.p = yk_resident_take(&used, rows);
    at.q = yk_resident_take(&used, a->holds_q ? rows : 0);
    at.x = yk_resident_take(&used, a->holds_x ? rows : 0);
    at.bytes = used;
    return at;
}

/* Bytes of the messages, at most, and of the flag. */
YK_INLINE size_t yk_held_memory(void)
{
    return (size_t)(YK_HELD_KINDS * YK_RESIDENT_DOTS * YK_HELD_NODES) * sizeof(yk_message) +
           sizeof(int);
}

#ifdef __cplusplus
extern "C" {
#endif

/* Loads the kernel that this takes; fits: whether the device runs all blocks at once, as they wait
 * for each other. */
int yk_gpu_held_fits(const yk_gpu_view *view, const yk_held *held, int multiprocessors, int *fits);

/* Up to `left` iterations of loop, after which x lacks no step; update: the task; epoch: new in
 * every launch. */
int yk_gpu_held_run(const yk_gpu_view *view, const yk_held *held, int update, yk_gpu_loop *loop,
                    unsigned long long epoch, void *stream);

#ifdef __cplusplus
}
#endif

#endif
