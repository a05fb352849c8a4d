/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_held_stream.cuh: the SELL columns of a warp's slices, which follow each other in memory, come
 * again for every product: they run in a circle through a ring of the warp's own in shared memory
 * (sm_90), asked for ahead of their use and so also while blocks meet.
 *
 * One ring for all warps of a block, whose slices were taken as warps came free, was no better for
 * 7-point systems on an H200 and half as fast for rows of 81 entries, of which it holds too few. */
#ifndef YK_GPU_HELD_STREAM_CUH
#define YK_GPU_HELD_STREAM_CUH

#include "solvers/cg/gpu_ring.cuh"

/* Where a warp's ring stands, in shared memory, for its first lane alone. */
struct ring_head {
    uint32_t first, last; /* the warp's columns, from the matrix's first */
    uint32_t next;        /* to be asked for */
    int stage;            /* for that */
};

/* SPAN columns a stage. All lanes hold the same; lane 0 asks. */
template <int SPAN> struct column_circle {
    const char *matrix; /* its columns */
    ring_head *head;
    uint32_t data, barrier; /* shared addresses */
    int stages;
    uint64_t policy;
    int have, used; /* columns that came and were not read; of the oldest stage, those read */
    int out;
    uint32_t parity, at; /* at: bytes from the ring's beginning */

    __device__ __forceinline__ uint32_t size() const
    {
        return (uint32_t)(stages * SPAN * YK_SELL_BYTES);
    }

    /* The oldest stage is filled again: by one copy or, where the circle closes, more. */
    __device__ __forceinline__ void ask()
    {
        if (threadIdx.x % WARP != 0) return;
        const uint32_t full = barrier + 8 * head->stage, last = head->last;
        uint32_t to = data + (uint32_t)(head->stage * SPAN * YK_SELL_BYTES), left = SPAN,
                 next = head->next;
        ring_expect(full, SPAN * YK_SELL_BYTES);
        while (left > 0) {
            const uint32_t some = last - next < left ? last - next : left;
            ring_fetch(to, matrix + (size_t)next * YK_SELL_BYTES, some * YK_SELL_BYTES, full,
                       policy);
            to += some * YK_SELL_BYTES;
            left -= some;
            next = next + some < last ? next + some : head->first;
        }
        head->next = next;
        head->stage = head->stage + 1 < stages ? head->stage + 1 : 0;
    }

    __device__ __forceinline__ void begin(int64_t first, int64_t last)
    {
        have = used = out = 0;
        parity = at = 0;
        ring_open(barrier, stages);
        if (threadIdx.x % WARP == 0) *head = {(uint32_t)first, (uint32_t)last, (uint32_t)first, 0};
        __syncwarp();
        if (first == last) stages = 0;
        for (int s = 0; s < stages; s++) ask();
    }

    __device__ __forceinline__ void wait_for_stage()
    {
        ring_wait(barrier + 8 * out, parity);
        have += SPAN;
        if (++out < stages) return;
        out = 0;
        parity ^= 1;
    }

    /* The next `count` columns are there. */
    __device__ __forceinline__ void need(int count)
    {
        while (have < count) wait_for_stage();
    }

    /* Column j of those. */
    __device__ __forceinline__ const char *column_at(int j) const
    {
        uint32_t offset = at + (uint32_t)(j * YK_SELL_BYTES);
        if (offset >= size()) offset -= size();
        return ring_memory + (data - (uint32_t)__cvta_generic_to_shared(ring_memory)) + offset;
    }

    __device__ __forceinline__ int32_t column(int j) const
    {
        return ((const int32_t *)column_at(j))[threadIdx.x % WARP];
    }

    __device__ __forceinline__ double value(int j) const
    {
        return ((const double *)(column_at(j) + YK_SELL_VALUES))[threadIdx.x % WARP];
    }

    /* They have been read by all lanes. */
    __device__ __forceinline__ void next(int count)
    {
        have -= count;
        used += count;
        at += (uint32_t)(count * YK_SELL_BYTES);
        if (at >= size()) at -= size();
        if (used < SPAN) return;
        __syncwarp();
        for (; used >= SPAN; used -= SPAN) ask();
    }

    /* Nothing may be under way into shared memory when its block has gone. */
    __device__ __forceinline__ void end()
    {
        for (int s = (have + used) / SPAN; s < stages; s++) wait_for_stage();
    }
};

#endif
