/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_resident_layout.h: where a block's arrays lie in its shared memory, and what the analysis
 * takes there, as one text for the kernels and for whoever decides what fits. */
#ifndef YK_CG_GPU_RESIDENT_LAYOUT_H
#define YK_CG_GPU_RESIDENT_LAYOUT_H

#include "solvers/cg/gpu_resident.h"

enum {
    YK_RESIDENT_DOTS = 3,         /* sums of a meeting, at most */
    YK_RESIDENT_WARP = 32,        /* chunks of a block, at most */
    YK_RESIDENT_ANALYSTS = 1024,  /* threads of a block of the analysis */
    YK_RESIDENT_BLOCK_ROWS = 4096 /* rows of a block, at most */
};

/* The j-th node of a block. */
YK_INLINE int yk_resident_node(const yk_resident_shape *s, int block, int j)
{
    const int of_block = s->chunks / s->node_chunks;
    return (block / s->stride * of_block + j) * s->stride + block % s->stride;
}

/* The row at a place, which may lie beyond the last; and a row's place. */
YK_INLINE int64_t yk_resident_row(const yk_resident_shape *s, int place)
{
    const int room = s->chunks * YK_CHUNK, node_rows = s->node_chunks * YK_CHUNK;
    const int node = yk_resident_node(s, place / room, place % room / node_rows);
    return (int64_t)node * node_rows + place % node_rows;
}

YK_INLINE int yk_resident_place(const yk_resident_shape *s, int row)
{
    const int room = s->chunks * YK_CHUNK, node_rows = s->node_chunks * YK_CHUNK;
    const int group = s->stride * (s->chunks / s->node_chunks), node = row / node_rows;
    const int block = node / group * s->stride + node % s->stride;
    return block * room + node % group / s->stride * node_rows + row % node_rows;
}

/* A warp's ring for what is not kept: entries of a piece, and bytes; with 3 stages
 * poisson3d27:64 took 19.7 us an iteration on an H200, with 2 of them 21.5. */
enum {
    YK_RESIDENT_STAGES = 3, /* at most */
    YK_RESIDENT_PIECE = 256,
    YK_RESIDENT_ENTRY_BYTES = (int)(sizeof(double) + sizeof(uint16_t)),
    YK_RESIDENT_STAGE = YK_RESIDENT_PIECE * YK_RESIDENT_ENTRY_BYTES
};

/* Of a warp, with its barriers. */
YK_INLINE size_t yk_resident_ring_bytes(int stages)
{
    return (size_t)stages * (YK_RESIDENT_STAGE + 16);
}

/* What the first thread derives and all follow. */
typedef struct yk_resident_turn {
    yk_cg_scalars s;
    yk_cg_limits limits;
    double dot[YK_DOTS]; /* of the meeting */
    int64_t left, recorded;
    int halt, lost;
} yk_resident_turn;

/* Bytes from the start, and of all. */
typedef struct yk_resident_layout {
    size_t now;      /* yk_resident_turn */
    size_t node;     /* double [YK_RESIDENT_DOTS][YK_RESIDENT_WARP] chunks' sums */
    size_t term;     /* double [dots][rows of the block] */
    size_t p;        /* double [rows + halo] */
    size_t inverse;  /* double [rows] of the diagonal; Jacobi only */
    size_t slice;    /* int32_t [slices + 1] */
    size_t word;     /* cluster only: yk_message [KINDS][YK_RESIDENT_DOTS][nodes], pushed to all */
    size_t boundary; /* cluster only: yk_message [rows], pulled by the others */
    size_t ring;     /* of the warps, where it streams */
    size_t value;    /* double [entries] */
    size_t column;   /* uint16_t [entries] */
    size_t bytes;
} yk_resident_layout;

/* Takes so many bytes, in sixteens; returns where they begin. */
YK_INLINE size_t yk_resident_take(size_t *used, size_t bytes)
{
    size_t start = *used;
    *used += (bytes + 15) / 16 * 16;
    return start;
}

YK_INLINE yk_resident_layout yk_resident_lay_out(const yk_resident *a, int64_t entries)
{
    const size_t rows = (size_t)a->shape.chunks * YK_CHUNK, nodes = (size_t)a->shape.nodes;
    const size_t words = a->shape.cluster ? YK_RESIDENT_KINDS * YK_RESIDENT_DOTS * nodes : 0;
    yk_resident_layout at;
    size_t used = 0;
    at.now = yk_resident_take(&used, sizeof(yk_resident_turn));
    at.node = yk_resident_take(&used, YK_RESIDENT_DOTS * YK_RESIDENT_WARP * sizeof(double));
    at.term = yk_resident_take(&used, (size_t)a->dots * rows * sizeof(double));
    at.p = yk_resident_take(&used, (rows + (size_t)a->halo_max) * sizeof(double));
    at.inverse = yk_resident_take(&used, a->jacobi ? rows * sizeof(double) : 0);
    at.slice = yk_resident_take(&used, ((size_t)a->slices + 1) * sizeof(int32_t));
    at.word = yk_resident_take(&used, words * sizeof(yk_message));
    at.boundary = yk_resident_take(&used, a->shape.cluster ? rows * sizeof(yk_message) : 0);
    at.ring = yk_resident_take(&used, (size_t)(a->shape.threads / YK_RESIDENT_WARP) *
                                          yk_resident_ring_bytes(a->stages));
    at.value = yk_resident_take(&used, (size_t)entries * sizeof(double));
    at.column = yk_resident_take(&used, (size_t)entries * sizeof(uint16_t));
    at.bytes = used;
    return at;
}

/* Of the analysis: a bit for each row of the system, and the bits before each word; beside them, at
 * most, the threads' counts and the lengths of the block's rows. */
YK_INLINE size_t yk_resident_analysis_bits(int64_t rows)
{
    return (size_t)((rows + YK_RESIDENT_WARP - 1) / YK_RESIDENT_WARP) * 2 * sizeof(int);
}

YK_INLINE size_t yk_resident_analysis_bytes(int64_t rows)
{
    return yk_resident_analysis_bits(rows) + YK_RESIDENT_ANALYSTS * sizeof(int) +
           YK_RESIDENT_BLOCK_ROWS * sizeof(short);
}

#endif
