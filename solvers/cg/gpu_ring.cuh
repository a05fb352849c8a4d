/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_ring.cuh: a warp's own ring of SELL columns in shared memory, filled by bulk copies ahead of
 * their use (sm_90), so that memory is kept busy however long the gathers take, and no register
 * holds what is on its way. No other warp is waited for. */
#ifndef YK_GPU_RING_CUH
#define YK_GPU_RING_CUH

#include "solvers/cg/gpu_sums.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define YK_SM90 1
#else
#define YK_SM90 0
#endif

/* What kernels know of slices' widths, beside the one of all of them: 0, nothing; 8, one width up
 * to that; NINES, one that is a multiple of 9. */
enum { NINES = -9 };

/* Of slices that are all WIDTH wide, how many columns a warp takes at a time. */
template <int WIDTH>
static constexpr int part_of = WIDTH == NINES || WIDTH > YK_ROW_CHAIN ? 9 : WIDTH;

extern __shared__ __align__(128) char ring_memory[];

/* The passes of a stream overlap: a pass may begin when all blocks of the one before have, and
 * sees its results only after this. */
static __device__ __forceinline__ void wait_for_previous_pass()
{
#if YK_SM90
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

static __device__ __forceinline__ void let_next_pass_begin()
{
#if YK_SM90
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* A copy arrives or faults; a barrier still open after this many looks is a broken program, which
 * ends as a launch failure and not as a GPU that hangs. */
enum { RING_LOOKS = 1 << 26 };

static __device__ __forceinline__ bool ring_arrived(uint32_t barrier, uint32_t parity)
{
    uint32_t done = 1;
#if YK_SM90
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, p;\n"
                 "}"
                 : "=r"(done)
                 : "r"(barrier), "r"(parity)
                 : "memory");
#endif
    return done;
}

static __device__ __forceinline__ void ring_wait(uint32_t barrier, uint32_t parity)
{
    for (unsigned looks = 0; !ring_arrived(barrier, parity); looks++)
        if (looks > RING_LOOKS) __trap();
}

/* Barriers are made by one lane, then seen by the copies and by the warp. */
static __device__ __forceinline__ void ring_open(uint32_t barrier, int stages)
{
#if YK_SM90
    if (threadIdx.x % WARP == 0) {
        for (int s = 0; s < stages; s++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier + 8 * s)
                         : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
#endif
    __syncwarp();
}

/* How many bytes the barrier's next phase waits for; then who brings them. */
static __device__ __forceinline__ void ring_expect(uint32_t barrier, uint32_t bytes)
{
#if YK_SM90
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
#endif
}

static __device__ __forceinline__ void ring_fetch(uint32_t to, const void *from, uint32_t bytes,
                                                  uint32_t barrier, uint64_t policy)
{
#if YK_SM90
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
                 "[%0], [%1], %2, [%3], %4;" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier), "l"(policy)
                 : "memory");
#endif
}

static __device__ __forceinline__ void ring_copy(uint32_t to, const char *from, uint32_t bytes,
                                                 uint32_t barrier, uint64_t policy)
{
    ring_expect(barrier, bytes);
    ring_fetch(to, from, bytes, barrier, policy);
}

/* The matrix is read once a pass: it shall not push vectors out of the L2 cache. Where they are not
 * there, a share of it may be kept from pass to pass. */
static __device__ __forceinline__ uint64_t ring_policy(float keep)
{
    uint64_t policy;
    if (keep > 0.0f)
        asm volatile("createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %0, %1;"
                     : "=l"(policy)
                     : "f"(keep));
    else
        asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

#if YK_SM90

/* The columns of a warp's EACH chunks. WIDTH not 0: all slices have one width, exactly WIDTH but
 * for 8, which is any up to 8, and NINES; a stage holds what is read at a time, part_of columns, of
 * which the width is a multiple. WIDTH 0: a stage holds 8 columns, whatever their slices, and a
 * chunk begins a stage. All lanes hold the same state; lane 0 copies. */
template <int WIDTH, int STAGES, int EACH> struct ring {
    const yk_sell &sell;
    const int64_t slices;
    const uint64_t policy;
    const uint32_t first;      /* of stage 0, within ring_memory */
    uint32_t stage0, barrier0; /* the same and its barrier, as shared addresses */
    /* ahead: what is copied next, of which chunk, chunks to come */
    const char *from;
    int64_t chunk;
    int left, stride, chunks, in;
    /* behind: what is read, in columns of this chunk */
    int total, have, used, freed, out;
    uint32_t parity, at; /* at: in bytes from the ring's beginning */

    __device__ __forceinline__ int span() const
    {
        if (WIDTH == 0) return YK_ROW_LANES;
        return WIDTH == YK_ROW_CHAIN ? sell.width : part_of<WIDTH>;
    }

    __device__ __forceinline__ uint32_t size() const
    {
        return (uint32_t)(STAGES * span() * YK_SELL_BYTES);
    }

    __device__ __forceinline__ ring(const yk_gpu_view &view, uint64_t *barrier, int warp)
        : sell(view.sell), slices(yk_sell_slices(view.rows.csr.rows)), policy(ring_policy(0.0f)),
          first(warp * size()), from(NULL), left(0), in(0), out(0), parity(0), at(0)
    {
        stage0 = (uint32_t)__cvta_generic_to_shared(ring_memory) + first;
        barrier0 = (uint32_t)__cvta_generic_to_shared(barrier);
        ring_open(barrier0, STAGES);
    }

    __device__ __forceinline__ int64_t columns_before(int64_t of_chunk) const
    {
        int64_t slice = of_chunk * (YK_CHUNK / YK_SELL_ROWS);
        if (slice > slices) slice = slices;
        if (WIDTH == 0) return yk_sell_before(&sell, slice);
        return slice * (WIDTH == YK_ROW_CHAIN || WIDTH == NINES ? sell.width : WIDTH);
    }

    /* The next chunk that has columns. */
    __device__ __forceinline__ void open_chunk()
    {
        while (left == 0 && chunks > 0) {
            int64_t begin = columns_before(chunk);
            left = (int)(columns_before(chunk + 1) - begin);
            from = yk_sell_at(&sell, chunk, begin);
            chunk += stride;
            chunks--;
        }
    }

    __device__ __forceinline__ bool copy_next()
    {
        if (left == 0) return false;
        const int count = WIDTH != 0 || span() < left ? span() : left;
        const uint32_t to = stage0 + (uint32_t)(in * span() * YK_SELL_BYTES);
        if (threadIdx.x % WARP == 0)
            ring_copy(to, from, (uint32_t)(count * YK_SELL_BYTES), barrier0 + 8 * in, policy);
        if (++in == STAGES) in = 0;
        from += count * YK_SELL_BYTES;
        left -= count;
        if (EACH > 1) open_chunk();
        return true;
    }

    /* Stages that were filled. */
    __device__ __forceinline__ int begin(int64_t first_chunk, int step)
    {
        chunk = first_chunk;
        stride = step;
        chunks = EACH;
        open_chunk();
        int filled = 0;
        while (filled < STAGES && copy_next()) filled++;
        return filled;
    }

    /* Nothing may be under way into shared memory when its block has gone. */
    __device__ __forceinline__ void drain(int filled) const
    {
        for (int s = 0; s < filled; s++) ring_wait(barrier0 + 8 * s, 0);
    }

    __device__ __forceinline__ void begin_chunk(int64_t of_chunk)
    {
        if (WIDTH != 0) return;
        total = (int)(columns_before(of_chunk + 1) - columns_before(of_chunk));
        have = used = freed = 0;
    }

    __device__ __forceinline__ void wait_for_stage()
    {
        ring_wait(barrier0 + 8 * out, parity);
        if (++out < STAGES) return;
        out = 0;
        parity ^= 1;
    }

    /* The next `count` columns are there. */
    __device__ __forceinline__ void need(int count)
    {
        if constexpr (WIDTH != 0)
            wait_for_stage();
        else
            for (; have < used + count; have += span()) wait_for_stage();
    }

    /* Column j of those, the lane's row. */
    __device__ __forceinline__ const char *column_at(int j) const
    {
        uint32_t offset = at + (uint32_t)(j * YK_SELL_BYTES);
        if (WIDTH == 0 && offset >= size()) offset -= size();
        return ring_memory + first + offset;
    }

    __device__ __forceinline__ int32_t column(int j) const
    {
        return ((const int32_t *)column_at(j))[threadIdx.x % WARP];
    }

    __device__ __forceinline__ double value(int j) const
    {
        return ((const double *)(column_at(j) + YK_SELL_VALUES))[threadIdx.x % WARP];
    }

    __device__ __forceinline__ void advance(int count)
    {
        at += (uint32_t)(count * YK_SELL_BYTES);
        if (at >= size()) at -= size();
    }

    __device__ __forceinline__ void free_stage()
    {
        __syncwarp();
        copy_next();
    }

    /* They have been read by all lanes: their stages are free for what comes. */
    __device__ __forceinline__ void next(int count)
    {
        advance(count);
        if constexpr (WIDTH != 0) {
            free_stage();
            return;
        }
        used += count;
        if (used == total && used % span() != 0) advance(span() - used % span());
        for (; freed + span() <= used || (used == total && freed < total); freed += span())
            free_stage();
    }
};

#endif
#endif
