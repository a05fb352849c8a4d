/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_resident_stream.cuh: what of a block's matrix is not on the chip: each warp has its slices
 * come, piece by piece, through a ring of its own in shared memory (sm_90), asked for ahead of
 * their use and so also while the block meets the others. */
#ifndef YK_GPU_RESIDENT_STREAM_CUH
#define YK_GPU_RESIDENT_STREAM_CUH

#include "solvers/cg/gpu_resident_layout.h"
#include "solvers/cg/gpu_ring.cuh"

/* Of a warp; all lanes hold the same; lane 0 asks. */
struct matrix_stream {
    const int32_t *slice; /* offsets of the block's slices, in shared memory */
    const uint16_t *column;
    const double *value;
    char *ring; /* its pieces, then their barriers */
    int stages;
    uint64_t policy;
    int first, last, stride; /* the slices that come: first, first + stride, ... below last */
    int next, at;            /* what is asked for next: of that slice, from that entry */
    int in, out;
    uint32_t parity;

    __device__ __forceinline__ uint32_t barrier(int stage) const
    {
        return (uint32_t)__cvta_generic_to_shared(ring) + stages * YK_RESIDENT_STAGE + 8 * stage;
    }

    __device__ __forceinline__ int width(int of) const
    {
        return slice[of + 1] - slice[of];
    }

    __device__ __forceinline__ void ask()
    {
        const int wide = width(next), from = slice[next] + at;
        const int count = min(wide - at, (int)YK_RESIDENT_PIECE);
        if (threadIdx.x % WARP == 0) {
            const uint32_t to = (uint32_t)__cvta_generic_to_shared(ring) + in * YK_RESIDENT_STAGE;
            ring_expect(barrier(in), (uint32_t)count * YK_RESIDENT_ENTRY_BYTES);
            ring_fetch(to, value + from, (uint32_t)count * sizeof *value, barrier(in), policy);
            ring_fetch(to + YK_RESIDENT_PIECE * (uint32_t)sizeof *value, column + from,
                       (uint32_t)count * sizeof *column, barrier(in), policy);
        }
        in = in + 1 < stages ? in + 1 : 0;
        at += YK_RESIDENT_PIECE;
        if (at < wide) return;
        at = 0;
        do next = next + stride < last ? next + stride : first;
        while (width(next) == 0);
    }

    /* The slices of a warp's passes that do not lie within `kept` entries; their offsets are in
     * shared memory by now. keep: the share of them that L2 is to hold from product to product. */
    __device__ __forceinline__ void begin(int warp, int warps, int slices, int kept, float keep)
    {
        int entries = 0;
        first = warp;
        last = slices;
        stride = warps;
        in = out = at = 0;
        parity = 0;
        while (first < last && slice[first + 1] <= kept) first += stride;
        for (int s = first; s < last; s += stride) entries += width(s);
        if (entries == 0) first = last;
        if (first >= last) return;
        policy = ring_policy(keep);
        ring_open(barrier(0), stages);
        for (next = first; width(next) == 0;) next += stride;
        for (int s = 0; s < stages; s++) ask();
    }

    __device__ __forceinline__ bool has(int of) const
    {
        return of >= first;
    }

    /* The oldest piece: values, columns behind them. */
    __device__ __forceinline__ const double *wait() const
    {
        ring_wait(barrier(out), parity);
        return (const double *)(ring + out * YK_RESIDENT_STAGE);
    }

    /* It was read by all lanes. */
    __device__ __forceinline__ void release()
    {
        __syncwarp();
        if (++out == stages) {
            out = 0;
            parity ^= 1;
        }
        ask();
    }

    /* Nothing may be under way into shared memory when its block has gone. */
    __device__ __forceinline__ void end()
    {
        if (first >= last) return;
        for (int s = 0; s < stages; s++) {
            ring_wait(barrier(out), parity);
            if (++out < stages) continue;
            out = 0;
            parity ^= 1;
        }
    }
};

#endif
