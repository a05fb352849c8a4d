/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_resident.h: a system whose vectors stay on the chip for a whole advance: what the persistent
 * driver and its kernel share. No CUDA header.
 *
 * A block owns `chunks` chunks of rows for good: nodes, each of some consecutive chunks, that lie
 * `stride` nodes apart, so that rows of two planes of a grid which are each other's neighbours can
 * be one block's. A row's place is its number by blocks. Its r and x live in registers, its p,
 * and the p of the columns that other blocks own (its halo), in shared memory, and of its matrix as
 * much as fits beside them; the rest comes anew for every product. Blocks meet by messages alone: a
 * value and, in the same 16 bytes, the number of the meeting that it belongs to. So there is no
 * barrier over the grid and no fence: who reads a message with the right number has its value. */
#ifndef YK_CG_GPU_RESIDENT_H
#define YK_CG_GPU_RESIDENT_H

#include "solvers/cg/gpu.h"

typedef struct yk_message {
    double value;
    unsigned long long tag;
} yk_message;

enum {
    YK_RESIDENT_KINDS = 2 /* of meetings: after the product, after the update */
};

/* How a system lies on the chip: decided before anything is allocated. */
typedef struct yk_resident_shape {
    int blocks, threads; /* of a block: rows of a block * sharers / passes */
    int sharers;         /* threads that share a row */
    int passes;          /* rows of a thread */
    int chunks;          /* of a block */
    int node_chunks;     /* chunks whose sum is one message, a power of two */
    int nodes;           /* messages of a meeting */
    int stride;          /* nodes from one of a block to its next; 1: all rows are in place */
    int cluster;         /* the blocks are one thread-block cluster */
} yk_resident_shape;

typedef struct yk_resident {
    yk_resident_shape shape;
    int dots;     /* sums after the update */
    int jacobi;   /* 0: z is r */
    int slices;   /* of a block: 32 / sharers rows each */
    int halo_max; /* of any block */
    int resident; /* entries of a block's matrix that shared memory holds, whole slices */
    int stages;   /* of the rings by which the others come, in every product; 0: there are none */
    float keep;   /* the share of them that L2 is asked to hold */
    /* The matrix by blocks: entry k of row r of a slice (r-th by `place`) is at slice +
     * 32 (k / sharers) + r sharers + k % sharers; columns count the block's rows, then its halo. */
    int64_t *first;       /* [blocks + 1] entries before a block's */
    int32_t *slice;       /* [blocks (slices + 1)] offsets from first[block] */
    uint16_t *column;     /* [first[blocks]] */
    double *value;        /* the same */
    int32_t *place;       /* [blocks][rows of a block] longest first: row << 16 | its length */
    int32_t *halo_first;  /* [blocks + 1] */
    int32_t *halo_place;  /* [halo_first[blocks]] places of its rows, which ascend in a block */
    unsigned char *sent;  /* [rows] another block needs this row */
    yk_message *boundary; /* [places] z of rows that are sent */
    yk_message *word;     /* [YK_RESIDENT_KINDS][3 sums][nodes] */
    int *abandoned;       /* a block waited in vain: all leave */
} yk_resident;

#ifdef __cplusplus
extern "C" {
#endif

/* Analysis by one block a block: halo_first[b + 1] becomes the length of b's halo, first[b + 1] of
 * its matrix, slice[] its slices' offsets, place[] its rows; then, with the first two as sums, the
 * rest is filled. */
int yk_gpu_resident_count(const yk_csr *csr, const yk_resident *resident, void *stream);
int yk_gpu_resident_fill(const yk_csr *csr, const yk_resident *resident, void *stream);

/* Bytes of shared memory of a block, at this shape and halo and with so many entries. */
size_t yk_gpu_resident_bytes(const yk_resident *resident, int64_t entries);

/* Loads the kernel of this shape, which may take that much shared memory a block; fits: whether the
 * device runs all blocks at once, as they wait for each other. */
int yk_gpu_resident_fits(const yk_resident *resident, size_t most, int multiprocessors, int *fits);

/* Up to `left` iterations of loop; update: the task; epoch: new in every launch. */
int yk_gpu_resident_run(const yk_gpu_view *view, const yk_resident *resident, int update,
                        yk_gpu_loop *loop, unsigned long long epoch, void *stream);

/* most: bytes of shared memory that a block may have; clusters of 16 or 0. */
int yk_gpu_resident_limits(int device, size_t *most, int *cluster);

#ifdef __cplusplus
}
#endif

#endif
